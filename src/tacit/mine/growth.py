"""Growing a tree from estimated shares: ID3 with every probability replaced by its estimate.

What matters most under a disguise is where to stop. A split is made only where a branch differs from the others by more than
the greatest of as many differences as were looked at would by chance, and a node answers otherwise than the one above it
only where a class is ahead by some errors as well. They are the errors of the disguise alone, so that clear data give the
tree of clear data, unless those of a sampled population are asked for.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from tacit.channel.base import Array
from tacit.errors import NotEstimable
from tacit.estimation.result import Sampling
from tacit.estimation.subgroups import AnswerTable, Choice, ClassShares, Codes, Subgroup
from tacit.mine import _tree_kernels as kernels
from tacit.mine.tree import Branch, Node
from tacit.schema import Attribute

Criterion = Literal["gain", "ratio", "gini"]
CRITERIA = ("gain", "ratio", "gini")
Splits = Literal["multiway", "binary"]
# Two-way splits of unordered answers go through all subsets up to this many answers, then one answer against the rest.
ALL_SUBSETS = 6
# Worths closer than this are equal but for rounding; the attribute that is listed first is taken.
SAME_WORTH = 1e-12
# Shares of all people closer than this are equal but for rounding; no two numbers of people are.
SAME_SHARE = 1e-12


@dataclass(frozen=True, eq=False)
class Ways:
    """Every way to split a node: ``branch_of[split, answer]``, -1 for an answer that is ruled out, of ``table_of[split]``."""

    branch_of: NDArray[np.int64]
    table_of: NDArray[np.int64]
    tests: int  # excesses that all of them are tested by


@dataclass(frozen=True)
class Guard:
    """How sure one must be: that branches differ, that a class is ahead of the answer above, that anybody is there.

    `chance` is how often a node where nothing differs may be split, over all its candidates together. `split` is a number
    of standard errors for every single candidate instead. `label` and `size` are numbers of them too.
    """

    chance: float | None = None
    split: float = 0.0
    label: float = 0.0
    size: float = 0.0

    @property
    def is_open(self) -> bool:
        """Whether every split passes."""
        return self.chance is None and self.split <= 0

    def least_score(self, tests: int) -> float:
        """How many standard errors the greatest of so many differences must reach."""
        return self.split if self.chance is None else _least_of(self.chance, max(tests, 1))


@cache
def _least_of(chance: float, tests: int) -> float:
    """Standard errors that the greatest of so many differences exceeds by chance only so often."""
    return float(-ndtri(chance / (2 * tests)))


@dataclass(frozen=True)
class SplitRules:
    """When and how a node is split; `sampling` is whom the errors are for."""

    criterion: Criterion = "gain"
    splits: Splits = "multiway"
    guard: Guard = Guard()
    max_depth: int | None = None
    min_share: float = 0.0
    sampling: Sampling = "respondents"


@dataclass(frozen=True, eq=False)
class Candidate:
    """A split that could be made: of which attribute, and the branch of each answer."""

    table: AnswerTable
    branch_of: NDArray[np.int64]

    @property
    def n_branches(self) -> int:
        return int(self.branch_of.max()) + 1

    @property
    def branches(self) -> tuple[Codes, ...]:
        return tuple(tuple(np.flatnonzero(self.branch_of == branch).tolist()) for branch in range(self.n_branches))


@dataclass(eq=False)
class Sprout:
    """A node that is being grown, and what grows below it; `above` is the answer of the node above."""

    above: int | None = None
    depth: int = 0
    node: Node | None = None
    attribute: str | None = None
    branches: list[tuple[Codes, Sprout]] = field(default_factory=list)

    def to_node(self) -> Node:
        assert self.node is not None, "a sprout is looked at only when everything has grown"
        if self.attribute is None:
            return self.node
        return self.node.split(self.attribute, tuple(Branch(codes, below.to_node()) for codes, below in self.branches))


# A sprout, and how to get its subgroup: asked only when it is its turn, since a subgroup may be large.
Waiting = tuple[Callable[[], Subgroup], Sprout]


@dataclass(frozen=True, eq=False)
class Grower:
    """Grows a tree; estimated shares of each class are multiplied by `factors`, where its true share is known."""

    rules: SplitRules
    factors: Array
    _ways: dict[tuple[str, Codes, int], tuple[NDArray[np.int64], int]] = field(default_factory=dict, repr=False)

    def grow(self, subgroup: Subgroup) -> Node:
        """The tree for this subgroup: level by level where that saves passes over the reports, else branch by branch."""
        root = Sprout()
        waiting: list[list[Waiting]] = [[(lambda: subgroup, root)]]
        while waiting:
            below = self._grow_together(waiting.pop())
            if subgroup.by_level:
                waiting += [below] if below else []
            else:
                waiting += [[each] for each in reversed(below)]
        return root.to_node()

    def _grow_together(self, batch: Sequence[Waiting]) -> list[Waiting]:
        """Make nodes of some sprouts; the sprouts below those that are split, with their subgroups."""
        reached = [(subgroup_of(), sprout) for subgroup_of, sprout in batch]
        splitting = [(subgroup, sprout) for subgroup, sprout in reached if self._is_to_split(subgroup, sprout)]
        if splitting:
            splitting[0][0].prepare([subgroup for subgroup, _ in splitting[1:]])
        return [each for subgroup, sprout in splitting for each in self._split_sprout(subgroup, sprout)]

    def _is_to_split(self, subgroup: Subgroup, sprout: Sprout) -> bool:
        """Whether the node, which is made here, may have branches."""
        try:
            shares = subgroup.shares()
        except NotEstimable:
            if sprout.above is None:
                raise
            even = np.full(len(self.factors), 1 / len(self.factors))
            sprout.node = Node(sprout.above, math.nan, math.nan, even, np.full_like(even, np.nan))
            return False
        sprout.node = self._node(shares, sprout.above)
        return self._may_split(sprout.node, shares, sprout.depth)

    def _split_sprout(self, subgroup: Subgroup, sprout: Sprout) -> list[Waiting]:
        chosen = self._best_split(subgroup)
        if chosen is None or sprout.node is None:
            return []
        attribute = chosen.table.attribute
        sprout.attribute = attribute.name
        sprout.branches = [(codes, Sprout(sprout.node.label, sprout.depth + 1)) for codes in chosen.branches]
        return [(partial(subgroup.within, attribute, codes), below) for codes, below in sprout.branches]

    def _node(self, counted: ClassShares, parent_label: int | None) -> Node:
        size_error = math.sqrt(counted.size_variance)
        if counted.size <= 0 and parent_label is not None:
            # An estimated size of nothing says nothing of the classes: the parent's answer stands.
            even = np.full(len(self.factors), 1 / len(self.factors))
            return Node(parent_label, counted.size, size_error, even, np.full_like(even, np.inf))
        shares, errors, label = class_figures(counted.classes, counted.covariance, self.factors)
        if parent_label is not None and not self._outweighs(counted, label, parent_label):
            label = parent_label
        return Node(label, counted.size, size_error, shares, errors)

    def _outweighs(self, counted: ClassShares, label: int, other: int) -> bool:
        """Whether one class exceeds another by enough standard errors to be the answer in its place."""
        if label == other:
            return True
        factor, other_factor = float(self.factors[label]), float(self.factors[other])
        ahead = factor * counted.classes[label] - other_factor * counted.classes[other]
        spread = counted.disguise if self.rules.sampling == "respondents" else counted.covariance
        both = factor * other_factor * (spread[label, other] + spread[other, label])
        variance = factor**2 * spread[label, label] + other_factor**2 * spread[other, other] - both
        return bool(ahead >= self.rules.guard.label * math.sqrt(max(variance, 0.0)) - SAME_SHARE)

    def _may_split(self, node: Node, counted: ClassShares, depth: int) -> bool:
        deep_enough = self.rules.max_depth is not None and depth >= self.rules.max_depth
        variance = counted.size_disguise if self.rules.sampling == "respondents" else counted.size_variance
        is_there = counted.size > max(self.rules.min_share, self.rules.guard.size * math.sqrt(variance))
        return is_there and not deep_enough and float(node.class_shares.max()) < 1

    def _best_split(self, subgroup: Subgroup) -> Candidate | None:
        """The most worthy split whose branches differ beyond chance; only as many are tested as it takes."""
        tables = subgroup.by_answer()
        ways = self._all_ways(tables.choices, tables.shares.shape[1])
        criterion, guard = CRITERIA.index(self.rules.criterion), self.rules.guard
        worths, width = np.empty(len(ways.branch_of)), max(ways.branch_of.shape[1], len(self.factors))
        shares, room = np.empty((width, len(self.factors))), np.empty((4, width))
        kernels.split_worths(worths, tables.shares, self.factors, ways.branch_of, ways.table_of, criterion, shares)
        least = 0.0 if guard.is_open else guard.least_score(ways.tests) ** 2
        covariances: dict[int, Array] = {}
        for split in np.argsort(-np.round(worths / SAME_WORTH), kind="stable").tolist():
            if worths[split] <= SAME_WORTH:
                return None
            place = int(ways.table_of[split])
            candidate = Candidate(tables.table(place), ways.branch_of[split])
            if guard.is_open:
                return candidate
            if place not in covariances:
                covariance = subgroup.covariance(candidate.table.attribute, self.rules.sampling)
                covariances[place] = np.ascontiguousarray(covariance)
            table, branch_of = (
                tables.shares[place, : len(covariances[place])],
                candidate.branch_of[: len(covariances[place])],
            )
            score = kernels.greatest_score(table, covariances[place], branch_of, self.factors, shares, room)
            if score > least:
                return candidate
        return None

    def _all_ways(self, choices: Sequence[Choice], width: int) -> Ways:
        by_table = [self._ways_of(attribute, codes, width) for attribute, codes in choices]
        if not by_table:
            return Ways(np.zeros((0, width), dtype=np.int64), np.zeros(0, dtype=np.int64), 0)
        table_of = np.repeat(np.arange(len(by_table)), [len(branch_of) for branch_of, _ in by_table])
        tests = sum(tests for _, tests in by_table)
        return Ways(np.concatenate([branch_of for branch_of, _ in by_table]), table_of, tests)

    def _ways_of(self, attribute: Attribute, allowed: Codes, width: int) -> tuple[NDArray[np.int64], int]:
        """Every way to split one attribute, in rows of a width, and by how many excesses they are tested."""
        key = (attribute.name, allowed, width)
        if key not in self._ways:
            made = list(_ways(attribute, allowed, self.rules.splits))
            branch_of = np.full((len(made), width), -1)
            for row, branches in zip(branch_of, made, strict=True):
                for number, codes in enumerate(branches):
                    row[list(codes)] = number
            tests = sum(kernels.n_contrasts(len(branches), len(self.factors)) for branches in made)
            self._ways[key] = branch_of, tests
        return self._ways[key]


def _ways(attribute: Attribute, allowed: Codes, splits: Splits) -> Iterator[tuple[Codes, ...]]:
    """Every way to split the allowed answers."""
    if splits == "multiway" or len(allowed) == 2:
        yield tuple((code,) for code in allowed)
        return
    if attribute.ordered:
        for cut in range(1, len(allowed)):
            yield allowed[:cut], allowed[cut:]
        return
    sizes = range(1, len(allowed) // 2 + 1) if len(allowed) <= ALL_SUBSETS else range(1, 2)
    for size in sizes:
        for some in itertools.combinations(allowed, size):
            rest = tuple(code for code in allowed if code not in some)
            if size < len(rest) or some[0] == allowed[0]:  # halves are met twice
                yield some, rest


def grow_tree(subgroup: Subgroup, n_classes: int, rules: SplitRules, class_shares: Array | None = None) -> Node:
    """The tree; where the distribution of the classes is known, every estimate is made to agree with it."""
    factors = np.ones(n_classes)
    if class_shares is not None:
        counted = subgroup.shares()
        # An estimate below one standard error is not known to be above zero, and would be multiplied without end.
        floor = np.sqrt(np.diagonal(counted.covariance))
        factors = class_shares / np.maximum(counted.classes, np.maximum(floor, 1e-12))
    return Grower(rules, factors).grow(subgroup)


def class_figures(counts: Array, covariance: Array, factors: Array) -> tuple[Array, Array, int]:
    """Proportions of the classes with their errors, each class multiplied by its factor, and which is the greatest.

    Of classes that are equal but for rounding it is the first.
    """
    weighed, greatest = counts * factors, 0
    for which in range(1, len(weighed)):
        if weighed[which] > weighed[greatest] + SAME_SHARE:
            greatest = which
    variances = share_variances(weighed, covariance * factors * factors[:, None])
    positive = np.maximum(weighed, 0.0)
    total = positive.sum()
    shares = positive / total if total > 0 else np.full(len(positive), 1 / len(positive))
    return shares, np.sqrt(variances), greatest


def share_variances(counts: Array, covariance: Array) -> Array:
    """Variances of proportions, by the delta method; without end where there is no mass."""
    total = float(np.add.accumulate(counts)[-1])
    if total <= 0:
        return np.full(len(counts), np.inf)
    slopes = np.eye(len(counts)) - (counts / total)[:, None]
    products = (slopes[:, :, None] * covariance * slopes[:, None, :]).reshape(len(counts), -1)
    # Added from the first to the last: an order of its own would round otherwise on other machines.
    return np.maximum(np.add.accumulate(products, axis=1)[:, -1], 0.0) / (total * total)
