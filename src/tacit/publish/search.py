"""The search among generalizations: NSGA-II as published by Dewri et al. (2009), then ruin and recreate.

Both are repeatable by seed and share one budget of evaluations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.publish._search_kernels import Lessons, crowding, polish, rank_fronts
from tacit.publish.achievement import Preference
from tacit.publish.problem import NECD, NWP, SMALLEST, STRENGTH, Bits, Problem

Measures = NDArray[np.float64]
Progress = Callable[[float, str], None]

POLISH_SHARE = 0.6  # of the evaluations
ROUND = 10_000
MOST_LESSONS = 1 << 14


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
    one, other = rng.integers(0, len(objectives), (2, size))
    publishable = objectives[:, 1] <= 0
    both = publishable[one] & publishable[other]
    keys = [
        publishable[other].astype(float) - publishable[one],
        np.where(both, rank[one] - rank[other], objectives[one, 1] - objectives[other, 1]),
        np.where(both, 0.0, objectives[one, 0] - objectives[other, 0]),
        (distance[other] > distance[one]).astype(float) - (distance[other] < distance[one]),
        rng.random(size) - 0.5,
    ]
    loses = np.zeros(size)
    for key in keys:
        loses = np.where(loses == 0, np.sign(key), loses)
    return np.where(loses > 0, other, one)


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
    best = seen.found(preference, complete=True).chromosome(0, problem.n_bits)
    posed = (problem.halved_sets, problem.space, problem.demand, problem.rows, preference.share_of_loss)
    lessons = Lessons(np.zeros((MOST_LESSONS, problem.n_bits // 64 + 1), np.uint64), np.zeros(1, np.int64))
    while seen.evaluations < evaluations:
        improvements = np.empty((64, problem.n_bits), np.uint8)
        # In rounds, so that an interruption is heard.
        kept, spent = polish(best, lessons, posed, min(ROUND, evaluations - seen.evaluations), rng, improvements)
        if kept:
            seen.measure(improvements[:kept])
            seen.evaluations -= kept  # these were counted when they were tried
            best = improvements[kept - 1]
        seen.evaluations += spent
        if progress:
            progress(seen.evaluations / evaluations, "polishing")


def nondominated(*objectives: NDArray[np.float64]) -> NDArray[np.intp]:
    """Positions of the points that no other is at least as good as everywhere and better somewhere; minimised.

    Of equal points the first stays. Sorted by the first objective.
    """
    points = np.stack(objectives, axis=1)
    _, first = np.unique(points, axis=0, return_index=True)
    order = first[np.lexsort(points[first].T[::-1])]
    kept: list[int] = []
    for i in order:  # whoever dominates a point comes before it
        if not kept or not (points[kept] <= points[i]).all(axis=1).any():
            kept.append(int(i))
    return np.array(kept, np.intp)
