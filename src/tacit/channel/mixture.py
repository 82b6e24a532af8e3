"""Tell the truth with some chance, else report a draw that says nothing of it.

Warner's channel, uniform perturbation, FRAPP's gamma-diagonal and the unrelated question are all mixtures
``keep * I + (1 - keep) * personal 1^T``; inverse, marginals and errors have closed forms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.chances import ratio
from tacit.channel.protocol import (
    Array,
    Codes,
    checked_axes,
    checked_matrix_size,
    flat,
    grid,
    joint_codes,
    outer,
    split_codes,
)
from tacit.errors import NotEstimable
from tacit.randomness import ONE, Randomness, coins, uniform_below
from tacit.schema import Attribute

# From here on the compiled kernel earns its import.
COMPILED_ROWS = 1 << 20
# The kernel numbers the stretches, at most twice as many as the choices, in 32 bits.
COMPILED_CHOICES = 1 << 30
CHUNK_ROWS = 1 << 16


class MixtureLaw:
    """The linear algebra of ``keep * I + (1 - keep) * personal 1^T``; reports look like truths."""

    shape: tuple[int, ...]
    has_marginals = True
    has_choice = False

    @property
    def exact_keep(self) -> Fraction:
        """Weight of the truth in the mixture; negative for Warner's channel with p below 1/n."""
        raise NotImplementedError

    @property
    def rarest(self) -> Fraction:
        """Least chance of any record under the alternative, without writing all of them out."""
        raise NotImplementedError

    @property
    def personal_distribution(self) -> Array:
        """The law of the alternative over the joint domain, shaped like it."""
        raise NotImplementedError

    @cached_property
    def keep(self) -> float:
        """`exact_keep` as a float."""
        return float(self.exact_keep)

    @property
    def tally_shape(self) -> tuple[int, ...]:
        return self.shape

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def _noise(self) -> Array:
        return (1 - self.keep) * self.personal_distribution.reshape(-1)

    @property
    def amplification(self) -> float:
        # Where a record is rarest as a lie, being the truth matters most. In fractions: a demanded gamma is met exactly.
        as_lie = (1 - self.exact_keep) * self.rarest
        low, high = sorted((as_lie, as_lie + self.exact_keep))
        return ratio(high, low)

    @property
    def matrix(self) -> Array:
        checked_matrix_size(self.size, self.size)
        return np.eye(self.size) * self.keep + self._noise[:, None]

    def reports(self) -> tuple[Codes, ...]:
        return grid(self.shape)

    def report_attributes(self, attributes: Sequence[Attribute]) -> tuple[Attribute, ...]:
        return tuple(attributes)

    def apply(self, truth: Array) -> Array:
        x = flat(truth, len(self.shape))
        return (self.keep * x + self._noise[:, None] * x.sum(axis=0)).reshape(truth.shape)

    def adjoint(self, weights: Array) -> Array:
        y = flat(weights, len(self.shape))
        return (self.keep * y + self._noise @ y).reshape(weights.shape)

    def is_invertible(self) -> bool:
        return self.keep != 0

    def _checked_keep(self) -> float:
        if not self.is_invertible():
            raise NotEstimable(
                "The reports are independent of the truth (it is kept with chance 0), so nothing can be estimated "
                "from them. Choose a channel that keeps the truth more often."
            )
        return self.keep

    def solve(self, tally: Array, guess: Array | None = None) -> Array:
        keep = self._checked_keep()
        q = flat(tally, len(self.shape))
        return ((q - self._noise[:, None] * q.sum(axis=0)) / keep).reshape(tally.shape)

    def solve_adjoint(self, weights: Array, guess: Array | None = None) -> Array:
        keep = self._checked_keep()
        w = flat(weights, len(self.shape))
        return ((w - self._noise @ w) / keep).reshape(weights.shape)

    def solve_squares(self, tally: Array, guess: Array | None = None) -> Array:
        keep = self._checked_keep()
        q = flat(tally, len(self.shape))
        noise = self._noise[:, None]
        return ((q * (1 - 2 * noise) + noise**2 * q.sum(axis=0)) / keep**2).reshape(tally.shape)

    def solve_pairs(self, tally: Array, guess: Array | None = None) -> Array:
        keep = self._checked_keep()
        q = flat(tally, len(self.shape))
        crossed = self._noise[:, None, None] * q[None, :, :]
        pairs = np.multiply.outer(np.multiply.outer(self._noise, self._noise), q.sum(axis=0))
        pairs -= crossed
        pairs -= crossed.transpose(1, 0, 2)
        diagonal = np.arange(self.size)
        pairs[diagonal, diagonal] += q
        return (pairs / keep**2).reshape(self.size, self.size, *tally.shape[len(self.shape) :])

    def conjunction(self, masks: Sequence[NDArray[np.bool_]]) -> list[tuple[tuple[int, ...], Array]]:
        return [(tuple(range(len(self.shape))), self.solve_adjoint(outer(masks)))]


@dataclass(frozen=True, eq=False)
class MixtureChannel(MixtureLaw):
    """A mixture that can be sampled: a coin, then the truth or the alternative.

    `coin` is the integer over 2**32 that a word must stay below for the truth to be reported. With `others` the
    alternative is a uniform *other* record (Warner), so the coin is the diagonal chance itself; else it is a draw from
    `personal`, and the coin is the chance to keep. `personal` is None for uniform, or holds integer weights: one array
    over the joint domain, or one per attribute.
    """

    kind: str
    parameters: dict[str, Any]
    shape: tuple[int, ...]
    coin: int
    others: bool = False
    personal: tuple[NDArray[np.int64], ...] | None = None

    @cached_property
    def exact_keep(self) -> Fraction:
        if not self.others:
            return Fraction(self.coin, ONE)
        return Fraction(self.size * self.coin - ONE, ONE * (self.size - 1))

    def is_invertible(self) -> bool:
        if self.others:
            # A p that is 1/n but for the rounding of chances keeps nothing: what is left of it is the rounding.
            return 2 * abs(self.size * self.coin - ONE) > self.size
        return self.keep != 0

    @property
    def rarest(self) -> Fraction:
        if self.personal is None:
            return Fraction(1, self.size)
        return math.prod((Fraction(int(weights.min()), ONE) for weights in self.personal), start=Fraction(1))

    @property
    def matrix(self) -> Array:
        law = super().matrix
        if self.others:  # keep and noise only add up to the coin's chance within a rounding error
            np.fill_diagonal(law, self.coin / ONE)
        return law

    @cached_property
    def personal_distribution(self) -> Array:
        if self.personal is None:
            return np.full(self.shape, 1 / self.size)
        return outer_product([weights / ONE for weights in self.personal]).reshape(self.shape)

    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        if self.coin == ONE:
            return tuple(column.copy() for column in truths)
        if len(self.shape) == 1 and self.personal is None:
            return (self._sample_one(truths[0], self.shape[0], randomness),)
        if self.others:
            codes = self._sample_one(joint_codes(truths, self.shape), self.size, randomness)
            return split_codes(codes, self.shape)
        kept = coins(randomness, self.coin, len(truths[0]))
        drawn = self._draw_personal(len(kept), randomness)
        return tuple(
            np.where(kept, truth, noise.astype(truth.dtype)) for truth, noise in zip(truths, drawn, strict=True)
        )

    def _draw_personal(self, count: int, randomness: Randomness) -> Sequence[Codes]:
        if self.personal is None:
            return [uniform_below(randomness, size, count) for size in self.shape]
        drawn = [
            np.searchsorted(np.cumsum(weights), randomness.words(count).astype(np.int64), side="right")
            for weights in self.personal
        ]
        return drawn if len(drawn) == len(self.shape) else split_codes(drawn[0], self.shape)

    def _sample_one(self, truth: Codes, size: int, randomness: Randomness) -> Codes:
        """Coin and uniform alternative of one column, both from a single word a row."""
        choices = size - 1 if self.others else size
        draw = mixture_codes
        if len(truth) >= COMPILED_ROWS and choices <= COMPILED_CHOICES:
            from tacit.channel._mixture_kernels import mixture_codes as draw
        out = np.empty_like(truth)
        for start in range(0, len(truth), CHUNK_ROWS):
            rows = slice(start, start + CHUNK_ROWS)
            part = truth[rows]
            again = draw(part, randomness.words(len(part)), self.coin, choices, self.others, out[rows])
            if len(again):
                values = uniform_below(randomness, choices, len(again))
                out[rows][again] = values + (self.others & (values >= part[again]))
        return out

    def margin(self, axes: Sequence[int]) -> MixtureChannel | MarginalMixture:
        return self.marginal(axes)

    def marginal(self, axes: Sequence[int]) -> MixtureChannel | MarginalMixture:
        kept = checked_axes(axes, self.shape)
        return self if len(kept) == len(self.shape) else MarginalMixture(self, kept)


@dataclass(frozen=True, eq=False)
class MarginalMixture(MixtureLaw):
    """Some attributes of a mixture: again a mixture with the same keep (FRAPP eq. 28 is the uniform case)."""

    whole: MixtureChannel
    axes: tuple[int, ...]

    kind = "mixture"

    @property
    def parameters(self) -> dict[str, Any]:
        return {"keep": self.keep, "personal": self.personal_distribution.reshape(-1).tolist()}

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return tuple(self.whole.shape[axis] for axis in self.axes)

    @property
    def exact_keep(self) -> Fraction:
        return self.whole.exact_keep

    def is_invertible(self) -> bool:
        return self.whole.is_invertible()

    @property
    def rarest(self) -> Fraction:
        personal = self.whole.personal
        if personal is None:
            return Fraction(1, self.size)
        if len(personal) == len(self.whole.shape):
            return math.prod((Fraction(int(personal[axis].min()), ONE) for axis in self.axes), start=Fraction(1))
        return Fraction(float(self.personal_distribution.min()))

    @cached_property
    def personal_distribution(self) -> Array:
        personal = self.whole.personal
        if personal is None:
            return np.full(self.shape, 1 / self.size)
        if len(personal) == len(self.whole.shape):
            return outer_product([personal[axis] / ONE for axis in self.axes])
        summed = tuple(axis for axis in range(len(self.whole.shape)) if axis not in self.axes)
        return self.whole.personal_distribution.sum(axis=summed)

    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        # What the other attributes are does not matter for these columns.
        given = dict(zip(self.axes, truths, strict=True))
        anything = np.zeros_like(truths[0])
        drawn = self.whole.sample([given.get(axis, anything) for axis in range(len(self.whole.shape))], randomness)
        return tuple(drawn[axis] for axis in self.axes)

    def margin(self, axes: Sequence[int]) -> MixtureChannel | MarginalMixture:
        return self.marginal(axes)

    def marginal(self, axes: Sequence[int]) -> MixtureChannel | MarginalMixture:
        kept = checked_axes(axes, self.shape)
        return self.whole.marginal([self.axes[axis] for axis in kept])


def outer_product(factors: Sequence[Array]) -> Array:
    joint: Array = np.ones(())
    for factor in factors:
        joint = np.multiply.outer(joint, factor)
    return joint


def mixture_codes(
    truth: Codes, words: NDArray[np.uint32], coin: int, choices: int, others: bool, out: Codes
) -> NDArray[np.intp]:
    """Reports into `out`; returns the rows whose alternative must be drawn again.

    A word below the coin keeps the truth. The others are equally likely, so they are cut into `choices` stretches of
    one width; the few left over after the last stretch say nothing and are drawn anew. Where there are fewer such words
    than choices, all of them are.
    """
    rest = words.astype(np.int64) - coin
    kept = rest < 0
    width = (ONE - coin) // choices
    value = rest // max(width, 1)
    again = np.flatnonzero(~kept & (rest >= width * choices))
    if others:
        value += value >= truth
    out[:] = np.where(kept, truth, value)
    return again
