"""Two questions together as they are in the population: what groups are compared by when reports are weighted.

Whoever has the same public answers has the same weight. So the weighted table is a sum, over the cells of these answers, of a
weight times the two questions' table within the cell. Its error has two parts: that of the tables within the cells, and that of
how many people fell into each cell, of which regression on the margins explains a part (Deville and Sarndal 1992).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.count.sources import ReportSource
from tacit.estimation.intervals import Interval, share_intervals
from tacit.estimation.result import TableEstimate
from tacit.estimation.simplex import floor_shares, project_on_simplex
from tacit.survey.weighting import Weighting

Array = NDArray[np.float64]


def weighted_table(weighting: Weighting, reports: ReportSource, by: str, name: str) -> TableEstimate:
    """The joint shares of two questions' answers in the population, with their errors: ``[by, name]``."""
    made = _WeightedCells.of(weighting, reports, (by, name))
    shares, errors = made.total(made.joint), np.sqrt(np.maximum(made.covariance(None).diagonal(), 0.0))
    people = max(int(weighting.effective), 1)

    shares, errors = shares.reshape(made.shape), errors.reshape(made.shape)

    def interval(level: float) -> Interval:
        return share_intervals(shares, errors, np.array(float(people)), level)

    return TableEstimate(
        made.whole.attributes[-2:], shares, shares, errors, people, "inversion", "population", interval, made.covariance
    )


@dataclass(frozen=True, eq=False)
class _WeightedCells:
    """Two questions' joint table within each cell of the margins' answers."""

    weighting: Weighting
    names: tuple[str, str]
    whole: TableEstimate  # of the margins that are not asked about, then the two questions
    asked: TableEstimate | None  # of those questions alone that are no margins; none where both are

    @classmethod
    def of(cls, weighting: Weighting, reports: ReportSource, names: tuple[str, str]) -> _WeightedCells:
        from tacit.estimation import estimate

        others = [name for name in weighting.names if name not in names]
        free = [name for name in names if name not in weighting.names]
        whole = estimate(reports, [*others, *names])
        return cls(weighting, names, whole, estimate(reports, free) if free else None)

    @property
    def shape(self) -> tuple[int, int]:
        first, second = self.whole.probabilities.shape[-2:]
        return first, second

    @cached_property
    def joint(self) -> Array:
        """Unbiased shares of everybody, ``[cell of the margins, cell of the two questions]``."""
        return self._by_margins(self.whole.probabilities)

    def _by_margins(self, table: Array) -> Array:
        """A table of `whole`, with zeros where a question that is a margin itself would have two answers."""
        margins = self.weighting.names
        with_margins = [name for name in self.names if name in margins]
        axes = dict(zip(self.whole.names, range(table.ndim), strict=True))
        spread = table
        for name in with_margins:  # its own axis of the margins: only the same answer counts
            size = table.shape[axes[name]]
            same = np.eye(size).reshape(*(size if axis == axes[name] else 1 for axis in range(spread.ndim)), size)
            spread = spread[..., None] * same
            axes[f"margin {name}"] = spread.ndim - 1
        order = [axes[f"margin {name}" if name in with_margins else name] for name in margins] + [
            axes[name] for name in self.names
        ]
        return spread.transpose(order).reshape(len(self._weights), -1)

    @property
    def _weights(self) -> Array:
        return self.weighting.weights.reshape(-1)

    def total(self, joint: Array) -> Array:
        return self._weights @ joint

    def covariance(self, at: Array | None) -> Array:
        """Covariance of the weighted shares; at the estimate, or where they are `at` (each cell's answers shifted alike)."""
        near = self._by_margins(floor_shares(project_on_simplex(self.whole.probabilities)))
        if at is not None:
            total = self.total(near)
            near = near * np.divide(at.reshape(-1), total, out=np.ones_like(total), where=total > 0)
            near = near / near.sum()
        people = near.sum(axis=1)
        within = np.divide(near, people[:, None], out=np.zeros_like(near), where=people[:, None] > 0)
        return self._of_answers(people, within) + self._of_cells(people, near, within) / self.whole.n_reports

    def _of_cells(self, people: Array, near: Array, within: Array) -> Array:
        """The part from how many people fell into each cell: the residuals of regression on the margins."""
        weights, x = self._weights, self.weighting.indicators
        # A pseudo-inverse, because each margin sums to one.
        slopes = np.linalg.pinv((x * (weights * people)[:, None]).T @ x) @ (x.T @ (weights[:, None] * near))
        residual = weights[:, None] * (within - x @ slopes)
        mean = people @ residual
        return (residual * people[:, None]).T @ residual - np.multiply.outer(mean, mean)

    def _of_answers(self, people: Array, within: Array) -> Array:
        """From what was answered, and disguised, within the cells.

        A table of a cell's people has the covariance of all people's over the cell's share. But for a square of the shares, a
        covariance is linear in the distribution of the truth: it is asked for once, at the mixture of the cells. Where versions
        are dealt the square is worth more than is taken for it, and the error comes out a little too large.
        """
        if self.asked is None:
            return np.zeros((within.shape[1],) * 2)
        worth = self._weights**2 * people
        free = [name for name in self.names if name not in self.weighting.names]
        if len(free) == 2:
            return self._spread(worth, within)
        # The other question is a margin: its answers are cells of their own, which share no report.
        axis = self.names.index(free[0])
        answers = np.moveaxis(within.reshape(len(within), *self.shape), axis + 1, 2).sum(axis=1)
        of_answer = np.moveaxis(np.arange(within.shape[1]).reshape(self.shape), axis, 1)
        owner = self._margin_answer(self.names[1 - axis])
        covariance = np.zeros((within.shape[1],) * 2)
        for answer, cells in enumerate(of_answer):
            members = owner == answer
            covariance[np.ix_(cells, cells)] = self._spread(worth[members], answers[members])
        return covariance

    def _spread(self, worth: Array, within: Array) -> Array:
        """Covariances of the answers in cells of this worth, summed."""
        if self.asked is None or worth.sum() <= 0:
            return np.zeros((within.shape[1],) * 2)
        mixed = worth @ within / worth.sum()
        squares = (within * worth[:, None]).T @ within - worth.sum() * np.multiply.outer(mixed, mixed)
        at_mixture = self.asked.covariance_of(mixed.reshape(self.asked.probabilities.shape))
        return worth.sum() * at_mixture - squares / self.asked.n_reports

    def _margin_answer(self, name: str) -> NDArray[np.intp]:
        """Which answer of a margin each cell has."""
        return np.indices(self.weighting.shares.shape)[self.weighting.names.index(name)].reshape(-1)
