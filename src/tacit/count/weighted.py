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

from tacit.channel.base import Array
from tacit.count.backend import answer, single_row
from tacit.count.columns import as_number, value_codes
from tacit.count.memory import COMPILED_ROWS, COPIED_COUNTERS
from tacit.count.protocol import DENSE_CELLS, CountEngine
from tacit.count.slots import joint_slots
from tacit.count.table import TableEngine
from tacit.errors import InvalidInput, UnknownName
from tacit.table import Table

# Codes of a block stay in the second-level cache; smaller blocks cost more in calls than they save.
BLOCK_ROWS = 1 << 17


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
    replicates: tuple[str, ...] = ()
    replicate_scale: float | None = None  # of the sum of squared deviations; one over the replicates if not said

    @property
    def column_names(self) -> list[str]:
        columns = (self.weights, self.strata, self.clusters, self.sampled, *self.replicates)
        return [column for column in columns if isinstance(column, str)]


def weighted_tally(
    table: Table,
    columns: Sequence[str],
    weights: Array,
    keys: NDArray[np.intp],
    stratum_of: NDArray[np.intp],
    *,
    compiled_from: int = COMPILED_ROWS,
) -> WeightedTally:
    """The weighted tally of a table in memory, by the key of each row; `stratum_of` holds each key's stratum."""
    shape = tuple(table.schema[name].tally_size for name in columns)
    checked_keys(math.prod(shape), len(stratum_of))
    show_one = all(table.schema[name].shows == "one" for name in columns)
    add = _sum_compiled if show_one and table.n_rows >= compiled_from else _by_numpy
    both = add(table, columns, weights, keys, (math.prod(shape), len(stratum_of)))
    squares = np.zeros((math.prod(shape), int(stratum_of.max()) + 1))
    np.add.at(squares.T, stratum_of, both[:, :, 1].T)
    return WeightedTally(both[:, :, 0].reshape(*shape, -1), squares.reshape(*shape, -1))


def _by_numpy(
    table: Table, columns: Sequence[str], weights: Array, keys: NDArray[np.intp], size: tuple[int, int]
) -> Array:
    """Sums of weights and of their squares, ``(cells, keys, 2)``, block by block."""
    both = np.zeros((2, size[0] * size[1]))
    for start in range(0, table.n_rows, COMPILED_ROWS):
        here = slice(start, start + COMPILED_ROWS)
        slots = joint_slots(table.rows(here), columns)
        many = np.diff(slots.row_ends(), prepend=0)
        cells = slots.values.astype(np.intp) * size[1] + np.repeat(keys[here], many)
        weight = np.repeat(weights[here], many)
        both[0] += np.bincount(cells, weight, both.shape[1])
        both[1] += np.bincount(cells, weight**2, both.shape[1])
    return np.moveaxis(both.reshape(2, *size), 0, -1)


def _sum_compiled(
    table: Table, columns: Sequence[str], weights: Array, keys: NDArray[np.intp], size: tuple[int, int]
) -> Array:
    """Sums of weights and of their squares, ``(cells, keys, 2)``, by compiled loops, for columns that show one answer.

    The last two axes are joined as weights are added; those before them block by block.
    """
    from tacit.count._memory_kernels import extend_codes
    from tacit.count._weighted_kernels import add_weights

    axes: list[tuple[NDArray[Any], int]] = [(table[name], table.schema[name].size) for name in columns]
    if size[1] > 1:
        axes.append((keys, size[1]))
    *before, (last, last_size) = axes
    copies = 4 if size[0] * size[1] <= COPIED_COUNTERS else 1
    both = np.zeros((copies, size[0] * size[1], 2))
    if len(before) == 1:
        add_weights(before[0][0], last, np.uint32(last_size), weights, both)
        return both.sum(axis=0).reshape(*size, 2)
    buffer = np.zeros(BLOCK_ROWS, dtype=np.uint32)
    for start in range(0, table.n_rows, BLOCK_ROWS):
        here = slice(start, min(start + BLOCK_ROWS, table.n_rows))
        codes = buffer[: here.stop - start]
        codes[:] = 0
        for column, radix in before:
            extend_codes(codes, column[here], np.uint32(radix))
        add_weights(codes, last[here], np.uint32(last_size), weights[here], both)
    return both.sum(axis=0).reshape(*size, 2)


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
    replicates: Array  # [group, replicate]: sums of the replicate weights


def stored_groups(engine: CountEngine, columns: Sequence[str], sample: SampleColumns) -> StoredGroups:
    """The groups of a table that stays where it is stored, or of a tally that was weighted."""
    if hasattr(engine, "weighted_groups"):
        groups: StoredGroups = engine.weighted_groups(columns)
        return groups
    if not isinstance(engine, TableEngine):
        raise InvalidInput(
            "Weights, strata and clusters are named as columns only for a table in a database. For reports in memory give "
            "the values themselves: SampleDesign.of(n, weights=[...])."
        )
    attributes = [engine.schema[name] for name in columns]
    if any(attribute.shows != "one" for attribute in attributes):
        raise InvalidInput(
            "Reports that show sets or bits can be weighted in memory only. Read them into memory first: Reports.read(path)."
        )
    result = answer(grouped_rows(engine, columns, sample))
    counts = result.column("rows")
    cells = np.zeros(result.num_rows, dtype=np.intp)
    for position, attribute in enumerate(attributes):
        cells = cells * attribute.size + value_codes(result.column(f"k{position}"), attribute, counts)
    strata, stratum = _number_values(result.column("stratum").to_pylist())
    clusters, cluster = _number_values(result.column("cluster").to_pylist())
    rows = np.asarray(counts.to_numpy(), np.int64)
    share = 0.0 if sample.sampled is None or isinstance(sample.sampled, str) else sample.sampled
    numbers = {"sampled": np.full(len(rows), float(share))}
    for name in {"sums", "squares", "sampled"} & set(result.column_names):
        numbers[name] = np.asarray(result.column(name).to_numpy(), np.float64)
    again = [np.asarray(result.column(f"r{at}").to_numpy(), np.float64) for at in range(len(sample.replicates))]
    replicates = np.stack(again, axis=1) if again else np.zeros((len(rows), 0))
    return StoredGroups(strata, clusters, stratum, cluster, cells, rows, replicates=replicates, **numbers)


def grouped_rows(engine: TableEngine, columns: Sequence[str], sample: SampleColumns) -> Any:
    """The query for the rows, weights and squared weights of each combination of columns, stratum and cluster."""
    import ibis

    table = engine.table
    for name in sample.column_names:
        if name not in table.columns:
            raise UnknownName("Column", name, table.columns)
    # Counting adds whole numbers, which no database turns into decimals of its own.
    weight = ibis.literal(1, type="int64") if sample.weights is None else table[sample.weights].cast("float64")
    if sample.weights is not None:
        _checked_stored(table.select(w=weight))
    again = {f"r{at}": table[name].cast("float64") for at, name in enumerate(sample.replicates)}
    for name in again:
        _checked_replicates(table.select(w=again[name]), sample.replicates[int(name[1:])])
    share = sample.sampled
    rows = table.select(
        **{f"k{position}": engine.grouped_by(name) for position, name in enumerate(columns)},
        stratum=_text(table, sample.strata),
        cluster=_text(table, sample.clusters),
        w=weight,
        **again,
        **({"sampled": table[share].cast("float64")} if isinstance(share, str) else {}),
    )
    keys = [name for name in rows.columns if name != "w" and name not in again]
    return rows.group_by(keys).agg(
        rows=rows.count(),
        sums=rows.w.sum(),
        squares=(rows.w * rows.w).sum(),
        **{name: rows[name].sum() for name in again},
    )


def _text(table: Any, name: str | None) -> Any:
    import ibis

    return ibis.literal("") if name is None else table[name].cast("string")


def _checked_stored(weights: Any) -> None:
    wrong = weights.w.isnull() | (weights.w <= 0)
    bad = single_row(weights.agg(bad=as_number(wrong).sum()))["bad"]
    if bad:
        raise InvalidInput(f"{int(bad):,} weights are missing, 0 or below; weights must be above 0.")


def _checked_replicates(weights: Any, name: str) -> None:
    wrong = weights.w.isnull() | (weights.w < 0)
    counted = single_row(weights.agg(bad=as_number(wrong).sum(), total=weights.w.sum()))
    if counted["bad"] or not counted["total"]:
        raise InvalidInput(f"The replicate weights {name!r} must be numbers of at least 0, not all of them 0.")


def _number_values(values: Sequence[Any]) -> tuple[list[str], NDArray[np.intp]]:
    if any(value is None for value in values):
        raise InvalidInput("Strata and clusters need a value in every row; some are missing.")
    names, codes = np.unique(np.asarray([str(value) for value in values]), return_inverse=True)
    return [str(name) for name in names], codes.reshape(-1).astype(np.intp)
