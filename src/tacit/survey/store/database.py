"""One small way to speak to SQLite and to PostgreSQL.

Statements are written once, with ``?`` for parameters. A database object is one connection that threads may share; what
must be atomic stands in a `transaction`.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from tacit.errors import TacitError

Row = tuple[Any, ...]

WAIT_SECONDS = 10.0
# Few enough that a batch of an export keeps the interpreter for a millisecond or two: between two batches it is free for
# the people who answer meanwhile.
STREAMED_ROWS = 1_000


class StoreUnavailable(TacitError):
    """The database cannot take or give anything now: full, locked or gone. Nothing was stored.

    The message is for whoever runs the server: it may name the database's address, file or account.
    """


def reason_for_clients(error: Exception) -> str:
    """Why a request is refused, as far as strangers may know; what only the server's owner may know goes to its log."""
    if not isinstance(error, StoreUnavailable):
        return str(error)
    logging.getLogger("uvicorn.error").error("%s", error)
    return "The server's database takes nothing at present. Please try again soon."


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
    def insert_new(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> set[str]:
        """Insert those rows whose key, the first column, is not there yet, inside a transaction; gives their keys."""

    def rewrite(self, table: str, most: int) -> None:
        """Write a table of at most so many rows anew in the order of its keys, inside a transaction, where the order shows."""
        return

    def forget_log(self) -> bool:
        """Empty a log of the database's own that shows what was written together; false while somebody reads from it."""
        return True

    def change_mark(self) -> Hashable | None:
        """Something that differs after every change, by whomever; None where the database has no such mark."""
        return None

    def apart(self) -> Database:
        """Where spent codes are kept: as far from the reports as this kind of database allows."""
        return self

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

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """A transaction that no other program is in at the same time: what is read in it is what its changes begin with."""
        with self.transaction():
            yield

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
            yield from batches(self._execute(statement, ()))

    @contextlib.contextmanager
    def refusals(self) -> Iterator[None]:
        """The driver's errors as `StoreUnavailable`."""
        try:
            yield
        except self._errors as error:
            raise StoreUnavailable(f"The database refused: {str(error).strip().splitlines()[0]}.") from error

    _errors: tuple[type[Exception], ...] = ()


def quote_name(name: str) -> str:
    """A column's name as an identifier, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def without_password(url: str) -> str:
    parts = urlsplit(url)
    if parts.password is None:
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.replace(f":{parts.password}@", ":***@")))


def batches(cursor: Any) -> Iterator[list[Row]]:
    while batch := cursor.fetchmany(STREAMED_ROWS):
        yield batch
