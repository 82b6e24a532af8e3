"""What an estimate says: complete when it exists, and knowing its own uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tacit.channel.base import Array
from tacit.display import Shown, told_errors, with_error
from tacit.errors import InvalidInput, UnknownName
from tacit.estimation.intervals import Interval, checked_level
from tacit.estimation.simplex import floor_shares, project_on_simplex
from tacit.schema import Attribute, Schema

if TYPE_CHECKING:
    from tacit.estimation.comparison import Comparison, GivenEstimate, Independence
    from tacit.estimation.mean import Mean
    from tacit.estimation.numbers import AboveEstimate, MeanEstimate, QuantileEstimate

# What an error is for: people sampled from a population, or just the people who answered.
Sampling = Literal["population", "respondents"]
Method = Literal["inversion", "likelihood"]
# Where an error comes from (`tacit.estimation.mean`): the channels' law near the estimate, the reports as they were counted,
# the design of a complex sample. Of the most likely distribution it is the likelihood itself, of a model an open count.
ErrorRule = Literal["law", "counted", "design", "likelihood", "model"]
ONE_ERROR = "(± one standard error)"
NUMBERS = ("probability", "constrained", "standard_error", "low", "high")


def checked_sampling(sampling: Sampling) -> Sampling:
    if sampling not in ("population", "respondents"):
        raise UnknownName("Sampling", str(sampling), ("population", "respondents"))
    return sampling


def checked_pooling(sampling: Sampling) -> None:
    if sampling == "respondents":
        raise InvalidInput(
            "With sampling='respondents' the error is not known where several tables are pooled: it is by chance who is "
            "in which table. Ask for sampling='population'."
        )


@dataclass(frozen=True, eq=False, repr=False)
class TableEstimate(Shown):
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
    covariance_of: Callable[[Array | None], Array] = field(repr=False)
    converged: bool = True
    error_rule: ErrorRule = "law"
    # The table of the other attributes within each answer of public ones; None where these are not public.
    within_public: Callable[[Sequence[str]], list[Mean | None] | None] = field(default=lambda _: None, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def covariance(self) -> Array:
        """Covariance of the unbiased estimates, ``(cells, cells)`` in the order of the raveled table."""
        return self.covariance_of(None)

    def interval(self, level: float = 0.95) -> Interval:
        """Ends within [0, 1] that hold each true share with the chance `level`."""
        checked_level(level)
        return self.interval_of(level)

    def attribute(self, name: str) -> Attribute:
        return Schema(self.attributes)[name]

    def distribution(self) -> Array:
        """The nearest proper distribution, for those who need one."""
        return project_on_simplex(self.probabilities)

    @property
    def proper(self) -> Array:
        """The nearest distribution with a floor under every share: errors are taken there."""
        return floor_shares(self.distribution())

    def given(self, by: str | Sequence[str]) -> GivenEstimate:
        """The shares of the other answers within each answer of `by`, or within each combination of several."""
        from tacit.estimation.comparison import conditional_shares

        return conditional_shares(self, by)

    def compare(self, by: str | Sequence[str], level: float = 0.95) -> Comparison:
        """The differences between every two groups of `by`, with standard errors, intervals and tests."""
        from tacit.estimation.comparison import compare

        return compare(self, by, level)

    def mean(self, name: str, values: Mapping[str, float] | None = None) -> MeanEstimate:
        """The mean of an attribute's numbers, within each answer of the table's other attributes; `values` may state them."""
        from tacit.estimation.numbers import MeanEstimate, NumberTable

        return MeanEstimate(NumberTable.of(self, name, values))

    def above(
        self, name: str, limits: float | Sequence[float], values: Mapping[str, float] | None = None
    ) -> AboveEstimate:
        """Shares of people whose number is more than each limit, within the table's other attributes."""
        from tacit.estimation.numbers import AboveEstimate, NumberTable

        wanted = tuple(map(float, limits if isinstance(limits, Sequence) else [limits]))
        return AboveEstimate(NumberTable.of(self, name, values), wanted)

    def quantile(
        self, name: str, levels: float | Sequence[float] = 0.5, values: Mapping[str, float] | None = None
    ) -> QuantileEstimate:
        """Quantiles of an attribute's numbers (the median, if no level is said), within the table's other attributes."""
        from tacit.estimation.numbers import NumberTable, quantiles

        return quantiles(NumberTable.of(self, name, values), levels if isinstance(levels, Sequence) else [levels])

    def independence(self, of: str | Sequence[str] | None = None) -> Independence:
        """A chi-square test that the answers to `of` (the first attribute, if not said) do not depend on the others."""
        from tacit.estimation.comparison import independence

        return independence(self, of)

    def simultaneous(self, level: float = 0.95) -> Interval:
        """Intervals that hold all true shares together with the chance `level`."""
        from tacit.estimation.comparison import simultaneous_level

        return replace(self.interval(simultaneous_level(self, level)), level=level)

    def cells(self, level: float = 0.95, *, simultaneous: bool = False) -> Iterator[dict[str, Any]]:
        """One entry per combination of answers, with its interval."""
        interval = self.simultaneous(level) if simultaneous else self.interval(level)
        constrained = self.distribution()
        for index in np.ndindex(self.probabilities.shape):
            yield {
                "answers": {a.name: a.answers[code] for a, code in zip(self.attributes, index, strict=True)},
                "probability": float(self.probabilities[index]),
                "constrained": float(constrained[index]),
                "standard_error": float(self.standard_errors[index]),
                "low": float(interval.low[index]),
                "high": float(interval.high[index]),
            }

    def to_document(self, level: float = 0.95, *, simultaneous: bool = False) -> dict[str, Any]:
        return {
            "n_reports": self.n_reports,
            "method": self.method,
            "sampling": self.sampling,
            "error_rule": self.error_rule,
            "converged": self.converged,
            "level": level,
            "attributes": list(self.names),
            "cells": list(self.cells(level, simultaneous=simultaneous)),
        }

    def headline(self) -> str:
        return f"{', '.join(self.names)} from {self.n_reports:,} reports, by {self.method}; errors for {self.whom}"

    @property
    def whom(self) -> str:
        population = self.sampling == "population"
        return "a population sampled at random" if population else "just the people who answered"

    def shown_rows(self) -> list[dict[str, Any]]:
        """One row per cell: the answers, then the numbers; an attribute of the same name keeps it."""
        return [
            {**cell["answers"], **{f"{key}_" if key in self.names else key: cell[key] for key in NUMBERS}}
            for cell in self.cells()
        ]

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __str__(self) -> str:
        rows = [(" ".join(row["answers"].values()), row["probability"], row["standard_error"]) for row in self.cells()]
        lines = [*told_errors(rows), ONE_ERROR]
        return "\n".join(lines if self.converged else [*lines, "(not converged: more likely distributions exist)"])


@dataclass(frozen=True, repr=False)
class ShareEstimate(Shown):
    """The estimated share of people to whom a combination of answers applies."""

    where: tuple[tuple[str, tuple[str, ...]], ...]
    probability: float
    standard_error: float
    n_reports: int
    sampling: Sampling
    interval_of: Callable[[float], Interval] = field(repr=False, compare=False)
    error_rule: ErrorRule = "counted"

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Ends within [0, 1] that hold the true share with the chance `level`."""
        ends = self.interval_of(level)
        return float(ends.low), float(ends.high)

    @property
    def condition(self) -> str:
        return " and ".join(f"{name} = {' or '.join(answers)}" for name, answers in self.where)

    def headline(self) -> str:
        return str(self)

    def shown_rows(self) -> list[dict[str, Any]]:
        low, high = self.interval()
        numbers = {"probability": self.probability, "standard_error": self.standard_error, "low": low, "high": high}
        return [{"condition": self.condition, **numbers}]

    def __str__(self) -> str:
        return f"{self.condition}: {with_error(self.probability, self.standard_error)} {ONE_ERROR}"
