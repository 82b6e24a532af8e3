"""Everything that can be asked, as a respondent meets it."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from typing import Any

import pytest

from tacit.survey.definition import Definition
from tacit.survey.store.surveys import TEXTS, Store, StoredSurvey
from tests.browser.answering import open_page, send, start
from tests.browser.asked import ASKED
from tests.browser.conftest import screenshots
from tests.browser.test_page import violations
from tests.browser.test_wire import recorded
from tests.survey.server import RunningServer

pytestmark = pytest.mark.browser

Served = tuple[RunningServer, Store]


@pytest.fixture(scope="module")
def asked(served: Served) -> StoredSurvey:
    return served[1].add(Definition.from_yaml(ASKED), ASKED)


def test_every_kind_is_asked_and_only_what_may_be_is_sent(context: Any, served: Served, asked: StoredSurvey) -> None:
    server, store = served
    traffic = recorded(context)
    page = open_page(context, server, asked)
    start(page)
    page.check("#region-0")
    page.fill("#born-0", "1985-07-14")
    assert "January 1, 1980 – December 31, 1999" in page.inner_text("#field-born")
    page.check("#understood-0")  # not right: it is explained, and the first answer counts
    page.click("button[type=submit]")
    page.wait_for_selector(".explained")
    assert "Chance decides on your device" in page.inner_text(".explained")
    assert page.is_disabled("#understood-1")
    problems = violations(page)
    page.click("button[type=submit]")
    page.wait_for_selector("#spent-0")
    assert page.inner_text("h1") == "Life in In the north"
    page.fill("#spent-0", "12x")
    page.click("button[type=submit]")
    assert page.inner_text("#error-spent") == "Please enter a number."
    problems += violations(page)
    page.fill("#spent-0", "347,50")
    assert "100–999" in page.inner_text("#field-spent")
    assert page.inner_text("#error-spent") == ""  # what was said of it goes with the mistake
    assert "What did you spend?" not in page.inner_text(".problem")
    assert page.locator("#often-0").count() == 0
    page.check("#takes-2")
    page.check("#often-1")
    page.uncheck("#takes-2")
    assert page.locator("#often-0").count() == 0
    page.check("#takes-1")
    assert page.is_checked("#often-1")
    assert "One question has no answer yet." in page.inner_text(".problem")
    page.check("#birthday-0")
    assert page.inner_text(".problem") == ""
    page.screenshot(path=screenshots() / "asked-routed.png", full_page=True)
    problems += violations(page)
    page.click("button[type=submit]")
    page.wait_for_selector("#stress_work-0")
    assert page.inner_text(".common") == "How hard is it for you In the north?"
    page.check("#stress_work-2")
    page.check("#stress_home-0")
    assert "can show who you are" in page.inner_text("#field-remarks")
    page.fill("#remarks-0", "The canteen.")
    page.screenshot(path=screenshots() / "asked-grid.png", full_page=True)
    problems += violations(page)
    page.reload()
    page.wait_for_selector("#remarks-0")
    assert page.input_value("#remarks-0") == "The canteen."
    page.click("button[type=submit]")
    page.wait_for_selector("#review")
    looked = page.inner_text("dl.open")
    assert "The canteen." in looked
    assert "January 1, 1980 – December 31, 1999" in looked
    assert "1985" not in looked
    titles = page.locator("dl.odds dt").all_inner_texts()
    assert titles.count("What do you take?") == 1  # once, though its options are disguised one by one
    assert "can be at most" in page.inner_text("dl.odds")
    context.route("**/reports/*", lambda route: route.abort())
    page.click("#review button[type=submit]")
    page.wait_for_selector("#survey[data-state=later]")
    assert "The canteen." in page.inner_text("dl.sent")  # all that goes out is listed, the receipt stands above it
    receipt, listed = (page.locator(one).bounding_box()["y"] for one in (".receipt", "dl.sent"))
    assert receipt < listed
    # The report waits here disguised; what was written is not disguised, so it waits sealed.
    left = page.evaluate("JSON.stringify(Object.entries(localStorage))")
    assert "tacit.waiting" in left
    assert "canteen" not in left
    context.unroute("**/reports/*")
    open_page(context, server, asked, who="else")  # another visit sends it
    assert "tacit.waiting" not in page.evaluate("JSON.stringify(Object.entries(localStorage))")
    *_, sent = [one["body"] for one in traffic if one["method"] == "PUT"]
    body = json.loads(sent)
    assert set(body) == {"report", "receipt", "texts"}
    drawn = (body["receipt"], body["texts"]["key"])  # at random, so that they may hold any digits
    said = [text for text in (body["report"], *body["texts"]["answers"].values()) if text not in drawn]
    assert not [text for text in said if "347" in text or "1985" in text]
    ((row,),) = [list(batch) for batch in store.rows(asked)]
    shown = dict(zip(asked.wire.names, row, strict=True))
    assert (shown["region"], shown["born"], shown["understood"]) == ("north", "1980-01-01 to 1999-12-31", "no")
    # Held back until nine more have come.
    assert store.texts(asked) == []
    held = store.database.rows(f"SELECT question, content FROM {TEXTS[1]} WHERE box = ?", (f"reports {asked.number}",))
    assert held == [("remarks", "The canteen.")]
    assert problems == []


def test_whoever_is_screened_out_or_one_too_many_sends_nothing(
    browser: Any, served: Served, asked: StoredSurvey
) -> None:
    server, store = served
    table = asked.table("reports")
    names = ", ".join(f'"{name}"' for name in ("report_key", *asked.wire.names))
    row = ["south" if name == "region" else "x" for name in asked.wire.names]
    store.database.run(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * (len(row) + 1))})", ("k", *row))
    for region, told in ((2, "for people who live here"), (1, "Enough people like you")):
        context = browser.new_context(locale="en")
        traffic = recorded(context)
        page = open_page(context, server, asked)
        for _ in range(40):  # full quotas are counted every two seconds at most
            if page.evaluate("JSON.parse(document.getElementById('status').textContent).full.length") == 1:
                break
            page.wait_for_timeout(250)
            page.reload()
        page.wait_for_selector("#begin, #consent")
        start(page)
        page.check(f"#region-{region}")
        page.fill("#born-0", "1985-07-14")
        page.check("#understood-1")
        page.click("button[type=submit]")
        page.wait_for_selector("#survey[data-state=ended]")
        assert told in page.inner_text("main")
        assert "Nothing was sent." in page.inner_text("main")
        assert {one["method"] for one in traffic} == {"GET"}
        assert page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('tacit.draft'))") == []
        context.close()
    store.database.run(f"DELETE FROM {table} WHERE report_key = 'k'")


QUOTA = """\
name: quota
title: Quota
introduction: We want one from the south.
privacy: strong
contact: research@example.org
quotas:
  - {when: {region: south}, most: 1}
pages:
  - questions:
      - {name: region, kind: choice, text: Where do you live?, answers: [north, south], sensitive: false}
      - {name: smokes, kind: yes-no, text: Do you smoke?, sensitive: true, prefer_not_to_say: false}
"""


@pytest.mark.parametrize("connection", ["there", "lost"])
def test_a_quota_that_fills_up_meanwhile_is_noticed_before_anything_is_sent(
    browser: Any, served: Served, connection: str
) -> None:
    """Everybody asks twice, in the same words; without a connection the report goes out as it would have."""
    server, store = served
    text = QUOTA.replace("name: quota", f"name: quota_{connection}")
    survey = store.add(Definition.from_yaml(text), text)
    stored = (survey.table("reports"), ", ".join(f'"{name}"' for name in ("report_key", *survey.wire.names)))
    asked_again = set()
    for region, state in ((0, "stored"), (1, "ended" if connection == "there" else "stored")):
        context = browser.new_context(locale="en")
        traffic = recorded(context)
        if connection == "lost":
            context.route("**/full", lambda route: route.abort())
        page = open_page(context, server, survey)
        start(page)
        if region == 1:  # while they answer, somebody else from the south sends the last report that is wanted
            row = [("south" if name == "region" else "no") for name in survey.wire.names]
            store.database.run(
                f"INSERT INTO {stored[0]} ({stored[1]}) VALUES ({', '.join('?' * (len(row) + 1))})", ("k", *row)
            )
            page.wait_for_timeout(2100)  # quotas are counted every two seconds
        page.check(f"#region-{region}")
        page.check("#smokes-1")
        page.click("button[type=submit]")
        if state == "stored":
            page.wait_for_selector("#review")
            page.click("#review button[type=submit]")
        page.wait_for_selector(f"#survey[data-state={state}]")
        looks = [one for one in traffic if one["url"].endswith("/full")]
        asked_again.add(
            json.dumps([(one["method"], one["url"], one["body"], one["headers"]) for one in looks], sort_keys=True)
        )
        assert (
            len(looks) == 2
        )  # whether it is open, before the first question; which quotas are full, before the last look
        sent = [one["method"] for one in traffic if one["method"] != "GET"]
        assert sent == (["PUT"] if state == "stored" else [])
        if state == "ended":
            assert "Enough people like you" in page.inner_text("main")
            assert page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('tacit.draft'))") == []
        context.close()
    assert len(asked_again) == 1


def test_which_quotas_are_full_is_public_and_an_unknown_survey_is_none(served: Served) -> None:
    server, store = served
    text = QUOTA.replace("name: quota", "name: quota_public").replace("most: 1", "most: 5")
    survey = store.add(Definition.from_yaml(text), text)
    with urllib.request.urlopen(f"{server.url}/s/{survey.fingerprint}/full") as answer:
        assert json.load(answer) == {"state": "open", "full": []}
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Set-Cookie"] is None
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"{server.url}/s/{'0' * 32}/full")


def test_orders_are_drawn_on_the_device_and_sent_as_nothing(browser: Any, served: Served, asked: StoredSurvey) -> None:
    server, _ = served
    questions, answers, bodies = set(), set(), set()
    for number in range(8):
        context = browser.new_context(locale="en")
        traffic = recorded(context)
        page = open_page(context, server, asked, "#test")
        start(page)
        page.check("#region-0")
        page.fill("#born-0", "1985-07-14")
        page.check("#understood-1")
        page.click("button[type=submit]")
        page.wait_for_selector("#takes-0")
        page.check("#takes-0")
        order = [one.get_attribute("id") for one in page.locator("fieldset").all()]
        assert order.index("field-takes") < order.index("field-often")  # what depends on it stays behind it
        questions.add(tuple(order))
        answers.add(tuple(one.get_attribute("id") for one in page.locator("#field-takes input").all()))
        if number > 1:
            context.close()
            continue
        page.reload()
        page.wait_for_selector("#takes-0")
        assert [one.get_attribute("id") for one in page.locator("fieldset").all()] == order
        for choice in ("#often-0", "#birthday-0"):
            page.check(choice)
        page.fill("#spent-0", "5")
        page.click("button[type=submit]")
        page.wait_for_selector("#stress_work-0")
        page.check("#stress_work-0")
        page.check("#stress_home-0")
        send(page)
        (sent,) = [json.loads(one["body"]) for one in traffic if one["method"] == "PUT"]
        bodies.add((tuple(sorted(sent)), len(sent["report"])))
        context.close()
    # Of 6 and of 6 possible orders; eight draws all alike have a chance below 1e-5.
    assert len(questions) > 1
    assert len(answers) > 1
    assert len(bodies) == 1


def test_a_grid_and_a_typed_number_read_at_320_pixels_and_from_the_right(browser: Any, served: Served) -> None:
    server, store = served
    text = ASKED.replace("name: asked", "name: narrow\nlanguages: [ar]").replace("{yes: ", "{yes: ")
    survey = store.add(Definition.from_yaml(text), text)
    context = browser.new_context(viewport={"width": 320, "height": 640}, locale="ar", color_scheme="dark")
    page = open_page(context, server, survey, "#test")
    start(page)
    page.check("#region-0")
    page.fill("#born-0", "1985-07-14")
    page.check("#understood-1")
    page.click("button[type=submit]")
    page.wait_for_selector("#spent-0")
    page.fill("#spent-0", "۳٤٧")  # Arabic and Persian digits
    # Ranges of numbers read from left to right amid words that do not.
    assert "\u2066100–999\u2069" in page.inner_text("#field-spent")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.check("#birthday-0")
    page.click("button[type=submit]")
    page.wait_for_selector("#stress_work-0")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.screenshot(path=screenshots() / "asked-grid-ar-320.png", full_page=True)
    assert violations(page) == []
    steps = [one.bounding_box()["y"] for one in page.locator("#field-stress_work .scale label").all()]
    assert len(set(steps)) == 1  # a scale of the grid stands on one line
    for line in ("work", "home"):
        page.check(f"#stress_{line}-0")
    page.click("button[type=submit]")
    page.wait_for_selector("#review")
    # Days stand in the reader's language.
    assert re.search("1980 – .*ديسمبر 1999", page.inner_text("dl.open"))
    context.close()
