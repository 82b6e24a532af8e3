"""Asking a database through ibis: its chatter kept quiet, its complaints in one sentence."""

from __future__ import annotations

import contextlib
import re
import secrets
import sqlite3
import sys
import warnings
from collections.abc import Generator, Iterator
from typing import Any

import pyarrow as pa

from tacit.errors import InvalidInput

# Rows that come out of a database at a time.
STREAMED_ROWS = 1 << 16
# What the libraries say about one another, which nobody who counts can act on.
CHATTER = (
    r"fetch_arrow_table\(\) is deprecated",
    r"fetch_record_batch\(\) is deprecated",
    r"PySpark does not yet fully support pandas",
    r"The copy keyword is deprecated",
    r"The 'future\.infer_string' option is deprecated",
)
# Base classes of what drivers raise; a driver that was never imported cannot have raised anything.
DRIVER_ERRORS = (
    ("duckdb", "Error"),
    ("psycopg", "Error"),
    ("pyspark.errors", "PySparkException"),
    ("ibis.common.exceptions", "IbisError"),
)
# What Tacit itself refused on a machine of a cluster comes back inside the cluster's complaint.
OWN_REFUSAL = re.compile(r"tacit\.errors\.\w+: (.+)")
RAISED_THERE = re.compile(r"(?m)^(\w+(?:Error|Exception): .+)$")


@contextlib.contextmanager
def asking(what: str) -> Iterator[None]:
    """Run queries; what the database refuses becomes one sentence."""
    with warnings.catch_warnings():
        for message in CHATTER:
            warnings.filterwarnings("ignore", message)
        try:
            yield
        except Exception as error:
            if not isinstance(error, _driver_errors()):
                raise
            refusal = OWN_REFUSAL.search(str(error))
            if refusal is not None:
                raise InvalidInput(refusal[1].strip()) from error
            raise InvalidInput(f"{what} failed{_complaint(error)}") from error


def _complaint(error: BaseException) -> str:
    """What a driver said, and what to look at: its first line, or what Python raised on a machine of a cluster."""
    text = str(error).strip() or type(error).__name__
    raised = RAISED_THERE.findall(text)
    if "Python worker" in text and raised:
        last = raised[-1].rstrip(".")
        return f" on a machine of the cluster: {last}. Are Python, its packages and Tacit the same there as here?"
    first = text.splitlines()[0].rstrip(".")
    return f": {first}. Is the table there, complete, and of the columns the scheme names?"


def _driver_errors() -> tuple[type[BaseException], ...]:
    loaded = [
        getattr(sys.modules[module], name) for module, name in DRIVER_ERRORS if hasattr(sys.modules.get(module), name)
    ]
    return (sqlite3.Error, *loaded)


def answer(expression: Any) -> pa.Table:
    """The result of a query as an Arrow table."""
    with asking("The query"):
        return expression.to_pyarrow()


def single_row(expression: Any) -> dict[str, Any]:
    """The one row of an aggregation."""
    return dict(answer(expression).to_pylist()[0])


def stream_rows(expression: Any) -> Generator[pa.Table]:
    """The rows of a query in parts that fit memory."""
    connection = expression.get_backend()
    with asking("The query"):
        for batch in PARTS.get(connection.name, _batches)(connection, expression):
            yield pa.Table.from_batches([batch])


def _batches(connection: Any, expression: Any) -> Iterator[pa.RecordBatch]:
    yield from connection.to_pyarrow_batches(expression, chunk_size=STREAMED_ROWS)


def _duckdb_batches(connection: Any, expression: Any) -> Iterator[pa.RecordBatch]:
    """The reader under its name of DuckDB 2, which ibis does not know, or under the earlier one."""
    relation = connection.con.sql(connection.compile(expression))
    reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
    yield from reader(STREAMED_ROWS)


def _sqlite_batches(connection: Any, expression: Any) -> Iterator[pa.RecordBatch]:
    """Fetched some at a time; ibis would hold the whole result before it hands out a part."""
    kind = expression.schema().to_pyarrow()
    with contextlib.closing(connection.raw_sql(connection.compile(expression))) as cursor:
        while rows := cursor.fetchmany(STREAMED_ROWS):
            columns = [
                pa.array(values, field.type) for values, field in zip(zip(*rows, strict=True), kind, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(columns, kind.names)


def _spark_batches(connection: Any, expression: Any) -> Iterator[pa.RecordBatch]:
    """One partition after the other; ibis would hold the whole result before it hands out a part."""
    from tacit.count.spark import frame_batches, frame_of

    kind = expression.schema().to_pyarrow()
    empty = True
    for batch in frame_batches(frame_of(expression)):
        empty = False
        yield batch
    if empty:
        yield from kind.empty_table().to_batches(max_chunksize=1)


PARTS = {"duckdb": _duckdb_batches, "sqlite": _sqlite_batches, "pyspark": _spark_batches}


@contextlib.contextmanager
def lent(connection: Any, table: pa.Table) -> Iterator[Any]:
    """A table that a database holds for as long as the context lasts, seen by this connection only."""
    import ibis

    name = f"tacit_{secrets.token_hex(8)}"
    with asking("Lending the database a temporary table"):
        if connection.name == "pyspark":
            from tacit.count.spark import lent_view

            held = lent_view(connection, name, table)
        else:
            held = connection.create_table(name, ibis.memtable(table), temp=True)
    try:
        yield held
    finally:
        drop_table(connection, name)


def has_table(connection: Any, name: str) -> bool:
    from ibis.common.exceptions import TableNotFound

    with asking(f"Looking for the table {name!r}"):
        try:
            connection.table(name)
        except TableNotFound:
            return False
        return True


def drop_table(connection: Any, name: str) -> None:
    """Drop a table, or a view of Spark, if there is one of this name."""
    if connection.name == "pyspark":
        connection.raw_sql(f"DROP VIEW IF EXISTS `{name}`")
        return
    command(connection, f'DROP TABLE IF EXISTS "{name}"')


def command(connection: Any, sql: str) -> None:
    """Have a database do what ibis has no expression for."""
    with asking("The database's part"):
        if connection.name == "duckdb":
            connection.raw_sql(sql)
            return
        with connection.begin() as cursor:
            cursor.execute(sql)
