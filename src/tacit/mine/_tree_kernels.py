"""Compiled loops over the cells of a node. The arguments are assumed to be valid."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Cells = NDArray[np.int64]
Codes = NDArray[np.uint8]


@njit(cache=True)
def class_sums(cells: Cells, codes: Codes, target: int, values: Floats, n_classes: int) -> Floats:
    """Sums of ``values[:, cell]`` over some cells by class."""
    sums = np.zeros((len(values), n_classes))
    for cell in cells:
        of_class = codes[cell, target]
        for row in range(len(values)):
            sums[row, of_class] += values[row, cell]
    return sums


@njit(cache=True)
def all_answer_sums(
    cells: Cells, codes: Codes, target: int, values: Floats, free: Cells, which: Cells, shape: tuple[int, int]
) -> Floats:
    """Sums by answer and class for every free attribute at once, of ``values[which, cell]``; ``codes[cell, attribute]``."""
    sums = np.zeros((len(free), shape[0], shape[1]))
    for cell in cells:
        of_class = codes[cell, target]
        for position in range(len(free)):
            sums[position, codes[cell, free[position]], of_class] += values[which[position], cell]
    return sums


@njit(cache=True)
def chosen_cells(cells: Cells, codes: Codes, attribute: int, allowed: NDArray[np.bool_]) -> Cells:
    """The cells whose answer to one attribute is allowed."""
    found = np.empty(len(cells), dtype=np.int64)
    count = 0
    for cell in cells:
        if allowed[codes[cell, attribute]]:
            found[count] = cell
            count += 1
    return found[:count].copy()


@njit(cache=True)
def _entropy(counts: Floats, total: float) -> float:
    bits = 0.0
    for count in counts:
        if count > 0:
            bits -= count / total * np.log2(count / total)
    return bits


@njit(cache=True)
def _gini(counts: Floats, total: float) -> float:
    pure = 0.0
    for count in counts:
        pure += (count / total) ** 2
    return 1 - pure


@njit(cache=True)
def split_worths(tables: Floats, criterion: int) -> Floats:
    """What each split gains, from its table ``[branch, class]``: information (0), gain ratio (1) or purity (2).

    Estimates can be negative; they are clipped here, for the worth alone.
    """
    worths = np.zeros(len(tables))
    for position in range(len(tables)):
        table = np.maximum(tables[position], 0)
        of_classes, of_branches = table.sum(axis=0), table.sum(axis=1)
        total = of_classes.sum()
        if total <= 0:
            continue
        gain = _gini(of_classes, total) if criterion == 2 else _entropy(of_classes, total)
        for branch in range(len(table)):
            size = of_branches[branch]
            if size > 0:
                impurity = _gini(table[branch], size) if criterion == 2 else _entropy(table[branch], size)
                gain -= size / total * impurity
        if criterion == 1:
            information = _entropy(of_branches, total)
            gain = gain / information if information > 0 else 0.0
        worths[position] = gain
    return worths


@njit(cache=True)
def excess_contrasts(shares: Floats) -> Floats:
    """Weights ``[which, branch, class]`` that give each branch's excess of each class; none if one branch holds everybody.

    A branch whose estimated size is not above zero is left out. Of two branches, and of two classes, one is enough.
    """
    branches, classes = shares.shape
    sizes = np.zeros(branches)
    of_classes = np.zeros(classes)
    for branch in range(branches):
        size = shares[branch].sum()
        if size > 0:
            sizes[branch] = size
            of_classes += shares[branch]
    if np.count_nonzero(sizes) < 2:
        return np.zeros((0, branches, classes))
    within, total = clipped_shares(of_classes), sizes.sum()
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


@njit(cache=True)
def contrast_squares(contrasts: Floats, back: Floats, shown: Floats, shares: Floats) -> Floats:
    """What a report adds to each contrast, squared, less what its truth does; means over ``contrasts[which, truth]``."""
    squares = np.zeros(len(contrasts))
    for which in range(len(contrasts)):
        of_reports, of_truths = 0.0, 0.0
        for place in range(len(shown)):
            added = 0.0
            for truth in range(len(shares)):
                added += back[place, truth] * contrasts[which, truth]
            of_reports += shown[place] * added**2
        for truth in range(len(shares)):
            of_truths += shares[truth] * contrasts[which, truth] ** 2
        squares[which] = max(of_reports - of_truths, 0.0)
    return squares


@njit(cache=True)
def excess_variances(shares: Floats, variances: Floats, total_variance: float) -> Floats:
    """Variances of ``count - share * total`` for each class, for fixed shares.

    What the variance of the total has beyond the sum of those of its parts is their covariance: all there is for two
    classes; for more it is dealt to pairs in proportion to their variances.
    """
    everything = variances.sum()
    pairs = variances * (everything - variances)
    dealt = pairs / pairs.sum() if pairs.sum() > 0 else np.zeros(len(pairs))
    with_total = variances + (total_variance - everything) * dealt
    return np.maximum(variances - 2 * shares * with_total + shares**2 * total_variance, 0)


@njit(cache=True)
def clipped_shares(counts: Floats) -> Floats:
    """Proportions of estimates, those below zero clipped; even where there is no mass."""
    clipped = np.maximum(counts, 0)
    total = clipped.sum()
    return clipped / total if total > 0 else np.full(len(counts), 1 / len(counts))


@njit(cache=True)
def share_variances(counts: Floats, variances: Floats, total_variance: float) -> Floats:
    """Variances of proportions, by the delta method; without end where there is no mass."""
    total = counts.sum()
    if total <= 0:
        return np.full(len(counts), np.inf)
    return excess_variances(counts / total, variances, total_variance) / total**2
