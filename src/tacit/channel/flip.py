"""Report the record, or its opposite: every yes a no and every no a yes (multi-group randomized response)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.chances import numerator
from tacit.channel.protocol import Array, Codes, checked_axes, checked_matrix_size, flat, grid, outer
from tacit.errors import InvalidInput, NotEstimable
from tacit.randomness import ONE, Randomness, coins
from tacit.schema import Attribute


@dataclass(frozen=True, eq=False)
class FlipChannel:
    """The record with chance theta, else the record with every binary answer reversed.

    Reversing all codes of a joint binary domain reverses the order of its cells, which is how it is computed here.
    """

    shape: tuple[int, ...]
    theta: float  # as declared; `chance` is what is sampled

    kind = "flip"
    has_marginals = True
    has_choice = False

    def __post_init__(self) -> None:
        if any(size != 2 for size in self.shape):
            raise InvalidInput(
                f"A flip reverses yes and no, so every attribute of its group needs two answers, not {self.shape}. "
                "Use a gamma-diagonal or a uniform perturbation for more answers."
            )

    @property
    def parameters(self) -> dict[str, Any]:
        return {"theta": self.theta}

    @property
    def coin(self) -> int:
        return numerator(self.theta)

    @property
    def chance(self) -> float:
        return self.coin / ONE

    @property
    def tally_shape(self) -> tuple[int, ...]:
        return self.shape

    @property
    def amplification(self) -> float:
        # In a group of two or more a report leaves only two records possible: all others have chance zero.
        low, high = sorted((self.chance, 1 - self.chance))
        return high / low if low and len(self.shape) == 1 else math.inf

    @property
    def matrix(self) -> Array:
        size = 1 << len(self.shape)
        checked_matrix_size(size, size)
        identity = np.eye(size)
        return self.chance * identity + (1 - self.chance) * identity[::-1]

    def reports(self) -> tuple[Codes, ...]:
        return grid(self.shape)

    def report_attributes(self, attributes: Sequence[Attribute]) -> tuple[Attribute, ...]:
        return tuple(attributes)

    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        flipped = ~coins(randomness, self.coin, len(truths[0]))
        return tuple(truth ^ flipped.astype(truth.dtype) for truth in truths)

    def _mix(self, array: Array, same: float, opposite: float) -> Array:
        cells = flat(array, len(self.shape))
        return (same * cells + opposite * cells[::-1]).reshape(array.shape)

    def apply(self, truth: Array) -> Array:
        return self._mix(truth, self.chance, 1 - self.chance)

    def adjoint(self, weights: Array) -> Array:
        return self.apply(weights)

    def is_invertible(self) -> bool:
        return 2 * self.coin != ONE

    def _inverse(self) -> tuple[float, float]:
        if not self.is_invertible():
            raise NotEstimable(
                "With theta = 1/2 a record cannot be told from its opposite, so nothing can be estimated. "
                "Choose another theta, or an unrelated question (a mixture), which works at any chance above 0."
            )
        spread = 2 * self.chance - 1
        return self.chance / spread, -(1 - self.chance) / spread

    def solve(self, tally: Array, guess: Array | None = None) -> Array:
        return self._mix(tally, *self._inverse())

    def solve_adjoint(self, weights: Array, guess: Array | None = None) -> Array:
        return self.solve(weights)

    def solve_squares(self, tally: Array, guess: Array | None = None) -> Array:
        same, opposite = self._inverse()
        return self._mix(tally, same**2, opposite**2)

    def solve_pairs(self, tally: Array, guess: Array | None = None) -> Array:
        q = flat(tally, len(self.shape))
        size = len(q)
        same, opposite = self._inverse()
        pairs = np.zeros((size, size, q.shape[1]))
        cells = np.arange(size)
        pairs[cells, cells] = same**2 * q + opposite**2 * q[::-1]
        pairs[cells, cells[::-1]] = same * opposite * (q + q[::-1])
        return pairs.reshape(size, size, *tally.shape[len(self.shape) :])

    def conjunction(self, masks: Sequence[NDArray[np.bool_]]) -> list[tuple[tuple[int, ...], Array]]:
        return [(tuple(range(len(self.shape))), self.solve_adjoint(outer(masks)))]

    def margin(self, axes: Sequence[int]) -> FlipChannel:
        return self.marginal(axes)

    def marginal(self, axes: Sequence[int]) -> FlipChannel:
        return FlipChannel((2,) * len(checked_axes(axes, self.shape)), self.theta)
