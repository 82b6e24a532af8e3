"""What a table of reports says of the truth by its likelihood: the counts, and the law that made them.

Where every report column shows one answer, the tally holds the whole reports, and their law is applied group by group.
A tally of sets or bits counts per member and forgets which came together; there the distinct whole reports are counted,
and the law has a row for each of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tacit.channel.base import Array
from tacit.channel.codes import MATRIX_ENTRIES, row_products
from tacit.count.abilities import distinct_rows
from tacit.count.protocol import Source
from tacit.errors import InvalidInput
from tacit.estimation.group_parts import Part, adjoint, apply, columns_of, parts_for
from tacit.table import Table


class Evidence(Protocol):
    """Counted reports, and the linear law from the distribution of the whole table to their expected shares."""

    @property
    def counts(self) -> Array: ...

    def expected(self, truth: Array) -> Array:
        """The chance of each counted report, if the whole table is `truth`."""

    def spread(self, weights: Array, ndim: int) -> Array:
        """Weights of reports, as weights of the cells of the whole table that give rise to them."""


@dataclass(frozen=True)
class CoveredAxes:
    """Where the axes that a source covers lie in the whole table."""

    order: tuple[int, ...]

    def marginal(self, truth: Array) -> Array:
        others = tuple(axis for axis in range(truth.ndim) if axis not in self.order)
        return truth.sum(axis=others).transpose(np.argsort(np.argsort(self.order)))

    def lift(self, cells: Array, ndim: int) -> Array:
        ordered = cells.transpose(np.argsort(self.order))
        return np.expand_dims(ordered, [axis for axis in range(ndim) if axis not in self.order])


@dataclass(frozen=True, eq=False)
class Tallied:
    """Reports that show one answer per column."""

    parts: tuple[Part, ...]
    counts: Array
    place: CoveredAxes

    def expected(self, truth: Array) -> Array:
        return apply(self.parts, self.place.marginal(truth))

    def spread(self, weights: Array, ndim: int) -> Array:
        return self.place.lift(adjoint(self.parts, weights), ndim)


@dataclass(frozen=True, eq=False)
class DistinctReports:
    """Distinct reports of which some column shows a set or bits: ``law[report, cell]``."""

    law: Array
    shape: tuple[int, ...]
    counts: Array
    place: CoveredAxes

    def expected(self, truth: Array) -> Array:
        return self.law @ self.place.marginal(truth).reshape(-1)

    def spread(self, weights: Array, ndim: int) -> Array:
        return self.place.lift((weights @ self.law).reshape(self.shape), ndim)


def gather_evidence(sources: Sequence[Source], names: Sequence[str]) -> tuple[list[str], list[Evidence]]:
    """The evidence about `names`, and the axes of its whole table: `names` and whatever else their groups cover."""
    covered = list(names)
    asking = []
    for source in sources:
        asked = [name for name in names if name in source.questionnaire.attributes]
        parts = tuple(parts_for(source.questionnaire, asked))
        covered.extend(name for group in parts for name in group.covered if name not in covered)
        asking.append((source, parts))
    return covered, [_evidence(source, parts, covered) for source, parts in asking]


def _evidence(source: Source, parts: tuple[Part, ...], covered: list[str]) -> Evidence:
    place = CoveredAxes(tuple(covered.index(name) for group in parts for name in group.covered))
    if all(group.shows_one for group in parts):
        return Tallied(parts, source.engine.tally(columns_of(parts)).astype(np.float64), place)
    table, counts = _distinct(source, parts)
    shape = tuple(size for group in parts for size in group.channel.shape)
    if len(counts) * math.prod(shape) > MATRIX_ENTRIES:
        raise InvalidInput(
            f"{len(counts):,} different reports that show sets, over {math.prod(shape):,} combinations of answers, are "
            f"too many for the likelihood: at most {MATRIX_ENTRIES:,} pairs are possible. Ask for fewer attributes, or "
            "use the inversion method; its projection onto the simplex is a proper distribution."
        )
    law = np.ones((len(counts), 1))
    for group in parts:
        law = row_products([law, group.channel.chances([table[name] for name in group.columns])])
    return DistinctReports(law, shape, counts, place)


def _distinct(source: Source, parts: Sequence[Part]) -> tuple[Table, Array]:
    """Each different report once, and how often it was sent."""
    table, counts = distinct_rows(source.engine, columns_of(parts))
    return table, counts.astype(np.float64)
