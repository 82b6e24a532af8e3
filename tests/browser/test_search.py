"""Questions with thousands of answers in a real browser: searched, chosen by keys, kept, disguised and sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tacit.survey.definition import Definition
from tacit.survey.store.surveys import Store, StoredSurvey
from tests.browser.answering import open_page, send, start
from tests.browser.conftest import screenshots
from tests.survey.server import RunningServer, running_server

pytestmark = [pytest.mark.browser, pytest.mark.slow]

N = 3000
TEXT = """
name: NAME
languages: [en, ar]
title: {en: Places, ar: أماكن}
introduction: {en: Where people were born., ar: أين ولد الناس.}
contact: {en: A university., ar: جامعة.}
pages:
- questions:
  - {name: place, kind: choice, answers: {file: codes.csv}, text: {en: "Where were you born?", ar: "أين ولدت؟"}, sensitive: true}
groups:
- {questions: [place], channel: {kind: KIND, gamma: 4}}
"""

Served = tuple[RunningServer, dict[str, StoredSurvey], Store]


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("places")
    rows = "".join(f"{10_000 + i},{10_000 + i} Zürich {i % 60} {i}\n" for i in range(N))
    (folder / "codes.csv").write_text("name,label\n" + rows, encoding="utf-8")
    store = Store.open(folder / "survey.db")
    surveys = {}
    for kind in ("hadamard", "local-hashing"):
        text = TEXT.replace("NAME", kind.replace("-", "")).replace("KIND", kind)
        (folder / "survey.yaml").write_text(text, encoding="utf-8")
        surveys[kind] = store.add(Definition.read(folder / "survey.yaml"), text)
    with running_server(str(folder / "survey.db"), folder / "server.log") as server:
        yield server, surveys, store
    store.close()


def violations(page: Any) -> int:
    from axe_playwright_python.sync_playwright import Axe

    return int(Axe().run(page).violations_count)


@pytest.mark.parametrize("kind", ["hadamard", "local-hashing"])
def test_an_answer_among_thousands_is_found_by_keys_kept_and_sent(context: Any, places: Served, kind: str) -> None:
    server, surveys, store = places
    survey = surveys[kind]
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page = open_page(context, server, survey)
    # Without a picture of so many answers the first screen says in words what is sent.
    share = "1,500" if kind == "hadamard" else "750"
    assert f"a number that about {share} of all 3,001 answers share" in page.inner_text(".picture")
    start(page)
    before = len(asked)
    field = page.locator("#place-0")
    field.press_sequentially("zurich 7 10")  # no accent, no case, parts of words
    assert field.get_attribute("aria-expanded") == "true"
    assert page.locator("[role=option]").count() == 50
    assert "more: type on" in page.inner_text("#field-place")
    field.fill("12 34")
    field.press("ArrowUp")
    last = page.locator("[role=option]").last
    assert field.get_attribute("aria-activedescendant") == last.get_attribute("id")
    field.press("ArrowDown")
    assert page.locator("[role=option][aria-selected=true]").count() == 1
    assert violations(page) == 0
    page.screenshot(path=screenshots() / f"search-{kind}.png")
    field.press("Escape")
    assert field.get_attribute("aria-expanded") == "false"
    page.click("button[type=submit]")
    assert "Please" in page.inner_text("#error-place")  # typed is not chosen
    field.fill("11234")
    field.press("Enter")
    assert field.input_value() == "11234 Zürich 34 1234"
    page.check("#place-1")
    assert field.input_value() == ""
    field.fill("11234")
    field.press("ArrowDown")
    field.press("Enter")
    assert not page.is_checked("#place-1")
    assert asked[before:] == []  # nothing of what was typed or chosen left the page
    page.click("button[type=submit]")
    page.wait_for_selector("#review")
    page.go_back()
    page.wait_for_selector("fieldset")
    assert field.input_value() == "11234 Zürich 34 1234"
    page.reload()
    page.wait_for_selector("fieldset")
    assert field.input_value() == "11234 Zürich 34 1234"
    page.select_option("#language", "ar")
    page.wait_for_selector("html[dir=rtl]")
    assert field.input_value() == "11234 Zürich 34 1234"
    send(page)
    assert page.get_attribute("#survey", "data-state") == "stored"
    assert store.counts(survey).reports == 1
    ((row, *_),) = store.rows(survey)
    assert 0 <= int(row[0]) < (4096 if kind == "hadamard" else 4)


def test_the_search_fits_a_small_screen_from_right_to_left(browser: Any, places: Served) -> None:
    server, surveys, _ = places
    context = browser.new_context(viewport={"width": 320, "height": 640}, locale="ar", color_scheme="dark")
    page = open_page(context, server, surveys["hadamard"])
    start(page)
    page.locator("#place-0").press_sequentially("123")
    page.locator("#place-0").press("ArrowDown")
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    assert violations(page) == 0
    page.screenshot(path=screenshots() / "search-320-ar.png")
    page.locator("[role=option]").nth(2).click()
    assert page.locator("#place-0").input_value().startswith("12302")
    context.close()


def test_a_list_that_was_swapped_on_the_way_is_not_asked(context: Any, places: Served) -> None:
    server, surveys, _ = places

    def swap(route: Any) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace("11234 Z", "11234 A"))

    context.route("**/answers/*", swap)
    page = open_page(context, server, surveys["hadamard"])
    page.check("#consent")
    page.click("button[type=submit]")
    page.wait_for_selector("h1:has-text('could not be loaded')")
    assert page.locator("fieldset").count() == 0
    context.unroute("**/answers/*")
    page.click(".buttons button")
    page.wait_for_selector("fieldset")
    assert page.locator("#place-0").count() == 1
