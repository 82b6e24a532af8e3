"""How many reports show the answers of an itemset, all of them or some: the raw counts behind estimated supports.

Where the joint domain of the answers that can still be frequent is small, it is counted once and summed along every axis
(a data cube). Otherwise the candidates of each level are counted in one round: many pairs, and whatever a database counts in
few scans, by tallies; all others by bits, one a report for each answer, as the rows lie in memory or come out of a database.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.count.abilities import coded_parts, counted_there, held_rows
from tacit.count.pairs import FEWEST_TABLES
from tacit.count.partitions import CommonQuestion
from tacit.count.protocol import CountEngine
from tacit.count.tabled import TabledEngine
from tacit.schema import Schema
from tacit.table import Table

# A cube of this many cells takes 32 MB and a tenth of a second.
CUBE_CELLS = 1 << 23
# A tally beyond this holds more empty cells than candidates: these are then counted one by one, in one pass.
TALLY_CELLS = 1 << 20
# Of pairs a tally is worth it up to this many cells.
PAIR_CELLS = 1 << 10
# Rows times itemsets from which on compiled loops earn their import.
COMPILED_ROWS = 1 << 28

Names = tuple[str, ...]
Codes = NDArray[np.int64]  # itemsets over the same attributes: one row each, one column per attribute
Level = Mapping[Names, Codes]  # itemsets of one length
Items = NDArray[np.int64]  # [itemset, place]: answers, numbered through all attributes


@dataclass(frozen=True, eq=False)
class Numbering:
    """One number for every answer of every attribute, so that itemsets over different attributes stand in one array."""

    schema: Schema

    @cached_property
    def starts(self) -> dict[str, int]:
        sizes = [attribute.size for attribute in self.schema]
        return dict(zip(self.schema.names, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True))

    @cached_property
    def size(self) -> int:
        return sum(attribute.size for attribute in self.schema)

    def items(self, level: Level) -> Items:
        """The itemsets of a level, one after the other."""
        codes = np.concatenate(list(level.values()))
        starts = np.array([[self.starts[name] for name in names] for names in level], dtype=np.int64)
        return codes + np.repeat(starts, [len(itemsets) for itemsets in level.values()], axis=0)

    @cached_property
    def answers(self) -> list[tuple[str, int]]:
        """The attribute and the code behind each number."""
        return [(attribute.name, code) for attribute in self.schema for code in range(attribute.size)]


class ShownCounts(Protocol):
    """Counts of reports by what they show of an itemset."""

    def prepare(self, level: Level) -> None:
        """Count the candidates of a level, after those of all levels below it."""

    def at_least(self, items: Items, free: Sequence[int]) -> NDArray[np.int64]:
        """Reports that show each sub-itemset of the answers at the `free` places, and every other answer."""


@dataclass(frozen=True, eq=False)
class Cube:
    """Counts over the answers kept of each attribute, with a last slot along every axis that counts everyone.

    ``steps[item]`` is how far the slot of an answer lies from everyone's, in the raveled counts.
    """

    counts: NDArray[Any]
    steps: NDArray[np.int64]

    def prepare(self, level: Level) -> None:
        """Everything is counted already."""

    def at_least(self, items: Items, free: Sequence[int]) -> NDArray[np.int64]:
        cells = np.full((len(items), 1), self.counts.size - 1)
        for place in (place for place in range(items.shape[1]) if place not in free):
            cells += self.steps[items[:, place], None]
        for place in free:
            cells = np.concatenate([cells, cells + self.steps[items[:, place], None]], axis=1)
        return self.counts.reshape(-1)[cells].astype(np.int64)


@dataclass(frozen=True, eq=False)
class Counted:
    """Itemsets of one length that were counted, by ascending key: who they are, and how many reports show each."""

    keys: NDArray[np.int64]
    ids: NDArray[np.int64]
    counts: NDArray[np.int64]  # by id

    def with_more(self, keys: NDArray[np.int64], counts: NDArray[np.int64]) -> Counted:
        """These itemsets and more of them; one that was counted before keeps its id."""
        new = ~np.isin(keys, self.keys)
        every = np.concatenate([self.keys, keys[new]])
        ids = np.concatenate([self.ids, len(self.counts) + np.arange(int(new.sum()))])
        order = np.argsort(every)
        return Counted(every[order], ids[order], np.concatenate([self.counts, counts[new]]))

    def ids_of(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.ids[np.searchsorted(self.keys, keys)]


NOTHING = Counted(*(np.zeros(0, dtype=np.int64) for _ in range(3)))


@dataclass(eq=False)
class Levels:
    """Counts of the candidates of each level, kept for the levels above.

    An itemset is known by the identity of all its answers but the last, and by the last: so keys stay small however long
    it is.
    """

    engine: CountEngine
    _levels: dict[int, Counted] = field(default_factory=dict)

    @cached_property
    def numbering(self) -> Numbering:
        return Numbering(self.engine.schema)

    def prepare(self, level: Level) -> None:
        if not level:
            return
        items = self.numbering.items(level)
        counts = counted_level(self.engine, level, items, self.numbering)
        length = items.shape[1]
        before = np.zeros(len(items), dtype=np.int64)
        for place in range(length - 1):
            before = self._levels[place + 1].ids_of(before * self.numbering.size + items[:, place])
        keys = before * self.numbering.size + items[:, -1]
        self._levels[length] = self._levels.get(length, NOTHING).with_more(keys, counts)

    def at_least(self, items: Items, free: Sequence[int]) -> NDArray[np.int64]:
        # Sub-itemsets by the answers looked at so far: their length and, of every itemset, the identity of that part.
        parts = [(0, np.zeros(len(items), dtype=np.int64))]
        for place in range(items.shape[1]):
            longer = [self._longer(length, ids, items[:, place]) for length, ids in parts]
            parts = [*parts, *longer] if place in free else longer
        everyone = np.full(len(items), self.engine.n_rows, dtype=np.int64)
        return np.column_stack([self._levels[length].counts[ids] if length else everyone for length, ids in parts])

    def _longer(self, length: int, ids: NDArray[np.int64], answers: NDArray[np.int64]) -> tuple[int, NDArray[np.int64]]:
        return length + 1, self._levels[length + 1].ids_of(ids * self.numbering.size + answers)


def counted_level(engine: CountEngine, level: Level, items: Items, numbering: Numbering) -> NDArray[np.int64]:
    """How many reports show each itemset of a level, in as few passes as possible."""
    columns = tuple(dict.fromkeys(name for names in level for name in names))
    if _is_tallied(engine, level):
        return _by_tallies(engine, level)
    used, combinations = np.unique(items, return_inverse=True)
    answers = [numbering.answers[item] for item in used]
    question = CommonQuestion(answers, combinations.reshape(items.shape))
    there = counted_there(engine, columns, question)
    if there is not None:
        return there.counts()
    tables = coded_parts(engine, columns)
    if tables is None:
        return _by_both_questions(engine, level)
    common = question.counter(compiled="numba" in sys.modules or engine.n_rows * len(items) >= COMPILED_ROWS)
    for table in tables:
        common.add(table)
    return common.counts()


def _is_tallied(engine: CountEngine, level: Level) -> bool:
    """Whether tallies are the way to all counts of a level."""
    if held_rows(engine) is None:
        return all(_cells(engine, names) <= TALLY_CELLS for names in level)
    # Bits count many pairs of columns in less time than many pairs of answers.
    return len(level) >= FEWEST_TABLES and all(
        len(names) <= 2 and _cells(engine, names) <= PAIR_CELLS and _shows_one(engine.schema, names) for names in level
    )


def _by_tallies(engine: CountEngine, level: Level) -> NDArray[np.int64]:
    tallies = engine.tallies(list(level))
    return np.concatenate([tally[tuple(codes.T)] for tally, codes in zip(tallies, level.values(), strict=True)])


def _by_both_questions(engine: CountEngine, level: Level) -> NDArray[np.int64]:
    """Small tables by tallies, the candidates of large ones by totals."""
    small = {names: codes for names, codes in level.items() if _cells(engine, names) <= TALLY_CELLS}
    tallies = dict(zip(small, engine.tallies(list(small)), strict=True)) if small else {}
    products = [
        [((name,), _only(engine, name, code)) for name, code in zip(names, row, strict=True)]
        for names, codes in level.items()
        if names not in small
        for row in codes
    ]
    sums = engine.totals(products).sums.round().astype(np.int64)
    counts = []
    for names, codes in level.items():
        if names in tallies:
            counts.append(tallies[names][tuple(codes.T)])
        else:
            counts.append(sums[: len(codes)])
            sums = sums[len(codes) :]
    return np.concatenate(counts)


def _cells(engine: CountEngine, names: Sequence[str]) -> int:
    return math.prod(engine.schema[name].tally_size for name in names)


def _shows_one(schema: Schema, names: Sequence[str]) -> bool:
    return all(schema[name].shows == "one" for name in names)


def _only(engine: CountEngine, name: str, code: int) -> NDArray[np.float64]:
    weights = np.zeros(engine.schema[name].tally_size)
    weights[code] = 1
    return weights


def cube_of(engine: CountEngine, kept: Mapping[str, NDArray[np.int64]]) -> Cube | None:
    """All counts over the answers `kept` of each attribute, where they are few enough."""
    if not kept or not _shows_one(engine.schema, list(kept)):
        return None  # a row adds to every combination of the bits it shows: too many for a cube
    rows = held_rows(engine)
    if rows is not None:
        is_small = math.prod(len(codes) + 1 for codes in kept.values()) <= CUBE_CELLS
        return _cube_of_rows(rows, kept, engine.schema) if is_small else None
    is_held = not isinstance(engine, TabledEngine) or engine.holds(tuple(kept))
    return _cube_of_tally(engine, tuple(kept)) if is_held and _cells(engine, tuple(kept)) <= TALLY_CELLS else None


def _cube_of_rows(table: Table, kept: Mapping[str, NDArray[np.int64]], schema: Schema) -> Cube:
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
    return Cube(counts, _steps(counts, slots, schema))


def _cube_of_tally(engine: CountEngine, names: Names) -> Cube:
    counts = engine.tally(names)
    for axis in range(len(names)):
        counts = np.concatenate([counts, counts.sum(axis=axis, keepdims=True)], axis=axis)
    counts = np.ascontiguousarray(counts)
    return Cube(counts, _steps(counts, {name: np.arange(engine.schema[name].size) for name in names}, engine.schema))


def _steps(counts: NDArray[Any], slots: Mapping[str, NDArray[np.int64]], schema: Schema) -> NDArray[np.int64]:
    numbering = Numbering(schema)
    steps = np.zeros(numbering.size, dtype=np.int64)
    for axis, (name, column_slots) in enumerate(slots.items()):
        start = numbering.starts[name]
        stride = counts.strides[axis] // counts.itemsize
        steps[start : start + len(column_slots)] = (column_slots - (counts.shape[axis] - 1)) * stride
    return steps
