"""Numbers behind ordered answers: means, quantiles and spreads of an estimated table, within groups and between them.

A mean is a wanted number like any other (FORMULAS 15): the sum of the cells, each times its answer's number. Within a group it
is a ratio of two such sums. Its interval is Fieller's: every mean at which the difference of the two sums is not farther from 0
than its own error allows, so that it holds also for a group whose share is itself uncertain.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.display import Shown
from tacit.errors import InvalidInput
from tacit.estimation.comparison import GroupedTable
from tacit.estimation.intervals import Interval, checked_level, difference_interval, interval_within, share_intervals
from tacit.estimation.simplex import floor_shares, project_on_simplex

if TYPE_CHECKING:
    from tacit.estimation.result import TableEstimate
    from tacit.schema import Attribute

TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, eq=False)
class NumberTable:
    """A table as groups by the ordered answers of one attribute, each answer with its number."""

    grouped: GroupedTable
    values: Array

    @classmethod
    def of(cls, table: TableEstimate, name: str, values: Mapping[str, float] | None = None) -> NumberTable:
        """The table's attribute `name` within each combination of all its other attributes."""
        attribute = table.attribute(name)
        others = tuple(other for other in table.attributes if other.name != name)
        return cls(GroupedTable(table, others, (attribute,)), answer_numbers(attribute, values))

    @property
    def table(self) -> TableEstimate:
        return self.grouped.table

    @property
    def attribute(self) -> Attribute:
        return self.grouped.answers[0]

    @cached_property
    def cells(self) -> Array:
        """Unbiased shares, ``[group, answer]``."""
        return self.grouped.by_group(self.table.unbiased)

    @cached_property
    def near(self) -> Array:
        """The nearest proper distribution with the groups' own shares: errors are taken there, ``[group, answer]``.

        Projecting all groups at once would take people from noisy groups, even where groups are public and their shares known.
        """
        totals = floor_shares(project_on_simplex(self.cells.sum(axis=1)))
        within = [
            floor_shares(project_on_simplex(cells / total))
            if (total := cells.sum()) > 0
            else np.full(len(cells), 1 / len(cells))
            for cells in self.cells
        ]
        return totals[:, None] * np.stack(within)

    @cached_property
    def covariance(self) -> Array:
        """Covariance of the cells, ``[group, answer, group, answer]``."""
        shape = self.cells.shape
        return self.grouped.covariance(self.near).reshape(*shape, *shape)

    def labels(self) -> list[dict[str, str]]:
        return list(self.grouped.labels(self.grouped.groups))

    def sums(self, weights: Array) -> Array:
        """Sums of the cells, times numbers of the answers, in each group."""
        return self.cells @ weights

    def sums_covariance(self, values: Array, other_values: Array) -> Array:
        """Covariance of two such sums, ``[group, group]``."""
        return np.einsum("a,gahb,b->gh", values, self.covariance, other_values)


def answer_numbers(attribute: Attribute, values: Mapping[str, float] | None = None) -> Array:
    """The number of each answer: the stated one, or the one that the answer itself is."""
    if values is not None:
        return _stated_numbers(attribute, values)
    if attribute.values is not None:
        return np.array(attribute.values)
    try:
        return np.array([float(answer) for answer in attribute.answers])
    except ValueError:
        example = ", ".join(f"{answer}={number}" for number, answer in enumerate(attribute.answers[:3]))
        raise InvalidInput(
            f"The answers of {attribute.name!r} are no numbers ({', '.join(attribute.answers[:3])}, ...), so they have no mean. "
            f"Give each a number: --values '{attribute.name}: {example}, ...', or `values` in the schema."
        ) from None


def _stated_numbers(attribute: Attribute, values: Mapping[str, float]) -> Array:
    missing = [answer for answer in attribute.answers if answer not in values]
    unknown = [answer for answer in values if answer not in attribute.answers]
    if missing or unknown:
        wrong = f"{missing[0]!r} has none" if missing else f"{unknown[0]!r} is no answer"
        raise InvalidInput(
            f"{attribute.name!r} needs one number for each of its answers, and {wrong}. Its answers: "
            f"{', '.join(attribute.answers)}."
        )
    return np.array([float(values[answer]) for answer in attribute.answers])


@dataclass(frozen=True, eq=False, repr=False)
class MeanEstimate(Shown):
    """The mean of an attribute's numbers, within each group where there are groups; `differences` are those between groups."""

    numbers: NumberTable

    plotted = "mean"

    @cached_property
    def means(self) -> Array:
        """One for each group; not a number where a group is not above zero."""
        totals = self.numbers.sums(np.ones(len(self.numbers.values)))
        sums = self.numbers.sums(self.numbers.values)
        return np.divide(sums, totals, out=np.full_like(sums, np.nan), where=totals > 0)

    @cached_property
    def covariance(self) -> Array:
        """Covariance of the means, by the delta method at the nearest proper distribution."""
        near = self.numbers.near
        totals = near.sum(axis=1)
        gradients = (self.numbers.values - (near @ self.numbers.values / totals)[:, None]) / totals[:, None]
        return np.einsum("ga,gahb,hb->gh", gradients, self.numbers.covariance, gradients)

    @cached_property
    def standard_errors(self) -> Array:
        return np.sqrt(np.maximum(self.covariance.diagonal(), 0.0))

    @cached_property
    def deviations(self) -> tuple[Array, Array]:
        """Standard deviations of the numbers within each group, and their errors by the delta method; 0 where not above 0."""
        values, near = self.numbers.values, self.numbers.near
        totals = self.numbers.sums(np.ones(len(values)))
        squares = np.divide(self.numbers.sums(values**2), totals, out=np.zeros_like(totals), where=totals > 0)
        deviations = np.sqrt(np.maximum(squares - np.nan_to_num(self.means) ** 2, 0.0))
        shares = near / near.sum(axis=1, keepdims=True)
        apart = (values - (shares @ values)[:, None]) ** 2
        spread = (shares * apart).sum(axis=1, keepdims=True)
        gradients = (apart - spread) / near.sum(axis=1, keepdims=True) / (2 * np.sqrt(np.maximum(spread, TINY)))
        variances = np.einsum("ga,gagb,gb->g", gradients, self.numbers.covariance, gradients)
        return deviations, np.sqrt(np.maximum(variances, 0.0))

    def interval(self, level: float = 0.95) -> Interval:
        """Ends within the range of the numbers; all of it where a group may as well be empty."""
        z = checked_level(level)
        values, ones = self.numbers.values, np.ones(len(self.numbers.values))
        sums, totals = self.numbers.sums(values), self.numbers.sums(ones)
        moments = [
            self.numbers.sums_covariance(*pair).diagonal() for pair in ((values, values), (values, ones), (ones, ones))
        ]
        ends = [
            self._fieller(z, group, float(sums[group]), float(totals[group]), [float(of[group]) for of in moments])
            for group in range(len(sums))
        ]
        low, high = np.array(ends).T
        return Interval(low, high, level)

    def _fieller(
        self, z: float, group: int, total: float, share: float, moments: Sequence[float]
    ) -> tuple[float, float]:
        """Every m in the range of the numbers with ``(total - m share)**2 <= z**2 Var(total - m share)``."""
        least, most = float(self.numbers.values.min()), float(self.numbers.values.max())
        of_total, between, of_share = moments
        square = share**2 - z**2 * of_share
        if square <= 0 or share <= 0:
            return least, most
        middle = (total * share - z**2 * between) / square
        reach = math.sqrt(max(middle**2 - (total**2 - z**2 * of_total) / square, 0.0))
        if middle + reach >= least and middle - reach <= most:
            return max(middle - reach, least), min(middle + reach, most)
        # The whole set lies outside of what is possible: from the nearer end, as far as an estimate there would be off.
        span = most - least
        low, high = interval_within(
            (float(self.means[group]) - least) / span, float(self.standard_errors[group]) / span, z
        )
        return least + span * low, least + span * high

    def rows(self, level: float = 0.95) -> Iterator[dict[str, Any]]:
        ends, (deviations, errors) = self.interval(level), self.deviations
        for group, given in enumerate(self.numbers.labels()):
            mean = float(self.means[group])
            yield {
                "attribute": self.numbers.attribute.name,
                "given": given,
                "mean": mean if math.isfinite(mean) else None,
                "standard_error": float(self.standard_errors[group]),
                "low": float(ends.low[group]),
                "high": float(ends.high[group]),
                "standard_deviation": float(deviations[group]),
                "standard_deviation_error": float(errors[group]),
            }

    def differences(self, level: float = 0.95) -> Iterator[dict[str, Any]]:
        """The difference of every two groups' means, with its error, interval and test."""
        labels = self.numbers.labels()
        errors = self.standard_errors
        for first, second in itertools.combinations(range(len(labels)), 2):
            between = float(self.covariance[first, second])
            error = math.sqrt(max(float(errors[first] ** 2 + errors[second] ** 2) - 2 * between, 0.0))
            correlation = np.clip(between / max(float(errors[first] * errors[second]), TINY), -1.0, 1.0)
            ends = difference_interval(self._ends_of(second), self._ends_of(first), np.array([correlation]), level)
            difference = float(self.means[first] - self.means[second])
            is_known = math.isfinite(difference)
            yield {
                "attribute": self.numbers.attribute.name,
                "of": labels[first],
                "against": labels[second],
                "difference": difference if is_known else None,
                "standard_error": error,
                "low": float(ends.low[0]),
                "high": float(ends.high[0]),
                "p": math.erfc(abs(difference) / max(error, TINY) / math.sqrt(2)) if is_known else 1.0,
            }

    def _ends_of(self, group: int) -> Any:
        def ends(level: float) -> Interval:
            interval = self.interval(level)
            return Interval(interval.low[[group]], interval.high[[group]], level)

        return ends

    def headline(self) -> str:
        table, by = self.numbers.table, " and ".join(a.name for a in self.numbers.grouped.groups)
        within = f" within each {by}" if by else ""
        return f"mean of {self.numbers.attribute.name}{within}, {table.n_reports:,} reports; errors for {table.whom}"

    def shown_rows(self) -> list[dict[str, Any]]:
        return [{**row.pop("given"), **row} for row in self.rows()]


@dataclass(frozen=True, eq=False, repr=False)
class CumulativeShares(Shown):
    """The shares of people up to each of an attribute's numbers, within each group."""

    numbers: NumberTable

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The places of the answers, by their numbers."""
        return np.argsort(self.numbers.values)

    @cached_property
    def values(self) -> Array:
        return self.numbers.values[self.order]

    @cached_property
    def shares(self) -> tuple[Array, Array]:
        """Unbiased shares up to each number and their errors, ``[group, number]``."""
        near, size = self.numbers.near, len(self.order)
        totals = near.sum(axis=1, keepdims=True)
        up_to = np.zeros((size, size))
        up_to[:, self.order] = np.tri(size)
        shares = near @ up_to.T / totals
        cells = self.numbers.cells
        positive = cells.sum(axis=1, keepdims=True) > 0
        estimates = np.divide(cells @ up_to.T, cells.sum(axis=1, keepdims=True), out=shares.copy(), where=positive)
        gradients = (up_to[None] - shares[..., None]) / totals[..., None]
        within = np.einsum("gagb->gab", self.numbers.covariance)
        variances = np.einsum("gka,gab,gkb->gk", gradients, within, gradients)
        return estimates, np.sqrt(np.maximum(variances, 0.0))

    def ends(self, level: float) -> Interval:
        """Intervals of the shares up to each number, ``[group, number]``."""
        estimates, errors = self.shares
        people = self.numbers.table.n_reports * self.numbers.near.sum(axis=1, keepdims=True)
        return share_intervals(estimates, errors, np.broadcast_to(people, estimates.shape), level)

    def shown_rows(self) -> list[dict[str, Any]]:
        return [{**row.pop("given"), **row} for row in self.rows()]

    def rows(self, level: float = 0.95) -> Iterator[dict[str, Any]]:
        raise NotImplementedError


@dataclass(frozen=True, eq=False, repr=False)
class AboveEstimate(CumulativeShares):
    """Shares of people whose number is more than a limit."""

    limits: tuple[float, ...]

    plotted = "share"

    def rows(self, level: float = 0.95) -> Iterator[dict[str, Any]]:
        (estimates, errors), ends = self.shares, self.ends(level)
        for group, given in enumerate(self.numbers.labels()):
            for limit in self.limits:
                place = int(np.searchsorted(self.values, limit, side="right")) - 1
                is_open = 0 <= place < len(self.values) - 1  # else nobody or everybody is above
                sure = 1.0 if place < 0 else 0.0
                yield {
                    "attribute": self.numbers.attribute.name,
                    "given": given,
                    "above": limit,
                    "share": 1 - float(estimates[group, place]) if is_open else sure,
                    "standard_error": float(errors[group, place]) if is_open else 0.0,
                    "low": 1 - float(ends.high[group, place]) if is_open else sure,
                    "high": 1 - float(ends.low[group, place]) if is_open else sure,
                }

    def headline(self) -> str:
        return f"shares above limits of {self.numbers.attribute.name}, {self.numbers.table.n_reports:,} reports"


@dataclass(frozen=True, eq=False, repr=False)
class QuantileEstimate(CumulativeShares):
    """Quantiles of an attribute's numbers: the least number that so large a share of people do not exceed."""

    levels: tuple[float, ...]

    plotted = "value"

    def rows(self, level: float = 0.95) -> Iterator[dict[str, Any]]:
        """Intervals hold every number that the intervals of the cumulative shares leave possible (FORMULAS 15)."""
        ends = self.ends(level)
        for group, given in enumerate(self.numbers.labels()):
            near = self.numbers.near[group][self.order]
            shares = np.cumsum(near) / near.sum()
            low = np.concatenate([[-1.0], ends.low[group, :-1]])
            high = np.concatenate([ends.high[group, :-1], [1.0]])
            for wanted in self.levels:
                accepted = np.flatnonzero((low < wanted) & (wanted <= high))
                place = int(np.argmax(shares >= wanted - 1e-12))
                first, last = int(accepted[0]), int(accepted[-1])
                yield {
                    "attribute": self.numbers.attribute.name,
                    "given": given,
                    "level": wanted,
                    "value": float(self.values[min(max(place, first), last)]),
                    "low": float(self.values[first]),
                    "high": float(self.values[last]),
                }

    def headline(self) -> str:
        return f"quantiles of {self.numbers.attribute.name}, {self.numbers.table.n_reports:,} reports"


def quantiles(numbers: NumberTable, levels: Sequence[float]) -> QuantileEstimate:
    wrong = [level for level in levels if not (isinstance(level, int | float) and 0 < level < 1)]
    if wrong or not levels:
        raise InvalidInput(
            f"The level of a quantile lies between 0 and 1, such as 0.5 for the median, not {wrong or levels!r}."
        )
    return QuantileEstimate(numbers, tuple(map(float, levels)))
