"""What administrators did, each line chained to the one before by a hash: none can be changed or taken out unnoticed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from tacit.survey.store.database import Database, Row

_COLUMNS = "number, at, administrator, action, detail"


@dataclass(frozen=True)
class Chain:
    """The state of the log: `broken_at` is the number of the first line that does not fit those before it."""

    lines: int
    head: str
    broken_at: int | None
    links: tuple[str, ...] = ()  # the head after each line

    def continues(self, noted: str) -> bool:
        """Whether a head that was noted earlier is that of one of its lines: else lines were cut off or made anew."""
        return noted in self.links


class Audit:
    """The log of a store. It is about administrators only; respondents appear in no log."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    def record(self, administrator: str, action: str, detail: str = "") -> None:
        at = datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec="seconds")
        with self._database.transaction():
            last = self._database.rows("SELECT number, link FROM tacit_audit ORDER BY number DESC LIMIT 1")
            number, link = last[0] if last else (0, "")
            if number and not link:  # the first line after those of a version without a chain
                link = self._head(self._lines())
            row = (number + 1, at, administrator, action, detail)
            self._database.run("INSERT INTO tacit_audit VALUES (?, ?, ?, ?, ?, ?)", (*row, link_hash(link, row)))

    def latest(self, limit: int = 100) -> list[tuple[str, str, str, str]]:
        rows = self._database.rows(
            "SELECT at, administrator, action, detail FROM tacit_audit ORDER BY number DESC LIMIT ?", (limit,)
        )
        return [(str(at), str(who), str(action), str(detail)) for at, who, action, detail in rows]

    def chain(self) -> Chain:
        """Every line held against those before it. Lines cut off at the end show only to who noted the head."""
        rows = self._lines()
        link, is_chained = "", False
        links = []
        for expected, (*row, stored) in enumerate(rows, start=1):
            link = link_hash(link, row)
            links.append(link)
            if row[0] != expected or (stored != link and (stored or is_chained)):
                return Chain(len(rows), link, int(row[0]))
            is_chained = is_chained or bool(stored)
        return Chain(len(rows), link, None, tuple(links))

    def _lines(self) -> list[Row]:
        return self._database.rows(f"SELECT {_COLUMNS}, link FROM tacit_audit ORDER BY number")

    def _head(self, rows: Iterable[Row]) -> str:
        link = ""
        for *row, _ in rows:
            link = link_hash(link, row)
        return link


def link_hash(before: str, row: Iterable[object]) -> str:
    return hashlib.sha256((before + json.dumps(list(row), ensure_ascii=False)).encode()).hexdigest()
