"""Asked again: whose report it is, what all sendings together tell, and what a link must not command."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tacit.survey.definition import Definition
from tacit.survey.store.surveys import Store, StoredSurvey
from tests.browser.answering import answer_small, open_page, read_on, say_who, send, start
from tests.browser.conftest import screenshots
from tests.browser.test_page import violations
from tests.browser.test_tokens import issued
from tests.browser.test_wire import recorded
from tests.survey.questionnaires import SMALL
from tests.survey.server import RunningServer
from tests.survey.test_dealing import ARMS, SPLIT

pytestmark = pytest.mark.browser

Served = tuple[RunningServer, Store]

# Every draw of a disguise comes out as heads, so that what is drawn now is the truth of now.
HEADS = """(() => {
  const drawn = crypto.getRandomValues.bind(crypto);
  crypto.getRandomValues = (into) => (into instanceof Uint32Array && into.length === 1 ? into.fill(0) : drawn(into));
})()"""

HALVES = SPLIT.replace("0.25", "0.5").replace("0.75", "0.5")
WAVES = iter(range(1, 1000))


def wave(store: Store, text: str = SMALL) -> StoredSurvey:
    """The small questionnaire once more, as a survey that no other test answers."""
    named = text.replace("name: ", f"name: again{next(WAVES)}_", 1)
    return store.add(Definition.from_yaml(named), named)


def reports_in(traffic: list[dict[str, Any]]) -> list[str]:
    return [json.loads(one["body"])["report"] for one in traffic if one["method"] == "PUT"]


def tokens_in(traffic: list[dict[str, Any]]) -> list[str]:
    return [one["url"].rsplit("/", 1)[1] for one in traffic if one["method"] == "PUT"]


def people_kept(page: Any) -> list[dict[str, Any]]:
    return json.loads(page.evaluate("localStorage.getItem('tacit.people')") or "[]")


def ledger_text(page: Any) -> str:
    return " ".join(page.locator("p.ledger").all_inner_texts())


def test_two_people_in_one_browser_each_send_their_own_report(context: Any, served: Served) -> None:
    server, store = served
    context.add_init_script(HEADS)
    coded = store.named("coded")
    traffic = recorded(context)
    for smokes, who in ((True, None), (False, "else")):
        page = open_page(context, server, coded, f"#code={issued(store, coded)}", who=who)
        answer_small(page, smokes=smokes, drinks=not smokes)
        assert page.get_attribute("#survey", "data-state") == "stored"
    shown = [dict(zip(coded.wire.names, coded.wire.decode(one), strict=True)) for one in reports_in(traffic)]
    assert [one["smokes"] for one in shown] == ["yes", "no"]
    assert [one["drinks"] for one in shown] == ["no", "yes"]
    assert len(people_kept(page)) == 2


def test_whoever_changes_from_yes_to_no_sends_the_no(context: Any, served: Served) -> None:
    server, store = served
    context.add_init_script(HEADS)
    traffic = recorded(context)
    surveys = [wave(store), wave(store)]
    for survey, smokes, who in zip(surveys, (True, False), (None, "me"), strict=True):
        answer_small(open_page(context, server, survey, who=who), smokes=smokes, drinks=True)
    shown = [
        dict(zip(survey.wire.names, survey.wire.decode(one), strict=True))
        for survey, one in zip(surveys, reports_in(traffic), strict=True)
    ]
    assert [one["smokes"] for one in shown] == ["yes", "no"]
    assert [one["drinks"] for one in shown] == ["yes", "yes"]
    assert len(set(tokens_in(traffic))) == 2


def test_all_sendings_together_are_shown_and_above_the_cap_nobody_is_asked(context: Any, served: Served) -> None:
    server, store = served
    traffic = recorded(context)
    answer_small(open_page(context, server, wave(store)), smokes=True, drinks=True)
    for together in ("5.5", "13"):
        page = open_page(context, server, wave(store), who="me")
        # One answer: 7/3 to the second, to the third; refused at the fourth, which would be 29.6.
        assert f"can become {together} to 1" in ledger_text(page)
        answer_small(page, smokes=True, drinks=True)
    page = open_page(context, server, wave(store), who="me")
    assert "30 times; at most 19 is allowed: Do you smoke?" in page.inner_text("[role=alert] >> nth=0")
    assert page.locator("form.entrance").count() == 0
    assert len(reports_in(traffic)) == 3
    page.click("text=Someone else answers on this device")
    answer_small(page, smokes=False, drinks=False)
    assert len(reports_in(traffic)) == 4
    assert len(people_kept(page)) == 2


def test_a_renamed_survey_in_other_answers_and_another_disguise_is_counted_too(context: Any, served: Served) -> None:
    server, store = served
    answer_small(open_page(context, server, wave(store)), smokes=True, drinks=True)
    text = SMALL.replace("title: Health", "title: Else").replace("privacy: strong", "privacy: very strong")
    text = text.replace("Do you smoke?", '"Do you  SMOKE"').replace("name: smokes", "name: tobacco")
    page = open_page(context, server, wave(store, text), who="me")
    assert "You have answered 2 of these questions here before." in ledger_text(page)


def test_somebody_else_is_shown_nothing_of_the_other_and_told_what_it_means(context: Any, served: Served) -> None:
    server, store = served
    first, second = wave(store), wave(store)
    answer_small(open_page(context, server, first), smokes=True, drinks=True)
    page = context.new_page()
    page.goto(f"{server.url}/s/{first.fingerprint}")
    page.wait_for_selector("#who")
    assert "receipt" not in page.inner_text("main").lower()
    say_who(page, "else")
    page.wait_for_selector("#begin, #consent")
    assert "If you did answer here before" in ledger_text(page)
    assert not re.search(r"\d", ledger_text(page).replace("person 2", ""))
    page = open_page(context, server, second, who="me")
    assert "1 of these" not in ledger_text(page)


def test_whoever_has_answered_is_told_at_once_with_the_receipt(context: Any, served: Served) -> None:
    server, store = served
    survey = wave(store)
    page = open_page(context, server, survey)
    answer_small(page, smokes=True, drinks=True)
    receipt = page.inner_text(".receipt")
    traffic = recorded(context)
    again = context.new_page()
    again.goto(f"{server.url}/s/{survey.fingerprint}")
    say_who(again, "me")
    again.wait_for_selector("#survey[data-state=known]")
    assert again.inner_text(".receipt") == receipt
    assert again.locator("form.entrance, fieldset").count() == 0
    again.click(".withdraw summary")
    again.fill("#withdraw-receipt", receipt)
    again.click(".withdraw button")
    again.wait_for_selector(".withdrawn:has-text('was deleted')")
    assert reports_in(traffic) == []


def test_a_used_code_is_told_at_once_with_the_receipt_by_link_and_by_hand(context: Any, served: Served) -> None:
    server, store = served
    coded = store.named("coded")
    code = issued(store, coded)
    page = open_page(context, server, coded, f"#code={code}")
    answer_small(page, smokes=True, drinks=True)
    receipt = page.inner_text(".receipt")
    linked = context.new_page()
    linked.goto(f"{server.url}/s/{coded.fingerprint}#code={code}")
    linked.wait_for_selector("#survey[data-state=known]")
    assert linked.inner_text(".receipt") == receipt
    typed = open_page(context, server, coded, who="me")
    typed.fill("#code", code)
    typed.check("#consent")
    typed.click("form.entrance button[type=submit]")
    typed.wait_for_selector("#survey[data-state=known]")
    assert typed.inner_text(".receipt") == receipt


def test_a_survey_that_closed_meanwhile_says_so_before_the_first_question(context: Any, served: Served) -> None:
    server, store = served
    survey = wave(store)
    page = open_page(context, server, survey)
    store.close_survey(survey)
    page.check("#consent")
    page.click("form.entrance button[type=submit]")
    page.wait_for_selector("h1:has-text('cannot be answered')")
    assert "This survey is closed." in page.inner_text("[role=alert]")


@pytest.mark.parametrize("fragment", ["#shared", "#shared&test", "#test", "#code=0000000000000000"])
def test_opening_a_link_forgets_spends_sends_and_draws_nothing(context: Any, served: Served, fragment: str) -> None:
    server, store = served
    answer_small(open_page(context, server, wave(store)), smokes=True, drinks=True)
    begun = open_page(context, server, wave(store), who="me")
    start(begun)
    begun.check("#smokes-1")
    begun.wait_for_function("() => Object.keys(localStorage).some((name) => name.startsWith('tacit.draft'))")
    memory = "JSON.stringify(Object.entries(localStorage).sort())"
    begun.wait_for_timeout(200)
    before = begun.evaluate(memory)
    traffic = recorded(context)
    page = context.new_page()
    for survey in (wave(store), store.named("coded")):
        page.goto(f"{server.url}/s/{survey.fingerprint}{fragment}")
        page.wait_for_selector("h1")
        page.wait_for_timeout(200)
    page.goto(f"{begun.url.split('#')[0]}{fragment}")
    page.wait_for_selector("h1")
    page.wait_for_timeout(200)
    assert page.evaluate(memory) == before
    assert {one["method"] for one in traffic} == {"GET"}


def test_shared_links_do_not_escape_the_count(context: Any, served: Served) -> None:
    server, store = served
    traffic = recorded(context)
    answer_small(open_page(context, server, wave(store), "#shared"), smokes=True, drinks=True)
    for _ in range(2):
        page = open_page(context, server, wave(store), "#shared", who="me")
        assert page.is_checked("#shared")
        answer_small(page, smokes=True, drinks=True)
    page = open_page(context, server, wave(store), "#shared", who="me")
    assert "at most 19 is allowed" in page.inner_text("[role=alert] >> nth=0")
    assert len(reports_in(traffic)) == 3
    # A hundred strangers at a kiosk have one entry, and each is counted alone.
    for _ in range(2):
        page = open_page(context, server, wave(store), "#shared", who="else")
        answer_small(page, smokes=True, drinks=True)
    assert len(people_kept(page)) == 1
    assert len(set(tokens_in(traffic))) == 5


def test_tests_are_sent_under_a_token_each_and_leave_no_trace(context: Any, served: Served) -> None:
    server, store = served
    survey = wave(store)
    traffic = recorded(context)
    for _ in range(4):
        page = open_page(context, server, survey, "#test")
        answer_small(page, smokes=True, drinks=True)
        assert page.get_attribute("#survey", "data-state") == "stored"
    assert len(set(tokens_in(traffic))) == 4
    assert people_kept(page) == []
    kept = page.evaluate("Object.entries(localStorage).filter(([_, value]) => value !== '[]')")
    assert kept == []


def test_one_test_to_a_code(context: Any, served: Served) -> None:
    server, store = served
    coded = store.named("coded")
    code = issued(store, coded)
    answer_small(open_page(context, server, coded, f"#code={code}&test"), smokes=True, drinks=True)
    page = context.new_page()
    page.goto(f"{server.url}/s/{coded.fingerprint}#code={code}&test")
    page.wait_for_selector("#survey[data-state=known]")
    answer_small(open_page(context, server, coded, f"#code={code}"), smokes=True, drinks=True)


@pytest.mark.parametrize("text", [HALVES, ARMS], ids=["split", "arms"])
def test_six_visits_send_one_version_once(context: Any, served: Served, text: str) -> None:
    server, store = served
    survey = wave(store, text)
    traffic = recorded(context)
    versions = set()
    for visit in range(6):
        page = context.new_page()
        page.goto(f"{server.url}/s/{survey.fingerprint}")
        if visit > 3:
            say_who(page, "me")
            page.wait_for_selector("#survey[data-state=known]")
            continue
        page.wait_for_selector("#begin, #consent")
        if visit:
            page.click("#drop")
        start(page)
        versions.add(",".join(sorted(page.locator("fieldset").evaluate_all("all => all.map((one) => one.id)"))))
        for one in page.locator("fieldset").all():
            one.locator("input").first.check()
        if visit == 3:
            send(page)
        page.wait_for_timeout(150)
        page.close()
    assert len(versions) == 1
    assert len(reports_in(traffic)) == 1


def test_somebody_else_is_dealt_anew(context: Any, served: Served) -> None:
    server, store = served
    survey = wave(store, HALVES)
    traffic = recorded(context)
    for person in range(22):  # that all are dealt alike has chance 2^-21
        page = open_page(context, server, survey, who="else" if person else None)
        start(page)
        for one in page.locator("fieldset").all():
            one.locator("input").first.check()
        send(page)
        page.close()
    versions = {one[:2] for one in reports_in(traffic)}
    assert versions == {"00", "01"}


def test_only_an_unacknowledged_sending_is_repeated(context: Any, served: Served) -> None:
    server, store = served
    survey = wave(store)
    traffic = recorded(context)
    page = open_page(context, server, survey)
    context.route("**/reports/*", lambda route: route.abort())
    answer_small(page, smokes=True, drinks=True)
    again = context.new_page()
    again.goto(f"{server.url}/s/{survey.fingerprint}")
    say_who(again, "me")
    again.wait_for_selector("#survey[data-state=later]")  # said at once; nothing is drawn a second time
    context.unroute("**/reports/*")
    again.reload()
    say_who(again, "me")
    again.wait_for_selector("#survey[data-state=known]")
    assert len(set(reports_in(traffic))) == 1
    assert store.counts(survey).reports == 1


def test_the_page_says_what_is_true_before_and_after_sending_again(context: Any, served: Served) -> None:
    server, store = served
    answer_small(open_page(context, server, wave(store)), smokes=True, drinks=True)
    page = open_page(context, server, wave(store), who="me")
    said = ledger_text(page)
    # Two answers twice: 2.34 to the second each, 2.34 to the fourth in all, rounded upwards.
    assert "You have answered 2 of these questions here before." in said
    assert "Everything you sent from here (2 disguised answers) and this survey together: at most 30 times." in said
    read_on(page)
    assert "same disguise" not in page.inner_text(".more")


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_what_is_asked_again_is_read_by_everybody(browser: Any, served: Served, width: int) -> None:
    server, store = served
    context = browser.new_context(
        viewport={"width": width, "height": 844}, locale="en", color_scheme="dark" if width == 390 else "light"
    )
    survey, problems, widths = wave(store), [], []

    def look(page: Any, screen: str) -> None:
        problems.extend(violations(page))
        widths.append(page.evaluate("document.documentElement.scrollWidth"))
        page.screenshot(path=screenshots() / f"again-{screen}-{width}.png", full_page=True)

    answer_small(open_page(context, server, survey), smokes=True, drinks=True)
    page = context.new_page()
    page.goto(f"{server.url}/s/{survey.fingerprint}")
    page.wait_for_selector("#who")
    look(page, "who")
    assert page.evaluate("document.activeElement.tagName") == "H1"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#survey[data-state=known]")
    look(page, "known")
    for _ in range(2):
        page = open_page(context, server, wave(store), who="me")
        look(page, "introduction")
        answer_small(page, smokes=True, drinks=True)
    look(open_page(context, server, wave(store), who="me"), "refused")
    look(open_page(context, server, wave(store), who="else"), "else")
    context.close()
    assert problems == []
    assert max(widths) <= width
