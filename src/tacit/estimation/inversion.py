"""Unbiased estimates from the tally of one table of reports, with their errors."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.count.protocol import DENSE_CELLS, Source
from tacit.errors import InvalidInput
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
from tacit.estimation.simplex import floored, projected
from tacit.estimation.uncertainty import Expected, Moments, covered_truth, part_squares, share_law

# A covariance matrix beyond this many cells is not worth its memory (128 MB).
COVARIANCE_CELLS = 1 << 12


@dataclass(frozen=True, eq=False)
class Inverted:
    """One source's estimate of a table; its axes follow `names`."""

    names: tuple[str, ...]
    parts: tuple[Part, ...]
    frequencies: Array  # the tally over the number of reports
    n_reports: int

    @cached_property
    def _order(self) -> list[int]:
        there = attributes_of(self.parts)
        return [there.index(name) for name in self.names]

    @property
    def axis_order(self) -> list[int]:
        """Where the axes of `names` stand among those of the parts."""
        return self._order

    @cached_property
    def probabilities(self) -> Array:
        return solve(self.parts, self.frequencies).transpose(self._order)

    @cached_property
    def mean_squares(self) -> Array:
        """Mean square of one report's contribution to each cell, as counted."""
        return solve_squares(self.parts, self.frequencies).transpose(self._order)

    def at(self, distribution: Array) -> Inverted:
        """The same table, had the reports been just as this distribution of `names` makes one expect."""
        expected = apply(self.parts, self._covered(distribution))
        return dataclasses.replace(self, frequencies=expected)

    def _covered(self, distribution: Array) -> Array:
        return covered_truth(self.parts, self.frequencies, distribution.transpose(np.argsort(self._order)))

    @cached_property
    def proper(self) -> Inverted:
        """The table at a proper distribution near the estimate: errors are those of the channels there."""
        return self.at(floored(projected(self.probabilities)))

    def variances(self, sampling: Sampling) -> Array:
        """Variances of the cells: of a sample from a population, or of the disguise alone for those who answered."""
        at = self.proper
        return Moments(at.probabilities, at.mean_squares, self.n_reports).variance(sampling)

    def law(self, sampling: Sampling) -> ShareLaw:
        """How the variance of each cell depends on its share."""
        each = part_squares(self.parts, self._covered(self.proper.probabilities))
        mean, square = solve(self.parts, self.frequencies), solve_squares(self.parts, self.frequencies)
        law = share_law(each, mean, square, self.n_reports, self._near, respondents=sampling == "respondents")
        return law.transposed(self._order)

    @property
    def _near(self) -> Expected:
        """At a proper distribution near the estimate, axes in the order of the parts."""
        share, square = (solve_any(self.parts, self.proper.frequencies) for solve_any in (solve, solve_squares))
        clear = {name for part in self.parts if part.channel.is_clear for name in part.attributes}
        disguised = tuple(axis for axis, name in enumerate(attributes_of(self.parts)) if name not in clear)
        return Expected(share, square, np.broadcast_to(share.sum(axis=disguised, keepdims=True), share.shape))

    def mean_products(self) -> Array:
        """Mean product of one report's contributions to each two cells, both in the order of `names`, as counted."""
        checked_covariance(self.probabilities.size)
        return self.in_order(solve_pairs(self.parts, self.frequencies))

    def in_order(self, pairs: Array) -> Array:
        """A table of pairs of cells, from the order of the parts to that of `names`."""
        shape = self.probabilities.shape
        there = [shape[self._order.index(axis)] for axis in range(len(shape))]
        pairs = pairs.reshape(*there, *there)
        order = [*self._order, *(axis + len(shape) for axis in self._order)]
        return pairs.transpose(order).reshape(self.probabilities.size, -1)

    def covariance(self, sampling: Sampling, distribution: Array | None = None) -> Array:
        """Covariance of the cells, at a proper distribution near the estimate or at a given one."""
        at = self.proper if distribution is None else self.at(distribution)
        p = at.probabilities.reshape(-1)
        known = np.diag(p) if sampling == "respondents" else np.multiply.outer(p, p)
        return (at.mean_products() - known) / self.n_reports

    @property
    def shows_one(self) -> bool:
        """Whether no report column shows a set or bits, so that the tally holds whole reports."""
        return all(part.shows_one for part in self.parts)

    def combined_squares(self, weights: Array) -> Array:
        """Mean square of one report's contribution to weighted sums of cells, ``weights[sum, cell]``.

        Only where the tally holds whole reports: elsewhere the square of a sum needs `mean_products`.
        """
        return self._contributions(weights).reshape(len(weights), -1) ** 2 @ self.frequencies.reshape(-1)

    def _contributions(self, weights: Array) -> Array:
        """What each report contributes to weighted sums of cells: ``(sums, *tally)``."""
        cells = weights.T.reshape(*self.probabilities.shape, len(weights))
        ordered = cells.transpose(*np.argsort(self._order), cells.ndim - 1)
        return solve_adjoint(self.parts, ordered)

    def squares_given(self, weights: Array) -> Array:
        """`combined_squares` for the people of each cell, ``(sums, cells)``; other attributes go as they do for all."""
        squares = np.moveaxis(self._contributions(weights) ** 2, 0, -1)
        truth = self._covered(self.probabilities)
        others = self._unasked
        given = (adjoint(self.parts, squares) * truth).sum(axis=tuple(axis + 1 for axis in others))
        given = given / truth.sum(axis=others)
        return given.transpose(0, *(axis + 1 for axis in self._order)).reshape(len(weights), -1)

    @cached_property
    def _unasked(self) -> tuple[int, ...]:
        """The axes of attributes that the parts' channels cover beside those of `names`."""
        covered = [name for part in self.parts for name in part.covered]
        return tuple(axis for axis, name in enumerate(covered) if name not in self.names)

    @property
    def possible(self) -> NDArray[np.bool_]:
        """The cells that routing does not rule out."""
        reported = adjoint(self.parts, np.ones(self.frequencies.shape)).max(axis=self._unasked)
        return np.asarray(reported).transpose(self._order) > 0


def inverted(source: Source, names: Sequence[str]) -> Inverted:
    """The estimate of a table over `names` from one source."""
    checked_rows(source)
    parts = [with_guess(source, part) for part in parts_for(source.questionnaire, names)]
    counts = source.engine.tally(columns_of(parts))
    return Inverted(tuple(names), tuple(parts), counts / source.engine.n_rows, source.engine.n_rows)


def tallied_columns(source: Source, tables: Sequence[Sequence[str]]) -> list[list[str]]:
    """The columns whose tallies the estimates of these tables need from a source."""
    wanted: list[list[str]] = []
    for names in tables:
        parts = parts_for(source.questionnaire, [name for name in names if name in source.questionnaire.attributes])
        columns = columns_of(parts)
        cells = math.prod(source.engine.schema[name].tally_size for name in columns)
        if columns and cells <= DENSE_CELLS:  # what is too large is refused where it is estimated
            wanted += [columns, *(list(part.columns) for part in parts if part.channel.has_choice)]
    return wanted


def filled(sources: Sequence[Source]) -> list[Source]:
    """The sources that hold any reports; refused if none does."""
    origins = [source for source in sources if source.engine.n_rows]
    if not origins:
        raise InvalidInput("There are no reports to estimate from.")
    return origins


def checked_rows(source: Source) -> None:
    filled([source])


def checked_covariance(cells: int) -> None:
    if cells > COVARIANCE_CELLS:
        raise InvalidInput(
            f"The covariance of {cells:,} cells is too large to hold; at most {COVARIANCE_CELLS:,} cells are possible. "
            "Ask for fewer attributes; standard errors are there beyond it."
        )


def with_guess(source: Source, part: Part) -> Part:
    """Where there are more reports than truths, weigh them as the first estimate of the group suggests.

    Step one weighs by the prior that the design assumed, else by a uniform truth; step two by the step-one estimate on
    the simplex. Further steps gain nothing.
    """
    if not part.channel.has_choice:
        return part
    frequencies = source.engine.tally(part.columns) / source.engine.n_rows
    first = part.channel.solve(frequencies, _prior(source, part))
    return dataclasses.replace(part, guess=floored(projected(first)))


def _prior(source: Source, part: Part) -> Array | None:
    """The stated prior of a group: its joint one, or the product of its attributes' (uniform where none is stated)."""
    stated = source.prior or {}
    shape = part.channel.shape
    joint = stated.get("+".join(part.covered))
    if joint is not None:
        return floored(np.array(joint).reshape(shape))
    if not any(name in stated for name in part.covered):
        return None
    guess: Array = np.ones(())
    for name, size in zip(part.covered, shape, strict=True):
        guess = np.multiply.outer(guess, np.array(stated.get(name, [1 / size] * size)))
    return floored(guess)
