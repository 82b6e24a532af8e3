"""The optimal set polished: local search with exact derivatives at levels of privacy, and straight lines between.

OptRR's operators alone stay some way above the best square matrices. At about fifty levels of privacy this search
descends from the matrices OptRR found, from Warner's, from random ones and from the exact channel with its reports
merged until they are as few as the answers. Neighbouring levels then try each other's best, and each level hops from
its best into other valleys. At last every slot between the levels descends from its neighbours' channels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tacit.channel.dense import even_mixture, warner_keep
from tacit.design import _matrix_kernels, _merge_kernels, _optrr_kernels, _polish_kernels
from tacit.design.column_generation import certified_design, prune_design
from tacit.design.optimal_set import Matrices
from tacit.design.posteriors import uniform_and_capped
from tacit.design.problem import DesignProblem
from tacit.design.search_moves import cross_channels, exchange_report, mix_with_random, swap_chances
from tacit.design.sweeps import permitted_channels

Matrix = NDArray[np.float64]

LEVELS = 48
USUAL_ANSWERS = 10  # the numbers below are for so many
RANDOM_STARTS = 40  # for every level
# Ways to merge reports: share of the dual price put on right guesses, and how much chance decides.
MERGES = ((0.0, 0.0), (1.0, 0.0), (0.5, 1.0), (0.5, 3.0))
PASSES = 6  # times the levels' best are handed on upwards and downwards, then left by hops
HOPS = 7  # of each kind, for every restless level and pass
RESTLESS = 1e-3  # relative gain in a pass that makes a level and its neighbours worth more hops
CROSSED_WITHIN = 3  # levels whose columns are tried together
# Rounds of multipliers, gradient steps in each.
NEAR, SHORT, LONG = (6, 80), (12, 80), (40, 300)
NEAR_THE_TOP, MORE_ROUNDS = 0.02, 3  # so near to the largest privacy descents take longer
TOP_SLOTS, CLIMBED = 5, 20  # the last slots, and from how far below they are tried to be reached
# Looser bounds at first lead to worse optima at most privacies, tighter ones at the highest.
PENALTY = 600.0
PENALTY_AT_THE_TOP = 0.2  # over the square of what is left of the privacy: the error grows as fast
PRICE = 0.5  # over what is left: about what a right guess is worth, in the logarithm of the error
HOPELESS = 1.03  # times the best known error: a descent that will stay above is given up
AIM = 0.05  # where in its slot a channel should lie: the error is least at the lower end
PROMISING = 1  # ends of short descents followed to the bottom
MOST_ANSWERS_MERGED = 12  # beyond, the exact channel of every level takes longer than it helps


class Polish:
    """Improves an optimal set in place; what it has improved is kept when it is interrupted."""

    def __init__(self, problem: DesignProblem, optimal: Matrices, rng: np.random.Generator) -> None:
        self.problem, self.optimal, self.rng = problem, optimal, rng
        self.vertices = self._vertices()
        self.levels = self._levels()

    def run(self, progress: Callable[[float], None]) -> None:
        """Search at every level, hand on what was found, hop out of it, and at last go through all slots."""
        self._meet_warner()
        levels = [int(slot) for slot in self.levels]
        self._do([partial(self._search, slot, merge=k % 2 == 0) for k, slot in enumerate(levels)], progress, 0.0, 0.4)
        restless = np.ones(len(levels), dtype=np.bool_)
        for turn in range(PASSES):
            before = self._least_traces()
            work = [partial(self._connect, *pair) for pair in _there_and_back(levels)]
            work += [partial(self._hop, int(k)) for k in np.flatnonzero(restless)]
            self._do(work, progress, 0.4 + 0.4 * turn / PASSES, 0.4 + 0.4 * (turn + 1) / PASSES)
            restless = _with_neighbours(self._least_traces() < (1 - RESTLESS) * before)
        every_slot = range(levels[0], levels[-1] + 1)
        self._do([partial(self._carry, *pair) for pair in _there_and_back(every_slot)], progress, 0.8, 0.95)
        self._do([partial(self._climb, slot) for slot in every_slot[-TOP_SLOTS:]], progress, 0.95, 1.0)

    @staticmethod
    def _do(work: list[partial[None]], progress: Callable[[float], None], first: float, last: float) -> None:
        for done, task in enumerate(work):
            task()
            progress(first + (last - first) * (done + 1) / len(work))

    def _fewer(self, tries: int) -> int:
        """A step takes the cube of the answers, so that more than ten get fewer tries: the whole stays a square."""
        return max(1, round(tries * min(1.0, USUAL_ANSWERS / self.problem.n_answers)))

    def _meet_warner(self) -> None:
        """Let Warner's matrices that keep the bound meet the optimal set: descents start from them too."""
        self._meet(np.array(permitted_channels(self.problem, "warner")))

    def _vertices(self) -> Matrix | None:
        if self.problem.accuracy is not None or self.problem.n_answers > MOST_ANSWERS_MERGED:
            return None
        return uniform_and_capped(self.problem.n_answers, self.problem.posterior_cap)

    def _levels(self) -> NDArray[np.intp]:
        """Slots spread over all privacies that can be reached."""
        slots = len(self.optimal.trace)
        filled = self.optimal.filled_slots
        first, last = int(filled.min()), int(filled.max())
        if self.problem.accuracy is None:
            first = min(first, int(slots * self.problem.least_privacy) + 1)
            last = max(last, int(slots * self.problem.most_privacy) - 1)
        # Denser towards the largest privacy, where the error grows without limit.
        spread = 1 - np.linspace(1, 0, LEVELS) ** 2
        return np.unique((first + (last - first) * spread).round().astype(np.intp))

    def _privacy(self, slot: int) -> float:
        return (slot + AIM) / len(self.optimal.trace)

    def _search(self, slot: int, *, merge: bool) -> None:
        """Descend to the slot's privacy from everything worth a try, then further from the most promising."""
        starts = self._starts(self._privacy(slot)) + (self._merged_channels(self._privacy(slot)) if merge else [])
        ends = [self._descend(slot, start) for start in starts]
        for end in sorted(ends, key=self._trace)[:PROMISING]:
            self._descend(slot, end, LONG)

    def _hop(self, k: int) -> None:
        """Descend from channels near the best of a level, and from what that finds."""
        slot, rng, prior = int(self.levels[k]), self.rng, self.problem.prior
        for _ in range(self._fewer(HOPS)):
            near = int(np.clip(k + rng.integers(-CROSSED_WITHIN, CROSSED_WITHIN + 1), 0, len(self.levels) - 1))
            other = self._best(int(self.levels[near]))
            self._descend(slot, cross_channels(self._best(slot), other, rng))
            self._descend(slot, exchange_report(self._best(slot), prior, rng))
            self._descend(slot, swap_chances(self._best(slot), rng))
            self._descend(slot, mix_with_random(self._best(slot), prior, rng))

    def _best(self, slot: int) -> Matrix:
        """The channel of least error that has the slot's privacy or more."""
        rest = self.optimal.trace[slot:]
        if not np.isfinite(rest).any():
            return self.optimal.nearest(self._privacy(slot), 1)[0]
        return self.optimal.channels[slot + int(rest.argmin())].copy()

    def _least_traces(self) -> Matrix:
        """For every level the least trace of a channel that has its privacy or more."""
        return np.minimum.accumulate(self.optimal.trace[::-1])[::-1][self.levels]

    def _starts(self, level: float) -> list[Matrix]:
        n = self.problem.n_answers
        warner = even_mixture(n, warner_keep(n, max(1 - level, 1.5 / n)))
        made = np.empty((self._fewer(RANDOM_STARTS), n, n))
        _optrr_kernels.first_population(made, self.problem.prior, 1.0, self.rng)
        return [*self.optimal.nearest(level, 1), warner, *made]

    def _merged_channels(self, level: float) -> list[Matrix]:
        """The exact channel of this privacy, its reports merged to as many as there are answers."""
        prior, aim = self.problem.prior, self.problem.aim
        if self.vertices is None:
            return []
        budget = 1 - min(max(level, self.problem.least_privacy), 0.998 * self.problem.most_privacy)
        design = prune_design(certified_design(self.vertices, aim, budget), aim, budget)
        joint = design.chances[:, None] * design.posteriors
        starts = []
        for budget_price, noise in MERGES:
            price = budget_price * design.dual.budget_price
            matrix = _merge_kernels.merge_reports(joint, prior, len(prior), price, noise, self.rng) / prior
            if len(matrix) == len(prior):  # few answers may need fewer reports still
                starts.append(matrix / matrix.sum(axis=0))
        return starts

    def _descend(
        self, slot: int, start: Matrix, effort: tuple[int, int] = SHORT, *, hopeless: float = HOPELESS
    ) -> Matrix:
        """Local optimum at the slot's privacy from `start`; kept in the optimal set if it is the slot's best.

        `effort` is how many rounds of how many steps to go at most; `hopeless`, how many times the best known error
        makes it give up.
        """
        privacy = self._privacy(slot)
        left = max(self.problem.most_privacy - privacy, 1e-3)
        matrix = np.array(start, order="C")
        penalty = max(PENALTY, PENALTY_AT_THE_TOP / left**2)
        worst = float(np.log(hopeless * self.optimal.trace[slot:].min()))
        rounds, steps = effort if left > NEAR_THE_TOP else (MORE_ROUNDS * effort[0], effort[1])
        aim = _polish_kernels.Aim(1 - privacy, PRICE / left, penalty, worst)
        _polish_kernels.polish(matrix, self.problem.for_kernels, aim, rounds, steps)
        _matrix_kernels.blend(matrix, self.problem.prior, self.problem.posterior_cap)
        self._meet(matrix[None])
        return matrix

    def _connect(self, slot: int, neighbour: int) -> None:
        """Carry a level's best to its neighbour; the channels on the line between are permitted and fill the slots."""
        here = self._best(slot)
        there = self._descend(neighbour, here)
        shares = np.linspace(0, 1, 2 * abs(neighbour - slot) + 3)[1:-1, None, None]
        self._meet((1 - shares) * here + shares * there)

    def _carry(self, slot: int, neighbour: int) -> None:
        """Continue a slot's channel into the next slot."""
        self._descend(neighbour, self._best(slot), NEAR)

    def _climb(self, slot: int) -> None:
        """Descend from the channels of many slots below: at the top what is left shrinks by much from slot to slot."""
        for below in range(max(slot - CLIMBED, 0), slot):
            if np.isfinite(self.optimal.trace[below]):
                self._descend(slot, self.optimal.channels[below], hopeless=np.inf)

    def _meet(self, channels: Matrix) -> None:
        """Each of the channels replaces a worse one in its slot of the optimal set."""
        self.optimal.meet(Matrices.from_channels(channels.copy(), self.problem))

    def _trace(self, matrix: Matrix) -> float:
        n = len(matrix)
        return float(
            _matrix_kernels.inverse_trace(matrix, self.problem.prior, np.empty((n, n)), np.empty(n, dtype=np.intp))
        )


def _there_and_back(slots: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbours in the order of a walk upwards and downwards again."""
    pairs = list(pairwise(slots))
    return pairs + [(after, before) for before, after in reversed(pairs)]


def _with_neighbours(chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The chosen levels and their neighbours."""
    wide = chosen.copy()
    wide[1:] |= chosen[:-1]
    wide[:-1] |= chosen[1:]
    return wide
