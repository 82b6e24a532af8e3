"""What people ask of a table next: shares within groups, differences between them, and whether there are any.

Everything is a function of the table's cells; errors follow from their joint covariance (delta method). Tests take the
covariance at the distribution under which there is no difference: without a disguise they are the pooled z test and
Pearson's chi-square.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from tacit.channel.base import Array
from tacit.display import Shown
from tacit.errors import InvalidInput
from tacit.estimation.intervals import Interval, ShareLaw, checked_level
from tacit.estimation.simplex import floor_shares, project_on_simplex

if TYPE_CHECKING:
    from tacit.estimation.mean import Mean
    from tacit.estimation.result import Sampling, TableEstimate
    from tacit.schema import Attribute

TINY = np.finfo(np.float64).tiny
FEWEST = 5  # people to expect in every cell, below which a chi-square is rough
DRAWS = 1 << 14  # of all errors at once, to find how far the largest of them reaches


@dataclass(frozen=True, eq=False, repr=False)
class GroupedTable:
    """A table as groups by answers, ``[group, answer]``, whose cells have this covariance."""

    table: TableEstimate
    groups: tuple[Attribute, ...]
    answers: tuple[Attribute, ...]

    @classmethod
    def of(cls, table: TableEstimate, by: str | Sequence[str]) -> GroupedTable:
        names = [by] if isinstance(by, str) else list(by)
        groups = tuple(table.attribute(name) for name in dict.fromkeys(names))
        answers = tuple(attribute for attribute in table.attributes if attribute not in groups)
        if not groups or not answers:
            raise InvalidInput(
                f"A table of {', '.join(table.names)} has nothing to compare within {', '.join(names) or 'no attribute'}. "
                "Name at least one attribute to group by, and keep at least one other."
            )
        return cls(table, groups, answers)

    @property
    def _order(self) -> list[int]:
        return [self.table.names.index(attribute.name) for attribute in (*self.groups, *self.answers)]

    def by_group(self, cells: NDArray[Any]) -> NDArray[Any]:
        return cells.transpose(self._order).reshape(math.prod(a.size for a in self.groups), -1)

    def covariance(self, distribution: Array | None = None) -> Array:
        """Covariance of the cells in this order; at the estimate, or at a distribution ``[group, answer]``."""
        shape = self.table.probabilities.shape
        there = None
        if distribution is not None:
            there = distribution.reshape([shape[axis] for axis in self._order]).transpose(np.argsort(self._order))
        return self.table.covariance_of(there)[np.ix_(self.positions, self.positions)]

    @property
    def positions(self) -> NDArray[np.intp]:
        """The table's cells, by their places in the raveled table, in this order."""
        shape = self.table.probabilities.shape
        return self.by_group(np.arange(math.prod(shape)).reshape(shape)).reshape(-1)

    def labels(self, attributes: Sequence[Attribute]) -> Iterator[dict[str, str]]:
        for chosen in itertools.product(*(attribute.answers for attribute in attributes)):
            yield {attribute.name: answer for attribute, answer in zip(attributes, chosen, strict=True)}


def shares_within(cells: Array) -> tuple[Array, Array]:
    """Shares within each group, ``[group, answer]``, and their gradients in the cells, ``[group, answer, cell]``."""
    groups, answers = cells.shape
    totals = cells.sum(axis=1)
    shares = cells / totals[:, None]
    gradients = np.zeros((groups, answers, groups, answers))
    for group in range(groups):
        gradients[group, :, group, :] = (np.eye(answers) - shares[group][:, None]) / totals[group]
    return shares, gradients.reshape(groups, answers, -1)


@dataclass(frozen=True, eq=False, repr=False)
class GivenEstimate(Shown):
    """Shares of answers within each group, with the errors of the joint estimate behind them.

    `probabilities` are ``[group, answer]``, ratios of unbiased cells; not a number where a group is not above zero.
    """

    table: TableEstimate = field(repr=False)
    groups: tuple[Attribute, ...]
    answers: tuple[Attribute, ...]
    probabilities: Array
    constrained: Array
    standard_errors: Array
    people: Array  # expected in each group
    doubt: Array  # squared error of each group's share, over its square
    # Where who is in which group is public: each group is a sample of its own.
    law: ShareLaw | None = field(default=None, repr=False)

    plotted = "constrained"

    def interval(self, level: float = 0.95) -> Interval:
        """Ends within [0, 1]; all of it where a group may as well be empty."""
        z = checked_level(level)
        is_finite = np.isfinite(self.probabilities)
        if self.law is not None:
            ends = self.law.interval(np.where(is_finite, self.probabilities, self.constrained), level)
            return Interval(np.where(is_finite, ends.low, 0.0), np.where(is_finite, ends.high, 1.0), level)
        loose = 1 - z**2 * self.doubt[:, None]  # as in Fieller's theorem: a ratio over what may be 0 may be anything
        errors = np.divide(self.standard_errors, loose, out=np.ones_like(self.standard_errors), where=loose > 0)
        people = np.broadcast_to(self.people[:, None], errors.shape)
        p = np.where(is_finite, self.probabilities, self.constrained)
        fixed = self.table.sampling == "respondents"
        sampled = 0.0 if fixed else self.constrained * (1 - self.constrained) / people
        law = ShareLaw(np.maximum(errors**2 - sampled, 0), 1 / people, 1 / people, respondents=fixed)
        ends = law.interval(p, level)
        is_finite = (loose > 0) & is_finite
        return Interval(np.where(is_finite, ends.low, 0.0), np.where(is_finite, ends.high, 1.0), level)

    def cells(self, level: float = 0.95) -> Iterator[dict[str, Any]]:
        grouped = GroupedTable(self.table, self.groups, self.answers)
        interval = self.interval(level)
        for group, of_group in enumerate(grouped.labels(self.groups)):
            for answer, of_answer in enumerate(grouped.labels(self.answers)):
                share = float(self.probabilities[group, answer])
                yield {
                    "answers": {**of_answer, **of_group},
                    "probability": share if math.isfinite(share) else None,
                    "constrained": float(self.constrained[group, answer]),
                    "standard_error": float(self.standard_errors[group, answer]),
                    "low": float(interval.low[group, answer]),
                    "high": float(interval.high[group, answer]),
                }

    def headline(self) -> str:
        asked, by = (" and ".join(a.name for a in attributes) for attributes in (self.answers, self.groups))
        return f"shares of {asked} within each {by}, from {self.table.n_reports:,} reports"

    def shown_rows(self) -> list[dict[str, Any]]:
        return [{**cell.pop("answers"), **cell} for cell in self.cells()]

    def __str__(self) -> str:
        return self.summary()


def _public_groups(
    groups: Sequence[Mean | None], shape: tuple[int, int], sampling: Sampling
) -> tuple[Array, Array, ShareLaw]:
    """Constrained shares, errors and the law within groups of known people; of nobody, nothing is known."""
    constrained, errors = np.full(shape, 1 / shape[1]), np.full(shape, np.inf)
    numbers = np.ones((3, *shape))
    for number, group in enumerate(groups):
        if group is not None:
            law = group.law(sampling)
            constrained[number] = floor_shares(project_on_simplex(group.probabilities)).reshape(-1)
            errors[number] = np.sqrt(group.variances(sampling)).reshape(-1)
            numbers[:, number] = [of.reshape(-1) for of in (law.constant, law.slope, law.curvature)]
    return constrained, errors, ShareLaw(numbers[0], numbers[1], numbers[2], respondents=sampling == "respondents")


def conditional_shares(table: TableEstimate, by: str | Sequence[str]) -> GivenEstimate:
    """The shares of the other attributes' answers within each answer of `by`."""
    grouped = GroupedTable.of(table, by)
    near = grouped.by_group(table.proper)
    constrained, gradients = shares_within(near)
    covariance = grouped.covariance()
    variances = np.einsum("gac,cd,gad->ga", gradients, covariance, gradients)
    cells = grouped.by_group(table.probabilities)
    totals = cells.sum(axis=1)
    of_totals = covariance.reshape(*near.shape, *near.shape).sum(axis=(1, 3)).diagonal()
    shares = np.divide(cells, totals[:, None], out=np.full_like(cells, np.nan), where=totals[:, None] > 0)
    errors, law = np.sqrt(np.maximum(variances, 0)), None
    public_means = table.within_public([attribute.name for attribute in grouped.groups])
    if public_means is not None:
        constrained, errors, law = _public_groups(public_means, (len(public_means), near.shape[1]), table.sampling)
    return GivenEstimate(
        table, grouped.groups, grouped.answers, shares, constrained, errors, table.n_reports * near.sum(axis=1),
        np.where(totals > 0, of_totals / np.maximum(totals**2, TINY), np.inf), law,
    )  # fmt: skip


@dataclass(frozen=True)
class GroupDifference:
    """How much more of one group than of another gives an answer, with its test against no difference.

    `difference` is that of the unbiased shares, which may leave 0 to 1, and `standard_error` is its error; `constrained` is
    the difference of shares within their intervals, so it lies between `low` and `high`.
    """

    answers: dict[str, str]
    against: dict[str, str]
    difference: float | None
    constrained: float | None
    standard_error: float
    low: float
    high: float
    p: float

    def to_document(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass(frozen=True)
class Independence:
    """A chi-square test that groups do not differ at all."""

    statistic: float
    degrees: int
    p: float
    warnings: tuple[str, ...]

    def to_document(self) -> dict[str, Any]:
        return {**vars(self), "warnings": list(self.warnings)}

    def __str__(self) -> str:
        return f"chi-square {self.statistic:.2f} with {self.degrees} degrees of freedom, p = {self.p:.3g}"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown):
    """Shares within groups, the differences between every two groups, and the test that there are none."""

    given: GivenEstimate
    differences: tuple[GroupDifference, ...]
    independence: Independence

    plotted = "difference"

    def headline(self) -> str:
        return f"differences between groups, {self.given.headline()}; {self.independence}"

    def shown_rows(self) -> list[dict[str, Any]]:
        return [
            {
                "answer": ", ".join(f"{name} = {value}" for name, value in difference.answers.items()),
                "against": ", ".join(difference.against.values()),
                **{
                    key: getattr(difference, key)
                    for key in ("difference", "constrained", "standard_error", "low", "high", "p")
                },
            }
            for difference in self.differences
        ]

    def __str__(self) -> str:
        return self.summary()


def compare(table: TableEstimate, by: str | Sequence[str], level: float = 0.95) -> Comparison:
    """The differences between every two groups of `by`, with standard errors, intervals and tests."""
    checked_level(level)
    grouped = GroupedTable.of(table, by)
    shares = conditional_shares(table, by)
    return Comparison(shares, tuple(_differences(grouped, shares, level)), _independence(grouped))


def _differences(grouped: GroupedTable, shares: GivenEstimate, level: float) -> Iterator[GroupDifference]:
    _, gradients = shares_within(grouped.by_group(grouped.table.proper))
    covariance = grouped.covariance()
    same = _product_of_margins(grouped)
    _, null_gradients = shares_within(same)
    null = grouped.covariance(same)
    cells, sizes = grouped.by_group(grouped.table.probabilities), same.sum(axis=1)
    totals = cells.sum(axis=1)
    interval = shares.interval(level)
    labels, answers = list(grouped.labels(grouped.groups)), list(grouped.labels(grouped.answers))
    for first, second in itertools.combinations(range(len(labels)), 2):
        for answer, said in enumerate(answers):
            first_gradient, second_gradient = gradients[first, answer], gradients[second, answer]
            errors = shares.standard_errors[[first, second], answer]
            together = float(first_gradient @ covariance @ second_gradient)
            correlation = together / max(float(errors.prod()), TINY)
            variance = max(float(errors @ errors) - 2 * together, 0.0)
            within, low, high = _difference_ends(
                shares, interval, (first, second, answer), min(max(correlation, -1), 1)
            )
            step = null_gradients[first, answer] - null_gradients[second, answer]
            unbiased = float(shares.probabilities[first, answer] - shares.probabilities[second, answer])
            is_estimable = math.isfinite(unbiased)
            spread = math.sqrt(max(float(step @ null @ step), TINY))
            # Multiplied out: a quotient by a group that seems smaller by chance than it is would seem to differ.
            crossed = float(cells[first, answer] * totals[second] - cells[second, answer] * totals[first])
            apart = abs(crossed) / max(float(sizes[first] * sizes[second]), TINY)
            yield GroupDifference(
                {**said, **labels[first]},
                labels[second],
                unbiased if is_estimable else None,
                within if is_estimable else None,
                math.sqrt(variance),
                low,
                high,
                math.erfc(apart / spread / math.sqrt(2)) if is_estimable else 1.0,
            )


def _difference_ends(
    given: GivenEstimate, interval: Interval, at: tuple[int, int, int], correlation: float
) -> tuple[float, float, float]:
    """The difference of shares within their own intervals, which know the edges, and its ends."""
    first, second, answer = at
    ends = [(float(interval.low[group, answer]), float(interval.high[group, answer])) for group in (first, second)]
    shares = [
        min(max(float(np.nan_to_num(given.probabilities[group, answer], nan=0.5)), low), high)
        for group, (low, high) in zip((first, second), ends, strict=True)
    ]
    low, high = difference_ends((shares[0], *ends[0]), (shares[1], *ends[1]), correlation)
    return shares[0] - shares[1], low, high


def difference_ends(
    one: tuple[float, float, float], other: tuple[float, float, float], correlation: float = 0.0
) -> tuple[float, float]:
    """The ends of the difference of two shares, each given with the ends of its own interval.

    Newcombe 1998; correlated: Zou 2007.
    """
    (share, low, high), (other_share, other_low, other_high) = one, other
    below = _together(share - low, other_high - other_share, correlation)
    above = _together(high - share, other_share - other_low, correlation)
    return max(share - other_share - below, -1.0), min(share - other_share + above, 1.0)


def _together(distance: float, other_distance: float, correlation: float) -> float:
    return math.sqrt(max(distance**2 + other_distance**2 - 2 * correlation * distance * other_distance, 0.0))


def _product_of_margins(grouped: GroupedTable) -> Array:
    """The distribution with the table's margins under which groups do not differ."""
    near = grouped.by_group(grouped.table.proper)
    return np.multiply.outer(near.sum(axis=1), near.sum(axis=0))


def independence(table: TableEstimate, of: str | Sequence[str] | None = None) -> Independence:
    """The test that the answers to `of` (the first attribute, if not said) do not depend on the others."""
    return _independence(GroupedTable.of(table, table.names[0] if of is None else of))


def _independence(grouped: GroupedTable) -> Independence:
    cells, same = grouped.by_group(grouped.table.probabilities), _product_of_margins(grouped)
    groups, answers = cells.shape
    excess = cells - np.multiply.outer(cells.sum(axis=1), cells.sum(axis=0))
    # Gradient of a cell less the product of its margins; the last group and answer follow from the others.
    of_group, of_answer = np.eye(groups), np.eye(answers)
    gradient = np.einsum("gh,ab->gahb", of_group, of_answer)
    gradient = gradient - np.einsum("gh,a->gah", of_group, same.sum(axis=0))[..., None]
    gradient = gradient - np.einsum("g,ab->gab", same.sum(axis=1), of_answer)[:, :, None, :]
    free_gradient = gradient[:-1, :-1].reshape((groups - 1) * (answers - 1), -1)
    spread = free_gradient @ grouped.covariance(same) @ free_gradient.T
    away = excess[:-1, :-1].reshape(-1)
    is_certain = float(np.abs(spread).max()) < TINY  # just the respondents, undisguised: any difference is one
    far = math.inf if np.abs(away).max() > 1e-12 else 0.0
    statistic = far if is_certain else max(float(away @ np.linalg.lstsq(spread, away, rcond=1e-10)[0]), 0.0)
    degrees = len(away)
    few = float(same.min()) * grouped.table.n_reports
    warnings = (
        (f"A cell holds {few:.1f} people if there is no difference, fewer than {FEWEST}: the test is rough.",)
        if few < FEWEST
        else ()
    )
    return Independence(statistic, degrees, float(chdtrc(degrees, statistic)), warnings)


def simultaneous_level(table: TableEstimate, level: float) -> float:
    """The level at which each cell's interval must hold so that all hold together with the chance `level`.

    By the distribution of the largest of the correlated errors, or by Bonferroni's inequality where that is kinder or
    the cells are too many.
    """
    checked_level(level)
    cells = table.probabilities.size
    bonferroni = 1 - (1 - level) / cells
    if cells > 256:
        return bonferroni
    covariance = table.covariance
    errors = np.sqrt(np.maximum(np.diag(covariance), TINY))
    values, vectors = np.linalg.eigh(covariance / np.multiply.outer(errors, errors))
    root = vectors * np.sqrt(np.maximum(values, 0))
    draws = np.random.default_rng(0).standard_normal((DRAWS, cells)) @ root.T
    reached = float(np.quantile(np.abs(draws).max(axis=1), level))
    return min(math.erf(reached / math.sqrt(2)), bonferroni)
