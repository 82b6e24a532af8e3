"""Between Arrow columns of text and numbers and integer codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacit.errors import InvalidInput, UnknownAnswer
from tacit.schema import Attribute, Cut, Schema
from tacit.table.coded import Table, code_type
from tacit.table.columns import (
    as_arrow,
    as_numpy,
    as_text,
    checked_columns,
    file_columns,
    gaps_in_words,
    missing_values,
    plain,
)
from tacit.table.hashed import decode_hashed, encode_hashed
from tacit.table.sets import decode_bits, decode_sets, encode_bits, encode_sets

EVERY_ROW = "Every row must show an answer: fill them, or take these rows out."
STATE_MISSING = (
    "State what they mean: leave these rows out with --missing drop (missing='drop'), or let the scheme hold an answer for them "
    "(tacit design scheme --missing answer; in Python Attribute(..., missing=...))."
)


@dataclass(frozen=True)
class Missing:
    """What counts as missing besides an empty value, and whether rows with a missing value are dropped.

    An attribute with an answer for missing values (`Attribute.missing`) has none; without one, and unless rows are
    dropped, a missing value is refused.
    """

    marks: tuple[str, ...] = ()
    drop: bool = False


def encode(
    data: Any, schema: Schema, *, missing: Missing | None = None, drop_others: bool = False, first_row: int = 0
) -> Table:
    """The codes of an Arrow table; unknown answers and missing values are refused unless a policy is given.

    `first_row` is the number of rows before these in their file, so that a refusal names the right one.
    """
    return encoded_rows(data, schema, missing=missing, drop_others=drop_others, first_row=first_row)[0]


def encoded_rows(
    data: Any, schema: Schema, *, missing: Missing | None = None, drop_others: bool = False, first_row: int = 0
) -> tuple[Table, NDArray[np.bool_]]:
    """The codes of an Arrow table, and which of its rows they are: all but those that were dropped for a missing value."""
    table = as_arrow(data)
    wanted = [column for attribute in schema for column in file_columns(attribute)]
    checked_columns(table.column_names, wanted, drop_others=drop_others)
    listed = [attribute for attribute in schema if attribute.shows == "one"]
    marks = () if missing is None else missing.marks
    absent = {attribute.name: missing_values(table.column(attribute.name), marks) for attribute in listed}
    gaps = {
        column.name: absent[column.name] for column in listed if column.missing is None and absent[column.name].any()
    }
    complete = ~np.logical_or.reduce(list(gaps.values())) if gaps else np.ones(table.num_rows, dtype=np.bool_)
    drops = bool(gaps) and missing is not None and missing.drop
    columns: dict[str, NDArray[Any]] = {}
    for attribute in schema:
        if attribute.shows == "set":
            columns[attribute.name] = encode_sets(table.column(attribute.name), attribute)
        elif attribute.shows == "bits":
            columns[attribute.name] = encode_bits(table, attribute)
        elif attribute.shows == "hashed":
            columns[attribute.name] = encode_hashed(table, attribute)
        else:
            # What a row shows that is dropped for another column's gap need not be an answer.
            void = absent[attribute.name] | ~complete if drops else absent[attribute.name]
            columns[attribute.name] = _Column(attribute, table.column(attribute.name), void, first_row).codes()
    coded = Table(schema, columns)
    if gaps and not drops:
        sentence = gaps_in_words({name: int(gap.sum()) for name, gap in gaps.items()})
        row = first_row + int(np.argmin(complete)) + 1
        raise InvalidInput(f"{sentence}, the first in row {row:,}. {EVERY_ROW if missing is None else STATE_MISSING}")
    return (coded.rows(complete) if drops else coded), complete


class _Column:
    """One column on its way to codes; knows where it stands, for those who have to mend it."""

    def __init__(self, attribute: Attribute, values: pa.ChunkedArray, void: NDArray[np.bool_], first_row: int) -> None:
        self._attribute, self._values, self._first_row = attribute, plain(values), first_row
        self._void = void  # rows whose value is missing, or stands in a row that is dropped

    def codes(self) -> NDArray[Any]:
        """The codes; void rows have that of the answer for missing values, or any."""
        cut = self._attribute.cut
        codes = self._answers() if cut is None or self._shows_intervals() else self._cut_numbers(cut)
        if self._void.any():
            answer = self._attribute.missing
            codes = np.where(self._void, 0 if answer is None else self._attribute.encode(answer), codes)
        return codes.astype(code_type(self._attribute.size))

    def _row(self, which: NDArray[np.bool_]) -> int:
        return self._first_row + int(np.argmax(which))

    def _answer_indices(self) -> pa.ChunkedArray:

        return pc.index_in(as_text(self._values), value_set=pa.array(self._attribute.answers))

    def _answers(self) -> NDArray[Any]:

        codes = self._answer_indices()
        unknown = as_numpy(pc.is_null(codes)) & ~self._void
        if unknown.any():
            value = as_text(self._values)[int(np.argmax(unknown))].as_py()
            raise UnknownAnswer(self._attribute.name, str(value), self._attribute.answers, self._row(unknown))
        return as_numpy(pc.fill_null(codes, 0))

    def _shows_intervals(self) -> bool:
        """Whether a column of text holds the names of the intervals already."""
        if self._is_numeric():
            return False
        return bool((self._void | ~as_numpy(pc.is_null(self._answer_indices()))).all())

    def _is_numeric(self) -> bool:

        return pa.types.is_floating(self._values.type) or pa.types.is_integer(self._values.type)

    def _cut_numbers(self, cut: Cut) -> NDArray[Any]:

        column = self._values if self._is_numeric() else self._as_numbers()
        # Unsafe means rounding whole numbers beyond 2**53, which no edge can tell apart anyway.
        numbers = as_numpy(pc.fill_null(column.cast(pa.float64(), safe=False), 0.0))
        not_numbers = np.isnan(numbers) & ~self._void
        if not_numbers.any():
            raise self._not_a_number("nan", self._row(not_numbers))
        return np.searchsorted(np.array(cut.edges), numbers, side=cut.side)

    def _as_numbers(self) -> pa.ChunkedArray:

        text = pc.utf8_trim_whitespace(as_text(self._values))
        present = pc.if_else(pa.array(self._void), pa.scalar(None, pa.string()), text)
        try:
            return present.cast(pa.float64())
        except pa.ArrowInvalid:
            row, bad = next(
                (row, text) for row, text in enumerate(present.to_pylist()) if text is not None and not _is_number(text)
            )
            raise self._not_a_number(bad, self._first_row + row) from None

    def _not_a_number(self, value: str, row: int) -> InvalidInput:
        edges = list(self._attribute.cut.edges) if self._attribute.cut else []
        return InvalidInput(
            f"{self._attribute.name!r} is cut at {edges}, so it needs numbers, not {value!r} (row {row + 1:,}). If that "
            "stands for a missing value, name it as a mark of one."
        )


def _is_number(text: str) -> bool:
    """Whether Arrow reads the text as a number (Python also takes ``1_000``)."""
    try:
        pa.scalar(text).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def decode(table: Table, *, text_only: bool = False) -> pa.Table:
    """The Arrow table of answers; `text_only` writes sets and bits the way a CSV file holds them."""
    columns: dict[str, Any] = {}
    for attribute in table.schema:
        codes = table.columns[attribute.name]
        if attribute.shows == "bits":
            columns.update(decode_bits(codes, attribute, text_only=text_only))
        elif attribute.shows == "hashed":
            columns.update(decode_hashed(codes, attribute, text_only=text_only))
        elif attribute.shows == "set":
            columns[attribute.name] = decode_sets(codes, attribute, text_only=text_only)
        else:
            answers = _answer_texts(codes, attribute)
            columns[attribute.name] = answers.cast(pa.string()) if text_only else answers
    return pa.table(columns)


def _answer_texts(codes: NDArray[Any], attribute: Attribute) -> pa.DictionaryArray:

    # Parquet keeps signed dictionary indices only.
    signed = np.int8 if attribute.size <= 1 << 7 else np.int16 if attribute.size <= 1 << 15 else np.int32
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(signed)), pa.array(attribute.answers))
