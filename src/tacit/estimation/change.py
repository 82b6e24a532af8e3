"""Change between two waves: how far each share moved, with its error (FORMULAS 17).

The disguises of two waves are independent. For the people who answered, the variances of the two estimates therefore add up
exactly. For a population they add up to an upper bound as long as one person's answers in the two waves are not negatively
correlated; reports of a panel, put together by their pseudonyms, measure that correlation and take it out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tacit.channel.base import Array
from tacit.count.sources import ReportSource
from tacit.display import Shown
from tacit.errors import InvalidInput, SchemeMismatch
from tacit.estimation import estimate
from tacit.estimation.comparison import GroupedTable, shares_within
from tacit.estimation.intervals import Interval, difference_interval
from tacit.estimation.result import Sampling, TableEstimate
from tacit.reports import Reports, join_waves

TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, eq=False)
class Wave:
    """The wanted shares of one wave, with their gradients in the cells of its table ``[share, cell]``."""

    table: TableEstimate
    by: tuple[str, ...]

    @property
    def shares(self) -> Array:
        return self._estimate.probabilities.reshape(-1)

    @cached_property
    def _estimate(self) -> Any:
        return self.table.given(self.by) if self.by else self.table

    @property
    def near(self) -> Array:
        """The distribution of the table's cells at which errors are taken."""
        return self.table.proper

    def labels(self) -> list[dict[str, Any]]:
        return [{"answers": cell["answers"]} for cell in self._estimate.cells()]

    def interval(self, level: float) -> Interval:
        ends = self._estimate.interval(level)
        return Interval(ends.low.reshape(-1), ends.high.reshape(-1), level)

    def gradients(self, distribution: Array) -> Array:
        if not self.by:
            return np.eye(distribution.size)
        grouped = GroupedTable.of(self.table, self.by)
        _, gradients = shares_within(grouped.by_group(distribution))
        cells = np.argsort(grouped.positions)
        return gradients.reshape(-1, distribution.size)[:, cells]

    def covariance(self, distribution: Array | None = None) -> Array:
        """Covariance of the shares, at the estimate or at another distribution of the table's cells."""
        gradients = self.gradients(self.near if distribution is None else distribution)
        return gradients @ self.table.covariance_of(distribution) @ gradients.T


@dataclass(frozen=True, eq=False)
class MeanWave(Wave):
    """The mean of an attribute's numbers in one wave, within each group where there are groups."""

    name: str

    @cached_property
    def _estimate(self) -> Any:
        return self.table.mean(self.name)

    @property
    def shares(self) -> Array:
        return self._estimate.means

    @cached_property
    def near(self) -> Array:
        grouped = self._estimate.numbers.grouped
        near = np.empty(self.table.probabilities.size)
        near[grouped.positions] = self._estimate.numbers.near.reshape(-1)
        return near.reshape(self.table.probabilities.shape)

    def labels(self) -> list[dict[str, Any]]:
        return [{"attribute": self.name, "given": given} for given in self._estimate.numbers.labels()]

    def gradients(self, distribution: Array) -> Array:
        numbers = self._estimate.numbers
        cells = numbers.grouped.by_group(distribution)
        totals = cells.sum(axis=1)
        within = (numbers.values - (cells @ numbers.values / totals)[:, None]) / totals[:, None]
        gradients = np.zeros((len(cells), distribution.size))
        for group, places in enumerate(numbers.grouped.positions.reshape(cells.shape)):
            gradients[group, places] = within[group]
        return gradients

    def covariance(self, distribution: Array | None = None) -> Array:
        return super().covariance(self.near if distribution is None else distribution)


@dataclass(frozen=True, eq=False)
class Pairs:
    """People who reported in both waves: `joint` is the distribution of their answers then and now, ``[cell, cell]``."""

    joint: TableEstimate
    n_pairs: int

    def covariance(self, first: Wave, second: Wave) -> Array:
        """Covariance of the two waves' shares: that of one person's answers, as often as people came twice."""
        cells = self.joint.probabilities.reshape(first.table.probabilities.size, -1)
        answers = cells - np.multiply.outer(cells.sum(axis=1), cells.sum(axis=0))
        first_gradients, second_gradients = first.gradients(first.near), second.gradients(second.near)
        people = self.n_pairs / (first.table.n_reports * second.table.n_reports)
        return people * (first_gradients @ answers @ second_gradients.T)


@dataclass(frozen=True, eq=False, repr=False)
class Change(Shown):
    """How far each share moved from the first wave to the second, with errors, intervals and tests.

    `transitions` is the joint table of answers in the two waves; None where reports are not put together by person.
    """

    first: Wave
    second: Wave
    pairs: Pairs | None
    sampling: Sampling

    plotted = "difference"

    @property
    def transitions(self) -> TableEstimate | None:
        return None if self.pairs is None else self.pairs.joint

    def _together(self) -> Array:
        """Covariance of the same share in both waves; none for the respondents, whose disguises are independent."""
        if self.pairs is None or self.sampling == "respondents":
            return np.zeros(len(self.first.shares))
        between = self.pairs.covariance(self.first, self.second).diagonal()
        # No correlation of answers exceeds what their own spread allows; the estimate of it may.
        most = np.sqrt(_own_spread(self.first) * _own_spread(self.second))
        return np.clip(between, -most, most)

    def rows(self, level: float = 0.95) -> Iterator[dict[str, Any]]:
        """One entry for each share: from, to, the difference of the unbiased shares, its error, interval and test."""
        first, second, together = self.first, self.second, self._together()
        variances = [np.maximum(wave.covariance().diagonal(), 0.0) for wave in (first, second)]
        errors = np.sqrt(np.maximum(variances[0] + variances[1] - 2 * together, 0.0))
        spread = np.sqrt(np.maximum(self._null_variances() - 2 * together, TINY))
        correlation = np.clip(together / np.maximum(np.sqrt(variances[0] * variances[1]), TINY), -1.0, 1.0)
        ends = difference_interval(first.interval, second.interval, correlation, level)
        for index, label in enumerate(first.labels()):
            was, now = float(first.shares[index]), float(second.shares[index])
            is_known = math.isfinite(was) and math.isfinite(now)
            yield {
                **label,
                "from": was if is_known else None,
                "to": now if is_known else None,
                "difference": now - was if is_known else None,
                "standard_error": float(errors[index]),
                "low": float(ends.low[index]),
                "high": float(ends.high[index]),
                "p": math.erfc(abs(now - was) / spread[index] / math.sqrt(2)) if is_known else 1.0,
            }

    def _null_variances(self) -> Array:
        """Sum of the waves' variances where nothing changed: both at their common distribution."""
        n, m = self.first.table.n_reports, self.second.table.n_reports
        same = (n * self.first.near + m * self.second.near) / (n + m)
        return self.first.covariance(same).diagonal() + self.second.covariance(same).diagonal()

    def to_document(self, level: float = 0.95) -> dict[str, Any]:
        linked = (
            {}
            if self.pairs is None
            else {"n_pairs": self.pairs.n_pairs, "transitions": list(self.pairs.joint.cells(level))}
        )
        n_reports = [wave.table.n_reports for wave in (self.first, self.second)]
        return {
            "n_reports": n_reports,
            "sampling": self.sampling,
            "level": level,
            **linked,
            "changes": list(self.rows(level)),
        }

    def headline(self) -> str:
        n, m = self.first.table.n_reports, self.second.table.n_reports
        by = self.first.by
        asked = ", ".join(name for name in self.first.table.names if name not in by)
        within = f" within each {' and '.join(by)}" if by else ""
        linked = "" if self.pairs is None else f", {self.pairs.n_pairs:,} people in both"
        return f"change of {asked}{within} from {n:,} to {m:,} reports{linked}; errors for {self.first.table.whom}"

    def shown_rows(self) -> list[dict[str, Any]]:
        return [{**row.pop("given" if "given" in row else "answers"), **row} for row in self.rows()]


def _own_spread(wave: Wave) -> Array:
    """Variance of the wave's shares if everybody had answered openly."""
    p = wave.near.reshape(-1)
    gradients = wave.gradients(wave.near)
    return (gradients**2 @ p - (gradients @ p) ** 2) / wave.table.n_reports


def change(
    first: ReportSource,
    second: ReportSource,
    attributes: str | Sequence[str],
    *,
    given: str | Sequence[str] = (),
    mean: bool = False,
    people: tuple[Sequence[Any], Sequence[Any]] | None = None,
    sampling: Sampling = "population",
) -> Change:
    """How far the shares of some answers moved from one wave to the next.

    Parameters
    ----------
    first, second : Reports or stored reports
        The reports of two waves under one scheme.
    attributes : str or sequence of str
        What the shares are of.
    given : str or sequence of str, optional
        Shares are taken within each answer of these attributes.
    mean : bool
        How far the mean of one attribute's numbers moved, instead of the shares of its answers.
    people : pair of sequences, optional
        Of a panel: who sent each report, in the order of the two waves' reports. Answers of one person in both waves are
        then put together, which makes the error of change smaller for a population and gives the transitions.
    sampling : {"population", "respondents"}
        What the errors are for. Without `people`, the error for a population holds where one person's answers in the two
        waves are not negatively correlated.

    Returns
    -------
    Change
        Each share then and now, the difference with its error, interval and test, and the transitions of a panel.

    Raises
    ------
    SchemeMismatch
        Where the waves were disguised under different schemes.

    Examples
    --------
    >>> import tacit
    >>> scheme = tacit.Scheme.of([tacit.Attribute("smokes", ("no", "yes"))], [(["smokes"], tacit.channels.warner(0.75))])
    >>> then = tacit.Reports.from_arrow({"smokes": ["no"] * 50 + ["yes"] * 50}, scheme)
    >>> now = tacit.Reports.from_arrow({"smokes": ["no"] * 60 + ["yes"] * 40}, scheme)
    >>> [round(row["difference"], 3) for row in tacit.change(then, now, "smokes").rows()]
    [0.2, -0.2]
    """
    if _scheme_hash(first) != _scheme_hash(second):
        raise SchemeMismatch(
            "The two waves were disguised under different schemes, so their difference would be one of schemes too. "
            "Compare waves of one series, or estimate each by itself."
        )
    by = (given,) if isinstance(given, str) else tuple(given)
    names = (attributes,) if isinstance(attributes, str) else tuple(attributes)
    wanted = list(dict.fromkeys([*names, *by]))
    if mean and len(names) != 1:
        raise InvalidInput(f"The mean of one attribute is compared at a time, not of {', '.join(names) or 'none'}.")
    tables = [estimate(reports, wanted, sampling=sampling) for reports in (first, second)]
    waves = [MeanWave(table, by, names[0]) if mean else Wave(table, by) for table in tables]
    return Change(waves[0], waves[1], _pairs(first, second, people, wanted), sampling)


def _scheme_hash(reports: ReportSource) -> str:
    scheme = getattr(reports, "scheme", None)
    if scheme is None:
        raise InvalidInput("Change is estimated between two sets of reports, each under one scheme.")
    return str(scheme.hash)


def _pairs(
    first: ReportSource, second: ReportSource, people: tuple[Sequence[Any], Sequence[Any]] | None, names: Sequence[str]
) -> Pairs | None:
    if people is None:
        return None
    if not (isinstance(first, Reports) and isinstance(second, Reports)):
        raise InvalidInput("Reports of a panel are put together in memory: read them with Reports.read.")
    both = join_waves(first, second, *people)
    return Pairs(estimate(both, [f"{name}@{wave}" for wave in (1, 2) for name in names]), both.n_reports)
