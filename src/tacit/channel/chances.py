"""Chances as integers over 2**32, so that what is declared, sampled, measured and inverted is one channel."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from fractions import Fraction
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput
from tacit.randomness import ONE

LARGEST_GAMMA = sys.float_info.max
# Numbers printed with seven digits still pass; anything further from one is a mistake.
SUM_TOLERANCE = 1e-6


def checked_chance(name: str, value: float) -> float:
    """`value` if it is a probability, else a refusal that names the parameter."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise InvalidInput(f"{name} must be a number between 0 and 1, not {value!r}.")
    if not 0 <= value <= 1:
        raise InvalidInput(f"{name} must lie between 0 and 1, not {value!r}.")
    return float(value)


def checked_gamma(gamma: float) -> float:
    """`gamma` if it is a finite amplification of at least 1."""
    if isinstance(gamma, bool) or not (isinstance(gamma, Real) and 1 <= gamma <= LARGEST_GAMMA):
        raise InvalidInput(f"gamma, the amplification, must be a finite number of at least 1, not {gamma!r}.")
    return float(gamma)


def numerator(chance: float) -> int:
    """The nearest multiple of 2**-32, as an integer."""
    return math.floor(chance * ONE + 0.5)


def numerator_below(chance: Fraction) -> int:
    """The next multiple of 2**-32 downwards: for chances that a privacy demand bounds from above.

    A fraction, because a quotient of floats may already have been rounded upwards.
    """
    return math.floor(chance * ONE)


def ratio(high: Fraction, low: Fraction) -> float:
    """``high / low`` of two chances of one report, infinite where a float cannot hold it."""
    if high == low:
        return 1.0
    try:
        return float(high / low)
    except (ZeroDivisionError, OverflowError):
        return math.inf


def checked_distribution(name: str, values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """`values` as a distribution that sums to one, else a refusal that says what is wrong."""
    try:
        distribution = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} must be a list of numbers, not {values!r}.") from None
    if not np.isfinite(distribution).all() or (distribution < 0).any():
        bad = distribution[~(np.isfinite(distribution) & (distribution >= 0))].flat[0]
        raise InvalidInput(f"{name} holds {bad:g}; chances must be numbers of at least 0.")
    total = float(distribution.sum())
    if abs(total - 1) > SUM_TOLERANCE:
        raise InvalidInput(f"{name} sums to {total:.9g}; it must sum to 1. Divide each entry by {total:.9g}.")
    return distribution / total


def integer_weights(distribution: NDArray[np.float64]) -> NDArray[np.int64]:
    """Integers that sum to exactly 2**32, by largest remainder; ties go to the lowest index."""
    exact = distribution * ONE
    weights = np.floor(exact).astype(np.int64)
    short = ONE - int(weights.sum())
    order = np.argsort(-(exact - weights), kind="stable")
    weights.flat[order[:short]] += 1
    return weights
