"""The one estimator: the mean over reports of what each contributes to the numbers that are wanted (FORMULAS 15).

A wanted number is a weighted sum of the shares of a table's cells, ``sum over u of v(u) p(u)``: a cell itself, a condition, a
subgroup, the mean of an attribute with numbers. `Mean` is the table, from one source or from several; `Wanted` writes down
the sums that are asked of it.

Errors follow one of three rules, chosen here and named in every result:

- law: the spread that the channels have at a proper distribution near the estimate. It is never 0 under a disguise, so
  tables that are written out have it.
- counted: the spread of the contributions as the reports came, for sums over a domain too large to be written out.
- design: linearised over the weights, strata and clusters of a complex sample, or from its repeats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.count.protocol import Source
from tacit.errors import InvalidInput
from tacit.estimation.complex_samples import SampleDesign, added_by
from tacit.estimation.contributions import (
    Contributions,
    TallyWeights,
    checked_covariance,
    counted_contributions,
    nonempty_sources,
)
from tacit.estimation.intervals import TINY, Interval, ShareLaw, checked_level
from tacit.estimation.pooling import AskedTable, CellMoments, Names, PooledContributions, pooled_contributions
from tacit.estimation.result import ErrorRule, Sampling
from tacit.estimation.simplex import floor_shares, project_on_simplex
from tacit.estimation.uncertainty import law_near
from tacit.schema import Schema


@dataclass(frozen=True, eq=False)
class Wanted:
    """Numbers that are asked of a table over `names`: ``values[number, cell]`` is what a person of a cell counts for."""

    names: Names
    values: Array

    @classmethod
    def within(
        cls, schema: Schema, table: Sequence[str], cells: Sequence[str], path: Mapping[str, NDArray[np.bool_]]
    ) -> Wanted:
        """The cells of some of a table's attributes, among the people who meet the conditions of a path."""
        values: Array = np.ones((1, 1))
        for name in table:
            met = path.get(name, np.ones(schema[name].size, dtype=np.bool_)).astype(np.float64)
            values = np.kron(values, np.diag(met) if name in cells else met[None, :]).astype(np.float64)
        there = [name for name in table if name in cells]
        order = [there.index(name) for name in cells]
        shaped = values.reshape(*schema.shape(there), -1).transpose(*order, len(order))
        return cls(tuple(table), shaped.reshape(-1, values.shape[1]))

    @classmethod
    def average(cls, name: str, numbers: Sequence[float]) -> Wanted:
        """The mean of an attribute whose answers stand for numbers, and its mean square."""
        values = np.asarray(numbers, dtype=np.float64)
        return cls((name,), np.stack([values, values**2]))


@dataclass(frozen=True, eq=False)
class Mean:
    """A table of shares: what one source contributes to it, or what several do through the maps that pool them.

    Sources are independent of each other, unless they hold the people of one complex sample.
    """

    names: Names
    shape: tuple[int, ...]
    sources: tuple[Contributions, ...] | tuple[PooledContributions, ...]

    @property
    def alone(self) -> Contributions | None:
        """The one source that asks the whole table; None where several are pooled."""
        first = self.sources[0]
        return first if isinstance(first, Contributions) else None

    @property
    def pooled_sources(self) -> tuple[PooledContributions, ...]:
        return tuple(source for source in self.sources if isinstance(source, PooledContributions))

    @property
    def tables(self) -> list[Contributions]:
        """Each source's own table."""
        return [source if isinstance(source, Contributions) else source.table for source in self.sources]

    @property
    def n_reports(self) -> int:
        return sum(table.n_reports for table in self.tables)

    @cached_property
    def rule(self) -> ErrorRule:
        """Which rule errors follow."""
        return "law" if self.tables[0].weights is None else "design"

    @cached_property
    def probabilities(self) -> Array:
        if self.alone is not None:
            return self.alone.mean
        return 1 / math.prod(self.shape) + self._sum_sources(lambda source: source.mean)

    def _spread(self, source: PooledContributions) -> tuple[int, ...]:
        """The wanted shape, with 1 for what the source does not ask."""
        asked = source.table.names
        return tuple(size if name in asked else 1 for name, size in zip(self.names, self.shape, strict=True))

    def _sum_sources(self, of: Callable[[PooledContributions], Array]) -> Array:
        """What the sources add up to, spread over the answers that each does not ask."""
        table = np.zeros(self.shape)
        for source in self.pooled_sources:
            table += of(source).reshape(self._spread(source))
        return table

    def at(self, distribution: Array) -> Mean:
        """The same table, had the reports been just as this distribution makes one expect."""
        if self.alone is not None:
            return replace(self, sources=(self.alone.at(distribution),))
        sources = (source.at(self._margin(source, distribution)) for source in self.pooled_sources)
        return replace(self, sources=tuple(sources))

    def _margin(self, source: PooledContributions, distribution: Array) -> Array:
        """A distribution of the attributes that a source asks, in its order."""
        asked = source.table.names
        others = tuple(axis for axis, name in enumerate(self.names) if name not in asked)
        common_names = [name for name in self.names if name in asked]
        return distribution.sum(axis=others).transpose([common_names.index(name) for name in asked])

    @cached_property
    def proper(self) -> Mean:
        """The table at a proper distribution near the estimate: errors by the law are those of the channels there."""
        return self.at(floor_shares(project_on_simplex(self.probabilities)))

    def moment_variances(self, sampling: Sampling = "population") -> Array:
        """Variances of the cells, from the reports as they were counted or as a distribution makes one expect them."""
        if self.alone is not None:
            return np.asarray(self.alone.moments.variance(sampling))
        # For a sample from a population, whatever is asked for: who is in which of the tables is chance too.
        return self._sum_sources(lambda source: source.moments.variance())

    def variances(self, sampling: Sampling = "population") -> Array:
        """Variances of the cells: of a sample from a population, or of the disguise alone for those who answered."""
        return self._design_variances if self.rule == "design" else self.proper.moment_variances(sampling)

    def covariance(self, sampling: Sampling = "population", distribution: Array | None = None) -> Array:
        """Covariance of the cells: by the law at a proper distribution near the estimate or at a given one, or by the design.

        A design says nothing of what it would be at another distribution, so tests are of Wald's kind there.
        """
        checked_covariance(math.prod(self.shape))
        if self.rule == "design":
            return self._design_covariance
        there = self.proper if distribution is None else self.at(distribution)
        if there.alone is not None:
            return there.alone.covariance(sampling)
        table = np.zeros(self.shape + self.shape)
        for source in there.pooled_sources:
            table += source.covariance().reshape(self._spread(source) * 2)
        return table.reshape(math.prod(self.shape), -1)

    def numbers(self, wanted: Wanted) -> Array:
        return wanted.values @ self.probabilities.reshape(-1)

    def numbers_covariance(self, wanted: Wanted, sampling: Sampling = "population") -> Array:
        return wanted.values @ self.covariance(sampling) @ wanted.values.T

    def within_public(self, names: Sequence[str]) -> list[Mean | None] | None:
        """The table within each combination of public answers, None for nobody; None where not all of these are public.

        Of several sources, or a complex sample, who gives an answer is estimated.
        """
        if self.alone is None or self.rule == "design":
            return None
        clear = {
            group.attributes[0] for group in self.alone.parts if group.channel.is_clear and len(group.attributes) == 1
        }
        if not set(names) <= clear or set(names) >= set(self.names):
            return None
        return [
            None if table is None else Mean(table.names, table.mean.shape, (table,))
            for table in self.alone.within_public(names)
        ]

    def interval(self, level: float, sampling: Sampling = "population") -> Interval:
        """Ends within [0, 1] for every cell."""
        variances = self._design_variances if self.rule == "design" else None
        return self.ends(self.law(sampling), self.probabilities, variances, level)

    def ends(self, law: ShareLaw, p: Array, variances: Array | None, level: float) -> Interval:
        """Ends within [0, 1] by the channels' own law; widened by a design's effect and by Student's distribution."""
        if variances is None or self.rule != "design":
            return law.interval(p, level)
        quantile = max(design.quantile(level) for design in self._designs)
        plain = np.maximum(law.variance(np.clip(p, 0, 1)), TINY)
        effect = np.where(variances > 0, variances / plain, 1.0) * (quantile / checked_level(level)) ** 2
        return ShareLaw(law.constant * effect, law.slope * effect, law.curvature * effect).interval(p, level)

    # How the variance of each cell depends on its share.

    def law(self, sampling: Sampling = "population") -> ShareLaw:
        """Judged by what the reports of each source contributed."""
        if self.alone is not None and self.proper.alone is not None:
            return self.alone.law(self.proper.alone, sampling)
        cells = [self._cell_moments(proper) for proper in self.proper.pooled_sources]

        def up_to(top: Array) -> ShareLaw:
            constant, slope, curvature = np.zeros(self.shape), np.zeros(self.shape), np.zeros(self.shape)
            for counted, its in zip(self.pooled_sources, cells, strict=True):
                for total, term in zip((constant, slope, curvature), self._law_of(counted, its, top), strict=True):
                    total += term
            return ShareLaw(constant, slope, curvature)

        return law_near(self.probabilities, up_to)

    def _asks_all(self, source: PooledContributions) -> bool:
        return len(source.table.names) == len(self.names)

    def _cell_moments(self, proper: PooledContributions) -> CellMoments:
        """What one source's reports add to the cells, spread over the answers that it does not ask."""
        asks_all = self._asks_all(proper)
        cells = proper.cell_moments(asks_all=asks_all).reshape(self._spread(proper))
        if asks_all:
            return cells
        # Whoever comes into the cell is anyone else.
        p = self.proper.probabilities
        square, mean = (
            (of.reshape(self._spread(proper)) - p * inside) / np.maximum(1 - p, TINY)
            for of, inside in ((proper.moments.square, cells.squares.inside), (proper.mean, cells.means.inside))
        )
        squares, means = replace(cells.squares, usual=square), replace(cells.means, usual=mean)
        return replace(cells, squares=squares, means=means, public=np.ones(self.shape))

    def _law_of(self, counted: PooledContributions, cells: CellMoments, top: Array) -> tuple[Array, Array, Array]:
        """What one source adds to the law: constant, slope and curvature."""
        asks_all, moments, shape = self._asks_all(counted), counted.moments, self._spread(counted)
        share = counted.table.mean.reshape(shape) if asks_all else self.probabilities
        square, growth = cells.squares.line(share, moments.square.reshape(shape), top, cells.public)
        mean, further = cells.means.line(share, moments.mean.reshape(shape), top, cells.public)
        constant = np.maximum(square - mean**2, cells.spread)
        slope, curvature = growth - 2 * mean * further, further**2
        if not asks_all:
            # People may be of the cell and give this source the same answers as before.
            slope, curvature = np.maximum(slope, 0.0), np.where(slope < 0, 0.0, curvature)
        return constant / moments.n, slope / moments.n, curvature / moments.n

    # Complex samples: a person's contribution goes through the map of the source that holds the person's report.

    @cached_property
    def _weighted_tables(self) -> list[tuple[Contributions, TallyWeights, Array | None]]:
        """Each source's table with its weights, and the matrix of its map; None where it asks the whole table alone."""
        if self.alone is not None:
            return [] if self.alone.weights is None else [(self.alone, self.alone.weights, None)]
        mapped = [(source.table, source.table.weights, self._map(source)) for source in self.pooled_sources]
        return [(table, weights, matrix) for table, weights, matrix in mapped if weights is not None]

    def _map(self, source: PooledContributions) -> Array:
        """The linear map of a source, its rows repeated over the answers that it does not ask."""
        codes = np.unravel_index(np.arange(math.prod(self.shape)), self.shape)
        asked = [codes[self.names.index(name)] for name in source.table.names]
        return source.matrix()[np.ravel_multi_index(asked, source.table.mean.shape)]

    @property
    def _designs(self) -> list[SampleDesign]:
        """Every design once: samples of different surveys are independent."""
        return list({id(weights.design): weights.design for _, weights, _ in self._weighted_tables}.values())

    @cached_property
    def _design_variances(self) -> Array:
        if self.alone is None or self._designs[0].repeats is not None or self.alone.weights is None:
            return np.maximum(np.diag(self.covariance()), 0.0).reshape(self.shape)
        # A table too large for its covariance still has errors.
        totals, weights = self.alone.key_totals(), self.alone.weights
        if weights.design.has_clusters:
            deviations = _deviations(weights.design, totals)
            values = weights.factors[weights.design.stratum_of] @ deviations**2
        else:
            values = self.alone.weighted_squares(pairs=False) - ((totals * weights.centring[:, None]) ** 2).sum(axis=0)
        noise = np.diag(self._device_noise) if weights.design.sampled.any() else 0.0
        return (np.maximum(values, 0.0) + noise).reshape(self.shape)

    @property
    def _device_noise(self) -> Array:
        """The device's own covariance, which stays although the population is finite."""
        ((table, weights, _),) = self._weighted_tables  # sampled shares are refused where sources are pooled
        law = replace(self, sources=(replace(table, weights=None),))
        return law.covariance("respondents") * (self.n_reports * weights.noise_share)

    @cached_property
    def _design_covariance(self) -> Array:
        total = np.zeros((math.prod(self.shape),) * 2)
        for design in self._designs:
            tables = [each for each in self._weighted_tables if each[1].design is design]
            total += (
                _covariance_of_repeats(design, tables)
                if design.repeats is not None
                else _linearised_covariance(design, tables)
            )
        return total + self._device_noise if self._designs[0].sampled.any() else total


_Weighted = tuple[Contributions, TallyWeights, Array | None]


def _deviations(design: SampleDesign, totals: Array) -> Array:
    """Totals of clusters less the mean of their stratum; a single cluster is compared with the mean of all."""
    sizes = np.bincount(design.stratum_of, minlength=design.n_strata).astype(np.float64)
    centres = added_by(design.stratum_of, totals, design.n_strata) / sizes[:, None]
    centres[sizes == 1] = totals.mean(axis=0)
    return totals - centres[design.stratum_of]


def _linearised_covariance(design: SampleDesign, sources: Sequence[_Weighted]) -> Array:
    totals = np.sum([_map_rows(table.key_totals(), matrix) for table, _, matrix in sources], axis=0)
    if design.has_clusters:
        return design.covariance_of_clusters(totals)
    sums = totals * sources[0][1].centring[:, None]
    products = (table.weighted_squares(pairs=True) for table, _, _ in sources)
    mapped = (
        _map_rows(_map_rows(squares, matrix).T, matrix)
        for squares, (_, _, matrix) in zip(products, sources, strict=True)
    )
    return np.sum(list(mapped), axis=0) - sums.T @ sums


def _covariance_of_repeats(design: SampleDesign, sources: Sequence[_Weighted]) -> Array:
    assert design.repeats is not None, "the caller has asked"
    away: Array = np.zeros(())
    for table, weights, matrix in sources:
        assert weights.repeated is not None, "every repeat was estimated"
        away = away + _map_rows(weights.repeated - table.mean.reshape(-1), matrix)
    return design.repeats.covariance(away, np.zeros(away.shape[1]))


def _map_rows(rows: Array, matrix: Array | None) -> Array:
    return rows if matrix is None else rows @ matrix.T


# A questionnaire's own table of some of its attributes, by whoever counts its reports.
TableOf = Callable[[Sequence[str]], Contributions]


def mean_of(
    asking: Sequence[tuple[Source, TableOf]], names: Sequence[str], shape: tuple[int, ...], *, alone: bool
) -> Mean:
    """The table over `names` from sources that each ask some of it; from one `alone` where it asks everything."""
    if alone:
        return Mean(tuple(names), shape, (asking[0][1](tuple(names)),))
    asked = [AskedTable(source.questionnaire, source.engine.n_rows, table) for source, table in asking]
    return Mean(tuple(names), shape, pooled_contributions(asked, names, shape))


def is_pooled(asking: Sequence[Source], names: Sequence[str]) -> bool:
    """Whether no single source asks the whole table."""
    return len(asking) != 1 or not set(names) <= set(asking[0].questionnaire.attributes)


def estimated_mean(asking: Sequence[Source], names: Sequence[str], shape: tuple[int, ...]) -> Mean:
    """The unbiased estimate of a table: from the one source that asks all of it, else pooled."""
    counted = [(source, _counting(source)) for source in nonempty_sources(asking)]
    return mean_of(counted, names, shape, alone=not is_pooled(asking, names))


def _counting(source: Source) -> TableOf:
    return lambda names: counted_contributions(source, names)


def refuse_sampled_share(design: SampleDesign) -> None:
    if design.sampled.any():
        raise InvalidInput(
            "Where people answered different questions, errors cannot make use of the sampled share. Leave out "
            "sampled, or estimate each table by itself."
        )
