"""Tables from complex samples: weighted estimates, with errors linearised over clusters and strata."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.channel.base import Array
from tacit.count.memory import MemoryEngine
from tacit.count.protocol import Source
from tacit.count.weighted import SampleColumns, WeightedTally, checked_keys, stored_groups, weighted_tally
from tacit.errors import InvalidInput
from tacit.estimation.complex_samples import SampleDesign, added_by
from tacit.estimation.group_parts import columns_of, parts_for, solve, solve_pairs, solve_squares
from tacit.estimation.intervals import Interval, ShareLaw, checked_level
from tacit.estimation.inversion import Inverted, checked_covariance, checked_rows, with_guess

Sample = SampleDesign | SampleColumns


@dataclass(frozen=True, eq=False)
class WeightedTable:
    """One table of a complex sample: the weighted estimate, and errors that know strata and clusters."""

    table: Inverted  # from weighted frequencies
    tally: WeightedTally
    design: SampleDesign  # without weights where the reports are stored
    key_weights: Array  # sum of the weights of each key
    squares: Array  # sum of squared weights of each stratum
    rows: Array  # rows of each stratum

    @property
    def probabilities(self) -> Array:
        return self.table.probabilities

    @property
    def _total(self) -> float:
        return float(self.key_weights.sum())

    @cached_property
    def _factors(self) -> Array:
        """Of each stratum: what is left of its variance, with the correction for few clusters."""
        sizes = self._sizes
        return (1 - self.design.sampled) * np.where(sizes > 1, sizes / np.maximum(sizes - 1, 1), 1.0)

    @property
    def _sizes(self) -> Array:
        if not self.design.has_clusters:
            return self.rows
        return np.bincount(self.design.stratum_of, minlength=self.design.n_strata).astype(np.float64)

    @cached_property
    def _key_totals(self) -> Array:
        """Centred contributions of each key: keys x cells."""
        sums = self._ordered(solve(self.table.parts, self.tally.sums))
        return (sums - np.multiply.outer(self.key_weights, self.probabilities.reshape(-1))) / self._total

    def _ordered(self, solved: Array) -> Array:
        """Cells in the order of the wanted attributes, one row for each of the further axis, which came first."""
        order = self.table.axis_order
        return solved.transpose(0, *(axis + 1 for axis in order)).reshape(len(solved), -1)

    @cached_property
    def variances(self) -> Array:
        p = self.probabilities.reshape(-1)
        if self.design.has_clusters:
            spread = self._clustered()
            values = (spread**2 * self._factors[self.design.stratum_of, None]).sum(axis=0)
        else:
            folded = (self.tally.squares * self._factors).sum(axis=-1, keepdims=True)
            second = self._ordered(solve_squares(self.table.parts, folded))[0]
            first = self._ordered(solve(self.table.parts, folded))[0]
            values = (second - 2 * p * first + p**2 * (self._factors @ self.squares)) / self._total**2
            values = values - self._factors @ (self._key_totals**2 * self._one_over_rows[:, None])
        values = np.maximum(values, 0.0) + self._noise_share * np.diag(self._device_covariance)
        return values.reshape(self.probabilities.shape)

    @cached_property
    def _one_over_rows(self) -> Array:
        """One over the people of a stratum, and 0 for somebody alone: compared with the mean of all, which is 0."""
        return np.where(self.rows > 1, 1 / self.rows, 0.0)

    def _clustered(self) -> Array:
        totals, sizes = self._key_totals, self._sizes
        centres = added_by(self.design.stratum_of, totals, self.design.n_strata) / sizes[:, None]
        centres[sizes == 1] = totals.mean(axis=0)
        return totals - centres[self.design.stratum_of]

    @property
    def _noise_share(self) -> float:
        """How much of one report's device variance stays, because the population is finite."""
        return float(self.design.sampled @ self.squares) / self._total**2

    @cached_property
    def _device_covariance(self) -> Array:
        cells = self.probabilities.size
        if not self.design.sampled.any():
            return np.zeros((cells, cells))
        return self.table.covariance("respondents") * self.table.n_reports

    def covariance(self, at: Array | None = None) -> Array:
        """Of all cells, in the order of the raveled table.

        Tests ask for it at the distribution of their hypothesis; a design says nothing of what it would be there, so
        they are tests of Wald's kind here.
        """
        checked_covariance(self.probabilities.size)
        p = self.probabilities.reshape(-1)
        if self.design.has_clusters:
            spread = self._clustered()
            values = (spread * self._factors[self.design.stratum_of, None]).T @ spread
        else:
            folded = (self.tally.squares * self._factors).sum(axis=-1)
            pairs = self.table.in_order(solve_pairs(self.table.parts, folded))
            first = self._ordered(solve(self.table.parts, folded[..., None]))[0]
            pairs = pairs - np.outer(p, first) - np.outer(first, p) + np.outer(p, p) * (self._factors @ self.squares)
            sums = self._key_totals * np.sqrt(self._factors * self._one_over_rows)[:, None]
            values = pairs / self._total**2 - sums.T @ sums
        return values + self._noise_share * self._device_covariance

    def interval(self, level: float) -> Interval:
        """The channels' own law, widened by the design's effect and by Student's distribution."""
        law = self.table.law("population")
        p = np.clip(self.probabilities, 0, 1)
        plain = np.maximum(law.variance(p), np.finfo(np.float64).tiny)
        effect = np.where(self.variances > 0, self.variances / plain, 1.0)
        effect = effect * (self.design.quantile(level) / checked_level(level)) ** 2
        wider = ShareLaw(law.constant * effect, law.slope * effect, law.curvature * effect)
        return wider.interval(self.probabilities, level)


def weighted_table(asking: Sequence[Source], names: Sequence[str], sample: Sample) -> WeightedTable:
    """The estimate of a table over `names` from one source of a complex sample."""
    if len(asking) != 1 or not set(names) <= set(asking[0].questionnaire.attributes):
        raise InvalidInput(
            "Weights, strata and clusters are understood for one table of reports under one scheme that asks everybody "
            "the same. Estimate the tables one by one."
        )
    source = asking[0]
    checked_rows(source)
    parts = tuple(with_guess(source, part) for part in parts_for(source.questionnaire, names))
    if isinstance(sample, SampleColumns):
        tally, design, rows = _stored(source, columns_of(parts), sample)
    else:
        tally, design, rows = _in_memory(source, columns_of(parts), sample)
    shows = tuple(range(tally.sums.ndim - 1))
    last = tuple(-1 if source.engine.schema[name].shows != "one" else slice(None) for name in columns_of(parts))
    one_answer = tuple(axis for axis, slot in zip(shows, last, strict=True) if slot != -1)
    # The last slot of a set counts every report, so it alone is summed there.
    key_weights = _everybody(tally.sums, last, one_answer)
    squares = _everybody(tally.squares, last, one_answer)
    table = Inverted(tuple(names), parts, tally.sums.sum(axis=-1) / key_weights.sum(), source.engine.n_rows)
    return WeightedTable(table, tally, design, key_weights, squares, rows)


def _everybody(sums: Array, last: Sequence[int | slice], one_answer: Sequence[int]) -> Array:
    chosen = sums[(*last, slice(None))]
    return chosen.sum(axis=tuple(range(len(one_answer))))


def _in_memory(
    source: Source, columns: Sequence[str], design: SampleDesign
) -> tuple[WeightedTally, SampleDesign, Array]:
    if not isinstance(source.engine, MemoryEngine):
        raise InvalidInput("Arrays of weights belong to reports in memory; name the columns of a stored table instead.")
    if len(design.weights) != source.engine.n_rows:
        raise InvalidInput(f"The design is of {len(design.weights):,} people, the reports of {source.engine.n_rows:,}.")
    keys = design.clusters if design.has_clusters else design.strata
    stratum_of = design.stratum_of if design.has_clusters else np.arange(design.n_strata)
    tally = weighted_tally(source.engine.table, columns, design.weights, keys, stratum_of)
    return tally, design, np.bincount(design.strata, minlength=design.n_strata).astype(np.float64)


def _stored(source: Source, columns: Sequence[str], sample: SampleColumns) -> tuple[WeightedTally, SampleDesign, Array]:
    groups = stored_groups(source.engine, columns, sample)
    n_strata, n_names = len(groups.strata), len(groups.clusters)
    pairs, cluster = np.unique(groups.stratum * n_names + groups.cluster, return_inverse=True)
    has_clusters = sample.clusters is not None
    keys = cluster.reshape(-1) if has_clusters else groups.stratum
    n_keys = len(pairs) if has_clusters else n_strata
    shape = tuple(source.engine.schema[name].size for name in columns)
    checked_keys(math.prod(shape), n_keys)
    sums: Array = np.bincount(groups.cells * n_keys + keys, groups.sums, math.prod(shape) * n_keys).astype(np.float64)
    squares: Array = np.bincount(
        groups.cells * n_strata + groups.stratum, groups.squares, math.prod(shape) * n_strata
    ).astype(np.float64)
    rows: Array = np.bincount(groups.stratum, groups.rows, n_strata).astype(np.float64)
    design = SampleDesign.grouped(
        groups.strata,
        (pairs // n_names).astype(np.intp) if has_clusters else None,
        rows,
        groups.stratum,
        groups.sampled,
    )
    tally = WeightedTally(sums.reshape(*shape, n_keys), squares.reshape(*shape, n_strata))
    return tally, design, rows
