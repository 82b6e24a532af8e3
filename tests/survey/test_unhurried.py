"""What can wait gives way to people who answer."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tacit.survey import unhurried
from tacit.survey.accounts import Accounts
from tacit.survey.app import SurveyServer
from tacit.survey.exports import reports_of
from tacit.survey.store import database as databases
from tacit.survey.store import sqlite
from tacit.survey.store.database import Row
from tacit.survey.store.submissions import Submission, store_batch
from tacit.survey.store.surveys import StoredSurvey
from tests.cli.run import tacit as run

PASSWORD = "a long enough password"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a priority is the whole process's")
def test_an_export_and_a_backup_give_way_and_nothing_else_does(
    server: SurveyServer, survey: StoredSurvey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    priorities: list[int] = []
    real = databases.batches

    def watched(cursor: Any) -> Iterator[list[Row]]:
        priorities.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        return real(cursor)

    before = os.getpriority(os.PRIO_PROCESS, 0)
    for module in (databases, sqlite):
        monkeypatch.setattr(module, "batches", watched)
    store = server.store.database.url
    assert run("survey", "export", "health", "--out", tmp_path / "out", "--store", store).code == 0
    assert run("survey", "backup", tmp_path / "backup.db", "--store", store).code == 0
    assert set(priorities) == {unhurried.LOW_PRIORITY}
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


def test_a_download_from_a_running_server_rests_between_its_batches(
    client: TestClient, server: SurveyServer, survey: StoredSurvey, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [Submission(survey, "reports", f"{number:064}", ("yes", "no", "below 30")) for number in range(2_500)]
    store_batch(server.store.database, rows)
    Accounts(server.store.database).set_password("ana", PASSWORD)
    client.post("/admin/login", data={"name": "ana", "password": PASSWORD})
    rests: list[float] = []
    sleep = time.sleep
    monkeypatch.setattr(unhurried.time, "sleep", lambda seconds: rests.append(seconds) or sleep(seconds))
    page = f"/admin/surveys/{survey.fingerprint}/export/"
    for name in ("reports.csv", "reports.parquet"):
        rests.clear()
        assert client.get(page + name).status_code == 200
        assert len(rests) == 3  # batches of a thousand
        assert all(0 < one <= unhurried.LONGEST_REST_SECONDS for one in rests)
    rests.clear()
    assert reports_of(server.store, survey).n_reports == 2_500  # what the dashboard reads is waited for
    assert not rests
