"""Reports of complex samples: whose weights, strata and clusters are whose, and their weighted tallies.

Weights come as arrays beside reports in memory, or as columns of a stored table, whose database adds them. People of one
survey may have been dealt different questionnaires.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.count.abilities import held_rows
from tacit.count.protocol import Source
from tacit.count.sources import ReportSource, sources
from tacit.count.weighted import SampleColumns, StoredGroups, WeightedTally, checked_keys, stored_groups, weighted_tally
from tacit.errors import InvalidInput
from tacit.estimation.complex_samples import SampleDesign, added_by
from tacit.estimation.contributions import Contributions, TallyWeights, asked_parts, everybody
from tacit.estimation.group_parts import Part, columns_of
from tacit.estimation.mean import Mean, TableOf, estimated_mean, is_pooled, mean_of, refuse_sampled_share
from tacit.estimation.repeats import Repeats
from tacit.reports import Reports

Codes = NDArray[np.intp]
Sample = SampleDesign | SampleColumns


@dataclass(frozen=True, eq=False)
class SampledSource:
    """Reports of one questionnaire, and the rows of the design they are of; None where the reports are stored."""

    source: Source
    sample: Sample
    rows: Codes | None
    survey: StoredSample | None = None  # all stored reports of the same people

    def contributions(self, names: Sequence[str], *, pooled: bool) -> Contributions:
        """The weighted contributions to a table over `names`."""
        if isinstance(self.sample, SampleDesign):
            rows = np.arange(len(self.sample.weights)) if self.rows is None else self.rows
            if self.rows is None and len(rows) != self.source.engine.n_rows:
                raise InvalidInput(
                    f"The design is of {len(rows):,} people, the reports of {self.source.engine.n_rows:,}."
                )
            return _contributions_in_memory(self.source, names, self.sample, rows)
        # A single table needs no other look at the strata and clusters than its own.
        alone = self.survey is None or (len(self.survey.origins) == 1 and not pooled)
        frame = None if alone or self.survey is None else self.survey.frame
        return _stored_contributions(self.source, names, self.sample, frame)


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


def sources_with_samples(
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
    hashes = [origin.scheme.hash for origin in reports if isinstance(origin, Reports)]
    if len(set(hashes)) < len(hashes):
        raise InvalidInput(
            "Two sets of reports have the same scheme. They are one sample: put them and their weights into one table."
        )
    return [origin for group, of in zip(reports, samples, strict=True) for origin in _sources_of_sample(group, of)]


def _sources_of_sample(reports: ReportSource, sample: Sample) -> Iterator[SampledSource]:
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


def sampled_mean(asking: Sequence[SampledSource], names: Sequence[str], shape: tuple[int, ...]) -> Mean:
    """The weighted table over `names`, from the one source that asks all of it or pooled."""
    pooled = is_pooled([origin.source for origin in asking], names)
    for origin in asking if pooled else []:
        design = origin.survey.frame.design if origin.survey is not None else origin.sample
        assert isinstance(design, SampleDesign), "columns of a stored table belong to a survey"
        refuse_sampled_share(design)
    counted = [(origin.source, _weighing(origin, pooled=pooled)) for origin in asking]
    return mean_of(counted, names, shape, alone=not pooled)


def samples_of_tallies(origins: Sequence[Source]) -> list[SampledSource]:
    """Weighted tallies with what they know of their samples; none where nothing is weighted."""
    pairs = [(source, getattr(source.engine, "sample", None)) for source in origins]
    if all(sample is None for _, sample in pairs):
        return []
    if any(sample is None for _, sample in pairs):
        raise InvalidInput(
            "Some of these reports are a weighted tally and others are not weighted. Tally all of them with their weights."
        )
    # The questionnaires of one tally share what it knows of the sample; other tallies are other people.
    surveys = {
        id(sample): StoredSample(tuple(source for source, tally_sample in pairs if tally_sample is sample), sample)
        for _, sample in pairs
        if sample is not None
    }
    return [SampledSource(source, sample, None, surveys[id(sample)]) for source, sample in pairs if sample is not None]


def is_weighted(origins: Sequence[Source]) -> bool:
    """Whether the sources know weights, strata or clusters themselves, as weighted tallies do."""
    return any(getattr(source.engine, "sample", None) is not None for source in origins)


def table_mean(asking: Sequence[Source], names: Sequence[str], shape: tuple[int, ...]) -> Mean:
    """The table over `names`, weighted where the sources know their weights: what everything on tables is estimated by."""
    if is_weighted(asking):
        weighted = [origin for origin in samples_of_tallies(asking) if origin.source.engine.n_rows]
        return sampled_mean(weighted, names, shape)
    return estimated_mean(asking, names, shape)


def _weighing(origin: SampledSource, *, pooled: bool) -> TableOf:
    return lambda names: origin.contributions(names, pooled=pooled)


def _stored_contributions(
    source: Source, names: Sequence[str], sample: SampleColumns, frame: StoredFrame | None
) -> Contributions:
    """From a stored source, which may be one of several of a survey whose strata and clusters `frame` holds."""
    parts = asked_parts(source, names)
    groups = stored_groups(source.engine, columns_of(parts), sample)
    frame = frame or StoredFrame.of([groups], sample)
    tally, repeats = _stored_tally(source, columns_of(parts), groups, frame)
    return _weighted_contributions(source, names, parts, tally, frame.design, frame.rows, repeats)


def _contributions_in_memory(
    source: Source, names: Sequence[str], design: SampleDesign, rows: NDArray[np.intp]
) -> Contributions:
    """From a source in memory, whose reports are these rows of the design."""
    table = held_rows(source.engine)
    if table is None:
        raise InvalidInput("Arrays of weights belong to reports in memory; name the columns of a stored table instead.")
    parts = asked_parts(source, names)
    columns = columns_of(parts)
    keys = (design.clusters if design.has_clusters else design.strata)[rows]
    stratum_of = design.stratum_of if design.has_clusters else np.arange(design.n_strata)
    tally = weighted_tally(table, columns, design.weights[rows], keys, stratum_of)
    people = np.bincount(design.strata, minlength=design.n_strata).astype(np.float64)
    keys, stratum = np.zeros(len(rows), dtype=np.intp), np.zeros(1, dtype=np.intp)  # one cluster, one stratum
    repeats = [weighted_tally(table, columns, again[rows], keys, stratum).sums[..., 0] for again in design.weighings()]
    return _weighted_contributions(source, names, parts, tally, design, people, repeats)


def _weighted_contributions(
    source: Source,
    names: Sequence[str],
    parts: tuple[Part, ...],
    tally: WeightedTally,
    design: SampleDesign,
    people: Array,
    repeats: Sequence[Array],
) -> Contributions:
    shows_one = [source.engine.schema[name].shows == "one" for name in columns_of(parts)]
    of_keys, squares = everybody(tally.sums, shows_one), everybody(tally.squares, shows_one)
    weights = TallyWeights(tally, design, of_keys, squares, people)
    made = Contributions(tuple(names), parts, tally.sums.sum(axis=-1) / weights.total, source.engine.n_rows, weights)
    if not repeats:
        return made
    repeated = np.array([made.mean_under(sums) for sums in repeats])
    return dataclasses.replace(made, weights=dataclasses.replace(weights, repeated=repeated))


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
        of_group = np.concatenate([codes[groups.stratum] for codes, groups in zip(numbers, all_groups, strict=True)])
        counts = np.concatenate([groups.rows for groups in all_groups])
        rows = np.bincount(of_group, counts, len(strata)).astype(np.float64)
        again = None
        if sample.replicates:
            again = Repeats.of(0, replicates=np.ones((0, len(sample.replicates))), scale=sample.replicate_scale)
        design = SampleDesign.of_stored_table(
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


def _stored_tally(
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
    weighings = groups.replicates.T
    again = [added_by(groups.cells, weights[:, None], math.prod(shape)).reshape(shape) for weights in weighings]
    return tally, again
