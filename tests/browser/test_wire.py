"""What leaves the browser: the disguised report in a fixed shape, and nothing that depends on the answers."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from typing import Any

import pytest
from scipy.stats import binomtest

from tacit.survey.definition import Definition
from tacit.survey.store.surveys import Store, StoredSurvey
from tests.browser.answering import answer_small, open_page, send, start
from tests.browser.questionnaires import CANARY_ANSWER
from tests.survey.server import RunningServer

pytestmark = pytest.mark.browser

SESSIONS = 200 if os.environ.get("TACIT_SOAK") == "1" else 12
FALSE_ALARM = 1e-6
# Set anew by the browser for each connection or run, and by nobody's answers.
VARYING = re.compile(r"[0-9a-f]{64}")


def recorded(context: Any) -> list[dict[str, Any]]:
    """Everything the pages of a context send, as it goes out."""
    traffic: list[dict[str, Any]] = []

    def note(request: Any) -> None:
        headers = {name: value for name, value in request.all_headers().items() if name != "cookie"}
        traffic.append({"method": request.method, "url": request.url, "body": request.post_data, "headers": headers})

    context.on("request", note)
    return traffic


def shape(traffic: list[dict[str, Any]]) -> str:
    """The traffic with the report and the token blotted out: what may not depend on the answers."""
    blotted = []
    for request in traffic:
        body = request["body"]
        if body is not None:
            content = json.loads(body)
            assert set(content) <= {"report", "receipt"}
            body = {"length": len(body), "keys": sorted(content)}
        blotted.append({**request, "url": VARYING.sub("TOKEN", request["url"]), "body": body})
    return json.dumps(blotted, sort_keys=True)


@pytest.mark.soak
@pytest.mark.slow
def test_traffic_is_the_same_whatever_is_answered_and_reports_follow_the_columns(
    browser: Any, served: tuple[RunningServer, Store], fresh_survey: StoredSurvey
) -> None:
    server, _ = served
    truths = [(bool(number & 1), bool(number & 2)) for number in range(SESSIONS)]
    shapes: Counter[str] = Counter()
    agreeing = {"smokes": 0, "drinks": 0}
    for smokes, drinks in truths:
        context = browser.new_context(viewport={"width": 390, "height": 844}, locale="en")
        traffic = recorded(context)
        answer_small(open_page(context, server, fresh_survey), smokes=smokes, drinks=drinks)
        context.close()
        shapes[shape(traffic)] += 1
        (report,) = [json.loads(one["body"])["report"] for one in traffic if one["body"]]
        shown = dict(zip(fresh_survey.wire.names, fresh_survey.wire.decode(report), strict=True))
        agreeing["smokes"] += shown["smokes"] == ("yes" if smokes else "no")
        agreeing["drinks"] += shown["drinks"] == ("yes" if drinks else "no")
    assert len(shapes) == 1, f"{len(shapes)} different kinds of traffic"
    for group in fresh_survey.definition.scheme.groups:
        chance = float(group.channel.matrix[0, 0])
        assert binomtest(agreeing[group.names[0]], SESSIONS, chance).pvalue >= FALSE_ALARM


ROUTED = """\
name: routed
title: Routed
introduction: We ask some of you more.
contact: research@example.org
privacy: strong
pages:
  - questions:
      - {name: region, kind: choice, text: Where do you live?, answers: [north, south], sensitive: false}
      - {name: used, kind: yes-no, text: Have you used it?, sensitive: true, prefer_not_to_say: false}
  - questions:
      - name: often
        kind: choice
        text: How often?
        answers: [daily, weekly, rarely]
        sensitive: true
        when: {used: "yes"}
        optional: true
  - questions:
      - {name: shop, kind: yes-no, text: Is there a shop?, sensitive: false, when: {region: north}}
      - {name: told, kind: yes-no, text: Have you told anyone?, sensitive: true, prefer_not_to_say: false}
"""


def test_traffic_does_not_depend_on_what_was_asked(browser: Any, served: tuple[RunningServer, Store]) -> None:
    server, store = served
    survey = store.add(Definition.from_yaml(ROUTED), ROUTED)
    shapes: Counter[str] = Counter()
    # Not asked, left out, and each of the answers.
    for number in (0, 1, 3, 7, 11):
        used, left_out = number % 2, number % 4 == 1
        context = browser.new_context(viewport={"width": 390, "height": 844}, locale="en")
        traffic = recorded(context)
        page = open_page(context, server, survey)
        start(page)
        page.check("#region-0")
        page.check(f"#used-{used}")
        page.click("button[type=submit]")
        if used:
            page.wait_for_selector("#often-0")
            if not left_out:
                page.check(f"#often-{number % 3}")
            page.click("button[type=submit]")
        page.wait_for_selector("#told-0")
        assert page.locator("#often-0").count() == 0
        page.check("#shop-1")
        page.check("#told-1")
        send(page)
        assert page.get_attribute("#survey", "data-state") == "stored"
        context.close()
        shapes[shape(traffic)] += 1
    assert len(shapes) == 1, f"{len(shapes)} different kinds of traffic"
    assert store.counts(survey).reports == 5


def test_the_comparison_notices_one_changed_character(served: tuple[RunningServer, Store]) -> None:
    request = {"method": "PUT", "url": "/s/a", "body": '{"report": "0001"}', "headers": {}}
    longer = {**request, "body": '{"report": "000100"}'}
    assert shape([request]) != shape([longer])
    assert shape([request]) != shape([request, request])


def test_a_canary_answer_is_nowhere_in_the_database_its_log_or_the_servers_output(
    context: Any, served: tuple[RunningServer, Store]
) -> None:
    server, store = served
    survey = store.named("canary")
    folder = server.log.parent

    def occurrences() -> int:
        return sum(path.read_bytes().count(CANARY_ANSWER.encode()) for path in folder.iterdir())

    # From here on only what is written now lies in the write-ahead log; the questionnaire itself names all its answers.
    store.database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    before = occurrences()
    assert before > 0
    traffic = recorded(context)
    page = open_page(context, server, survey)
    start(page)
    page.check("#secret-0")
    send(page)
    assert store.counts(survey).reports == 1
    assert occurrences() == before
    assert not any(CANARY_ANSWER in json.dumps(one) for one in traffic)
    assert {row[0] for batch in store.rows(survey) for row in batch} <= {"left", "right"}


def test_nothing_is_sent_before_the_end_and_nothing_comes_from_elsewhere(
    context: Any, served: tuple[RunningServer, Store], fresh_survey: StoredSurvey
) -> None:
    server, _ = served
    traffic = recorded(context)
    page = open_page(context, server, fresh_survey)
    loaded = len(traffic)
    start(page)
    # Everybody's device asks once whether the survey is still open, before the first question.
    assert [(one["method"], one["url"].rsplit("/", 1)[1], one["body"]) for one in traffic[loaded:]] == [
        ("GET", "full", None)
    ]
    loaded = len(traffic)
    page.check("#age-0")
    page.check("#smokes-1")
    page.wait_for_timeout(300)
    assert len(traffic) == loaded
    page.check("#drinks-1")
    send(page)
    assert [one["method"] for one in traffic[loaded:]] == ["PUT"]
    assert all(one["url"].startswith((server.url, "data:")) for one in traffic)


def test_without_script_nothing_is_sent(
    browser: Any, served: tuple[RunningServer, Store], fresh_survey: StoredSurvey
) -> None:
    server, _ = served
    context = browser.new_context(java_script_enabled=False)
    traffic = recorded(context)
    page = context.new_page()
    page.goto(f"{server.url}/s/{fresh_survey.fingerprint}")
    assert "Nothing has been sent" in page.inner_text("main")
    assert page.locator("form, input").count() == 0
    assert {one["method"] for one in traffic} == {"GET"}
    context.close()


def test_the_device_keeps_what_was_asked_and_nothing_that_was_answered_or_sent(
    context: Any, served: tuple[RunningServer, Store], fresh_survey: StoredSurvey
) -> None:
    server, _ = served
    traffic = recorded(context)
    page = open_page(context, server, fresh_survey)
    answer_small(page, smokes=True, drinks=False)
    (report,) = [json.loads(one["body"])["report"] for one in traffic if one["body"]]
    kept = page.evaluate(
        "Object.fromEntries(Object.keys(localStorage).map((name) => [name, localStorage.getItem(name)]))"
    )
    (receipt,) = [name for name in kept if name.startswith("tacit.receipt.")]
    assert re.fullmatch("[0-9a-f]{20}", kept.pop(receipt))
    assert set(kept) == {"tacit.people", "tacit.unsent"}
    assert kept["tacit.unsent"] == "[]"
    assert report not in kept["tacit.people"]
    (person,) = json.loads(kept["tacit.people"])
    ((fingerprint, survey),) = person["surveys"].items()
    assert fingerprint == fresh_survey.fingerprint
    assert set(survey) == {"sent"}
    assert set(survey["sent"]["1"]) == {"survey", "token"}
    for entry in person["sent"]:
        assert [re.fullmatch("[0-9a-f]{32}", key) is not None for key in entry.pop("asked")] == [True]
        assert entry == {"gamma": pytest.approx(7 / 3, rel=1e-6), "times": 1}
    assert len(person["sent"]) == 2


def test_a_shared_device_keeps_only_what_was_asked(
    context: Any, served: tuple[RunningServer, Store], fresh_survey: StoredSurvey
) -> None:
    server, store = served
    page = open_page(context, server, fresh_survey)
    page.check("#shared")
    answer_small(page, smokes=True, drinks=False)
    kept = page.evaluate("Object.keys(localStorage).filter((name) => localStorage.getItem(name) !== '[]')")
    assert kept == ["tacit.people"]
    (entry,) = json.loads(page.evaluate("localStorage.getItem('tacit.people')"))
    assert entry["isShared"]
    assert entry["surveys"] == {fresh_survey.fingerprint: {"sent": {"1": {"survey": fresh_survey.fingerprint}}}}
    page = open_page(context, server, fresh_survey, who="else")
    page.check("#shared")
    answer_small(page, smokes=True, drinks=False)
    assert store.counts(fresh_survey).reports == 2


def test_what_is_shown_is_never_an_accusation(
    context: Any, served: tuple[RunningServer, Store], fresh_survey: StoredSurvey
) -> None:
    server, _ = served
    page = open_page(context, server, fresh_survey)
    start(page)
    for choice in ("#age-1", "#smokes-1", "#drinks-1"):
        page.check(choice)
    page.click("button[type=submit]")
    page.wait_for_selector("#review")
    before = page.inner_text("main")
    assert "30–59" in before  # the public answer as it goes out
    assert "at most 70% sure" in before
    # One's own answers, said to stay here; nothing has been drawn that could look like another answer.
    assert page.locator("dd.own").all_inner_texts() == ["Yes", "Yes"]
    assert before.count("Yes") == 2
    assert "They stay on this device." in before
    assert (
        page.evaluate("localStorage.getItem('tacit.people')") is None
    )  # nothing is counted before the button is pressed
    page.click("#review button[type=submit]")
    page.wait_for_selector("#survey[data-state=stored]")
    after = page.inner_text("main")
    assert "disguised answers" in after
    assert "For none is it more than 2.4 times as likely as for another." in after
    assert "smoke" not in after
    assert "Yes" not in after


def test_someone_else_gets_a_fresh_disguise(
    context: Any, served: tuple[RunningServer, Store], fresh_survey: StoredSurvey
) -> None:
    server, store = served
    page = open_page(context, server, fresh_survey)
    for screen in ("#begin", "#who"):  # after two people one of them may answer
        answer_small(page, smokes=True, drinks=True)
        page.click("button.quiet")
        page.wait_for_selector(screen)
    assert store.counts(fresh_survey).reports == 2


def test_unsent_reports_wait_on_the_device_disguised_and_are_retried(
    context: Any, served: tuple[RunningServer, Store], fresh_survey: StoredSurvey
) -> None:
    server, store = served
    page = open_page(context, server, fresh_survey)
    context.route("**/reports/*", lambda route: route.abort())
    answer_small(page, smokes=True, drinks=True)
    assert "waits on this device" in page.inner_text("h1")
    assert store.counts(fresh_survey).reports == 0
    (waiting,) = json.loads(page.evaluate("localStorage.getItem('tacit.unsent')"))
    assert set(json.loads(waiting["body"])) == {"report", "receipt"}
    context.unroute("**/reports/*")
    open_page(context, server, fresh_survey, who="else")
    assert store.counts(fresh_survey).reports == 1
    assert page.evaluate("localStorage.getItem('tacit.unsent')") == "[]"


def test_test_responses_are_kept_apart(
    context: Any, served: tuple[RunningServer, Store], fresh_survey: StoredSurvey
) -> None:
    server, store = served
    answer_small(open_page(context, server, fresh_survey, "#test"), smokes=True, drinks=True)
    counts = store.counts(fresh_survey)
    assert (counts.reports, counts.tests) == (0, 1)
