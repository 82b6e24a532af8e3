"""Sums over the answers of each row, and over the rows of each answer, for all components at once.

Products with a matrix of indicators would do the same, but such matrices are large, and threads of the linear algebra
wait for each other longer than these loops take.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Float = NDArray[np.float64]
Cells = NDArray[np.int32]


@njit(cache=True, nogil=True)
def row_sums(cells: Cells, values: Float) -> Float:
    """``out[row, component]``: the sum of ``values[cell, component]`` over the cells of the row."""
    out = np.zeros((cells.shape[0], values.shape[1]))
    for row in range(cells.shape[0]):
        for position in range(cells.shape[1]):
            cell = cells[row, position]
            for component in range(values.shape[1]):
                out[row, component] += values[cell, component]
    return out


@njit(cache=True, nogil=True)
def cell_sums(cells: Cells, weights: Float, n_cells: int) -> Float:
    """``out[cell, component]``: the sum of ``weights[row, component]`` over the rows that have the cell."""
    out = np.zeros((n_cells, weights.shape[1]))
    for row in range(cells.shape[0]):
        for position in range(cells.shape[1]):
            cell = cells[row, position]
            for component in range(weights.shape[1]):
                out[cell, component] += weights[row, component]
    return out
