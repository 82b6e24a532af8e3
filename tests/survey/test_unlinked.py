"""Whoever holds the disk: codes and reports, linked by every order that the store's files show."""

from __future__ import annotations

import secrets
import sqlite3
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from scipy.stats import poisson

from tacit.survey.codes import code_token, new_code
from tacit.survey.definition import Definition
from tacit.survey.store import connect
from tacit.survey.store.backup import back_up
from tacit.survey.store.submissions import (
    TEXTS_AT_ONCE,
    Submission,
    SubmissionOutcome,
    Writer,
    store_batch,
    token_hash,
)
from tacit.survey.store.surveys import TEXTS, Store, StoredSurvey
from tests.survey.questionnaires import CODES
from tests.survey.running import run_async

PEOPLE = 155
FALSE_ALARM = 1e-6
# A guesser who links at random is right for one person on average, whatever their number.
BY_CHANCE = int(poisson.isf(FALSE_ALARM, 1))


def states_in_the_log(path: Path) -> Iterator[sqlite3.Connection]:
    """The database as it was after each commit that its write-ahead log still holds."""
    if not (log := Path(f"{path}-wal").read_bytes()):
        return
    page = struct.unpack(">I", log[8:12])[0]
    image = bytearray(path.read_bytes())
    for at in range(32, len(log) - 23 - page, 24 + page):
        number, is_commit = struct.unpack(">II", log[at : at + 8])
        if log[at + 8 : at + 16] != log[16:24]:
            return  # frames of an earlier turn
        image.extend(bytes(max(0, number * page - len(image))))
        image[(number - 1) * page : number * page] = log[at + 24 : at + 24 + page]
        if is_commit:
            image[18:20] = b"\x01\x01"  # read without a log
            connection = sqlite3.connect(":memory:")
            connection.deserialize(bytes(image))
            yield connection
            connection.close()


def arrivals(path: Path, table: str, column: str) -> list[str]:
    """The values of a column in the order in which commits brought them."""
    seen: dict[str, None] = {}
    for state in states_in_the_log(path):
        if (table,) in state.execute("SELECT name FROM sqlite_master WHERE type = 'table'"):
            seen |= dict.fromkeys(value for (value,) in state.execute(f"SELECT {column} FROM {table}"))
    return list(seen)


def spent_as_they_lie(path: Path, codes: set[str]) -> list[str]:
    """The spent codes in the order of the bytes of their file."""
    content = path.read_bytes()
    return sorted(codes, key=lambda code: content.index(code.encode()))


def everybody_answers(store: Store, survey: StoredSurvey) -> dict[str, str]:
    """Codes with the report each of them became, one person after the other."""
    codes = [token_hash(survey, code_token(survey.fingerprint, new_code())) for _ in range(PEOPLE)]
    store.add_codes(survey, codes)
    truth = {}
    for number, code in enumerate(codes):
        store.codes.spend([(survey.number, code, bytes([number]))])
        report = token_hash(survey, f"token {number}")
        store_batch(store.database, [Submission(survey, "reports", report, ("yes", "no", "below 30"))])
        truth[code] = report
    return truth


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, StoredSurvey, dict[str, str]]]:
    store = Store.open(tmp_path_factory.mktemp("answered") / "s.db")
    survey = store.add(Definition.from_yaml(CODES), CODES)
    yield store, survey, everybody_answers(store, survey)
    store.close()


def right(guess: dict[str, str], truth: dict[str, str]) -> int:
    return sum(truth.get(code) == report for code, report in guess.items())


def test_codes_are_linked_to_reports_no_better_than_by_chance(
    answered: tuple[Store, StoredSurvey, dict[str, str]],
) -> None:
    store, survey, truth = answered
    path = Path(store.database.url)
    reports = arrivals(path, survey.table("reports"), "report_key")
    assert reports == list(truth.values())  # the log does show the order of the reports ...
    codes = Path(store.codes.database.url)
    assert not Path(f"{codes}-wal").exists()
    assert not Path(f"{codes}-journal").exists()
    for order in (spent_as_they_lie(codes, set(truth)), sorted(truth)):
        assert right(dict(zip(order, reports, strict=True)), truth) <= BY_CHANCE  # ... and nothing that of the codes
    content = b"".join(one.read_bytes() for one in path.parent.iterdir() if one != codes)
    assert not any(code.encode() in content for code in truth)


def test_the_attack_links_everybody_where_code_and_report_are_written_together(tmp_path: Path) -> None:
    """The first version's way, so that the attack is known to see what there is to be seen."""
    connection = sqlite3.connect(tmp_path / "old.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    for table in ("spent", "reports"):
        connection.execute(f"CREATE TABLE {table} (key TEXT PRIMARY KEY) WITHOUT ROWID")
    truth = {f"{n * 7919 % 10007:05}": f"{n * 104729 % 10009:05}" for n in range(PEOPLE)}
    for code, report in truth.items():
        connection.execute("BEGIN")
        connection.execute("INSERT INTO spent VALUES (?)", (code,))
        connection.execute("INSERT INTO reports VALUES (?)", (report,))
        connection.execute("COMMIT")
    guess = dict(
        zip(arrivals(tmp_path / "old.db", "spent", "key"), arrivals(tmp_path / "old.db", "reports", "key"), strict=True)
    )
    connection.close()
    assert right(guess, truth) == PEOPLE


WRITERS = 25  # few enough for one page each, whose bytes then show a whole order


def test_texts_are_linked_to_reports_no_better_than_by_chance(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    survey = store.add(Definition.from_yaml(CODES), CODES)
    writer = Writer(connect(tmp_path / "s.db"))
    truth = {}
    for number in range(WRITERS):
        text, report = secrets.token_hex(32), token_hash(survey, f"token {number}")
        written = Submission(survey, "reports", report, ("yes", "no", "below 30"), texts=((text, "remarks", "a text"),))
        assert run_async(lambda one=written: writer.put(one)) is SubmissionOutcome.STORED  # type: ignore[misc]
        truth[text] = report
    writer.close()
    assert len(store.texts(survey)) == WRITERS // TEXTS_AT_ONCE * TEXTS_AT_ONCE
    logged = [key for table in TEXTS for key in arrivals(tmp_path / "s.db", table, "text_key")]
    reports = arrivals(tmp_path / "s.db", survey.table("reports"), "report_key")
    assert right(dict(zip(logged, reports, strict=False)), truth) <= BY_CHANCE
    content = (tmp_path / "s.db").read_bytes()
    # The newest cell of a page stands before all others.
    lying = [sorted(keys, key=lambda key: -content.index(key.encode())) for keys in (truth, truth.values())]
    assert right(dict(zip(*lying, strict=True)), truth) <= BY_CHANCE
    store.close()


def spent_file(folder: Path, codes: list[str], order: list[int]) -> bytes:
    """The codes' file after some of them were spent in a given order, each for the same blinded token."""
    folder.mkdir()
    store = Store.open(folder / "s.db")
    store.codes.add(1, codes)
    for number in order:
        store.codes.spend([(1, codes[number], b"blinded %d" % number)])
    store.close()
    return (folder / "s.db.codes").read_bytes()


def test_the_codes_file_is_the_same_in_whatever_order_they_were_spent(tmp_path: Path) -> None:
    codes = [token_hash_of(number) for number in range(120)]
    some = list(range(0, 120, 3))
    one = spent_file(tmp_path / "a", codes, some)
    other = spent_file(tmp_path / "b", codes, some[::-1])
    assert one == other
    assert one != spent_file(tmp_path / "c", codes, [*some[1:], 1])  # the comparison sees a single other code


def token_hash_of(number: int) -> str:
    import hashlib

    return hashlib.sha256(str(number).encode()).hexdigest()


def test_a_backup_shows_no_order_either(answered: tuple[Store, StoredSurvey, dict[str, str]], tmp_path: Path) -> None:
    store, _, truth = answered
    back_up(store, tmp_path / "backup.db")
    content = (tmp_path / "backup.db").read_bytes()
    codes = sorted(truth, key=lambda code: content.index(code.encode()))
    reports = sorted(truth.values(), key=lambda report: content.index(report.encode()))
    assert right(dict(zip(codes, reports, strict=True)), truth) <= BY_CHANCE
    assert not Path(f"{tmp_path / 'backup.db'}-wal").exists()


def test_the_stores_files_are_their_owners_alone(answered: tuple[Store, StoredSurvey, dict[str, str]]) -> None:
    path = Path(answered[0].database.url)
    files = {one.name: one.stat().st_mode & 0o777 for one in path.parent.iterdir()}
    assert {"s.db", "s.db-wal", "s.db.codes"} <= set(files)
    assert set(files.values()) == {0o600}
