"""Errors of the most likely distribution: its own, not those of the unbiased estimate.

Where the optimum lies inside the simplex, the inverse of the information says how far it may be off. At an edge that
says nothing of the side the estimate cannot go to; there every share is moved, all else being chosen as likely as
possible, until the likelihood has dropped too far (the profile likelihood; Venzon and Moolgavkar 1988).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.channel.codes import MATRIX_ENTRIES
from tacit.count.protocol import Source
from tacit.estimation.evidence import Evidence
from tacit.estimation.expectation import ExpectationFit, Step, accelerate, expectation_step
from tacit.estimation.group_parts import parts_for
from tacit.estimation.intervals import Interval, ShareLaw, checked_level
from tacit.estimation.simplex import floor_shares

TINY = np.finfo(np.float64).tiny
EDGE = 1e-6  # a share below this lies on an edge
PROFILED_CELLS = 32  # of the asked table; beyond, intervals at an edge are those of the law around the estimate
PROFILED_TRUTHS = 1 << 12  # of the whole table behind it
INFORMATION_TRUTHS = 1 << 8
DROP = 1e-2  # how precisely the root of twice the drop of the log-likelihood is found
MOST_STEPS = 500
SHOTS = 12  # tries for one end of an interval


def covered_names(sources: Sequence[Source], names: Sequence[str]) -> list[str]:
    """`names`, and whatever else the groups cover that tell of them: the axes of the whole table."""
    covered = list(names)
    for source in sources:
        asked = [name for name in names if name in source.questionnaire.attributes]
        group_names = [name for group in parts_for(source.questionnaire, asked) for name in group.covered]
        covered.extend(dict.fromkeys(name for name in group_names if name not in covered))
    return covered


@dataclass(frozen=True, eq=False)
class LikelihoodErrors:
    """What the reports say of the most likely table `probabilities`, whose axes are the first of the whole one."""

    gathered: Callable[[], Sequence[Evidence]]
    whole: tuple[int, ...]  # numbers of answers of everything that the evidence covers
    probabilities: Array
    law_of: Callable[[], ShareLaw]  # of the unbiased estimate

    @cached_property
    def evidence(self) -> Sequence[Evidence]:
        return self.gathered()

    @cached_property
    def law(self) -> ShareLaw:
        return self.law_of()

    @cached_property
    def _reports(self) -> float:
        return sum(float(group.counts.sum()) for group in self.evidence)

    @cached_property
    def _near(self) -> Array:
        return floor_shares(self.probabilities)

    @property
    def standard_errors(self) -> Array:
        return np.sqrt(self._gain * self.law.variance(self._near))

    @cached_property
    def _gain(self) -> Array:
        """Variance by the inverse information at the estimate, a floor under every share, over the unbiased one's."""
        cells = math.prod(self.whole)
        if cells > INFORMATION_TRUTHS or cells * sum(group.counts.size for group in self.evidence) > MATRIX_ENTRIES:
            return np.ones(self.probabilities.shape)
        unbiased = replace(self.law, respondents=False).variance(self._near)
        variances = self._inverse_information(self._optimum.distribution)
        # Likelihood wastes nothing, so it is never worse: a singular information would say so.
        return np.ones_like(unbiased) if variances is None else np.clip(variances / np.maximum(unbiased, TINY), 0, 1)

    def _inverse_information(self, truth: Array) -> Array | None:
        """Variances of the asked shares, from the information about distributions that sum to one."""
        cells, truth = math.prod(self.whole), floor_shares(truth)
        information = np.zeros((cells, cells))
        certain = np.eye(cells).reshape(cells, *self.whole)
        for group in self.evidence:
            law = np.stack([group.expected(cell).reshape(-1) for cell in certain], axis=1)
            expected = group.expected(truth).reshape(-1)
            seen = expected > 0
            weights = np.divide(group.counts.reshape(-1).sum(), expected, out=np.zeros_like(expected), where=seen)
            if law.sum(axis=0).min() < 1 - 1e-9:  # only the reports that were sent are listed
                weights = np.divide(group.counts.reshape(-1), expected**2, out=np.zeros_like(expected), where=seen)
            information += (law * weights[:, None]).T @ law
        directions = np.eye(cells)[:, 1:] - np.eye(cells)[:, :1]
        inner = directions.T @ information @ directions
        if np.linalg.cond(inner) > 1e12:
            return None
        covariance = directions @ np.linalg.inv(inner) @ directions.T
        asked = self._cell_truths.astype(np.float64)
        return np.einsum("ac,cd,ad->a", asked, covariance, asked).reshape(self.probabilities.shape)

    @cached_property
    def _cell_truths(self) -> NDArray[np.bool_]:
        """Which truths of the whole table belong to each asked cell: ``(cells, truths)``."""
        cells = self.probabilities.size
        return np.repeat(np.eye(cells, dtype=np.bool_), math.prod(self.whole) // cells, axis=1)

    @cached_property
    def _update(self) -> Callable[[Array], Step]:
        return expectation_step(self.evidence)

    @cached_property
    def _optimum(self) -> ExpectationFit:
        others = math.prod(self.whole) // self.probabilities.size
        start = np.repeat(np.maximum(self.probabilities, 1e-12).reshape(-1), others).reshape(self.whole)
        return accelerate(start / start.sum(), self._update, DROP / self._reports, MOST_STEPS)

    def interval(self, level: float) -> Interval:
        p, z = self.probabilities, checked_level(level)
        is_small = p.size <= PROFILED_CELLS and math.prod(self.whole) <= PROFILED_TRUTHS
        if p.min() < EDGE and is_small and not self.law.respondents:
            ends = np.array([self._ends(cell, z) for cell in range(p.size)])
            return Interval(ends[:, 0].reshape(p.shape), ends[:, 1].reshape(p.shape), level)
        law, gain = self.law, self._gain
        return replace(
            law, constant=law.constant * gain, slope=law.slope * gain, curvature=law.curvature * gain
        ).interval(p, level)

    def _ends(self, cell: int, z: float) -> tuple[float, float]:
        profile = _Profile(
            self._update, self._optimum.distribution, self._cell_truths[cell].reshape(self.whole), self._reports
        )
        at = float(self.probabilities.reshape(-1)[cell])
        error = max(float(self.standard_errors.reshape(-1)[cell]), 1e-9)
        return profile.end(at, at - z * error, 0.0, z), profile.end(at, at + z * error, 1.0, z)


@dataclass(frozen=True, eq=False)
class _Profile:
    """How likely the reports can be if the truths within `inside` have a given share together."""

    update: Callable[[Array], Step]
    optimum: Array
    inside: NDArray[np.bool_]
    reports: float

    @cached_property
    def _greatest(self) -> float:
        return self.update(self.optimum).likelihood

    def end(self, estimate: float, guess: float, edge: float, z: float) -> float:
        """The share on the side of `edge` where the root of twice the drop of the likelihood is z; the edge if none is."""
        if estimate == edge or self.drop(edge) <= z:
            return edge
        near, far = estimate, edge
        share = guess if min(near, far) < guess < max(near, far) else (near + far) / 2
        for _ in range(SHOTS):
            drop = self.drop(share)
            if abs(drop - z) < DROP:
                break
            near, far = (share, far) if drop < z else (near, share)
            # The root of the drop is all but linear in the share, beginning at the estimate.
            aimed = estimate + (share - estimate) * z / max(drop, DROP)
            share = aimed if min(near, far) < aimed < max(near, far) else (near + far) / 2
        return share

    def drop(self, share: float) -> float:
        """Root of twice the drop of the log-likelihood."""
        share = min(max(share, 1e-12), 1 - 1e-12)

        def with_share(truth: Array) -> Array:
            return np.where(
                self.inside, share * _shares(truth, self.inside), (1 - share) * _shares(truth, ~self.inside)
            )

        def update(truth: Array) -> Step:
            at = with_share(truth)
            step = self.update(at)
            gain = np.divide(step.after, at, out=np.zeros_like(at), where=at > 0)
            remaining = share * gain[self.inside].max() + (1 - share) * gain[~self.inside].max() - 1
            return Step(with_share(step.after), step.likelihood, float(remaining))

        # A little of everything, so that what the optimum rules out may come back.
        start = with_share(self.optimum + 1e-3 / self.optimum.size)
        fit = accelerate(start, update, DROP / self.reports, MOST_STEPS)
        reached = self.update(with_share(fit.distribution)).likelihood
        return math.sqrt(max(2 * self.reports * (self._greatest - reached), 0.0))


def _shares(truth: Array, among: NDArray[np.bool_]) -> Array:
    """Shares of some truths within them all; even where none of them has any."""
    total = float(truth[among].sum())
    return truth / total if total > 0 else np.full_like(truth, 1 / np.count_nonzero(among))
