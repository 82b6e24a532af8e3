"""What is said of correlations: each with its error, interval and test, and all of them as a matrix or a document."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.display import Shown
from tacit.estimation.complex_samples import SampleDesign
from tacit.estimation.study_record import StudyRecord

# Variances of answers below this many standard errors are not told from 0.
LEAST_CERTAIN_VARIANCE = 1.96
GRID = np.linspace(-1, 1, 4001)  # correlations that an interval is looked for among


@dataclass(frozen=True)
class Correlation:
    """Pearson's correlation of two attributes; `estimate` is None where the reports do not tell it, and `reason` says why.

    `p` tests independence by the covariance, which is always possible; the interval holds 0 if and only if p allows it.
    """

    first: str
    second: str
    estimate: float | None
    standard_error: float | None
    low: float
    high: float
    p: float
    reason: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Correlations(Shown):
    """The correlations of every two of some attributes, with intervals."""

    names: tuple[str, ...]
    values: Mapping[str, tuple[float, ...]]
    pairs: tuple[Correlation, ...]
    n_reports: int
    level: float
    readings: tuple[str, ...] = ()  # what was not read as it stands
    study: StudyRecord = field(default_factory=StudyRecord)

    plotted = "correlation"

    def headline(self) -> str:
        return f"correlations of {', '.join(self.names)} from {self.n_reports:,} reports; ± is one standard error"

    def shown_rows(self) -> list[dict[str, Any]]:
        return [
            {
                "first": pair.first,
                "second": pair.second,
                # The estimate is unbiased and may lie a little outside; what is shown is a correlation.
                "correlation": math.nan if pair.estimate is None else min(max(pair.estimate, -1.0), 1.0),
                "standard_error": math.nan if pair.standard_error is None else pair.standard_error,
                "low": pair.low,
                "high": pair.high,
                "p": pair.p,
                "reason": pair.reason or "",
            }
            for pair in self.pairs
        ]

    def methods_text(self) -> str:
        """The paragraph for a methods section, from what was really used."""
        estimator = (
            "Correlations are the unbiased covariances over the roots of the variances; covariances test independence"
        )
        tests = "Intervals hold all correlations that the covariance does not refute"
        return self.study.methods(estimator, "from the law at each correlation", tests, self.level, (self.n_reports, 0))

    @property
    def matrix(self) -> Array:
        """The correlations as a symmetric matrix in the order of `names`; NaN where the reports do not tell."""
        place = {name: position for position, name in enumerate(self.names)}
        square = np.eye(len(self.names))
        for pair in self.pairs:
            i, j = place[pair.first], place[pair.second]
            square[i, j] = square[j, i] = np.nan if pair.estimate is None else pair.estimate
        return square

    def to_document(self) -> dict[str, Any]:
        names = ("first", "second", "estimate", "standard_error", "low", "high", "p", "reason")
        return {
            "n_reports": self.n_reports,
            "level": self.level,
            "study": self.study.to_document(),
            "readings": list(self.readings),
            "values": {name: list(values) for name, values in self.values.items()},
            "correlations": [
                {"of": [pair.first, pair.second], "r": pair.estimate, **{name: getattr(pair, name) for name in names}}
                for pair in self.pairs
            ],
        }


def correlation_of(
    names: tuple[str, str],
    covariance: float,
    variances: Sequence[float],
    errors: Sequence[float],
    spread: Callable[[Array], Array],
    level: float,
    design: SampleDesign | None = None,
) -> Correlation:
    """A correlation from a covariance and two variances with their errors.

    ``spread(r)`` is the variance of ``covariance - r * sqrt(variances)`` if the correlation is r. The interval holds all r that
    this difference does not refute; at r = 0 that is the test of independence.
    """
    quantile = NormalDist().inv_cdf((1 + level) / 2) if design is None else design.quantile(level)
    under = math.sqrt(max(float(spread(np.zeros(1))[0]), 1e-300))
    z = covariance / under
    p = 2 * NormalDist().cdf(-abs(z)) if design is None else design.p_value(z)
    unsure = [
        name
        for name, variance, error in zip(names, variances, errors, strict=True)
        if not variance > LEAST_CERTAIN_VARIANCE * error or variance <= 0
    ]
    if unsure:
        low, high = (-1.0, 1.0) if abs(z) <= quantile else (0.0, 1.0) if z > 0 else (-1.0, 0.0)
        reason = f"the variance of {' and of '.join(unsure)} is not told from 0 by so few reports"
        return Correlation(*names, None, None, low, high, p, reason)
    scale = math.sqrt(variances[0] * variances[1])
    r = covariance / scale
    distance = (covariance - GRID * scale) ** 2 / np.maximum(spread(GRID), 1e-300)
    accepted = distance <= quantile**2
    if not accepted.any():  # the estimate lies outside of -1 to 1: what is hardly worse than the nearest end
        accepted = distance - distance.min() <= quantile**2
    nearest = int(np.argmin(distance))
    low, high = _piece(accepted, nearest)
    if abs(z) > quantile:  # 0 is refuted, and with it the other sign
        low, high = (max(low, 0.0), high) if z > 0 else (low, min(high, 0.0))
    error = math.sqrt(float(spread(np.full(1, min(max(r, -1.0), 1.0)))[0])) / scale
    return Correlation(*names, r, error, low, high, p)


def _piece(accepted: NDArray[np.bool_], inside: int) -> tuple[float, float]:
    """The ends of the run of accepted correlations round one of them, half a step of the grid beyond its last ones."""
    left = inside - int(np.argmin(accepted[inside::-1])) if not accepted[: inside + 1].all() else -1
    right = inside + int(np.argmin(accepted[inside:])) if not accepted[inside:].all() else len(GRID)
    half = (GRID[1] - GRID[0]) / 2
    return float(max(GRID[left + 1] - half, -1.0)), float(min(GRID[right - 1] + half, 1.0))
