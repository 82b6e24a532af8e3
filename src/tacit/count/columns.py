"""How answers, bits and sets look in the columns of a database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tacit.count.backend import single_row
from tacit.errors import InvalidInput, UnknownAnswer
from tacit.schema import Attribute, Schema
from tacit.table.coded import Table
from tacit.table.columns import file_columns, missing_values
from tacit.table.encode import encode

BITS = ("0", "1", "false", "true")


def coded_table(part: pa.Table, coded: Sequence[Attribute], plain: Sequence[Attribute]) -> Table:
    """Coded rows: `plain` attributes as files show them, and the codes ``tacit_code_0, ...`` that a database computed."""
    columns = dict(encode(part, Schema(tuple(plain)), drop_others=True).columns) if plain else {}
    for place, attribute in enumerate(coded):
        codes = part.column(f"tacit_code_{place}")
        if codes.null_count:
            raise InvalidInput(
                f"The column {attribute.name!r} holds a value that is no answer of the scheme "
                f"({', '.join(attribute.answers[:12])}). Correct the table, or give the scheme it was disguised with."
            )
        columns[attribute.name] = codes.to_numpy().astype(np.uint8)
    return Table(Schema((*coded, *plain)), columns)


def decode_keys(groups: pa.Table, keys: Sequence[Attribute]) -> dict[str, NDArray[np.int64]]:
    """Codes of the key columns ``k0, k1, ...`` of a grouped result; unknown answers and nulls are refused."""
    codes = {}
    for position, attribute in enumerate(keys):
        codes[attribute.name] = value_codes(groups.column(f"k{position}"), attribute, groups.column("n0"))
    return codes


def value_codes(column: pa.ChunkedArray, attribute: Attribute, counts: pa.ChunkedArray) -> NDArray[np.int64]:
    """Codes of distinct values that occur so often."""
    absent = missing_values(column)
    if absent.any() and attribute.missing is None:
        raise InvalidInput(
            f"{attribute.name!r} has {int(counts.to_numpy()[absent].sum()):,} missing value(s). Every row must show an "
            "answer: fill them, leave these rows out, or name the answer they stand for in the scheme."
        )
    return encode_values(column, attribute)


def encode_values(column: pa.ChunkedArray, attribute: Attribute) -> NDArray[np.int64]:
    """Codes of values that a query answered."""
    single = Attribute(attribute.name, attribute.answers, cut=attribute.cut, missing=attribute.missing)
    try:
        table = encode(pa.table({attribute.name: column}), Schema((single,)))
    except UnknownAnswer as error:
        # A row of the grouped result is not a row of the table, so it is not named.
        raise UnknownAnswer(attribute.name, error.value, attribute.answers) from None
    return table[attribute.name].astype(np.int64)


def bit_columns(table: Any, attributes: Sequence[Attribute]) -> dict[str, list[Any]]:
    """For each attribute its bits as expressions of 0 and 1; anything else in the columns is refused."""
    bits = {attribute.name: [_as_bit(table[name]) for name in file_columns(attribute)] for attribute in attributes}
    names = [name for attribute in attributes for name in file_columns(attribute)]
    if not names:
        return bits
    checks = {f"bad{i}": as_number(_is_no_bit(table[name])).sum() for i, name in enumerate(names)}
    bad = single_row(table.agg(**checks))
    for i, name in enumerate(names):
        if bad[f"bad{i}"]:
            raise InvalidInput(
                f"The column {name!r} must hold 0 or 1 in every row; in {int(bad[f'bad{i}']):,} it does not. Give the "
                "scheme that the reports were disguised with, or correct these rows."
            )
    return bits


def _as_bit(column: Any) -> Any:
    if column.type().is_string():
        return as_number(column.lower().isin(["1", "true"]))
    return as_number(column) if column.type().is_boolean() else column.cast("int64")


def as_number(claim: Any) -> Any:
    """1 where a claim holds, else 0; not every database casts truth values to numbers."""
    return claim.ifelse(1, 0).cast("int64")


def _is_no_bit(column: Any) -> Any:
    if column.type().is_boolean():
        return column.isnull()
    is_bit = column.lower().isin(list(BITS)) if column.type().is_string() else column.isin([0, 1])
    return column.isnull() | ~is_bit


def set_column(table: Any, attribute: Attribute, n_rows: int) -> Any:
    """A column of lists as an expression; sets of different sizes, with repeats or empty are refused."""
    column = table[attribute.name]
    if column.type().is_string():
        # A text file holds a set as a JSON list.
        column = column.cast("json").cast("array<string>")
    if not column.type().is_array():
        raise InvalidInput(
            f"{attribute.name!r} shows sets, so its column must hold lists of texts, not {column.type()}."
        )
    sizes = table.select(members=column.length(), different=column.unique().length(), absent=column.isnull())
    measured = single_row(
        sizes.agg(
            low=sizes.members.min(),
            high=sizes.members.max(),
            repeats=as_number(sizes.members != sizes.different).sum(),
            absent=as_number(sizes.absent).sum(),
        )
    )
    if n_rows and measured["absent"]:
        raise InvalidInput(f"{attribute.name!r} has {int(measured['absent']):,} empty report(s); each must show a set.")
    if n_rows and measured["low"] != measured["high"]:
        raise InvalidInput(
            f"Under this scheme every set of {attribute.name!r} has the same size; these have {measured['low']} to "
            f"{measured['high']} answers. Give the scheme that the reports were disguised with."
        )
    if n_rows and measured["repeats"]:
        raise InvalidInput(
            f"A set of {attribute.name!r} names the same answer twice. Correct the row, or leave it out."
        )
    return column
