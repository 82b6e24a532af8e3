"""One estimate from several tables: questionnaires of a split survey, schemes side by side, clear and disguised records.

A table over attributes L is the sum of its interactions: for every set S of attributes the part of the S-marginal that
its own margins do not explain. Each source estimates the interactions of what it asks; for every S the sources' estimates
are averaged with weights that are proportional to their information about it. The weights are computed
for a uniform truth, not from the data, so the pooled estimate stays unbiased.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.channel.protocol import Array
from tacit.count.protocol import Source
from tacit.errors import InvalidInput, NotEstimable
from tacit.estimation.information import Names, information, interactions
from tacit.estimation.inversion import COVARIANCE_CELLS, Inverted, checked_covariance, filled, inverted
from tacit.estimation.parts import parts_for

MOST_POOLED = 12  # attributes: 2**12 interactions
POOLED_CELLS = 1 << 14  # of one source's table; the work grows with its square
BLOCK_ENTRIES = 1 << 22  # of a weighing matrix at a time: 32 MB


@dataclass(frozen=True, eq=False)
class Contribution:
    """What one source adds to a pooled table: its weighted interactions.

    They are a linear map of its own table whose entry for two cells depends only on the attributes in which the cells
    agree; `by_agreement` has an axis of length 2 per attribute, 1 standing for "agree".
    """

    table: Inverted
    by_agreement: Array

    @classmethod
    def of(cls, table: Inverted, weights: dict[Names, float], others: int) -> Contribution:
        """`others` is the number of joint answers of the wanted attributes that the source does not ask."""
        values = np.zeros((2,) * len(table.names))
        for interaction, weight in weights.items():
            values[tuple(int(name in interaction) for name in table.names)] = weight
        for axis, size in enumerate(table.probabilities.shape):
            # Outside the interaction an even spread; inside, the deviation from the mean along this axis.
            step = np.array([[1 / size, -1 / size], [1 / size, 1 - 1 / size]])
            values = np.moveaxis(np.tensordot(step, values, axes=(1, axis)), 0, axis)
        return cls(table, values / others)

    def _blocks(self) -> Iterator[Array]:
        """Consecutive rows of the map."""
        shape, size = self.table.probabilities.shape, self.table.probabilities.size
        codes = np.unravel_index(np.arange(size), shape)
        rows = max(1, BLOCK_ENTRIES // size)
        for start in range(0, size, rows):
            agreement = np.zeros((len(range(start, min(start + rows, size))), size), dtype=np.uint16)
            for column in codes:
                agreement <<= 1
                agreement |= column[start : start + rows, None] == column[None, :]
            yield self.by_agreement.reshape(-1)[agreement]

    @cached_property
    def _moments(self) -> tuple[Array, Array]:
        """Means of one report's contributions to each cell, and of their squares."""
        means, squares = [], []
        products = None if self.table.shows_one else self.table.mean_products()
        for rows in self._blocks():
            means.append(rows @ self.table.probabilities.reshape(-1))
            combined = self.table.combined_squares(rows) if products is None else _diagonal(rows, products)
            squares.append(combined)
        shape = self.table.probabilities.shape
        return np.concatenate(means).reshape(shape), np.concatenate(squares).reshape(shape)

    @property
    def probabilities(self) -> Array:
        return self._moments[0]

    @property
    def variances(self) -> Array:
        means, squares = self._moments
        return np.maximum(squares - means**2, 0) / max(self.table.n_reports - 1, 1)

    @property
    def covariance(self) -> Array:
        rows = np.concatenate(list(self._blocks()))
        return rows @ self.table.covariance("population") @ rows.T


def _diagonal(rows: Array, products: Array) -> Array:
    """Of ``rows @ products @ rows.T``."""
    return np.einsum("sc,sc->s", rows @ products, rows)


@dataclass(frozen=True, eq=False)
class Pooled:
    """The pooled estimate; the sources are independent, and their errors mean sampling from a population."""

    names: Names
    shape: tuple[int, ...]
    contributions: tuple[Contribution, ...]

    @property
    def n_reports(self) -> int:
        return sum(contribution.table.n_reports for contribution in self.contributions)

    def _spread(self, contribution: Contribution) -> tuple[int, ...]:
        """The wanted shape, with 1 for what the source does not ask."""
        asked = contribution.table.names
        return tuple(size if name in asked else 1 for name, size in zip(self.names, self.shape, strict=True))

    @cached_property
    def probabilities(self) -> Array:
        table = np.full(self.shape, 1 / math.prod(self.shape))
        for contribution in self.contributions:
            table += contribution.probabilities.reshape(self._spread(contribution))
        return table

    @cached_property
    def variances(self) -> Array:
        table = np.zeros(self.shape)
        for contribution in self.contributions:
            table += contribution.variances.reshape(self._spread(contribution))
        return table

    @property
    def covariance(self) -> Array:
        cells = math.prod(self.shape)
        checked_covariance(cells)
        table = np.zeros(self.shape + self.shape)
        for contribution in self.contributions:
            table += contribution.covariance.reshape(self._spread(contribution) * 2)
        return table.reshape(cells, cells)


def pooled(sources: Sequence[Source], names: Sequence[str], shape: tuple[int, ...]) -> Pooled:
    """The estimate of a table from every source that asks some of its attributes."""
    wanted = tuple(names)
    if len(wanted) > MOST_POOLED:
        raise InvalidInput(f"At most {MOST_POOLED} attributes can be pooled at once, not {len(wanted)}. Ask for fewer.")
    found = filled(sources)
    asked = [_estimable(source, wanted) for source in found]
    shares = _shares(found, asked, wanted)
    contributions = []
    for source, mine, weights in zip(found, asked, shares, strict=True):
        if weights:
            table = _checked_size(inverted(source, mine))
            others = math.prod(size for name, size in zip(wanted, shape, strict=True) if name not in mine)
            contributions.append(Contribution.of(table, weights, others))
    return Pooled(wanted, shape, tuple(contributions))


def _estimable(source: Source, wanted: Names) -> Names:
    """The wanted attributes that a source asks through channels which tell of them."""
    asked = [name for name in wanted if name in source.questionnaire.attributes]
    telling = [part for part in parts_for(source.questionnaire, asked) if part.estimator.is_invertible()]
    return tuple(name for name in asked if any(name in part.attributes for part in telling))


def _shares(sources: Sequence[Source], asked: Sequence[Names], wanted: Names) -> list[dict[Names, float]]:
    """Each source's weight for each interaction it tells of; over the sources they sum to one."""
    known: list[dict[Names, float]] = []
    for source, mine in zip(sources, asked, strict=True):
        told = information(parts_for(source.questionnaire, mine), mine)
        known.append({interaction: source.engine.n_rows * amount for interaction, amount in told.items()})
    shares: list[dict[Names, float]] = [{} for _ in sources]
    for interaction in interactions(wanted):
        total = sum(amounts.get(interaction, 0.0) for amounts in known)
        if not total:
            _refuse(sources, interaction, wanted)
        for share, amounts in zip(shares, known, strict=True):
            if interaction in amounts:
                share[interaction] = amounts[interaction] / total
    return shares


def _refuse(sources: Sequence[Source], interaction: Names, wanted: Names) -> None:
    for source in sources:
        asked = source.questionnaire.attributes
        if set(interaction) <= set(asked):  # asked, so it is the channel that does not tell: it says why
            _ = inverted(source, [name for name in wanted if name in asked]).probabilities
    raise NotEstimable(never_together(interaction))


def never_together(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"No reports ask for {names[0]!r}, so nothing can be estimated of it."
    return (
        f"{', '.join(map(repr, names))} are never asked together, so their joint distribution cannot be estimated. "
        "Ask for them one by one, or deal a questionnaire that holds them all."
    )


def _checked_size(table: Inverted) -> Inverted:
    cells = table.probabilities.size
    most = POOLED_CELLS if table.shows_one else COVARIANCE_CELLS
    if cells > most:
        raise InvalidInput(
            f"A table of {cells:,} cells is too large to be pooled; at most {most:,} are possible"
            f"{'' if table.shows_one else ' where reports show sets or bits'}. Ask for fewer attributes at once, or for "
            "single combinations of answers."
        )
    return table
