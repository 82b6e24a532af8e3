"""Reports are deleted after the day that was promised."""

from __future__ import annotations

import asyncio
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest

from tacit.errors import InvalidInput
from tacit.survey import retention
from tacit.survey.accounts import Accounts
from tacit.survey.definition import Definition
from tacit.survey.retention import delete_expired, look_after
from tacit.survey.store import sqlite
from tacit.survey.store.submissions import Submission, SubmissionOutcome, store_batch, token_hash
from tacit.survey.store.surveys import Store, StoredSurvey
from tests.survey.questionnaires import CODES, SMALL
from tests.survey.running import run_async

KEPT = CODES.replace("privacy: strong", "privacy: strong\nretention: 2999-06-30")


def filled(store: Store) -> StoredSurvey:
    survey = store.add(Definition.from_yaml(KEPT), KEPT)
    store.add_codes(survey, [token_hash(survey, "code")])
    report = Submission(survey, "reports", token_hash(survey, "token"), ("yes", "no", "60 or more"), "0" * 64)
    store_batch(store.database, [report])
    return survey


def test_the_last_day_is_kept_and_the_next_is_not(store: Store) -> None:
    survey = filled(store)
    assert delete_expired(store, lambda: date(2999, 6, 30)) == []
    assert store.counts(survey).reports == 1
    assert delete_expired(store, lambda: date(2999, 7, 1)) == ["health"]
    emptied = store.named("health")
    counts = store.counts(emptied)
    assert (emptied.state, counts.reports, counts.codes, store.signer(emptied)) == ("closed", 0, 0, None)
    assert delete_expired(store, lambda: date(2999, 7, 2)) == []  # once is enough
    assert Accounts(store.database).audit()[0][1:] == ("(retention)", "deleted the reports", "health")
    assert emptied.definition.label("smokes") == "Do you smoke?"  # what was asked and promised stays readable


def test_what_is_deleted_is_in_no_file(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    survey = filled(store)
    keys = [token_hash(survey, "token").encode(), token_hash(survey, "code").encode()]

    def found() -> list[bool]:
        content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        return [key in content for key in keys]

    assert found() == [True, True]
    delete_expired(store, lambda: date(2999, 7, 1))
    assert found() == [False, False]
    store.close()


def test_what_is_deleted_while_somebody_reads_is_gone_soon_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "WAIT_SECONDS", 0.2)
    with closing(Store.open(tmp_path / "s.db")) as store, closing(Store.open(tmp_path / "s.db")) as export:
        survey = filled(store)
        key = token_hash(survey, "token").encode()
        table = survey.table("reports")
        more = [Submission(survey, "reports", str(number), ("yes", "no", "60 or more")) for number in range(40)]
        store_batch(store.database, more)
        reading = export.database.stream(f"SELECT * FROM {table} a, {table} b")  # more than one batch
        next(reading)
        delete_expired(store, lambda: date(2999, 7, 1))
        reading.close()
        look_after(store)  # as the server does every minute
        assert not [path.name for path in tmp_path.iterdir() if key in path.read_bytes()]


def test_bits_about_a_classifier_are_not_taken_after_the_last_day(store: Store) -> None:
    survey = filled(store)
    store.offer_classifier(survey, {"target": "smokes", "tree": {"answer": "no"}})
    bit = Submission(survey, "second", "key", (1,))
    assert store_batch(store.database, [bit]) == [SubmissionOutcome.STORED]
    delete_expired(store, lambda: date(2999, 7, 1))
    assert store_batch(store.database, [bit]) == [SubmissionOutcome.CLOSED]


def test_surveys_without_a_day_are_kept(store: Store) -> None:
    store.add(Definition.from_yaml(SMALL), SMALL)
    assert delete_expired(store, lambda: date.max) == []


def test_a_running_server_deletes_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tacit.survey.app import SurveyServer

    monkeypatch.setattr(retention.delete_expired, "__defaults__", (lambda: date(2999, 7, 1),))
    server = SurveyServer(tmp_path / "s.db")
    survey = filled(server.store)

    async def begin_and_end() -> int:
        events: asyncio.Queue[dict[str, str]] = asyncio.Queue()
        started = asyncio.Event()

        async def send(message: object) -> None:
            started.set()

        events.put_nowait({"type": "lifespan.startup"})
        serving = asyncio.create_task(server({"type": "lifespan", "state": {}}, events.get, send))  # type: ignore[arg-type]
        await started.wait()
        for _ in range(100):
            await asyncio.sleep(0.05)
            if server.store.counts(survey).reports == 0:
                break
        left = server.store.counts(survey).reports
        events.put_nowait({"type": "lifespan.shutdown"})
        await serving
        return left

    assert run_async(begin_and_end) == 0


@pytest.mark.parametrize("written", ["soon", "2030-13-01", "[2030]"])
def test_what_is_no_day_is_refused(written: str) -> None:
    with pytest.raises(InvalidInput, match="line 6"):
        Definition.from_yaml(KEPT.replace("2999-06-30", written))


def test_a_day_that_is_over_is_refused(store: Store) -> None:
    text = KEPT.replace("2999", "1999")
    with pytest.raises(InvalidInput, match="1999-06-30, which is over"):
        store.add(Definition.from_yaml(text), text)


def test_a_quoted_day_is_the_same_day() -> None:
    quoted = Definition.from_yaml(KEPT.replace("2999-06-30", "'2999-06-30'"))
    assert quoted.retention == Definition.from_yaml(KEPT).retention == date(2999, 6, 30)
