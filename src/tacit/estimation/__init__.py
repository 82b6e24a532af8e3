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

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tacit.count.protocol import Source
from tacit.count.remembered import Remembered, remember_tallies
from tacit.count.sources import ReportSource, sources, true_schema
from tacit.errors import InvalidInput, UnknownName, names_homes
from tacit.estimation.conjunctions import Condition, shares
from tacit.estimation.contributions import nonempty_sources, tallied_columns
from tacit.estimation.evidence import gather_evidence
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
from tacit.estimation.sampled_sources import (
    Sample,
    SampledSource,
    sampled_mean,
    samples_of_tallies,
    sources_with_samples,
)
from tacit.estimation.simplex import project_on_simplex
from tacit.schema import Attribute, Schema

if TYPE_CHECKING:
    from tacit.estimation.numbers import MeanEstimate

__all__ = [
    "Interval",
    "ShareEstimate",
    "TableEstimate",
    "estimate",
    "project_on_simplex",
    "true_schema",
]


Several = ReportSource | Sequence[ReportSource]


@overload
def estimate(reports: Several, attributes: Condition, *, sampling: Sampling = ...) -> ShareEstimate: ...
@overload
def estimate(reports: Several, attributes: Sequence[Condition], *, sampling: Sampling = ...) -> list[ShareEstimate]: ...
@overload
def estimate(
    reports: Several,
    attributes: str | Sequence[str],
    *,
    method: Method = ...,
    sampling: Sampling = ...,
    max_steps: int = ...,
    sample: Sample | Sequence[Sample] | None = ...,
) -> TableEstimate: ...
@overload
def estimate(
    reports: Several,
    attributes: Sequence[list[str] | tuple[str, ...]],
    *,
    method: Method = ...,
    sampling: Sampling = ...,
    max_steps: int = ...,
    sample: Sample | Sequence[Sample] | None = ...,
) -> list[TableEstimate]: ...
@overload
def estimate(
    reports: Several,
    *,
    mean: str,
    by: str | Sequence[str] = ...,
    values: Mapping[str, float] | None = ...,
    method: Method = ...,
    sampling: Sampling = ...,
    max_steps: int = ...,
    sample: Sample | Sequence[Sample] | None = ...,
) -> MeanEstimate: ...
@names_homes(
    dict.fromkeys(("weights", "strata", "clusters"), "sample=tacit.SampleDesign.of(n, weights=..., clusters=...)")
)
def estimate(
    reports: Several,
    attributes: Any = None,
    *,
    mean: str | None = None,
    by: str | Sequence[str] = (),
    values: Mapping[str, float] | None = None,
    method: Method = "inversion",
    sampling: Sampling = "population",
    max_steps: int = MAX_STEPS,
    sample: Sample | Sequence[Sample] | None = None,
) -> TableEstimate | ShareEstimate | MeanEstimate | list[TableEstimate] | list[ShareEstimate]:
    """What is true of the people behind the reports: a table, the share with given answers, several of either, or a mean.

    Parameters
    ----------
    reports : Reports, stored reports, or several of them
        Several sets of reports, each under its own scheme, give one estimate, each weighed by its information.
    attributes : str, sequence of str, mapping, or a list of these
        Names of attributes ask for their joint distribution, with axes in this order; ``{"smokes": "yes", "age": ["young",
        "old"]}`` asks for the share of people to whom every given answer applies, of however many attributes. A list of lists
        of names asks for several tables, a list of mappings for several shares: the reports are gone through once.
    mean : str, optional
        Instead of `attributes`: the attribute whose mean is asked for, within each answer of `by`; its answers are numbers, or
        `values` gives each of them one.
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
    TableEstimate, ShareEstimate or MeanEstimate
        Shares within [0, 1] or means, with standard errors and intervals; of a table also shares within groups, differences
        and tests. A list of them, in the order asked for, where several are asked for.

    Raises
    ------
    NotEstimable
        Where the reports hold no information about it, or nobody was asked all of it.
    InvalidInput
        Where there are no reports, a name is unknown, a table is too large to hold, or a share is asked for with what is for
        tables alone (method, sample).

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
    >>> round(tacit.estimate(reports, {"smokes": "yes"}).probability, 3)
    0.3
    >>> [table.names for table in tacit.estimate(reports, [["smokes"]])]
    [('smokes',)]
    """
    if (mean is None) == (attributes is None):
        raise InvalidInput("Ask for attributes=['smokes', 'age'] (shares) or for mean='hours', one of the two.")
    if mean is not None:
        groups = [by] if isinstance(by, str) else list(by)
        (table,) = _tables(reports, [[*groups, mean]], method, sampling, max_steps, sample)
        return table.mean(mean, values)
    if by or values is not None:
        raise InvalidInput("`by` and `values` belong to a mean. Shares within groups are estimate(...).given('sex').")
    each, is_single = _each_wanted(attributes)
    if any(isinstance(wanted, Mapping) for wanted in each):
        if not all(isinstance(wanted, Mapping) for wanted in each):
            raise InvalidInput(
                "Ask for shares ({'smokes': 'yes'}) and for tables (['smokes', 'age']) one after the other."
            )
        if method != "inversion" or sample is not None:
            raise InvalidInput(
                "A share of given answers takes neither method nor sample. Estimate the table of its attributes."
            )
        origins = sources(reports)
        found = shares(origins, true_schema(origins), each, checked_sampling(sampling))
        return found[0] if is_single else found
    tables = _tables(reports, each, method, sampling, max_steps, sample)
    return tables[0] if is_single else tables


def _each_wanted(attributes: Any) -> tuple[list[Any], bool]:
    """Every table or share that is asked for, and whether it is one rather than a list of them."""
    if isinstance(attributes, (str, Mapping)) or not isinstance(attributes, Iterable):
        return [attributes], True
    listed = list(attributes)
    are_several = any(isinstance(wanted, Iterable) and not isinstance(wanted, str) for wanted in listed)
    return (listed, False) if are_several else ([listed], True)


def _tables(
    reports: Several, wanted: Sequence[Any], method: Method, sampling: Sampling, max_steps: int, sample: Any
) -> list[TableEstimate]:
    if sample is not None:
        sampled = sources_with_samples(reports, sample)
        return [_weighted_estimate(sampled, names, method, sampling) for names in wanted]
    origins = sources(reports)
    if weighted_sources := samples_of_tallies(origins):
        return [_weighted_estimate(weighted_sources, names, method, sampling) for names in wanted]
    if len(wanted) > 1:
        origins = counted_once(reports, wanted).sources()
    schema = true_schema(origins)
    return [_estimate(origins, schema, names, method, sampling, max_steps) for names in wanted]


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
    asking = nonempty_sources([source for source in origins if set(source.questionnaire.attributes) & set(names)])
    asked = schema.select(names).attributes
    if is_pooled(asking, names):
        checked_pooling(sampling)
    mean = estimated_mean(asking, names, schema.shape(names))
    if method == "inversion":
        return _table_estimate(asked, mean, sampling)
    return _most_likely(asked, mean, sampling, asking, schema, max_steps)


def _table_estimate(attributes: tuple[Attribute, ...], mean: Mean, sampling: Sampling) -> TableEstimate:
    p = mean.probabilities
    return TableEstimate(
        attributes, p, p, np.sqrt(mean.variances(sampling)), mean.n_reports, "inversion", sampling,
        interval_of=lambda level: mean.interval(level, sampling), covariance_of=partial(mean.covariance, sampling),
        error_rule=mean.rule, within_public=mean.within_public,
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
        lambda: gather_evidence(asking, mean.names)[1], whole, fit.distribution, lambda: mean.law(sampling)
    )
    return TableEstimate(
        attributes, fit.distribution, mean.probabilities, errors.standard_errors, mean.n_reports, "likelihood", sampling,
        errors.interval, partial(mean.covariance, sampling), fit.converged, "likelihood",
    )  # fmt: skip


def _weighted_estimate(
    origins: Sequence[SampledSource], attributes: str | Sequence[str], method: Method, sampling: Sampling
) -> TableEstimate:
    if method != "inversion" or sampling != "population":
        raise InvalidInput(
            "Weights, strata and clusters are for the unbiased estimate of a population: method 'inversion', sampling "
            "'population'."
        )
    schema = true_schema([origin.source for origin in origins])
    names = _checked_names(attributes, schema)
    asked = schema.select(names).attributes
    asking = [origin for origin in origins if set(origin.source.questionnaire.attributes) & set(names)]
    full = {id(source) for source in nonempty_sources([origin.source for origin in asking])}
    asking = [origin for origin in asking if id(origin.source) in full]
    return _table_estimate(asked, sampled_mean(asking, names, schema.shape(names)), sampling)


def counted_once(reports: Several, tables: Sequence[str | Sequence[str]]) -> Remembered:
    """The reports, with everything counted that estimates of these tables need."""
    origins = sources(reports)
    schema = true_schema(origins)
    wanted = [_checked_names(names, schema) for names in tables]
    return Remembered(tuple(remember_tallies(source, tallied_columns(source, wanted)) for source in origins))


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
        if isinstance(name, str) and "=" in name and name not in schema.names:
            raise InvalidInput(f"{name!r} is no attribute. For a share: {{'smokes': 'yes'}}.")
        schema[name]
    return names
