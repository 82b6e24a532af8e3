"""The whole way: write, open, invite, answer on a phone, look at the dashboard, export, estimate."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tacit.channel.scheme import Scheme
from tacit.cli.survey import app
from tacit.estimation import estimate
from tacit.reports import Reports
from tacit.survey.accounts import Accounts
from tacit.survey.store.surveys import Store, StoredSurvey
from tests.browser.answering import answer_small, open_page, say_who, send, start
from tests.browser.conftest import PASSWORD, screenshots
from tests.browser.test_page import violations
from tests.survey.questionnaires import CODES
from tests.survey.server import RunningServer, running_server
from tests.survey.test_dashboard import fill, simulated_rows

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WHOLE = CODES.replace(
    "privacy: strong",
    "privacy: strong\nconsent: I agree to be studied.\ncontroller: The university\nethics: Board 2026-17\nhelp: Call 0800 123\n"
    "incentive: A voucher",
)


def tacit_survey(*arguments: object) -> dict[str, Any]:
    result = CliRunner().invoke(app, [*map(str, arguments), "--json"], catch_exceptions=False)
    return json.loads(result.stdout)


def test_from_the_questionnaire_to_the_estimate(browser: Any, tmp_path: Path) -> None:
    store_url = tmp_path / "survey.db"
    (tmp_path / "survey.yaml").write_text(WHOLE)
    tacit_survey("open", tmp_path / "survey.yaml", "--store", store_url)
    tacit_survey("invite", "health", "--count", 2, "--out", tmp_path / "codes.csv", "--store", store_url)
    store = Store.open(store_url)
    Accounts(store.database).set_password("ana", PASSWORD)
    survey = store.named("health")
    with (tmp_path / "codes.csv").open() as file:
        codes = [row["link"].split("#")[1] for row in csv.DictReader(file)]
    with running_server(str(store_url), tmp_path / "log") as server:
        for fragment in codes:
            context = browser.new_context(viewport={"width": 390, "height": 844}, locale="en", has_touch=True)
            page = open_page(context, server, survey, "#" + fragment)
            assert page.is_visible(".consent")  # in full, where it is agreed to
            assert "I agree to be studied." in page.inner_text(".consent")
            assert survey.fingerprint in page.inner_text(".consent")
            page.click(".asks > summary")
            assert {"The university", "Board 2026-17", "Call 0800 123"} <= set(page.inner_text(".asks").splitlines())
            answer_small(page, smokes=True, drinks=False)
            assert page.get_attribute("#survey", "data-state") == "stored"
            assert "Call 0800 123" in page.inner_text("main")
            assert "A voucher" in page.inner_text("main")
            context.close()
        fill(store, survey, simulated_rows(survey, 60, seed=3))
        files = watched(browser, server, survey, tmp_path)
    assert store.counts(survey).reports == 62
    scheme = Scheme.read(files["scheme.json"])
    assert estimate(Reports.from_arrow(csv_columns(files["reports.csv"]), scheme), ["smokes"]).n_reports == 62
    store.close()


def csv_columns(path: Path) -> dict[str, list[str]]:
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] for row in rows] for name in rows[0]}


def watched(browser: Any, server: RunningServer, survey: StoredSurvey, folder: Path) -> dict[str, Path]:
    """Log in, look at the survey, download its files."""
    context = browser.new_context(locale="en", accept_downloads=True)
    page = context.new_page()
    log_in(page, server)
    assert violations(page) == []
    page.click("text=Health")
    page.wait_for_selector("h2")
    assert "62 disguised reports" in page.inner_text("main")
    assert violations(page) == []
    page.select_option("#by", "age")
    page.click("form:has(#by) button")
    page.wait_for_selector("#g-smokes")
    page.screenshot(path=screenshots() / "dashboard.png", full_page=True)
    assert page.locator("section.question .chart").count() >= 5
    page.set_viewport_size({"width": 320, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert violations(page) == []
    files = {}
    for name in ("reports.csv", "scheme.json"):
        with page.expect_download() as download:
            page.click(f"text={name}")
        files[name] = folder / name
        download.value.save_as(files[name])
        assert "disguised" in download.value.suggested_filename
    context.close()
    return files


def log_in(page: Any, server: RunningServer) -> None:
    page.goto(f"{server.url}/admin")
    assert violations(page) == []
    page.fill("#name", "ana")
    page.fill("#password", PASSWORD)
    page.click("button")
    page.wait_for_selector("text=Log out")


def _answered_and_kept(context: Any, server: RunningServer, survey: StoredSurvey) -> Any:
    """The page of somebody who has sent all answers and keeps them for the second round."""
    page = open_page(context, server, survey)
    start(page)
    for choice in ("#region-0", "#works-0"):
        page.check(choice)
    page.click("button[type=submit]")
    for choice in ("#cheated-0", "#cheated-harmless-0", "#stole-0", "#income-0", "#debts-1", "#keep"):
        page.check(choice)
    send(page)
    return page


def asked_again(context: Any, server: RunningServer, survey: StoredSurvey) -> Any:
    """What a respondent sees who comes back to a survey that was answered."""
    page = context.new_page()
    page.goto(f"{server.url}/s/{survey.fingerprint}")
    say_who(page, "me")
    page.wait_for_selector("#survey[data-state=known]")
    return page


def test_the_second_round_sends_one_bit(context: Any, served: tuple[RunningServer, Store]) -> None:
    server, store = served
    survey = store.named("rich")
    page = _answered_and_kept(context, server, survey)
    (stored,) = page.evaluate("Object.entries(localStorage).filter(([key]) => key.startsWith('tacit.answers'))")
    assert "works" not in stored[1]  # encrypted, under a key that cannot be read out
    tree = {"answer": "no", "attribute": "income", "branches": {"below 1000": {"answer": "yes"}}}
    store.offer_classifier(survey, {"format": "tacit-classifier/1", "target": "debts", "tree": tree})
    sent: list[tuple[str, str | None]] = []
    context.on("request", lambda request: request.method == "PUT" and sent.append((request.url, request.post_data)))
    again = asked_again(context, server, survey)
    again.click("text=Check the rule and send")
    again.wait_for_selector("text=Sent, disguised.")
    ((url, body),) = sent
    assert "/second/" in url
    assert body in ('{"report":"00"}', '{"report":"01"}')
    assert store.counts(survey).second == 1
    kept = again.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('tacit.answers'))")
    assert kept == []  # one bit and no more


def test_the_published_second_round_tries_answers_drawn_by_lot(
    context: Any, served: tuple[RunningServer, Store]
) -> None:
    """The classifier is right about what it makes certain, whatever was answered: the bit is sent as it is."""
    server, store = served
    survey = store.named("rich")
    _answered_and_kept(context, server, survey)
    never = {"weigh": [1 << 32, 0], "into": [2]}
    document = {"format": "tacit-classifier/1", "target": "debts", "tree": {"answer": "no"}}
    for table in ("tacit_classifiers", survey.table("second")):
        store.database.run(f"DELETE FROM {table}")
    store.offer_classifier(survey, {**document, "personal": {"debts": {"answers": ["no", "yes"], "program": never}}})
    sent: list[str | None] = []
    context.on("request", lambda request: request.method == "PUT" and sent.append(request.post_data))
    again = asked_again(context, server, survey)
    again.wait_for_selector("text=makes up answers by lot")
    again.click("text=Check the rule and send")
    again.wait_for_selector("text=Sent.")
    assert sent == ['{"report":"01"}']
    for table in ("tacit_classifiers", survey.table("second")):
        store.database.run(f"DELETE FROM {table}")
