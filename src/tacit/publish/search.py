"""The search among generalizations: NSGA-II as published by Dewri et al. (2009), then ruin and recreate.

Both are repeatable by seed and share one budget of evaluations.
"""

from __future__ import annotations

import bisect
import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.publish._search_kernels import Lessons, Scratch, recreate
from tacit.publish._space_kernels import Space
from tacit.publish.achievement import Preference
from tacit.publish.combinations import Combinations
from tacit.publish.problem import NECD, NWP, SMALLEST, STRENGTH, Bits, Problem
from tacit.publish.watch import Progress

Measures = NDArray[np.float64]

POLISH_SHARE = 0.6  # of the evaluations
MOST_LESSONS = 1 << 14
# Of ruin and recreate, tuned on Adult at k = 10 to 100: how far the order of setting bits strays from the savings,
# and how much worse than the best a followed chromosome may be.
NOISE = 0.5
TOLERANCE = 0.05
MOST_RUINED = 5  # attributes
MOST_LOOKS = 1_000_000_000  # cuts times answers of all combinations, for a first pass: some CPU seconds


@dataclass(frozen=True)
class EvolutionSettings:
    """The published parameters; `polish=False` is the published method alone."""

    evaluations: int = 50_000
    population: int = 100
    crossover: float = 0.8
    mutation: float = 0.001
    polish: bool = True


@dataclass(frozen=True, eq=False)
class SearchOutcome:
    """What a search saw: every publishable chromosome once, best achievement first (ties by NWP + NECD)."""

    bits: Bits  # [solution, bit]; packed eight to a byte
    measures: Measures  # [solution, measure]
    achievement: NDArray[np.float64]
    evaluations: int
    complete: bool  # False when interrupted

    def chromosome(self, solution: int, n_bits: int) -> Bits:
        return np.unpackbits(self.bits[solution], count=n_bits)

    def front(self) -> NDArray[np.intp]:
        """Solutions not dominated in loss, bias and effective k, by loss."""
        return nondominated(self.measures[:, NWP], self.measures[:, NECD], -self.measures[:, SMALLEST])


class _Seen:
    """The publishable chromosomes met on the way, packed."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        # Bits and measures together, so that an interruption cannot part them.
        self._met: list[tuple[Bits, Measures]] = []
        self.evaluations = 0

    def measure(self, population: Bits) -> Measures:
        measures = self.problem.measure(population)
        self.evaluations += len(population)
        publishable = measures[:, STRENGTH] >= self.problem.k
        self._met.append((np.packbits(population[publishable], axis=1), measures[publishable]))
        return measures

    def found(self, preference: Preference, *, complete: bool) -> SearchOutcome:
        bits, first = np.unique(np.concatenate([bits for bits, _ in self._met]), axis=0, return_index=True)
        measures = np.concatenate([measures for _, measures in self._met])[first]
        ach = preference.achievement(measures[:, NWP], measures[:, NECD])
        order = np.lexsort((measures[:, NWP] + measures[:, NECD], np.round(ach, 12)))
        return SearchOutcome(bits[order], measures[order], ach[order], self.evaluations, complete)


def search(
    problem: Problem,
    preference: Preference,
    settings: EvolutionSettings,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> SearchOutcome:
    """The best generalizations met within the budget; an interruption (Ctrl-C) returns what was met until then."""
    seen = _Seen(problem)
    seen.measure(np.zeros((1, problem.n_bits), np.uint8))  # everything generalized: publishable if anything is
    complete = True
    try:
        reserve = int(settings.evaluations * POLISH_SHARE) if settings.polish else 0
        _evolve(seen, preference, settings, settings.evaluations - reserve, rng, progress)
        if settings.polish:
            _polish(seen, problem, preference, settings.evaluations, rng, progress)
    except KeyboardInterrupt:
        complete = False
    return seen.found(preference, complete=complete)


def first_pass(problem: Problem) -> Bits | None:
    """Cuts made once each, those that save most penalty first, while every class keeps k rows; nothing is compiled for it.

    Only sizes are looked at. None where that would take too long.
    """
    if problem.n_bits * problem.tally.codes.size > MOST_LOOKS:
        return None
    pieces = _Pieces(problem)
    waiting: list[tuple[float, int, int]] = []
    for j in range(len(problem.weights)):
        waiting += pieces.savings(j)
    heapq.heapify(waiting)
    while waiting:
        _, j, cut = heapq.heappop(waiting)
        if pieces.divide(j, cut):
            waiting = [entry for entry in waiting if entry[1] != j] + pieces.savings(j)
            heapq.heapify(waiting)
    return pieces.bits


class _Pieces:
    """Generalized attributes on the way from one block each to finer ones, and the classes of every set of them."""

    def __init__(self, problem: Problem) -> None:
        self._tally, self._space, self._k = problem.tally, problem.space, problem.k
        self._classes = [np.zeros(len(problem.tally.counts), np.int32) for _ in problem.tally.sets]
        self._refused = np.zeros(problem.n_bits, np.bool_)
        self.bits = np.zeros(problem.n_bits, np.uint8)

    def savings(self, j: int) -> list[tuple[float, int, int]]:
        """The cuts of an attribute that may still be made, each with what it would save (below 0) of the penalty."""
        space, blocks = self._space, self._blocks(j)
        marginal = space.marginal[space.first_value[j] : space.first_value[j + 1]]
        if self._has_levels(j):
            cuts, finer = np.array([self._fineness(j)]), self._finer(j, 0)
            if cuts[0] == len(self._bits(j)):
                return []
            saved = np.atleast_1d((np.bincount(blocks)[blocks] - np.bincount(finer)[finer]) @ marginal)
        else:
            # A block of s answers and a share m of the rows costs (s - 1) m; it is cut behind each of its answers.
            cuts, shares = np.flatnonzero(self._bits(j) == 0), np.append(0.0, np.cumsum(marginal))
            first = np.searchsorted(blocks, blocks[cuts])
            last = np.searchsorted(blocks, blocks[cuts], side="right")
            below, above = shares[cuts + 1] - shares[first], shares[last] - shares[cuts + 1]
            saved = (last - cuts - 1) * below + (cuts + 1 - first) * above
        saved = space.weight[j] * saved / max(1, len(blocks) - 1)
        open_cuts = ~self._refused[space.first_bit[j] + cuts] & (saved > 0)
        return [(-gain, j, cut) for gain, cut in zip(saved[open_cuts].tolist(), cuts[open_cuts].tolist(), strict=True)]

    def divide(self, j: int, cut: int) -> bool:
        """Make a cut if all classes that it divides keep k rows; it is not tried again otherwise."""
        finer, divided = self._finer(j, cut), {}
        for number, members in enumerate(self._tally.sets):
            if j in members:
                keys = self._classes[number] * np.int64(len(finer)) + finer[self._tally.codes[:, j]]
                classes = Combinations([keys], [int(keys.max()) + 1]).number
                if np.bincount(classes, self._tally.counts).min() < self._k:
                    self._refused[self._space.first_bit[j] + cut] = True
                    return False
                divided[number] = classes
        for number, classes in divided.items():
            self._classes[number] = classes
        self._bits(j)[cut] = 1
        return True

    def _has_levels(self, j: int) -> bool:
        return bool(self._space.levels[0, self._space.first_value[j]] >= 0)

    def _bits(self, j: int) -> Bits:
        return self.bits[self._space.first_bit[j] : self._space.first_bit[j + 1]]

    def _fineness(self, j: int) -> int:
        return int(self._bits(j).sum())

    def _level(self, j: int, fineness: int) -> NDArray[np.int64]:
        return self._space.levels[fineness, self._space.first_value[j] : self._space.first_value[j + 1]]

    def _blocks(self, j: int) -> NDArray[np.int64]:
        """The block of every answer of an attribute."""
        if self._has_levels(j):
            return self._level(j, self._fineness(j))
        return np.append(0, np.cumsum(self._bits(j), dtype=np.int64))

    def _finer(self, j: int, cut: int) -> NDArray[np.int64]:
        """The blocks after one more cut, or one level further."""
        if self._has_levels(j):
            return self._level(j, min(self._fineness(j) + 1, len(self._bits(j))))
        blocks = self._blocks(j)
        return blocks + (np.arange(len(blocks)) > cut)


def _evolve(
    seen: _Seen,
    preference: Preference,
    settings: EvolutionSettings,
    budget: int,
    rng: np.random.Generator,
    progress: Progress | None,
) -> None:
    size = settings.population
    k = seen.problem.k
    # Fair bits would almost never be publishable: each individual draws its own density.
    population = (rng.random((size, seen.problem.n_bits)) < rng.random((size, 1))).astype(np.uint8)
    objectives = _objectives(seen.measure(population), preference, k)
    while seen.evaluations < budget:
        rank = rank_fronts(objectives[:, 0], objectives[:, 1])
        distance = crowding(objectives[:, 0], objectives[:, 1], rank)
        parents = tournament(objectives, rank, distance, rng, size)
        children = offspring(population[parents], settings, rng)[: max(2, budget - seen.evaluations)]
        objectives = np.concatenate([objectives, _objectives(seen.measure(children), preference, k)])
        survivors = _survivors(objectives, size)
        population, objectives = np.concatenate([population, children])[survivors], objectives[survivors]
        if progress:
            progress(seen.evaluations / settings.evaluations, "searching")


def _objectives(measures: Measures, preference: Preference, k: int) -> Measures:
    """The two objectives of the publication: achievement, and how much the effective k falls short of the wanted."""
    return np.stack([preference.achievement(measures[:, NWP], measures[:, NECD]), k - measures[:, STRENGTH]], axis=1)


def tournament(
    objectives: Measures,
    rank: NDArray[np.int64],
    distance: NDArray[np.float64],
    rng: np.random.Generator,
    size: int,
) -> NDArray[np.intp]:
    """Winners of random pairs under the modified selection.

    Two publishable ones compare by front and crowding; one publishable wins; else the smaller shortfall of k, then
    the smaller achievement, then the larger crowding distance; then chance.
    """
    first, other = rng.integers(0, len(objectives), (2, size))
    publishable = objectives[:, 1] <= 0
    both = publishable[first] & publishable[other]
    keys = [
        publishable[other].astype(float) - publishable[first],
        np.where(both, rank[first] - rank[other], objectives[first, 1] - objectives[other, 1]),
        np.where(both, 0.0, objectives[first, 0] - objectives[other, 0]),
        (distance[other] > distance[first]).astype(float) - (distance[other] < distance[first]),
        rng.random(size) - 0.5,
    ]
    loses = np.zeros(size)
    for key in keys:
        loses = np.where(loses == 0, np.sign(key), loses)
    return np.where(loses > 0, other, first)


def offspring(parents: Bits, settings: EvolutionSettings, rng: np.random.Generator) -> Bits:
    """Children of neighbouring parents: one-point crossover, then a flip of each bit with its small chance."""
    pairs = len(parents) // 2
    n_bits = parents.shape[1]
    mother, father = parents[0 : 2 * pairs : 2], parents[1 : 2 * pairs : 2]
    point = rng.integers(1, max(2, n_bits), (pairs, 1))
    point[rng.random(pairs) >= settings.crossover] = n_bits
    keep = np.arange(n_bits) < point
    children = np.concatenate([np.where(keep, mother, father), np.where(keep, father, mother)])
    if len(parents) % 2:
        children = np.concatenate([children, parents[-1:]])
    flips: Bits = (rng.random(children.shape) < settings.mutation).astype(np.uint8)
    return np.bitwise_xor(children, flips)


def _survivors(objectives: Measures, size: int) -> NDArray[np.intp]:
    rank = rank_fronts(objectives[:, 0], objectives[:, 1])
    distance = crowding(objectives[:, 0], objectives[:, 1], rank)
    return np.lexsort((-distance, rank))[:size]


def _polish(
    seen: _Seen,
    problem: Problem,
    preference: Preference,
    evaluations: int,
    rng: np.random.Generator,
    progress: Progress | None,
) -> None:
    """Improve the best by ruin and recreate until the evaluations are spent."""
    space, preferred = problem.space, seen.found(preference, complete=True)
    current, value = preferred.chromosome(0, problem.n_bits), float(preferred.achievement[0])
    posed = (problem.halved_sets, space, problem.demand, problem.rows, preference.share_of_loss)
    words = problem.n_bits // 64 + 1
    lessons = Lessons(np.zeros((MOST_LESSONS, words), np.uint64), np.zeros(1, np.int64))
    scratch = Scratch(
        np.empty((1, 5)),
        np.empty(len(space.weight), np.int64),
        np.empty(int(space.first_value[-1]), np.int64),
        np.empty(words, np.uint64),
    )
    best = value
    while seen.evaluations < evaluations:
        trial, noise = ruin(current, space, rng)
        reached, spent = recreate(trial[None], lessons, posed, evaluations - seen.evaluations, noise, scratch)
        # Slightly worse ones are followed now and then; else the walk ends in the first valley.
        if reached <= value or reached <= best * (1 + TOLERANCE * rng.random()):
            current, value = trial, reached
        if reached < best:
            seen.measure(trial[None])
            seen.evaluations -= 1  # it was counted when it was tried
            best = reached
        seen.evaluations += spent
        if progress:
            progress(seen.evaluations / evaluations, "polishing")


def ruin(bits: Bits, space: Space, rng: np.random.Generator) -> tuple[Bits, NDArray[np.float64]]:
    """A chromosome with a few attributes generalized fully, and the noise in the order in which its bits are set again."""
    trial = bits.copy()
    for _ in range(1 + int(rng.integers(0, MOST_RUINED))):
        j = int(rng.integers(0, len(space.first_bit) - 1))
        trial[space.first_bit[j] : space.first_bit[j + 1]] = 0
    return trial, np.exp(NOISE * rng.random() * rng.standard_normal(len(trial)))


def rank_fronts(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.int64]:
    """Front of every point of two objectives to be minimised; 0 is not dominated.

    Points enter in lexicographic order, so a point is dominated by a front only if by its last member.
    """
    order = np.lexsort((second, first))
    last: list[tuple[float, float]] = []
    rank = np.empty(len(first), np.int64)
    for i, point in zip(order.tolist(), zip(second[order].tolist(), first[order].tolist(), strict=True), strict=True):
        rank[i] = front = bisect.bisect_left(last, point)
        last[front : front + 1] = [point]
    return rank


def crowding(first: NDArray[np.float64], second: NDArray[np.float64], rank: NDArray[np.int64]) -> NDArray[np.float64]:
    """Crowding distance of every point within its front (Deb et al. 2002)."""
    distance = np.zeros(len(first))
    for values in (first, second):
        order = np.lexsort((values, rank))
        begins = np.append(True, np.diff(rank[order]) > 0)
        ends = np.append(begins[1:], True)
        ordered, front = values[order], np.cumsum(begins) - 1
        span = (ordered[ends] - ordered[begins])[front]
        gap = np.append(ordered[1:], ordered[-1]) - np.append(ordered[0], ordered[:-1])
        distance[order] += np.divide(gap, span, out=np.zeros(len(gap)), where=span > 0)
        distance[order[begins | ends]] = np.inf
    return distance


def nondominated(*objectives: NDArray[np.float64]) -> NDArray[np.intp]:
    """Positions of the points that no other is at least as good as everywhere and better somewhere; minimised.

    Of equal points the first stays. Sorted by the first objective.
    """
    points = np.stack(objectives, axis=1)
    _, first = np.unique(points, axis=0, return_index=True)
    order = first[np.lexsort(points[first].T[::-1])]
    front: list[int] = []
    for i in order:  # whoever dominates a point comes before it
        if not front or not (points[front] <= points[i]).all(axis=1).any():
            front.append(int(i))
    return np.array(front, np.intp)
