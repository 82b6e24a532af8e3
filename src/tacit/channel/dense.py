"""Formulas of a channel that is given as a dense matrix ``matrix[report, truth]``, and the estimator they make."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.channel.protocol import Array, flat, outer


def dense_amplification(matrix: Array) -> float:
    """Largest ratio of two chances of one report: e to the epsilon of local differential privacy."""
    possible = matrix[matrix.max(axis=1) > 0]
    lowest = possible.min(axis=1)
    return float((possible.max(axis=1) / lowest).max()) if lowest.all() else math.inf


def best_inverse(matrix: Array, truth: Array) -> Array:
    """The unbiased linear estimator with the least variance when `truth` is true: ``left @ matrix == identity``.

    ``(A^T D^-1 A)^-1 A^T D^-1`` with ``D = diag(A truth)``; with as many reports as truths it is the inverse, whatever
    the truth.
    """
    expected = matrix @ truth
    possible = expected > 0
    weighted = matrix[possible] / expected[possible, None]
    left = np.zeros((matrix.shape[1], matrix.shape[0]))
    left[:, possible] = np.linalg.solve(matrix[possible].T @ weighted, weighted.T)
    return left


class DenseEstimator:
    """Estimates by a matrix: the estimating half of a channel (`tacit.channel.protocol.Estimator`)."""

    if TYPE_CHECKING:  # whoever estimates has them as fields or as properties

        @property
        def shape(self) -> tuple[int, ...]: ...

        @property
        def tally_shape(self) -> tuple[int, ...]: ...

    def left_inverse(self, guess: Array | None = None) -> Array:
        """``L`` with ``L @ tally`` the estimate, of least variance where the truth of the group is `guess`."""
        raise NotImplementedError

    def _map_back(self, left: Array, tally: Array) -> Array:
        behind = tally.shape[len(self.tally_shape) :]
        return (left @ flat(tally, len(self.tally_shape))).reshape(self.shape + behind)

    def solve(self, tally: Array, guess: Array | None = None) -> Array:
        return self._map_back(self.left_inverse(guess), tally)

    def solve_squares(self, tally: Array, guess: Array | None = None) -> Array:
        return self._map_back(self.left_inverse(guess) ** 2, tally)

    def solve_adjoint(self, weights: Array, guess: Array | None = None) -> Array:
        behind = weights.shape[len(self.shape) :]
        return (self.left_inverse(guess).T @ flat(weights, len(self.shape))).reshape(self.tally_shape + behind)

    def solve_pairs(self, tally: Array, guess: Array | None = None) -> Array:
        left = self.left_inverse(guess)
        pairs = np.einsum("uv,wv,vb->uwb", left, left, flat(tally, len(self.tally_shape)), optimize=True)
        return pairs.reshape(len(left), len(left), *tally.shape[len(self.tally_shape) :])

    def conjunction(self, masks: Sequence[NDArray[np.bool_]]) -> list[tuple[tuple[int, ...], Array]]:
        return [(tuple(range(len(self.tally_shape))), self.solve_adjoint(outer(masks)))]
