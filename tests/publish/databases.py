"""The same rows as a table of DuckDB, SQLite and PostgreSQL."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

ENGINES = ["duckdb", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]
_SQL_TYPES = {"string": "TEXT", "int64": "BIGINT", "double": "DOUBLE PRECISION", "bool": "BOOLEAN"}

# Puts rows into a table called `people` of a fresh database of an engine; returns the table's address.
Filled = Callable[[str, pa.Table], str]


def duckdb_people(file: Path, rows: pa.Table) -> str:
    import duckdb

    with duckdb.connect(str(file)) as database:
        database.register("rows_in_memory", rows)
        database.execute("CREATE TABLE people AS SELECT * FROM rows_in_memory")
    return f"duckdb:///{file}?table=people"


def sqlite_people(file: Path, rows: pa.Table) -> str:
    with contextlib.closing(sqlite3.connect(file)) as database, database:
        database.execute(f"CREATE TABLE people ({_columns(rows)})")
        database.executemany(f"INSERT INTO people VALUES ({', '.join('?' * rows.num_columns)})", _tuples(rows))
    return f"sqlite:///{file}?table=people"


def postgres_people(server: str, rows: pa.Table) -> str:
    import psycopg

    with psycopg.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA public CASCADE")
        cursor.execute("CREATE SCHEMA public")
        cursor.execute(f"CREATE TABLE people ({_columns(rows)})")
        with cursor.copy("COPY people FROM STDIN") as copy:
            for row in _tuples(rows):
                copy.write_row(row)
    return f"{server}?table=people"


def _columns(rows: pa.Table) -> str:
    return ", ".join(f'"{field.name}" {_SQL_TYPES[str(field.type)]}' for field in rows.schema)


def _tuples(rows: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in rows.columns), strict=True))
