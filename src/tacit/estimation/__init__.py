"""Estimation: the truth about the crowd from disguised reports, always with its uncertainty.

>>> import tacit
>>> truth = tacit.Dataset.from_arrow({"smokes": ["no"] * 700 + ["yes"] * 300})
>>> scheme = tacit.Scheme.of(truth.schema, [(["smokes"], tacit.channels.warner(0.8))])
>>> reports = tacit.disguise(truth, scheme, seed=1965)
>>> print(tacit.estimate(reports, ["smokes"]))
no   ... ± 0.02...
yes  ... ± 0.02...
(± one standard error)

Devices of the literature (`tacit.prevalence`), correlations (`tacit.correlations`) and weighted samples (`tacit.SampleDesign`)
have modules of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np

from tacit.count.protocol import Source
from tacit.count.remembered import Remembered, remembered
from tacit.count.sources import ReportSource, sources, true_schema
from tacit.errors import InvalidInput, UnknownName, names_homes
from tacit.estimation.conjunctions import Condition, shares
from tacit.estimation.contributions import filled, tallied_columns
from tacit.estimation.evidence import gathered
from tacit.estimation.intervals import Interval
from tacit.estimation.likelihood import MAX_STEPS, most_likely
from tacit.estimation.mean import Mean, estimated_mean, is_pooled
from tacit.estimation.profile import LikelihoodErrors, covered_names
from tacit.estimation.result import (
    Method,
    Sampling,
    ShareEstimate,
    TableEstimate,
    checked_pooling,
    checked_sampling,
)
from tacit.estimation.sampled_sources import Sample, SampledSource, StoredSample, sampled_mean, sampled_sources
from tacit.estimation.simplex import projected
from tacit.schema import Attribute, Schema

__all__ = [
    "Interval",
    "ShareEstimate",
    "TableEstimate",
    "estimate",
    "estimate_share",
    "estimate_shares",
    "estimate_tables",
    "projected",
    "true_schema",
]


@names_homes(
    dict.fromkeys(("weights", "strata", "clusters"), "sample=tacit.SampleDesign.of(n, weights=..., clusters=...)")
)
def estimate(
    reports: ReportSource | Sequence[ReportSource],
    attributes: str | Sequence[str],
    *,
    method: Method = "inversion",
    sampling: Sampling = "population",
    max_steps: int = MAX_STEPS,
    sample: Sample | Sequence[Sample] | None = None,
) -> TableEstimate:
    """The joint distribution of some attributes among the people behind the reports.

    Parameters
    ----------
    reports : Reports, stored reports, or several of them
        Several sets of reports, each under its own scheme, give one estimate, each weighed by its information.
    attributes : str or sequence of str
        What the table is of; its axes have this order.
    method : {"inversion", "likelihood"}
        The unbiased estimate, or the most likely distribution.
    sampling : {"population", "respondents"}
        What the errors are for: a population the respondents were drawn from, or just the people who answered.
    max_steps : int
        Bounds the iteration of the likelihood; the result says whether it converged.
    sample : SampleDesign or SampleColumns, or one for each set of reports, optional
        Weights, strata and clusters of a complex sample; errors are then linearised, or come from its repeats. Of reports
        under a dealt scheme it is in the order of the table that they were made of.

    Returns
    -------
    TableEstimate
        Shares, standard errors and intervals within [0, 1]; also shares within groups, differences and tests.

    Raises
    ------
    NotEstimable
        Where the reports hold no information about the table.
    InvalidInput
        Where there are no reports, a name is unknown, or the table is too large to hold.

    Examples
    --------
    >>> import tacit
    >>> scheme = tacit.Scheme.of([tacit.Attribute("smokes", ("no", "yes"))], [(["smokes"], tacit.channels.warner(0.75))])
    >>> reports = tacit.Reports.from_arrow({"smokes": ["no"] * 60 + ["yes"] * 40}, scheme)
    >>> found = tacit.estimate(reports, "smokes")
    >>> found.probabilities.round(3).tolist()
    [0.7, 0.3]
    >>> found.interval().low.round(2).tolist(), found.interval().high.round(2).tolist()
    ([0.5, 0.11], [0.89, 0.5])
    """
    if sample is not None:
        return _weighted(sampled_sources(reports, sample), attributes, method, sampling)
    origins = sources(reports)
    if kept := _kept_samples(origins):
        return _weighted(kept, attributes, method, sampling)
    return _estimate(origins, true_schema(origins), attributes, method, sampling, max_steps)


def _estimate(
    origins: Sequence[Source],
    schema: Schema,
    attributes: str | Sequence[str],
    method: Method,
    sampling: Sampling,
    max_steps: int,
) -> TableEstimate:
    names = _checked_names(attributes, schema)
    if method not in ("inversion", "likelihood"):
        raise UnknownName("Method", str(method), ("inversion", "likelihood"))
    checked_sampling(sampling)
    if not (isinstance(max_steps, int) and max_steps >= 1):
        raise InvalidInput(f"max_steps must be a whole number of at least 1, not {max_steps!r}.")
    asking = filled([source for source in origins if set(source.questionnaire.attributes) & set(names)])
    asked = schema.select(names).attributes
    if is_pooled(asking, names):
        checked_pooling(sampling)
    mean = estimated_mean(asking, names, schema.shape(names))
    if method == "inversion":
        return _unbiased(asked, mean, sampling)
    return _most_likely(asked, mean, sampling, asking, schema, max_steps)


def _unbiased(attributes: tuple[Attribute, ...], mean: Mean, sampling: Sampling) -> TableEstimate:
    p = mean.probabilities
    return TableEstimate(
        attributes, p, p, np.sqrt(mean.variances(sampling)), mean.n_reports, "inversion", sampling,
        interval_of=lambda level: mean.interval(level, sampling), covariance_of=partial(mean.covariance, sampling),
        error_rule=mean.rule,
    )  # fmt: skip


def _most_likely(
    attributes: tuple[Attribute, ...],
    mean: Mean,
    sampling: Sampling,
    asking: Sequence[Source],
    schema: Schema,
    max_steps: int,
) -> TableEstimate:
    fit = most_likely(asking, mean.names, lambda name: schema[name].size, max_steps=max_steps)
    whole = schema.shape(covered_names(asking, mean.names))
    errors = LikelihoodErrors(
        lambda: gathered(asking, mean.names)[1], whole, fit.distribution, lambda: mean.law(sampling)
    )
    return TableEstimate(
        attributes, fit.distribution, mean.probabilities, errors.standard_errors, mean.n_reports, "likelihood", sampling,
        errors.interval, partial(mean.covariance, sampling), fit.converged, "likelihood",
    )  # fmt: skip


def _kept_samples(origins: Sequence[Source]) -> list[SampledSource]:
    """Weighted tallies with what they know of their samples; none where nothing is weighted."""
    kept = [(source, getattr(source.engine, "sample", None)) for source in origins]
    if all(sample is None for _, sample in kept):
        return []
    if any(sample is None for _, sample in kept):
        raise InvalidInput(
            "Some of these reports are a weighted tally and others are not weighted. Tally all of them with their weights."
        )
    # The questionnaires of one tally share what it knows of the sample; other tallies are other people.
    surveys = {
        id(sample): StoredSample(tuple(source for source, own in kept if own is sample), sample)
        for _, sample in kept
        if sample is not None
    }
    return [SampledSource(source, sample, None, surveys[id(sample)]) for source, sample in kept if sample is not None]


def _weighted(
    origins: Sequence[SampledSource], attributes: str | Sequence[str], method: Method, sampling: Sampling
) -> TableEstimate:
    if method != "inversion" or sampling != "population":
        raise InvalidInput(
            "Weights, strata and clusters are for the unbiased estimate of a population: method 'inversion', sampling "
            "'population'."
        )
    schema = true_schema([one.source for one in origins])
    names = _checked_names(attributes, schema)
    asked = schema.select(names).attributes
    asking = [one for one in origins if set(one.source.questionnaire.attributes) & set(names)]
    full = {id(source) for source in filled([one.source for one in asking])}
    asking = [one for one in asking if id(one.source) in full]
    return _unbiased(asked, sampled_mean(asking, names, schema.shape(names)), sampling)


def estimate_tables(
    reports: ReportSource | Sequence[ReportSource],
    tables: Sequence[str | Sequence[str]],
    *,
    method: Method = "inversion",
    sampling: Sampling = "population",
    max_steps: int = MAX_STEPS,
) -> list[TableEstimate]:
    """Many joint distributions at once: the reports are gone through as few times as possible, not once for each.

    Parameters
    ----------
    reports : Reports, stored reports, or several of them
        As for `estimate`.
    tables : sequence of str or sequence of str
        The attributes of each wanted table.
    method, sampling, max_steps
        As for `estimate`.

    Returns
    -------
    list of TableEstimate
        In the order of `tables`.

    Raises
    ------
    NotEstimable
        Where the reports hold no information about one of the tables.

    Examples
    --------
    >>> import tacit
    >>> reports = tacit.Reports.from_truth({"smokes": ["no", "yes", "no"], "age": ["old", "old", "young"]})
    >>> [table.names for table in tacit.estimate_tables(reports, ["smokes", ["smokes", "age"]])]
    [('smokes',), ('smokes', 'age')]
    """
    origins = counted_once(reports, tables).sources()
    schema = true_schema(origins)
    return [_estimate(origins, schema, names, method, sampling, max_steps) for names in tables]


def counted_once(reports: ReportSource | Sequence[ReportSource], tables: Sequence[str | Sequence[str]]) -> Remembered:
    """The reports, with everything counted that estimates of these tables need."""
    origins = sources(reports)
    schema = true_schema(origins)
    wanted = [_checked_names(names, schema) for names in tables]
    return Remembered(tuple(remembered(source, tallied_columns(source, wanted)) for source in origins))


def estimate_share(
    reports: ReportSource | Sequence[ReportSource], where: Condition, *, sampling: Sampling = "population"
) -> ShareEstimate:
    """The share of people to whom every given answer applies, however many attributes it names.

    Parameters
    ----------
    reports : Reports, stored reports, or several of them
        As for `estimate`.
    where : mapping of str to str or sequence of str
        For each attribute the answer, or the answers, that count.
    sampling : {"population", "respondents"}
        What the error is for: a population, or just the people who answered.

    Returns
    -------
    ShareEstimate
        The share, its standard error and its interval.

    Raises
    ------
    NotEstimable
        Where nobody was asked all of it, or a channel tells nothing of it.

    Examples
    --------
    >>> import tacit
    >>> reports = tacit.Reports.from_truth({"smokes": ["no", "yes", "no", "yes"], "age": ["old", "old", "mid", "young"]})
    >>> tacit.estimate_share(reports, {"smokes": "yes", "age": ["old", "mid"]}).probability
    0.25
    """
    return estimate_shares(reports, [where], sampling=sampling)[0]


def estimate_shares(
    reports: ReportSource | Sequence[ReportSource], where: Sequence[Condition], *, sampling: Sampling = "population"
) -> list[ShareEstimate]:
    """Many shares at once, in one pass over the reports.

    Parameters
    ----------
    reports : Reports, stored reports, or several of them
        As for `estimate`.
    where : sequence of mappings
        The conditions, each as for `estimate_share`.
    sampling : {"population", "respondents"}
        What the errors are for: a population, or just the people who answered.

    Returns
    -------
    list of ShareEstimate
        In the order of the conditions.

    Raises
    ------
    NotEstimable
        Where nobody was asked all of a condition, or a channel tells nothing of it.

    Examples
    --------
    >>> import tacit
    >>> reports = tacit.Reports.from_truth({"smokes": ["no", "yes", "no", "yes"]})
    >>> [share.probability for share in tacit.estimate_shares(reports, [{"smokes": "no"}, {"smokes": "yes"}])]
    [0.5, 0.5]
    """
    origins = sources(reports)
    return shares(origins, true_schema(origins), where, checked_sampling(sampling))


def _checked_names(attributes: str | Sequence[str], schema: Schema) -> list[str]:
    if not isinstance(attributes, Iterable):
        raise InvalidInput(
            f"Say which attributes to estimate by their names, such as ['smokes', 'age'], not {type(attributes).__name__}. "
            "Reports know their scheme."
        )
    names = [attributes] if isinstance(attributes, str) else list(attributes)
    if not names:
        raise InvalidInput("Say which attributes to estimate.")
    if len(set(names)) < len(names):
        raise InvalidInput(f"An attribute is named twice: {', '.join(names)}.")
    for name in names:
        schema[name]
    return names
