"""FRAPP's randomized gamma-diagonal channel (RAN-GD): each respondent draws a matrix of their own.

Nobody but the respondent knows the draw, so reports follow the expected matrix exactly: that is the channel, and its
amplification is the honest one. What one draw would mean is a measure (`tacit.measure`), not a channel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.channel.base import Codes
from tacit.channel.chances import checked_gamma, numerator_below
from tacit.channel.codes import joint_codes, split_codes
from tacit.channel.kinds.mixture import MixtureChannel
from tacit.channel.recipe import Kind, Parameters, Recipe, Shape
from tacit.errors import InvalidInput
from tacit.randomness import ONE, Randomness, uniform_below


@dataclass(frozen=True, eq=False)
class RandomizedGammaDiagonal(MixtureChannel):
    """Diagonal chance ``(coin + r) / 2**32`` with r uniform on ``-spread .. spread``, else a uniform other record."""

    spread: int = 0

    def program(self) -> dict[str, Any]:
        diagonals = [self.coin - self.spread, self.coin + self.spread]
        return {"toss": diagonals, "heads": {"same": 1}, "tails": {"even": "other"}}

    def drawn_odds(self) -> tuple[float, float, float]:
        low, expected, high = (self._odds(self.coin + drawn) for drawn in (-self.spread, 0, self.spread))
        return low, expected, high

    def _odds(self, diagonal: int) -> float:
        return diagonal * (self.size - 1) / (ONE - diagonal) if diagonal < ONE else math.inf

    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        truth = joint_codes(truths, self.shape)
        diagonals = self.coin + uniform_below(randomness, 2 * self.spread + 1, len(truth)) - self.spread
        keeps = randomness.words(len(truth)) < diagonals
        other = uniform_below(randomness, self.size - 1, len(truth))
        other += other >= truth
        return split_codes(np.where(keeps, truth, other), self.shape)


def randomized_gamma_diagonal(gamma: float, alpha: float) -> Recipe:
    """Each respondent draws a diagonal within `alpha` of the gamma-diagonal one (FRAPP's RAN-GD).

    Parameters
    ----------
    gamma : float
        The largest amplification: how much likelier one truth may make a report than another.
    alpha : float
        How far a respondent's own diagonal may lie from the expected one.

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
    >>> channels.randomized_gamma_diagonal(3, 0.1).kind
    'randomized-gamma-diagonal'
    """
    return Recipe("randomized-gamma-diagonal", {"gamma": gamma, "alpha": alpha})


def make_randomized_gamma_diagonal(shape: Shape, parameters: Parameters) -> RandomizedGammaDiagonal:
    """The channel whose diagonal lies within alpha of that of the gamma-diagonal matrix."""
    gamma, alpha = checked_gamma(parameters["gamma"]), parameters["alpha"]
    size = math.prod(shape)
    smallest = 1 / (Fraction(gamma) + size - 1)
    limit = float(min(Fraction(gamma), Fraction(size - 1)) * smallest)
    if not (isinstance(alpha, int | float) and 0 <= alpha <= limit):
        raise InvalidInput(
            f"alpha must lie between 0 and min(gamma, n - 1) / (gamma + n - 1) = {limit:.6g} here, not {alpha!r}: "
            "beyond that some chance would be negative."
        )
    coin = numerator_below(Fraction(gamma) * smallest)
    if coin * size < ONE:
        raise InvalidInput(
            f"gamma = {gamma!r} is too close to 1: with chances in steps of 2**-32 the truth would be less likely than "
            "another record. Choose a larger gamma."
        )
    spread = min(numerator_below(Fraction(float(alpha))), coin, ONE - coin)
    return RandomizedGammaDiagonal(
        "randomized-gamma-diagonal", dict(parameters), shape, coin, others=True, spread=spread
    )


def _for_amplification(shape: Shape, gamma: float) -> Parameters:
    """Parameters with half of the largest alpha, as published."""
    n = math.prod(shape)
    return {"gamma": checked_gamma(gamma), "alpha": min(gamma, n - 1) / (gamma + n - 1) / 2}


KINDS = {
    "randomized-gamma-diagonal": Kind(
        make_randomized_gamma_diagonal,
        randomized_gamma_diagonal,
        ("gamma", "alpha"),
        _for_amplification,
        no_better_than="gamma-diagonal",
    )
}
