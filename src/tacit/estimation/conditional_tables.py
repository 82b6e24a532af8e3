"""Shares of people who meet a condition, broken down by further attributes: what a node of a tree is.

A conjunction is estimated by a product of one weight table per group. Here the conjunction is fixed on some
attributes and free on others, and all cells of the free ones are computed at once from one tally.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.count.protocol import Product, Source
from tacit.estimation.conjunctions import weights_for
from tacit.estimation.group_parts import Part, columns_of, parts_for
from tacit.estimation.inversion import checked_rows, with_guess
from tacit.estimation.uncertainty import Moments

Masks = Mapping[str, NDArray[np.bool_]]

# A joint tally up to this size is counted once and summed for every question about it.
JOINT_CELLS = 1 << 20


@dataclass(frozen=True, eq=False)
class ConditionedTable:
    """Estimated shares of all people, one axis per free attribute; `mean_squares` are of one report's contribution."""

    probabilities: Array
    mean_squares: Array
    n_reports: int

    @property
    def respondents_variance(self) -> Array:
        """Of the disguise alone, for just the people who answered: zero where nothing is disguised."""
        return Moments(self.probabilities, self.mean_squares, self.n_reports).variance("respondents")

    @property
    def population_variance(self) -> Array:
        """Of people sampled at random and disguised."""
        return Moments.counted(self.probabilities, self.mean_squares, self.n_reports).variance()


@dataclass(frozen=True, eq=False)
class ConditionedTables:
    """Answers many such questions about one source, from one joint tally where that is small enough."""

    source: Source

    def __post_init__(self) -> None:
        checked_rows(self.source)

    @cached_property
    def _parts(self) -> list[Part]:
        """Every group, weighed as the estimate of the whole table weighs it."""
        every = parts_for(self.source.questionnaire, self.source.questionnaire.attributes)
        return [with_guess(self.source, part) for part in every]

    @cached_property
    def _joint(self) -> Array | None:
        """Frequencies of all reports, one axis per group."""
        schema = self.source.engine.schema
        shape = [column.tally_size for column in schema]
        if any(column.shows != "one" for column in schema) or math.prod(shape) > JOINT_CELLS:
            return None
        tally = self.source.engine.tally(columns_of(self._parts)) / self.source.engine.n_rows
        return tally.reshape([math.prod(part.estimator.tally_shape) for part in self._parts])

    def table(self, fixed: Masks, free: Sequence[str]) -> ConditionedTable:
        """Shares of people whose answers lie within the masks, by every combination of the free attributes."""
        return self.tables(fixed, [free])[0]

    def tables(self, fixed: Masks, free: Sequence[Sequence[str]]) -> list[ConditionedTable]:
        """Several such tables; reports that are not held as one tally are gone through once."""
        if self._joint is None:
            return self._by_totals(fixed, free)
        return [self._contracted(self._joint, fixed, names) for names in free]

    def _contracted(self, joint: Array, fixed: Masks, free: Sequence[str]) -> ConditionedTable:
        wanted = {*fixed, *free}
        weights = [_weights(part, fixed, free) if wanted & set(part.attributes) else None for part in self._parts]
        squares = [None if table is None else table**2 for table in weights]
        p, mean_squares = reduce(_summed, weights, joint), reduce(_summed, squares, joint)
        rows = self.source.engine.n_rows
        return ConditionedTable(_ordered(p, self._parts, free), _ordered(mean_squares, self._parts, free), rows)

    def _by_totals(self, fixed: Masks, free: Sequence[Sequence[str]]) -> list[ConditionedTable]:
        """Where no tally holds the squares: one total per cell, all in one pass."""
        if not free:
            return []
        products: list[Product] = []
        shapes = []
        for names in free:
            parts = parts_for(self.source.questionnaire, [*fixed, *names])
            shapes.append([_size(parts, name) for name in names])
            for cell in np.ndindex(*shapes[-1]):
                sizes = zip(names, shapes[-1], cell, strict=True)
                chosen = {name: np.arange(size) == code for name, size, code in sizes}
                products.append(weights_for(parts, {**fixed, **chosen}))
        totals = self.source.engine.totals(products)
        rows, ends = self.source.engine.n_rows, np.cumsum([math.prod(shape) for shape in shapes])[:-1]
        found = zip(np.split(totals.sums / rows, ends), np.split(totals.squares / rows, ends), shapes, strict=True)
        return [ConditionedTable(p.reshape(shape), squares.reshape(shape), rows) for p, squares, shape in found]


def _size(parts: Sequence[Part], name: str) -> int:
    part = next(part for part in parts if name in part.attributes)
    return part.estimator.shape[part.attributes.index(name)]


def _weights(part: Part, fixed: Masks, free: Sequence[str]) -> Array:
    """Weights of the part's reports, ``(tally cells, free cells)``: the inverse applied to every free cell's indicator."""
    indicators: Array = np.ones((1, 1))
    for name, size in zip(part.attributes, part.estimator.shape, strict=True):
        within = fixed.get(name, np.ones(size, dtype=np.bool_))
        of_attribute = np.diag(within.astype(np.float64)) if name in free else within.astype(np.float64)[:, None]
        indicators = np.kron(indicators, of_attribute).astype(np.float64)
    weights = part.estimator.solve_adjoint(indicators.reshape(*part.estimator.shape, -1), part.guess)
    return weights.reshape(math.prod(part.estimator.tally_shape), -1)


def _summed(frequencies: Array, weights: Array | None) -> Array:
    """The first axis summed, against weights where there are some; the free cells they give go behind the others."""
    if weights is None:
        return frequencies.sum(axis=0)[..., None]
    return np.tensordot(frequencies, weights, axes=(0, 0))


def _ordered(table: Array, parts: Sequence[Part], free: Sequence[str]) -> Array:
    there = [name for part in parts for name in part.attributes if name in free]
    shaped = table.reshape([_size(parts, name) for name in there])
    return shaped.transpose([there.index(name) for name in free])
