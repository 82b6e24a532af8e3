"""Between Arrow columns of text and numbers and integer codes."""

from __future__ import annotations

import json
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
    codes = pa.array(codes.astype(signed))
    return pa.DictionaryArray.from_arrays(codes, pa.array(attribute.answers), ordered=attribute.ordered)


def encode_bits(table: pa.Table, attribute: Attribute) -> NDArray[np.bool_]:
    """Rows x answers: which answers a report shows."""
    return np.stack([_encode_bit(table.column(name), name) for name in file_columns(attribute)], axis=1)


def _encode_bit(column: pa.ChunkedArray, name: str) -> NDArray[np.bool_]:

    if pa.types.is_boolean(column.type) and column.null_count == 0:
        return as_numpy(column).astype(np.bool_)
    text = pc.utf8_lower(as_text(column))
    codes = pc.index_in(text, value_set=pa.array(["0", "1", "false", "true"]))
    if codes.null_count:
        bad = text.filter(pc.is_null(codes))[0].as_py()
        raise InvalidInput(f"The bit {name!r} must be 0 or 1, not {bad!r}.")
    return (as_numpy(codes) % 2).astype(np.bool_)


def encode_sets(column: pa.ChunkedArray, attribute: Attribute) -> NDArray[Any]:
    """Rows x members: the codes of the answers each report names."""
    if not _is_list(column.type):
        column = pa.chunked_array([_sets_from_text(as_text(column), attribute)])
    if column.null_count:
        raise InvalidInput(f"{attribute.name!r} has an empty report; every report must show a set.")
    lengths = np.unique(as_numpy(pc.list_value_length(column)))
    if len(lengths) > 1:
        raise InvalidInput(f"All sets of {attribute.name!r} must have one size, not {lengths.tolist()}.")
    members = as_text(pc.list_flatten(column))
    codes = pc.index_in(members, value_set=pa.array(attribute.answers))
    if codes.null_count:
        raise UnknownAnswer(attribute.name, str(members.filter(pc.is_null(codes))[0].as_py()), attribute.answers)
    size = int(lengths[0]) if len(lengths) else 0
    sets = as_numpy(codes).reshape(len(column), size).astype(code_type(attribute.size))
    if size > 1 and (np.diff(np.sort(sets, axis=1).astype(np.int64), axis=1) == 0).any():
        raise InvalidInput(f"A set of {attribute.name!r} names the same answer twice.")
    return sets


def _is_list(kind: pa.DataType) -> bool:

    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)


def _sets_from_text(text: pa.ChunkedArray, attribute: Attribute) -> pa.Array:

    written = text.combine_chunks().dictionary_encode()  # every different set is parsed once
    try:
        sets = pa.array([json.loads(value) for value in written.dictionary.to_pylist()], type=pa.list_(pa.string()))
        return sets.take(written.indices)
    except (TypeError, ValueError, pa.ArrowInvalid):
        raise InvalidInput(f'Sets of {attribute.name!r} are written as ["a", "b"] in a CSV file.') from None


def decode_bits(codes: NDArray[np.bool_], attribute: Attribute, *, text_only: bool) -> dict[str, pa.Array]:
    """One column per answer: truth values, or 0 and 1 where a file holds text only."""
    kind = np.uint8 if text_only else np.bool_
    return {name: pa.array(codes[:, position].astype(kind)) for position, name in enumerate(file_columns(attribute))}


def decode_sets(codes: NDArray[Any], attribute: Attribute, *, text_only: bool) -> pa.Array:
    """Lists of answers, or their JSON where a file holds text only."""
    names = [json.dumps(answer, ensure_ascii=False) for answer in attribute.answers] if text_only else attribute.answers
    members = pa.array(names, pa.string()).take(pa.array(codes.ravel()))
    offsets = np.arange(len(codes) + 1, dtype=np.int32) * codes.shape[1]
    sets = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), members)
    return pc.binary_join_element_wise("[", pc.binary_join(sets, ", "), "]", "") if text_only else sets
