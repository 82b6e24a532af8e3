"""A store in one file."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tacit.errors import InvalidInput
from tacit.survey.store.database import WAIT_SECONDS, Database, Row, batches, quote_name

CODES_SUFFIX = ".codes"


class SqliteDatabase(Database):
    """A file that only its owner reads. Every commit is on the disk before it is acknowledged.

    Reports come many at a time and are read meanwhile: they have a write-ahead log, which shows their order. What must
    show no order has a rollback journal instead (`keeps_log` false), which is gone with each commit.
    """

    table_suffix = " WITHOUT ROWID"
    each = "SELECT value FROM json_each(?)"
    # The lock for writing is taken at once, so that a transaction cannot fail half-way for want of it.
    _begin = "BEGIN IMMEDIATE"
    _errors = (sqlite3.OperationalError, sqlite3.DatabaseError)

    def __init__(self, path: Path, *, keeps_log: bool = True) -> None:
        super().__init__()
        self.url = str(path)
        try:
            _made_private(path)
            self._connection = sqlite3.connect(
                path, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
            )
            self._keep_journal("WAL" if keeps_log else "DELETE")
        except (sqlite3.OperationalError, OSError) as error:
            raise InvalidInput(
                f"The database {str(path)!r} cannot be opened: {error}. Check that its folder exists and may be written."
            ) from None
        except sqlite3.DatabaseError as error:
            raise InvalidInput(f"{str(path)!r} is not a SQLite database: {error}.") from None
        self._connection.execute(f"PRAGMA synchronous={'FULL' if keeps_log else 'EXTRA'}")
        self._connection.execute("PRAGMA secure_delete=ON")

    def _keep_journal(self, mode: str) -> None:
        """Set the kind of journal; SQLite does not wait of its own while another program sets it."""
        until = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                self._connection.execute(f"PRAGMA journal_mode={mode}")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
            time.sleep(0.01)

    def listed(self, texts: Sequence[str]) -> Any:
        return json.dumps(list(texts))

    def _execute(self, statement: str, parameters: Sequence[Any]) -> Any:
        return self._connection.execute(statement, tuple(parameters))

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        if not rows:
            return
        names = ", ".join(map(quote_name, columns))
        marks = ", ".join("?" * len(columns))
        with self.refusals():
            self._connection.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", rows)

    def insert_new(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> set[str]:
        # A transaction here holds the only lock for writing, so nothing can come between the question and the answer.
        keys = self.listed([row[0] for row in rows])
        present = self.rows(
            f"SELECT {quote_name(columns[0])} FROM {table} WHERE {quote_name(columns[0])} IN ({self.each})", (keys,)
        )
        old = {key for (key,) in present}
        # Of two rows with one key the first stays: an error would cost everybody in the transaction their row.
        fresh: dict[Any, Row] = {}
        for row in rows:
            if row[0] not in old:
                fresh.setdefault(row[0], row)
        self.insert(table, columns, list(fresh.values()))
        return set(fresh)

    def rewrite(self, table: str, most: int) -> None:
        # In a page the newest row stands before all others, wherever its key belongs.
        rows = self.rows(f"SELECT * FROM {table} LIMIT {most + 1}")
        if 0 < len(rows) <= most:
            marks = ", ".join("?" * len(rows[0]))
            with self.refusals():
                self._connection.execute(f"DELETE FROM {table}")
                self._connection.executemany(f"INSERT INTO {table} VALUES ({marks})", sorted(rows))

    def forget_log(self) -> bool:
        with self._lock, self.refusals():
            # Nobody who sends a report waits for somebody who reads.
            self._connection.execute("PRAGMA busy_timeout=0")
            try:
                ((is_busy, _, _),) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                self._connection.execute(f"PRAGMA busy_timeout={int(WAIT_SECONDS * 1000)}")
        return not is_busy

    def change_mark(self) -> Hashable | None:
        """Others' commits are numbered by SQLite, this connection's own changes counted."""
        return int(self.rows("PRAGMA data_version")[0][0]), self._connection.total_changes

    def apart(self) -> SqliteDatabase:
        return SqliteDatabase(Path(self.url + CODES_SUFFIX), keeps_log=False)

    def tables(self) -> set[str]:
        return {name for (name,) in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def stream(self, statement: str) -> Iterator[list[Row]]:
        # A connection of its own reads from the write-ahead log's snapshot, beside the writer.
        connection = sqlite3.connect(self.url, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            yield from batches(connection.execute(statement))
        finally:
            connection.close()

    def reorder(self, table: str, key: str) -> None:
        """Nothing to do: the table itself is a tree over its random keys."""

    def tidy(self) -> None:
        with self._lock, self.refusals():
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        # Not while another thread is in the middle of something.
        with self._lock:
            self._connection.close()


def _made_private(path: Path) -> None:
    """Make a new file that only its owner reads; SQLite gives its log and its journal the same permissions.

    A file that exists is not touched: closing it would drop the locks that other connections of this process have on it. Another
    program that leaves the database would then take itself for the last one and delete the log under a running server.
    """
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
