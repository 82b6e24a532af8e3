"""Estimates of some attributes of a group whose channel has no marginals: the whole group's estimate, summed.

These are the estimating half of a channel (`tacit.channel.protocol`): a sum over truths of `solve` and its errors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.channel.dense import DenseEstimator
from tacit.channel.protocol import Array, flat, outer

if TYPE_CHECKING:
    from tacit.channel.matrix import MatrixChannel
    from tacit.channel.subset import SubsetChannel


@dataclass(frozen=True, eq=False)
class _Summed:
    """A channel's estimate, summed over the attributes that are not asked for."""

    channel: MatrixChannel | SubsetChannel
    axes: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.channel.shape[axis] for axis in self.axes)

    @property
    def tally_shape(self) -> tuple[int, ...]:
        return self.channel.tally_shape

    def is_invertible(self) -> bool:
        return self.channel.is_invertible()


@dataclass(frozen=True, eq=False)
class SummedMatrix(_Summed, DenseEstimator):
    """The estimate under a dense channel, summed."""

    channel: MatrixChannel

    def left_inverse(self, guess: Array | None = None) -> Array:
        left = self.channel.left_inverse(guess).reshape(*self.channel.shape, -1)
        return flat(left.sum(axis=_others(self.axes, self.channel.shape)), len(self.axes))


@dataclass(frozen=True, eq=False)
class SummedSubset(_Summed):
    """The estimate under subset selection, summed: what counts is how many members of the set fall into a cell."""

    channel: SubsetChannel

    @property
    def _per_cell(self) -> int:
        """How many joint answers of the group each cell sums."""
        return self.channel.size // math.prod(self.shape)

    def _summed(self, truths: Array) -> Array:
        """Over the joint answers of the group, to the cells that are asked for."""
        shaped = truths.reshape(*self.channel.shape, *truths.shape[1:])
        return flat(shaped.sum(axis=_others(self.axes, self.channel.shape)), len(self.axes))

    def solve(self, tally: Array, guess: Array | None = None) -> Array:
        whole = self.channel.solve(tally)
        return whole.sum(axis=_others(self.axes, self.channel.shape))

    def solve_adjoint(self, weights: Array, guess: Array | None = None) -> Array:
        shape, behind = self.channel.shape, weights.shape[len(self.shape) :]
        kept = tuple(size if axis in self.axes else 1 for axis, size in enumerate(shape))
        return self.channel.solve_adjoint(np.broadcast_to(weights.reshape(kept + behind), shape + behind))

    def solve_pairs(self, tally: Array, guess: Array | None = None) -> Array:
        q, size = flat(tally, 1), self._per_cell
        everyone, members = q[-1:], self._summed(q[:-1])
        truth = self._summed(flat(self.channel.solve(tally), len(self.channel.shape)))
        pairs = self.channel.pair_inclusion(truth, size)
        cells = np.arange(len(members))
        # Within a cell the ordered pairs of different members, and each member with itself.
        pairs[cells, cells] = self.channel.pair_inclusion_within(truth, size) + members
        b = self.channel.background * size
        pairs = pairs - b * (members[:, None] + members[None, :]) + b * b * everyone
        return (pairs / self.channel.contrast**2).reshape(len(members), len(members), *tally.shape[1:])

    def solve_squares(self, tally: Array, guess: Array | None = None) -> Array:
        q, size = flat(tally, 1), self._per_cell
        members = self._summed(q[:-1])
        truth = self._summed(flat(self.channel.solve(tally), len(self.channel.shape)))
        b = self.channel.background * size
        squares = self.channel.pair_inclusion_within(truth, size) + members * (1 - 2 * b) + b * b * q[-1:]
        return (squares / self.channel.contrast**2).reshape(self.shape + tally.shape[1:])

    def conjunction(self, masks: Sequence[NDArray[np.bool_]]) -> list[tuple[tuple[int, ...], Array]]:
        return [((0,), self.solve_adjoint(outer(masks)))]


def _others(axes: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(axis for axis in range(len(shape)) if axis not in axes)
