"""One estimate from several tables: questionnaires of a split survey, schemes side by side, clear and disguised records.

A table over attributes L is the sum of its interactions: for every set S of attributes the part of the S-marginal that
its own margins do not explain. Each source estimates the interactions of what it asks; for every S the sources' estimates
are averaged with weights that are proportional to their information about it (FORMULAS 4.3). The weights are computed
for a uniform truth, not from the data, so the pooled estimate stays unbiased.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.channel.protocol import Array
from tacit.count.protocol import Source
from tacit.errors import InvalidInput, NotEstimable
from tacit.estimate.inversion import Inverted, checked_rows, inverted
from tacit.estimate.parts import Part, apply, parts_for, solve_pairs

Names = tuple[str, ...]
MOST_POOLED = 12  # 2**12 interactions


def interactions(names: Sequence[str]) -> Iterator[Names]:
    """Every non-empty set of attributes, small ones first."""
    return itertools.chain.from_iterable(itertools.combinations(names, size) for size in range(1, len(names) + 1))


@dataclass(frozen=True, eq=False)
class Pooled:
    """The pooled estimate: for each source its table, and its weight for each interaction it can tell of."""

    names: Names
    shape: tuple[int, ...]
    tables: tuple[Inverted, ...]
    weights: tuple[dict[Names, float], ...]

    @property
    def n_reports(self) -> int:
        return sum(table.n_reports for table in self.tables)

    @cached_property
    def probabilities(self) -> Array:
        even = np.full(self.shape, 1 / math.prod(self.shape))
        contributions = (
            self._contribution(table.probabilities, table.names, weights)
            for table, weights in zip(self.tables, self.weights, strict=True)
        )
        return even + sum(contributions)

    def _contribution(self, table: Array, names: Names, weights: dict[Names, float]) -> Array:
        """The weighted interactions of one source's table, spread over the wanted one; further axes stay behind."""
        total = np.zeros(self.shape + table.shape[len(names) :])
        for interaction, weight in weights.items():
            total += weight * self._spread(_interaction(table, names, interaction), interaction)
        return total

    def _spread(self, values: Array, interaction: Names) -> Array:
        sizes = tuple(size if name in interaction else 1 for name, size in zip(self.names, self.shape, strict=True))
        others = math.prod(size for name, size in zip(self.names, self.shape, strict=True) if name not in interaction)
        return values.reshape(sizes + values.shape[len(interaction) :]) / others

    @cached_property
    def covariance(self) -> Array:
        """Of sampling from a population; the sources are independent."""
        cells = math.prod(self.shape)
        total = np.zeros((cells, cells))
        for table, weights in zip(self.tables, self.weights, strict=True):
            cov = table.covariance("population")
            shape = table.probabilities.shape
            half = self._contribution(cov.reshape(*shape, -1), table.names, weights).reshape(cells, -1)
            full = self._contribution(half.T.reshape(*shape, -1), table.names, weights)
            total += full.reshape(cells, cells)
        return total

    @property
    def variances(self) -> Array:
        return np.maximum(np.diag(self.covariance), 0).reshape(self.shape)


def _interaction(table: Array, names: Names, interaction: Names) -> Array:
    """The marginal of some attributes, less its means along each of their axes."""
    summed = tuple(axis for axis, name in enumerate(names) if name not in interaction)
    marginal = table.sum(axis=summed)
    for axis in range(len(interaction)):
        marginal = marginal - marginal.mean(axis=axis, keepdims=True)
    return marginal


def pooled(sources: Sequence[Source], names: Sequence[str], shape: tuple[int, ...]) -> Pooled:
    """The estimate of a table from every source that asks some of its attributes."""
    wanted = tuple(names)
    if len(wanted) > MOST_POOLED:
        raise InvalidInput(f"At most {MOST_POOLED} attributes can be pooled at once, not {len(wanted)}. Ask for fewer.")
    asking = [(source, _asked(source, wanted)) for source in sources]
    asking = [(source, asked) for source, asked in asking if asked and source.engine.n_rows]
    information = [_information(source, asked) for source, asked in asking]
    shares: list[dict[Names, float]] = [{} for _ in asking]
    for interaction in interactions(wanted):
        known = [part.get(interaction, 0.0) for part in information]
        if not sum(known):
            raise NotEstimable(_never_together(interaction))
        for share, amount in zip(shares, known, strict=True):
            if amount:
                share[interaction] = amount / sum(known)
    tables = tuple(inverted(source, asked) for source, asked in asking)
    return Pooled(wanted, shape, tables, tuple(shares))


def _never_together(names: Names) -> str:
    if len(names) == 1:
        return f"No reports ask for {names[0]!r}, so nothing can be estimated of it."
    return (
        f"{', '.join(map(repr, names))} are never asked together, so their joint distribution cannot be estimated. "
        "Ask for them one by one, or deal a questionnaire that holds them all."
    )


def _asked(source: Source, wanted: Names) -> Names:
    return tuple(name for name in wanted if name in source.questionnaire.attributes)


def _information(source: Source, asked: Names) -> dict[Names, float]:
    """For each interaction the number of reports over the mean variance of one report's contribution."""
    checked_rows(source)
    rows = source.engine.n_rows
    return {
        interaction: rows / variance
        for interaction in interactions(asked)
        if math.isfinite(variance := _variance(parts_for(source.questionnaire, interaction)))
    }


def _variance(parts: Sequence[Part]) -> float:
    """Mean variance of one report's contributions to the interaction of all the parts' attributes, uniform truth.

    The parts are disguised independently, so the trace of a product is the product of their traces.
    """
    variance = 1.0
    for part in parts:
        if not part.estimator.is_invertible():
            return math.inf
        shape = part.estimator.shape
        covered = part.channel.shape
        tally = apply([part], np.full(covered, 1 / math.prod(covered)))
        products = solve_pairs([part], tally).reshape(*shape, *shape)
        for axis in range(len(shape)):
            products = products - products.mean(axis=axis, keepdims=True)
        trace = float(np.trace(products.reshape(math.prod(shape), -1)))
        variance *= trace / math.prod(size - 1 for size in shape)
    return variance
