"""How many reports show the answers of an itemset, all of them or some: the raw counts behind estimated supports.

Where the joint domain of the answers that can still be frequent is small, it is counted once and summed along every axis
(a data cube). Otherwise the candidates of each level are counted in one round: in memory by intersecting bitmaps, one bit
a report for each answer; elsewhere by tallies where these are small, else by totals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.count.abilities import held_rows
from tacit.count.protocol import CountEngine
from tacit.mine.sub_itemsets import Codes, Names, keys, members
from tacit.table import Table

# A cube of this many cells takes 32 MB and a tenth of a second.
CUBE_CELLS = 1 << 23
# A tally beyond this holds more empty cells than candidates: these are then counted one by one, in one pass.
TALLY_CELLS = 1 << 20

Level = Mapping[Names, Codes]


class ShownCounts(Protocol):
    """Counts of reports by what they show of an itemset."""

    def prepare(self, level: Level) -> None:
        """Count the candidates of a level, after those of all levels below it."""

    def at_least(self, names: Names, codes: Codes, free: Sequence[int]) -> NDArray[np.int64]:
        """Reports that show each sub-itemset of the answers at the `free` positions, and every other answer."""


@dataclass(frozen=True, eq=False)
class Cube:
    """Counts over the answers kept of each attribute, with a last slot along every axis that counts everyone."""

    names: Names
    slots: Mapping[str, NDArray[np.int64]]  # the slot of each code
    counts: NDArray[Any]

    def prepare(self, level: Level) -> None:
        """Everything is counted already."""

    def at_least(self, names: Names, codes: Codes, free: Sequence[int]) -> NDArray[np.int64]:
        strides = np.array(self.counts.strides) // self.counts.itemsize
        everyone = np.array(self.counts.shape) - 1
        inside = members(len(free))
        cells = np.full((len(codes), len(inside)), strides @ everyone)
        for position, name in enumerate(names):
            axis = self.names.index(name)
            step = (self.slots[name][codes[:, position]] - everyone[axis]) * strides[axis]
            shown = inside[:, list(free).index(position)] if position in free else np.ones(len(inside), dtype=np.bool_)
            cells += step[:, None] * shown
        return self.counts.reshape(-1)[cells].astype(np.int64)


class CandidateCounts(Protocol):
    """Counts of the candidates of one level."""

    def __call__(self, level: Level) -> Iterator[NDArray[np.int64]]: ...


@dataclass(eq=False)
class Levels:
    """Counts of the candidates of each level, kept for the levels above."""

    engine: CountEngine
    _numbers: dict[Names, NDArray[np.int64]] = field(default_factory=dict)
    _counts: dict[Names, NDArray[np.int64]] = field(default_factory=dict)

    @cached_property
    def _counted(self) -> CandidateCounts:
        rows = held_rows(self.engine)
        return Queries(self.engine) if rows is None else Bitmaps(rows)

    def _sizes(self, names: Names) -> list[int]:
        return [self.engine.schema[name].size for name in names]

    def prepare(self, level: Level) -> None:
        for (names, codes), counts in zip(level.items(), self._counted(level), strict=True):
            numbers = keys(codes, self._sizes(names))
            order = np.argsort(numbers)
            self._numbers[names], self._counts[names] = numbers[order], counts[order]

    def at_least(self, names: Names, codes: Codes, free: Sequence[int]) -> NDArray[np.int64]:
        inside = members(len(free))
        counts = np.empty((len(codes), len(inside)), dtype=np.int64)
        for sub, shown in enumerate(inside):
            kept = [at for at in range(len(names)) if at not in free or shown[list(free).index(at)]]
            counts[:, sub] = self._look_up(tuple(names[at] for at in kept), codes[:, kept])
        return counts

    def _look_up(self, names: Names, codes: Codes) -> NDArray[np.int64]:
        if not names:
            return np.full(len(codes), self.engine.n_rows)
        wanted = keys(codes, self._sizes(names))
        return self._counts[names][np.searchsorted(self._numbers[names], wanted)]


@dataclass(frozen=True, eq=False)
class Bitmaps:
    """Counts in memory: for each answer one bit a report that says whether it is shown."""

    table: Table
    _maps: dict[tuple[str, int], NDArray[np.uint64]] = field(default_factory=dict)

    def __call__(self, level: Level) -> Iterator[NDArray[np.int64]]:
        for names, codes in level.items():
            yield np.array([self._count(names, row) for row in codes], dtype=np.int64)

    def _count(self, names: Names, row: NDArray[np.int64]) -> int:
        shown = self._map(names[0], int(row[0]))
        for name, code in zip(names[1:], row[1:], strict=True):
            shown = shown & self._map(name, int(code))
        return int(np.bitwise_count(shown).sum(dtype=np.int64))

    def _map(self, name: str, code: int) -> NDArray[np.uint64]:
        if (name, code) not in self._maps:
            column = self.table[name]
            shown = column[:, code] if column.ndim == 2 else column == code
            packed = np.packbits(shown)
            whole = np.zeros(-(-len(packed) // 8) * 8, dtype=np.uint8)
            whole[: len(packed)] = packed
            self._maps[name, code] = whole.view(np.uint64)
        return self._maps[name, code]


@dataclass(frozen=True, eq=False)
class Queries:
    """Counts by the two questions that any engine answers."""

    engine: CountEngine

    def __call__(self, level: Level) -> Iterator[NDArray[np.int64]]:
        small = [names for names in level if _cells(self.engine, names) <= TALLY_CELLS]
        tallies = dict(zip(small, self.engine.tallies(small), strict=True))
        totals = self._totals({names: codes for names, codes in level.items() if names not in tallies})
        for names, codes in level.items():
            if names in tallies:
                yield tallies[names][tuple(codes.T)]
            else:
                yield totals[: len(codes)]
                totals = totals[len(codes) :]

    def _totals(self, large: Level) -> NDArray[np.int64]:
        """Reports that show each candidate, all in one pass."""
        products = [
            [((name,), _only(self.engine, name, code)) for name, code in zip(names, row, strict=True)]
            for names, codes in large.items()
            for row in codes
        ]
        return self.engine.totals(products).sums.round().astype(np.int64) if products else np.zeros(0, dtype=np.int64)


def _cells(engine: CountEngine, names: Sequence[str]) -> int:
    return math.prod(engine.schema[name].tally_size for name in names)


def _only(engine: CountEngine, name: str, code: int) -> NDArray[np.float64]:
    weights = np.zeros(engine.schema[name].tally_size)
    weights[code] = 1
    return weights


def shown_counts(engine: CountEngine, kept: Mapping[str, NDArray[np.int64]]) -> ShownCounts:
    """Counts over the answers `kept` of each attribute, by the cheapest way there is."""
    if not all(engine.schema[name].shows == "one" for name in kept):
        return Levels(engine)  # a row adds to every combination of the bits it shows: too many for a cube
    rows = held_rows(engine)
    if rows is not None:
        is_small = math.prod(len(codes) + 1 for codes in kept.values()) <= CUBE_CELLS
        return _cube_of_rows(rows, kept) if is_small else Levels(engine)
    return _cube_of_tally(engine, tuple(kept)) if _cells(engine, tuple(kept)) <= TALLY_CELLS else Levels(engine)


def _cube_of_rows(table: Table, kept: Mapping[str, NDArray[np.int64]]) -> Cube:
    """Rows counted over the kept answers; all others of an attribute share the slot that becomes everyone's."""
    slots, shape = {}, []
    cells = np.zeros(table.n_rows, dtype=np.int32)
    for name, codes in kept.items():
        slots[name] = np.full(table.schema[name].size, len(codes))
        slots[name][codes] = np.arange(len(codes))
        shape.append(len(codes) + 1)
        cells *= np.int32(shape[-1])
        cells += slots[name].astype(np.int32)[table[name]]
    # Half the width is half the memory to go through; a table in memory has fewer rows than that counts.
    counts = np.bincount(cells, minlength=math.prod(shape)).astype(np.uint32).reshape(shape)
    for axis, size in enumerate(shape):
        slots_along = np.moveaxis(counts, axis, 0)
        for slot in range(size - 1):  # whole slices are added much faster than numpy sums along a short axis
            slots_along[-1] += slots_along[slot]
    return Cube(tuple(kept), slots, counts)


def _cube_of_tally(engine: CountEngine, names: Names) -> Cube:
    counts = engine.tally(names)
    for axis in range(len(names)):
        counts = np.concatenate([counts, counts.sum(axis=axis, keepdims=True)], axis=axis)
    return Cube(names, {name: np.arange(engine.schema[name].size) for name in names}, np.ascontiguousarray(counts))
