"""A store on a PostgreSQL server."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tacit.errors import MissingExtra
from tacit.survey.store.database import Database, Row, StoreUnavailable, batches, quote_name, without_password

# The number of the lock under which tables are made; any number that others hardly use.
STORE_LOCK = 0x7AC17


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
        names = ", ".join(map(quote_name, columns)).replace("%", "%%")
        casts = ", ".join(f"CAST(%s AS {_array_type(values)})" for values in zip(*rows, strict=True))
        lists = [list(values) for values in zip(*rows, strict=True)]
        with self.refusals():
            self._connection.execute(f"INSERT INTO {table} ({names}) SELECT * FROM unnest({casts})", lists)

    def insert_new(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> set[str]:
        if not rows:
            return set()
        names = ", ".join(map(quote_name, columns)).replace("%", "%%")
        casts = ", ".join(f"CAST(%s AS {_array_type(values)})" for values in zip(*rows, strict=True))
        statement = (
            f"INSERT INTO {table} ({names}) SELECT * FROM unnest({casts}) ON CONFLICT DO NOTHING "
            f"RETURNING {quote_name(columns[0])}"
        )
        with self.refusals():
            stored = self._connection.execute(statement, [list(values) for values in zip(*rows, strict=True)])
            return {key for (key,) in stored.fetchall()}

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        with super().alone():
            self._execute("SELECT pg_advisory_xact_lock(?)", (STORE_LOCK,))
            yield

    def tables(self) -> set[str]:
        rows = self.rows("SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()")
        return {name for (name,) in rows}

    def stream(self, statement: str) -> Iterator[list[Row]]:
        with self.refusals(), self._connect() as connection:
            connection.autocommit = False
            with connection.cursor(name="stream") as cursor:
                cursor.execute(statement)
                yield from batches(cursor)

    def read(self, statement: str) -> Iterator[list[Row]]:
        # Only a cursor with a name leaves the rows on the server until they are wanted.
        with self._lock, self.refusals(), self._connection.cursor(name="read") as cursor:
            cursor.execute(statement)
            yield from batches(cursor)

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
        # Not while another thread is in the middle of something.
        with self._lock:
            self._connection.close()


def _array_type(values: Iterable[Any]) -> str:
    kinds = {type(value) for value in values if value is not None}
    return "bigint[]" if kinds == {int} else "double precision[]" if kinds == {float} else "text[]"
