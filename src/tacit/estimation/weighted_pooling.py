"""Tables from complex samples whose respondents answered different things: dealt questionnaires, schemes side by side.

The pooled estimate is a sum of linear maps of the sources' own weighted tables. So a person's contribution goes through the
map of the source that holds the person's report, and contributions are added over clusters and strata as ever: people of
one school may have been dealt different questionnaires.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.count.protocol import Source
from tacit.count.sources import ReportSource, sources
from tacit.count.weighted import SampleColumns, stored_groups
from tacit.errors import InvalidInput
from tacit.estimation.complex_samples import SampleDesign
from tacit.estimation.contribution import Contribution
from tacit.estimation.intervals import Interval
from tacit.estimation.inversion import Inverted, checked_covariance
from tacit.estimation.pooling import AskedTable, Pooled, combined
from tacit.estimation.weighted_tables import Sample, StoredFrame, WeightedTable, sampled_rows, weighted_table, widened
from tacit.reports import Reports

Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class SampledSource:
    """Reports of one questionnaire, and the rows of the design they are of; None where the reports are stored."""

    source: Source
    sample: Sample
    rows: Codes | None
    survey: StoredSample | None = None  # all stored reports of the same people

    def table(self, names: Sequence[str], *, pooled: bool = False) -> WeightedTable:
        if isinstance(self.sample, SampleDesign) and self.rows is not None:
            return sampled_rows(self.source, names, self.sample, self.rows)
        # A single table needs no other look at the strata and clusters than its own.
        alone = self.survey is None or (len(self.survey.origins) == 1 and not pooled)
        return weighted_table(
            self.source, names, self.sample, None if alone or self.survey is None else self.survey.frame
        )


@dataclass(frozen=True, eq=False)
class StoredSample:
    """The stored reports of one survey: its questionnaires, and the columns that say how people came into it."""

    origins: tuple[Source, ...]
    sample: SampleColumns

    @cached_property
    def frame(self) -> StoredFrame:
        """Strata and clusters of everybody, whatever they were asked."""
        answered = [source for source in self.origins if source.engine.n_rows]
        return StoredFrame.of([stored_groups(source.engine, (), self.sample) for source in answered], self.sample)


def sampled_sources(
    reports: ReportSource | Sequence[ReportSource], sample: Sample | Sequence[Sample]
) -> list[SampledSource]:
    """The sources of some reports, each with its part of the sample."""
    if isinstance(reports, Reports) or not isinstance(reports, Sequence):
        reports = [reports]
    samples = list(sample) if isinstance(sample, Sequence) else [sample]
    if len(samples) != len(reports):
        raise InvalidInput(
            f"There are {len(samples)} designs for {len(reports)} sets of reports: give one design for each, in a list."
        )
    hashes = [one.scheme.hash for one in reports if isinstance(one, Reports)]
    if len(set(hashes)) < len(hashes):
        raise InvalidInput(
            "Two sets of reports have the same scheme. They are one sample: put them and their weights into one table."
        )
    return [one for part, of in zip(reports, samples, strict=True) for one in _sampled(part, of)]


def _sampled(reports: ReportSource, sample: Sample) -> Iterator[SampledSource]:
    origins = sources(reports)
    if not (isinstance(reports, Reports) and reports.scheme.is_dealt):
        survey = StoredSample(tuple(origins), sample) if isinstance(sample, SampleColumns) else None
        yield from (SampledSource(source, sample, None, survey) for source in origins)
        return
    if isinstance(sample, SampleColumns):
        raise InvalidInput(
            "Weights, strata and clusters are named as columns only for a table in a database. For reports in memory give "
            "the values themselves: SampleDesign.of(n, weights=[...])."
        )
    if reports.places is None:
        raise InvalidInput(
            "The order of the respondents is not known for these reports, so it is not known whose weight is whose. Read "
            "the reports of all questionnaires from one table: Reports.from_arrow(frame, scheme)."
        )
    if sample.sampled.any():
        raise InvalidInput(
            "Where questionnaires are dealt by chance, errors cannot make use of the sampled share. Leave out sampled."
        )
    if len(sample.weights) != reports.n_reports:
        raise InvalidInput(f"The design is of {len(sample.weights):,} people, the reports of {reports.n_reports:,}.")
    for source, rows in zip(origins, reports.places, strict=True):
        yield SampledSource(source, sample, rows)


@dataclass(frozen=True, eq=False)
class _Piece:
    """One source's weighted table, and the map from its cells to the wanted ones."""

    table: WeightedTable
    sample: SampleDesign
    map: Array  # [wanted cell, own cell]


@dataclass(frozen=True, eq=False)
class PooledSample:
    """The pooled estimate of a table from several sources of one or several complex samples."""

    pooled: Pooled
    pieces: tuple[_Piece, ...]

    @property
    def probabilities(self) -> Array:
        return self.pooled.probabilities

    @property
    def n_reports(self) -> int:
        return self.pooled.n_reports

    @property
    def _designs(self) -> list[SampleDesign]:
        """Every design once: samples of different surveys are independent."""
        return list({id(piece.sample): piece.sample for piece in self.pieces}.values())

    @cached_property
    def _covariance(self) -> Array:
        cells = self.probabilities.size
        checked_covariance(cells)
        total = np.zeros((cells, cells))
        for design in self._designs:
            own = [piece for piece in self.pieces if piece.sample is design]
            total += _repeated(design, own) if design.repeats is not None else _linearised(design, own)
        return total

    def covariance(self, at: Array | None = None) -> Array:
        """Covariance of all cells, in the order of the raveled table; tests are of Wald's kind, as for a single table."""
        return self._covariance

    @property
    def variances(self) -> Array:
        return np.maximum(np.diag(self._covariance), 0.0).reshape(self.probabilities.shape)

    def interval(self, level: float) -> Interval:
        quantile = max(design.quantile(level) for design in self._designs)
        return widened(self.pooled.law(), self.probabilities, self.variances, quantile, level)


def _linearised(design: SampleDesign, pieces: Sequence[_Piece]) -> Array:
    totals = np.sum([piece.table.key_totals @ piece.map.T for piece in pieces], axis=0)
    if design.has_clusters:
        return design.covariance_of_clusters(totals)
    sums = totals * pieces[0].table.centring[:, None]
    return np.sum([piece.map @ piece.table.products() @ piece.map.T for piece in pieces], axis=0) - sums.T @ sums


def _repeated(design: SampleDesign, pieces: Sequence[_Piece]) -> Array:
    assert design.repeats is not None
    away: Array = np.zeros(())
    for piece in pieces:
        assert piece.table.repeated is not None
        away = away + (piece.table.repeated - piece.table.probabilities.reshape(-1)) @ piece.map.T
    return design.repeats.covariance(away, np.zeros(away.shape[1]))


def pooled_sample(asking: Sequence[SampledSource], names: Sequence[str], shape: tuple[int, ...]) -> PooledSample:
    """The pooled estimate of a table over `names`."""
    made: list[tuple[SampleDesign, WeightedTable]] = []
    for one in asking:
        design = one.survey.frame.design if one.survey is not None else one.sample
        if isinstance(design, SampleColumns) or design.sampled.any():
            raise InvalidInput(
                "Where people answered different questions, errors cannot make use of the sampled share. Leave out "
                "sampled, or estimate each table by itself."
            )

    def table_of(one: SampledSource) -> Callable[[tuple[str, ...]], Inverted]:
        def weighted(mine: tuple[str, ...]) -> Inverted:
            table = one.table(mine, pooled=True)
            made.append((table.design, table))
            return table.table

        return weighted

    asked = [AskedTable(one.source.questionnaire, one.source.engine.n_rows, table_of(one)) for one in asking]
    joint = combined(asked, names, shape)
    by_table = {id(table.table): (design, table) for design, table in made}
    pieces = []
    for contribution in joint.contributions:
        design, table = by_table[id(contribution.table)]
        pieces.append(_Piece(table, design, _map(contribution, tuple(names), shape)))
    return PooledSample(joint, tuple(pieces))


def _map(contribution: Contribution, names: tuple[str, ...], shape: tuple[int, ...]) -> Array:
    """The linear map of a contribution, its rows repeated over the answers that its source does not ask."""
    rows = contribution.matrix()
    own = contribution.table.names
    codes = np.unravel_index(np.arange(math.prod(shape)), shape)
    asked = [codes[names.index(name)] for name in own]
    return rows[np.ravel_multi_index(asked, contribution.table.probabilities.shape)]
