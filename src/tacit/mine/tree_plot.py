"""A tree as a picture: from left to right, with a bar of class shares and their errors at every node."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.display import new_figure
from tacit.mine.tree import Node
from tacit.mine.tree_text import condition
from tacit.schema import Attribute, Schema

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLORS = ("#0b5394", "#c9510c", "#6a9f58", "#967662", "#8c6bb1", "#8c959f")
BAR_WIDTH, BAR_HEIGHT = 0.5, 0.18


@dataclass(frozen=True, eq=False)
class Place:
    """Where a node is drawn: its depth, its height, and the condition that leads to it."""

    node: Node
    depth: int
    height: float
    label: str
    parent: tuple[float, float] | None
    is_cut: bool  # whether branches below it are not drawn


def plot_tree(root: Node, schema: Schema, target: Attribute, max_depth: int) -> Figure:
    """The figure; bars of answers beside each node."""
    places = list(_places(root, schema, max_depth))
    depth, leaves = max(place.depth for place in places), max(place.height for place in places) + 1
    figure, axes = new_figure(2.2 + 2.4 * depth, 1.0 + 0.62 * leaves)
    for place in places:
        _draw(axes, place, target)
    axes.set_xlim(-0.1, depth + 0.75)
    axes.set_ylim(leaves - 0.3, -0.6)
    axes.axis("off")
    for code, answer in enumerate(target.answers):
        axes.barh([-9], [0], color=COLORS[code % len(COLORS)], label=f"{target.name} = {answer}")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(3, target.size), frameon=False, fontsize=8)
    return figure


def _places(root: Node, schema: Schema, max_depth: int) -> Iterator[Place]:
    """Leaves one below the other, and every other node in the middle of its branches."""
    heights = iter(range(1 << 30))

    def place(node: Node, depth: int) -> tuple[float, list[tuple[Node, int, float, list[Any], str]]]:
        if node.attribute is None or depth == max_depth:
            height = float(next(heights))
            return height, [(node, depth, height, [], "")]
        below: list[tuple[Node, int, float, list[Any], str]] = []
        children = []
        for branch in node.branches:
            at, placed = place(branch.node, depth + 1)
            children.append((branch.node, at, condition(schema[node.attribute], branch.answers)))
            below.extend(placed)
        height = (children[0][1] + children[-1][1]) / 2
        return height, [(node, depth, height, children, ""), *below]

    _, placed = place(root, 0)
    above = {
        id(child): (depth, height, label) for _, depth, height, children, _ in placed for child, _, label in children
    }
    for node, depth, height, children, _ in placed:
        parent = above.get(id(node))
        line = None if parent is None else (parent[0] + BAR_WIDTH, parent[1])
        yield Place(node, depth, height, "" if parent is None else parent[2], line, not node.is_leaf and not children)


def _draw(axes: Any, place: Place, target: Attribute) -> None:
    node, left = place.node, float(place.depth)
    if place.parent is not None:
        axes.plot([place.parent[0], left], [place.parent[1], place.height], color="#d0d7de", linewidth=1, zorder=0)
        axes.text(left, place.height - BAR_HEIGHT, place.label, fontsize=7, va="bottom", ha="left")
    _draw_shares(axes, node, left, place.height)
    more = " …" if place.is_cut else ""
    text = f"{target.answers[node.label]}: {node.size:.1%} ± {node.size_error:.1%}{more}"
    axes.text(left, place.height + BAR_HEIGHT * 0.8, text, fontsize=7, va="top", ha="left", color="#57606a")


def _draw_shares(axes: Any, node: Node, left: float, height: float) -> None:
    """The shares of the classes, one beside the other; grey where nobody is estimated to be."""
    if node.size <= 0:
        axes.barh([height], [BAR_WIDTH], left=[left], height=BAR_HEIGHT, color="#d0d7de")
        return
    start = left
    for code, share in enumerate(node.class_shares):
        width = BAR_WIDTH * float(share)
        axes.barh([height], [width], left=[start], height=BAR_HEIGHT, color=COLORS[code % len(COLORS)])
        start += width
    error = BAR_WIDTH * float(node.class_errors[0])
    if math.isfinite(error) and len(node.class_shares) == 2:
        middle = left + BAR_WIDTH * float(node.class_shares[0])
        ends = [max(left, middle - error), min(left + BAR_WIDTH, middle + error)]
        axes.plot(ends, [height, height], color="black", linewidth=1)
