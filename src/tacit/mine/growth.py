"""Growing a tree from estimated shares: ID3 with every probability replaced by its estimate.

What matters most under a disguise is where to stop: a split is made only where the branches' class shares differ by some
standard errors (those of the disguise alone, so that clear data give the tree of clear data).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.channel.protocol import Array
from tacit.errors import NotEstimable
from tacit.mine.impurity import Criterion, proportions, split_worth
from tacit.mine.tables import NodeTables, Path
from tacit.mine.tree import Branch, Node
from tacit.schema import Attribute

Splits = Literal["multiway", "binary"]
# Two-way splits of unordered answers go through all subsets up to this many answers, then one answer against the rest.
ALL_SUBSETS = 6


@dataclass(frozen=True)
class Rules:
    """When and how a node is split."""

    criterion: Criterion = "gain"
    splits: Splits = "multiway"
    significance: float = 2.5
    max_depth: int | None = None
    min_share: float = 0.0


@dataclass(frozen=True, eq=False)
class Candidate:
    """A split that could be made: the branches' codes, and the estimated shares ``[branch, class]``."""

    attribute: Attribute
    branches: tuple[tuple[int, ...], ...]
    worth: float

    def table(self, by_answer: Array) -> Array:
        """Sums over the answers of each branch."""
        return np.stack([by_answer[list(codes)].sum(axis=0) for codes in self.branches])


def grow(tables: NodeTables, target: str, rules: Rules) -> Node:
    """The tree for a target attribute."""
    attributes = [attribute for attribute in tables.schema if attribute.name != target]
    return _grow(tables, tables.schema[target], attributes, {}, rules, label=None, depth=0)


def _grow(
    tables: NodeTables,
    target: Attribute,
    attributes: Sequence[Attribute],
    path: Path,
    rules: Rules,
    *,
    label: int | None,
    depth: int,
) -> Node:
    node = _node(tables, target, path, label)
    if not _may_split(node, rules, depth):
        return node
    chosen = _best_split(tables, target, attributes, path, rules)
    if chosen is None:
        return node
    branches = []
    for codes in chosen.branches:
        within = _allowed(path, chosen.attribute, codes)
        rest = [a for a in attributes if a.name != chosen.attribute.name or len(codes) > 1]
        child = _grow(tables, target, rest, within, rules, label=node.label, depth=depth + 1)
        branches.append(Branch(codes, child))
    return Node(
        node.label,
        node.size,
        node.size_error,
        node.class_shares,
        node.class_errors,
        chosen.attribute.name,
        tuple(branches),
    )


def _allowed(path: Path, attribute: Attribute, codes: Sequence[int]) -> Path:
    mask = np.isin(np.arange(attribute.size), codes)
    return {**path, attribute.name: mask}


def _node(tables: NodeTables, target: Attribute, path: Path, parent_label: int | None) -> Node:
    found = tables.table(path, [target.name])
    size = float(found.probabilities.sum())
    if size <= 0 and parent_label is not None:
        # An estimated size of nothing says nothing of the classes: the parent's answer stands.
        even = np.full(target.size, 1 / target.size)
        return Node(parent_label, size, math.sqrt(found.population_variance.sum()), even, even)
    shares = proportions(found.probabilities)
    errors = np.sqrt(share_variances(found.probabilities, found.population_variance))
    return Node(int(np.argmax(shares)), size, math.sqrt(found.population_variance.sum()), shares, errors)


def share_variances(counts: Array, variances: Array) -> Array:
    """Variances of the proportions along the last axis, by the delta method; the cells are taken as uncorrelated."""
    total = counts.sum(axis=-1, keepdims=True)
    share = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    everything = variances.sum(axis=-1, keepdims=True)
    numerator = (1 - 2 * share) * variances + share**2 * everything
    return np.divide(np.maximum(numerator, 0), total**2, out=np.full_like(counts, np.inf), where=total > 0)


def _may_split(node: Node, rules: Rules, depth: int) -> bool:
    deep_enough = rules.max_depth is not None and depth >= rules.max_depth
    return node.size > rules.min_share and not deep_enough and float(node.class_shares.max()) < 1


def _best_split(
    tables: NodeTables, target: Attribute, attributes: Sequence[Attribute], path: Path, rules: Rules
) -> Candidate | None:
    """The most worthy split whose branches differ significantly; only as many are tested as it takes."""
    candidates: list[Candidate] = []
    for attribute in attributes:
        try:
            by_answer = tables.shares(path, [attribute.name, target.name])
        except NotEstimable:
            continue  # never asked together with this path
        candidates.extend(_candidates(attribute, by_answer, path, rules))
    candidates.sort(key=lambda candidate: -candidate.worth)
    for candidate in candidates:
        if candidate.worth <= 0:
            return None
        if rules.significance <= 0 or _differ(tables, target, path, candidate, rules.significance):
            return candidate
    return None


def _candidates(attribute: Attribute, by_answer: Array, path: Path, rules: Rules) -> Iterator[Candidate]:
    allowed = [code for code in range(attribute.size) if attribute.name not in path or path[attribute.name][code]]
    for branches in _ways(attribute, allowed, rules.splits):
        unscored = Candidate(attribute, branches, 0.0)
        yield Candidate(attribute, branches, split_worth(unscored.table(by_answer), rules.criterion))


def _ways(attribute: Attribute, allowed: Sequence[int], splits: Splits) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Every way to split the allowed answers."""
    if len(allowed) < 2:
        return
    if splits == "multiway" or len(allowed) == 2:
        yield tuple((code,) for code in allowed)
        return
    if attribute.ordered:
        for cut in range(1, len(allowed)):
            yield tuple(allowed[:cut]), tuple(allowed[cut:])
        return
    sizes = range(1, len(allowed) // 2 + 1) if len(allowed) <= ALL_SUBSETS else range(1, 2)
    for size in sizes:
        for some in itertools.combinations(allowed, size):
            rest = tuple(code for code in allowed if code not in some)
            if size < len(rest) or some[0] == allowed[0]:  # halves are met twice
                yield some, rest


def _differ(tables: NodeTables, target: Attribute, path: Path, candidate: Candidate, significance: float) -> bool:
    """Whether some class has shares in two branches that lie apart by that many standard errors of the disguise."""
    found = tables.table(path, [candidate.attribute.name, target.name])
    counts = candidate.table(found.probabilities)
    variances = candidate.table(found.respondents_variance)
    present = counts.sum(axis=1) > 0
    counts, variances = counts[present], variances[present]
    if len(counts) < 2:
        return False
    share, variance = proportions(counts), share_variances(counts, variances)
    for one, other in itertools.combinations(range(len(counts)), 2):
        apart = (share[one] - share[other]) ** 2
        if (apart > significance**2 * (variance[one] + variance[other])).any():
            return True
    return False
