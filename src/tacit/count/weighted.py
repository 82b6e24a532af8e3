"""Weighted tallies: sums of weights, and of their squares, instead of counts; by stratum or by cluster.

In memory and in any database the question is one: group by what is shown and where people came from, and add weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.protocol import Array
from tacit.count.backend import answer, single_row
from tacit.count.columns import as_number, value_codes
from tacit.count.protocol import DENSE_CELLS, CountEngine
from tacit.count.slots import joint_slots
from tacit.count.table import TableEngine
from tacit.errors import InvalidInput, UnknownName
from tacit.table import Table

BLOCK_ROWS = 1 << 19


@dataclass(frozen=True, eq=False)
class WeightedTally:
    """Weights added up: ``sums[..., key]`` over the rows of each key, ``squares[..., stratum]`` of squared weights.

    A key is a cluster; where everybody is a cluster, a key is a stratum.
    """

    sums: Array
    squares: Array


@dataclass(frozen=True, eq=False)
class SampleColumns:
    """Columns of a stored table that say how people came into the sample."""

    weights: str | None = None
    strata: str | None = None
    clusters: str | None = None
    sampled: float | str | None = None

    @property
    def named(self) -> list[str]:
        columns = (self.weights, self.strata, self.clusters, self.sampled)
        return [column for column in columns if isinstance(column, str)]


def weighted_tally(
    table: Table, columns: Sequence[str], weights: Array, keys: NDArray[np.intp], strata: NDArray[np.intp]
) -> WeightedTally:
    """The weighted tally of a table in memory, block by block."""
    shape = tuple(table.schema[name].tally_size for name in columns)
    n_keys, n_strata = int(keys.max()) + 1, int(strata.max()) + 1
    checked_keys(math.prod(shape), max(n_keys, n_strata))
    sums, squares = np.zeros(math.prod(shape) * n_keys), np.zeros(math.prod(shape) * n_strata)
    for start in range(0, table.n_rows, BLOCK_ROWS):
        here = slice(start, start + BLOCK_ROWS)
        slots = joint_slots(table.rows(here), columns)
        many = np.diff(slots.row_ends(), prepend=0)
        cells, weight = slots.values.astype(np.intp), np.repeat(weights[here], many)
        sums += np.bincount(cells * n_keys + np.repeat(keys[here], many), weight, len(sums))
        squares += np.bincount(cells * n_strata + np.repeat(strata[here], many), weight**2, len(squares))
    return WeightedTally(sums.reshape(*shape, n_keys), squares.reshape(*shape, n_strata))


def checked_keys(cells: int, keys: int) -> None:
    if cells * keys > DENSE_CELLS:
        raise InvalidInput(
            f"A table of {cells:,} cells over {keys:,} clusters or strata is too large to hold. Ask for fewer attributes."
        )


@dataclass(frozen=True, eq=False)
class StoredGroups:
    """A stored table, grouped by stratum, cluster and reports; one row per group that occurs."""

    strata: list[str]
    clusters: list[str]
    stratum: NDArray[np.intp]
    cluster: NDArray[np.intp]
    cells: NDArray[np.intp]
    rows: NDArray[np.int64]
    sums: Array
    squares: Array
    sampled: Array  # of each group's stratum


def stored_groups(engine: CountEngine, columns: Sequence[str], sample: SampleColumns) -> StoredGroups:
    """The groups of a table that stays where it is stored."""
    if not isinstance(engine, TableEngine):
        raise InvalidInput("Columns of weights, strata and clusters are those of a stored table; give arrays here.")
    attributes = [engine.schema[name] for name in columns]
    if any(attribute.shows != "one" for attribute in attributes):
        raise InvalidInput("Reports that show sets or bits are weighted in memory only. Read them from a smaller file.")
    result = answer(_query(engine, columns, sample))
    counts = result.column("rows")
    cells = np.zeros(result.num_rows, dtype=np.intp)
    for position, attribute in enumerate(attributes):
        cells = cells * attribute.size + value_codes(result.column(f"k{position}"), attribute, counts)
    strata, stratum = _named(result.column("stratum").to_pylist())
    clusters, cluster = _named(result.column("cluster").to_pylist())
    numbers = {name: np.asarray(result.column(name).to_numpy(), np.float64) for name in ("sums", "squares", "sampled")}
    rows = np.asarray(counts.to_numpy(), np.int64)
    return StoredGroups(strata, clusters, stratum, cluster, cells, rows, **numbers)


def _query(engine: TableEngine, columns: Sequence[str], sample: SampleColumns) -> Any:
    import ibis

    table = engine.table
    for name in sample.named:
        if name not in table.columns:
            raise UnknownName("Column", name, table.columns)
    weight = ibis.literal(1.0) if sample.weights is None else table[sample.weights].cast("float64")
    if sample.weights is not None:
        _checked_stored(table.select(w=weight))
    share = sample.sampled
    shown = table.select(
        **{f"k{position}": engine.grouped_by(name) for position, name in enumerate(columns)},
        stratum=_text(table, sample.strata),
        cluster=_text(table, sample.clusters),
        w=weight,
        f=table[share].cast("float64") if isinstance(share, str) else ibis.literal(float(share or 0.0)),
    )
    keys = [*(f"k{position}" for position in range(len(columns))), "stratum", "cluster", "f"]
    grouped = shown.group_by(keys).agg(rows=shown.count(), sums=shown.w.sum(), squares=(shown.w * shown.w).sum())
    return grouped.rename(sampled="f")


def _text(table: Any, name: str | None) -> Any:
    import ibis

    return ibis.literal("") if name is None else table[name].cast("string")


def _checked_stored(weights: Any) -> None:
    wrong = weights.w.isnull() | (weights.w <= 0)
    bad = single_row(weights.agg(bad=as_number(wrong).sum()))["bad"]
    if bad:
        raise InvalidInput(f"{int(bad):,} weights are missing, 0 or below; weights must be above 0.")


def _named(values: Sequence[Any]) -> tuple[list[str], NDArray[np.intp]]:
    if any(value is None for value in values):
        raise InvalidInput("Strata and clusters need a value in every row; some are missing.")
    names, codes = np.unique(np.asarray([str(value) for value in values]), return_inverse=True)
    return [str(name) for name in names], codes.reshape(-1).astype(np.intp)
