"""Nothing answered is lost by Back, reload or a closed tab, and nothing readable is left once it was sent."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tacit.survey.definition import Definition
from tacit.survey.store.surveys import Store, StoredSurvey
from tests.browser.answering import answer_small, open_page, send, start
from tests.browser.questionnaires import CANARY_ANSWER
from tests.browser.test_tokens import issued
from tests.browser.test_wire import recorded
from tests.survey.server import RunningServer

pytestmark = pytest.mark.browser

Served = tuple[RunningServer, Store]

PAGED = """\
name: paged
title: Paged
introduction: Three pages, the second for some.
contact: research@example.org
privacy: strong
pages:
  - questions:
      - {name: used, kind: yes-no, text: Have you used it?, sensitive: true, prefer_not_to_say: false}
  - questions:
      - {name: often, kind: choice, text: How often?, answers: [daily, rarely], sensitive: true, when: {used: "yes"}}
  - questions:
      - {name: told, kind: yes-no, text: Have you told anyone?, sensitive: true, prefer_not_to_say: false}
      - {name: region, kind: choice, text: Where?, answers: [north, south], sensitive: false}
"""

# Everything a browser keeps for a site, as whoever sits down at the device reads it.
LEFT = """async () => {
  const stores = [];
  for (const { name } of await indexedDB.databases()) {
    const opened = await new Promise((resolve) => {
      const asking = indexedDB.open(name);
      asking.onsuccess = () => resolve(asking.result);
    });
    for (const table of opened.objectStoreNames) {
      const store = opened.transaction(table).objectStore(table);
      const ask = (what) => new Promise((resolve) => { const one = what; one.onsuccess = () => resolve(one.result); });
      const names = await ask(store.getAllKeys());
      const values = await ask(store.getAll());
      const shown = (value) => [JSON.stringify(value), value?.key?.extractable ?? null];
      stores.push(...names.map((key, index) => [String(key), ...shown(values[index])]));
    }
    opened.close();
  }
  return {
    stores,
    local: Object.entries(localStorage),
    session: Object.entries(sessionStorage),
    caches: await caches.keys(),
    cookies: document.cookie,
    history: [history.length, JSON.stringify(history.state), location.href],
    page: document.documentElement.outerHTML.replace(/<script[^]*?<\\/script>/g, ""),
  };
}"""


@pytest.fixture(scope="module")
def paged(served: Served) -> StoredSurvey:
    return served[1].add(Definition.from_yaml(PAGED), PAGED)


def test_reload_back_and_forward_lose_nothing(context: Any, served: Served, paged: StoredSurvey) -> None:
    server, _ = served
    page = open_page(context, server, paged, "#test")
    start(page)
    page.check("#used-1")
    page.click("button[type=submit]")
    page.check("#often-1")
    page.reload()
    page.wait_for_selector("#often-1")
    assert page.is_checked("#often-1")
    page.go_back()
    page.wait_for_selector("#used-1")
    assert page.is_checked("#used-1")
    page.go_forward()
    page.wait_for_selector("#often-1")
    page.click("button[type=submit]")
    page.wait_for_selector("#told-0")
    page.check("#told-0")
    page.check("#region-1")
    page.click("button[type=submit]")
    page.wait_for_selector("#review")
    page.go_back()
    page.wait_for_selector("#told-0")
    assert page.is_checked("#told-0")
    page.click("button.back")
    page.wait_for_selector("#often-1")
    page.go_back()
    page.go_back()
    page.wait_for_selector("#begin, #consent")
    page.go_forward()
    page.wait_for_selector("#used-1")
    page.check("#used-0")  # the second page is now passed over, also on the browser's own way
    page.go_forward()
    page.wait_for_selector("#told-0")
    page.go_back()
    page.wait_for_selector("#used-0")


def test_a_closed_tab_loses_nothing_and_shows_nobody_the_answers_unasked(
    context: Any, served: Served, paged: StoredSurvey
) -> None:
    server, _ = served
    page = open_page(context, server, paged)
    start(page)
    page.check("#used-1")
    page.click("button[type=submit]")
    page.check("#often-0")
    page.wait_for_timeout(100)
    page.close()
    again = open_page(context, server, paged)
    assert again.locator("fieldset").count() == 0
    again.click("#resume")
    again.wait_for_selector("#often-0")
    assert again.is_checked("#often-0")
    other = open_page(context, server, paged)
    other.click("#drop")
    other.wait_for_function("() => Object.keys(localStorage).every((name) => !name.startsWith('tacit.draft'))")
    assert other.evaluate(LEFT)["stores"] == []
    assert open_page(context, server, paged).locator("#resume").count() == 0


def test_what_is_kept_meanwhile_can_be_read_by_nobody_and_nothing_is_sent(context: Any, served: Served) -> None:
    server, store = served
    traffic = recorded(context)
    page = open_page(context, server, store.named("canary"))
    start(page)
    loaded = len(traffic)
    page.check("#secret-0")
    page.wait_for_function("() => Object.keys(localStorage).some((name) => name.startsWith('tacit.draft'))")
    left = page.evaluate(LEFT)
    assert len(traffic) == loaded
    assert [extractable for _, _, extractable in left["stores"]] == [False]
    assert CANARY_ANSWER not in json.dumps({name: left[name] for name in left if name != "page"})


def test_nothing_readable_is_left_after_sending(context: Any, served: Served, paged: StoredSurvey) -> None:
    server, store = served
    survey = store.named("canary")
    page = open_page(context, server, survey, "#test")
    start(page)
    page.check("#secret-0")
    send(page)
    left = page.evaluate(LEFT)
    assert CANARY_ANSWER not in json.dumps(left)
    assert left["stores"] == []
    assert left["session"] == []
    assert left["caches"] == []
    assert left["cookies"] == ""
    assert not any(name.startswith("tacit.draft") for name, _ in left["local"])
    page.go_back()
    assert CANARY_ANSWER not in json.dumps(page.evaluate(LEFT))
    page.reload()
    page.wait_for_selector("#begin, #consent")
    assert page.locator("#resume").count() == 0


def test_the_history_is_the_same_whatever_was_answered(browser: Any, served: Served, paged: StoredSurvey) -> None:
    server, _ = served
    seen = set()
    for used in (0, 1):
        context = browser.new_context(locale="en")
        page = open_page(context, server, paged)
        start(page)
        page.check(f"#used-{used}")
        page.click("button[type=submit]")
        if used:
            page.check("#often-0")
            page.click("button[type=submit]")
        page.wait_for_selector("#told-0")
        page.check("#told-0")
        page.check("#region-0")
        send(page)
        length, state, address = page.evaluate(LEFT)["history"]
        seen.add((length, re.sub(r"\d{2,}", "RUN", state), address))
        context.close()
    assert len(seen) == 1


def test_a_draft_dies_after_a_day(context: Any, served: Served, paged: StoredSurvey) -> None:
    server, _ = served
    page = open_page(context, server, paged)
    start(page)
    page.check("#used-1")
    page.wait_for_function("() => Object.keys(localStorage).some((name) => name.startsWith('tacit.draft'))")
    page.close()
    later = context.new_page()
    later.clock.install()
    later.clock.fast_forward("24:00:01")
    later.goto(f"{server.url}/s/{paged.fingerprint}")
    later.wait_for_selector("#begin, #consent")
    assert later.locator("#resume").count() == 0
    assert later.evaluate(LEFT)["stores"] == []


def test_a_shared_device_keeps_no_draft_and_forgets_the_code(context: Any, served: Served) -> None:
    server, store = served
    coded = store.named("coded")
    code = issued(store, coded)
    page = open_page(context, server, coded, f"#code={code}&shared")
    assert page.is_checked("#shared")
    start(page)
    page.check("#smokes-1")
    page.wait_for_timeout(100)
    left = page.evaluate(LEFT)
    assert left["stores"] == []
    assert code not in json.dumps(left)
    page.click("text=Someone else answers on this device")
    page.wait_for_selector("#begin, #consent")
    assert page.is_checked("#shared")
    assert page.input_value("#code") == ""
    left = page.evaluate(LEFT)
    assert left["local"] == [] or left["local"] == [["tacit.unsent", "[]"]]
    page.go_back()
    assert page.locator("fieldset").count() == 0
    page.reload()
    page.wait_for_selector("#begin, #consent")
    assert page.input_value("#code") == ""


def test_another_code_is_another_person(context: Any, served: Served) -> None:
    server, store = served
    coded = store.named("coded")
    first, second = issued(store, coded), issued(store, coded)
    page = open_page(context, server, coded, f"#code={first}")
    start(page)
    page.check("#smokes-1")
    page.wait_for_timeout(200)
    page.close()
    same = open_page(context, server, coded, f"#code={first}")
    assert same.locator("#resume").count() == 1
    other = open_page(context, server, coded, f"#code={second}")
    assert other.locator("#resume").count() == 0
    # It is not offered to the other code, and no link destroys it either.
    assert any(name.startswith("tacit.draft") for name, _ in other.evaluate(LEFT)["local"])
    start(other)
    other.check("#smokes-0")
    again = open_page(context, server, coded, f"#code={first}")
    again.click("#resume")
    again.wait_for_selector("#smokes-1:checked")


def test_leaving_with_answers_is_warned_of_and_after_sending_no_more(
    context: Any, served: Served, fresh_survey: StoredSurvey
) -> None:
    server, _ = served
    page = open_page(context, server, fresh_survey)
    asked: list[str] = []

    def note(dialog: Any) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", note)
    page.reload()
    page.wait_for_selector("#begin, #consent")
    assert asked == []
    start(page)
    page.check("#age-0")
    page.reload()
    page.wait_for_selector("#age-0")
    assert asked == ["beforeunload"]
    page.go_back()
    answer_small(page, smokes=True, drinks=False)
    page.reload()
    assert asked == ["beforeunload"]


QUOTA = PAGED.replace("name: paged", "name: filling") + "quotas:\n  - {when: {region: north}, most: 1000}\n"
KEPT = "() => Object.keys(localStorage).some((name) => name.startsWith('tacit.draft'))"


def answer_paged(page: Any) -> None:
    """Everything up to the last look."""
    for choices in (["#used-1"], ["#often-0"], ["#told-0", "#region-0"]):
        for choice in choices:
            page.check(choice)
        page.click("button[type=submit]")
    page.wait_for_selector("#review")


def test_back_does_not_bring_answers_to_be_changed_while_they_are_sent(context: Any, served: Served) -> None:
    server, store = served
    held: list[Any] = []
    page = open_page(context, server, store.add(Definition.from_yaml(QUOTA), QUOTA))
    start(page)
    page.route("**/full", lambda route: held.append(route))
    answer_paged(page)
    page.click("#review button[type=submit]")
    page.go_back()
    assert page.locator("fieldset").count() == 0
    held[0].continue_()
    page.wait_for_selector("#survey[data-state=stored]")


def test_a_device_without_room_says_so_and_sends_when_there_is_room(
    context: Any, served: Served, fresh_survey: StoredSurvey
) -> None:
    page = open_page(context, served[0], fresh_survey, "#shared")
    start(page)
    for choice in ("#age-1", "#smokes-1", "#drinks-0"):
        page.check(choice)
    page.click("button[type=submit]")
    page.wait_for_selector("#review")
    page.evaluate("() => { Storage.prototype.setItem = () => { throw Error(); }; }")
    page.click("#review button[type=submit]")
    page.wait_for_selector("#review .problem")
    assert page.inner_text("#review .problem") == "This could not be done just now. Please try again in a moment."
    page.evaluate("() => { Storage.prototype.setItem = () => {}; }")
    page.click("#review button[type=submit]")
    page.wait_for_selector("#survey[data-state=stored]")


def test_a_draft_dies_with_its_survey_and_under_a_clock_that_was_set_back(
    context: Any, served: Served, paged: StoredSurvey
) -> None:
    server, _ = served
    address = f"{server.url}/s/{paged.fingerprint}"

    def begun(**clock: Any) -> None:
        page = context.new_page()
        if clock:
            page.clock.install(**clock)
        page.goto(address)
        page.wait_for_selector("#begin, #consent")
        start(page)
        page.check("#used-1")
        page.wait_for_function(KEPT)
        page.close()

    begun()
    closed = context.new_page()

    def answer(route: Any) -> None:
        body = route.fetch().text()
        assert '"state":"open"' in body or '"state": "open"' in body
        route.fulfill(body=re.sub(r'"state": ?"open"', '"state":"closed"', body), content_type="text/html")

    closed.route(address, answer)
    closed.goto(address)
    closed.wait_for_selector("[role=alert]")
    assert closed.evaluate(LEFT)["stores"] == []
    begun(time="2036-01-01")
    later = context.new_page()
    later.clock.install()
    later.clock.fast_forward("30:00:00")
    later.goto(address)
    later.wait_for_selector("#begin, #consent")
    assert later.evaluate(LEFT)["stores"] == []


def test_what_one_tab_has_sent_no_other_holds_or_seals_again(context: Any, served: Served, paged: StoredSurvey) -> None:
    server, _ = served
    first = open_page(context, server, paged)
    start(first)
    first.check("#used-1")
    first.wait_for_function(KEPT)
    second = open_page(context, server, paged)
    second.click("#resume")
    second.wait_for_selector("#used-1")
    answer_paged(second)
    second.click("#review button[type=submit]")
    second.wait_for_selector("#survey[data-state=stored]")
    first.wait_for_selector("#who")
    assert first.inner_text("[role=status] >> nth=0").startswith("Ready for the next person")
    left = first.evaluate(LEFT)
    assert left["stores"] == []
    assert not any(name.startswith("tacit.draft") for name, _ in left["local"])


def test_a_device_that_is_called_shared_forgets_at_once_and_stays_shared(
    context: Any, served: Served, paged: StoredSurvey
) -> None:
    page = open_page(context, served[0], paged)
    start(page)
    page.check("#used-1")
    page.wait_for_function(KEPT)
    page.go_back()
    page.check("#shared")
    page.wait_for_function(f"() => !({KEPT})()")
    start(page)
    page.reload()
    page.wait_for_selector("#begin, #consent")
    assert page.is_checked("#shared")
