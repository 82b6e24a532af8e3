"""Unbiased estimates from the tally of one table of reports, with their errors."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.channel.protocol import Array
from tacit.count.protocol import Source
from tacit.errors import InvalidInput
from tacit.estimation.parts import (
    Part,
    attributes_of,
    columns_of,
    parts_for,
    solve,
    solve_adjoint,
    solve_pairs,
    solve_squares,
)
from tacit.estimation.result import Sampling
from tacit.estimation.simplex import floored, projected

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

    @cached_property
    def probabilities(self) -> Array:
        return solve(self.parts, self.frequencies).transpose(self._order)

    @cached_property
    def mean_squares(self) -> Array:
        return solve_squares(self.parts, self.frequencies).transpose(self._order)

    def variances(self, sampling: Sampling) -> Array:
        """Of a sample from a population, or of the disguise alone for the people who answered."""
        if sampling == "respondents":
            return np.maximum(self.mean_squares - self.probabilities, 0) / self.n_reports
        return np.maximum(self.mean_squares - self.probabilities**2, 0) / max(self.n_reports - 1, 1)

    def mean_products(self) -> Array:
        """Mean product of one report's contributions to each two cells, both in the order of `names`."""
        shape = self.probabilities.shape
        checked_covariance(self.probabilities.size)
        there = [shape[self._order.index(axis)] for axis in range(len(shape))]
        pairs = solve_pairs(self.parts, self.frequencies).reshape(*there, *there)
        order = [*self._order, *(axis + len(shape) for axis in self._order)]
        return pairs.transpose(order).reshape(self.probabilities.size, -1)

    def covariance(self, sampling: Sampling) -> Array:
        p = self.probabilities.reshape(-1)
        if sampling == "respondents":
            return (self.mean_products() - np.diag(p)) / self.n_reports
        return (self.mean_products() - np.multiply.outer(p, p)) / max(self.n_reports - 1, 1)

    @property
    def shows_one(self) -> bool:
        """Whether no report column shows a set or bits, so that the tally holds whole reports."""
        return all(part.shows_one for part in self.parts)

    def combined_squares(self, weights: Array) -> Array:
        """Mean square of one report's contribution to weighted sums of cells, ``weights[sum, cell]``.

        Only where the tally holds whole reports: elsewhere the square of a sum needs `mean_products`.
        """
        cells = weights.T.reshape(*self.probabilities.shape, len(weights))
        ordered = cells.transpose(*np.argsort(self._order), cells.ndim - 1)
        contributions = solve_adjoint(self.parts, ordered).reshape(len(weights), -1)
        return contributions**2 @ self.frequencies.reshape(-1)


def inverted(source: Source, names: Sequence[str]) -> Inverted:
    """The estimate of a table over `names` from one source."""
    checked_rows(source)
    parts = [with_guess(source, part) for part in parts_for(source.questionnaire, names)]
    counts = source.engine.tally(columns_of(parts))
    return Inverted(tuple(names), tuple(parts), counts / source.engine.n_rows, source.engine.n_rows)


def filled(sources: Sequence[Source]) -> list[Source]:
    """The sources that hold any reports; refused if none does."""
    found = [source for source in sources if source.engine.n_rows]
    if not found:
        raise InvalidInput("There are no reports to estimate from.")
    return found


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
