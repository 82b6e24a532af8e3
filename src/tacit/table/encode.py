"""Between Arrow columns of text and numbers and integer codes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput, UnknownAnswer, suggestion
from tacit.schema import Attribute, Schema
from tacit.table.coded import Table, code_type

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Missing:
    """What counts as missing besides an empty value, and whether rows with a missing value are dropped.

    An attribute with an answer for missing values (`Attribute.missing`) has none; without one, and unless rows are
    dropped, a missing value is refused.
    """

    marks: tuple[str, ...] = ()
    drop: bool = False


def as_arrow(data: Any) -> pa.Table:
    """Any data frame or stream that speaks Arrow's PyCapsule interface, as a pyarrow table."""
    import pyarrow as pa

    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return pa.table(data)
    if isinstance(data, dict):
        return pa.table(
            {name: pa.array([None if v is None else str(v) for v in values]) for name, values in data.items()}
        )
    raise InvalidInput(
        f"{type(data).__name__} does not speak Arrow. Pass a pandas, polars, pyarrow or DuckDB table, or a dict of lists."
    )


def checked_columns(present: Sequence[str], wanted: Sequence[str], *, drop_others: bool) -> None:
    """Refuse a table that lacks a column, or that holds others which nobody said to drop."""
    repeated = next((name for name in present if list(present).count(name) > 1), None)
    if repeated is not None:
        raise InvalidInput(f"The file has two columns called {repeated!r}. Rename one of them.")
    for name in wanted:
        if name not in present:
            raise InvalidInput(f"The column {name!r} is missing. {suggestion(name, present)}")
    others = [name for name in present if name not in wanted]
    if others and not drop_others:
        raise InvalidInput(
            f"The scheme does not name the column(s) {', '.join(map(repr, others[:8]))}. They would not be disguised, so "
            "they are not passed on: add --drop-others (drop_others=True) to leave them out, or name them in the scheme."
        )


def file_columns(attribute: Attribute) -> tuple[str, ...]:
    """The columns that show an attribute in a file: its own name, or one bit per answer."""
    if attribute.shows != "bits":
        return (attribute.name,)
    return tuple(f"{attribute.name}={answer}" for answer in attribute.answers)


def encode(data: Any, schema: Schema, *, missing: Missing | None = None, drop_others: bool = False) -> Table:
    """The codes of an Arrow table; unknown answers and missing values are refused unless a policy is given."""
    table = as_arrow(data)
    wanted = [column for attribute in schema for column in file_columns(attribute)]
    checked_columns(table.column_names, wanted, drop_others=drop_others)
    policy = missing or Missing()
    absent = np.zeros(table.num_rows, dtype=np.bool_)
    columns = {}
    for attribute in schema:
        columns[attribute.name], empty = _encode_attribute(table, attribute, policy)
        absent |= empty
    coded = Table(schema, columns)
    return coded.rows(~absent) if absent.any() else coded


def _encode_attribute(table: pa.Table, attribute: Attribute, policy: Missing) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Codes, and which rows are to be dropped."""
    if attribute.shows == "set":
        return _encode_sets(table.column(attribute.name), attribute), np.zeros(table.num_rows, dtype=np.bool_)
    if attribute.shows == "bits":
        bits = [_encode_bit(table.column(name), name) for name in file_columns(attribute)]
        return np.stack(bits, axis=1), np.zeros(table.num_rows, dtype=np.bool_)
    column = table.column(attribute.name)
    absent = missing_values(column, policy.marks)
    codes = _numbers(column, attribute, absent) if attribute.cut is not None else None
    if codes is None:
        codes = _answers(column, attribute, absent)
    if absent.any():
        return _filled(codes, absent, attribute, policy)
    return codes.astype(code_type(attribute.size)), absent


def _filled(
    codes: NDArray[Any], absent: NDArray[np.bool_], attribute: Attribute, policy: Missing
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    if attribute.missing is not None:
        codes = np.where(absent, attribute.encode(attribute.missing), codes)
        return codes.astype(code_type(attribute.size)), np.zeros_like(absent)
    if policy.drop:
        return np.where(absent, 0, codes).astype(code_type(attribute.size)), absent
    raise InvalidInput(
        f"{attribute.name!r} has {int(absent.sum()):,} missing value(s), the first in row {int(np.argmax(absent)) + 1}. "
        "State what they mean: an answer of their own, the most frequent answer, or drop the rows."
    )


def missing_values(column: pa.ChunkedArray, marks: Iterable[str] = ()) -> NDArray[np.bool_]:
    """Which values are null, not a number, empty text, or one of the marks."""
    import pyarrow as pa
    import pyarrow.compute as pc

    absent = pc.is_null(column, nan_is_null=True)
    text = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_string(text) or pa.types.is_large_string(text) or pa.types.is_string_view(text):
        stripped = pc.utf8_trim_whitespace(column.cast(pa.string()))
        absent = pc.or_(absent, pc.fill_null(pc.is_in(stripped, value_set=pa.array(["", *marks])), False))
    return _numpy(absent).astype(np.bool_)


def _numpy(values: Any) -> NDArray[Any]:
    return values.to_numpy(zero_copy_only=False) if not hasattr(values, "chunks") else values.to_numpy()


def as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Values as text, the way answers are compared."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        return column if pa.types.is_string(column.type) else column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InvalidInput(f"Values of type {column.type} cannot be read as answers. Give text or numbers.") from None


def _answers(column: pa.ChunkedArray, attribute: Attribute, absent: NDArray[np.bool_]) -> NDArray[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    text = as_text(column)
    codes = pc.index_in(text, value_set=pa.array(attribute.answers))
    unknown = _numpy(pc.is_null(codes)) & ~absent
    if unknown.any():
        row = int(np.argmax(unknown))
        raise UnknownAnswer(attribute.name, str(text[row].as_py()), attribute.answers, row)
    return _numpy(pc.fill_null(codes, 0))


def _numbers(column: pa.ChunkedArray, attribute: Attribute, absent: NDArray[np.bool_]) -> NDArray[Any] | None:
    """Codes of numbers by the attribute's cut; None where the column holds the intervals' names already."""
    import pyarrow as pa
    import pyarrow.compute as pc

    assert attribute.cut is not None  # for the type checker: the caller looked
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not pa.types.is_floating(column.type) and not pa.types.is_integer(column.type):
        text = as_text(column)
        if not pc.any(pc.is_null(pc.index_in(text, value_set=pa.array(attribute.answers)))).as_py():
            return None
        column = _parsed(text, attribute, absent)
    numbers = _numpy(pc.fill_null(column.cast(pa.float64()), 0.0))
    return np.searchsorted(np.array(attribute.cut.edges), numbers, side=attribute.cut.side)


def _parsed(text: pa.ChunkedArray, attribute: Attribute, absent: NDArray[np.bool_]) -> pa.ChunkedArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    present = pc.if_else(pa.array(absent), pa.scalar(None, pa.string()), pc.utf8_trim_whitespace(text))
    try:
        return present.cast(pa.float64())
    except pa.ArrowInvalid:
        bad = next(value for value in present.to_pylist() if value is not None and not _is_number(value))
        raise InvalidInput(
            f"{attribute.name!r} is cut at {list(attribute.cut.edges) if attribute.cut else []}, so it needs numbers, "
            f"not {bad!r}."
        ) from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _encode_bit(column: pa.ChunkedArray, name: str) -> NDArray[np.bool_]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_boolean(column.type) and column.null_count == 0:
        return _numpy(column).astype(np.bool_)
    text = pc.utf8_lower(as_text(column))
    codes = pc.index_in(text, value_set=pa.array(["0", "1", "false", "true"]))
    if codes.null_count:
        bad = text.filter(pc.is_null(codes))[0].as_py()
        raise InvalidInput(f"The bit {name!r} must be 0 or 1, not {bad!r}.")
    return (_numpy(codes) % 2).astype(np.bool_)


def _encode_sets(column: pa.ChunkedArray, attribute: Attribute) -> NDArray[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (
        pa.types.is_list(column.type) or pa.types.is_large_list(column.type) or pa.types.is_fixed_size_list(column.type)
    ):
        column = pa.chunked_array([_sets_from_text(as_text(column), attribute)])
    if column.null_count:
        raise InvalidInput(f"{attribute.name!r} has an empty report; every report must show a set.")
    lengths = np.unique(_numpy(pc.list_value_length(column)))
    if len(lengths) > 1:
        raise InvalidInput(f"All sets of {attribute.name!r} must have one size, not {lengths.tolist()}.")
    members = as_text(pc.list_flatten(column))
    codes = pc.index_in(members, value_set=pa.array(attribute.answers))
    if codes.null_count:
        raise UnknownAnswer(attribute.name, str(members.filter(pc.is_null(codes))[0].as_py()), attribute.answers)
    size = int(lengths[0]) if len(lengths) else 0
    sets = _numpy(codes).reshape(len(column), size).astype(code_type(attribute.size))
    if size > 1 and (np.diff(np.sort(sets, axis=1).astype(np.int64), axis=1) == 0).any():
        raise InvalidInput(f"A set of {attribute.name!r} names the same answer twice.")
    return sets


def _sets_from_text(text: pa.ChunkedArray, attribute: Attribute) -> pa.Array:
    import pyarrow as pa

    try:
        return pa.array([json.loads(value) for value in text.to_pylist()], type=pa.list_(pa.string()))
    except (TypeError, ValueError, pa.ArrowInvalid):
        raise InvalidInput(f'Sets of {attribute.name!r} are written as ["a", "b"] in a CSV file.') from None


def decode(table: Table, *, text_only: bool = False) -> pa.Table:
    """The Arrow table of answers; `text_only` writes sets and bits the way a CSV file holds them."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    for attribute in table.schema:
        codes = table.columns[attribute.name]
        if attribute.shows == "bits":
            for position, name in enumerate(file_columns(attribute)):
                bit = np.ascontiguousarray(codes[:, position])
                columns[name] = pa.array(bit.astype(np.uint8)) if text_only else pa.array(bit)
        elif attribute.shows == "set":
            columns[attribute.name] = _decoded_sets(codes, attribute, text_only=text_only)
        else:
            answers = _decoded(codes, attribute)
            columns[attribute.name] = answers.cast(pa.string()) if text_only else answers
    return pa.table(columns)


def _decoded(codes: NDArray[Any], attribute: Attribute) -> pa.DictionaryArray:
    import pyarrow as pa

    # Parquet keeps signed dictionary indices only.
    signed = np.int8 if attribute.size <= 1 << 7 else np.int16 if attribute.size <= 1 << 15 else np.int32
    return pa.DictionaryArray.from_arrays(pa.array(codes.ravel().astype(signed)), pa.array(attribute.answers))


def _decoded_sets(codes: NDArray[Any], attribute: Attribute, *, text_only: bool) -> pa.Array:
    import pyarrow as pa

    if text_only:
        names = np.array([json.dumps(answer, ensure_ascii=False) for answer in attribute.answers], dtype=object)
        return pa.array(["[" + ", ".join(names[row]) + "]" for row in codes])
    members = _decoded(codes, attribute).cast(pa.string())
    offsets = np.arange(len(codes) + 1, dtype=np.int32) * codes.shape[1]
    return pa.ListArray.from_arrays(pa.array(offsets), members)
