"""What an estimate says: complete when it exists, and knowing its own uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from tacit.channel.protocol import Array
from tacit.errors import InvalidInput, UnknownName
from tacit.estimation.intervals import Interval, ShareLaw, checked_level
from tacit.estimation.simplex import projected
from tacit.schema import Attribute

# Whom an error speaks of: people sampled from a population, or just the people who answered.
Sampling = Literal["population", "respondents"]
Method = Literal["inversion", "likelihood"]
ONE_ERROR = "(± one standard error)"


def checked_sampling(sampling: Sampling) -> Sampling:
    if sampling not in ("population", "respondents"):
        raise UnknownName("Sampling", str(sampling), ("population", "respondents"))
    return sampling


def checked_pooling(sampling: Sampling) -> None:
    if sampling == "respondents":
        raise InvalidInput(
            "Several tables are pooled, and who is in which of them is chance too, so the error for just these people "
            "is not known. Ask for sampling='population'."
        )


@dataclass(frozen=True, eq=False)
class TableEstimate:
    """The estimated joint distribution of some attributes, one axis each.

    `unbiased` is the inversion estimate, whose entries may fall below 0, and `covariance` belongs to it.
    `probabilities` is what was asked for: the same, or the most likely distribution; standard errors and intervals are
    its own.
    """

    attributes: tuple[Attribute, ...]
    probabilities: Array
    unbiased: Array
    standard_errors: Array
    n_reports: int
    method: Method
    sampling: Sampling
    interval_of: Callable[[float], Interval] = field(repr=False)
    covariance_of: Callable[[], Array] = field(repr=False)
    converged: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def covariance(self) -> Array:
        """Covariance of the unbiased estimates, ``(cells, cells)`` in the order of the raveled table."""
        return self.covariance_of()

    def interval(self, level: float = 0.95) -> Interval:
        """Ends within [0, 1] that hold each true share with the chance `level`."""
        checked_level(level)
        return self.interval_of(level)

    def distribution(self) -> Array:
        """The nearest proper distribution, for those who need one."""
        return projected(self.probabilities)

    def cells(self, level: float = 0.95) -> Iterator[dict[str, Any]]:
        """One entry per combination of answers, with its interval."""
        interval, constrained = self.interval(level), self.distribution()
        for index in np.ndindex(self.probabilities.shape):
            yield {
                "answers": {a.name: a.answers[code] for a, code in zip(self.attributes, index, strict=True)},
                "probability": float(self.probabilities[index]),
                "constrained": float(constrained[index]),
                "standard_error": float(self.standard_errors[index]),
                "low": float(interval.low[index]),
                "high": float(interval.high[index]),
            }

    def to_document(self, level: float = 0.95) -> dict[str, Any]:
        return {
            "n_reports": self.n_reports,
            "method": self.method,
            "sampling": self.sampling,
            "converged": self.converged,
            "level": level,
            "attributes": list(self.names),
            "cells": list(self.cells(level)),
        }

    def to_arrow(self) -> Any:
        """One row per cell: the answers, then the numbers; an attribute of the same name keeps it."""
        import pyarrow as pa

        rows = list(self.cells())
        columns: dict[str, list[Any]] = {name: [row["answers"][name] for row in rows] for name in self.names}
        for key in ("probability", "constrained", "standard_error", "low", "high"):
            name = f"{key}_" if key in columns else key
            columns[name] = [row[key] for row in rows]
        return pa.table(columns)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __str__(self) -> str:
        rows = [(" ".join(row["answers"].values()), row["probability"], row["standard_error"]) for row in self.cells()]
        width = max(len(label) for label, _, _ in rows)
        lines = [f"{label:{width}} {p:7.4f} ± {se:.4f}" for label, p, se in rows]
        lines.append(ONE_ERROR)
        return "\n".join(lines if self.converged else [*lines, "(not converged: more likely distributions exist)"])


@dataclass(frozen=True)
class ShareEstimate:
    """The estimated share of people to whom a combination of answers applies."""

    where: tuple[tuple[str, tuple[str, ...]], ...]
    probability: float
    standard_error: float
    n_reports: int
    sampling: Sampling
    law: ShareLaw = field(repr=False, compare=False)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Ends within [0, 1] that hold the true share with the chance `level`."""
        found = self.law.interval(np.array(self.probability), level)
        return float(found.low), float(found.high)

    def __str__(self) -> str:
        condition = " and ".join(f"{name} = {' or '.join(answers)}" for name, answers in self.where)
        return f"{condition}: {self.probability:.4f} ± {self.standard_error:.4f} {ONE_ERROR}"
