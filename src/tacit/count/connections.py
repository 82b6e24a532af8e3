"""Opening tables for counting, by the name they go by: a file, or the address of a database table."""

from __future__ import annotations

import os
import weakref
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tacit.count.backend import asking
from tacit.count.spark import SparkAddress
from tacit.errors import InvalidInput, MissingExtra
from tacit.table.columns import without_row_labels
from tacit.table.files import checked_file
from tacit.table.heads import file_head

DUCKDB = "duckdb:///"
POSTGRES = ("postgresql://", "postgres://")
SPARK = "spark:"
SQLITE = "sqlite:///"


def is_address(where: str | Path) -> bool:
    """Whether a name is the address of a database table and not a file."""
    return str(where).startswith((*POSTGRES, DUCKDB, SPARK, SQLITE))


def open_table(where: str | Path, *, writable: bool = False) -> Any:
    """The ibis table behind a file's name or an address.

    ``reports.csv`` and ``reports.parquet`` are read by DuckDB, which needs no more memory for larger files.
    ``postgresql://user@host/database?table=reports`` (or ``table=schema.reports``),
    ``sqlite:///folder/file.db?table=reports`` and ``duckdb:///folder/file.db?table=reports`` name a table of a
    database; ``spark:reports``, ``spark:reports.parquet`` and ``spark://host:port/db.reports`` one of Spark (see
    `tacit.count.spark`). DuckDB locks a file that somebody may write to, so it is opened for reading unless `writable`.
    """
    name = str(where)
    with asking(f"Opening {safe_address(name)}"):
        table = _as_stored(name, writable=writable)
        columns = without_row_labels(table.columns)
        return table if len(columns) == len(table.columns) else table.select(columns)


def _as_stored(name: str, *, writable: bool) -> Any:
    """The table with all its columns, the row labels that pandas may have written among them."""
    if name.startswith(POSTGRES):
        return _postgres_table(name)
    if name.startswith(SPARK):
        return _spark_table(name)
    if name.startswith(SQLITE):
        return _sqlite_table(name)
    if name.startswith(DUCKDB):
        return _duckdb_table(name, writable=writable)
    if urlsplit(name).password:
        raise InvalidInput(
            f"{safe_address(name)} is no address that reports can be read from. Those begin with postgresql://, sqlite:///, "
            "duckdb:/// or spark:; a file has just a name."
        )
    return _file_table(checked_file(name))


def safe_address(where: str | Path) -> str:
    """An address as it may be shown: without the password."""
    parts = urlsplit(str(where))
    if not parts.password:
        return repr(str(where))
    return repr(str(where).replace(f":{parts.password}@", ":***@"))


def _file_table(file: Path) -> Any:
    connection = _duckdb()
    head = file_head(file)
    written = head.csv
    if written is None:
        return connection.read_parquet(file)
    if not written.is_utf8:
        raise InvalidInput(
            f"{str(file)!r} is written as {written.encoding}; a file that is counted where it lies must be UTF-8. Save "
            "it as UTF-8, or as Parquet."
        )
    # Everything stays text and nothing is guessed from the first rows, so that nothing is reinterpreted.
    types = dict.fromkeys(head.names, "VARCHAR")
    options = {"auto_detect": False, "header": True, "delim": written.separator, "quote": '"', "escape": '"'}
    return connection.read_csv(file, columns=types, **options)


def _postgres_table(address: str) -> Any:
    import ibis

    bare, table = split_address(address)
    try:
        connection = ibis.connect(bare)
    except ImportError:
        raise MissingExtra("Reading PostgreSQL tables", "postgres") from None
    _close_at_the_end(connection)
    return _table_named(connection, *reversed(table.rsplit(".", 1)))


def _table_named(connection: Any, name: str, schema: str | None = None) -> Any:
    from ibis.common.exceptions import TableNotFound

    try:
        return connection.table(name, database=schema)
    except TableNotFound:
        raise InvalidInput(f"The database has no table {name!r}. Compare the name after ?table=.") from None


def _close_at_the_end(connection: Any) -> None:
    """Close the driver's connection once nobody holds the ibis one; drivers complain where nobody does."""
    weakref.finalize(connection, connection.con.close)


def _sqlite_table(address: str) -> Any:
    import ibis

    bare, table = split_address(address)
    connection = ibis.sqlite.connect(checked_file(bare.removeprefix(SQLITE)))
    _close_at_the_end(connection)
    return _table_named(connection, table)


def _duckdb(file: Path | None = None, *, read_only: bool = False) -> Any:
    import ibis

    connection = ibis.duckdb.connect(file or ":memory:", read_only=read_only)
    # In an interactive session DuckDB would draw a progress bar on standard output, among what is printed there.
    connection.raw_sql("SET enable_progress_bar = false")
    return connection


def _duckdb_table(address: str, *, writable: bool) -> Any:
    bare, table = split_address(address)
    file = checked_file(bare.removeprefix(DUCKDB))
    connection = _duckdb(file, read_only=not (writable and os.access(file, os.W_OK)))
    _close_at_the_end(connection)
    return _table_named(connection, *reversed(table.rsplit(".", 1)))


def split_address(address: str) -> tuple[str, str]:
    """The database's own address, and the table the query part names."""
    bare, _, query = address.partition("?")
    options = dict(parse_qsl(query))
    table = options.pop("table", "")
    if not table:
        raise InvalidInput(f"{safe_address(address)} does not name a table. Add ?table=NAME at the end.")
    return f"{bare}?{urlencode(options)}" if options else bare, table


def _spark_table(address: str) -> Any:
    import ibis
    from ibis.common.exceptions import TableNotFound

    place = SparkAddress.parse(address)
    session = place.session()
    connection = ibis.pyspark.connect(session)
    if place.is_table:
        *database, name = place.name.rsplit(".", 1)
        try:
            return connection.table(name, database=database[0] if database else None)
        except TableNotFound:
            raise InvalidInput(
                f"Spark has no table {place.name!r}. Compare the name, or give the path of files: spark:FOLDER/ or "
                "spark:FOLDER/*.parquet."
            ) from None
    if place.kind == "csv":
        return connection.read_csv(place.name, header=True, inferSchema=False, escape='"')
    return connection.read_parquet(place.name)
