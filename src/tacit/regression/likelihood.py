"""Regression of a disguised outcome on clear covariates, by likelihood.

``log L = sum_i w_i log sum_y A[report_i, y] P(y | x_i; beta)``: any law of the reports, several samples with laws of
their own, and parameters the device leaves open (honesty, cheaters, a harmless share), on which the law depends
linearly. Newton's method with the analytic gradient and observed information.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput, NotEstimable
from tacit.regression.families import Binary, Family

Array = NDArray[np.float64]

MOST_STEPS = 200
MOST_HALVINGS = 40
# Of the gain in log-likelihood that a Newton step still promises.
TOLERANCE = 1e-12
# Chances of answers cannot be told from 0 or 1 beyond this predictor.
LARGEST_PREDICTOR = 120.0
# Rows whose products stay in the second-level cache, and so few that no BLAS starts threads for them: those cost more
# than they bring where several programs share a machine.
BLOCK_ROWS = 1 << 11
STARTS = (0.5, 0.9, 0.1)  # for what the device leaves open


@dataclass(frozen=True, eq=False)
class OutcomeLikelihoods:
    """The chance of each row's report given every answer: ``fixed + opened * open parameter``."""

    fixed: Array  # [row, answer]
    opened: Array | None = None
    name: str | None = None  # of the open parameter

    def at(self, parameter: float) -> Array:
        return self.fixed if self.opened is None else self.fixed + parameter * self.opened

    @property
    def n_open(self) -> int:
        return 0 if self.opened is None else 1


@dataclass(frozen=True, eq=False)
class LikelihoodFit:
    """The most likely coefficients (and open parameters behind them), with everything errors are made of."""

    theta: Array
    log_likelihood: float
    information: Array  # observed, of the weighted sum
    scores: Array  # [row, parameter], without weights
    converged: bool
    at_edge: bool  # an open parameter is at 0 or 1


class Evaluation(NamedTuple):
    """The log-likelihood at some coefficients, with its derivatives; minus infinity where a report is impossible."""

    value: float
    gradient: Array
    information: Array
    largest: float  # predictor


class _Pieces(NamedTuple):
    """By row: the chance of the report, and derivatives of its logarithm by the predictors and the open parameter."""

    seen: Array
    slopes: Array
    curves: Array
    open_scores: Array | None
    mixed: Array | None
    largest: float


# A report that nobody could have sent: whatever led there is taken back.
LEAST_CHANCE = 1e-100
IMPOSSIBLE = Evaluation(-np.inf, np.zeros(0), np.zeros((0, 0)), 0.0)


@dataclass(frozen=True, eq=False)
class LikelihoodProblem:
    """What is to be fitted."""

    family: Family
    x: Array
    reports: OutcomeLikelihoods
    weights: Array

    @property
    def n_coefficients(self) -> int:
        return len(self.family.parameters([""] * self.x.shape[1]))

    def some(self, rows: NDArray[np.bool_]) -> LikelihoodProblem:
        """The problem of some of the rows."""
        opened = None if self.reports.opened is None else self.reports.opened[rows]
        reports = OutcomeLikelihoods(self.reports.fixed[rows], opened, self.reports.name)
        return LikelihoodProblem(self.family, self.x[rows], reports, self.weights[rows])

    def evaluate(self, theta: Array) -> Evaluation:
        """Log-likelihood, its gradient, and the observed information."""
        if isinstance(self.family, Binary) and self.reports.opened is None:
            return self._evaluate_binary(self.family, theta)
        pieces = self._pieces(theta)
        if (pieces.seen <= LEAST_CHANCE).any():
            return IMPOSSIBLE
        curves = pieces.curves * self.weights[:, None, None]
        gradient = self.weights @ self.family.coefficient_slopes(self.x, pieces.slopes)
        information = -self.family.cross_products(self.x, curves)
        if pieces.open_scores is not None and pieces.mixed is not None:
            border = -(self.weights @ self.family.coefficient_slopes(self.x, pieces.mixed))
            corner = np.array([[float(self.weights @ (pieces.open_scores * pieces.open_scores))]])
            information = np.block([[information, border[:, None]], [border[None, :], corner]])
            gradient = np.append(gradient, self.weights @ pieces.open_scores)
        return Evaluation(float(self.weights @ np.log(pieces.seen)), gradient, information, pieces.largest)

    def scores(self, theta: Array) -> Array:
        """What every row adds to the gradient, without its weight."""
        pieces = self._pieces(theta)
        scores = self.family.coefficient_slopes(self.x, pieces.slopes)
        return scores if pieces.open_scores is None else np.concatenate([scores, pieces.open_scores[:, None]], axis=1)

    def _pieces(self, theta: Array) -> _Pieces:
        beta, opened = (theta, 0.0) if self.reports.opened is None else (theta[:-1], float(theta[-1]))
        u = self.family.predictors(self.x, beta)
        chances = self.family.chances(u)
        laws = self.reports.at(opened)
        seen = np.einsum("ny,ny->n", laws, chances.values)
        safe = np.where(seen > LEAST_CHANCE, seen, 1.0)
        slopes = np.einsum("ny,nyp->np", laws, chances.slopes) / safe[:, None]
        curves = np.einsum("ny,nypq->npq", laws, chances.curvatures) / safe[:, None, None]
        curves -= slopes[:, :, None] * slopes[:, None, :]
        open_scores = mixed = None
        if self.reports.opened is not None:
            open_scores = np.einsum("ny,ny->n", self.reports.opened, chances.values) / safe
            mixed = (
                np.einsum("ny,nyp->np", self.reports.opened, chances.slopes) / safe[:, None]
                - slopes * open_scores[:, None]
            )
        return _Pieces(seen, slopes, curves, open_scores, mixed, float(np.abs(u).max()))

    def _evaluate_binary(self, family: Binary, beta: Array) -> Evaluation:
        """Yes or no without open parameters, block by block: most regressions are this one, and rows may be millions."""
        law, value, largest = self.reports.fixed, 0.0, 0.0
        gradient, information = np.zeros(len(beta)), np.zeros((len(beta), len(beta)))
        for start in range(0, len(self.x), BLOCK_ROWS):
            here = slice(start, start + BLOCK_ROWS)
            x, weights = self.x[here], self.weights[here]
            u = x @ beta
            yes, slope, curve = family.yes(u)
            never = law[here, 0]
            lift = law[here, 1] - never
            seen = never + lift * yes
            if (seen <= LEAST_CHANCE).any():
                return IMPOSSIBLE
            value += float(weights @ np.log(seen))
            lift /= seen
            first = lift * slope
            gradient += (weights * first) @ x
            second = weights * (first * first - lift * curve)
            information += (x * second[:, None]).T @ x
            largest = max(largest, float(np.abs(u).max()))
        return Evaluation(value, gradient, information, largest)

    def start(self, opened: float) -> Array:
        shares = np.full(len(self.family.answers), 1 / len(self.family.answers))
        beta = self.family.start(self.x.shape[1], shares)
        return beta if self.reports.opened is None else np.append(beta, opened)


def fit_likelihood(problem: LikelihoodProblem, start: Array | None = None) -> LikelihoodFit:
    """The best fit over several starts of what the device leaves open, or from one that is known to be near."""
    if start is not None:
        return climb_to_fit(problem, start)
    starts = STARTS if problem.reports.n_open else STARTS[:1]
    fits = [climb_to_fit(problem, problem.start(opened)) for opened in starts]
    return max(fits, key=lambda fit: fit.log_likelihood)


def climb_to_fit(problem: LikelihoodProblem, theta: Array) -> LikelihoodFit:
    """The maximum that Newton's steps lead to from here."""
    theta, here, converged = climb(problem, theta)
    at_edge = bool(problem.reports.n_open and not 1e-9 < theta[-1] < 1 - 1e-9)
    return LikelihoodFit(theta, here.value, here.information, problem.scores(theta), converged, at_edge)


def climb(problem: LikelihoodProblem, theta: Array, held: Array | None = None) -> tuple[Array, Evaluation, bool]:
    """The maximum near `theta`, the likelihood there, and whether it was reached; ``held @ theta`` stays as it is."""
    here = problem.evaluate(theta)
    converged = False
    if here is IMPOSSIBLE:
        return theta, here, converged
    for _ in range(MOST_STEPS):
        step = _ascent(here.information, here.gradient, _free(problem, theta, here.gradient, held))
        promised = float(here.gradient @ step)
        if promised <= TOLERANCE * (1 + abs(here.value)):
            converged = True
            break
        moved = _step_uphill(problem, theta, step, here.value)
        if moved is None:
            converged = promised <= 1e-6 * (1 + abs(here.value))
            break
        theta, here = moved
        if here.largest > LARGEST_PREDICTOR:
            if held is None:
                raise Unbounded(problem.reports)
            break  # the likelihood is at its limit there
    return theta, here, converged


def _free(problem: LikelihoodProblem, theta: Array, gradient: Array, held: Array | None) -> Array | None:
    """Directions in which a step may lead, as columns; None if all are free.

    An open parameter at an end of [0, 1] stays there if the likelihood would rise beyond it.
    """
    at_end = bool(problem.reports.n_open) and bool(
        (theta[-1] <= 0 and gradient[-1] < 0) or (theta[-1] >= 1 and gradient[-1] > 0)
    )
    if held is None and not at_end:
        return None
    constraints = [] if held is None else [held]
    if at_end:
        constraints.append(np.eye(len(theta))[-1])
    # The last right singular vectors of what must not change.
    return np.asarray(np.linalg.svd(np.array(constraints))[2][len(constraints) :].T)


def _ascent(information: Array, gradient: Array, free: Array | None) -> Array:
    """Newton's step; where the likelihood is not concave yet, eigenvalues are turned so that it leads upwards."""
    if free is not None:
        information, gradient = free.T @ information @ free, free.T @ gradient
    if not len(gradient):
        return np.zeros(0) if free is None else np.zeros(len(free))
    values, vectors = np.linalg.eigh(information)
    floor = 1e-10 * max(float(np.abs(values).max()), 1e-300)
    step = np.asarray(vectors @ ((vectors.T @ gradient) / np.maximum(np.abs(values), floor)))
    return step if free is None else np.asarray(free @ step)


def _step_uphill(
    problem: LikelihoodProblem, theta: Array, step: Array, value: float
) -> tuple[Array, Evaluation] | None:
    scale = 1.0
    for _ in range(MOST_HALVINGS):
        tried = theta + scale * step
        if problem.reports.n_open:
            tried[-1] = min(max(tried[-1], 0.0), 1.0)
        there = problem.evaluate(tried)
        if there.value > value:
            return tried, there
        scale /= 2
    return None


SEPARATED = (
    "The covariates tell some answers apart perfectly (or nearly), so coefficients grow without end and the "
    "likelihood has no maximum. Leave out the covariate that does it, or merge its rare categories."
)
AT_THE_EDGE = (
    "The data cannot carry this model: a coefficient has no most likely value. Some group's estimated share lies at or "
    "beyond 0 or 1 (`tacit estimate --given` shows it, of a device `tacit prevalence --by`), or there are too few reports for "
    "so many terms. Leave out a covariate, merge rare categories, or ask more people."
)
# Of the information about a combination of terms per person that moves it: a climb that stops for want of gain, on its
# way to infinity, leaves far less; the rarest answers and the strongest disguises that can be fitted leave far more.
LEAST_INFORMATION = 1e-10


class Unbounded(NotEstimable):
    """A coefficient has no most likely value."""

    def __init__(self, reports: OutcomeLikelihoods) -> None:
        self.is_clear = reports.opened is None and bool(((reports.fixed > 0).sum(axis=1) == 1).all())
        super().__init__(SEPARATED if self.is_clear else AT_THE_EDGE)


def moved_by_one(problem: LikelihoodProblem) -> Array:
    """Sum over people of the squares by which a step of each combination of coefficients moves their predictors."""
    predictors = problem.family.n_predictors
    each = np.broadcast_to(np.eye(predictors), (len(problem.x), predictors, predictors))
    people = problem.family.cross_products(problem.x, each * problem.weights[:, None, None])
    return np.asarray(people + np.eye(problem.n_coefficients) * 1e-12 * np.trace(people))


def checked_information(problem: LikelihoodProblem, fit: LikelihoodFit) -> None:
    """Refuse a fit of which some combination of terms is still on its way to infinity."""
    from scipy.linalg import eigh

    size = problem.n_coefficients
    least = eigh(fit.information[:size, :size], moved_by_one(problem), eigvals_only=True)[0]
    if not least > LEAST_INFORMATION:
        raise Unbounded(problem.reports)


def device_noise(problem: LikelihoodProblem, theta: Array, law: Array, opened: Array | None, weights: Array) -> Array:
    """Weighted sum over rows of the covariance of their scores that the device's chance alone makes.

    All rows were asked by one `law`; their truths stay as they are, and only the reports are drawn again.
    """
    total, chances = np.zeros((len(theta), len(theta))), _answer_chances(problem, theta)
    means = np.zeros((law.shape[1], len(problem.x), len(theta)))
    for given, scores in _every_report(problem, theta, law, opened):
        total += (scores * (weights * (chances @ given))[:, None]).T @ scores
        means += given[:, None, None] * scores
    for answer, mean in enumerate(means):
        total -= (mean * (weights * chances[:, answer])[:, None]).T @ mean
    return total


def expected_information(problem: LikelihoodProblem, theta: Array, law: Array, opened: Array | None) -> Array:
    """Fisher's information of the weighted rows, which were all asked by one `law`."""
    total, chances = np.zeros((len(theta), len(theta))), _answer_chances(problem, theta)
    for given, scores in _every_report(problem, theta, law, opened):
        total += (scores * (problem.weights * (chances @ given))[:, None]).T @ scores
    return total


def _answer_chances(problem: LikelihoodProblem, theta: Array) -> Array:
    return problem.family.chances(problem.family.predictors(problem.x, theta[: problem.n_coefficients])).values


def _every_report(
    problem: LikelihoodProblem, theta: Array, law: Array, opened: Array | None
) -> Iterator[tuple[Array, Array]]:
    """For each report its chances given the answers, and the scores of all rows if they sent it."""
    whole = law if opened is None else law + float(theta[-1]) * opened
    shape = (len(problem.x), law.shape[1])
    for report in np.flatnonzero(whole.any(axis=1)):
        slopes = None if opened is None else np.broadcast_to(opened[report], shape)
        sent = OutcomeLikelihoods(np.broadcast_to(law[report], shape), slopes, problem.reports.name)
        yield whole[report], replace(problem, reports=sent).scores(theta)


def checked_rank(x: Array, terms: list[str]) -> None:
    """Refuse covariates of which one follows from the others."""
    products = x.T @ x
    scale = np.sqrt(np.maximum(np.diag(products), 1e-300))
    # Products square the distances: what is left of a dependent column is rounding of this size.
    if np.linalg.eigvalsh(products / np.outer(scale, scale))[0] < 1e-12:
        raise InvalidInput(
            f"The covariates {', '.join(terms)} are not independent of each other: one follows from the others, so their "
            "coefficients cannot be told apart. Leave one out."
        )
