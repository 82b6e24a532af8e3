"""Every engine, each over the same coded table, and a reference that counts row by row."""

from __future__ import annotations

import itertools
import sqlite3
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tacit.count import MemoryEngine
from tacit.count.abilities import distinct_rows
from tacit.count.connections import open_table
from tacit.count.counted import CountedEngine
from tacit.count.protocol import CountEngine, Product
from tacit.count.sources import add_engines
from tacit.count.table import TableEngine
from tacit.schema import Attribute, Schema
from tacit.table import Table, decode
from tacit.table.files import table_writer
from tacit.table.hashed import Hashing

NEVER = 1 << 62


def memory_numpy(table: Table, folder: Path) -> CountEngine:
    return MemoryEngine(table, compiled_from=NEVER)


def memory_compiled(table: Table, folder: Path) -> CountEngine:
    return MemoryEngine(table, compiled_from=0)


def written(table: Table, folder: Path, suffix: str) -> Path:
    path = folder / f"{uuid.uuid4().hex}.{suffix}"
    with table_writer(path, {}) as writer:
        writer.write(decode(table, text_only=suffix == "csv"))
    return path


def duckdb_parquet(table: Table, folder: Path) -> CountEngine:
    return TableEngine(open_table(written(table, folder, "parquet")), table.schema)


def duckdb_csv(table: Table, folder: Path) -> CountEngine:
    return TableEngine(open_table(written(table, folder, "csv")), table.schema)


def whole_tally(table: Table, folder: Path) -> CountEngine:
    return CountedEngine(*distinct_rows(MemoryEngine(table), table.schema.names))


def shards_in_memory_and_duckdb(table: Table, folder: Path) -> CountEngine:
    cut = table.n_rows // 3
    return add_engines([MemoryEngine(table.rows(slice(0, cut))), duckdb_parquet(table.rows(slice(cut, None)), folder)])


def spark_parquet(table: Table, folder: Path) -> CountEngine:
    return TableEngine(open_table(f"spark:{written(table, folder, 'parquet')}"), table.schema)


def sqlite_table(table: Table, folder: Path) -> CountEngine:
    path = folder / f"{uuid.uuid4().hex}.db"
    rows = decode(table, text_only=True)
    names = ", ".join(f'"{name}" {_sql_type(rows, name, list_type="TEXT")}' for name in rows.column_names)
    with sqlite3.connect(path) as database:
        database.execute(f"CREATE TABLE reports ({names})")
        marks = ", ".join("?" * rows.num_columns)
        database.executemany(f"INSERT INTO reports VALUES ({marks})", [tuple(row.values()) for row in rows.to_pylist()])
    database.close()
    return TableEngine(open_table(f"sqlite:///{path}?table=reports"), table.schema)


def postgres_table(table: Table, server: str) -> CountEngine:
    import psycopg

    rows = decode(table)
    name = f"reports_{uuid.uuid4().hex}"
    columns = ", ".join(f'"{column}" {_sql_type(rows, column, list_type="TEXT[]")}' for column in rows.column_names)
    with psycopg.connect(server) as connection:
        connection.execute(f"CREATE TABLE {name} ({columns})")
        marks = ", ".join(["%s"] * rows.num_columns)
        with connection.cursor() as cursor:
            cursor.executemany(
                f"INSERT INTO {name} VALUES ({marks})", [tuple(row.values()) for row in rows.to_pylist()]
            )
    return TableEngine(open_table(f"{server}?table={name}"), table.schema)


def _sql_type(rows: Any, column: str, *, list_type: str) -> str:
    kind = str(rows.schema.field(column).type)
    if kind == "bool":
        return "BOOLEAN"
    if "int" in kind and "dictionary" not in kind:
        return "BIGINT"
    return list_type if kind.startswith("list") else "TEXT"


def random_table(schema: Schema, rows: int, seed: int, *, members: int = 2) -> Table:
    """Skewed answers, sets of one size, bits of which about a third are set."""
    generator = np.random.default_rng(seed)
    columns = {}
    for attribute in schema:
        if attribute.shows == "bits":
            columns[attribute.name] = generator.random((rows, attribute.size)) < 0.3
        elif attribute.shows == "hashed":
            word = 1 << Hashing.of(attribute).width
            digits = [generator.integers(0, bound, rows) for bound in (attribute.buckets, word, word)]
            columns[attribute.name] = np.stack(digits, axis=1).astype(np.uint32)
        elif attribute.shows == "set":
            order = generator.random((rows, attribute.size)).argsort(axis=1)
            columns[attribute.name] = np.sort(order[:, :members], axis=1).astype(np.uint8)
        else:
            skewed = np.minimum(generator.geometric(0.4, rows) - 1, attribute.size - 1)
            columns[attribute.name] = skewed.astype(np.uint8)
    return Table(schema, columns)


def row_slots(table: Table, name: str) -> list[list[int]]:
    """For each row the slots of one column, spelled out."""
    attribute, codes = table.schema[name], table[name]
    if attribute.shows == "one":
        return [[int(code)] for code in codes]
    if attribute.shows == "set":
        return [[*map(int, row), attribute.size] for row in codes]
    if attribute.shows == "hashed":
        return [[*_bucket_members(attribute, *map(int, row)), attribute.size] for row in codes]
    return [[*(i for i, bit in enumerate(row) if bit), attribute.size] for row in codes]


def _bucket_members(attribute: Attribute, bucket: int, factor: int, shift: int) -> list[int]:
    width, bits = Hashing.of(attribute).width, attribute.buckets.bit_length() - 1
    return [i for i in range(attribute.size) if (factor * i + shift) % 2**width >> (width - bits) == bucket]


def counted_by_hand(table: Table, columns: Sequence[str]) -> np.ndarray:
    counts = np.zeros([table.schema[name].tally_size for name in columns], dtype=np.int64)
    slots = [row_slots(table, name) for name in columns]
    for row in range(table.n_rows):
        for cell in itertools.product(*(column[row] for column in slots)):
            counts[cell] += 1
    return counts


def totals_by_hand(table: Table, products: Sequence[Product]) -> tuple[list[float], list[float]]:
    sums, squares = [], []
    for product in products:
        values = np.ones(table.n_rows)
        for columns, weights in product:
            slots = [row_slots(table, name) for name in columns]
            for row in range(table.n_rows):
                values[row] *= sum(weights[cell] for cell in itertools.product(*(column[row] for column in slots)))
        sums.append(float(values.sum()))
        squares.append(float((values**2).sum()))
    return sums, squares


def attribute(name: str, size: int, shows: Any = "one", buckets: int = 0) -> Attribute:
    return Attribute(name, tuple(f"{name}{i}" for i in range(size)), shows=shows, buckets=buckets)
