"""The few functions that intervals take from scipy, for tables of a few cells: importing scipy takes longer than those do.

The regularized incomplete beta function by its continued fraction (DLMF 8.17.22), evaluated from the front (Lentz 1976).
From many cells or very many people on scipy's compiled functions are quicker.
"""

from __future__ import annotations

import itertools
import math
import sys
from statistics import NormalDist

import numpy as np

from tacit.channel.base import Array

FEW_CELLS = 64
FEW_PEOPLE = 2e4
FEW_CALLS = 500  # the intervals of some ten tables
MOST_TERMS = 1000
TINY = 1e-300

_CALLS = itertools.count()


def is_few(cells: int, people: Array) -> bool:
    """Whether these functions are worth their while: not where scipy is here already, or after many calls."""
    if "scipy.special" in sys.modules or next(_CALLS) > FEW_CALLS:
        return False
    return cells <= FEW_CELLS and bool(np.max(people, initial=0.0) <= FEW_PEOPLE)


def normal_quantiles(chances: Array) -> Array:
    """Quantiles of the normal distribution; infinite ones for the chances 0 and 1."""
    standard = NormalDist()
    ends = {0.0: -math.inf, 1.0: math.inf}
    listed = np.ravel(chances).tolist()
    return np.reshape([ends[one] if one in ends else standard.inv_cdf(one) for one in listed], np.shape(chances))


def log_gamma(numbers: Array) -> Array:
    return np.reshape([math.lgamma(one) for one in np.ravel(numbers).tolist()], np.shape(numbers))


def incomplete_beta(a: Array, b: Array, x: Array) -> Array:
    """The chance that a beta variable with parameters a and b, above 0, is at most x."""
    a, b, x = (np.array(part, dtype=np.float64) for part in np.broadcast_arrays(a, b, x))
    # The fraction converges quickly on one side of the mean; on the other the complement is taken.
    swapped = x > (a + 1) / (a + b + 2)
    a, b, x = np.where(swapped, b, a), np.where(swapped, a, b), np.where(swapped, 1 - x, x)
    with np.errstate(divide="ignore"):
        front = a * np.log(x) + b * np.log1p(-x) + log_gamma(a + b) - log_gamma(a) - log_gamma(b)
    share = np.exp(front) / a * _fraction(a, b, x)
    return np.clip(np.where(swapped, 1 - share, share), 0.0, 1.0)


def _fraction(a: Array, b: Array, x: Array) -> Array:
    upper, lower = np.ones_like(x), 1 / _apart(1 - (a + b) * x / (a + 1))
    value = lower.copy()
    for m in range(1, MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        step = np.ones_like(x)
        for term in (even, odd):
            lower = 1 / _apart(1 + term * lower)
            upper = _apart(1 + term / upper)
            step = lower * upper
            value = value * step
        if np.abs(step - 1).max(initial=0.0) < 1e-15:
            break
    return value


def _apart(numbers: Array) -> Array:
    """The numbers, none of them 0."""
    return np.where(np.abs(numbers) < TINY, TINY, numbers)
