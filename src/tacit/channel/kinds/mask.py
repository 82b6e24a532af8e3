"""MASK: one bit per answer, each kept with chance p, reversed otherwise.

In the terms of `tacit.channel.one_hot` b = 1 - p and c_r = (2 p - 1)**r.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.channel.base import Array, Channel, Codes, Figures, ProductTerm
from tacit.channel.chances import checked_chance, numerator, numerator_below, ratio
from tacit.channel.codes import checked_axes
from tacit.channel.one_hot import OneHotLaw, one_hot
from tacit.channel.recipe import Kind, Parameters, Recipe, Shape
from tacit.randomness import ONE, Randomness, coins


@dataclass(frozen=True, eq=False)
class MaskChannel(OneHotLaw):
    """Every bit of the one-hot record kept with chance p, reversed otherwise."""

    shape: tuple[int, ...]
    p: float  # as declared; `chance` is what is sampled

    kind = "mask"

    @property
    def parameters(self) -> dict[str, Any]:
        return {"p": self.p}

    @property
    def coin(self) -> int:
        return numerator(self.p)

    @property
    def chance(self) -> float:
        return self.coin / ONE

    @property
    def background(self) -> float:
        return 1 - self.chance

    def contrast(self, items: int) -> float:
        return (2 * self.chance - 1) ** items

    @property
    def amplification(self) -> float:
        # Two truths differ in at most two bits of each attribute.
        keep = Fraction(self.coin, ONE)
        low, high = sorted((keep, 1 - keep))
        differing = 2 * len(self.shape)
        return ratio(high**differing, low**differing)

    def answer_amplification(self, axis: int) -> float:
        return self.marginal([axis]).amplification

    def program(self) -> dict[str, Any]:
        return {"bits": [self.coin, ONE - self.coin]}

    def chance_terms(self, columns: Sequence[Codes]) -> tuple[ProductTerm, ...]:
        factors = []
        for bits, size in zip(columns, self.shape, strict=True):
            # All zeros agree but that of the truth itself, if it is one; and its bit, if it is shown.
            agree = size - bits.sum(axis=1, keepdims=True) - 1 + 2 * bits.astype(np.int64)
            factors.append(self.chance**agree * (1 - self.chance) ** (size - agree))
        return (ProductTerm(np.ones(len(columns[0])), tuple(factors)),)

    def chances(self, columns: Sequence[Codes]) -> Array:
        (term,) = self.chance_terms(columns)
        return term.written_out(self.shape)

    def independent_figures(self, priors: Sequence[Array]) -> Figures:
        """Attributes that are independent in truth and in disguise: being right multiplies."""
        by_attribute = [self.independent_answer_figures(axis, priors) for axis in range(len(self.shape))]
        right = _product([None if figures.map_privacy is None else 1 - figures.map_privacy for figures in by_attribute])
        guessed = _product([None if figures.pse is None else 1 - figures.pse for figures in by_attribute])
        return Figures(
            None if right is None else 1 - right,
            _product([figures.worst_posterior for figures in by_attribute]),
            None if guessed is None else 1 - guessed,
        )

    def independent_answer_figures(self, axis: int, priors: Sequence[Array]) -> Figures:
        # The other columns say nothing of an answer that does not depend on theirs.
        return self.marginal([axis]).figures(priors[axis])

    def singular_extremes(self) -> tuple[float, float] | None:
        if len(self.shape) == 1:
            return super().singular_extremes()
        by_attribute = [self.marginal([axis]).singular_extremes() for axis in range(len(self.shape))]
        extremes = [pair for pair in by_attribute if pair is not None]
        return math.prod(pair[0] for pair in extremes), math.prod(pair[1] for pair in extremes)

    def itemset_condition(self, length: int) -> float:
        return abs(2 * self.chance - 1) ** -float(length) if self.is_invertible() else math.inf

    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        columns = []
        for truth, size in zip(truths, self.shape, strict=True):
            reversed_bits = ~coins(randomness, self.coin, len(truth) * size).reshape(-1, size)
            columns.append(one_hot(truth, size) ^ reversed_bits)
        return tuple(columns)

    def marginal(self, axes: Sequence[int]) -> MaskChannel:
        return MaskChannel(tuple(self.shape[axis] for axis in checked_axes(axes, self.shape)), self.p)


def _product(values: Sequence[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return math.prod(numbers) if len(numbers) == len(values) else None


def mask(p: float) -> Recipe:
    """One bit per answer, each kept with chance `p` (MASK).

    Parameters
    ----------
    p : float
        Chance that a bit is kept.

    Returns
    -------
    Recipe
        What `Scheme.of` takes; ``build(shape)`` makes the channel.

    Raises
    ------
    InvalidInput
        When it is built with a parameter that cannot be kept.

    Examples
    --------
    >>> from tacit import channels
    >>> channels.mask(0.75).build((2,)).amplification
    9.0
    """
    return Recipe("mask", {"p": p})


def make_mask(shape: Shape, parameters: Parameters) -> Channel:
    return MaskChannel(shape, checked_chance("p, the chance to keep a bit,", parameters["p"]))


def mask_chance(gamma: float, attributes: int) -> float:
    """The chance to keep a bit that gives MASK on so many attributes the amplification gamma.

    >>> round(mask_chance(19, 6), 4), round(mask_chance(19, 7), 4)
    (0.561, 0.5524)
    """
    odds = gamma ** (1 / (2 * attributes))
    return odds / (1 + odds)


def _mask_for(shape: Shape, gamma: float) -> Parameters:
    """The largest chance to keep a bit; rounded down, so that the demand is met exactly."""
    return {"p": numerator_below(Fraction(mask_chance(gamma, len(shape)))) / ONE}


KINDS = {"mask": Kind(make_mask, mask, ("p",), _mask_for)}
