"""The optimal set polished: local search with exact derivatives at levels of privacy, and straight lines between.

OptRR's operators alone stay some way above the best square matrices. At about fifty levels of privacy this search
descends from the matrices OptRR found, from Warner's and from random ones; neighbouring levels then try each other's
best. For fixed best guesses the permitted matrices form a convex set, so the matrices on the line between the optima
of two levels are permitted too and fill the slots between.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tacit.design import _matrix_kernels, _optrr_kernels, _polish_kernels
from tacit.design.optimalset import Matrices
from tacit.design.problem import DesignProblem
from tacit.design.sweeps import warner_matrix

Matrix = NDArray[np.float64]

LEVELS = 48
FOUND_STARTS = 3  # matrices of the optimal set tried at each level
RANDOM_STARTS = 2
FIRST_PENALTY = 20.0
ROUNDS, STEPS = 15, 200


class Polish:
    """Improves an optimal set in place; what it has improved is kept when it is interrupted."""

    def __init__(self, problem: DesignProblem, optimal: Matrices, rng: np.random.Generator) -> None:
        self.problem, self.optimal, self.rng = problem, optimal, rng
        self.accuracy = np.eye(problem.n_answers) if problem.accuracy is None else problem.accuracy
        self.levels = self._levels()
        self.best: list[Matrix | None] = [None] * len(self.levels)

    def run(self, progress: Callable[[float], None]) -> None:
        """Search at every level, then pass on what was found, upwards and downwards."""
        last = len(self.levels) - 1
        for k in range(last + 1):
            for start in self._starts(self.levels[k]):
                self._descend(k, start)
            progress(0.75 * (k + 1) / (last + 1))
        for k in range(last):
            self._connect(k, k + 1)
            progress(0.75 + 0.125 * (k + 1) / last)
        for k in range(last, 0, -1):
            self._connect(k, k - 1)
            progress(1 - 0.125 * (k - 1) / last)

    def _levels(self) -> Matrix:
        """Privacies in the middle of evenly spread slots, over all that can be reached."""
        slots = len(self.optimal.trace)
        filled = self.optimal.filled
        first, last = int(filled.min()), int(filled.max())
        if self.problem.accuracy is None:
            first = min(first, int(slots * self.problem.least_privacy) + 1)
            last = max(last, int(slots * self.problem.most_privacy) - 3)
        return (np.unique(np.linspace(first, last, LEVELS).round()) + 0.5) / slots

    def _starts(self, level: float) -> list[Matrix]:
        n = self.problem.n_answers
        random = np.empty((RANDOM_STARTS, n, n))
        _optrr_kernels.first_population(random, self.problem.prior, 1.0, self.rng)
        # Warner's matrix of about this privacy: the front must be nowhere above it.
        warner = warner_matrix(n, max(1 - level, 1.5 / n))
        return [*self.optimal.nearest(level, FOUND_STARTS), warner, *random]

    def _descend(self, k: int, start: Matrix) -> Matrix:
        """Local optimum at level k from `start`; kept as the level's best if it is."""
        prior, cap = self.problem.prior, self.problem.posterior_cap
        matrix = np.ascontiguousarray(start)
        multipliers = np.zeros((3, *matrix.shape))
        _polish_kernels.polish(
            matrix, prior, self.accuracy, 1 - self.levels[k], cap, multipliers, FIRST_PENALTY, ROUNDS, STEPS
        )
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
