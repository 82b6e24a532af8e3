"""The surveys of a store: their frozen definitions, states, keys, codes and reports."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

from tacit.errors import InvalidInput, UnknownName
from tacit.schema import PANEL
from tacit.survey.definition import Definition, changed_line
from tacit.survey.issuing import Signer, Verifier
from tacit.survey.store import connect
from tacit.survey.store.codes import Codes
from tacit.survey.store.database import Database, Row, StoreUnavailable, quote_name
from tacit.survey.store.migrations import migrate
from tacit.survey.wire import Column, Wire

State = Literal["draft", "open", "closed"]
# Where a submission belongs: what counts, test responses, and the one bit of a second round.
Box = Literal["reports", "tests", "second"]
BOXES: tuple[Box, ...] = ("reports", "tests", "second")
# Open texts: those that are handed out, and those that wait until they are enough.
TEXTS = ("tacit_texts", "tacit_held_texts")
_FINGERPRINT = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True, eq=False)
class StoredSurvey:
    """A survey as the store holds it."""

    number: int
    state: State
    source: str
    definition: Definition
    wire: Wire

    @property
    def fingerprint(self) -> str:
        return self.definition.fingerprint

    @cached_property
    def verifier(self) -> Verifier | None:
        """The key that signs this survey's tokens; None for open links, and where codes were no tokens yet."""
        issuer = self.definition.document.get("issuer")
        return Verifier.from_document(issuer) if issuer else None

    def table(self, box: Box) -> str:
        return f"tacit_{box}_{self.number}"

    def columns(self, box: Box) -> tuple[str, ...]:
        """The columns of a table: those of a report, and in a panel the mark of whoever sent it."""
        return ("right",) if box == "second" else self.exported

    @property
    def exported(self) -> tuple[str, ...]:
        return (*self.wire.names, *((PANEL,) if self.definition.is_panel else ()))


@dataclass(frozen=True)
class Counts:
    """How much a survey holds."""

    reports: int
    tests: int
    second: int
    codes: int
    started: int
    withdrawn: int


@dataclass(frozen=True)
class Attrition:
    """How many people answered another wave of a panel, and how many of them this one too."""

    wave: int
    reports: int
    again: int

    def to_document(self) -> dict[str, int]:
        return {"wave": self.wave, "reports": self.reports, "again": self.again}

    def __str__(self) -> str:
        share = f" ({self.again / self.reports:.0%})" if self.reports else ""
        return f"of {self.reports:,} people in wave {self.wave}, {self.again:,}{share} answered this wave too"


class Store:
    """The surveys in one database, and their codes, which lie apart unless `codes` says where."""

    def __init__(self, database: Database, codes: Database | None = None) -> None:
        migrate(database)
        self.database = database
        self.codes = Codes(codes or database.apart())

    @classmethod
    def open(cls, url: str | Path, *, must_exist: bool = False) -> Store:
        if must_exist and "://" not in str(url) and not Path(url).exists():
            raise InvalidInput(
                f"There is no store {str(url)!r}. Open a survey first: tacit survey open FILE --store {url}"
            )
        return cls(connect(url))

    def close(self) -> None:
        self.database.close()
        if self.codes.database is not self.database:
            self.codes.database.close()

    def surveys(self) -> list[StoredSurvey]:
        rows = self.database.rows("SELECT number, state, source, definition FROM tacit_surveys ORDER BY number")
        return [_read_survey(row) for row in rows]

    def survey(self, fingerprint: str) -> StoredSurvey | None:
        if not _FINGERPRINT.fullmatch(
            fingerprint
        ):  # PostgreSQL would refuse some of what people can put into an address
            return None
        rows = self.database.rows(
            "SELECT number, state, source, definition FROM tacit_surveys WHERE fingerprint = ?", (fingerprint,)
        )
        return _read_survey(rows[0]) if rows else None

    def named(self, name: str) -> StoredSurvey:
        """The survey of this name or fingerprint; of several waves the last."""
        surveys = self.surveys()
        stored = [
            survey
            for survey in surveys
            if name
            in (survey.definition.name, survey.fingerprint, f"{survey.definition.name}/{survey.definition.wave}")
        ]
        if not stored:
            raise UnknownName("The survey", name, sorted({survey.definition.name for survey in surveys}))
        return stored[-1]

    def add(self, definition: Definition, source: str, state: State = "open") -> StoredSurvey:
        """Freeze a survey. Opening the same again changes nothing; an edited one is refused."""
        check_retention(definition)
        with self.database.transaction():
            existing = self._of_wave(definition)
            if existing is None and definition.waves is not None:
                self._check_wave(definition)
            if definition.needs_codes:
                definition = self._with_issuer(definition, existing)
            if existing is None:
                self._insert(definition, source, state)
            elif existing.definition.hash != definition.hash:
                raise InvalidInput(_edited_message(existing, source))
            elif existing.state == "draft" and state == "open":
                self.set_state(existing, "open")
            elif existing.state == "closed" and state == "open":
                raise InvalidInput(f"The survey {definition.name!r} was closed. If you must, {_ASK_ANEW}")
        stored = self.survey(definition.fingerprint)
        assert stored is not None
        return stored

    def _check_wave(self, definition: Definition) -> None:
        """Refuse a wave that is not the next one of its series."""
        earlier = [survey for survey in self.surveys() if survey.definition.name == definition.name]
        if any(survey.definition.series != definition.series for survey in earlier):
            raise InvalidInput(_another_text(earlier[-1]))
        following = max((int(survey.definition.wave) for survey in earlier), default=0) + 1
        if int(definition.wave) != following:
            raise InvalidInput(
                f"The next wave of {definition.name!r} is {following}, not {definition.wave}. Write wave: {following}, or leave "
                f"it out and open further waves with: tacit survey wave {definition.name}"
            )

    def open_wave(self, name: str, written: Definition | None = None) -> StoredSurvey:
        """Open the next declared wave of a survey; `written` is its questionnaire as it stands now, to be compared."""
        last = self.named(name)
        waves, wave = last.definition.waves, last.definition.document["wave"]
        if waves is None:
            raise InvalidInput(
                f"The survey {last.definition.name!r} has no declared waves, so it has no further one. Declare them before the "
                "first, such as waves: 4, or ask as a new survey."
            )
        if written is not None and written.series != last.definition.series:
            raise InvalidInput(_another_text(last))
        if wave == waves:
            raise InvalidInput(
                f"All {waves} declared waves of {last.definition.name!r} have been opened; people were promised that there are "
                "no more. Ask as a new survey."
            )
        return self.add(last.definition.in_wave(wave + 1), last.source)

    def _with_issuer(self, definition: Definition, existing: StoredSurvey | None) -> Definition:
        """The definition with the key of its tokens: the one it was opened with, or a new one."""
        if existing is not None:
            issuer = existing.definition.document.get("issuer")
            return definition.issued_by(issuer) if issuer else definition
        signer = Signer.new()
        number = self._next_number()
        self.database.run("INSERT INTO tacit_issuers VALUES (?, ?)", (number, signer.to_text()))
        return definition.issued_by(signer.verifier.to_document())

    def _next_number(self) -> int:
        """One more than any survey has had, also a deleted one."""
        ((given,),) = self.database.rows("SELECT last_number FROM tacit_meta")
        ((highest,),) = self.database.rows("SELECT COALESCE(MAX(number), 0) FROM tacit_surveys")
        return max(int(given), int(highest)) + 1

    def signer(self, survey: StoredSurvey) -> Signer | None:
        """What signs the survey's tokens; gone when it is closed."""
        rows = self.database.rows("SELECT private FROM tacit_issuers WHERE survey = ?", (survey.number,))
        return Signer.from_text(rows[0][0]) if rows else None

    def _of_wave(self, definition: Definition) -> StoredSurvey | None:
        rows = self.database.rows(
            "SELECT number, state, source, definition FROM tacit_surveys WHERE name = ? AND wave = ?",
            (definition.name, definition.wave),
        )
        return _read_survey(rows[0]) if rows else None

    def _insert(self, definition: Definition, source: str, state: State) -> None:
        number = self._next_number()
        values = (number, definition.fingerprint, definition.name, definition.wave, state, source, definition.to_json())
        self.database.run("INSERT INTO tacit_surveys VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        self.database.run("UPDATE tacit_meta SET last_number = ?", (number,))
        stored = _read_survey((number, state, source, definition.to_json()))
        for box in BOXES:
            self.create_box(stored, box)

    def create_box(self, survey: StoredSurvey, box: Box) -> None:
        kinds = ["INTEGER"] if box == "second" else [_kind(column) for column in survey.wire.columns]
        kinds = [f"{kind}{'' if survey.wire.dealt else ' NOT NULL'}" for kind in kinds]
        if box != "second" and survey.definition.is_panel:
            kinds.append("TEXT NOT NULL UNIQUE")
        columns = "".join(f", {quote_name(name)} {kind}" for name, kind in zip(survey.columns(box), kinds, strict=True))
        self.database.run(
            f"CREATE TABLE {survey.table(box)} (report_key TEXT NOT NULL PRIMARY KEY{columns}){self.database.table_suffix}"
        )

    def set_state(self, survey: StoredSurvey, state: State) -> None:
        self.database.run("UPDATE tacit_surveys SET state = ? WHERE number = ?", (state, survey.number))

    def close_survey(self, survey: StoredSurvey) -> None:
        """Accept and sign nothing more, and wipe what the database's own files still tell about the order of arrival."""
        self.set_state(survey, "closed")
        self.database.run("DELETE FROM tacit_issuers WHERE survey = ?", (survey.number,))
        for box in BOXES:
            self.database.reorder(survey.table(box), "report_key")
        keys = {"tacit_receipts": "receipt", "tacit_withdrawn": "token", **dict.fromkeys(TEXTS, "text_key")}
        for table, key in keys.items():
            self.database.reorder(table, key)
        self.codes.tidy()
        self.database.tidy()

    def withdraw(self, survey: StoredSurvey, receipt: str, texts: Sequence[str] = ()) -> bool:
        """Delete the report of a receipt, given by its hash, and the open texts under these keys.

        The report's token is good for no other. False if there is none.
        """
        box = f"reports {survey.number}"
        with self.database.transaction():
            states = self.database.rows("SELECT state FROM tacit_surveys WHERE number = ?", (survey.number,))
            receipts = self.database.rows(
                "SELECT report_key FROM tacit_receipts WHERE receipt = ? AND box = ?", (receipt, box)
            )
            if states != [("open",)] or not receipts:
                return False
            ((key,),) = receipts
            self.database.run(f"DELETE FROM {survey.table('reports')} WHERE report_key = ?", (key,))
            self.database.run("DELETE FROM tacit_receipts WHERE receipt = ?", (receipt,))
            for text in texts:
                for table in TEXTS:
                    self.database.run(f"DELETE FROM {table} WHERE text_key = ?", (text,))
            self.database.run("INSERT INTO tacit_withdrawn VALUES (?, ?)", (key, box))
        # The log still holds what was withdrawn, and shows which texts went with which report.
        with contextlib.suppress(StoreUnavailable):
            self.database.forget_log()
        return True

    def is_emptied(self, survey: StoredSurvey) -> bool:
        counts = self.counts(survey)
        return survey.state == "closed" and not (counts.reports or counts.tests or counts.second or counts.codes)

    def delete_reports(self, survey: StoredSurvey) -> None:
        """Delete all that people sent, with codes and receipts, for good; what was asked and promised stays readable."""
        with self.database.transaction():
            self.set_state(survey, "closed")
            # A classifier was learned from the reports; while it is offered, bits about it are taken.
            for table in ("tacit_issuers", "tacit_classifiers"):
                self.database.run(f"DELETE FROM {table} WHERE survey = ?", (survey.number,))
            self._delete_boxes(survey)
            for box in BOXES:
                self.database.run(f"DELETE FROM {survey.table(box)}")
        self._tidy_all(survey)

    def _delete_boxes(self, survey: StoredSurvey) -> None:
        for table in ("tacit_receipts", "tacit_withdrawn", "tacit_spent", *TEXTS):
            for box in BOXES:
                self.database.run(f"DELETE FROM {table} WHERE box = ?", (f"{box} {survey.number}",))
        self.database.run("DELETE FROM tacit_codes WHERE survey = ?", (survey.number,))

    def _tidy_all(self, survey: StoredSurvey) -> None:
        self.codes.delete(survey.number)
        self.codes.database.tidy()
        self.database.tidy()

    def delete_survey(self, survey: StoredSurvey) -> None:
        """Take a survey away for good, with its reports, codes, receipts and key; nothing of it stays in the files."""
        if survey.state == "open":
            raise InvalidInput(f"The survey {survey.definition.name!r} is open. Close it first: tacit survey close")
        with self.database.transaction():
            for box in BOXES:
                self.database.run(f"DROP TABLE {survey.table(box)}")
            self._delete_boxes(survey)
            for table in ("tacit_issuers", "tacit_classifiers"):
                self.database.run(f"DELETE FROM {table} WHERE survey = ?", (survey.number,))
            self.database.run("DELETE FROM tacit_surveys WHERE number = ?", (survey.number,))
        self._tidy_all(survey)

    def add_codes(self, survey: StoredSurvey, tokens: Sequence[str]) -> None:
        """Make codes valid; the store knows them only by the hash of what the page sends for them."""
        self.codes.add(survey.number, tokens)

    def counts(self, survey: StoredSurvey) -> Counts:
        def count(table: str, condition: str = "") -> int:
            return int(self.database.rows(f"SELECT COUNT(*) FROM {table}{condition}")[0][0])

        reports, tests, second = (count(survey.table(box)) for box in BOXES)
        codes, started = self.codes.counts(survey.number)
        codes += count("tacit_codes", f" WHERE survey = {survey.number}")  # of a version without tokens
        withdrawn = count("tacit_withdrawn", f" WHERE box = 'reports {survey.number}'")
        return Counts(reports, tests, second, codes, started, withdrawn)

    def attrition(self, survey: StoredSurvey) -> list[Attrition]:
        """Of a panel: how many of each earlier wave's people have answered this wave too."""
        if not survey.definition.is_panel:
            return []
        here, problems = survey.table("reports"), []
        for one in self.surveys():
            if one.definition.series == survey.definition.series and int(one.definition.wave) < int(
                survey.definition.wave
            ):
                there = one.table("reports")
                ((before,),) = self.database.rows(f"SELECT COUNT(*) FROM {there}")
                ((again,),) = self.database.rows(
                    f"SELECT COUNT(*) FROM {there} JOIN {here} ON {there}.{PANEL} = {here}.{PANEL}"
                )
                problems.append(Attrition(int(one.definition.wave), int(before), int(again)))
        return problems

    def has_reports(self, survey: StoredSurvey) -> bool:
        return bool(self.database.rows(f"SELECT 1 FROM {survey.table('reports')} LIMIT 1"))

    def change_mark(self, survey: StoredSurvey) -> Hashable:
        """Something that differs whenever the reports do; cheaper than counting them where the database keeps such a mark."""
        mark = self.database.change_mark()
        return mark if mark is not None else self.counts(survey)

    def rows(self, survey: StoredSurvey, names: Sequence[str] | None = None) -> Iterator[list[Row]]:
        """The reports, or these columns of them, in batches, in the order of their random keys and without these."""
        return self.database.stream(_in_order(survey, names))

    @contextlib.contextmanager
    def at_one_moment(self) -> Iterator[Store]:
        """The store as it is now: whatever is read from it belongs together, while people go on answering."""
        with self.database.snapshot():
            yield _Moment(self.database, self.codes.database)

    def texts(self, survey: StoredSurvey) -> list[tuple[str, str]]:
        """Questions and what was written to them, in the order of their random keys: it joins no two of one person.

        While the survey is open those that are held back are left out (TEXTS_AT_ONCE in submissions.py).
        """
        states = self.database.rows("SELECT state FROM tacit_surveys WHERE number = ?", (survey.number,))
        tables = TEXTS[:1] if states == [("open",)] else TEXTS
        every = " UNION ALL ".join(f"SELECT text_key, box, question, content FROM {table}" for table in tables)
        statement = f"SELECT question, content FROM ({every}) AS texts WHERE box = ? ORDER BY text_key"
        return [(str(name), str(text)) for name, text in self.database.rows(statement, (f"reports {survey.number}",))]

    def classifier(self, survey: StoredSurvey) -> dict[str, Any] | None:
        rows = self.database.rows("SELECT document FROM tacit_classifiers WHERE survey = ?", (survey.number,))
        return json.loads(rows[0][0]) if rows else None

    def offer_classifier(self, survey: StoredSurvey, document: dict[str, Any]) -> None:
        """Freeze a classifier for the second round; it cannot be exchanged, or the bits would mix."""
        if self.classifier(survey) is not None:
            raise InvalidInput("A classifier is already offered for this survey; bits about two would mix.")
        self.database.run(
            "INSERT INTO tacit_classifiers VALUES (?, ?)", (survey.number, json.dumps(document, ensure_ascii=False))
        )


class _Moment(Store):
    """A store within a snapshot of its own connection."""

    def rows(self, survey: StoredSurvey, names: Sequence[str] | None = None) -> Iterator[list[Row]]:
        return self.database.read(_in_order(survey, names))


def _in_order(survey: StoredSurvey, names: Sequence[str] | None) -> str:
    listed = ", ".join(map(quote_name, survey.wire.names if names is None else names))
    return f"SELECT {listed} FROM {survey.table('reports')} ORDER BY report_key"


def check_retention(definition: Definition) -> None:
    """Refuse a survey whose reports would be deleted as they come."""
    last = definition.retention
    if last is not None and last <= datetime.now(UTC).date():
        raise InvalidInput(
            f"retention is {last}, which is over: everything sent would be deleted at once. Name a later day."
        )


def _read_survey(row: Row) -> StoredSurvey:
    number, state, source, text = row
    return StoredSurvey(number, state, source, *_frozen(text))


@lru_cache(maxsize=16)
def _frozen(text: str) -> tuple[Definition, Wire]:
    """A definition and the shape of its reports, which never change: one with 100,000 answers takes a second to read."""
    definition = Definition.from_json(text)
    return definition, Wire.of(definition)


def _kind(column: Column) -> str:
    if column.radices:
        return "BIGINT"
    return "INTEGER" if column.is_whole_number else "TEXT"


def _edited_message(existing: StoredSurvey, source: str) -> str:
    definition = existing.definition
    place = f"in line {changed_line(existing.source, source)}"
    if existing.source == source:
        place = "in a file that it names"
    return (
        f"The survey {definition.name!r}, wave {definition.wave!r}, was opened with another questionnaire; the first "
        f"difference is {place}. People have been promised what stood there: undo the change, or {_ASK_ANEW}"
    )


def _another_text(last: StoredSurvey) -> str:
    return (
        f"The questionnaire has another text or question than wave {last.definition.wave} of {last.definition.name!r}. Waves of "
        f"a series ask the same, and people were promised what stood there: undo the change, or {_ASK_ANEW}"
    )


_ASK_ANEW = "ask it as a new survey under another name; who has answered both is told what they tell together."
