"""How far any front is from the possible: the certified lower bound at every privacy from few exact solutions."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.design.certificate import Dual
from tacit.design.column_generation import certified_design, posteriors_under
from tacit.design.front import Front
from tacit.design.interior import single_thread
from tacit.design.problem import DesignProblem
from tacit.design.relaxation import relaxed_dual
from tacit.errors import InvalidInput

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """Which exact solutions the bound is made of. Each bounds the error at every privacy and is tight at its own."""

    duals: int
    bend: int  # 1 for even steps; more puts them closer together towards the largest privacy
    short_of_most: float  # share of the range left out at the top, where the least error grows without limit

    def levels(self, problem: DesignProblem, lowest: float, highest: float) -> Matrix:
        ceiling = problem.most_privacy - self.short_of_most * (problem.most_privacy - problem.least_privacy)
        shares = 1 - np.linspace(1, 0, self.duals) ** self.bend
        return np.unique(np.clip(lowest + (highest - lowest) * shares, problem.least_privacy, ceiling))


DENSE = Spread(duals=40, bend=3, short_of_most=0.001)
# Beyond ten answers the duals come from the relaxation; each takes longer, the more so with many answers.
MANY_ANSWERS = 16
SPARSE, SPARSER = Spread(duals=12, bend=2, short_of_most=0.002), Spread(duals=6, bend=1, short_of_most=0.005)


class LowerBound:
    """The least mean squared error of any channel of a wanted privacy under the problem's posterior bound."""

    def __init__(self, problem: DesignProblem, duals: tuple[Dual, ...]) -> None:
        self.problem, self.duals = problem, duals

    @classmethod
    def between(cls, problem: DesignProblem, lowest: float, highest: float) -> LowerBound:
        """The bound from exact solutions spread over the privacies that are wanted."""
        aim, cap = problem.aim, problem.posterior_cap
        vertices = posteriors_under(problem.n_answers, cap)
        with single_thread():
            if isinstance(vertices, np.ndarray):
                levels = DENSE.levels(problem, lowest, highest)
                return cls(problem, tuple(certified_design(vertices, aim, 1 - level).dual for level in levels))
            spread = SPARSE if problem.n_answers <= MANY_ANSWERS else SPARSER
            levels = spread.levels(problem, lowest, highest)
            return cls(problem, tuple(relaxed_dual(aim, 1 - level, cap) for level in levels))

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
