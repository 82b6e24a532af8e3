"""The risk of a release as the field states it: prosecutor, journalist and marketer, and uniques of the population.

A prosecutor knows that the person is in the table, a journalist does
not, a marketer links everybody. Estimates of population uniques are models of a random sample, not bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from tacit.errors import InvalidInput

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Uniques:
    """How many people of the population are estimated to be unique in it, by two models."""

    zayatz: float
    pitman: float


@dataclass(frozen=True)
class Risk:
    """Chances of being re-identified, highest and mean over the rows; `marketer` is the expected share linked right.

    What a journalist risks needs the classes of the population; without them it is not known, and at most the prosecutor's.
    """

    prosecutor_highest: float
    prosecutor_mean: float
    marketer: float
    population: int | None
    uniques: Uniques | None

    def to_document(self) -> dict[str, Any]:
        """The risk for JSON."""
        uniques = None if self.uniques is None else {"zayatz": self.uniques.zayatz, "pitman": self.uniques.pitman}
        return {
            "prosecutor": {"highest": self.prosecutor_highest, "mean": self.prosecutor_mean},
            "journalist": None,
            "marketer": self.marketer,
            "population": self.population,
            "population_uniques": uniques,
        }


def risk_of(class_sizes: NDArray[np.int64], population: int | None = None) -> Risk:
    """The risk of rows in classes of these sizes; with the size of the population also its estimated uniques."""
    sizes = np.asarray(class_sizes, dtype=np.int64)
    rows = int(sizes.sum())
    if population is not None and population < rows:
        raise InvalidInput(
            f"The population has {population:,} people, fewer than the {rows:,} rows of the table. Give the number of all "
            "people the rows were drawn from."
        )
    mean = len(sizes) / rows
    uniques = None if population is None else Uniques(zayatz(sizes, population), pitman(sizes, population))
    return Risk(1 / int(sizes.min()), mean, mean, population, uniques)


def _frequencies(sizes: NDArray[np.int64]) -> tuple[Array, Array]:
    values, counts = np.unique(sizes, return_counts=True)
    return values.astype(np.float64), counts.astype(np.float64)


def zayatz(sizes: NDArray[np.int64], population: int) -> float:
    """Population uniques: each sample unique times the chance that it is one there (Zayatz 1991)."""
    values, counts = _frequencies(sizes)
    share = float(values @ counts) / population
    ones = float(counts[values == 1].sum())
    if not ones:
        return 0.0
    among = ones / float((counts * values * (1 - share) ** (values - 1)).sum())
    return ones * among / share


def pitman(sizes: NDArray[np.int64], population: int) -> float:
    """Population uniques under Pitman's sampling model, fitted by likelihood (Hoshino 2001)."""
    from scipy.optimize import minimize

    values, counts = _frequencies(sizes)
    classes, rows = float(counts.sum()), float(values @ counts)

    def cost(point: Array) -> float:
        alpha = 1 / (1 + np.exp(-point[0]))
        theta = np.exp(point[1]) - alpha
        steps = np.arange(1, int(classes))
        whole = float(np.log(theta + steps * alpha).sum()) - (gammaln(theta + rows) - gammaln(theta + 1))
        larger = values >= 2
        within = gammaln(values[larger] - alpha) - gammaln(1 - alpha)
        return -(whole + float(counts[larger] @ within))

    starts = [(-1.0, 1.0), (0.0, 4.0), (2.0, 6.0)]
    best = min((minimize(cost, start, method="Nelder-Mead") for start in starts), key=lambda found: found.fun)
    alpha = 1 / (1 + np.exp(-best.x[0]))
    theta = np.exp(best.x[1]) - alpha
    log_uniques = (
        np.log(population)
        + gammaln(theta + 1)
        + gammaln(theta + alpha + population - 1)
        - gammaln(theta + alpha)
        - gammaln(theta + population)
    )
    return float(min(np.exp(log_uniques), population))
