"""Growing a tree from estimated shares: ID3 with every probability replaced by its estimate.

What matters most under a disguise is where to stop: a split is made only where a branch differs from the others by some
standard errors, and a node answers otherwise than the one above it only where a class is ahead by some as well. They are
the errors of the disguise alone, so that clear data give the tree of clear data.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from tacit.channel.base import Array
from tacit.errors import NotEstimable
from tacit.mine import _tree_kernels as kernels
from tacit.mine.impurity import Criterion, split_worths
from tacit.mine.people import Codes, NodeShares, People
from tacit.mine.tree import Branch, Node
from tacit.schema import Attribute

Splits = Literal["multiway", "binary"]
# Two-way splits of unordered answers go through all subsets up to this many answers, then one answer against the rest.
ALL_SUBSETS = 6
# Worths closer than this are equal but for rounding; the attribute that is listed first is taken.
SAME_WORTH = 1e-12


@dataclass(frozen=True)
class Guard:
    """By how many standard errors of the disguise branches must differ, and a class be ahead of the answer above."""

    split: float
    label: float


@dataclass(frozen=True)
class Rules:
    """When and how a node is split."""

    criterion: Criterion = "gain"
    splits: Splits = "multiway"
    guard: Guard = Guard(0, 0)
    max_depth: int | None = None
    min_share: float = 0.0


@dataclass(frozen=True, eq=False)
class Candidate:
    """A split that could be made: the branches' answers, and the estimated shares ``[branch, class]``."""

    attribute: Attribute
    branches: tuple[Codes, ...]
    shares: Array


@dataclass(frozen=True, eq=False)
class Grower:
    """Grows a tree; estimated shares of each class are multiplied by `factors`, where its true share is known."""

    rules: Rules
    factors: Array

    @cached_property
    def _is_even(self) -> bool:
        return bool((self.factors == 1).all())

    def grow(self, people: People, label: int | None = None, depth: int = 0) -> Node:
        """The tree for these people; `label` is the answer of the node above."""
        try:
            node = self._node(people.shares(), label)
        except NotEstimable:
            if label is None:
                raise
            even = np.full(len(self.factors), 1 / len(self.factors))
            return Node(label, math.nan, math.nan, even, np.full_like(even, np.nan))
        if not self._may_split(node, depth):
            return node
        chosen = self._best_split(people)
        if chosen is None:
            return node
        branches = tuple(
            Branch(codes, self.grow(people.within(chosen.attribute, codes), node.label, depth + 1))
            for codes in chosen.branches
        )
        return node.split(chosen.attribute.name, branches)

    def _node(self, found: NodeShares, parent_label: int | None) -> Node:
        size_error = math.sqrt(found.size_variance)
        classes = found.classes * self.factors
        if found.size <= 0 and parent_label is not None:
            # An estimated size of nothing says nothing of the classes: the parent's answer stands.
            even = np.full(len(classes), 1 / len(classes))
            return Node(parent_label, found.size, size_error, even, np.full_like(even, np.inf))
        shares = kernels.clipped_shares(classes)
        size_variance = found.size_variance * float(shares @ self.factors**2)
        errors = np.sqrt(kernels.share_variances(classes, found.class_variances * self.factors**2, size_variance))
        label = int(np.argmax(shares))
        if parent_label is not None and not self._outweighs(found, label, parent_label):
            label = parent_label
        return Node(label, found.size, size_error, shares, errors)

    def _outweighs(self, found: NodeShares, label: int, other: int) -> bool:
        """Whether one class exceeds another by enough standard errors of the disguise to be the answer in its place."""
        if label == other:
            return True
        (one, two), weights = found.disguise.classes[[label, other]], self.factors[[label, other]]
        # What the total's variance has beyond its parts' is their covariance, dealt as in the errors of shares.
        covariance = min(float(found.disguise.totals - found.disguise.classes.sum()) / 2, 0.0)
        variance = weights[0] ** 2 * one + weights[1] ** 2 * two - 2 * weights[0] * weights[1] * covariance
        ahead = float((found.classes * self.factors)[label] - (found.classes * self.factors)[other])
        return ahead >= self.rules.guard.label * math.sqrt(max(variance, 0.0))

    def _may_split(self, node: Node, depth: int) -> bool:
        deep_enough = self.rules.max_depth is not None and depth >= self.rules.max_depth
        return node.size > self.rules.min_share and not deep_enough and float(node.class_shares.max()) < 1

    def _best_split(self, people: People) -> Candidate | None:
        """The most worthy split whose branches differ significantly; only as many are tested as it takes."""
        candidates = list(self._candidates(people))
        if not candidates:
            return None
        worths = split_worths([candidate.shares for candidate in candidates], self.rules.criterion)
        for place in _best_first(worths):
            if self.rules.guard.split <= 0 or self._differ(people, candidates[place]):
                return candidates[place]
        return None

    def _candidates(self, people: People) -> Iterator[Candidate]:
        for attribute, by_answer, allowed in people.by_answer():
            weighed = by_answer if self._is_even else by_answer * self.factors
            for branches in _ways(attribute, allowed, self.rules.splits):
                whole = len(branches) == attribute.size  # every answer has its branch, so nothing is summed
                shares = weighed if whole else np.stack([weighed[list(codes)].sum(axis=0) for codes in branches])
                yield Candidate(attribute, branches, shares)

    def _differ(self, people: People, candidate: Candidate) -> bool:
        """Whether some branch has more or fewer of a class than the others by enough standard errors of the disguise.

        A branch's excess ``count - share * total``, by the shares of all branches together, is linear in the estimates, so
        its error is sound even where the total of a branch is not known to be above zero; a ratio's is not.
        """
        contrasts = kernels.excess_contrasts(candidate.shares)
        if not len(contrasts):
            return False
        weighed = contrasts if self._is_even else contrasts * self.factors
        variances = people.contrast_variances(candidate.attribute, candidate.branches, weighed)
        excess = (contrasts * candidate.shares).sum(axis=(1, 2))
        return bool((excess**2 > self.rules.guard.split**2 * variances).any())


def _best_first(worths: Array) -> list[int]:
    """Positions of the splits that gain anything, the best first; of equal ones the first first."""
    order = np.argsort(-np.round(worths / SAME_WORTH), kind="stable")
    return [int(place) for place in order if worths[place] > SAME_WORTH]


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


def grown(people: People, n_classes: int, rules: Rules, class_shares: Array | None = None) -> Node:
    """The tree; where the distribution of the classes is known, every estimate is made to agree with it."""
    factors = np.ones(n_classes)
    if class_shares is not None:
        found = people.shares()
        # An estimate below one standard error is not known to be above zero, and would be multiplied without end.
        floor = np.sqrt(found.class_variances)
        factors = class_shares / np.maximum(found.classes, np.maximum(floor, 1e-12))
    return Grower(rules, factors).grow(people)
