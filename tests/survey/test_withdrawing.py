"""Taking a report back with its receipt."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tacit.survey.app import SurveyServer
from tacit.survey.definition import Definition
from tacit.survey.store.surveys import StoredSurvey
from tacit.survey.withdrawing import receipt_hash
from tests.survey.questionnaires import SMALL

REPORT = "000100"


def sent(client: TestClient, survey: StoredSurvey) -> tuple[str, str]:
    """A report that was stored: its address and its receipt."""
    path, receipt = f"/s/{survey.fingerprint}/reports/{secrets.token_hex(32)}", secrets.token_hex(10)
    assert client.put(path, json={"report": REPORT, "receipt": receipt_hash(receipt)}).status_code == 201
    return path, receipt


def withdraw(client: TestClient, survey: StoredSurvey, receipt: str) -> Any:
    return client.post(f"/s/{survey.fingerprint}/withdrawals", json={"receipt": receipt})


def test_a_receipt_deletes_its_report_and_no_other(
    client: TestClient, server: SurveyServer, survey: StoredSurvey
) -> None:
    (path, receipt), _ = sent(client, survey), sent(client, survey)
    assert withdraw(client, survey, receipt).json() == {"outcome": "withdrawn"}
    counts = server.store.counts(survey)
    assert (counts.reports, counts.withdrawn) == (1, 1)
    assert withdraw(client, survey, receipt).status_code == 404
    # The token is used up: a second report under it would let one person answer as often as they withdraw.
    answer = client.put(path, json={"report": REPORT, "receipt": receipt_hash(receipt)})
    assert (answer.status_code, answer.json()["reason"]) == (409, "withdrawn")


def test_the_store_does_not_know_the_receipts(
    client: TestClient, server: SurveyServer, survey: StoredSurvey, tmp_path: Path
) -> None:
    _, receipt = sent(client, survey)
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert receipt.encode() not in content
    assert receipt_hash(receipt).encode() in content
    assert withdraw(client, survey, receipt_hash(receipt)[:20]).status_code == 404


def test_a_withdrawn_report_is_overwritten_in_the_file(
    client: TestClient, server: SurveyServer, survey: StoredSurvey, tmp_path: Path
) -> None:
    _, receipt = sent(client, survey)
    withdraw(client, survey, receipt)
    content = b"".join(one.read_bytes() for one in tmp_path.iterdir())  # with the log, while the server runs
    assert receipt_hash(receipt).encode() not in content


def test_a_receipt_of_one_survey_withdraws_nothing_from_another(
    client: TestClient, server: SurveyServer, survey: StoredSurvey
) -> None:
    text = SMALL.replace("name: health", "name: other")
    other = server.store.add(Definition.from_yaml(text), text)
    _, receipt = sent(client, survey)
    assert withdraw(client, other, receipt).status_code == 404
    assert server.store.counts(survey).reports == 1


def test_nothing_is_withdrawn_after_the_end(client: TestClient, server: SurveyServer, survey: StoredSurvey) -> None:
    _, receipt = sent(client, survey)
    server.store.close_survey(survey)
    answer = withdraw(client, survey, receipt)
    assert (answer.status_code, answer.json()["reason"]) == (409, "closed")
    assert not server.store.withdraw(survey, receipt_hash(receipt))
    assert server.store.counts(survey).reports == 1


@pytest.mark.parametrize(
    "content", [{}, {"receipt": 5}, {"receipt": "0" * 19}, {"receipt": "g" * 20}, {"receipt": "0" * 20, "x": 1}]
)
def test_what_is_no_receipt_is_refused(client: TestClient, survey: StoredSurvey, content: dict[str, Any]) -> None:
    assert client.post(f"/s/{survey.fingerprint}/withdrawals", json=content).status_code == 400


def test_a_survey_that_is_not_there_and_a_receipt_that_is_none(client: TestClient, survey: StoredSurvey) -> None:
    assert client.post(f"/s/{'0' * 32}/withdrawals", json={"receipt": "0" * 20}).status_code == 404
    path = f"/s/{survey.fingerprint}/reports/{secrets.token_hex(32)}"
    assert client.put(path, json={"report": REPORT, "receipt": "short"}).status_code == 400


def test_receipts_cannot_be_guessed_at_leisure(client: TestClient, survey: StoredSurvey) -> None:
    statuses = [withdraw(client, survey, f"{number:020x}").status_code for number in range(25)]
    assert 429 in statuses


def test_of_two_reports_with_one_receipt_the_first_keeps_it(
    client: TestClient, server: SurveyServer, survey: StoredSurvey
) -> None:
    _, receipt = sent(client, survey)
    path = f"/s/{survey.fingerprint}/reports/{secrets.token_hex(32)}"
    assert client.put(path, json={"report": "010000", "receipt": receipt_hash(receipt)}).status_code == 201
    withdraw(client, survey, receipt)
    assert [row for batch in server.store.rows(survey) for row in batch] == [("yes", "no", "below 30")]
