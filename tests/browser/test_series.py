"""Declared waves and panels on the page: counted whole before the first wave, each wave once, a pseudonym of the device."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tacit.survey.definition import Definition
from tacit.survey.site import inert_json
from tacit.survey.store.surveys import Store, StoredSurvey
from tests.browser.answering import answer_small, open_page, say_who, start
from tests.browser.test_tokens import issued
from tests.survey.questionnaires import SMALL
from tests.survey.series import wave_of_series
from tests.survey.server import RunningServer
from tests.survey.test_dealing import SPLIT

pytestmark = pytest.mark.browser

Served = tuple[RunningServer, Store]


class Server:
    """A server that hands out any definition and takes every report, whatever it was asked before."""

    def __init__(self, context: Any, address: str) -> None:
        self.sent: list[dict[str, Any]] = []
        self.withdrawn: list[str] = []
        self._address = address
        self._documents: dict[str, dict[str, Any]] = {}
        self._context = context
        context.route("**/s/*", self._page)
        context.route("**/full", lambda route: route.fulfill(json={"state": "open", "full": []}))
        context.route("**/reports/*", self._report)
        context.route("**/withdrawals", self._withdrawal)

    def _page(self, route: Any) -> None:
        response = route.fetch(url=self._address)
        text = response.text()
        begin = text.index('id="definition">') + len('id="definition">')
        end = text.index("</script>", begin)
        document = self._documents[route.request.url.split("#")[0].rsplit("/", 1)[1]]
        route.fulfill(response=response, body=text[:begin] + inert_json(document) + text[end:])

    def _report(self, route: Any) -> None:
        self.sent.append({"url": route.request.url, **json.loads(route.request.post_data)})
        route.fulfill(status=201, json={"outcome": "stored"})

    def _withdrawal(self, route: Any) -> None:
        self.withdrawn.append(route.request.url.split("/")[-2])
        route.fulfill(status=409 if len(self.withdrawn) == 1 else 200, json={})

    def visit(self, document: dict[str, Any], who: str | None = None, fragment: str = "") -> Any:
        fingerprint = Definition(document).fingerprint
        self._documents[fingerprint] = document
        page = self._context.new_page()
        page.goto(f"{self._address.rsplit('/', 1)[0]}/{fingerprint}{fragment}")
        if who is not None:
            say_who(page, who)
        page.wait_for_selector("#begin, #survey[data-state], [role=alert]")
        return page


@pytest.fixture
def server(context: Any, served: Served, fresh_survey: StoredSurvey) -> Server:
    return Server(context, f"{served[0].url}/s/{fresh_survey.fingerprint}")


def test_the_whole_series_is_stated_before_the_first_wave_and_each_wave_taken_once(server: Server) -> None:
    waves = [wave_of_series(number, 4, series_gamma=30) for number in (1, 2, 3, 4)]
    page = server.visit(waves[0])
    said = page.inner_text("p.series")
    assert "You are asked 4 times; this is time 1." in said
    # 7/3 to the fourth for one answer, to the eighth for two; rounded upwards.
    assert "about one answer at most 30 times, about all your answers at most 880 times" in said
    answer_small(page, smokes=True, drinks=True)
    assert "panel" not in server.sent[0]
    for wave in (waves[1], waves[3]):  # one may be missed
        page = server.visit(wave, "me")
        assert page.locator("p.ledger").count() == 0  # nothing beyond what the series has stated
        answer_small(page, smokes=False, drinks=True)
    for wave in (waves[0], waves[1], waves[3]):  # whatever the server says
        page = server.visit(wave, "me")
        assert page.get_attribute("#survey", "data-state") == "known"
        assert page.locator("form.entrance").count() == 0
        assert len(page.inner_text(".receipt")) == 24
    assert len(server.sent) == 3
    assert len({one["url"].rsplit("/", 1)[1] for one in server.sent}) == 3


def test_the_same_questions_outside_the_series_are_counted_with_it(server: Server) -> None:
    answer_small(server.visit(wave_of_series(1, 2)), smokes=True, drinks=True)
    for text, expected in ((SMALL, "13"), (SMALL.replace("title: Health", "title: Another"), None)):
        page = server.visit(dict(Definition.from_yaml(text).document), "me")
        if expected is None:
            assert "30 times; at most 19 is allowed: Do you smoke?" in page.inner_text("[role=alert] >> nth=0")
        else:
            assert f"can become {expected} to 1" in page.inner_text("p.ledger >> nth=0")
            answer_small(page, smokes=True, drinks=True)
    assert len(server.sent) == 2


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (wave_of_series(1, 4, series_gamma=30, series="0" * 64), "how often it is asked does not fit together"),
        (wave_of_series(5, 4, series_gamma=30), "how often it is asked does not fit together"),
        (wave_of_series(1, 4), "could change the odds of a guess 30 times; at most 19 is allowed: smokes"),
    ],
)
def test_a_series_that_does_not_fit_or_exceeds_the_cap_is_refused(
    server: Server, document: dict[str, Any], reason: str
) -> None:
    page = server.visit(document)
    assert reason in page.inner_text("[role=alert] >> nth=0")
    assert page.locator("form").count() == 0


PANEL = {"panel": True, "series_gamma": 30}


def test_a_panel_sends_one_pseudonym_of_the_device_and_says_so(context: Any, server: Server) -> None:
    waves = [wave_of_series(number, 4, **PANEL) for number in (1, 2)]
    page = server.visit(waves[0])
    assert "your reports can be put together" in page.inner_text("p.series >> nth=1")
    assert "If this browser is cleared, a new one begins." in page.inner_text("p.series >> nth=1")
    answer_small(page, smokes=True, drinks=True)
    answer_small(server.visit(waves[1], "me"), smokes=True, drinks=True)
    answer_small(server.visit(waves[1], "else"), smokes=True, drinks=True)
    first, second, other = server.sent
    assert re.fullmatch("[0-9a-f]{32}", first["panel"])
    assert first["panel"] == second["panel"]
    assert other["panel"] != first["panel"]
    token = first["url"].rsplit("/", 1)[1]
    assert first["panel"] not in token
    assert len({one["receipt"] for one in server.sent}) == 3


def test_a_pseudonym_belongs_to_one_series_and_is_gone_with_the_storage(server: Server) -> None:
    answer_small(server.visit(wave_of_series(1, 2, panel=True)), smokes=True, drinks=True)
    other = SMALL.replace("Do you smoke?", "Do you sing?").replace("Do you drink?", "Do you dance?")
    page = server.visit(wave_of_series(1, 2, other, panel=True), "me")
    answer_small(page, smokes=True, drinks=True)
    page.evaluate("localStorage.clear()")
    answer_small(server.visit(wave_of_series(2, 2, panel=True)), smokes=True, drinks=True)
    assert len({one["panel"] for one in server.sent}) == 3


@pytest.mark.parametrize("fragment", ["#shared", "#test"])
def test_a_shared_device_and_a_test_keep_no_pseudonym(context: Any, server: Server, fragment: str) -> None:
    context.route("**/tests/*", server._report)
    for number in (1, 2):
        page = server.visit(
            wave_of_series(number, 4, **PANEL), "else" if number > 1 and "shared" in fragment else None, fragment
        )
        answer_small(page, smokes=True, drinks=True)
        assert "panel" not in (page.evaluate("localStorage.getItem('tacit.people')") or "")
    assert len({one["panel"] for one in server.sent}) == 2


def test_one_wave_is_withdrawn_or_all(server: Server) -> None:
    waves = [wave_of_series(number, 4, **PANEL) for number in (1, 2)]
    answer_small(server.visit(waves[0]), smokes=True, drinks=True)
    answer_small(server.visit(waves[1], "me"), smokes=True, drinks=True)
    page = server.visit(waves[1], "me")
    page.click(".withdraw summary")
    page.click("#withdraw-all")
    # The first wave has closed: what was estimated from it cannot be taken back.
    page.wait_for_selector(".withdrawn:has-text('1 of 2 reports were deleted.')")
    assert server.withdrawn == [Definition(one).fingerprint for one in waves]
    page.fill("#withdraw-receipt", page.inner_text(".receipt"))
    page.click(".withdraw button[type=submit]")
    page.wait_for_selector(".withdrawn:has-text('The report was deleted.')")


def test_a_version_is_kept_over_the_series(server: Server) -> None:
    halves = SPLIT.replace("0.25", "0.5").replace("0.75", "0.5")
    versions = []
    for number in range(1, 22):  # if each wave were dealt anew, all alike would have chance 2^-20
        page = server.visit(wave_of_series(number, 21, halves, series_gamma=1e8), "me" if number > 1 else None)
        start(page)
        versions.append([one.get_attribute("id") for one in page.locator("fieldset").all()])
        if number == 1:
            for one in page.locator("fieldset").all():
                one.locator("input").first.check()
            page.click("button[type=submit]")
            page.click("#review button[type=submit]")
            page.wait_for_selector("#survey[data-state=stored]")
        page.close()
    assert len({str(one) for one in versions}) == 1


def test_two_waves_of_a_panel_arrive_with_one_mark_at_the_real_server(context: Any, served: Served) -> None:
    running, store = served
    text = SMALL.replace("name: health", "name: real_panel\nwaves: 2\npanel: true")
    first = store.add(Definition.from_yaml(text), text)
    for survey, who in ((first, None), (store.open_wave("real_panel"), "me")):
        page = context.new_page()
        page.goto(f"{running.url}/s/{survey.fingerprint}")
        if who is not None:
            say_who(page, who)
        answer_small(page, smokes=True, drinks=False)
        page.wait_for_selector("#survey[data-state=stored]")
    ((again,),) = [[one.again for one in store.attrition(store.named("real_panel"))]]
    assert again == 1


def test_a_second_code_does_not_answer_a_wave_twice_for_one_person(context: Any, served: Served) -> None:
    running, store = served
    text = SMALL.replace("name: health", "name: coded_series\nwaves: 2\naccess: codes")
    first = store.add(Definition.from_yaml(text), text)
    codes = [issued(store, first), issued(store, first)]
    answer_small(open_page(context, running, first, f"#code={codes[0]}"), smokes=True, drinks=True)
    page = context.new_page()
    page.goto(f"{running.url}/s/{first.fingerprint}#code={codes[1]}")
    say_who(page, "me")
    page.wait_for_selector("#survey[data-state=known]")
    assert store.counts(first).started == 1  # the second code is not spent
    answer_small(open_page(context, running, first, f"#code={codes[1]}", who="else"), smokes=True, drinks=True)
    second = store.open_wave("coded_series")
    page = open_page(context, running, second, f"#code={issued(store, second)}", who="me")
    answer_small(page, smokes=True, drinks=True)
    assert (store.counts(first).reports, store.counts(second).reports) == (2, 1)
