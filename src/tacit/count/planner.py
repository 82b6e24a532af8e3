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
# Up to so many tables the best columns are looked for one by one; the search grows faster than the number of tables.
SEARCHED_TABLES = 128


@dataclass(frozen=True)
class Cover:
    """Columns that are counted together, and the positions of the wanted tallies that are margins of it."""

    columns: tuple[str, ...]
    wanted: tuple[int, ...]


def covers(wanted: Sequence[Sequence[str]], sizes: Mapping[str, int], cells: int = COVER_CELLS) -> tuple[Cover, ...]:
    """Few sets of columns, each within `cells` where possible, of which every wanted set is a subset.

    >>> covers([["a"], ["b"], ["a", "b"]], {"a": 2, "b": 3})
    (Cover(columns=('a', 'b'), wanted=(0, 1, 2)),)
    """
    if len(wanted) <= SEARCHED_TABLES:
        return _search_covers(wanted, sizes, cells)
    return block_covers(wanted, sizes, cells)


def _search_covers(wanted: Sequence[Sequence[str]], sizes: Mapping[str, int], cells: int) -> tuple[Cover, ...]:
    """Greedy: the largest set that is left grows by the column that completes most others, as long as it fits."""
    left = {position: frozenset(columns) for position, columns in enumerate(wanted)}
    order = sorted(left, key=lambda position: -_cells(left[position], sizes))
    chosen = []
    for position in order:
        if position not in left:
            continue
        grown = _grow_cover(left[position], left.values(), sizes, cells)
        inside = tuple(other for other, columns in left.items() if columns <= grown)
        used = frozenset().union(*(left[other] for other in inside))
        chosen.append(Cover(tuple(name for name in sizes if name in used), inside))
        for other in inside:
            del left[other]
    return tuple(chosen)


def block_covers(wanted: Sequence[Sequence[str]], sizes: Mapping[str, int], cells: int) -> tuple[Cover, ...]:
    """Covers that are unions of blocks of columns, in time in proportion to the number of wanted sets.

    The columns are cut into blocks, so small that as many as the longest set has columns fit together. A set belongs to
    the union of the blocks it touches; one that touches fewer joins any union that holds those.
    """
    longest = max(map(len, wanted), default=1)
    asked = {name for columns in wanted for name in columns}
    block_of = _blocks([name for name in sizes if name in asked], sizes, cells ** (1 / max(longest, 1)))
    touched = [tuple(sorted({block_of[name] for name in columns})) for columns in wanted]
    unions: dict[tuple[int, ...], list[int]] = {}
    smaller: dict[tuple[int, ...], list[int]] = {}
    most = max(map(len, touched), default=0)
    for position, blocks in enumerate(touched):
        (unions if len(blocks) == most else smaller).setdefault(blocks, []).append(position)
    _join_larger(unions, smaller)
    packed = [cover for positions in unions.values() for cover in _pack_union(positions, wanted, sizes, cells)]
    rank = {name: place for place, name in enumerate(sizes)}
    return tuple(Cover(tuple(sorted(columns, key=rank.__getitem__)), tuple(positions)) for columns, positions in packed)


def _pack_union(
    positions: Sequence[int], wanted: Sequence[Sequence[str]], sizes: Mapping[str, int], cells: int
) -> list[tuple[set[str], list[int]]]:
    """The sets of one union, in several parts where a large column makes it outgrow the cells."""
    parts: list[tuple[set[str], list[int]]] = []
    for position in positions:
        columns = parts[-1][0].union(wanted[position]) if parts else set(wanted[position])
        if parts and math.prod(sizes[name] for name in columns) <= cells:
            parts[-1][0].update(wanted[position])
            parts[-1][1].append(position)
        else:
            parts.append((set(wanted[position]), [position]))
    return parts


def _blocks(names: Sequence[str], sizes: Mapping[str, int], limit: float) -> dict[str, int]:
    """Blocks of neighbouring columns with at most `limit` cells each; a column that is larger is one of its own."""
    block_of, block, filled = {}, 0, 1
    for name in names:
        # The limit is a root: what should just fit must not fail by a rounding.
        if filled > 1 and filled * sizes[name] > limit * (1 + 1e-9):
            block, filled = block + 1, 1
        block_of[name] = block
        filled *= sizes[name]
    return block_of


def _join_larger(unions: dict[tuple[int, ...], list[int]], smaller: Mapping[tuple[int, ...], list[int]]) -> None:
    """Give the sets that touch fewer blocks to a union that holds these; where there is none, to one of their own."""
    for blocks, positions in sorted(smaller.items(), key=lambda item: -len(item[0])):
        holding = next((union for union in unions if set(blocks) <= set(union)), None)
        unions.setdefault(blocks if holding is None else holding, []).extend(positions)


def tallied_by_covers(
    column_sets: Sequence[Sequence[str]],
    schema: Schema,
    counted: Callable[[tuple[str, ...]], NDArray[np.int64]],
    *,
    merge: bool = True,
) -> list[NDArray[np.int64]]:
    """All wanted tallies, from `counted` over few sets of columns (over each wanted set itself without `merge`)."""
    plan = plan_covers(column_sets, schema, merge=merge)
    return margins(plan, [counted(cover.columns) for cover in plan], column_sets)


def margins(
    plan: Sequence[Cover], counts: Sequence[NDArray[np.int64]], column_sets: Sequence[Sequence[str]]
) -> list[NDArray[np.int64]]:
    """The wanted tallies, from the counts of their covers."""
    tallies: dict[int, NDArray[np.int64]] = {}
    for cover, counted in zip(plan, counts, strict=True):
        for position in cover.wanted:
            tallies[position] = margin(counted, cover.columns, column_sets[position])
    return [tallies[position] for position in range(len(column_sets))]


def plan_covers(
    column_sets: Sequence[Sequence[str]], schema: Schema, *, merge: bool, cells: int = COVER_CELLS
) -> list[Cover]:
    """What to count. Sets and bits are counted as wanted: a row adds to all combinations of its slots."""
    together, alone = [], []
    for position, columns in enumerate(column_sets):
        checked_cells(schema, columns)
        if merge and all(schema[name].shows == "one" for name in columns):
            together.append(position)
        else:
            alone.append(Cover(tuple(columns), (position,)))
    sizes = {attribute.name: attribute.tally_size for attribute in schema}
    merged = covers([column_sets[position] for position in together], sizes, cells)
    return [*alone, *(Cover(cover.columns, tuple(together[i] for i in cover.wanted)) for cover in merged)]


def _cells(columns: frozenset[str], sizes: Mapping[str, int]) -> int:
    return math.prod(sizes[name] for name in columns)


def _grow_cover(
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
    remaining = [name for name in columns if name in wanted]
    return np.ascontiguousarray(counts.sum(axis=summed).transpose([remaining.index(name) for name in wanted]))
