"""A tree in words: as an outline, as rules, and as a document for programs."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tacit.mine.itemset_result import ERRORS
from tacit.mine.tree import Node
from tacit.schema import Attribute, Schema


def condition(attribute: Attribute, codes: Collection[int]) -> str:
    """What a branch says, such as ``age = young or old``."""
    return f"{attribute.name} = {' or '.join(attribute.answers[code] for code in sorted(codes))}"


def estimate(node: Node, target: Attribute) -> str:
    """The label of a node with its estimated share, and the node's size."""
    share, error = node.class_shares[node.label], node.class_errors[node.label]
    size = f"{node.size:.1%} ± {node.size_error:.1%} of all"
    if node.size <= 0:
        return f"{target.answers[node.label]} (nobody is estimated to be here: {size})"
    return f"{target.answers[node.label]} ({share:.0%} ± {error:.0%} of {size})"


def as_text(root: Node, schema: Schema, target: Attribute) -> str:
    """The tree, one line per node, indented by depth; the last says what ± means."""
    lines = [estimate(root, target)]

    def show(node: Node, depth: int) -> None:
        if node.attribute is None:
            return
        for branch in node.branches:
            head = "  " * depth + condition(schema[node.attribute], branch.answers)
            lines.append(f"{head}: {estimate(branch.node, target)}")
            show(branch.node, depth + 1)

    show(root, 1)
    return "\n".join([*lines, ERRORS])


def as_rules(root: Node, schema: Schema, target: Attribute) -> list[str]:
    """One sentence for each leaf, the largest leaves first."""
    leaves = sorted(root.leaves(), key=lambda leaf: -leaf[1].size)
    return [_rule(path, leaf, schema, target) for path, leaf in leaves]


def _rule(path: dict[str, frozenset[int]], leaf: Node, schema: Schema, target: Attribute) -> str:
    conclusion = f"{target.name} = {estimate(leaf, target)}"
    if not path:
        return f"Always {conclusion}."
    return f"If {' and '.join(condition(schema[name], codes) for name, codes in path.items())}, then {conclusion}."


def as_document(node: Node, schema: Schema, target: Attribute) -> dict[str, Any]:
    """The node and all below it, for JSON."""
    document: dict[str, Any] = {
        "label": target.answers[node.label],
        "size": node.size,
        "size_error": node.size_error,
        "class_shares": dict(zip(target.answers, node.class_shares.tolist(), strict=True)),
        "class_errors": dict(zip(target.answers, node.class_errors.tolist(), strict=True)),
    }
    if node.attribute is not None:
        document["attribute"] = node.attribute
        document["branches"] = [
            {
                "answers": [schema[node.attribute].answers[code] for code in branch.answers],
                "node": as_document(branch.node, schema, target),
            }
            for branch in node.branches
        ]
    return document
