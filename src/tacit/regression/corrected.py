"""Regression with disguised covariates, by corrected scores.

Each report stands for every truth it may come from, with the weights of the inverse (some below 0), so that the
weighted sum of the clear-data scores is unbiased: ``sum_i w_i sum_u Ainv[u, report_i] S(y, x(u); beta) = 0``. Errors
are the sandwich's, from what each report adds to that sum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import NotEstimable
from tacit.regression.families import ClearScore
from tacit.regression.likelihood import SEPARATED

Array = NDArray[np.float64]

MOST_STEPS = 100
TOLERANCE = 1e-10
# A direction whose information is within this many errors of nothing cannot be solved for.
FEWEST_ERRORS = 2.0


@dataclass(frozen=True, eq=False)
class Expanded:
    """Every report with every truth: the design ``[row, truth, term]``, the outcome, and the inverse ``[row, truth]``."""

    x: Array
    y: Array
    inverse: Array
    counts: Array  # of people who are alike, or weights

    @property
    def n_people(self) -> float:
        return float(self.counts.sum())

    @property
    def weights(self) -> Array:
        return self.inverse * self.counts[:, None]


@dataclass(frozen=True, eq=False)
class CorrectedFit:
    """Coefficients that solve the corrected scores, with what each report adds to them."""

    beta: Array
    log_likelihood: float  # corrected: unbiased for that of the clear data
    information: Array
    scores: Array  # [row, term], without counts
    converged: bool


def solve_scores(problem: Expanded, score: ClearScore, start: Array | None = None) -> CorrectedFit:
    beta = np.zeros(problem.x.shape[2]) if start is None else start
    if score.name == "poisson" and start is None:
        beta[0] = math.log(max(float((problem.weights * problem.y).sum() / problem.weights.sum()), 1e-6))
    converged = False
    for _ in range(MOST_STEPS):
        scores, information = _sum_scores(problem, score, beta)
        step = _step(problem, score, beta, information, problem.counts @ scores)
        # The score of a linear model is solved by one step, however far it leads; others are led there slowly.
        beta = beta + (step if score.name == "linear" else _bound_step(step))
        if np.abs(step).max() <= TOLERANCE * (1 + np.abs(beta).max()):
            converged = True
            break
        if score.name != "linear" and np.abs(beta).max() > 1e4:
            break
    scores, information = _sum_scores(problem, score, beta)
    u = problem.x @ beta
    value = float((problem.weights * score.log_likelihood(problem.y, u)).sum())
    return CorrectedFit(beta, value, information, scores, converged)


def device_noise(problem: Expanded, score: ClearScore, fit: CorrectedFit, weights: Array) -> Array:
    """Weighted sum over rows of the covariance of their scores that the device's chance alone makes.

    It is what is left of the products of corrected scores when the products of the clear ones, estimated without bias, are
    taken off.
    """
    products = (fit.scores * weights[:, None]).T @ fit.scores
    left = problem.y - score.mean(problem.x @ fit.beta)
    flat = problem.x.reshape(-1, problem.x.shape[2])
    clear = (problem.inverse * left**2 * weights[:, None]).reshape(-1)
    return products - (flat * clear[:, None]).T @ flat


def _bound_step(step: Array) -> Array:
    largest = float(np.abs(step).max())
    return step * min(1.0, 4.0 / largest) if largest > 0 else step


def _sum_scores(problem: Expanded, score: ClearScore, beta: Array) -> tuple[Array, Array]:
    u = problem.x @ beta
    left = problem.inverse * (problem.y - score.mean(u))
    scores = np.einsum("nu,nuq->nq", left, problem.x)
    flat = problem.x.reshape(-1, problem.x.shape[2])
    curve = (problem.weights * score.slope(u)).reshape(-1)
    return scores, (flat * curve[:, None]).T @ flat


def _step(problem: Expanded, score: ClearScore, beta: Array, information: Array, gradient: Array) -> Array:
    values, vectors = np.linalg.eigh(information)
    weakest = vectors[:, 0]
    along = problem.x @ weakest
    each = (problem.inverse * score.slope(problem.x @ beta) * along**2).sum(axis=1)
    mean = float(problem.counts @ each) / problem.n_people
    error = math.sqrt(float(problem.counts @ (each - mean) ** 2))
    noisy = bool((problem.inverse < 0).any())
    if values[0] <= (FEWEST_ERRORS * error if noisy else 1e-12 * values[-1]):
        raise NotEstimable(_too_little(problem, values[0], error) if noisy else SEPARATED)
    return vectors @ ((vectors.T @ gradient) / values)


def _too_little(problem: Expanded, value: float, error: float) -> str:
    """How many respondents would carry the model, where that can be told."""
    # What is left of the information is an estimate: where it is below 0, one error more of it is the least to hope for.
    hoped, word = (value, "about") if value > 0 else (value + error, "more than about")
    enough = "many times as many"
    if hoped > 0:
        enough = f"{word} {math.ceil(problem.n_people * (FEWEST_ERRORS * error / hoped) ** 2):,}"
    return (
        f"The data cannot carry this model: after undoing the disguise {problem.n_people:,.0f} respondents leave no information "
        f"about some combination of its terms. It would take {enough} respondents, fewer covariates, answers merged to "
        "fewer, or a device that hides less."
    )
