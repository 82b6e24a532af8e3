from __future__ import annotations

import asyncio
import itertools
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tacit.channel.document import document_hash
from tacit.errors import InvalidInput, UnknownName
from tacit.survey import accounts
from tacit.survey.accounts import Accounts
from tacit.survey.codes import code_token, new_code
from tacit.survey.definition import Definition
from tacit.survey.exports import export_folder
from tacit.survey.store import connect, migrations
from tacit.survey.store.audit import Audit
from tacit.survey.store.backup import back_up, restore
from tacit.survey.store.codes import Spending
from tacit.survey.store.database import Database, StoreUnavailable, without_password
from tacit.survey.store.sqlite import SqliteDatabase
from tacit.survey.store.submissions import Overloaded, Submission, SubmissionOutcome, Writer, store_batch, token_hash
from tacit.survey.store.surveys import Store, StoredSurvey
from tests.postgres_server import fresh_database
from tests.survey.questionnaires import CODES, RICH, SMALL
from tests.survey.running import run_async

VALUES = ("yes", "no", "below 30")


@pytest.fixture
def survey(store: Store, definition: Definition) -> StoredSurvey:
    return store.add(definition, SMALL)


def submission(survey: StoredSurvey, token: str, values: tuple[str, ...] = VALUES, box: str = "reports") -> Submission:
    return Submission(survey, box, token_hash(survey, token), values)  # type: ignore[arg-type]


def stored_rows(store: Store, survey: StoredSurvey, box: str = "reports") -> list[tuple[str, ...]]:
    names = ", ".join(f'"{name}"' for name in survey.columns(box))  # type: ignore[arg-type]
    return sorted(store.database.rows(f"SELECT {names} FROM {survey.table(box)}"))  # type: ignore[arg-type]


def test_what_is_new_is_stored_and_a_repeat_stores_nothing(store: Store, survey: StoredSurvey) -> None:
    assert (
        store_batch(store.database, [submission(survey, "a"), submission(survey, "b")])
        == [SubmissionOutcome.STORED] * 2
    )
    assert store_batch(store.database, [submission(survey, "a")]) == [SubmissionOutcome.REPEATED]
    assert stored_rows(store, survey) == [VALUES, VALUES]


def test_another_report_under_the_same_token_is_told_and_stores_nothing(store: Store, survey: StoredSurvey) -> None:
    store_batch(store.database, [submission(survey, "a")])
    other = submission(survey, "a", ("no", "yes", "below 30"))
    assert store_batch(store.database, [other, submission(survey, "a")]) == [
        SubmissionOutcome.DIFFERENT,
        SubmissionOutcome.REPEATED,
    ]
    assert stored_rows(store, survey) == [VALUES]


def test_the_same_token_twice_in_one_batch_is_stored_once(store: Store, survey: StoredSurvey) -> None:
    batch = [submission(survey, "a"), submission(survey, "a", ("no", "no", "below 30")), submission(survey, "a")]
    assert store_batch(store.database, batch) == [
        SubmissionOutcome.STORED,
        SubmissionOutcome.DIFFERENT,
        SubmissionOutcome.REPEATED,
    ]
    assert stored_rows(store, survey) == [VALUES]


def test_what_two_senders_share_costs_nobody_else_in_the_batch_a_report(store: Store, survey: StoredSurvey) -> None:
    receipt, key = "0" * 64, ("1" * 64, "remarks", "a text")
    batch = [submission(survey, token)._replace(receipt=receipt, texts=(key,)) for token in "ab"] + [
        submission(survey, "c")
    ]
    assert store_batch(store.database, batch) == [SubmissionOutcome.STORED] * 3
    assert len(stored_rows(store, survey)) == 3


def test_test_responses_are_kept_apart(store: Store, survey: StoredSurvey) -> None:
    store_batch(store.database, [submission(survey, "a", box="tests")])
    counts = store.counts(survey)
    assert (counts.reports, counts.tests) == (0, 1)


def test_a_draft_takes_tests_only(store: Store, definition: Definition) -> None:
    draft = store.add(definition, SMALL, "draft")
    batch = [submission(draft, "a"), submission(draft, "a", box="tests")]
    assert store_batch(store.database, batch) == [SubmissionOutcome.CLOSED, SubmissionOutcome.STORED]
    opened = store.add(definition, SMALL)
    assert store_batch(store.database, [submission(opened, "a")]) == [SubmissionOutcome.STORED]


def test_a_closed_survey_takes_nothing_and_keeps_what_it_has(store: Store, survey: StoredSurvey) -> None:
    store_batch(store.database, [submission(survey, "a")])
    store.close_survey(survey)
    assert store_batch(store.database, [submission(survey, "b")]) == [SubmissionOutcome.CLOSED]
    assert stored_rows(store, survey) == [VALUES]
    with pytest.raises(InvalidInput, match="a new survey under another name"):
        store.add(survey.definition, SMALL)


def test_only_issued_codes_are_taken_and_each_for_one_blinded_token(store: Store) -> None:
    survey = store.add(Definition.from_yaml(CODES), CODES)
    code = token_hash(survey, code_token(survey.fingerprint, new_code()))
    store.add_codes(survey, [code])
    wanted = [(survey.number, code, b"one"), (survey.number, "forged", b"one"), (2, code, b"one")]
    assert store.codes.spend(wanted) == [Spending.SPENT, Spending.UNKNOWN, Spending.UNKNOWN]
    again = [(survey.number, code, b"one"), (survey.number, code, b"another")]
    assert store.codes.spend(again) == [Spending.REPEATED, Spending.USED]
    counts = store.counts(survey)
    assert (counts.codes, counts.started, store.codes.unspent(survey.number)) == (1, 1, set())


def test_opening_the_same_questionnaire_again_keeps_its_key(store: Store) -> None:
    survey = store.add(Definition.from_yaml(CODES), CODES, "draft")
    assert store.add(Definition.from_yaml(CODES), CODES).fingerprint == survey.fingerprint
    signer = store.signer(survey)
    assert signer is not None
    assert signer.verifier == survey.verifier
    other = store.add(Definition.from_yaml(CODES.replace("health", "other")), CODES)
    assert other.verifier != survey.verifier
    edited = CODES.replace("How old are you?", "Your age?")
    with pytest.raises(InvalidInput, match="line 9"):
        store.add(Definition.from_yaml(edited), edited)


def test_a_closed_survey_signs_nothing_more(store: Store) -> None:
    survey = store.add(Definition.from_yaml(CODES), CODES)
    store.close_survey(survey)
    assert store.signer(survey) is None


def test_codes_and_tokens_are_nowhere_in_the_store_as_they_are(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    survey = store.add(Definition.from_yaml(CODES), CODES)
    code = new_code()
    token = code_token(survey.fingerprint, code)
    store.add_codes(survey, [token_hash(survey, token)])
    store.codes.spend([(survey.number, token_hash(survey, token), b"blinded")])
    store_batch(store.database, [submission(survey, "a token")])
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert code.encode() not in content
    assert token.encode() not in content
    assert b"a token" not in content
    assert token_hash(survey, token).encode() in content  # the search itself works
    assert token_hash(survey, "a token").encode() in content
    store.close()


def test_codes_and_reports_share_no_value_and_hold_no_time(store: Store) -> None:
    survey = store.add(Definition.from_yaml(CODES), CODES)
    codes = [token_hash(survey, f"code {number}") for number in range(20)]
    store.add_codes(survey, codes)
    store.codes.spend([(survey.number, code, code.encode()) for code in codes])
    store_batch(store.database, [submission(survey, str(number)) for number in range(20)])
    spent = store.codes.rows()
    reports = store.database.rows(f"SELECT * FROM {survey.table('reports')}")
    assert not {value for row in spent for value in row} & {value for row in reports for value in row}
    assert {len(row) for row in spent} == {3}
    assert {len(row) for row in reports} == {1 + len(survey.wire.names)}


def test_the_order_of_arrival_cannot_be_read_from_the_order_of_the_tables(store: Store, survey: StoredSurvey) -> None:
    ages = ("below 30", "30 to 59", "60 or more")
    for number in range(60):
        store_batch(store.database, [submission(survey, str(number), ("yes", "no", ages[number // 20]))])
    store.close_survey(survey)
    rows = store.database.rows(f'SELECT "age" FROM {survey.table("reports")}')
    physical = [ages.index(age) for (age,) in rows]
    # In order of arrival there are 2 changes; the chance of fewer than 15 in a random order is below 1e-6.
    assert sum(a != b for a, b in itertools.pairwise(physical)) >= 15


def test_within_a_commit_reports_lie_by_their_keys_not_as_they_came(store: Store, survey: StoredSurvey) -> None:
    batch = [submission(survey, str(number)) for number in range(30)]
    assert [one.token for one in batch] != sorted(one.token for one in batch)
    store_batch(store.database, batch)
    physical = store.database.rows(f"SELECT report_key FROM {survey.table('reports')}")
    assert [key for (key,) in physical] == sorted(one.token for one in batch)


@pytest.mark.postgres
def test_closing_wipes_the_transaction_numbers_of_postgres_that_show_the_order(postgres_url: str) -> None:
    store = Store.open(fresh_database(postgres_url))
    survey = store.add(Definition.from_yaml(CODES), CODES)
    codes = [token_hash(survey, f"code {number}") for number in range(20)]
    store.add_codes(survey, codes)
    for number, code in enumerate(codes):
        store.codes.spend([(survey.number, code, b"blinded")])
        store_batch(store.database, [submission(survey, str(number))])

    def transactions(table: str) -> int:
        return len(store.database.rows(f"SELECT DISTINCT xmin::text FROM {table}"))

    # What remains while the survey is open: whoever reads the server's files can put both in their order.
    assert transactions(survey.table("reports")) == transactions("tacit_invitations") == 20
    store.close_survey(survey)
    assert transactions(survey.table("reports")) == transactions("tacit_invitations") == 1
    store.close()


def test_every_survey_of_a_store_has_its_own_tables(store: Store, survey: StoredSurvey) -> None:
    other = store.add(Definition.from_yaml(RICH), RICH)
    assert other.number != survey.number
    assert [one.fingerprint for one in store.surveys()] == [survey.fingerprint, other.fingerprint]
    assert store.named("rich").fingerprint == other.fingerprint
    with pytest.raises(UnknownName, match="'rich'"):
        store.named("rihc")


def test_an_edited_survey_is_refused_with_the_line(store: Store, survey: StoredSurvey) -> None:
    edited = SMALL.replace("Do you smoke?", "Do you smoke cigars?")
    with pytest.raises(InvalidInput, match="line 9"):
        store.add(Definition.from_yaml(edited), edited)


def test_a_newer_database_is_refused(store: Store) -> None:
    store.database.run("UPDATE tacit_meta SET version = 99")
    with pytest.raises(InvalidInput, match="version 99, and this program knows versions up to"):
        Store(store.database)


def test_an_older_database_is_brought_up_to_date(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as past:
        past.setattr(migrations, "STEPS", migrations.STEPS[:1])
        past.setattr(migrations, "VERSION", 1)
        database = connect(store_url)
        migrations.migrate(database)
        assert "tacit_classifiers" not in database.tables()
    migrations.migrate(database)
    assert "tacit_classifiers" in database.tables()
    assert migrations.version_of(database) == migrations.VERSION
    database.close()


def test_two_programs_that_find_a_store_empty_at_once_make_its_tables_once(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    both, read = threading.Barrier(2), migrations.version_of
    has_waited = threading.local()

    def read_at_once(database: Database) -> int:
        version = read(database)
        if not hasattr(has_waited, "for_the_other"):
            has_waited.for_the_other = both.wait(20)
        return version

    monkeypatch.setattr(migrations, "version_of", read_at_once)
    with ThreadPoolExecutor(2) as programs:
        stores = list(programs.map(Store.open, [store_url] * 2))
    assert [read(store.database) for store in stores] == [migrations.VERSION] * 2
    for store in stores:
        store.close()


def test_a_store_is_opened_while_another_program_sets_its_journal(tmp_path: Path) -> None:
    path = tmp_path / "survey.db"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("CREATE TABLE made (first TEXT)")
    other.execute("BEGIN IMMEDIATE")  # for this lock SQLite does not wait when a journal is to be set
    other.execute("INSERT INTO made VALUES ('here')")
    with ThreadPoolExecutor(1) as programs:
        opened = programs.submit(SqliteDatabase, path)
        time.sleep(0.2)
        other.execute("COMMIT")
        assert opened.result(10).rows("PRAGMA journal_mode") == [("wal",)]
    other.close()
    opened.result().close()


@pytest.mark.parametrize("version", range(1, migrations.VERSION))
def test_every_earlier_store_is_brought_up_to_date_and_goes_on(
    store_url: str, definition: Definition, version: int, tmp_path: Path
) -> None:
    """An open survey with a report, an administrator and a line of the log, as each version left them."""
    database = connect(store_url)
    with pytest.MonkeyPatch.context() as past:
        past.setattr(migrations, "STEPS", migrations.STEPS[:version])
        past.setattr(migrations, "VERSION", version)
        migrations.migrate(database)
    row = (1, definition.fingerprint, "health", "1", "open", SMALL, definition.to_json())
    database.run("INSERT INTO tacit_surveys VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    for box, columns in (
        ("reports", "smokes TEXT, drinks TEXT, age TEXT"),
        ("tests", "smokes TEXT, drinks TEXT, age TEXT"),
        ("second", '"right" INTEGER'),
    ):
        made = f"CREATE TABLE tacit_{box}_1 (report_key TEXT NOT NULL PRIMARY KEY, {columns})"
        database.run(made + database.table_suffix)
    database.run("INSERT INTO tacit_reports_1 VALUES ('random', 'yes', 'no', 'below 30')")
    database.run(
        "INSERT INTO tacit_administrators (name, password, failures, locked_until) VALUES ('ana', ?, 0, 0)",
        (accounts._hasher.hash("a long enough password"),),
    )
    database.run(
        "INSERT INTO tacit_audit (number, at, administrator, action, detail) VALUES (1, '2025', 'ana', 'opened', 'x')"
    )
    database.close()
    store = Store.open(store_url)
    assert migrations.version_of(store.database) == migrations.VERSION
    survey = store.named("health")
    assert stored_rows(store, survey) == [VALUES]
    assert store_batch(store.database, [submission(survey, "a")]) == [SubmissionOutcome.STORED]
    administrators = Accounts(store.database)
    assert administrators.log_in("ana", "a long enough password").role == "owner"
    chain = Audit(store.database, time.time).chain()
    assert (chain.lines, chain.broken_at) == (2, None)
    back_up(store, tmp_path / "backup.db")
    copy = Store.open(tmp_path / "copy.db")
    restore(tmp_path / "backup.db", copy)
    assert stored_rows(copy, copy.named("health")) == [VALUES, VALUES]
    copy.close()
    store.close_survey(survey)
    store.delete_survey(store.named("health"))
    assert store.surveys() == []
    store.close()


def test_a_failed_batch_stores_nothing_of_it(store: Store, survey: StoredSurvey) -> None:
    wrong = submission(survey, "b", (None, "no", "below 30"))  # type: ignore[arg-type]
    with pytest.raises((StoreUnavailable, sqlite3.IntegrityError)):
        store_batch(store.database, [submission(survey, "a"), wrong])
    assert store_batch(store.database, [submission(survey, "a")]) == [SubmissionOutcome.STORED]
    assert len(stored_rows(store, survey)) == 1


def test_the_writer_acknowledges_many_at_once(store_url: str, store: Store, survey: StoredSurvey) -> None:
    async def everybody() -> list[SubmissionOutcome]:
        writer = Writer(connect(store_url))
        try:
            return await asyncio.gather(*(writer.put(submission(survey, str(number % 50))) for number in range(80)))
        finally:
            await asyncio.to_thread(writer.close)

    outcomes = run_async(everybody)
    assert outcomes.count(SubmissionOutcome.STORED) == 50
    assert outcomes.count(SubmissionOutcome.REPEATED) == 30
    assert store.counts(survey).reports == 50


def test_reports_that_come_close_together_are_shuffled_into_one_commit(
    store_url: str, survey: StoredSurvey, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tacit.survey.store import submissions

    sizes: list[int] = []
    monkeypatch.setattr(
        submissions, "store_batch", lambda database, batch: sizes.append(len(batch)) or store_batch(database, batch)
    )
    monkeypatch.setattr(submissions, "GATHERING_SECONDS", 0.5)

    async def one_after_the_other() -> None:
        writer = Writer(connect(store_url))
        first = asyncio.create_task(writer.put(submission(survey, "a")))
        await asyncio.sleep(0.02)
        await asyncio.gather(first, writer.put(submission(survey, "b")))
        await asyncio.to_thread(writer.close)

    run_async(one_after_the_other)
    assert sizes == [2]


def test_the_writer_refuses_beyond_its_room(store_url: str, survey: StoredSurvey) -> None:
    async def too_many() -> None:
        writer = Writer(connect(store_url), most_waiting=0)
        try:
            await writer.put(submission(survey, "a"))
        finally:
            await asyncio.to_thread(writer.close)

    with pytest.raises(Overloaded, match="try again"):
        run_async(too_many)


def test_a_full_disk_refuses_and_loses_nothing(tmp_path: Path, definition: Definition) -> None:
    store = Store.open(tmp_path / "s.db")
    survey = store.add(definition, SMALL)
    store_batch(store.database, [submission(survey, "before")])
    pages = store.database.rows("PRAGMA page_count")[0][0]
    store.database.rows(f"PRAGMA max_page_count = {pages}")

    def until_full() -> None:
        for number in range(2_000):
            store_batch(store.database, [submission(survey, f"{number} {n}") for n in range(50)])

    with pytest.raises(StoreUnavailable, match="full"):
        until_full()
    kept = store.counts(survey).reports
    assert kept >= 1
    store.database.rows("PRAGMA max_page_count = 1000000")
    assert store_batch(store.database, [submission(survey, "after")]) == [SubmissionOutcome.STORED]
    assert store_batch(store.database, [submission(survey, "before")]) == [SubmissionOutcome.REPEATED]
    assert store.counts(survey).reports == kept + 1
    store.close()


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("this is no database, however long it may become" * 10)
    with pytest.raises(InvalidInput, match="not a SQLite database"):
        Store.open(tmp_path / "notes.txt")
    with pytest.raises(InvalidInput, match="folder exists"):
        Store.open(tmp_path / "nowhere" / "s.db")
    with pytest.raises(InvalidInput, match="no database Tacit knows"):
        Store.open("mysql://somewhere")
    with pytest.raises(InvalidInput, match="There is no store"):
        Store.open(tmp_path / "none.db", must_exist=True)


def test_an_unreachable_server_is_named_without_its_password() -> None:
    with pytest.raises(StoreUnavailable, match=r"ana:\*\*\*@127.0.0.1:1/x cannot be reached"):
        Store.open("postgresql://ana:secret@127.0.0.1:1/x")
    assert without_password("postgresql://host/x") == "postgresql://host/x"


def test_closing_waits_for_what_another_thread_is_doing(store_url: str) -> None:
    database = connect(store_url)
    order: list[str] = []
    is_inside = threading.Event()

    def work() -> None:
        with database.transaction():
            is_inside.set()
            time.sleep(0.3)
            database.rows("SELECT 1")
            order.append("worked")

    worker = threading.Thread(target=work)
    worker.start()
    is_inside.wait()
    database.close()
    order.append("closed")
    worker.join()
    assert order == ["worked", "closed"]


def first_version_survey(path: Path) -> Definition:
    """A store as the first version left it: a closed survey with codes, without programs, keys or tokens."""
    document = {
        name: part for name, part in Definition.from_yaml(CODES).document.items() if name not in ("programs", "hash")
    }
    definition = Definition({**document, "hash": document_hash(document)})
    database = connect(path)
    with pytest.MonkeyPatch.context() as past:
        past.setattr(migrations, "STEPS", migrations.STEPS[:2])
        past.setattr(migrations, "VERSION", 2)
        migrations.migrate(database)
    row = (1, definition.fingerprint, "health", "1", "closed", CODES, definition.to_json())
    database.run("INSERT INTO tacit_surveys VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    for box, columns in (
        ("reports", "smokes TEXT, drinks TEXT, age TEXT"),
        ("tests", "smokes TEXT"),
        ("second", '"right" INTEGER'),
    ):
        database.run(f"CREATE TABLE tacit_{box}_1 (report_key TEXT NOT NULL PRIMARY KEY, {columns}) WITHOUT ROWID")
    database.run("INSERT INTO tacit_reports_1 VALUES ('random', 'yes', 'no', 'below 30')")
    database.run("INSERT INTO tacit_codes VALUES (1, 'one'), (1, 'two')")
    database.run("INSERT INTO tacit_spent VALUES ('reports 1', 'one')")
    database.close()
    return definition


def test_a_closed_survey_of_the_first_version_stays_readable(tmp_path: Path) -> None:
    definition = first_version_survey(tmp_path / "old.db")
    store = Store.open(tmp_path / "old.db")
    survey = store.named("health")
    assert survey.fingerprint == definition.fingerprint
    assert survey.verifier is store.signer(survey) is None
    assert [row for batch in store.rows(survey) for row in batch] == [VALUES]
    counts = store.counts(survey)
    assert (counts.reports, counts.codes, counts.started) == (1, 2, 0)
    store.delete_survey(survey)
    assert store.surveys() == []
    store.close()


# As another program that looks at the store and leaves: how many reports are there?
_LOOKS = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); print(c.execute(sys.argv[2]).fetchone()[0]); c.close()"


def test_whoever_looks_and_leaves_takes_no_report_along(tmp_path: Path) -> None:
    """A server has several connections. Opening the file beside them once dropped their locks, so that the next program to leave
    took itself for the last one and deleted the log that the server went on writing to.
    """
    path = tmp_path / "s.db"
    store = Store.open(path)
    survey = store.add(Definition.from_yaml(SMALL), SMALL)
    writer = connect(path)  # as the server does: a second connection in the same process
    for number in range(3):
        store_batch(writer, [Submission(survey, "reports", str(number), ("yes", "no", "below 30"))])
        question = f"SELECT COUNT(*) FROM {survey.table('reports')}"
        looked = subprocess.run(
            [sys.executable, "-c", _LOOKS, path, question], capture_output=True, text=True, check=True
        )
        assert int(looked.stdout) == number + 1
        assert (tmp_path / "s.db-wal").exists()
    writer.close()
    store.close()


def test_all_files_of_an_export_are_of_one_moment(
    store: Store, survey: StoredSurvey, store_url: str, tmp_path: Path
) -> None:
    writer = connect(store_url)
    tokens = itertools.count(1)

    def answer(amount: float = 1) -> None:
        store_batch(writer, [submission(survey, f"{next(tokens):064x}")])

    answer()
    export_folder(store, survey, tmp_path / "out", answer)  # somebody answers after each piece that is written
    assert store.counts(survey).reports > 2
    assert len((tmp_path / "out/reports.csv").read_text().splitlines()) == 1 + 1
    assert pq.read_table(tmp_path / "out/reports.parquet").num_rows == 1
    writer.close()
