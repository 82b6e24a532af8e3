"""The first screen: one picture of the disguise, the odds as dots, the rest one tap away; in the reader's language."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from tacit.survey.definition import Definition
from tacit.survey.store.surveys import Store, StoredSurvey
from tacit.survey.words import RELEASED, released_words
from tests.browser.answering import answer_small, open_page, read_on, start
from tests.browser.conftest import screenshots
from tests.browser.test_wire import recorded
from tests.survey.server import RunningServer

pytestmark = pytest.mark.browser

Served = tuple[RunningServer, Store]

PARAGRAPH = (
    "We want to know how people in our field are doing, so that help goes where it is needed. We ask about health."
)


def in_every_language(text: str) -> str:
    """A text as a mapping from each language to the same words."""
    return "{" + ", ".join(f'{language}: "{text}"' for language in RELEASED) + "}"


MANY = f"""\
name: many
title: {in_every_language("Health and work")}
introduction: {in_every_language(PARAGRAPH)}
contact: {in_every_language("research@example.org")}
institution: {in_every_language("Institute of Work")}
minutes: 20
languages: [{", ".join(RELEASED)}]
access: codes
privacy: strong
pages:
  - questions:
      - {{name: smokes, kind: yes-no, text: {in_every_language("Do you smoke?")}, sensitive: true}}
"""


@pytest.fixture(scope="module")
def many(served: Served) -> StoredSurvey:
    return served[1].add(Definition.from_yaml(MANY), MANY)


def test_the_introduction_fits_one_phone_screen_in_every_language(
    browser: Any, served: Served, many: StoredSurvey
) -> None:
    server, _ = served
    context = browser.new_context(viewport={"width": 360, "height": 640}, locale="fr")
    page = open_page(context, server, many, is_begun=False)
    assert page.evaluate("document.documentElement.lang") == "fr"  # the reader's own, fetched before anything is shown
    for language in RELEASED:
        page.select_option("#language", language)
        page.wait_for_selector(f"html[lang={language}]")
        words = json.loads(released_words(language))
        assert page.evaluate("document.documentElement.dir") == words["direction"]
        button = page.locator("#begin")
        box = button.bounding_box()
        assert button.inner_text() == words["start"]
        assert box["y"] + box["height"] <= 640, language
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        said = page.inner_text("main")
        for text in ("Institute of Work", PARAGRAPH, words["minutes"]["other"].format(n=20), words["voluntary"]):
            assert text in said
        assert not page.is_visible("#consent")
        page.screenshot(path=screenshots() / f"first-screen-{language}.png")
        page.set_viewport_size({"width": 320, "height": 640})
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        page.set_viewport_size({"width": 360, "height": 640})
    context.close()


def test_the_dots_are_the_odds_and_a_made_up_answer_goes_through_the_disguise(
    context: Any, served: Served, fresh_survey: StoredSurvey
) -> None:
    server, _ = served
    traffic = recorded(context)
    page = open_page(context, server, fresh_survey)
    loaded = len(traffic)
    for place in (".picture:not(.trial)", ".trial"):
        assert page.locator(f"{place} .dots i").count() == 100
        assert page.locator(f"{place} .dots i.own").count() == 70  # strong: 7 out of 10
    assert page.inner_text(".caption >> nth=0") == (
        "Of 100 people whose answer is “Yes”, 70 send “Yes” and 30 something else. Nobody can tell which you are."
    )
    read_on(page)
    drawn = page.evaluate(
        """() => Array.from({ length: 400 }, () => {
          document.getElementById("try").click();
          return [document.querySelector(".trial output").textContent, document.querySelector("i.drawn").className];
        })"""
    )
    counts = Counter(map(tuple, drawn))
    assert set(counts) == {("Yes", "own drawn"), ("No", "drawn")}
    assert 200 < counts["Yes", "own drawn"] < 350  # 280 expected; beyond eight standard errors
    page.select_option("#made-up", "0")
    assert "whose answer is “No”" in page.inner_text(".trial .caption")
    assert len(traffic) == loaded  # trying sends nothing
    assert page.evaluate("localStorage.getItem('tacit.people')") is None


def test_details_are_one_tap_away(context: Any, served: Served, fresh_survey: StoredSurvey) -> None:
    server, _ = served
    page = open_page(context, server, fresh_survey)
    assert not page.is_visible("dl.label")
    read_on(page)
    for shown in ("dl.label", ".fingerprint", ".simulator", "text=research@example.org"):
        assert page.is_visible(shown)


# Taps as soon as there is something to tap, before anything was painted.
TAP_AT_ONCE = """
new MutationObserver((_, observer) => {
  const summary = document.querySelector(".tells > summary");
  if (!summary) return;
  observer.disconnect();
  window.early = document.querySelector("dl.label") !== null;
  summary.click();
  window.tapped = document.querySelector("dl.label") !== null;
}).observe(document, { childList: true, subtree: true });
"""


def test_details_are_made_after_the_first_screen_is_painted_or_with_the_tap(
    context: Any, served: Served, fresh_survey: StoredSurvey
) -> None:
    server, _ = served
    page = open_page(context, server, fresh_survey)
    page.wait_for_selector(".more dl.label", state="attached")  # nobody has tapped
    assert page.locator("dl.label").count() == 1
    hasty = context.new_page()
    hasty.add_init_script(TAP_AT_ONCE)
    hasty.goto(f"{server.url}/s/{fresh_survey.fingerprint}")
    hasty.wait_for_selector("dl.label")
    assert hasty.evaluate("[early, tapped]") == [False, True]
    assert hasty.locator("dl.label").count() == 1


def test_words_are_fetched_when_a_language_is_chosen_and_taken_only_as_released(
    context: Any, served: Served, many: StoredSurvey
) -> None:
    server, _ = served
    traffic = recorded(context)
    page = open_page(context, server, many)
    assert not any("/words/" in one["url"] for one in traffic)
    page.select_option("#language", "de")
    page.wait_for_selector("html[lang=de]")
    assert page.inner_text("#begin") == "Start"
    assert [one["url"].rsplit("/", 1)[1] for one in traffic if "/words/" in one["url"]] == ["de"]
    lying = released_words("ar").replace("100", "99")
    page.route("**/words/ar", lambda route: route.fulfill(body=lying, content_type="application/json"))
    page.select_option("#language", "ar")
    page.wait_for_selector("[role=alert].problem:not(:empty)")
    assert "العربية" in page.inner_text("[role=alert].problem >> nth=0")
    assert page.evaluate("document.documentElement.lang") == "de"


def test_nothing_moves_for_whoever_asks_for_less_motion(browser: Any, served: Served) -> None:
    server, store = served
    context = browser.new_context(locale="en", reduced_motion="reduce")
    page = open_page(context, server, store.named("rich"), "#test")
    read_on(page)
    page.click("#try")
    styles = page.evaluate(
        """() => [...document.querySelectorAll("*")].map((one) => getComputedStyle(one))
          .map((style) => [style.animationName, style.transitionDuration])"""
    )
    assert {tuple(style) for style in styles} == {("none", "0s")}
    context.close()


def test_every_screen_reads_without_scrolling_sideways_at_320_pixels(browser: Any, served: Served) -> None:
    server, store = served
    context = browser.new_context(viewport={"width": 320, "height": 640}, locale="ar")
    page = open_page(context, server, store.named("rich"), "#test")
    read_on(page)
    widths = [page.evaluate("document.documentElement.scrollWidth")]
    start(page)
    widths.append(page.evaluate("document.documentElement.scrollWidth"))
    for choice in ("#region-0", "#works-1", "#hours-1"):
        page.check(choice)
    page.click("button[type=submit]")
    page.wait_for_selector("#symptoms-0")
    widths.append(page.evaluate("document.documentElement.scrollWidth"))
    page.screenshot(path=screenshots() / "questions-ar-320.png", full_page=True)
    context.close()
    assert max(widths) <= 320


def test_a_receipt_is_read_whole_at_320_pixels_where_it_is_shown_and_where_it_is_typed(
    browser: Any, served: Served, fresh_survey: StoredSurvey
) -> None:
    context = browser.new_context(viewport={"width": 320, "height": 640}, locale="en")
    page = open_page(context, served[0], fresh_survey)
    answer_small(page, smokes=True, drinks=False)
    receipt = page.inner_text(".receipt")
    # On one line and within the screen: whoever copies it by hand loses no group.
    box = page.locator(".receipt").bounding_box()
    lines = page.evaluate("""() => {
      const range = document.createRange();
      range.selectNodeContents(document.querySelector(".receipt"));
      return new Set(Array.from(range.getClientRects(), (one) => Math.round(one.top))).size;
    }""")
    again = open_page(context, served[0], fresh_survey, who="else")
    again.click(".withdraw summary")
    again.fill(".withdraw input", receipt)
    fits = again.evaluate(
        "(() => { const f = document.querySelector('.withdraw input'); return f.scrollWidth <= f.clientWidth; })()"
    )
    context.close()
    assert len(receipt) == 24
    assert lines == 1
    assert box["x"] + box["width"] <= 320
    assert fits
