"""Channels whose report holds some of the answers, the true one more often than any other: the linear algebra of them.

Subset selection names the answers that a report holds; local hashing gives the bucket that holds them. A tally counts how
many reports hold each answer, and last how many reports there are. So the chance of a held answer is `holds` for the truth
and `background` for any other one, and everything linear follows from these two numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array, Channel, Codes
from tacit.channel.codes import flat


class HoldingLaw(Channel):
    """What is linear in the two chances."""

    @property
    def holds(self) -> float:
        """Chance that a report holds the truth."""
        raise NotImplementedError

    @property
    def background(self) -> float:
        """Chance that a report holds a given other answer."""
        raise NotImplementedError

    def holding(self, columns: Sequence[Codes]) -> NDArray[np.bool_]:
        """Which joint answers each report holds."""
        raise NotImplementedError

    @property
    def tally_shape(self) -> tuple[int, ...]:
        return (self.size + 1,)

    @property
    def contrast(self) -> float:
        self._check_invertible()
        return self.holds - self.background

    def apply(self, truth: Array) -> Array:
        x = flat(truth, len(self.shape))
        everyone = x.sum(axis=0, keepdims=True)
        held = self.background * everyone + (self.holds - self.background) * x
        behind = truth.shape[len(self.shape) :]
        return np.concatenate([held, everyone]).reshape(self.tally_shape + behind)

    def adjoint(self, weights: Array) -> Array:
        y = flat(weights, 1)
        held, everyone = y[:-1], y[-1:]
        x = (self.holds - self.background) * held + self.background * held.sum(axis=0) + everyone
        return x.reshape(self.shape + weights.shape[1:])

    def solve(self, tally: Array, guess: Array | None = None) -> Array:
        q = flat(tally, 1)
        p = (q[:-1] - self.background * q[-1:]) / self.contrast
        return p.reshape(self.shape + tally.shape[1:])

    def solve_adjoint(self, weights: Array, guess: Array | None = None) -> Array:
        w = flat(weights, len(self.shape)) / self.contrast
        y = np.concatenate([w, -self.background * w.sum(axis=0, keepdims=True)])
        return y.reshape(self.tally_shape + weights.shape[len(self.shape) :])

    def solve_squares(self, tally: Array, guess: Array | None = None) -> Array:
        q, b = flat(tally, 1), self.background
        squares = (q[:-1] * (1 - 2 * b) + b * b * q[-1:]) / self.contrast**2
        return squares.reshape(self.shape + tally.shape[1:])

    def inverse(self, columns: Sequence[Codes], guess: Array | None = None) -> Array:
        return np.asarray((self.holding(columns) - self.background) / self.contrast)

    def left_inverse(self, guess: Array | None = None) -> Array:
        identity = np.eye(self.size)
        return np.concatenate([identity, np.full((self.size, 1), -self.background)], axis=1) / self.contrast
