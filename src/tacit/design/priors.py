"""Named distributions to design for before anything is known: those of the OptRR study, and others near a prior."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput, UnknownName

Matrix = NDArray[np.float64]

Distribution = Literal["normal", "gamma", "uniform"]


def named_prior(name: Distribution, categories: int = 10) -> Matrix:
    """A distribution over `categories` answers.

    normal: equal bins over three standard deviations on either side; gamma: shape 1, scale 2, in equal bins over
    [0, 5]; uniform.
    """
    if name not in DISTRIBUTIONS:
        raise UnknownName("Distribution", name, DISTRIBUTIONS)
    if categories < 2:
        raise InvalidInput(f"categories is {categories}; a question needs at least 2 answers.")
    chances = np.diff(DISTRIBUTIONS[name](categories))
    return chances / chances.sum()


def _normal(categories: int) -> Matrix:
    return np.array([NormalDist().cdf(edge) for edge in np.linspace(-3, 3, categories + 1)])


def _gamma(categories: int) -> Matrix:
    return np.array([1 - math.exp(-edge / 2) for edge in np.linspace(0, 5, categories + 1)])


def _uniform(categories: int) -> Matrix:
    return np.linspace(0, 1, categories + 1)


DISTRIBUTIONS: dict[Distribution, Callable[[int], Matrix]] = {"normal": _normal, "gamma": _gamma, "uniform": _uniform}
