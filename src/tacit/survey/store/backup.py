"""Backup and restore: any store into one file, and the file into any empty store, also of the other kind."""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tacit.errors import InvalidInput, TacitError
from tacit.survey.store.audit import Audit
from tacit.survey.store.codes import COLUMNS as CODE_COLUMNS
from tacit.survey.store.codes import TABLE as CODES
from tacit.survey.store.database import Database, StoreUnavailable, quote_name
from tacit.survey.store.sqlite import SqliteDatabase
from tacit.survey.store.surveys import BOXES, Store, StoredSurvey
from tacit.table.outputs import BACKUP, written_whole

# Sessions and known devices are left out on purpose: whoever holds an old backup must not be logged in by it.
_TABLES: dict[str, tuple[str, ...]] = {
    "tacit_surveys": ("number", "fingerprint", "name", "wave", "state", "source", "definition"),
    "tacit_spent": ("box", "token"),
    "tacit_codes": ("survey", "token"),
    "tacit_administrators": (
        "name",
        "password",
        "failures",
        "locked_until",
        "role",
        "second_factor",
        "last_step",
    ),
    "tacit_audit": ("number", "at", "administrator", "action", "detail", "link"),
    "tacit_classifiers": ("survey", "document"),
    "tacit_issuers": ("survey", "private"),
    "tacit_receipts": ("receipt", "box", "report_key"),
    "tacit_withdrawn": ("token", "box"),
    "tacit_texts": ("text_key", "box", "question", "content"),
    "tacit_held_texts": ("text_key", "box", "question", "content"),
}


Progressed = Callable[[float], None]


def _nobody_watches(rows: float) -> None:
    pass


@dataclass(frozen=True)
class Copied:
    """What a backup or a restore carried over."""

    surveys: int
    reports: int


def back_up(store: Store, path: Path, progressed: Progressed = _nobody_watches) -> Copied:
    """Write everything as of one moment into a file that appears whole or not at all; people may go on answering."""
    with written_whole(path, private=True) as temporary:
        temporary.unlink()  # an empty file would do, but a database wants to begin its own
        database = SqliteDatabase(temporary)
        target = Store(database, codes=database)
        try:
            copied = _copy(store, target, progressed)
            # Back to one file: the write-ahead log must not stay behind under the temporary name.
            target.database.rows("PRAGMA journal_mode=DELETE")
            target.database.rows(f"PRAGMA application_id={int.from_bytes(BACKUP)}")
        finally:
            target.close()
    return copied


def restore(path: Path, store: Store, progressed: Progressed = _nobody_watches) -> Copied:
    """Fill an empty store from a backup; nothing is changed if anything is wrong with either."""
    with opened_backup(path) as source:
        return fill_from(source, store, progressed)


def fill_from(source: Store, store: Store, progressed: Progressed = _nobody_watches) -> Copied:
    """Fill an empty store from a backup that is open."""
    held = {"surveys": "tacit_surveys", "accounts": "tacit_administrators", "an audit log": "tacit_audit"}
    for what, table in held.items():
        if store.database.rows(f"SELECT 1 FROM {table} LIMIT 1"):
            raise InvalidInput(f"The store {store.database.url!r} holds {what} already. Restore into an empty one.")
    return _copy(source, store, progressed)


@contextlib.contextmanager
def opened_backup(path: Path) -> Iterator[Store]:
    """A copy of a backup as a store, once its file is whole and its surveys can be read."""
    if not path.is_file():
        raise InvalidInput(f"There is no backup {str(path)!r}.")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "backup.db"  # reading may bring it to the present version; the backup stays as it is
        shutil.copyfile(path, copy)
        database = _check_copy(copy, path)
        try:
            source = Store(database, codes=database)
            _check_readable(source, path)
            yield source
        finally:
            database.close()


def _check_readable(source: Store, path: Path) -> None:
    try:
        source.surveys()
    except TacitError as error:
        raise _damaged_copy(path, error) from None


_DATED = "survey-%Y%m%dT%H%M%SZ.db"
_DATED_PATTERN = re.compile(r"survey-\d{8}T\d{6}Z\.db")


def dated_name(folder: Path) -> Path:
    """A backup's name in a folder of backups, by the time of now; names in order are backups in order.

    A clock that was set back does not change that: the name is then a second after the newest.
    """
    at = datetime.now(UTC)
    with contextlib.suppress(IndexError, ValueError):  # the first one here, or digits that are no time
        newest_at = datetime.strptime(_backups_in(folder)[-1].name, _DATED).replace(tzinfo=UTC)
        at = max(at, newest_at + timedelta(seconds=1))
    return folder / at.strftime(_DATED)


def _backups_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if _DATED_PATTERN.fullmatch(path.name))


def newest(folder: Path) -> Path:
    backups = _backups_in(folder)
    if not backups:
        raise InvalidInput(f"There is no backup in {str(folder)!r}. Make one: tacit survey backup {folder}")
    return backups[-1]


def drop_older(folder: Path, keep: int) -> list[Path]:
    """Delete all but the newest backups of a folder. What was withdrawn since then is gone with them."""
    old = _backups_in(folder)[:-keep]
    for path in old:
        path.unlink()
    return old


@dataclass(frozen=True)
class RestoredSurvey:
    """A survey as it came out of a backup."""

    name: str
    wave: str
    state: str
    reports: int


@dataclass(frozen=True)
class Drilled:
    """What a backup gave when it was restored for practice, with everything in it checked."""

    surveys: tuple[RestoredSurvey, ...]
    audit_lines: int
    seconds: float

    def to_document(self) -> dict[str, Any]:
        return {
            "surveys": [dict(vars(survey)) for survey in self.surveys],
            "audit_lines": self.audit_lines,
            "seconds": self.seconds,
        }


def restored_for_practice(path: Path, progressed: Progressed = _nobody_watches) -> Drilled:
    """Restore a backup into a store of its own, check every survey, every report and the audit log, and throw it away."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "drill.db")
        try:
            restore(path, store, progressed)
            surveys = tuple(_checked_survey(store, survey, path) for survey in store.surveys())
            chain = Audit(store.database, time.time).chain()
        finally:
            store.close()
    if chain.broken_at is not None:
        raise InvalidInput(
            f"The audit log in {str(path)!r} was changed: line {chain.broken_at} does not fit. Use another backup."
        )
    return Drilled(surveys, chain.lines, time.monotonic() - begun)


def _checked_survey(store: Store, survey: StoredSurvey, path: Path) -> RestoredSurvey:
    """The definition was held against its hash when it was read; here every report is read as the estimates will."""
    reports = 0
    for rows in store.rows(survey):
        for row in rows:
            try:
                survey.wire.encode(row)
            except (KeyError, TypeError, ValueError):
                raise InvalidInput(
                    f"The backup {str(path)!r} holds a report of {survey.definition.name!r} that is none. Use another one."
                ) from None
        reports += len(rows)
    return RestoredSurvey(survey.definition.name, survey.definition.wave, survey.state, reports)


def _check_copy(copy: Path, path: Path) -> SqliteDatabase:
    try:
        database = SqliteDatabase(copy)
    except InvalidInput:
        raise InvalidInput(
            f"{str(path)!r} is no backup of a survey store, or it is cut off or damaged. Use another one."
        ) from None
    try:
        _check_whole(database, path)
    except BaseException:
        database.close()
        raise
    return database


def _check_whole(database: SqliteDatabase, path: Path) -> None:
    try:
        tables, result = database.tables(), database.rows("PRAGMA integrity_check")
    except StoreUnavailable as error:
        raise _damaged_copy(path, error) from None
    if "tacit_meta" not in tables:
        raise InvalidInput(f"{str(path)!r} is no backup of a survey store.")
    if result != [("ok",)]:
        raise _damaged_copy(path, f"{result[0][0]}.")


def _damaged_copy(path: Path, why: object) -> InvalidInput:
    return InvalidInput(f"The backup {str(path)!r} is damaged: {why} Use another one.")


def _copy(source: Store, target: Store, progressed: Progressed) -> Copied:
    reports = 0
    with source.database.snapshot(), target.database.transaction():
        # Codes are read after the reports' moment: one that is spent without its report loses nobody anything.
        _copy_codes(source, target)
        for table, columns in _TABLES.items():
            _copy_table(source.database, target.database, table, columns)
        surveys = source.surveys()
        for survey in surveys:
            for box in BOXES:
                target.create_box(survey, box)
                columns = ("report_key", *survey.columns(box))
                copied = _copy_table(source.database, target.database, survey.table(box), columns)
                progressed(copied)
                reports += copied if box == "reports" else 0
    return Copied(len(surveys), reports)


def _copy_codes(source: Store, target: Store) -> None:
    rows = source.codes.rows()
    if target.codes.database is target.database:
        target.database.insert(CODES, CODE_COLUMNS, rows)
        return
    with target.codes.database.transaction():
        target.codes.database.run(f"DELETE FROM {CODES}")
        target.codes.database.insert(CODES, CODE_COLUMNS, rows)


def _copy_table(source: Database, target: Database, table: str, columns: tuple[str, ...]) -> int:
    copied = 0
    # In the order of the keys: a table that is filled in order of arrival shows it.
    names = ", ".join(map(quote_name, columns))
    for rows in source.read(f"SELECT {names} FROM {table} ORDER BY {quote_name(columns[0])}"):
        target.insert(table, columns, rows)
        copied += len(rows)
    return copied


def contents(store: Store) -> Iterator[tuple[str, list[tuple[object, ...]]]]:
    """Every table with its rows in a fixed order, to hold two stores against each other."""
    for table, columns in _TABLES.items():
        yield table, sorted(store.database.rows(f"SELECT {', '.join(map(quote_name, columns))} FROM {table}"))
    yield CODES, store.codes.rows()
    for survey in store.surveys():
        yield from _box_contents(store, survey)


def _box_contents(store: Store, survey: StoredSurvey) -> Iterator[tuple[str, list[tuple[object, ...]]]]:
    for box in BOXES:
        names = ", ".join(map(quote_name, ("report_key", *survey.columns(box))))
        yield survey.table(box), sorted(store.database.rows(f"SELECT {names} FROM {survey.table(box)}"))
