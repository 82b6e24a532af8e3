"""Tests and intervals of coefficients from the likelihood itself: what the best fit loses when a coefficient is held at a value.

Wald's test divides an estimate by its error, and both grow together where a share nears 0 or 1: at N = 1,000, with shares of .05
and .20 asked by Warner's device with p = .8, it rejects .535 of the time where the likelihood ratio rejects .878.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.regression.likelihood import LikelihoodFit, LikelihoodProblem, climb

Array = NDArray[np.float64]

MOST_STEPS = 30
TOLERANCE = 1e-6  # of the root of the deviance, near 2
FARTHEST = 60.0  # errors from the estimate: an interval that reaches farther has no end
# Products of rows and squared parameters for all ends: seconds of work; such samples are so large that Wald's test is as good.
MOST_WORK = 2e10


@dataclass(frozen=True, eq=False)
class Profile:
    """The likelihood round its maximum. Coefficients are ``restored @ theta``, whatever terms the fit itself used."""

    problem: LikelihoodProblem
    fit: LikelihoodFit
    restored: Array  # coefficient x parameter of the fit
    model_covariance: Array  # of the fit's parameters, from the observed information
    is_scaled: bool  # whether errors are those of a design or a sandwich: then likelihoods are scaled by their effect

    @property
    def is_costly(self) -> bool:
        """Whether the ends of all intervals would take too long."""
        parameters = len(self.fit.theta)
        return len(self.problem.x) * parameters**3 * 25 > MOST_WORK

    @property
    def covariance(self) -> Array:
        """Covariance of the coefficients by the model alone."""
        return np.asarray(self.restored @ self.model_covariance @ self.restored.T)

    def root(self, at: int, value: float) -> float:
        """Signed root of the deviance if the coefficient has this value: a normal number if it is the true one."""
        held = self.restored[at]
        estimate = float(held @ self.fit.theta)
        direction = self.model_covariance @ held
        start = self.fit.theta + direction * ((value - estimate) / float(held @ direction))
        if self.problem.reports.n_open:
            start[-1] = min(max(start[-1], 0.0), 1.0)
        there = climb(self.problem, start, held)[1]
        deviance = max(2 * (self.fit.log_likelihood - there.value), 0.0)
        return math.copysign(math.sqrt(deviance), value - estimate)

    def end(self, at: int, root: float) -> float:
        """The value on one side of the estimate where the root of the deviance has this size; infinite if none has."""
        estimate = float(self.restored[at] @ self.fit.theta)
        error = math.sqrt(float(self.covariance[at, at]))
        inner, inner_root = estimate, 0.0
        outer = estimate + root * error
        for _ in range(MOST_STEPS):
            outer_root = self.root(at, outer)
            if abs(outer_root) >= abs(root) - TOLERANCE:
                break
            if abs(outer - estimate) > FARTHEST * error:
                return math.copysign(math.inf, root)
            # Along the chord, and a little beyond; never more than three times as far.
            rise = abs(outer_root - inner_root) / abs(outer - inner)
            step = 1.02 * abs(root - outer_root) / rise if rise > 0 else math.inf
            inner, inner_root = outer, outer_root
            outer = outer + math.copysign(min(step, 2 * abs(outer - estimate)), root)
        return self._between(at, root, (inner, inner_root), (outer, outer_root))

    def _between(self, at: int, root: float, inner: tuple[float, float], outer: tuple[float, float]) -> float:
        """The value between two others where the root has this size, by chords (Illinois: an end that stays counts half)."""
        side = 0
        for _ in range(MOST_STEPS):
            for value, there in (inner, outer):
                if abs(there - root) <= TOLERANCE:
                    return value
            below, above = inner[1] - root, outer[1] - root
            if not math.isfinite(above):
                middle = (inner[0] + outer[0]) / 2
            else:
                weights = (below / 2 if side > 0 else below), (above / 2 if side < 0 else above)
                middle = inner[0] - weights[0] * (outer[0] - inner[0]) / (weights[1] - weights[0])
            there = self.root(at, middle)
            if abs(there) < abs(root):
                side, inner = -1, (middle, there)
            else:
                side, outer = 1, (middle, there)
        return outer[0]
