"""Many small tallies from few larger ones: which columns to count together, and how to sum the rest out."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.count.protocol import checked_cells
from tacit.schema import Schema

# Two copies of this many 32-bit counters fit a second-level cache of one megabyte, and leave room for the codes.
COVER_CELLS = 1 << 16


@dataclass(frozen=True)
class Cover:
    """Columns that are counted together, and the positions of the wanted tallies that are margins of it."""

    columns: tuple[str, ...]
    wanted: tuple[int, ...]


def covers(wanted: Sequence[Sequence[str]], sizes: Mapping[str, int], cells: int = COVER_CELLS) -> tuple[Cover, ...]:
    """Few sets of columns, each within `cells` where possible, of which every wanted set is a subset.

    Greedy: the largest set that is left grows by the column that completes most others, as long as it fits.

    >>> covers([["a"], ["b"], ["a", "b"]], {"a": 2, "b": 3})
    (Cover(columns=('a', 'b'), wanted=(0, 1, 2)),)
    """
    left = {position: frozenset(columns) for position, columns in enumerate(wanted)}
    order = sorted(left, key=lambda position: -_cells(left[position], sizes))
    found = []
    for position in order:
        if position not in left:
            continue
        grown = _grown(left[position], left.values(), sizes, cells)
        inside = tuple(other for other, columns in left.items() if columns <= grown)
        used = frozenset().union(*(left[other] for other in inside))
        found.append(Cover(tuple(name for name in sizes if name in used), inside))
        for other in inside:
            del left[other]
    return tuple(found)


def tallied_by_covers(
    column_sets: Sequence[Sequence[str]],
    schema: Schema,
    counted: Callable[[tuple[str, ...]], NDArray[np.int64]],
    *,
    merge: bool = True,
) -> list[NDArray[np.int64]]:
    """All wanted tallies, from `counted` over few sets of columns (over each wanted set itself without `merge`).

    Sets and bits are always counted as wanted: a row adds to all combinations of its slots, so more columns cost more.
    """
    found: dict[int, NDArray[np.int64]] = {}
    for cover in _plan(column_sets, schema, merge=merge):
        counts = counted(cover.columns)
        for position in cover.wanted:
            found[position] = margin(counts, cover.columns, column_sets[position])
    return [found[position] for position in range(len(column_sets))]


def _plan(column_sets: Sequence[Sequence[str]], schema: Schema, *, merge: bool) -> list[Cover]:
    together, alone = [], []
    for position, columns in enumerate(column_sets):
        checked_cells(schema, columns)
        if merge and all(schema[name].shows == "one" for name in columns):
            together.append(position)
        else:
            alone.append(Cover(tuple(columns), (position,)))
    sizes = {attribute.name: attribute.tally_size for attribute in schema}
    found = covers([column_sets[position] for position in together], sizes)
    return [*alone, *(Cover(cover.columns, tuple(together[i] for i in cover.wanted)) for cover in found)]


def _cells(columns: frozenset[str], sizes: Mapping[str, int]) -> int:
    return math.prod(sizes[name] for name in columns)


def _grown(
    start: frozenset[str], others: Collection[frozenset[str]], sizes: Mapping[str, int], cells: int
) -> frozenset[str]:
    grown = start
    candidates = frozenset().union(*others) - grown
    while True:
        room = cells // max(_cells(grown, sizes), 1)
        fitting = [name for name in sizes if name in candidates and sizes[name] <= room]
        if not fitting:
            return grown
        best = max(fitting, key=lambda name: (_gain(grown | {name}, others), -sizes[name]))
        grown, candidates = grown | {best}, candidates - {best}


def _gain(columns: frozenset[str], others: Collection[frozenset[str]]) -> float:
    """How much of the other sets lies within these columns; a set that is complete counts far more than its parts."""
    return float(sum(len(columns & other) ** 4 / len(other) ** 4 if other else 1 for other in others))


def margin(counts: NDArray[np.int64], columns: Sequence[str], wanted: Sequence[str]) -> NDArray[np.int64]:
    """The tally of some of the columns of a larger one, its axes in the wanted order."""
    summed = tuple(axis for axis, name in enumerate(columns) if name not in wanted)
    kept = [name for name in columns if name in wanted]
    return np.ascontiguousarray(counts.sum(axis=summed).transpose([kept.index(name) for name in wanted]))
