"""One publishing problem, ready for the kernels: the tally, what a chromosome means, what every class must show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.publish._class_kernels import measure_all
from tacit.publish._demand_kernels import Demand
from tacit.publish._halves_kernels import HalvedSets, HalvedTally, halved_sets
from tacit.publish._space_kernels import Space
from tacit.publish.combinations import Combinations, first_with
from tacit.publish.tally import QuasiTally

Bits = NDArray[np.uint8]
Levels = Sequence[NDArray[np.int64] | None]

NWP, NECD, SMALLEST, STRENGTH, SUPPRESSED = range(5)
# A half's combinations are numbered in 64-bit integers.
LARGEST_HALF = 2**62
MOST_SENSITIVE_COUNTS = 2**29  # combinations times sensitive answers: two gigabytes


@dataclass(frozen=True)
class Diversity:
    """What sensitive attributes must show in every class: l answers (counted or by entropy), at most t from all released rows.

    `entropy` reads l as "the entropy is at least that of l equally frequent answers", `recursive` as "the most frequent answer
    has fewer rows than this many times those from the l-th most frequent on". `beta` is how much more frequent an answer may
    be than in all released rows, as a share of its share there.
    """

    l: float | None = None  # noqa: E741  the letter of the literature
    t: float | None = None
    entropy: bool = False
    recursive: float | None = None
    beta: float | None = None


@dataclass(frozen=True)
class Presence:
    """What the people of the population must show in every class."""

    k_map: int = 0
    least: float = 0.0  # share of a class's people who are in the table
    most: float = 1.0

    def allows(self, people: int, share: float) -> bool:
        """Whether classes of at least so many people, of whom at most this share is in the table, may be published."""
        return people >= self.k_map and share <= self.most + 1e-12


@dataclass(frozen=True, eq=False)
class Problem:
    """What the search, the proof and the report all work on."""

    tally: QuasiTally
    weights: NDArray[np.float64]
    space: Space
    halves: tuple[HalvedTally, ...]
    demand: Demand
    every: int | None = None  # the sets are all of so many attributes, and are counted in a way of their own

    @property
    def can_be_searched(self) -> bool:
        """False where global recoding would number too many combinations, or count too many sensitive answers in them."""
        if self.every is not None:
            return True
        answers = len(self.tally.counts) * int(self.demand.first_sensitive[-1])
        return len(self.halves) == len(self.tally.sets) and answers < MOST_SENSITIVE_COUNTS

    @cached_property
    def halved_sets(self) -> HalvedSets:
        return halved_sets(self.halves)

    @property
    def k(self) -> int:
        return self.demand.k

    @property
    def rows(self) -> int:
        return self.tally.rows

    @property
    def n_bits(self) -> int:
        return int(self.space.first_bit[-1])

    def measure(self, population: Bits) -> NDArray[np.float64]:
        """One row per chromosome: NWP, NECD, smallest class, strength, suppressed rows."""
        measures = np.empty((len(population), 5))
        witness = np.empty(len(self.weights), np.int64)
        measure_all(
            np.ascontiguousarray(population), self.halved_sets, self.space, self.demand, self.rows, measures, witness
        )
        return measures


def pose(
    tally: QuasiTally,
    k: int,
    weights: NDArray[np.float64],
    *,
    suppress: float = 0.0,
    diversity: Diversity | None = None,
    presence: Presence | None = None,
    levels: Levels | None = None,
    every: int | None = None,
) -> Problem:
    """The problem of publishing `tally` so that every class has `k` rows; arguments are already validated."""
    space = _space(tally, weights, levels or [None] * len(tally.attributes))
    sets = tally.sets if every is None else ()
    halves = tuple(filter(None, (_halve(tally, members) for members in sets)))
    demand = _demand(tally, k, math.floor(suppress * tally.rows + 1e-9), diversity or Diversity())
    if presence is not None and tally.people is not None:
        demand = _with_people(demand, presence)
    return Problem(tally, weights, space, halves, demand, every)


def _space(tally: QuasiTally, weights: NDArray[np.float64], levels: Levels) -> Space:
    sizes = tally.sizes
    bits = [size - 1 if table is None else len(table) - 1 for size, table in zip(sizes, levels, strict=True)]
    depth = max([1, *(len(table) for table in levels if table is not None)])
    blocks = np.full((depth, int(sizes.sum())), -1, np.int64)
    first_value = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    for j, table in enumerate(levels):
        if table is not None:
            blocks[: len(table), first_value[j] : first_value[j + 1]] = table
    marginal = np.concatenate([tally.marginal(j) for j in range(len(sizes))]) / tally.rows
    return Space(np.concatenate([[0], np.cumsum(bits)]).astype(np.int64), first_value, blocks, weights, marginal)


def _halve(tally: QuasiTally, members: Sequence[int]) -> HalvedTally | None:
    """Deal the attributes, largest first, to the half with fewer combinations; few halves make evaluations fast.

    None where a half has too many possible combinations to number.
    """
    parts: list[list[int]] = [[], []]
    numbers = [np.zeros(len(tally.counts), np.int32), np.zeros(len(tally.counts), np.int32)]
    for j in sorted(members, key=lambda j: -tally.sizes[j]):
        size = int(tally.sizes[j])
        grown = [_joined_numbers(half, tally.codes[:, j], size) for half in numbers]
        smaller = int(grown[1].max() < grown[0].max())
        if math.prod(int(tally.sizes[i]) for i in (*parts[smaller], j)) >= LARGEST_HALF:
            smaller = 1 - smaller
        parts[smaller].append(j)
        numbers[smaller] = grown[smaller]
    if any(math.prod(int(tally.sizes[j]) for j in half_of) >= LARGEST_HALF for half_of in parts):
        return None
    order = np.lexsort((numbers[1], numbers[0])).astype(np.uint32)
    left, right = numbers[0][order], numbers[1][order]
    del numbers, grown
    first_left = np.flatnonzero(np.append(True, left[1:] != left[:-1]))
    first_right = first_with(right, int(right.max()) + 1)
    return HalvedTally(
        np.array(parts[0], np.int64),
        np.array(parts[1], np.int64),
        np.ascontiguousarray(tally.codes[order[first_left]][:, parts[0]].astype(np.uint32)),
        np.ascontiguousarray(tally.codes[order[first_right]][:, parts[1]].astype(np.uint32)),
        np.append(first_left, len(order)).astype(np.uint32),
        right.view(np.uint32),
        tally.counts[order].astype(np.uint32),
        np.ascontiguousarray(tally.sensitive_codes[order].astype(np.uint32)),
        np.empty(0, np.uint32) if tally.people is None else tally.people[order].astype(np.uint32),
    )


def _joined_numbers(number: NDArray[np.int32], codes: NDArray[Any], size: int) -> NDArray[np.int32]:
    """Numbered combinations numbered anew with one more attribute."""
    return Combinations([number, codes], [int(number.max()) + 1, size]).number


def _demand(tally: QuasiTally, k: int, limit: int, diversity: Diversity) -> Demand:
    sizes = [attribute.size for attribute in tally.sensitive]
    overall = [
        np.bincount(tally.sensitive_codes[:, s] - sum(sizes[:s]), tally.counts, size) / tally.rows
        for s, size in enumerate(sizes)
    ]
    asked = diversity.l or 0.0
    tail = 0 if diversity.recursive is None else math.ceil(asked - 1e-9)
    return Demand(
        k,
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        0.0 if diversity.entropy or tail else float(asked),
        math.log(asked) if diversity.entropy and asked else 0.0,
        math.inf if diversity.t is None else float(diversity.t),
        np.array([attribute.ordered for attribute in tally.sensitive], np.int64),
        np.concatenate([*overall, np.empty(0)]),
        limit,
        tail,
        float(diversity.recursive or 0.0),
        math.inf if diversity.beta is None else float(diversity.beta),
        -1,
        0,
        0.0,
        1.0,
    )


def _with_people(demand: Demand, presence: Presence) -> Demand:
    """The demand with a place for the people of a class behind its sensitive answers."""
    place = int(demand.first_sensitive[-1])
    return demand._replace(
        first_sensitive=np.append(demand.first_sensitive, place + 1),
        people=place,
        k_map=int(presence.k_map),
        least_presence=float(presence.least),  # numba compiles everything again for a whole number
        most_presence=float(presence.most),
    )
