"""What the reports of one source contribute to the cells of a table: the tally form of the one estimator.

Whatever is asked of reports is the mean of one number per report, its contribution (FORMULAS 15). Here it depends on few
report columns, so their tally holds all that mean and covariance need. `mean.Mean` adds up sources.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.count.protocol import DENSE_CELLS, Source
from tacit.count.weighted import StoredGroups, WeightedTally
from tacit.errors import InvalidInput
from tacit.estimation.complex_samples import SampleDesign
from tacit.estimation.group_parts import (
    Part,
    adjoint,
    apply,
    attributes_of,
    columns_of,
    parts_for,
    solve,
    solve_adjoint,
    solve_pairs,
    solve_squares,
)
from tacit.estimation.intervals import ShareLaw
from tacit.estimation.result import Sampling
from tacit.estimation.simplex import floor_shares, project_on_simplex
from tacit.estimation.uncertainty import Expected, Moments, covered_truth, part_squares, share_law

# A covariance matrix beyond this many cells is not worth its memory (128 MB).
COVARIANCE_CELLS = 1 << 12


@dataclass(frozen=True, eq=False)
class TallyWeights:
    """The weights behind a tally of a complex sample: what is added of each key, which is a cluster or a stratum."""

    tally: WeightedTally
    design: SampleDesign  # without weights where the reports are stored
    of_keys: Array  # sum of the weights of each key
    squares: Array  # sum of squared weights of each stratum
    people: Array  # of each stratum
    repeated: Array | None = None  # the estimate under every repeat, where errors come from these

    @cached_property
    def total(self) -> float:
        return float(self.of_keys.sum())

    @cached_property
    def factors(self) -> Array:
        """What each stratum's variance is multiplied by."""
        sizes = self.people
        if self.design.has_clusters:
            sizes = np.bincount(self.design.stratum_of, minlength=self.design.n_strata).astype(np.float64)
        return self.design.variance_factors(sizes)

    @property
    def centring(self) -> Array:
        """What the sums of each stratum are multiplied by, to be taken off the products.

        Somebody alone in a stratum is compared with the mean of all, which is 0.
        """
        return np.sqrt(self.factors * np.where(self.people > 1, 1 / self.people, 0.0))

    @property
    def noise_share(self) -> float:
        """How much of one report's device variance stays, because the population is finite."""
        return float(self.design.sampled @ self.squares) / self.total**2


def everybody(sums: Array, shows_one: Sequence[bool]) -> Array:
    """Sums over all reports, by the last axis: the last slot of a set counts every report, so it alone is taken there."""
    chosen = sums[(*(slice(None) if is_single else -1 for is_single in shows_one), slice(None))]
    return chosen.sum(axis=tuple(range(sum(shows_one))))


@dataclass(frozen=True, eq=False)
class Contributions:
    """One source's contributions to the cells of a table, whose axes follow `names`, from the frequencies of its reports."""

    names: tuple[str, ...]
    parts: tuple[Part, ...]
    frequencies: Array  # the tally over the number of reports, or sums of weights over their total
    n_reports: int
    weights: TallyWeights | None = None  # of a complex sample

    @cached_property
    def _order(self) -> list[int]:
        there = attributes_of(self.parts)
        return [there.index(name) for name in self.names]

    @cached_property
    def mean(self) -> Array:
        """The unbiased estimate."""
        return solve(self.parts, self.frequencies).transpose(self._order)

    @cached_property
    def squares(self) -> Array:
        """Mean square of one report's contribution to each cell, as counted."""
        return solve_squares(self.parts, self.frequencies).transpose(self._order)

    @property
    def moments(self) -> Moments:
        return Moments(self.mean, self.squares, self.n_reports)

    def at(self, distribution: Array) -> Contributions:
        """The same table, had the reports been just as this distribution of `names` makes one expect."""
        expected = apply(self.parts, self._covered_distribution(distribution))
        return dataclasses.replace(self, frequencies=expected)

    def _covered_distribution(self, distribution: Array) -> Array:
        return covered_truth(self.parts, self.frequencies, distribution.transpose(np.argsort(self._order)))

    def law(self, proper: Contributions, sampling: Sampling) -> ShareLaw:
        """How the variance of each cell depends on its share; `proper` is this table at a distribution near the estimate."""
        each = part_squares(self.parts, self._covered_distribution(proper.mean))
        mean, square = solve(self.parts, self.frequencies), solve_squares(self.parts, self.frequencies)
        near = self._expected_moments(proper)
        law = share_law(each, mean, square, self.n_reports, near, respondents=sampling == "respondents")
        return law.transpose(self._order)

    def _expected_moments(self, proper: Contributions) -> Expected:
        """What a proper distribution makes one expect, axes in the order of the parts."""
        share, square = (solve_any(self.parts, proper.frequencies) for solve_any in (solve, solve_squares))
        clear = {name for group in self.parts if group.channel.is_clear for name in group.attributes}
        disguised = tuple(axis for axis, name in enumerate(attributes_of(self.parts)) if name not in clear)
        return Expected(share, square, np.broadcast_to(share.sum(axis=disguised, keepdims=True), share.shape))

    @cached_property
    def products(self) -> Array:
        """Mean product of one report's contributions to each two cells, both in the order of `names`, as counted."""
        checked_covariance(self.mean.size)
        return self._pairs_in_order(solve_pairs(self.parts, self.frequencies))

    def _pairs_in_order(self, pairs: Array) -> Array:
        """A table of pairs of cells, from the order of the parts to that of `names`."""
        shape = self.mean.shape
        there = [shape[self._order.index(axis)] for axis in range(len(shape))]
        pairs = pairs.reshape(*there, *there)
        order = [*self._order, *(axis + len(shape) for axis in self._order)]
        return pairs.transpose(order).reshape(self.mean.size, -1)

    def covariance(self, sampling: Sampling) -> Array:
        """Covariance of the cells, by the frequencies as they are."""
        p = self.mean.reshape(-1)
        without_disguise = np.diag(p) if sampling == "respondents" else np.multiply.outer(p, p)
        return (self.products - without_disguise) / self.n_reports

    @property
    def shows_one(self) -> bool:
        """Whether no report column shows a set or bits, so that the tally holds whole reports."""
        return all(group.shows_one for group in self.parts)

    def combined_squares(self, weights: Array) -> Array:
        """Mean square of one report's contribution to weighted sums of cells, ``weights[sum, cell]``.

        Only where the tally holds whole reports: elsewhere the square of a sum needs `products`.
        """
        return self._contributions(weights).reshape(len(weights), -1) ** 2 @ self.frequencies.reshape(-1)

    def _contributions(self, weights: Array) -> Array:
        """What each report contributes to weighted sums of cells: ``(sums, *tally)``."""
        cells = weights.T.reshape(*self.mean.shape, len(weights))
        ordered = cells.transpose(*np.argsort(self._order), cells.ndim - 1)
        return solve_adjoint(self.parts, ordered)

    def squares_given(self, weights: Array) -> Array:
        """`combined_squares` for the people of each cell, ``(sums, cells)``; other attributes go as they do for all."""
        squares = np.moveaxis(self._contributions(weights) ** 2, 0, -1)
        truth = self._covered_distribution(self.mean)
        others = self._axes_beside
        given = (adjoint(self.parts, squares) * truth).sum(axis=tuple(axis + 1 for axis in others))
        given = given / truth.sum(axis=others)
        return given.transpose(0, *(axis + 1 for axis in self._order)).reshape(len(weights), -1)

    @cached_property
    def _axes_beside(self) -> tuple[int, ...]:
        """The axes of attributes that the parts' channels cover beside those of `names`."""
        covered = [name for group in self.parts for name in group.covered]
        return tuple(axis for axis, name in enumerate(covered) if name not in self.names)

    @property
    def possible(self) -> NDArray[np.bool_]:
        """The cells that routing does not rule out."""
        reported = adjoint(self.parts, np.ones(self.frequencies.shape)).max(axis=self._axes_beside)
        return np.asarray(reported).transpose(self._order) > 0

    # Of a complex sample: what each cluster, or each person, adds to the weighted mean.

    def key_totals(self) -> Array:
        """Centred weighted contributions of each cluster, or stratum where people are the clusters: ``[key, cell]``."""
        assert self.weights is not None, "only reports of a complex sample have keys"
        sums = self._cells_behind(solve(self.parts, self.weights.tally.sums))
        return (sums - np.multiply.outer(self.weights.of_keys, self.mean.reshape(-1))) / self.weights.total

    def _cells_behind(self, solved: Array) -> Array:
        """Cells in the order of `names`, one row for each of the further axis, which came first."""
        return solved.transpose(0, *(axis + 1 for axis in self._order)).reshape(len(solved), -1)

    def weighted_squares(self, *, pairs: bool) -> Array:
        """Sums over people of their squared centred contributions to each cell, or of the products for each two cells."""
        assert self.weights is not None, "only reports of a complex sample have weights"
        weights, p, multiply = self.weights, self.mean.reshape(-1), np.multiply.outer if pairs else np.multiply
        folded = (weights.tally.squares * weights.factors).sum(axis=-1)
        first = self._cells_behind(solve(self.parts, folded[..., None]))[0]
        if pairs:
            second = self._pairs_in_order(solve_pairs(self.parts, folded))
        else:
            second = self._cells_behind(solve_squares(self.parts, folded[..., None]))[0]
        centred = (
            second - multiply(p, first) - multiply(first, p) + multiply(p, p) * (weights.factors @ weights.squares)
        )
        return centred / weights.total**2

    def within_public(self, names: Sequence[str]) -> Iterator[Contributions | None]:
        """What the people of each combination of public answers contribute to the other attributes; None for nobody.

        A public answer is a map without noise: whoever gives it is known, so they are a sample of their own.
        """
        rest = tuple(question for question in self.parts if not set(question.attributes) & set(names))
        there = columns_of(self.parts)
        axes = [there.index(name) for name in names]
        tally = np.moveaxis(self.frequencies, axes, range(len(axes)))
        others = tuple(name for name in self.names if name not in names)
        shows_one = [question.shows_one for question in rest for _ in question.columns]
        for group in np.ndindex(tally.shape[: len(axes)]):
            share = float(everybody(tally[group][..., None], shows_one)[0])
            people = round(share * self.n_reports)
            yield Contributions(others, rest, tally[group] / share, people) if people else None

    def mean_under(self, sums: Array) -> Array:
        """The cells that other sums of weights, by report, would give."""
        total = everybody(sums[..., None], [group.shows_one for group in self.parts for _ in group.columns])
        return dataclasses.replace(self, frequencies=sums / total[0]).mean.reshape(-1)


def counted_contributions(source: Source, names: Sequence[str]) -> Contributions:
    """What the reports of one source contribute to a table over `names`."""
    parts = asked_parts(source, names)
    counts = source.engine.tally(columns_of(parts))
    return Contributions(tuple(names), parts, counts / source.engine.n_rows, source.engine.n_rows)


def asked_parts(source: Source, names: Sequence[str]) -> tuple[Part, ...]:
    """The groups that tell of `names`, each with the guess at which its estimator is most precise."""
    nonempty_sources([source])
    return tuple(with_guess(source, group) for group in parts_for(source.questionnaire, names))


def tallied_columns(source: Source, tables: Sequence[Sequence[str]]) -> list[list[str]]:
    """The columns whose tallies the estimates of these tables need from a source."""
    wanted: list[list[str]] = []
    for names in tables:
        parts = parts_for(source.questionnaire, [name for name in names if name in source.questionnaire.attributes])
        columns = columns_of(parts)
        cells = math.prod(source.engine.schema[name].tally_size for name in columns)
        if columns and cells <= DENSE_CELLS:  # what is too large is refused where it is estimated
            wanted += [columns, *(list(group.columns) for group in parts if group.channel.has_choice)]
    return wanted


def nonempty_sources(sources: Sequence[Source]) -> list[Source]:
    """The sources that hold any reports; refused if none does."""
    origins = [source for source in sources if source.engine.n_rows]
    if not origins:
        raise InvalidInput("There are no reports to estimate from.")
    return origins


def checked_covariance(cells: int) -> None:
    if cells > COVARIANCE_CELLS:
        raise InvalidInput(
            f"The covariance of {cells:,} cells is too large to hold; at most {COVARIANCE_CELLS:,} cells are possible. "
            "Ask for fewer attributes; standard errors are there beyond it."
        )


def with_guess(source: Source, group: Part) -> Part:
    """Where there are more reports than truths, weigh them as the first estimate of the group suggests.

    Step one weighs by the prior that the design assumed, else by a uniform truth; step two by the step-one estimate on
    the simplex. Further steps gain nothing.
    """
    if not group.channel.has_choice:
        return group
    frequencies = _frequencies(source, group)
    first = group.channel.solve(frequencies, _prior(source, group))
    return dataclasses.replace(group, guess=floor_shares(project_on_simplex(first)))


def _frequencies(source: Source, group: Part) -> Array:
    """How often each report of a group was sent, by the weights of who sent it where these are kept."""
    if not hasattr(source.engine, "weighted_groups"):
        return source.engine.tally(group.columns) / source.engine.n_rows
    groups: StoredGroups = source.engine.weighted_groups(group.columns)
    sums = np.bincount(groups.cells, groups.sums, math.prod(group.channel.tally_shape)).astype(np.float64)
    return (sums / sums.sum()).reshape(group.channel.tally_shape)


def _prior(source: Source, group: Part) -> Array | None:
    """The stated prior of a group: its joint one, or the product of its attributes' (uniform where none is stated)."""
    stated = source.prior or {}
    shape = group.channel.shape
    joint = stated.get("+".join(group.covered))
    if joint is not None:
        return floor_shares(np.array(joint).reshape(shape))
    if not any(name in stated for name in group.covered):
        return None
    guess: Array = np.ones(())
    for name, size in zip(group.covered, shape, strict=True):
        guess = np.multiply.outer(guess, np.array(stated.get(name, [1 / size] * size)))
    return floor_shares(guess)
