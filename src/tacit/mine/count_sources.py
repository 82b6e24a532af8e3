"""Where a classifier's counts come from: unbiased estimates, the most likely table, or a model of whole records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from tacit.channel.codes import Codes
from tacit.count.abilities import distinct_in_memory
from tacit.count.protocol import Source
from tacit.count.remembered import Remembered, remember_tallies
from tacit.count.sources import ReportSource, sources, true_schema
from tacit.errors import InvalidInput
from tacit.estimation.contributions import counted_contributions
from tacit.estimation.group_parts import columns_of, parts_for
from tacit.estimation.likelihood import has_orbits, most_likely
from tacit.estimation.product_rows import class_rows, record_rows
from tacit.estimation.row_subgroups import RowSubgroup, everybody, tells_all
from tacit.estimation.subgroups import (
    ClassTables,
    ModelledSubgroup,
    OpenSubgroup,
    Subgroup,
    effective_people,
)
from tacit.joint import JointModel, fit_joint
from tacit.joint.classes import LatentClasses
from tacit.schema import Schema
from tacit.table import Table

Method = Literal["auto", "inversion", "likelihood", "joint"]
METHODS = ("auto", "inversion", "likelihood", "joint")
# A joint table up to this size is written out.
JOINT_CELLS = 1 << 20
# Where inversion takes away more than this share of all people, in cells of which it finds fewer than none, the likelihood
# estimate makes the better trees (chosen by experiment: docs/notes/tree-guards.md).
MOST_NEGATIVE = 0.5
LIKELIHOOD_TOLERANCE = 1e-6  # of the log-likelihood per report; no split hangs on less
# A model of whole records is tried where several groups are disguised, whose errors multiply, and the reports tell less of two
# attributes than this share of open answers would; but not where so few would that no split could be believed.
MOST_TOLD, FEWEST_TOLD = 1 / 8, 50
# The model learns from all attributes at once: it is believed like so many times what tables of two are worth.
MODEL_WORTH = 2
DRAWN_RECORDS = 1 << 16


# What a classifier's first line calls what it learned from.
ESTIMATES: dict[str, str] = {
    "inversion": "unbiased estimates",
    "likelihood": "the most likely joint table",
    "joint": "a model of whole records",
}


def learned_from(method: str, n_reports: int, reason: str) -> str:
    """Which estimate a classifier was learned from, and why."""
    return f"Learned from {ESTIMATES[method]} ({method}) of {n_reports:,} reports: {reason}."


def ordered_sources(reports: ReportSource | Sequence[ReportSource]) -> tuple[tuple[Source, ...], Schema]:
    """The tables to count, and their attributes as the scheme lists them: ties are broken alike however they are grouped."""
    origins = sources(reports)
    schema = true_schema(origins)
    report_sources = reports if isinstance(reports, Sequence) else [reports]
    listed = [name for source in report_sources if hasattr(source, "scheme") for name in source.scheme.schema.names]
    order = dict.fromkeys([*(name for name in listed if name in schema), *schema.names])
    return origins, schema.select(order)


def counted_subgroup(
    origins: Sequence[Source], schema: Schema, target: str, method: Method = "inversion", *, with_errors: bool = True
) -> tuple[Subgroup, Method]:
    """Everybody, by the classes of a target, and the method that was taken."""
    if method == "likelihood":
        _checked_likelihood(origins, schema)
    if method == "auto" and _may_be_likely(origins, schema):
        # Both the estimate and the likelihood begin with the tally of whole reports.
        origins = [remember_tallies(origins[0], [columns_of(parts_for(origins[0].questionnaire, schema.names))])]
    subgroup = everybody(origins, schema, target, with_errors=with_errors)
    if method == "joint":
        return modelled_subgroup(fit_joint(Remembered(tuple(origins))), schema, target, subgroup, origins), "joint"
    if method == "likelihood" or (method == "auto" and _likelihood_pays(origins, schema)):
        return ModelledSubgroup(_most_likely_subgroup(origins[0], schema, target), subgroup), "likelihood"
    return subgroup, "inversion"


def modelled_subgroup(
    joint: JointModel, schema: Schema, target: str, counted: Subgroup, origins: Sequence[Source]
) -> Subgroup:
    """Everybody as a model of whole records has them; `counted` says how much the reports of the sources tell."""
    model = joint.model
    if isinstance(model, LatentClasses):
        rows = class_rows(joint.schema, model.weights, model.factors)
    else:
        drawn = Table.from_codes(joint.schema, dict(zip(joint.schema.names, _draw_records(joint), strict=True)))
        table, counts = distinct_in_memory(drawn, None, joint.schema.names)
        rows = record_rows(joint.schema, [table[name] for name in joint.schema.names], counts.astype(np.float64))
    subgroup = RowSubgroup.everybody(rows, target, schema.attributes, with_errors=False)
    disguised = {name for source in origins for group in source.questionnaire.groups for name in group.names}
    public = frozenset(set(schema.names) - disguised)
    return OpenSubgroup(subgroup, max(MODEL_WORTH * effective_people(counted), 1.0), counted, public)


def _draw_records(joint: JointModel) -> list[Codes]:
    return joint.model.draw(DRAWN_RECORDS, np.random.default_rng(0))


def joint_may_pay(origins: Sequence[Source], subgroup: Subgroup) -> bool:
    """Whether errors grow from split to split, are great already, and yet something is told."""
    return _is_split_up(origins) and is_little(effective_people(subgroup), origins)


def is_little(told: float, origins: Sequence[Source]) -> bool:
    """Whether so many open answers are few beside the reports, and yet enough to learn from."""
    return FEWEST_TOLD <= told <= MOST_TOLD * sum(source.engine.n_rows for source in origins)


def _is_split_up(origins: Sequence[Source]) -> bool:
    """Whether several groups are disguised each by itself."""
    return sum(not group.channel.is_clear for source in origins for group in source.questionnaire.groups) > 1


def pairs_may_pay(origins: Sequence[Source], tables: ClassTables) -> bool:
    """`joint_may_pay`, from tables of two attributes alone."""
    return _is_split_up(origins) and is_little(tables.effective_people, origins)


def modelled_pairs(joint: JointModel, target: str, tables: ClassTables) -> ClassTables:
    """The tables as a model of whole records has them; their errors remain those of the estimates."""
    classes = tables.classes.with_model_shares(joint.table(target).probabilities)
    return ClassTables(
        classes,
        {
            name: (table or tables.classes).with_model_shares(joint.table([name, target]).probabilities)
            for name, table in tables.by_name.items()
        },
    )


def _most_likely_subgroup(source: Source, schema: Schema, target: str) -> RowSubgroup:
    fit = most_likely([source], schema.names, lambda name: schema[name].size, tolerance=LIKELIHOOD_TOLERANCE)
    shares = fit.distribution.reshape(-1)
    cells = np.flatnonzero(shares)
    rows = record_rows(
        schema, [codes.astype(np.int64) for codes in np.unravel_index(cells, schema.shape())], shares[cells]
    )
    return RowSubgroup.everybody(rows, target, schema.attributes, with_errors=False)


def _checked_likelihood(origins: Sequence[Source], schema: Schema) -> None:
    if len(origins) > 1 or not tells_all(origins[0]):
        raise InvalidInput("Likelihood needs reports of a single scheme without questionnaires. Use inversion.")
    cells = math.prod(schema.shape())
    if cells > JOINT_CELLS:
        raise InvalidInput(
            f"The joint table of all attributes has {cells:.3g} cells, too many for its likelihood (at most {JOINT_CELLS:,}). "
            "Leave attributes out, or use inversion."
        )


def _may_be_likely(origins: Sequence[Source], schema: Schema) -> bool:
    """Whether the likelihood of whole records is quickly found."""
    if len(origins) > 1 or not tells_all(origins[0]) or math.prod(schema.shape()) > JOINT_CELLS:
        return False
    return has_orbits(parts_for(origins[0].questionnaire, schema.names))


def _likelihood_pays(origins: Sequence[Source], schema: Schema) -> bool:
    """Whether the noise of inversion is great, and the likelihood is quickly found."""
    if not _may_be_likely(origins, schema):
        return False
    negative = -float(np.minimum(counted_contributions(origins[0], schema.names).mean, 0).sum())
    return negative > MOST_NEGATIVE
