"""Arrow columns of every kind, brought to the few that the rest of the package reads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacit.errors import InvalidInput, suggestion
from tacit.schema import Attribute

DECLARED = b"declared"  # marks a field whose categories somebody declared


def as_arrow(data: Any) -> pa.Table:
    """Any data frame or stream that speaks Arrow's PyCapsule interface, or a dict of lists, as a pyarrow table."""
    table = _table(data)
    checked_names(table.column_names)
    table = table.select(without_row_labels(table.column_names))
    declared = _declared_categories(data)
    columns, fields = [], []
    for name in table.column_names:
        column = _in_order_of_size(_without_views(table.column(name), ordered=declared.get(name, False)))
        columns.append(column)
        fields.append(
            pa.field(
                name, column.type, metadata={DECLARED: ""} if name in declared or is_declared(table, name) else None
            )
        )
    return pa.table(columns, schema=pa.schema(fields)) if columns else table


def _declared_categories(data: Any) -> dict[str, bool]:
    """Columns of a data frame whose categories somebody declared, and whether their order means something.

    Of a categorical of polars only an Enum is declared: the categories of others are listed as they occurred.
    """
    dtypes: Any = getattr(data, "dtypes", None)
    if hasattr(dtypes, "items"):  # a pandas frame
        return {str(name): bool(kind.ordered) for name, kind in dtypes.items() if hasattr(kind, "categories")}
    schema: Any = getattr(data, "schema", None)
    kinds = schema.items() if hasattr(schema, "items") else ()
    return {name: True for name, kind in kinds if type(kind).__name__ == "Enum"}


def is_declared(table: pa.Table, name: str) -> bool:
    """Whether the categories of a column are all answers that there are, in an order that somebody chose."""
    return DECLARED in (table.schema.field(name).metadata or {})


def _in_order_of_size(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Intervals, periods and durations as ordered categories with the text that pandas shows for them."""
    kind = column.type
    values = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not (
        pa.types.is_duration(values) or getattr(values, "extension_name", "") in ("pandas.interval", "pandas.period")
    ):
        return column
    array = column.combine_chunks()
    if pa.types.is_dictionary(kind):
        texts = [str(category) for category in array.dictionary.to_pandas()]
        return pa.chunked_array([pa.DictionaryArray.from_arrays(array.indices, pa.array(texts), ordered=True)])
    series = array.to_pandas()
    places = {value: place for place, value in enumerate(series.dropna().drop_duplicates().sort_values())}
    codes = pa.array([places.get(value) for value in series], pa.int32())
    texts = pa.array(map(str, places), pa.string())
    return pa.chunked_array([pa.DictionaryArray.from_arrays(codes, texts, ordered=True)])


def without_row_labels(names: Sequence[str]) -> list[str]:
    """The names without those that pandas gives to the unnamed index of a frame: labels of rows are nobody's answers."""
    return [name for name in names if not (name.startswith("__index_level_") and name.endswith("__"))]


def _table(data: Any) -> pa.Table:

    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        _refuse_named_index(data)
        return _frame(data)
    if not isinstance(data, dict):
        read = " A file is read by Dataset.read(path)." if isinstance(data, str | os.PathLike) else ""
        raise InvalidInput(
            f"A {type(data).__name__} cannot be read as a table. Pass a pandas, polars, pyarrow or DuckDB table, or a dict "
            f"of lists.{read}"
        )
    lengths = {name: len(values) for name, values in data.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidInput(f"The columns of a table must have one length, not {lengths}.")
    return pa.table({name: _array(values) for name, values in data.items()})


def _refuse_named_index(frame: Any) -> None:
    """Refuse a pandas frame whose index has a name: Arrow hands it over as a column, and it would go out undisguised."""
    names = [name for name in getattr(getattr(frame, "index", None), "names", ()) if name is not None]
    if names:
        raise InvalidInput(
            f"The index of the data frame is named {', '.join(map(repr, names))}, and an index labels rows: it is nobody's "
            "answer. Keep it as a column with frame.reset_index(), or leave it out with frame.reset_index(drop=True)."
        )


def _frame(data: Any) -> pa.Table:
    """The table of something that speaks Arrow."""
    try:
        return pa.table(data)
    except (pa.ArrowInvalid, TypeError, ValueError):
        if not hasattr(data, "columns"):
            raise InvalidInput(
                f"A {type(data).__name__} is one column without a name, not a table. Pass a data frame, or a dict such as "
                "{'smokes': column}."
            ) from None
    # pandas hands over neither two columns of one name nor a column that holds texts and numbers.
    names = [str(name) for name in data.columns]
    checked_names(names)
    return pa.table({name: _array(list(data.iloc[:, at])) for at, name in enumerate(names)})


def _is_missing(value: Any) -> bool:
    # pandas' own marks are told by their type's name: they compare with nothing, and pandas need not be there.
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def _array(values: Sequence[Any]) -> pa.Array:

    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # values of several kinds: answers are compared as text anyway
        return pa.array([None if _is_missing(value) else str(value) for value in values])


def _without_views(column: pa.ChunkedArray, *, ordered: bool) -> pa.ChunkedArray:
    """The same values as plain text: Arrow can neither filter nor take the string views that polars hands out."""
    if pa.types.is_string_view(column.type):
        return column.cast(pa.string())
    if pa.types.is_large_list(column.type) and pa.types.is_string_view(column.type.value_type):
        return column.cast(pa.large_list(pa.string()))
    if not (pa.types.is_dictionary(column.type) and pa.types.is_string_view(column.type.value_type)):
        return column
    chunks = [
        pa.DictionaryArray.from_arrays(
            chunk.indices.cast(pa.int32()), chunk.dictionary.cast(pa.string()), ordered=ordered
        )
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, type=pa.dictionary(pa.int32(), pa.string(), ordered=ordered))


def checked_names(names: Sequence[str]) -> None:
    """Refuse a table in which a name does not say which column is meant."""
    repeated = next((name for name in names if list(names).count(name) > 1), None)
    if repeated is not None:
        raise InvalidInput(f"There are two columns called {repeated!r}. Rename one of them.")


def checked_columns(present: Sequence[str], wanted: Sequence[str], *, drop_others: bool) -> None:
    """Refuse a table that lacks a column, or that holds others which nobody said to drop."""
    checked_names(present)
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
    """The columns that show an attribute in a file: its own name, with a seed where it is hashed, or one bit per answer."""
    if attribute.shows == "hashed":
        return (attribute.name, f"{attribute.name}:seed")
    if attribute.shows != "bits":
        return (attribute.name,)
    return tuple(f"{attribute.name}={answer}" for answer in attribute.answers)


def missing_values(column: pa.ChunkedArray, marks: Iterable[str] = ()) -> NDArray[np.bool_]:
    """Which values are null, not a number, empty text, or one of the marks."""
    column = plain(column)
    absent = pc.is_null(column, nan_is_null=True)
    if is_text(column.type) or marks:
        empty = pa.array(["", *marks])
        absent = pc.or_(absent, pc.is_in(pc.utf8_trim_whitespace(as_text(column)), value_set=empty))
    return as_numpy(absent).astype(np.bool_)


NAMED_GAPS = 8


def gaps_in_words(gaps: Mapping[str, int]) -> str:
    """``'sex' has 3 missing value(s), 'age' 12``: all columns at once, so that nobody mends a table one column at a time."""
    (first, number), *others = gaps.items()
    named = [f"{first!r} has {number:,} missing value(s)", *(f"{name!r} {count:,}" for name, count in others)]
    left = f" and {len(named) - NAMED_GAPS:,} more columns have some" if len(named) > NAMED_GAPS else ""
    return f"{', '.join(named[:NAMED_GAPS])}{left}"


def refuse_gaps(gaps: Mapping[str, int]) -> None:
    """Refuse missing values that may be dropped or become an answer, naming all columns that have some."""
    if gaps:
        raise InvalidInput(
            f"{gaps_in_words(gaps)}. State what they mean: --missing drop leaves these rows out, --missing answer makes an "
            "answer of its own of them (in Python: missing='drop')."
        )


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values of a dictionary-encoded column; any other column as it is."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def is_text(kind: pa.DataType) -> bool:

    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Values as text, the way answers are compared."""
    column = plain(column)
    try:
        text = column if pa.types.is_string(column.type) else column.cast(pa.string())
        return _times_as_written(text) if pa.types.is_timestamp(column.type) else text
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InvalidInput(f"Values of type {column.type} cannot be read as answers. Give text or numbers.") from None


def _times_as_written(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """``2024-01-05`` and ``2024-01-05 12:30:00`` instead of ``2024-01-05 00:00:00.000000000``, as pandas hands days over."""
    return pc.replace_substring_regex(text, r"(?: 00:00:00)?(?:\.0+)?$", "")


def as_numpy(values: Any) -> NDArray[Any]:
    """An Arrow array, chunked or not, as a numpy array."""
    return values.to_numpy() if isinstance(values, pa.ChunkedArray) else values.to_numpy(zero_copy_only=False)
