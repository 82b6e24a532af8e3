"""Compiled loops over the splits of a node. The arguments are assumed to be valid.

Kernels get room for what they work out from their caller: numba compiles every array that a kernel makes itself.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.kernels import inner_kernel, kernel

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@inner_kernel
def _fill_branches(shares: Floats, table: Floats, factors: Floats, branch_of: Places) -> int:
    """Fill ``shares[branch, class]`` of a split; answers that are left out have branch -1. How many branches it has."""
    n_branches = 0
    for branch in branch_of:
        n_branches = max(n_branches, branch + 1)
    for branch in range(n_branches):
        for of_class in range(len(factors)):
            shares[branch, of_class] = 0.0
    for answer in range(len(table)):
        if branch_of[answer] >= 0:
            for of_class in range(len(factors)):
                shares[branch_of[answer], of_class] += table[answer, of_class] * factors[of_class]
    return n_branches


@inner_kernel
def _impurity(share: float, criterion: int) -> float:
    """What one of several shares adds to their entropy in bits, or for purity (2) to the chance that two draws agree, below 0."""
    if share <= 0:
        return 0.0
    return -share * share if criterion == 2 else -share * math.log2(share)


@inner_kernel
def _worth(shares: Floats, n_branches: int, criterion: int) -> float:
    """What a split gains, from ``shares[branch, class]``: information (0), gain ratio (1) or purity (2).

    Shares below zero are taken as none.
    """
    total, gain, information = 0.0, 0.0, 0.0
    for branch in range(n_branches):
        for of_class in range(shares.shape[1]):
            shares[branch, of_class] = max(shares[branch, of_class], 0.0)
            total += shares[branch, of_class]
    if total <= 0:
        return 0.0
    for of_class in range(shares.shape[1]):
        count = 0.0
        for branch in range(n_branches):
            count += shares[branch, of_class]
        gain += _impurity(count / total, criterion)
    for branch in range(n_branches):
        size, within = 0.0, 0.0
        for share in shares[branch]:
            size += share
        for share in shares[branch]:
            within += _impurity(share / size, criterion) if size > 0 else 0.0
        gain -= size / total * within
        information += _impurity(size / total, criterion)
    if criterion == 1:
        gain = gain / information if information > 0 else 0.0
    return gain


@kernel
def split_worths(
    worths: Floats, tables: Floats, factors: Floats, branch_of: Places, table_of: Places, criterion: int, shares: Floats
) -> None:
    """What each split gains: of the table ``table_of[split]``, into the branches ``branch_of[split, answer]``.

    Estimates, each class multiplied by its factor, can be negative; they are clipped for the worth alone. `shares` is room for
    those of a split.
    """
    for split in range(len(branch_of)):
        n_branches = _fill_branches(shares, tables[table_of[split]], factors, branch_of[split])
        worths[split] = _worth(shares, n_branches, criterion)


def n_contrasts(branches: int, classes: int) -> int:
    """How many excesses a split is tested by: of two branches, and of two classes, one is enough."""
    return (1 if branches == 2 else branches) * (1 if classes == 2 else classes)


@inner_kernel
def _variance(of_branch: Floats, of_class: Floats, branch_of: Places, covariance: Floats) -> float:
    """Variance of the sum of all cells of a table, each multiplied by a weight of its branch and one of its class."""
    variance = 0.0
    for answer in range(len(branch_of)):
        for other in range(len(branch_of)):
            if branch_of[answer] >= 0 and branch_of[other] >= 0:
                weight = of_branch[branch_of[answer]] * of_branch[branch_of[other]]
                if weight != 0.0:
                    for first in range(len(of_class)):
                        for second in range(len(of_class)):
                            cell = covariance[answer, first, other, second]
                            variance += weight * of_class[first] * cell * of_class[second]
    return variance


@inner_kernel
def _fill_totals(sizes: Floats, within: Floats, shares: Floats) -> int:
    """Fill the sizes of branches, 0 for those not above zero, and the shares of classes in all others; how many these are."""
    present, total = 0, 0.0
    for kind in range(len(within)):
        within[kind] = 0.0
    for branch in range(len(sizes)):
        sizes[branch] = 0.0
        for share in shares[branch]:
            sizes[branch] += share
        sizes[branch] = max(sizes[branch], 0.0)
        if sizes[branch] > 0:
            present += 1
            for kind in range(len(within)):
                within[kind] += shares[branch, kind]
    for kind in range(len(within)):
        total += max(within[kind], 0.0)
    for kind in range(len(within)):
        within[kind] = max(within[kind], 0.0) / total if total > 0 else 1 / len(within)
    return present


@kernel
def greatest_score(
    table: Floats, covariance: Floats, branch_of: Places, factors: Floats, shares: Floats, room: Floats
) -> float:
    """The square of the greatest excess of a class in a branch of a split, in standard errors; 0 if one branch holds everybody.

    An excess ``count - share * total``, by the shares of all branches together, is linear in the estimates, so its error is
    sound even where the total of a branch is not known to be above zero; a ratio's is not. It is the sum of all cells times a
    weight of the branch and a weight of the class. Branches whose estimated size is not above zero are left out.
    ``covariance[answer, class, answer, class]`` is that of the table before each class is multiplied by its factor. `shares` and
    `room`, of four rows as wide as there are branches or classes, are filled.
    """
    n_branches, n_classes = _fill_branches(shares, table, factors, branch_of), len(factors)
    within, of_class = room[0, :n_classes], room[1, :n_classes]
    sizes, of_branch = room[2, :n_branches], room[3, :n_branches]
    greatest = 0.0
    if _fill_totals(sizes, within, shares[:n_branches]) < 2:
        return greatest
    total = 0.0
    for size in sizes:
        total += size
    for chosen in range(1 if n_branches == 2 else n_branches):
        for branch in range(n_branches):
            of_branch[branch] = (branch == chosen) - sizes[chosen] / total if sizes[branch] > 0 else 0.0
        for kind in range(1 if n_classes == 2 else n_classes):
            excess = 0.0
            for each in range(n_classes):
                weight = (each == kind) - within[kind]
                of_class[each] = weight * factors[each]
                for branch in range(n_branches):
                    excess += of_branch[branch] * weight * shares[branch, each]
            variance = _variance(of_branch, of_class, branch_of, covariance)
            if variance > 0:
                greatest = max(greatest, excess**2 / variance)
            elif excess != 0.0:
                return np.inf
    return greatest
