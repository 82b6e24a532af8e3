"""What is said of correlations: each with its error, interval and test, and all of them as a matrix or a document."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from tacit.channel.base import Array
from tacit.display import Shown

# Variances of answers below this many standard errors are not told from 0.
LEAST_CERTAIN_VARIANCE = 3.0


@dataclass(frozen=True)
class Correlation:
    """Pearson's correlation of two attributes; `estimate` is None where the reports do not tell it."""

    first: str
    second: str
    estimate: float | None
    standard_error: float | None
    low: float
    high: float
    p: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Correlations(Shown):
    """The correlations of every two of some attributes, with intervals."""

    names: tuple[str, ...]
    values: Mapping[str, tuple[float, ...]]
    pairs: tuple[Correlation, ...]
    n_reports: int
    level: float

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
                "p": math.nan if pair.p is None else pair.p,
            }
            for pair in self.pairs
        ]

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
        names = ("first", "second", "estimate", "standard_error", "low", "high", "p")
        return {
            "n_reports": self.n_reports,
            "level": self.level,
            "values": {name: list(values) for name, values in self.values.items()},
            "correlations": [{name: getattr(pair, name) for name in names} for pair in self.pairs],
        }


def correlation_of(names: tuple[str, str], r: float, error: float, level: float) -> Correlation:
    """A correlation with its interval and test."""
    low, high = _interval(r, error, level)
    p = 2 * NormalDist().cdf(-abs(r) / error) if error > 0 else float(r == 0)
    return Correlation(*names, r, error, low, high, p)


def _interval(r: float, error: float, level: float) -> tuple[float, float]:
    """An interval within -1 and 1, by Fisher's transformation; around the nearest correlation where the estimate is none."""
    inside = min(max(r, -1 + 1e-9), 1 - 1e-9)
    half = NormalDist().inv_cdf((1 + level) / 2) * error / (1 - inside**2) if abs(r) < 1 else math.inf
    low, high = (math.tanh(math.atanh(inside) + side * half) for side in (-1, 1))
    if abs(r) >= 1:  # the error cannot be carried over there: plain ends, cut
        plain = NormalDist().inv_cdf((1 + level) / 2) * error
        low, high = max(r - plain, -1.0), min(r + plain, 1.0)
    return min(low, inside), max(high, inside)
