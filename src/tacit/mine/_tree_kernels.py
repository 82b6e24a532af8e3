"""Compiled loops over the splits of a node. The arguments are assumed to be valid."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.kernels import inner_kernel, kernel

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

# Shares of all people closer than this are equal but for rounding; no two numbers of people are.
SAME_SHARE = 1e-12


@inner_kernel
def _impurity(counts: Floats, total: float, criterion: int) -> float:
    """Entropy in bits, or for purity (2) the chance that two draws differ; counts below zero are taken as none."""
    value = 1.0 if criterion == 2 else 0.0
    for count in counts:
        if count > 0:
            share = count / total
            value -= share * share if criterion == 2 else share * math.log2(share)
    return value


@inner_kernel
def _worth(shares: Floats, criterion: int) -> float:
    """What a split gains, from ``shares[branch, class]``: information (0), gain ratio (1) or purity (2)."""
    of_classes, of_branches = np.zeros(shares.shape[1]), np.zeros(shares.shape[0])
    total = 0.0
    for branch in range(shares.shape[0]):
        for of_class in range(shares.shape[1]):
            share = max(shares[branch, of_class], 0.0)
            of_classes[of_class] += share
            of_branches[branch] += share
            total += share
    if total <= 0:
        return 0.0
    gain = _impurity(of_classes, total, criterion)
    for branch in range(shares.shape[0]):
        size = of_branches[branch]
        if size > 0:
            gain -= size / total * _impurity(shares[branch], size, criterion)
    if criterion == 1:
        information = _impurity(of_branches, total, criterion)
        gain = gain / information if information > 0 else 0.0
    return gain


@inner_kernel
def n_branches(branch_of: Places) -> int:
    """How many branches a split has, from the branch of each answer."""
    largest = -1
    for branch in branch_of:
        largest = max(largest, branch)
    return largest + 1


@inner_kernel
def branch_shares(table: Floats, branch_of: Places, n_branches: int) -> Floats:
    """Shares ``[branch, class]`` of a split; answers that are left out have branch -1."""
    shares = np.zeros((n_branches, table.shape[1]))
    for answer in range(len(table)):
        if branch_of[answer] >= 0:
            for of_class in range(table.shape[1]):
                shares[branch_of[answer], of_class] += table[answer, of_class]
    return shares


@kernel
def split_worths(tables: Floats, factors: Floats, branch_of: Places, table_of: Places, criterion: int) -> Floats:
    """What each split gains: of the table ``table_of[split]``, into the branches ``branch_of[split, answer]``.

    Estimates, each class multiplied by its factor, can be negative; they are clipped here, for the worth alone.
    """
    worths = np.empty(len(branch_of))
    for split in range(len(branch_of)):
        branches = branch_shares(tables[table_of[split]], branch_of[split], n_branches(branch_of[split]))
        for branch in range(len(branches)):
            for of_class in range(len(factors)):
                branches[branch, of_class] *= factors[of_class]
        worths[split] = _worth(branches, criterion)
    return worths


@inner_kernel
def _present(shares: Floats) -> tuple[Floats, Floats, int]:
    """Sizes of the branches that are above zero, the classes of all of these together, and how many they are."""
    sizes, of_classes = np.zeros(shares.shape[0]), np.zeros(shares.shape[1])
    present = 0
    for branch in range(shares.shape[0]):
        size = 0.0
        for share in shares[branch]:
            size += share
        if size > 0:
            sizes[branch] = size
            present += 1
            for of_class in range(shares.shape[1]):
                of_classes[of_class] += shares[branch, of_class]
    return sizes, of_classes, present


@kernel
def excess_contrasts(shares: Floats) -> Floats:
    """Weights ``[which, branch, class]`` that give each branch's excess of each class; none if one branch holds everybody.

    A branch whose estimated size is not above zero is left out. Of two branches, and of two classes, one is enough.
    """
    branches, classes = shares.shape
    sizes, of_classes, present = _present(shares)
    if present < 2:
        return np.zeros((0, branches, classes))
    within, total = clipped_shares(of_classes), 0.0
    for size in sizes:
        total += size
    some, kinds = 1 if branches == 2 else branches, 1 if classes == 2 else classes
    contrasts = np.zeros((some * kinds, branches, classes))
    for one in range(some):
        for kind in range(kinds):
            for branch in range(branches):
                if sizes[branch] > 0:
                    of_branch = (branch == one) - sizes[one] / total
                    for of_class in range(classes):
                        contrasts[one * kinds + kind, branch, of_class] = of_branch * (
                            (of_class == kind) - within[kind]
                        )
    return contrasts


def n_contrasts(branches: int, classes: int) -> int:
    """How many excesses a split is tested by."""
    return (1 if branches == 2 else branches) * (1 if classes == 2 else classes)


@inner_kernel
def _variance(weights: Floats, covariance: Floats) -> float:
    """Variance of a weighted sum of the cells of a table, ``weights[answer, class]``."""
    variance = 0.0
    for answer in range(weights.shape[0]):
        for of_class in range(weights.shape[1]):
            weight = weights[answer, of_class]
            if weight != 0.0:
                for other in range(weights.shape[0]):
                    for kind in range(weights.shape[1]):
                        variance += weight * covariance[answer, of_class, other, kind] * weights[other, kind]
    return variance


@kernel
def greatest_score(table: Floats, covariance: Floats, branch_of: Places, factors: Floats) -> float:
    """The square of the greatest excess of a class in a branch of a split, in standard errors.

    An excess ``count - share * total``, by the shares of all branches together, is linear in the estimates, so its error is
    sound even where the total of a branch is not known to be above zero; a ratio's is not. `table` is multiplied by
    `factors`, one for each class, already; ``covariance[answer, class, answer, class]`` is not.
    """
    contrasts = excess_contrasts(branch_shares(table, branch_of, n_branches(branch_of)))
    weights = np.zeros(table.shape)
    greatest = 0.0
    for which in range(len(contrasts)):
        excess = 0.0
        for answer in range(table.shape[0]):
            for of_class in range(table.shape[1] if branch_of[answer] >= 0 else 0):
                contrast = contrasts[which, branch_of[answer], of_class]
                excess += contrast * table[answer, of_class]
                weights[answer, of_class] = contrast * factors[of_class]
        variance = _variance(weights, covariance)
        if variance > 0:
            greatest = max(greatest, excess**2 / variance)
        elif excess != 0.0:
            return np.inf
    return greatest


@kernel
def clipped_shares(counts: Floats) -> Floats:
    """Proportions of estimates, those below zero clipped; even where there is no mass."""
    total = 0.0
    for count in counts:
        total += max(count, 0.0)
    shares = np.empty(len(counts))
    for which in range(len(counts)):
        shares[which] = max(counts[which], 0.0) / total if total > 0 else 1 / len(counts)
    return shares
