"""The tree itself: nodes that know their estimated size and class shares, with errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.table import Table


@dataclass(frozen=True, eq=False)
class Branch:
    """The answers of the split attribute that lead to a node."""

    answers: tuple[int, ...]
    node: Node


@dataclass(frozen=True, eq=False)
class Node:
    """One node: `size` is its estimated share of all people, `class_shares` are shares within it."""

    label: int
    size: float
    size_error: float
    class_shares: Array
    class_errors: Array
    attribute: str | None = None  # what it splits on; None for a leaf
    branches: tuple[Branch, ...] = ()

    @property
    def is_leaf(self) -> bool:
        return self.attribute is None

    def leaf(self) -> Node:
        """The node without what is below it."""
        return replace(self, attribute=None, branches=())

    def split(self, attribute: str, branches: tuple[Branch, ...]) -> Node:
        """The node with branches."""
        return Node(self.label, self.size, self.size_error, self.class_shares, self.class_errors, attribute, branches)

    def walk(self) -> Iterator[Node]:
        """The node and all below it, parents first."""
        yield self
        for branch in self.branches:
            yield from branch.node.walk()

    def leaves(self) -> Iterator[tuple[dict[str, frozenset[int]], Node]]:
        """Every leaf with the codes its path allows; attributes the path does not mention are left out."""
        yield from _leaves(self, {})

    @property
    def depth(self) -> int:
        return 1 + max((branch.node.depth for branch in self.branches), default=-1)

    @property
    def n_leaves(self) -> int:
        return sum(node.is_leaf for node in self.walk())


def _leaves(node: Node, path: dict[str, frozenset[int]]) -> Iterator[tuple[dict[str, frozenset[int]], Node]]:
    if node.attribute is None:
        yield path, node
        return
    for branch in node.branches:
        allowed = frozenset(branch.answers) & path.get(node.attribute, frozenset(branch.answers))
        yield from _leaves(branch.node, {**path, node.attribute: allowed})


def predict_rows(root: Node, table: Table, n_classes: int) -> tuple[NDArray[np.int64], Array]:
    """Label and class shares of every row."""
    labels = np.zeros(table.n_rows, dtype=np.int64)
    shares = np.zeros((table.n_rows, n_classes))
    _assign(root, table, np.arange(table.n_rows), labels, shares)
    return labels, shares


def _assign(node: Node, table: Table, rows: NDArray[np.int64], labels: NDArray[np.int64], shares: Array) -> None:
    if node.attribute is None:
        labels[rows], shares[rows] = node.label, node.class_shares
        return
    codes = table[node.attribute][rows]
    for branch in node.branches:
        _assign(branch.node, table, rows[np.isin(codes, branch.answers)], labels, shares)
