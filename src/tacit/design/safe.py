"""A channel that keeps its bound for a whole set of priors: several stated ones, or all within a ball round one."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.channel.dense import worst_posterior
from tacit.design.column_generation import certified_design
from tacit.design.exact import certified_point
from tacit.design.front import Front, front_of
from tacit.design.interior import single_thread
from tacit.design.problem import DesignProblem
from tacit.design.settings import Bounds
from tacit.errors import InvalidInput

Matrix = NDArray[np.float64]

MOST_ANSWERS = 8  # the posteriors to choose from are the corners of a polytope, too many beyond
ROUNDING = 1e-9


def safe_front(
    prior: ArrayLike,
    records: int,
    *,
    delta: float,
    others: Sequence[ArrayLike] = (),
    ball: float = 0.0,
    answers: Sequence[str] | None = None,
) -> Front:
    """The channel of least error at `prior` that keeps `delta` for other priors too, with its certificate.

    Parameters
    ----------
    prior : array
        The most plausible share of each answer; the error is for it.
    records : int
        Number of respondents.
    delta : float
        How sure any report may make anyone of any answer, whichever of the priors is right.
    others : sequence of arrays
        Other priors that may be right.
    ball : float
        All priors may be right that differ from one of the stated ones by moving at most this share of the people.
    answers : sequence of str, optional
        Names of the answers.

    Returns
    -------
    Front
        One point; no channel that keeps the bound for all these priors has a smaller error than its `lower_bound`.

    Raises
    ------
    InvalidInput
        Where one of the priors is surer than `delta` itself, or there are more than 8 answers.

    Examples
    --------
    >>> from tacit.design.safe import safe_front
    >>> point = safe_front([0.5, 0.3, 0.2], 1000, delta=0.8, ball=0.05).points[0]
    >>> point.gap < 1e-6 and point.worst_posterior < 0.8
    True
    """
    problem = DesignProblem.of(prior, records, delta=delta, answers=answers)
    return safe_point(problem, Bounds(delta=delta, others=others, ball=ball))


def safe_point(problem: DesignProblem, bounds: Bounds) -> Front:
    """The front of the one channel that keeps the problem's delta for every prior of the bounds."""
    started = time.perf_counter()
    if problem.n_answers > MOST_ANSWERS:
        raise InvalidInput(
            f"A design for a set of priors is for at most {MOST_ANSWERS} answers, not {problem.n_answers}. Merge rare answers, "
            "or bound gamma: that promise needs no prior."
        )
    corners = plausible(problem, bounds)
    with single_thread():
        design = certified_design(_corners(problem, corners), problem.aim, None)
        point = certified_point(problem, design, None)
    worst = max(worst_posterior(point.matrix, each) for each in corners)
    said = f"The worst posterior over all {len(corners)} extreme priors of the set is {worst:.6g}."
    seconds = time.perf_counter() - started
    return front_of(problem, "safe", seconds, [point], [said])


def plausible(problem: DesignProblem, bounds: Bounds) -> Matrix:
    """The extreme priors of the set; what holds for these holds for all between."""
    stated = [problem.prior]
    for other in bounds.others:
        checked = DesignProblem.of(other, problem.records, answers=problem.answers).prior
        stated.append(checked)
    corners = np.vstack([extreme for each in stated for extreme in _extreme_priors(each, bounds.ball)])
    largest = float(corners.max())
    if problem.delta is None or largest >= problem.delta:
        raise InvalidInput(
            f"delta is {problem.delta}, but one of the priors gives an answer the share {largest:.4g}: no channel makes anyone "
            "less sure of it than that. Choose a larger delta, or a smaller set of priors."
        )
    return corners


def _extreme_priors(prior: Matrix, ball: float) -> list[Matrix]:
    """The prior with the share `ball` moved to one answer, from others that are emptied one after another."""
    if ball == 0:
        return [prior]
    extremes = []
    for to in range(len(prior)):
        others = [u for u in range(len(prior)) if u != to]
        for size in range(len(others)):
            for emptied in itertools.combinations(others, size):
                taken = float(prior[list(emptied)].sum())
                for last in others:
                    if last not in emptied and taken <= ball < taken + prior[last]:
                        moved = prior.copy()
                        moved[list(emptied)] = 0.0
                        moved[last] -= ball - taken
                        moved[to] += ball
                        extremes.append(moved)
    return extremes or [np.eye(len(prior))[to] for to in range(len(prior))]


def _corners(problem: DesignProblem, priors: Matrix) -> Matrix:
    """The corners of the posteriors (under the problem's prior) that keep the bound for every prior."""
    from scipy.spatial import HalfspaceIntersection

    n, delta = problem.n_answers, problem.posterior_cap
    ratios = priors / problem.prior
    bounds = [np.eye(n)[u] * ratio[u] - delta * ratio for ratio in ratios for u in range(n)]
    lines = np.unique(np.vstack([*bounds, -np.eye(n)]).round(14), axis=0)
    # In the first n - 1 entries: the last is what they leave of one.
    halfspaces = np.hstack([lines[:, :-1] - lines[:, -1:], lines[:, -1:]])
    leading = HalfspaceIntersection(halfspaces, problem.prior[:-1]).intersections
    corners = np.hstack([leading, 1 - leading.sum(axis=1, keepdims=True)])
    corners = np.maximum(corners, 0.0)
    return np.unique((corners / corners.sum(axis=1, keepdims=True)).round(12), axis=0)
