"""How likely a model makes reports it has not seen: what decides between trees that were grown from different counts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tacit.channel.base import Array
from tacit.channel.codes import grid
from tacit.count.abilities import distinct_rows
from tacit.count.protocol import Source
from tacit.estimation.group_parts import apply, attributes_of, columns_of, parts_for
from tacit.joint import JointModel
from tacit.joint.classes import LatentClasses
from tacit.joint.evidence import whole_reports
from tacit.joint.selection import mean_log
from tacit.mine.tree import Node, predict_rows
from tacit.schema import Schema
from tacit.table import Table

# Records of the attributes that trees look at, over which their law is written out.
MOST_RECORDS = 1 << 18
# Every leaf keeps this chance for classes at random: no report is impossible because of one that was never met.
LEFT_OPEN = 0.01


def tree_logs(trees: Sequence[Node], joint: JointModel, target: str, origins: Sequence[Source]) -> list[float] | None:
    """The mean logarithm of the chance of each report, if each tree told the classes of the records of a joint model.

    None where the attributes that the trees look at are too many to write out, or reports show sets.
    """
    used = {node.attribute for tree in trees for node in tree.walk() if node.attribute is not None}
    totals, people = [0.0 for _ in trees], 0
    for source in origins:
        if target not in source.questionnaire.attributes:
            continue  # such reports are as likely whatever the tree says
        names = _covered_names(source, [name for name in joint.schema.names if name in used | {target}])
        if names is None or math.prod(joint.schema.shape(names)) > MOST_RECORDS:
            return None
        for number, tree in enumerate(trees):
            # What a tree looks at and this source does not ask is summed over.
            every = [name for name in joint.schema.names if name in used | set(names)]
            if math.prod(joint.schema.shape(every)) > MOST_RECORDS:
                return None
            totals[number] += _log_likelihood(source, names, _law(tree, joint, every, target), every)
        people += source.engine.n_rows
    return [total / people for total in totals] if people else None


def is_comparable(tree: Node, schema: Schema, target: str, origins: Sequence[Source]) -> bool:
    """Whether `tree_logs` can be told of this tree, so that fitting a model to compare it with is not in vain."""
    used = {node.attribute for node in tree.walk() if node.attribute is not None}
    asking = [source for source in origins if target in source.questionnaire.attributes and source.engine.n_rows]
    looked = [_covered_names(source, [name for name in schema.names if name in used | {target}]) for source in asking]
    return bool(looked) and all(
        names is not None and math.prod(schema.shape([*used.union(names)])) <= MOST_RECORDS for names in looked
    )


def _covered_names(source: Source, names: Sequence[str]) -> list[str] | None:
    """The attributes that must be written out for the law of what a source reports about some; None for sets."""
    asked = [name for name in names if name in source.questionnaire.attributes]
    groups = parts_for(source.questionnaire, asked)
    if not all(group.shows_one for group in groups):
        return None
    return list(dict.fromkeys([*asked, *(name for group in groups for name in group.covered)]))


def _law(tree: Node, joint: JointModel, names: Sequence[str], target: str) -> Array:
    """The distribution of some attributes and the target: the model's, but for the classes, which the tree tells."""
    others = [name for name in names if name != target]
    schema, n_classes = joint.schema, joint.schema[target].size
    inputs = schema.select(others) if others else Schema(())
    shape = inputs.shape()
    records = joint.model.marginal([schema.names.index(name) for name in others]) if others else np.ones(())
    if others:
        table = Table.from_codes(inputs, dict(zip(others, grid(shape), strict=True)))
        shares = predict_rows(tree, table, n_classes)[1]
    else:
        shares = tree.class_shares[None, :]
    class_chances = (1 - LEFT_OPEN) * shares + LEFT_OPEN / n_classes
    law = records.reshape(-1, 1) * class_chances
    places = [*others, target]
    return law.reshape(*shape, n_classes).transpose([places.index(name) for name in names])


def _log_likelihood(source: Source, names: Sequence[str], law: Array, every: Sequence[str]) -> float:
    margin = law.sum(axis=tuple(axis for axis, name in enumerate(every) if name not in names))
    there = [name for name in every if name in names]
    parts = parts_for(source.questionnaire, list(names))
    order = [there.index(name) for name in attributes_of(parts)]
    expected = apply(parts, margin.transpose(order)).reshape(-1)
    counts = source.engine.tally(columns_of(parts)).reshape(-1)
    seen = counts > 0
    return float(counts[seen] @ np.log(np.maximum(expected[seen], 1e-300)))


def bayes_logs(models: Sequence[LatentClasses], schema: Schema, origins: Sequence[Source]) -> list[float]:
    """The mean logarithm of the chance of each report, for models within whose classes answers are independent."""
    parts = []
    for source in origins:
        table, counts = distinct_rows(source.engine, source.questionnaire.report_schema.names)
        parts.append(whole_reports(source.questionnaire, schema, table, counts.astype(np.float64)))
    return [mean_log(model, parts) for model in models]
