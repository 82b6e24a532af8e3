"""Compiled loops over the cells of a node. The arguments are assumed to be valid."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Cells = NDArray[np.int64]
Codes = NDArray[np.uint8]


@njit(cache=True)
def class_sums(cells: Cells, classes: Codes, values: Floats, n_classes: int) -> Floats:
    """Sums of the values of some cells by class."""
    sums = np.zeros(n_classes)
    for cell in cells:
        sums[classes[cell]] += values[cell]
    return sums


@njit(cache=True)
def answer_sums(cells: Cells, codes: Codes, classes: Codes, values: Floats, shape: tuple[int, int]) -> Floats:
    """Sums of the values of some cells by answer of one attribute and class."""
    sums = np.zeros(shape)
    for cell in cells:
        sums[codes[cell], classes[cell]] += values[cell]
    return sums


@njit(cache=True)
def all_answer_sums(
    cells: Cells, codes: Codes, classes: Codes, values: Floats, free: Cells, shape: tuple[int, int]
) -> Floats:
    """The same for every free attribute at once; ``codes[cell, attribute]``."""
    sums = np.zeros((len(free), shape[0], shape[1]))
    for cell in cells:
        value, of_class = values[cell], classes[cell]
        for position in range(len(free)):
            sums[position, codes[cell, free[position]], of_class] += value
    return sums


@njit(cache=True)
def chosen_cells(cells: Cells, codes: Codes, allowed: NDArray[np.bool_]) -> Cells:
    """The cells whose answer is allowed."""
    found = np.empty(len(cells), dtype=np.int64)
    count = 0
    for cell in cells:
        if allowed[codes[cell]]:
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
