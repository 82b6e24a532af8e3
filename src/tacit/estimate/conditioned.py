"""Shares of people who meet a condition, broken down by further attributes: what a node of a tree is.

A conjunction is estimated by a product of one weight table per group (FORMULAS 1.1). Here the conjunction is fixed on some
attributes and free on others, and all cells of the free ones are computed at once from one tally.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from tacit.channel.protocol import Array
from tacit.count.protocol import Source
from tacit.estimate.inversion import checked_rows
from tacit.estimate.parts import Part, columns_of, parts_for

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
        return np.maximum(self.mean_squares - self.probabilities, 0) / self.n_reports

    @property
    def population_variance(self) -> Array:
        """Of people sampled at random and disguised."""
        return np.maximum(self.mean_squares - self.probabilities**2, 0) / max(self.n_reports - 1, 1)


@dataclass(frozen=True, eq=False)
class ConditionedTables:
    """Answers many such questions about one source, from one joint tally where that is small enough."""

    source: Source

    def __post_init__(self) -> None:
        checked_rows(self.source)

    @cached_property
    def _joint(self) -> NDArray[np.int64] | None:
        schema = self.source.engine.schema
        shape = [column.tally_size for column in schema]
        if any(column.shows != "one" for column in schema) or math.prod(shape) > JOINT_CELLS:
            return None
        return self.source.engine.tally(schema.names)

    def _tally(self, columns: Sequence[str]) -> Array:
        if self._joint is None:
            return self.source.engine.tally(columns).astype(np.float64)
        names = list(self.source.engine.schema.names)
        kept = [names.index(column) for column in columns]
        others = tuple(axis for axis in range(len(names)) if axis not in kept)
        order = [sorted(kept).index(axis) for axis in kept]
        return self._joint.sum(axis=others).transpose(order).astype(np.float64)

    def table(self, fixed: Masks, free: Sequence[str]) -> ConditionedTable:
        """Shares of people whose answers lie within the masks, by every combination of the free attributes."""
        parts = parts_for(self.source.questionnaire, [*fixed, *free])
        if any(self.source.engine.schema[column].shows != "one" for column in columns_of(parts)):
            return self._by_totals(parts, fixed, free)
        tally = self._tally(columns_of(parts)).reshape([math.prod(part.estimator.tally_shape) for part in parts])
        frequencies = tally / self.source.engine.n_rows
        weights = [_weights(part, fixed, free) for part in parts]
        p = reduce(_contracted, weights, frequencies)
        squares = reduce(_contracted, [table**2 for table in weights], frequencies)
        return ConditionedTable(_ordered(p, parts, free), _ordered(squares, parts, free), self.source.engine.n_rows)

    def _by_totals(self, parts: Sequence[Part], fixed: Masks, free: Sequence[str]) -> ConditionedTable:
        """Where reports show sets a tally does not hold the squares: one total per cell, all in one pass."""
        from tacit.estimate.conjunctions import weights_for

        sizes = [_size(parts, name) for name in free]
        cells = list(np.ndindex(*sizes))
        products = []
        for cell in cells:
            chosen = {name: np.arange(size) == code for name, size, code in zip(free, sizes, cell, strict=True)}
            products.append(weights_for(parts, {**fixed, **chosen}))
        totals = self.source.engine.totals(products)
        rows = self.source.engine.n_rows
        return ConditionedTable((totals.sums / rows).reshape(sizes), (totals.squares / rows).reshape(sizes), rows)


def _size(parts: Sequence[Part], name: str) -> int:
    part = next(part for part in parts if name in part.attributes)
    return part.estimator.shape[part.attributes.index(name)]


def _weights(part: Part, fixed: Masks, free: Sequence[str]) -> Array:
    """Weights of the part's reports, ``(tally cells, free cells)``: the inverse applied to every free cell's indicator."""
    indicators: Array = np.ones((1, 1))
    for name, size in zip(part.attributes, part.estimator.shape, strict=True):
        of_attribute = np.eye(size) if name in free else fixed[name].astype(np.float64)[:, None]
        indicators = np.kron(indicators, of_attribute).astype(np.float64)
    weights = part.estimator.solve_adjoint(indicators.reshape(*part.estimator.shape, -1), part.guess)
    return weights.reshape(math.prod(part.estimator.tally_shape), -1)


def _contracted(frequencies: Array, weights: Array) -> Array:
    """The first axis summed against weights; the free cells it gives go behind the others."""
    return np.tensordot(frequencies, weights, axes=(0, 0))


def _ordered(table: Array, parts: Sequence[Part], free: Sequence[str]) -> Array:
    there = [name for part in parts for name in part.attributes if name in free]
    shaped = table.reshape([_size(parts, name) for name in there])
    return shaped.transpose([there.index(name) for name in free])
