"""Reduced-error pruning (Quinlan) with reports that may themselves be disguised."""

from __future__ import annotations

from dataclasses import replace

from tacit.errors import NotEstimable
from tacit.estimation.subgroups import Subgroup
from tacit.mine.tree import Branch, Node
from tacit.schema import Schema


def prune_tree(root: Node, subgroup: Subgroup, schema: Schema) -> Node:
    """The tree without the splits that do not raise the estimated share of right answers."""
    if subgroup.by_level:
        _prepare(root, subgroup, schema)
    return _prune_node(root, subgroup, schema)[0]


def _prepare(root: Node, subgroup: Subgroup, schema: Schema) -> None:
    """Count what all nodes of a level need in one go."""
    level = [(root, subgroup)]
    while level := [(node, group) for node, group in level if node.attribute is not None]:
        level[0][1].prepare([group for _, group in level[1:]])
        level = [
            (branch.node, group.within(schema[str(node.attribute)], branch.answers))
            for node, group in level
            for branch in node.branches
        ]


def _prune_node(node: Node, subgroup: Subgroup, schema: Schema) -> tuple[Node, float]:
    """The smaller tree, and the share of all people that it puts right here."""
    as_leaf = _right(node, subgroup)
    if node.attribute is None:
        return node, as_leaf
    attribute = schema[node.attribute]
    branches = [(b.answers, *_prune_node(b.node, subgroup.within(attribute, b.answers), schema)) for b in node.branches]
    as_tree = sum(right for _, _, right in branches)
    if as_tree <= as_leaf:
        return node.leaf(), as_leaf
    return replace(node, branches=tuple(Branch(answers, below) for answers, below, _ in branches)), as_tree


def _right(node: Node, subgroup: Subgroup) -> float:
    try:
        return float(subgroup.shares().classes[node.label])
    except NotEstimable:
        return 0.0  # never asked together: these reports say nothing in favour of the split
