"""How many respondents would carry a model that these data cannot.

Where a group's share is estimated at or beyond 0 or 1, its coefficient has no most likely value. What would be needed depends
on what is true, which such data do not tell. So the coefficients are drawn towards 0 by a prior: normal, with deviation 1.5
for a column of zeros and ones and for two standard deviations of a number (columns scaled as by Gelman and others 2008, whose
wider prior, meant for fitting, asks for three times too many). At these plausible coefficients the model is carried when the
share of the group that is told worst lies two standard errors from the nearer end, which is a standard error of one half on
the scale of the predictors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from tacit.errors import NotEstimable
from tacit.estimation.device_estimates import distance_from_possible, impossible_reports
from tacit.estimation.sample_laws import SampleLaws
from tacit.regression.data import OpenLaw
from tacit.regression.likelihood import (
    Evaluation,
    LikelihoodProblem,
    Unbounded,
    climb_to_fit,
    expected_information,
    moved_by_one,
)

Array = NDArray[np.float64]

# The laws of the samples, and the rows that were asked by each.
Laws = Sequence[tuple[OpenLaw, NDArray[np.bool_]]]
USUAL = 1.5  # deviation of a coefficient
CONSTANT = 10.0  # of an intercept or a threshold
MOST_ERROR = 0.5  # of the predictor of the group that is told worst


@dataclass(frozen=True, eq=False)
class _Drawn(LikelihoodProblem):
    """The likelihood times a weak prior."""

    penalty: Array  # of each parameter

    def evaluate(self, theta: Array) -> Evaluation:
        plain = super().evaluate(theta)
        if not math.isfinite(plain.value):
            return plain
        coefficient_slopes = self.penalty * theta
        return Evaluation(
            plain.value - float(coefficient_slopes @ theta) / 2,
            plain.gradient - coefficient_slopes,
            plain.information + np.diag(self.penalty),
            plain.largest,
        )


def with_respondents(refusal: Unbounded, problem: LikelihoodProblem, laws: Laws) -> NotEstimable:
    """The refusal, with the number of respondents that would carry the model; or that nobody can have sent these reports."""
    for law, here in laws:
        if here.any() and law.opened is None and (distance := _distance(problem.some(here), law.fixed)):
            return NotEstimable(impossible_reports(distance))
    needed = respondents_needed(problem, laws)
    if needed is None:
        return refusal
    people = f"About {needed:,} respondents would carry it, judged by these {problem.weights.sum():,.0f}"
    unless = "unless the covariate decides the answer" if refusal.is_clear else "unless the share is 0 or 1 indeed"
    return NotEstimable(f"{refusal} {people}, {unless}.")


def _distance(problem: LikelihoodProblem, law: Array) -> float:
    """How far the reports of one sample lie from what its device can send, in standard errors."""
    is_sent = np.isclose(problem.reports.fixed[:, None, :], law).all(axis=2)
    shares = problem.weights @ is_sent / problem.weights.sum()
    people = np.array([problem.weights.sum()])
    # Reports of one law: two that mean the same share their people.
    return distance_from_possible(SampleLaws.even([law]), [shares / shares.sum()], people)


def respondents_needed(problem: LikelihoodProblem, laws: Laws) -> int | None:
    """About how many respondents like these would carry the model; None where that cannot be told either."""
    if not laws:
        return None
    drawn = _Drawn(problem.family, problem.x, problem.reports, problem.weights, _penalty(problem))
    try:
        fit = climb_to_fit(drawn, drawn.start(0.5))
    except NotEstimable:
        return None
    size = problem.n_coefficients
    parts = [expected_information(problem.some(here), fit.theta, *law) for law, here in laws if here.any()]
    information = np.sum(parts, axis=0)[:size, :size]
    values, directions = eigh(information, moved_by_one(problem))
    if not values[0] > 0:
        return None
    # How far the direction that is told worst moves each person's predictors; if it is that of a group of the share f, the
    # mean of the fourth powers over that of the squares is 1/f, and the error of the group's predictor follows.
    moved = (problem.family.predictors(problem.x, directions[:, 0]) ** 2).sum(axis=1)
    group = float(problem.weights @ moved**2) / float(problem.weights @ moved)
    people = float(problem.weights.sum())
    return _two_digits(max(people * group / float(values[0]) / MOST_ERROR**2, 2 * people))


def _penalty(problem: LikelihoodProblem) -> Array:
    """One over the prior's variance, of each coefficient and open parameter."""
    low, high = problem.x.min(axis=0), problem.x.max(axis=0)
    two_valued = ((problem.x == low) | (problem.x == high)).all(axis=0)
    width = np.where(two_valued, high - low, 2 * problem.x.std(axis=0))
    deviation = np.where(width > 0, USUAL / np.where(width > 0, width, 1.0), CONSTANT)
    thresholds = 0 if problem.family.has_intercept else problem.family.n_predictors
    lines = (problem.n_coefficients - thresholds) // max(len(deviation), 1)
    others = [np.full(thresholds, CONSTANT), np.full(problem.reports.n_open, np.inf)]
    return np.concatenate([np.tile(deviation, lines), *others]) ** -2.0


def _two_digits(people: float) -> int:
    """People to two digits, upwards: nobody knows it better."""
    unit = 10 ** max(math.floor(math.log10(people)) - 1, 0)
    return math.ceil(people / unit) * unit
