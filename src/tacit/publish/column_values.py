"""The values of columns with the rows that show each, counted batch by batch: what a column holds is found without its rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tacit.errors import InvalidInput
from tacit.table.columns import as_text, missing_values, plain, refuse_gaps

WAITING = 1 << 17  # counted values that are kept apart before those alike are added up


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """The different values of a column, and how many rows show each."""

    values: pa.ChunkedArray
    times: NDArray[np.int64]

    @property
    def missing(self) -> int:
        """Rows without a value."""
        return int(self.times[missing_values(self.values)].sum())


def refuse_missing(columns: Mapping[str, ColumnValues]) -> None:
    """Refuse a table with missing values that nobody stated the meaning of, naming all its columns that have some."""
    refuse_gaps({name: column.missing for name, column in columns.items() if column.missing})


def counted_columns(
    batches: Iterable[pa.Table], names: Sequence[str], *, drop: bool = False
) -> dict[str, ColumnValues]:
    """The values of each column of a table that comes in parts; with `drop` only of rows in which none of them is missing."""
    counting = {name: _Counting() for name in names}
    rows = complete = 0
    for batch in batches:
        batch = batch.select(list(names))
        rows += batch.num_rows
        if drop and batch.num_rows:
            batch = batch.filter(~np.logical_or.reduce([missing_values(column) for column in batch.columns]))
        complete += batch.num_rows
        for name, count in counting.items():
            count.add(batch.column(name))
    if not rows:
        raise InvalidInput("The table has no rows: there is nothing to publish.")
    if not complete:
        raise InvalidInput("Every row has a missing value, so dropping them leaves nothing.")
    return {name: count.counted(name) for name, count in counting.items()}


class _Counting:
    """Values and their rows, added up whenever as many wait as were different so far."""

    def __init__(self) -> None:
        self._parts: list[pa.Table] = []
        self._waiting = self._different = 0

    def add(self, column: pa.ChunkedArray) -> None:

        column = plain(column)
        try:
            counts = column.value_counts()
        except pa.ArrowNotImplementedError:  # values within values
            counts = as_text(column).value_counts()
        self._parts.append(pa.table({"value": counts.field("values"), "rows": counts.field("counts")}))
        self._waiting += len(counts)
        if self._waiting > WAITING + self._different:
            self._parts = [self._sum_of_alike()]
            self._waiting, self._different = 0, self._parts[0].num_rows

    def _sum_of_alike(self) -> pa.Table:

        if len(self._parts) == 1:
            return self._parts[0]
        together = pa.concat_tables(self._parts, promote_options="default")
        # One thread gives the same order every time.
        sums = together.group_by("value", use_threads=False).aggregate([("rows", "sum")])
        return sums.select(["value", "rows_sum"]).rename_columns(["value", "rows"])

    def counted(self, name: str) -> ColumnValues:

        try:
            sums = self._sum_of_alike()
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise InvalidInput(
                f"{name!r} holds values of different types in different files: {str(error).splitlines()[0].rstrip('.')}. Write "
                "them all in one format."
            ) from None
        return ColumnValues(sums.column("value"), sums.column("rows").to_numpy().astype(np.int64))
