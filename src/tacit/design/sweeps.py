"""The classic one-parameter families as fronts: Warner, uniform perturbation, FRAPP's gamma-diagonal."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tacit.channel.dense import (
    even_mixture,
    gamma_diagonal_keep,
    map_privacy,
    warner_keep,
    worst_posterior,
)
from tacit.design.bound import with_lower_bounds
from tacit.design.front import Front, front_of, measured_point, undominated_points
from tacit.design.problem import DesignProblem

Matrix = NDArray[np.float64]

SWEPT = 1001  # the published sweep: p = 0, .001, ..., 1
LARGEST_LOG_GAMMA = 14.0  # beyond, a gamma-diagonal channel tells the truth but for one report in a hundred thousand


def warner_family(n_answers: int) -> list[Matrix]:
    return [even_mixture(n_answers, warner_keep(n_answers, p)) for p in np.linspace(0, 1, SWEPT)]


def uniform_perturbation_family(n_answers: int) -> list[Matrix]:
    return [even_mixture(n_answers, q) for q in np.linspace(0, 1, SWEPT)]


def gamma_diagonal_family(n_answers: int) -> list[Matrix]:
    gammas = np.exp(np.linspace(0, LARGEST_LOG_GAMMA, SWEPT))
    return [even_mixture(n_answers, gamma_diagonal_keep(n_answers, gamma)) for gamma in gammas]


FAMILIES: dict[str, Callable[[int], list[Matrix]]] = {
    "warner": warner_family,
    "uniform-perturbation": uniform_perturbation_family,
    "gamma-diagonal": gamma_diagonal_family,
}


def permitted_channels(problem: DesignProblem, family: str) -> list[Matrix]:
    """The family's channels that keep the posterior bound."""
    cap = problem.posterior_cap + 1e-12
    return [each for each in FAMILIES[family](problem.n_answers) if worst_posterior(each, problem.prior) <= cap]


def sweep_front(problem: DesignProblem, family: str) -> Front:
    """The family's front, with the least error of any channel beside every point."""
    return with_lower_bounds(family_front(problem, family), problem)


def family_front(problem: DesignProblem, family: str) -> Front:
    """The family's channels that keep the posterior bound, without the dominated and the singular ones."""
    started = time.perf_counter()
    channels = permitted_channels(problem, family)
    privacy = np.array([map_privacy(matrix, problem.prior, problem.accuracy) for matrix in channels])
    mse = np.array([problem.mse_of(matrix) for matrix in channels])
    best = undominated_points(privacy, mse)
    points = tuple(measured_point(channels[i], problem) for i in best if np.isfinite(mse[i]))
    seconds = time.perf_counter() - started
    return front_of(problem, family, seconds, points)
