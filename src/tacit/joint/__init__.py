"""A model of the whole population: the distribution of whole records, fitted to reports by likelihood.

>>> import tacit
>>> from tacit.bundled import binary_votes
>>> truth = binary_votes()
>>> scheme = tacit.Scheme.of(truth.schema, [([name], tacit.channels.warner(0.9)) for name in truth.schema.names])
>>> joint = tacit.fit_joint(tacit.disguise(truth, scheme, seed=1984))
>>> joint
JointModel(... latent classes, 17 attributes, 435 reports)
>>> joint.predict("Class", {"V4": "y"})["republican"] > 0.8
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tacit.count.protocol import Source
from tacit.count.sources import ReportSource, sources, true_schema
from tacit.errors import InvalidInput, UnknownName
from tacit.joint.evidence import WholeReports, distinct_rows, thin_counts, whole_reports
from tacit.joint.pairs import PairSources, pair_tables
from tacit.joint.result import JointModel, ModelShare, ModelTable, PairMisfit
from tacit.joint.selection import ModelCandidate, ModelSearch, RecordModel, rank_models, refine_model
from tacit.schema import Schema
from tacit.table import Table

__all__ = ["JointModel", "ModelCandidate", "ModelShare", "ModelTable", "PairMisfit", "fit_joint"]

KINDS = ("table", "classes", "tree")
MOST_CLASSES = 8
STARTS = 3
# Numbers held while models are compared, and while the chosen one is fitted; of more reports a random part is taken.
COMPARED_NUMBERS = 1 << 21
FITTED_NUMBERS = 1 << 24
FEWEST_COMPARED = 1 << 12


def fit_joint(
    reports: ReportSource | Sequence[ReportSource],
    *,
    models: Sequence[str] = KINDS,
    classes: int = MOST_CLASSES,
    starts: int = STARTS,
    seed: int = 0,
    on_share: Callable[[float], None] = lambda share: None,
) -> JointModel:
    """A model of whole records, by likelihood from the reports of any scheme.

    Several kinds of models are fitted from several starts without a fifth of the reports, and the one that makes these
    likeliest is chosen and fitted to all: the exact table of whole records where it is small, latent classes
    (within which answers are independent), and trees (in which every answer depends on one other).

    Parameters
    ----------
    reports
        Reports, in memory or stored, of one scheme or several; what several ask in common must have the same answers.
    models
        Kinds to try, among "table", "classes" and "tree".
    classes
        Latent classes at most.
    starts
        Climbs from different starts for each number of classes.
    seed
        Makes the fit repeatable.
    on_share
        Is told what share of the work is done.

    Returns
    -------
    JointModel
        The chosen model, with every candidate and a statement of fit.

    Raises
    ------
    InvalidInput
        If there are no reports, if no kind of model is left, or if a group is too large to be weighed.

    Examples
    --------
    >>> import tacit
    >>> truth = tacit.Dataset.from_arrow({"smokes": ["no", "yes"] * 400, "coughs": ["no", "yes"] * 400})
    >>> scheme = tacit.Scheme.of(truth.schema, [([name], tacit.channels.warner(0.9)) for name in truth.schema.names])
    >>> joint = tacit.fit_joint(tacit.disguise(truth, scheme, seed=1))
    >>> joint.predict("coughs", {"smokes": "yes"})["yes"] > 0.9
    True
    """
    _check_options(models, classes, starts)
    origins = sources(reports)
    schema = _schema(reports, origins)
    rng = np.random.default_rng(seed)
    counted = [(source, *distinct_rows(source)) for source in origins]
    n_reports = int(sum(counts.sum() for _, _, counts in counted))
    if not n_reports:
        raise InvalidInput("There are no reports to fit a model to.")
    asked = [(source, table, counts) for source, table, counts in counted if len(counts)]
    fitted = _fitted_reports(asked, schema, FITTED_NUMBERS, rng)
    compared = _fitted_reports(asked, schema, COMPARED_NUMBERS, rng)
    on_share(0.05)
    search = ModelSearch(tuple(models), classes, starts, rng, lambda share: on_share(0.05 + 0.7 * share))
    candidates = rank_models(compared, schema, search)
    on_share(0.8)
    model, converged = refine_model(candidates[0].model, fitted)
    on_share(1.0)
    people = tuple((arm.questionnaire, int(arm.people)) for arm in fitted)
    return JointModel(
        schema,
        model,
        tuple(candidates),
        n_reports,
        int(sum(arm.people for arm in fitted)),
        converged,
        worst_pair(model, fitted, schema),
        people,
    )


def _schema(reports: ReportSource | Sequence[ReportSource], origins: Sequence[Source]) -> Schema:
    """The attributes of all sources, in the order of the schemes where these are known."""
    schema = true_schema(origins)
    schemes = [getattr(source, "scheme", None) for source in (reports if isinstance(reports, Sequence) else [reports])]
    order = [name for scheme in schemes if scheme is not None for name in scheme.schema.names if name in schema]
    return schema.select(dict.fromkeys([*order, *schema.names]))


def _check_options(models: Sequence[str], classes: int, starts: int) -> None:
    for kind in models:
        if kind not in KINDS:
            raise UnknownName("Model", str(kind), KINDS)
    if not models:
        raise InvalidInput(f"Name at least one kind of model, among {', '.join(KINDS)}.")
    if not (isinstance(classes, int) and classes >= 1):
        raise InvalidInput(f"A model needs at least one latent class, not {classes!r}.")
    if not (isinstance(starts, int) and starts >= 1):
        raise InvalidInput(f"A fit needs at least one start, not {starts!r}.")


Stored = tuple[Source, Table, NDArray[np.int64]]  # a source, its distinct reports, and how often each was sent


def _fitted_reports(
    stored: Sequence[Stored], schema: Schema, numbers: int, rng: np.random.Generator
) -> list[WholeReports]:
    """The distinct reports of each source; if they are very many, those of a random sample of the people."""
    made = []
    for source, table, counts in stored:
        enough = max(FEWEST_COMPARED, numbers // _numbers_a_report(source, schema))
        sample = counts if len(counts) <= enough else thin_counts(counts, enough, rng)
        rows = np.flatnonzero(sample)
        made.append(whole_reports(source.questionnaire, schema, table.rows(rows), sample[rows].astype(np.float64)))
    return made


def _numbers_a_report(source: Source, schema: Schema) -> int:
    """Numbers that one distinct report takes while a model is fitted."""
    total = sum(schema.shape())
    for group in source.questionnaire.groups:
        if len(group.names) > 1:
            total *= 2
    return min(total, 1 << 12)


def worst_pair(model: RecordModel, parts: Sequence[WholeReports], schema: Schema) -> PairMisfit | None:
    """The cell of all pairs of attributes in which the model is most standard errors from the unbiased estimate."""
    worst, cells = None, 0
    for (i, j), table in pair_tables(PairSources.of(parts), schema).items():
        errors = table.standard_errors
        cells += errors.size
        modelled = model.marginal([i, j])
        apart = np.abs(modelled - table.unbiased) / np.maximum(errors, 1e-12)
        place = np.unravel_index(int(np.where(errors > 0, apart, 0.0).argmax()), apart.shape)
        if errors[place] > 0 and (worst is None or apart[place] > abs(worst.z)):
            answers = {table.names[axis]: table.attributes[axis].answers[code] for axis, code in enumerate(place)}
            worst = PairMisfit(answers, float(modelled[place]), float(table.unbiased[place]), float(errors[place]), 0)
    if worst is None:
        return None
    return PairMisfit(worst.answers, worst.model, worst.estimate, worst.standard_error, cells)
