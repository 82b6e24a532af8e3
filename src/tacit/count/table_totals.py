"""Totals inside a database: every value becomes a code, every code a weight, and the database sums their products."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacit.count.backend import answer, single_row
from tacit.count.columns import as_number, value_codes
from tacit.count.protocol import Product, Totals
from tacit.schema import Attribute

if TYPE_CHECKING:
    from tacit.count.table import TableEngine

# Each product takes two sums.
PRODUCTS_A_QUERY = 128

Factor = tuple[tuple[str, ...], int]  # columns, and the identity of the weights over them
Array = NDArray[np.float64]


def weighted_totals(engine: TableEngine, products: Sequence[Product]) -> Totals:
    """Sums and sums of squares of products, some hundred in one scan."""
    by_query = [
        _query_totals(engine, products[start : start + PRODUCTS_A_QUERY])
        for start in range(0, len(products), PRODUCTS_A_QUERY)
    ]
    return Totals(
        np.concatenate([totals.sums for totals in by_query]), np.concatenate([totals.squares for totals in by_query])
    )


def _query_totals(engine: TableEngine, products: Sequence[Product]) -> Totals:
    weights: dict[Factor, Array] = {(columns, id(array)): array for product in products for columns, array in product}
    names = {factor: f"w{position}" for position, factor in enumerate(weights)}
    table = _join_weights(engine, weights, names)
    values = {}
    for position, product in enumerate(products):
        factors = [table[names[columns, id(array)]] for columns, array in product]
        values[f"v{position}"] = math.prod(factors[1:], start=factors[0]) if factors else table["unit"].cast("float64")
    table = table.select(**values)
    sums = {f"s{i}": table[f"v{i}"].sum() for i in range(len(products))}
    squares = {f"q{i}": (table[f"v{i}"] * table[f"v{i}"]).sum() for i in range(len(products))}
    row = single_row(table.agg(**sums, **squares))
    return Totals(
        np.array([row[name] or 0.0 for name in sums], dtype=np.float64),
        np.array([row[name] or 0.0 for name in squares], dtype=np.float64),
    )


def _join_weights(engine: TableEngine, weights: Mapping[Factor, Array], names: Mapping[Factor, str]) -> Any:
    """The table with one column per weight table: two rows of joins, values to codes and codes to weights."""
    import ibis

    singles = sorted({columns for columns, _ in weights if _show_one_answer(engine, columns)})
    codes = {name: f"c{i}" for i, name in enumerate(dict.fromkeys(name for columns in singles for name in columns))}
    slot_sums = {
        names[factor]: _slot_sum(engine, engine.schema[factor[0][0]], array)
        for factor, array in weights.items()
        if factor[0] not in singles
    }
    raw = {f"raw_{code}": engine.table[name] for name, code in codes.items()}
    table = engine.table.select(unit=ibis.literal(1, type="int64"), **raw, **slot_sums)
    table = _with_cells(engine, table, singles, codes)
    # Joins in one chain: some databases take only few levels of nested queries.
    joined = table
    for i, columns in enumerate(singles):
        mine = {names[factor]: array for factor, array in weights.items() if factor[0] == columns}
        key = _cell_weights(f"key{i}", mine)
        joined = joined.inner_join(key, table[f"cell{i}"] == key[f"key{i}"])
    return joined


def _show_one_answer(engine: TableEngine, columns: Sequence[str]) -> bool:
    return all(engine.schema[name].shows == "one" for name in columns)


def _with_cells(engine: TableEngine, table: Any, column_sets: Sequence[Sequence[str]], codes: Mapping[str, str]) -> Any:
    """The table with the joint code of each set of columns."""
    joined = table
    for name, code in codes.items():
        key = _value_codes(table, engine.schema[name], code)
        joined = joined.left_join(key, table[f"raw_{code}"] == key[f"value_{code}"])
    cells = {}
    for i, columns in enumerate(column_sets):
        cell: Any = 0
        for name in columns:
            attribute = engine.schema[name]
            # Only a missing value finds no partner; it stands for the answer that the schema names for it.
            missing = 0 if attribute.missing is None else attribute.encode(attribute.missing)
            cell = cell * attribute.size + joined[codes[name]].fill_null(missing)
        cells[f"cell{i}"] = cell
    return joined.mutate(**cells)


def _value_codes(table: Any, attribute: Attribute, code: str) -> Any:
    """The values of a column that occur, with their codes."""
    import ibis

    values = table.select(value=table[f"raw_{code}"], one=table["unit"])
    counted = answer(values.group_by("value").agg(n=values["one"].sum()))
    column = counted.column("value")
    codes = value_codes(column, attribute, counted.column("n").cast(pa.int64()))
    key = pa.table({f"value_{code}": column, code: pa.array(codes)})
    return ibis.memtable(key.filter(pc.is_valid(column)))


def _cell_weights(key: str, weights: Mapping[str, Array]) -> Any:
    import ibis

    flat = {name: np.asarray(array, dtype=np.float64).reshape(-1) for name, array in weights.items()}
    cells = len(next(iter(flat.values())))
    return ibis.memtable(pa.table({key: np.arange(cells), **flat}))


def _slot_sum(engine: TableEngine, attribute: Attribute, weights: Array) -> Any:
    """The sum of the weights of a row's slots, for a column that shows bits or a set.

    Each term starts from a column of doubles: databases read a bare literal as an exact decimal number, and products of
    those run out of digits.
    """
    if attribute.shows == "bits":
        bits = engine.shown_bits(attribute.name)
        terms = [bit.cast("float64") * float(weight) for bit, weight in zip(bits, weights[:-1], strict=True)]
    else:
        column = engine.shown_set(attribute.name)
        # Most members of a set weigh the same, so only those that differ are looked for.
        values, counts = np.unique(weights[:-1], return_counts=True)
        usual = float(values[np.argmax(counts)])
        terms = [column.length().cast("float64") * usual]
        for text, weight in zip(attribute.answers, weights[:-1] - usual, strict=True):
            if weight:
                terms.append(as_number(column.contains(text)).cast("float64") * float(weight))
    return sum(terms[1:], start=terms[0]) + float(weights[-1])
