"""How far any front is from the possible: the certified lower bound at every privacy from few exact solutions."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from tacit.design.certificate import Dual
from tacit.design.front import Front
from tacit.design.generation import FEW_VERTICES, certified_design
from tacit.design.posteriors import uniform_and_capped
from tacit.design.problem import DesignProblem
from tacit.design.threads import single_thread
from tacit.errors import InvalidInput

Matrix = NDArray[np.float64]

# Each dual bounds the error at every privacy and is tight at its own; with this many the bound between is too.
DUALS = 24
DUALS_OF_MANY = 6  # where vertices must be generated each dual takes seconds; the bound stays valid, if less tight
# Closer to the largest privacy than this share of the range the least error grows without limit.
SHORT_OF_MOST = 0.001


class LowerBound:
    """The least mean squared error of any channel of a wanted privacy under the problem's posterior bound."""

    def __init__(self, problem: DesignProblem, duals: tuple[Dual, ...]) -> None:
        self.problem, self.duals = problem, duals

    @classmethod
    def between(cls, problem: DesignProblem, lowest: float, highest: float) -> LowerBound:
        """The bound from exact solutions spread over the privacies that are wanted."""
        vertices = uniform_and_capped(problem.n_answers, problem.posterior_cap)
        count = DUALS if len(vertices) <= FEW_VERTICES else DUALS_OF_MANY
        ceiling = problem.most_privacy - SHORT_OF_MOST * (problem.most_privacy - problem.least_privacy)
        spread = 1 - np.linspace(1, 0, count) ** 3  # denser towards the largest privacy, where the bound bends most
        levels = np.unique(np.clip(lowest + (highest - lowest) * spread, problem.least_privacy, ceiling))
        with single_thread():
            duals = tuple(certified_design(vertices, problem.prior, 1 - level).dual for level in levels)
        return cls(problem, duals)

    def at(self, privacy: float) -> float:
        return self.problem.mse(max(dual.least_trace(self.problem.prior, 1 - privacy) for dual in self.duals))


def with_lower_bounds(front: Front, problem: DesignProblem) -> Front:
    """The front with every point's lower bound filled in, or with the reason why there is none."""
    if not front.points:
        return front
    if problem.accuracy is not None:
        return _without_bounds(front, "No lower bound: it is known for exact guesses only, not for other accuracies.")
    try:
        bound = LowerBound.between(problem, float(front.privacies.min()), float(front.privacies.max()))
    except InvalidInput as too_large:
        return _without_bounds(front, f"No lower bound. {too_large}")
    points = tuple(dataclasses.replace(point, lower_bound=bound.at(point.privacy)) for point in front.points)
    return dataclasses.replace(front, points=points)


def _without_bounds(front: Front, reason: str) -> Front:
    return dataclasses.replace(front, warnings=(*front.warnings, reason))
