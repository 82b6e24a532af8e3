"""The optimal set polished: local search with exact derivatives at levels of privacy, and straight lines between.

OptRR's operators alone stay some way above the best square matrices. At about fifty levels of privacy this search
descends from the matrices OptRR found, from Warner's, from random ones and from the exact channel with its reports
merged until they are as few as the answers; neighbouring levels then try each other's best. For fixed best guesses the
permitted matrices form a convex set, so the matrices on the line between the optima of two levels are permitted too
and fill the slots between.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tacit.design import _matrix_kernels, _merge_kernels, _optrr_kernels, _polish_kernels
from tacit.design.generation import certified_design, pruned
from tacit.design.optimal_set import Matrices
from tacit.design.posteriors import uniform_and_capped
from tacit.design.problem import DesignProblem
from tacit.design.sweeps import warner_matrix

Matrix = NDArray[np.float64]

LEVELS = 56
FOUND_STARTS = 2  # matrices of the optimal set tried at each level
RANDOM_STARTS = 4
# Ways to merge reports: share of the dual price put on right guesses, and how much chance decides.
MERGES = ((0.0, 0.0), (1.0, 0.0), (0.5, 1.0))
HOPS = 2  # descents from the level's best, mixed with a random matrix
HOP_SHARE = 0.25
PASSES = 2  # times the levels' best are handed on upwards and downwards
LEAST_PENALTY = 20.0
SHORT, LONG = (12, 160), (40, 300)  # rounds of multipliers, gradient steps in each
PROMISING = 3  # ends of short descents followed to the bottom
MOST_ANSWERS_MERGED = 12  # beyond, the exact channel of every level takes longer than it helps


class Polish:
    """Improves an optimal set in place; what it has improved is kept when it is interrupted."""

    def __init__(self, problem: DesignProblem, optimal: Matrices, rng: np.random.Generator) -> None:
        self.problem, self.optimal, self.rng = problem, optimal, rng
        self.accuracy = np.eye(problem.n_answers) if problem.accuracy is None else problem.accuracy
        self.vertices = self._vertices()
        self.levels = self._levels()
        self.best: list[Matrix | None] = [None] * len(self.levels)

    def run(self, progress: Callable[[float], None]) -> None:
        """Search at every level, then pass on what was found, upwards and downwards."""
        levels = list(range(len(self.levels)))
        tasks: list[Callable[[], None]] = [partial(self._search, k) for k in levels]
        for _ in range(PASSES):
            tasks += [partial(self._connect, k, k + 1) for k in levels[:-1]]
            tasks += [partial(self._connect, k, k - 1) for k in levels[:0:-1]]
        for done, task in enumerate(tasks):
            task()
            # A search is some twenty descents, a connection one.
            finished = min(done + 1, len(levels)) * 20 + max(done + 1 - len(levels), 0)
            progress(finished / (len(levels) * 19 + len(tasks)))

    def _vertices(self) -> Matrix | None:
        if self.problem.accuracy is not None or self.problem.n_answers > MOST_ANSWERS_MERGED:
            return None
        return uniform_and_capped(self.problem.n_answers, self.problem.posterior_cap)

    def _levels(self) -> Matrix:
        """Privacies in the middle of slots spread over all that can be reached."""
        slots = len(self.optimal.trace)
        filled = self.optimal.filled
        first, last = int(filled.min()), int(filled.max())
        if self.problem.accuracy is None:
            first = min(first, int(slots * self.problem.least_privacy) + 1)
            last = max(last, int(slots * self.problem.most_privacy) - 1)
        # Denser towards the largest privacy, where the error grows without limit and lines between levels miss most.
        spread = 1 - np.linspace(1, 0, LEVELS) ** 2
        return (np.unique((first + (last - first) * spread).round()) + 0.5) / slots

    def _search(self, k: int) -> None:
        """Descend to level k from everything worth a try, then further from the most promising."""
        ends = [self._descend(k, start, firm=turn % 2 == 1) for turn, start in enumerate(self._starts(self.levels[k]))]
        hops = zip([self.best[k]] * HOPS, self._random(HOPS), strict=True)
        ends += [
            self._descend(k, (1 - HOP_SHARE) * best + HOP_SHARE * other) for best, other in hops if best is not None
        ]
        for end in sorted(ends, key=self._trace)[:PROMISING]:
            self._descend(k, end.copy(), effort=LONG)

    def _starts(self, level: float) -> list[Matrix]:
        # Warner's matrix of about this privacy: the front must be nowhere above it.
        warner = warner_matrix(self.problem.n_answers, max(1 - level, 1.5 / self.problem.n_answers))
        found = self.optimal.nearest(level, FOUND_STARTS)
        return [*found, warner, *self._merged(level), *self._random(RANDOM_STARTS)]

    def _random(self, count: int) -> Matrix:
        matrices = np.empty((count, self.problem.n_answers, self.problem.n_answers))
        _optrr_kernels.first_population(matrices, self.problem.prior, 1.0, self.rng)
        return matrices

    def _merged(self, level: float) -> list[Matrix]:
        """The exact channel of this privacy, its reports merged to as many as there are answers."""
        prior = self.problem.prior
        if self.vertices is None:
            return []
        budget = 1 - min(max(level, self.problem.least_privacy), 0.998 * self.problem.most_privacy)
        design = pruned(certified_design(self.vertices, prior, budget), prior, budget)
        joint = design.chances[:, None] * design.posteriors
        starts = []
        for budget_price, noise in MERGES:
            price = budget_price * design.dual.budget_price
            matrix = _merge_kernels.merge_reports(joint, prior, len(prior), price, noise, self.rng) / prior
            if len(matrix) == len(prior):  # few answers may need fewer reports still
                starts.append(matrix / matrix.sum(axis=0))
        return starts

    def _descend(self, k: int, start: Matrix, *, firm: bool = False, effort: tuple[int, int] = SHORT) -> Matrix:
        """Local optimum at level k from `start`; kept as the level's best if it is.

        `firm` holds to the budget from the first step on, which leads to other optima; `effort` is how many rounds of
        how many steps to go at most.
        """
        prior, cap = self.problem.prior, self.problem.posterior_cap
        matrix = np.ascontiguousarray(start)
        # The error grows like the inverse square of what is left of the privacy, and so must the penalty.
        left = max(self.problem.most_privacy - float(self.levels[k]), 1e-3)
        multipliers = np.zeros((3, *matrix.shape))
        multipliers[2, 0, 0] = 1 / left if firm else 0.0
        penalty = min(max(LEAST_PENALTY, 0.2 / left**2), 1e5)
        _polish_kernels.polish(matrix, prior, self.accuracy, 1 - self.levels[k], cap, multipliers, penalty, *effort)
        _matrix_kernels.blend(matrix, prior, cap)
        trace = self._meet(matrix[None])[0]
        best = self.best[k]
        if np.isfinite(trace) and (best is None or trace < self._trace(best)):
            self.best[k] = matrix
        return matrix

    def _connect(self, k: int, neighbour: int) -> None:
        """Carry level k's best to its neighbour and fill the slots on the way."""
        here = self.best[k]
        if here is None:
            return
        there = self._descend(neighbour, here.copy())
        steps = 2 * int(abs(self.levels[neighbour] - self.levels[k]) * len(self.optimal.trace) + 1)
        shares = np.linspace(0, 1, steps + 1)[1:-1, None, None]
        self._meet((1 - shares) * here + shares * there)

    def _meet(self, channels: Matrix) -> Matrix:
        """Traces of the channels, each of which replaces a worse one in its slot of the optimal set."""
        met = Matrices(channels.copy(), np.empty(len(channels)), np.empty(len(channels)))
        exact = self.problem.accuracy is None
        _optrr_kernels.measure(met.channels, self.problem.prior, self.accuracy, exact, met.privacy, met.trace)
        traces = met.trace.copy()
        _optrr_kernels.meet_optimal_set(*met.arrays, *self.optimal.arrays)
        return traces

    def _trace(self, matrix: Matrix) -> float:
        n = len(matrix)
        work = np.empty((2, n, n))
        return float(_matrix_kernels.inverse_trace(matrix, self.problem.prior, work[0], work[1]))
