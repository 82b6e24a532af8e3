"""One small way to speak to SQLite and to PostgreSQL.

Statements are written once, with ``?`` for parameters. A database object is one connection that threads may share; what
must be atomic stands in a `transaction`.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from tacit.errors import InvalidInput, MissingExtra, TacitError

Row = tuple[Any, ...]

WAIT_SECONDS = 10.0
STREAMED_ROWS = 2_000


class StoreUnavailable(TacitError):
    """The database cannot take or give anything now: full, locked or gone. Nothing was stored."""


class Database(ABC):
    """A connection; `each` and `listed` pass many texts as one parameter."""

    # Appended to CREATE TABLE. Without row ids, SQLite keeps rows in the order of their random keys, not of arrival.
    table_suffix = ""
    # A query that gives the texts of one list parameter.
    each: str
    url: str

    def __init__(self) -> None:
        self._lock = threading.RLock()

    @abstractmethod
    def listed(self, texts: Sequence[str]) -> Any:
        """The parameter for `each`."""

    @abstractmethod
    def _execute(self, statement: str, parameters: Sequence[Any]) -> Any: ...

    @abstractmethod
    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Insert many rows at once, inside a transaction."""

    @abstractmethod
    def tables(self) -> set[str]: ...

    @abstractmethod
    def stream(self, statement: str) -> Iterator[list[Row]]:
        """The rows of a query in batches, all as of one moment, without holding up anybody who writes."""

    @abstractmethod
    def reorder(self, table: str, key: str) -> None:
        """Rewrite a table in the order of its random keys, so that no trace of the order of arrival is left in it."""

    @abstractmethod
    def tidy(self) -> None:
        """Let go of old copies of rows in the database's own files."""

    @abstractmethod
    def close(self) -> None: ...

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        with self._lock, self.refusals():
            return list(self._execute(statement, parameters).fetchall())

    def run(self, statement: str, parameters: Sequence[Any] = ()) -> int:
        """The number of rows a statement changed."""
        with self._lock, self.refusals():
            return int(self._execute(statement, parameters).rowcount)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """All of what is run inside, or nothing."""
        with self._lock, self.refusals():
            self._execute(self._begin, ())
            try:
                yield
                self._execute("COMMIT", ())
            except BaseException:
                with contextlib.suppress(Exception):
                    self._execute("ROLLBACK", ())
                raise

    _begin = "BEGIN"
    _begin_snapshot = "BEGIN"

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything read inside is as of one moment; nothing may be written."""
        with self._lock, self.refusals():
            self._execute(self._begin_snapshot, ())
            try:
                yield
            finally:
                self._execute("ROLLBACK", ())

    def read(self, statement: str) -> Iterator[list[Row]]:
        """The rows of a query in batches, on this very connection."""
        with self._lock, self.refusals():
            yield from _batches(self._execute(statement, ()))

    @contextlib.contextmanager
    def refusals(self) -> Iterator[None]:
        """The driver's errors as `StoreUnavailable`."""
        try:
            yield
        except self._errors as error:
            raise StoreUnavailable(f"The database refused: {str(error).strip().splitlines()[0]}.") from error

    _errors: tuple[type[Exception], ...] = ()


class SqliteDatabase(Database):
    """A file. Every commit is on the disk before it is acknowledged (WAL, synchronous FULL)."""

    table_suffix = " WITHOUT ROWID"
    each = "SELECT value FROM json_each(?)"
    # The lock for writing is taken at once, so that a transaction cannot fail half-way for want of it.
    _begin = "BEGIN IMMEDIATE"
    _errors = (sqlite3.OperationalError, sqlite3.DatabaseError)

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.url = str(path)
        try:
            self._connection = sqlite3.connect(
                path, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
            )
            self._connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            raise InvalidInput(
                f"The database {str(path)!r} cannot be opened: {error}. Check that its folder exists and may be written."
            ) from None
        except sqlite3.DatabaseError as error:
            raise InvalidInput(f"{str(path)!r} is not a SQLite database: {error}.") from None
        self._connection.execute("PRAGMA synchronous=FULL")
        self._connection.execute("PRAGMA secure_delete=ON")

    def listed(self, texts: Sequence[str]) -> Any:
        return json.dumps(list(texts))

    def _execute(self, statement: str, parameters: Sequence[Any]) -> Any:
        return self._connection.execute(statement, tuple(parameters))

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        if not rows:
            return
        names = ", ".join(map(quoted, columns))
        marks = ", ".join("?" * len(columns))
        with self.refusals():
            self._connection.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", rows)

    def tables(self) -> set[str]:
        return {name for (name,) in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def stream(self, statement: str) -> Iterator[list[Row]]:
        # A connection of its own reads from the write-ahead log's snapshot, beside the writer.
        connection = sqlite3.connect(self.url, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            yield from _batches(connection.execute(statement))
        finally:
            connection.close()

    def reorder(self, table: str, key: str) -> None:
        """Nothing to do: the table itself is a tree over its random keys."""

    def tidy(self) -> None:
        with self._lock, self.refusals():
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        self._connection.close()


class PostgresDatabase(Database):
    """A PostgreSQL server, reached by URL; a lost connection is made anew by the next statement."""

    each = "SELECT unnest(CAST(? AS text[]))"
    _begin_snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

    def __init__(self, url: str) -> None:
        super().__init__()
        try:
            import psycopg
        except ImportError:
            raise MissingExtra("A survey in PostgreSQL", "postgres") from None
        self.url = url
        self._psycopg = psycopg
        self._errors = (psycopg.Error,)
        self._connection = self._connect()

    def _connect(self) -> Any:
        try:
            # Durable also where the server's default is not.
            options = "-c synchronous_commit=on -c lock_timeout=10s -c default_transaction_isolation=read\\ committed"
            return self._psycopg.connect(self.url, autocommit=True, connect_timeout=10, options=options)
        except self._psycopg.Error as error:
            reason = str(error).strip().splitlines()[0]
            raise StoreUnavailable(
                f"The database at {without_password(self.url)} cannot be reached: {reason}."
            ) from None

    def listed(self, texts: Sequence[str]) -> Any:
        return list(texts)

    def _execute(self, statement: str, parameters: Sequence[Any]) -> Any:
        if self._connection.closed:
            self._connection = self._connect()
        if not parameters:
            return self._connection.execute(statement)
        return self._connection.execute(statement.replace("%", "%%").replace("?", "%s"), tuple(parameters))

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        if not rows:
            return
        names = ", ".join(map(quoted, columns)).replace("%", "%%")
        casts = ", ".join(f"CAST(%s AS {_array_type(values)})" for values in zip(*rows, strict=True))
        lists = [list(values) for values in zip(*rows, strict=True)]
        with self.refusals():
            self._connection.execute(f"INSERT INTO {table} ({names}) SELECT * FROM unnest({casts})", lists)

    def tables(self) -> set[str]:
        found = self.rows("SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()")
        return {name for (name,) in found}

    def stream(self, statement: str) -> Iterator[list[Row]]:
        with self.refusals(), self._connect() as connection:
            connection.autocommit = False
            with connection.cursor(name="stream") as cursor:
                cursor.execute(statement)
                yield from _batches(cursor)

    def reorder(self, table: str, key: str) -> None:
        # Copying gives every row the same transaction number and the order of the random keys.
        with self.transaction():
            self._execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE", ())
            self._execute(f"CREATE TEMPORARY TABLE copied ON COMMIT DROP AS SELECT * FROM {table}", ())
            self._execute(f"TRUNCATE {table}", ())
            self._execute(f"INSERT INTO {table} SELECT * FROM copied ORDER BY {key}", ())

    def tidy(self) -> None:
        self.run("VACUUM")

    def close(self) -> None:
        self._connection.close()


def connect(url: str | Path) -> Database:
    """The database at a path or a ``postgresql://`` URL."""
    text = str(url)
    if text.startswith(("postgresql://", "postgres://")):
        return PostgresDatabase(text)
    if "://" in text:
        raise InvalidInput(f"{text!r} is no database Tacit knows. Give a file's path, or postgresql://HOST/NAME.")
    return SqliteDatabase(Path(text))


def quoted(name: str) -> str:
    """A column's name as an identifier, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def without_password(url: str) -> str:
    parts = urlsplit(url)
    if parts.password is None:
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.replace(f":{parts.password}@", ":***@")))


def _array_type(values: Iterable[Any]) -> str:
    kinds = {type(value) for value in values if value is not None}
    return "bigint[]" if kinds == {int} else "double precision[]" if kinds == {float} else "text[]"


def _batches(cursor: Any) -> Iterator[list[Row]]:
    while batch := cursor.fetchmany(STREAMED_ROWS):
        yield batch
