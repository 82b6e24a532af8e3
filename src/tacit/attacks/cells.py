"""Groups whose reports do not look like records: every joint answer of the group is weighed.

Dense matrices, subset selection, cut-and-paste on a whole group, and MASK attribute by attribute.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.attacks.joint import Joint
from tacit.attacks.laws import Known, Law, Record
from tacit.channel.protocol import Array, grid, joint_codes


class CellReports(Law):
    """`likelihood[row, cell]` is the chance of the row's report under each joint answer of the group.

    `shows` marks the cells that the report shows, where it looks like a record or a set of records.
    """

    def __init__(
        self,
        attributes: tuple[int, ...],
        sizes: tuple[int, ...],
        likelihood: Array,
        known: Known,
        shows: NDArray[np.bool_] | None = None,
    ) -> None:
        self.attributes, self.sizes = attributes, sizes
        self._unrestricted, self._shows = likelihood, shows
        self.likelihood = likelihood * _agreeing(attributes, sizes, known) if known else likelihood

    def _cells(self, joint: Joint) -> Array:
        """Chances of the group's joint answers, (components, cells)."""
        cells = np.ones((joint.components, 1))
        for j in self.attributes:
            cells = (cells[:, :, None] * joint.factors[j][:, None, :]).reshape(joint.components, -1)
        return cells

    def _chance(self, joint: Joint) -> Array:
        return np.maximum(self.likelihood @ self._cells(joint).T, 1e-300)

    def log_likelihood(self, joint: Joint) -> Array:
        return np.log(self._chance(joint))

    def _margins(self, cells: Array) -> list[Array]:
        """Sum the last axis, the group's cells, to each attribute."""
        table = cells.reshape(len(cells), *self.sizes)
        axes = range(1, table.ndim)
        return [table.sum(axis=tuple(other for other in axes if other != axis)) for axis in axes]

    def counts(self, joint: Joint, weights: Array) -> list[Array]:
        return self._margins(self._cells(joint) * ((weights / self._chance(joint)).T @ self.likelihood))

    def _posterior(self, joint: Joint, shares: Array) -> Array:
        return self.likelihood * ((shares / self._chance(joint)) @ self._cells(joint))

    def answers(self, joint: Joint, shares: Array) -> list[Array]:
        return self._margins(self._posterior(joint, shares))

    def likeliest(self, joint: Joint) -> Record:
        best = [np.argmax(self.likelihood * cells, axis=1) for cells in self._cells(joint)]
        columns = np.unravel_index(np.stack(best, axis=1), self.sizes)
        return dict(zip(self.attributes, columns, strict=True))

    def _cell_of(self, record: Record) -> NDArray[np.int64]:
        return joint_codes([record[j] for j in self.attributes], self.sizes)

    def log_chance(self, record: Record) -> Array:
        chances = np.take_along_axis(self._unrestricted, self._cell_of(record)[:, None], axis=1)[:, 0]
        with np.errstate(divide="ignore"):
            return np.log(chances)

    @property
    def coin_groups(self) -> tuple[tuple[int, ...], ...]:
        return () if self._shows is None else (self.attributes,)

    def coins(self, joint: Joint, shares: Array) -> list[Array]:
        return [] if self._shows is None else [(self._posterior(joint, shares) * self._shows).sum(axis=1)]

    def shown(self, truth: Record) -> list[NDArray[np.bool_]]:
        if self._shows is None:
            return []
        return [np.take_along_axis(self._shows, self._cell_of(truth)[:, None], axis=1)[:, 0]]


def _agreeing(attributes: tuple[int, ...], sizes: tuple[int, ...], known: Known) -> Array:
    """1 for the cells that agree with what is known of a row."""
    agrees = np.ones((1, math.prod(sizes)))
    for j, column in zip(attributes, grid(sizes), strict=True):
        if j in known:
            agrees = agrees * (known[j][:, None] == column)
    return agrees
