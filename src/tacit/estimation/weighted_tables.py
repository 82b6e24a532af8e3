"""Tables from complex samples: weighted estimates, with errors linearised over clusters and strata."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.count.abilities import held_rows
from tacit.count.protocol import Source
from tacit.count.weighted import SampleColumns, StoredGroups, WeightedTally, checked_keys, stored_groups, weighted_tally
from tacit.errors import InvalidInput
from tacit.estimation.complex_samples import SampleDesign, added_by
from tacit.estimation.group_parts import Part, columns_of, parts_for, solve, solve_pairs, solve_squares
from tacit.estimation.intervals import Interval, ShareLaw, checked_level
from tacit.estimation.inversion import Inverted, checked_covariance, checked_rows, with_guess
from tacit.estimation.repeats import Repeats

Sample = SampleDesign | SampleColumns


@dataclass(frozen=True, eq=False)
class WeightedTable:
    """One table of a complex sample: the weighted estimate, and errors that know strata and clusters."""

    table: Inverted  # from weighted frequencies
    tally: WeightedTally
    design: SampleDesign  # without weights where the reports are stored
    key_weights: Array  # sum of the weights of each key
    squares: Array  # sum of squared weights of each stratum
    rows: Array  # people of each stratum
    repeated: Array | None = None  # the estimate under every repeat, where errors come from these

    @property
    def probabilities(self) -> Array:
        return self.table.probabilities

    @property
    def n_reports(self) -> int:
        return self.table.n_reports

    @cached_property
    def _total(self) -> float:
        return float(self.key_weights.sum())

    @cached_property
    def _factors(self) -> Array:
        return self.design.variance_factors(self._sizes)

    @property
    def _sizes(self) -> Array:
        if not self.design.has_clusters:
            return self.rows
        return np.bincount(self.design.stratum_of, minlength=self.design.n_strata).astype(np.float64)

    @cached_property
    def key_totals(self) -> Array:
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
        if self.repeated is not None:
            return np.diag(self.covariance()).reshape(self.probabilities.shape)
        if self.design.has_clusters:
            spread = self._clustered()
            values = (spread**2 * self._factors[self.design.stratum_of, None]).sum(axis=0)
        else:
            folded = (self.tally.squares * self._factors).sum(axis=-1, keepdims=True)
            second = self._ordered(solve_squares(self.table.parts, folded))[0]
            first = self._ordered(solve(self.table.parts, folded))[0]
            values = (second - 2 * p * first + p**2 * (self._factors @ self.squares)) / self._total**2
            values = values - self._factors @ (self.key_totals**2 * self._one_over_rows[:, None])
        values = np.maximum(values, 0.0) + self._noise_share * np.diag(self._device_covariance)
        return values.reshape(self.probabilities.shape)

    @cached_property
    def _one_over_rows(self) -> Array:
        """One over the people of a stratum, and 0 for somebody alone: compared with the mean of all, which is 0."""
        return np.where(self.rows > 1, 1 / self.rows, 0.0)

    def _clustered(self) -> Array:
        totals, sizes = self.key_totals, self._sizes
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

    def shares_from(self, sums: Array) -> Array:
        """The cells that other sums of weights, by report, would give."""
        total = everybody(sums[..., None], [part.shows_one for part in self.table.parts for _ in part.columns])
        again = dataclasses.replace(self.table, frequencies=sums / total[0])
        return again.probabilities.reshape(-1)

    def covariance(self, at: Array | None = None) -> Array:
        """Covariance of all cells, in the order of the raveled table.

        Tests ask for it at the distribution of their hypothesis; a design says nothing of what it would be there, so
        they are tests of Wald's kind here.
        """
        checked_covariance(self.probabilities.size)
        if self.repeated is not None and self.design.repeats is not None:
            return self.design.repeats.covariance(self.repeated, self.probabilities.reshape(-1))
        if self.design.has_clusters:
            spread = self._clustered()
            values = (spread * self._factors[self.design.stratum_of, None]).T @ spread
        else:
            sums = self.key_totals * self.centring[:, None]
            values = self.products() - sums.T @ sums
        return values + self._noise_share * self._device_covariance

    def products(self) -> Array:
        """Sums over people of the products of their centred contributions to each two cells, each stratum by its factor."""
        p = self.probabilities.reshape(-1)
        folded = (self.tally.squares * self._factors).sum(axis=-1)
        pairs = self.table.in_order(solve_pairs(self.table.parts, folded))
        first = self._ordered(solve(self.table.parts, folded[..., None]))[0]
        pairs = pairs - np.outer(p, first) - np.outer(first, p) + np.outer(p, p) * (self._factors @ self.squares)
        return pairs / self._total**2

    @property
    def centring(self) -> Array:
        """What the sums of each stratum are multiplied by, to be taken off the products."""
        return np.sqrt(self._factors * self._one_over_rows)

    def interval(self, level: float) -> Interval:
        """The channels' own law, widened by the design's effect and by Student's distribution."""
        return widened(
            self.table.law("population"), self.probabilities, self.variances, self.design.quantile(level), level
        )


def widened(law: ShareLaw, p: Array, variances: Array, quantile: float, level: float) -> Interval:
    """Intervals by the channels' own law, widened to these variances and to this quantile of Student's distribution."""
    plain = np.maximum(law.variance(np.clip(p, 0, 1)), np.finfo(np.float64).tiny)
    effect = np.where(variances > 0, variances / plain, 1.0) * (quantile / checked_level(level)) ** 2
    return ShareLaw(law.constant * effect, law.slope * effect, law.curvature * effect).interval(p, level)


def weighted_table(
    source: Source, names: Sequence[str], sample: Sample, frame: StoredFrame | None = None
) -> WeightedTable:
    """The estimate of a table over `names` from one source of a complex sample.

    A stored source may be one of several of a survey, whose strata and clusters `frame` holds.
    """
    if isinstance(sample, SampleColumns):
        checked_rows(source)
        parts = tuple(with_guess(source, part) for part in parts_for(source.questionnaire, names))
        groups = stored_groups(source.engine, columns_of(parts), sample)
        frame = frame or StoredFrame.of([groups], sample)
        tally, again = _stored(source, columns_of(parts), groups, frame)
        made = _assembled(source, names, parts, tally, frame.design, frame.rows)
        repeated = [made.shares_from(sums) for sums in again]
        return dataclasses.replace(made, repeated=np.array(repeated)) if repeated else made
    if len(sample.weights) != source.engine.n_rows:
        raise InvalidInput(f"The design is of {len(sample.weights):,} people, the reports of {source.engine.n_rows:,}.")
    return sampled_rows(source, names, sample, np.arange(len(sample.weights)))


def sampled_rows(source: Source, names: Sequence[str], design: SampleDesign, rows: NDArray[np.intp]) -> WeightedTable:
    """The estimate of a table over `names` from a source in memory, whose reports are these rows of the design."""
    table = held_rows(source.engine)
    if table is None:
        raise InvalidInput("Arrays of weights belong to reports in memory; name the columns of a stored table instead.")
    checked_rows(source)
    parts = tuple(with_guess(source, part) for part in parts_for(source.questionnaire, names))
    columns = columns_of(parts)
    keys = (design.clusters if design.has_clusters else design.strata)[rows]
    stratum_of = design.stratum_of if design.has_clusters else np.arange(design.n_strata)
    tally = weighted_tally(table, columns, design.weights[rows], keys, stratum_of)
    people = np.bincount(design.strata, minlength=design.n_strata).astype(np.float64)
    made = _assembled(source, names, parts, tally, design, people)
    everybody, one = np.zeros(len(rows), dtype=np.intp), np.zeros(1, dtype=np.intp)
    repeated = [
        made.shares_from(weighted_tally(table, columns, again[rows], everybody, one).sums[..., 0])
        for again in design.weighings()
    ]
    return dataclasses.replace(made, repeated=np.array(repeated)) if repeated else made


def _assembled(
    source: Source,
    names: Sequence[str],
    parts: tuple[Part, ...],
    tally: WeightedTally,
    design: SampleDesign,
    rows: Array,
) -> WeightedTable:
    shows_one = [source.engine.schema[name].shows == "one" for name in columns_of(parts)]
    key_weights, squares = everybody(tally.sums, shows_one), everybody(tally.squares, shows_one)
    table = Inverted(tuple(names), parts, tally.sums.sum(axis=-1) / key_weights.sum(), source.engine.n_rows)
    return WeightedTable(table, tally, design, key_weights, squares, rows)


def everybody(sums: Array, shows_one: Sequence[bool]) -> Array:
    """Sums over all reports, by the last axis: the last slot of a set counts every report, so it alone is taken there."""
    chosen = sums[(*(slice(None) if one else -1 for one in shows_one), slice(None))]
    return chosen.sum(axis=tuple(range(sum(shows_one))))


@dataclass(frozen=True, eq=False)
class StoredFrame:
    """The strata and clusters of a stored survey, by their names: those of all its questionnaires."""

    strata: list[str]
    keys: dict[tuple[str, str], int]  # by stratum and cluster; without clusters by stratum alone
    design: SampleDesign
    rows: Array  # people of each stratum

    @classmethod
    def of(cls, all_groups: Sequence[StoredGroups], sample: SampleColumns) -> StoredFrame:
        strata = sorted({name for groups in all_groups for name in groups.strata})
        of_stratum = {name: number for number, name in enumerate(strata)}
        has_clusters = sample.clusters is not None
        pairs = sorted({pair for groups in all_groups for pair in _pairs(groups, has_clusters=has_clusters)})
        numbers = [np.array([of_stratum[name] for name in groups.strata], dtype=np.intp) for groups in all_groups]
        of_group = np.concatenate([own[groups.stratum] for own, groups in zip(numbers, all_groups, strict=True)])
        counts = np.concatenate([groups.rows for groups in all_groups])
        rows = np.bincount(of_group, counts, len(strata)).astype(np.float64)
        again = None
        if sample.replicates:
            again = Repeats.of(0, replicates=np.ones((0, len(sample.replicates))), scale=sample.replicate_scale)
        design = SampleDesign.grouped(
            strata,
            np.array([of_stratum[stratum] for stratum, _ in pairs], dtype=np.intp) if has_clusters else None,
            rows,
            of_group,
            np.concatenate([groups.sampled for groups in all_groups]),
            again,
        )
        return cls(strata, {pair: number for number, pair in enumerate(pairs)}, design, rows)

    def codes(self, groups: StoredGroups) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The stratum and the key of each group."""
        of_stratum = {name: number for number, name in enumerate(self.strata)}
        stratum = np.array([of_stratum[name] for name in groups.strata], dtype=np.intp)[groups.stratum]
        if not self.design.has_clusters:
            return stratum, stratum
        different, which = np.unique(groups.stratum * len(groups.clusters) + groups.cluster, return_inverse=True)
        names = [
            (groups.strata[at // len(groups.clusters)], groups.clusters[at % len(groups.clusters)]) for at in different
        ]
        keys = np.array([self.keys[name] for name in names], dtype=np.intp)
        return stratum, keys[which.reshape(-1)]


def _pairs(groups: StoredGroups, *, has_clusters: bool) -> set[tuple[str, str]]:
    if not has_clusters:
        return {(name, "") for name in groups.strata}
    different = np.unique(groups.stratum * len(groups.clusters) + groups.cluster)
    return {(groups.strata[at // len(groups.clusters)], groups.clusters[at % len(groups.clusters)]) for at in different}


def _stored(
    source: Source, columns: Sequence[str], groups: StoredGroups, frame: StoredFrame
) -> tuple[WeightedTally, list[Array]]:
    """The tally of a stored source, and the sums under every replicate weight."""
    stratum, keys = frame.codes(groups)
    n_strata, n_keys = len(frame.strata), len(frame.keys)
    shape = tuple(source.engine.schema[name].size for name in columns)
    checked_keys(math.prod(shape), n_keys)
    sums = np.bincount(groups.cells * n_keys + keys, groups.sums, math.prod(shape) * n_keys)
    squares = np.bincount(groups.cells * n_strata + stratum, groups.squares, math.prod(shape) * n_strata)
    tally = WeightedTally(
        sums.astype(np.float64).reshape(*shape, n_keys), squares.astype(np.float64).reshape(*shape, n_strata)
    )
    again = [added_by(groups.cells, one[:, None], math.prod(shape)).reshape(shape) for one in groups.replicates.T]
    return tally, again
