"""Classifiers and rules mined from disguised reports, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.count.sources import ReportSource
from tacit.errors import TacitError
from tacit.schema import Attribute, Schema

if TYPE_CHECKING:
    from tacit.mine.tree import Node

# A tree that a researcher reads on a page, and that a respondent's device applies.
DEEPEST_TREE = 4


@dataclass(frozen=True)
class MinedModel:
    """A model as the dashboard shows it; `tree` is what a second round could offer."""

    title: str
    text: str
    tree: dict[str, Any] | None = None


def mined(reports: ReportSource, target: str) -> list[MinedModel]:
    """The models that predict `target`; where one cannot be had, the reason stands in its place."""
    models = []
    for title, mine in (("Decision tree", _tree),):
        try:
            models.append(mine(reports, target))
        except TacitError as error:
            models.append(MinedModel(title, str(error)))
    return models


def _tree(reports: ReportSource, target: str) -> MinedModel:
    from tacit.mine import TreeClassifier

    fitted = TreeClassifier(target=target, max_depth=DEEPEST_TREE).fit(reports)
    return MinedModel("Decision tree", fitted.to_text(), tree_document(fitted.tree_, fitted.schema_, fitted.target_))


def tree_document(node: Node, schema: Schema, target: Attribute) -> dict[str, Any]:
    """The tree as the page applies it: answers by name, and a label at every node."""
    document: dict[str, Any] = {"answer": target.answers[node.label]}
    if node.attribute is None:
        return document
    answers = schema[node.attribute].answers
    branches = {
        answers[code]: tree_document(branch.node, schema, target) for branch in node.branches for code in branch.answers
    }
    return {**document, "attribute": node.attribute, "branches": branches}
