"""Invitation codes and which of them are spent, kept apart from the reports.

In SQLite they have a file of their own without a write-ahead log. A row has the same length before and after it is
spent and is overwritten where it stands, so the file looks the same in whatever order people came; nothing in it or in
the reports' file says who came when. PostgreSQL keeps the order in its own log and transaction numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from enum import Enum

from tacit.survey.store.database import Database, Row

TABLE = "tacit_invitations"
COLUMNS = ("survey", "code", "blinded")
# As long as a hash, so that spending a code moves nothing.
UNSPENT = "0" * 64


class Spending(Enum):
    """What became of a code that somebody wants to spend."""

    SPENT = "spent"
    # The same blinded token again: a reload, or an answer that was lost on its way.
    REPEATED = "repeated"
    USED = "used"
    UNKNOWN = "unknown"


class Codes:
    """The invitation codes of a store, known only by the hashes of what the page sends."""

    def __init__(self, database: Database) -> None:
        self.database = database
        if TABLE in database.tables():
            return
        with database.alone():
            if TABLE not in database.tables():
                database.run(
                    f"CREATE TABLE {TABLE} (survey INTEGER NOT NULL, code TEXT NOT NULL, blinded TEXT NOT NULL, "
                    f"PRIMARY KEY (survey, code)){database.table_suffix}"
                )

    def add(self, survey: int, codes: Sequence[str]) -> None:
        with self.database.transaction():
            self.database.insert(TABLE, COLUMNS, [(survey, code, UNSPENT) for code in sorted(codes)])

    def spend(self, wanted: Sequence[tuple[int, str, bytes]]) -> list[Spending]:
        """Spend codes, each for one blinded token, in one durable transaction and in the order of their hashes."""
        outcomes = [Spending.UNKNOWN] * len(wanted)
        with self.database.transaction():
            for index in sorted(range(len(wanted)), key=lambda at: wanted[at][1]):
                outcomes[index] = self._spend_one(*wanted[index])
        return outcomes

    def _spend_one(self, survey: int, code: str, blinded: bytes) -> Spending:
        digest = hashlib.sha256(blinded).hexdigest()
        rows = self.database.rows(f"SELECT blinded FROM {TABLE} WHERE survey = ? AND code = ?", (survey, code))
        if not rows:
            return Spending.UNKNOWN
        if rows[0][0] != UNSPENT:
            return Spending.REPEATED if rows[0][0] == digest else Spending.USED
        changed = self.database.run(
            f"UPDATE {TABLE} SET blinded = ? WHERE survey = ? AND code = ? AND blinded = ?",
            (digest, survey, code, UNSPENT),
        )
        # Nobody else can have spent it within this transaction, except another server on PostgreSQL.
        return Spending.SPENT if changed else Spending.USED

    def counts(self, survey: int) -> tuple[int, int]:
        """How many codes there are, and how many are spent."""
        rows = self.database.rows(
            f"SELECT COUNT(*), COALESCE(SUM(CASE WHEN blinded = ? THEN 0 ELSE 1 END), 0) FROM {TABLE} WHERE survey = ?",
            (UNSPENT, survey),
        )
        return int(rows[0][0]), int(rows[0][1])

    def unspent(self, survey: int) -> set[str]:
        """The hashes of the codes with which nobody has started."""
        rows = self.database.rows(f"SELECT code FROM {TABLE} WHERE survey = ? AND blinded = ?", (survey, UNSPENT))
        return {code for (code,) in rows}

    def spent(self, survey: int) -> set[str]:
        """The hashes of the codes with which somebody has started."""
        rows = self.database.rows(f"SELECT code FROM {TABLE} WHERE survey = ? AND blinded <> ?", (survey, UNSPENT))
        return {code for (code,) in rows}

    def delete(self, survey: int) -> None:
        self.database.run(f"DELETE FROM {TABLE} WHERE survey = ?", (survey,))

    def rows(self) -> list[Row]:
        return self.database.rows(f"SELECT {', '.join(COLUMNS)} FROM {TABLE} ORDER BY survey, code")

    def tidy(self) -> None:
        self.database.reorder(TABLE, "code")
