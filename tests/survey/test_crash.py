"""Killed in the middle of its work, again and again: nothing that was acknowledged is lost, nothing is stored twice."""

from __future__ import annotations

import asyncio
import os
import random
import threading
import time
from pathlib import Path

import pytest

from benchmarks.survey_load import Load, generate, requests
from tacit.survey.definition import Definition
from tacit.survey.issuing import unbase64
from tacit.survey.store.backup import back_up, contents, dated_name, drop_older, newest, restore
from tacit.survey.store.submissions import token_hash
from tacit.survey.store.surveys import Store
from tests.postgres_server import free_port
from tests.survey.questionnaires import SMALL
from tests.survey.server import start_server

KILLS = 20 if os.environ.get("TACIT_SOAK") == "1" else 5
REPORT = "000100"


def load_in_background(port: int, fingerprint: str, seconds: float) -> tuple[threading.Thread, list[Load]]:
    loads: list[Load] = []

    def run() -> None:
        loads.append(
            asyncio.run(generate(port, requests(fingerprint, REPORT), rate=400, seconds=seconds, connections=32))
        )

    thread = threading.Thread(target=run)
    thread.start()
    return thread, loads


@pytest.mark.soak
@pytest.mark.slow
def test_kills_under_load_lose_nothing_and_store_nothing_twice(store_url: str, store: Store, tmp_path: Path) -> None:
    survey = store.add(Definition.from_yaml(SMALL), SMALL)
    chance = random.Random(2009)
    acknowledged: list[str] = []
    port = free_port()
    for _ in range(KILLS):
        server = start_server(store_url, tmp_path / "log", port=port)
        thread, loads = load_in_background(port, survey.fingerprint, 1.5)
        time.sleep(0.4 + chance.random())
        server.kill()
        thread.join()
        acknowledged.extend(loads[0].tokens)
    assert len(acknowledged) > 10 * KILLS
    # A report lies under its token, so what is there is there once.
    stored = {key for (key,) in store.database.rows(f"SELECT report_key FROM {survey.table('reports')}")}
    assert {token_hash(survey, token) for token in acknowledged} <= stored


def test_a_restored_store_equals_the_original(store_url: str, store: Store, tmp_path: Path) -> None:
    from tests.survey.test_store import submission

    survey = store.add(Definition.from_yaml(SMALL), SMALL)
    from tacit.survey.store.submissions import store_batch

    store_batch(store.database, [submission(survey, str(number)) for number in range(50)])
    copied = back_up(store, tmp_path / "backup.db")
    assert (copied.surveys, copied.reports) == (1, 50)
    assert not list(tmp_path.glob("*-wal")) or not (tmp_path / "backup.db-wal").exists()
    other = Store.open(tmp_path / "other.db")
    assert restore(tmp_path / "backup.db", other) == copied
    assert list(contents(other)) == list(contents(store))
    with pytest.raises(ValueError, match="holds surveys already"):
        restore(tmp_path / "backup.db", other)
    other.close()


def test_a_damaged_or_foreign_backup_is_refused(tmp_path: Path) -> None:
    import sqlite3

    store = Store.open(tmp_path / "empty.db")
    with pytest.raises(ValueError, match="There is no backup"):
        restore(tmp_path / "none.db", store)
    sqlite3.connect(tmp_path / "foreign.db").executescript("CREATE TABLE x (y)").connection.close()
    with pytest.raises(ValueError, match="no backup of a survey store"):
        restore(tmp_path / "foreign.db", store)
    (tmp_path / "cut.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 3000)
    with pytest.raises(ValueError, match="or it is cut off or damaged"):
        restore(tmp_path / "cut.db", store)
    store.close()


def test_a_clock_that_was_set_back_costs_no_backup(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    back_up(store, folder / "survey-29990101T000000Z.db")  # of a night when the clock was wrong
    for _ in range(2):
        made = dated_name(folder)
        back_up(store, made)
        assert newest(folder) == made  # the one that is drilled
        drop_older(folder, 1)
        assert list(folder.iterdir()) == [made]


@pytest.mark.postgres
def test_a_backup_of_sqlite_fills_postgres_and_the_other_way_round(postgres_url: str, tmp_path: Path) -> None:
    from tacit.survey.store.submissions import store_batch
    from tests.postgres_server import fresh_database
    from tests.survey.test_store import submission

    first = Store.open(tmp_path / "first.db")
    survey = first.add(Definition.from_yaml(SMALL), SMALL)
    store_batch(first.database, [submission(survey, str(number)) for number in range(20)])
    back_up(first, tmp_path / "backup.db")
    second = Store.open(fresh_database(postgres_url))
    restore(tmp_path / "backup.db", second)
    assert dict(contents(second)) == dict(contents(first))
    first.close()
    second.close()


def test_a_restore_drill_loses_no_code_and_no_token(tmp_path: Path) -> None:
    """A backup in the middle, the server gone, another one from the backup: everybody goes on where they were."""
    from starlette.testclient import TestClient

    from tacit.survey.app import SurveyServer
    from tacit.survey.codes import code_token, new_code
    from tacit.survey.headers import ServerSettings
    from tests.survey.buying import signed_token, some_blinded
    from tests.survey.questionnaires import CODES

    store = Store.open(tmp_path / "first.db")
    survey = store.add(Definition.from_yaml(CODES), CODES)
    codes = [code_token(survey.fingerprint, new_code()) for _ in range(2)]
    store.add_codes(survey, [token_hash(survey, code) for code in codes])
    signer, verifier = store.signer(survey), survey.verifier
    assert signer is not None
    assert verifier is not None
    bought = signed_token(signer)  # somebody has started, and answers while the server is away
    blinded = some_blinded(verifier)
    store.codes.spend([(survey.number, token_hash(survey, codes[0]), unbase64(blinded))])
    back_up(store, tmp_path / "backup.db")
    store.close()

    restored = Store.open(tmp_path / "second.db")
    restore(tmp_path / "backup.db", restored)
    restored.close()
    server = SurveyServer(tmp_path / "second.db", ServerSettings(rate=0))
    client = TestClient(server)
    tokens = f"/s/{survey.fingerprint}/tokens"
    assert client.post(tokens, json={"code": codes[0], "blinded": blinded}).status_code == 200  # a lost answer, again
    assert client.post(tokens, json={"code": codes[0], "blinded": some_blinded(verifier)}).status_code == 409
    assert client.post(tokens, json={"code": codes[1], "blinded": some_blinded(verifier)}).status_code == 200
    content = {"report": REPORT, "signature": bought.signature}
    assert client.put(f"/s/{survey.fingerprint}/reports/{bought.token}", json=content).status_code == 201
    server.close()
