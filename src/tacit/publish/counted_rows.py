"""The combinations of columns that occur in a table of any kind, with how many rows show each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tacit.count.backend import answer, single_row
from tacit.errors import InvalidInput, UnknownName
from tacit.publish.opening import is_stored, stored_table
from tacit.table import as_arrow, read_batches

COUNT = "rows that show it"
WEIGHT = "people they stand for"


def counted_table(data: Any, names: Sequence[str], weights: str | None = None, *, what: str = "Column") -> pa.Table:
    """The combinations that occur, with their rows and, where there are survey weights, the sum of these."""
    if is_stored(data):
        return counted_stored(stored_table(data), names, weights, what=what)
    return counted_batches(_batches(data), names, weights, what=what)


def _batches(data: Any) -> Iterator[pa.Table]:
    if isinstance(data, str | Path):
        return read_batches(data)
    return iter([as_arrow(data)])


def counted_batches(
    batches: Iterable[pa.Table], names: Sequence[str], weights: str | None = None, *, what: str = "Column"
) -> pa.Table:
    """The combinations of columns in a table that comes in parts, with their numbers of rows; some may repeat."""
    parts = []
    for batch in batches:
        _refuse_unknown([*names, *([] if weights is None else [weights])], batch.column_names, what)
        wanted: list[Any] = [([], "count_all")]
        if weights is not None:
            batch = batch.set_column(
                batch.column_names.index(weights), WEIGHT, _numeric(batch.column(weights), weights)
            )
            wanted.append((WEIGHT, "sum"))
        counted = batch.group_by(list(names)).aggregate(wanted)
        sums = [] if weights is None else [f"{WEIGHT}_sum"]
        # Batches may spell the same answers with different dictionaries.
        types = [(n, _plain(counted.schema.field(n).type)) for n in names] + [(COUNT, pa.int64())]
        types += [] if weights is None else [(WEIGHT, pa.float64())]
        counted = counted.select([*names, "count_all", *sums])
        parts.append(counted.rename_columns([name for name, _ in types]).cast(pa.schema(types)))
    return (
        pa.concat_tables(parts, promote_options="permissive") if parts else pa.table({COUNT: pa.array([], pa.int64())})
    )


def counted_stored(table: Any, names: Sequence[str], weights: str | None = None, *, what: str = "Column") -> pa.Table:
    """The combinations of columns in an ibis table, counted by its database."""
    _refuse_unknown([*names, *([] if weights is None else [weights])], table.columns, what)
    sums = {} if weights is None else {WEIGHT: table[weights].cast("float64").sum()}
    if weights is not None:
        _refuse_stored_weights(table, weights)
    return answer(table.group_by(list(names)).agg(**{COUNT: table.count()}, **sums))


def _numeric(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Survey weights as numbers."""
    try:
        numbers = column.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise _bad_weights(name) from None
    # Within a sum a missing or a negative weight would not be seen.
    is_usable = pc.and_(pc.is_finite(numbers), pc.greater_equal(numbers, 0))
    if numbers.null_count or not pc.all(is_usable, min_count=0).as_py():
        raise _bad_weights(name)
    return numbers


def _refuse_stored_weights(table: Any, name: str) -> None:
    column = table[name]
    if not column.type().is_numeric():
        raise _bad_weights(name)
    ends = single_row(table.agg(low=column.min(), high=column.max(), told=column.count(), rows=table.count()))
    if ends["told"] < ends["rows"] or (ends["rows"] and not 0 <= float(ends["low"]) <= float(ends["high"]) < math.inf):
        raise _bad_weights(name)


def _bad_weights(name: str) -> InvalidInput:
    return InvalidInput(
        f"The weights in {name!r} must be numbers above 0 in every row, or 0 where it stands for nobody else. Mend them, or "
        "leave them out."
    )


def _refuse_unknown(names: Sequence[str], present: Sequence[str], what: str) -> None:
    for name in names:
        if name not in present:
            raise UnknownName(what, name, present)


def _plain(kind: pa.DataType) -> pa.DataType:

    return kind.value_type if pa.types.is_dictionary(kind) else kind
