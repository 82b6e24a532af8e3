"""Sums and products over the cells of each row, and over the rows of each cell, for all components at once.

Products with matrices of indicators would do the same, but such matrices are large, and threads of the linear algebra
wait for each other longer than these loops take.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.kernels import inner_kernel, unlocked_kernel

Float = NDArray[np.float64]
Cells = NDArray[np.int32]

# A chance below this has lost digits on the way.
SMALLEST = 1e-250


@unlocked_kernel
def row_products(cells: Cells, values: Float) -> Float:
    """``out[row, component]``: the product of ``values[cell, component]`` over the cells of the row."""
    n, width, K = cells.shape[0], cells.shape[1], values.shape[1]
    out = np.empty((n, K))
    for row in range(n):
        first = cells[row, 0]
        for k in range(K):
            out[row, k] = values[first, k]
        for position in range(1, width):
            cell = cells[row, position]
            for k in range(K):
                out[row, k] *= values[cell, k]
    return out


@unlocked_kernel
def cell_sums(cells: Cells, weights: Float, n_cells: int) -> Float:
    """``out[cell, component]``: the sum of ``weights[row, component]`` over the rows that have the cell."""
    K = weights.shape[1]
    out = np.zeros((n_cells, K))
    for row in range(cells.shape[0]):
        for position in range(cells.shape[1]):
            cell = cells[row, position]
            for k in range(K):
                out[cell, k] += weights[row, k]
    return out


@unlocked_kernel
def expectation(cells: Cells, chances: Float, weights: Float, counts: Float) -> tuple[float, Float]:
    """The E step of a mixture: log-likelihood, and people by cell and component.

    `chances` are those of each cell in each component. Where a product falls below the smallest number, the row is done
    again with logarithms.
    """
    n, width, K = cells.shape[0], cells.shape[1], chances.shape[1]
    people = np.zeros((chances.shape[0], K))
    here = np.empty(K)
    total = 0.0
    for row in range(n):
        if counts[row] == 0.0:
            continue
        whole = _together(cells[row], chances, weights, here)
        if whole > SMALLEST:
            total += counts[row] * math.log(whole)
        else:
            total += counts[row] * _by_logarithms(cells[row], chances, weights, here)
            whole = 1.0
        scale = counts[row] / whole
        for k in range(K):
            here[k] *= scale
        for position in range(width):
            cell = cells[row, position]
            for k in range(K):
                people[cell, k] += here[k]
    return total, people


@inner_kernel
def _together(cells: Cells, chances: Float, weights: Float, here: Float) -> float:
    """Chance of one row; writes that of the row together with each component into `here`."""
    K = chances.shape[1]
    for k in range(K):
        here[k] = weights[k]
    for position in range(cells.shape[0]):
        cell = cells[position]
        for k in range(K):
            here[k] *= chances[cell, k]
    whole = 0.0
    for k in range(K):
        whole += here[k]
    return whole


@unlocked_kernel
def row_shares(cells: Cells, chances: Float, weights: Float) -> tuple[Float, Float]:
    """Log-likelihood of each row, and the posterior of its components."""
    n, K = cells.shape[0], chances.shape[1]
    logs, shares = np.empty(n), np.empty((n, K))
    for row in range(n):
        logs[row] = _by_logarithms(cells[row], chances, weights, shares[row])
    return logs, shares


@inner_kernel
def _by_logarithms(cells: Cells, chances: Float, weights: Float, shares: Float) -> float:
    """Log-likelihood of one row; writes the posterior of its components into `shares`."""
    K = chances.shape[1]
    top = -np.inf
    for k in range(K):
        # An answer nobody gives has chance zero; its logarithm only has to be very low.
        log = math.log(max(weights[k], 1e-300))
        for position in range(cells.shape[0]):
            log += math.log(max(chances[cells[position], k], 1e-300))
        shares[k] = log
        top = max(top, log)
    whole = 0.0
    for k in range(K):
        shares[k] = math.exp(shares[k] - top)
        whole += shares[k]
    for k in range(K):
        shares[k] /= whole
    return top + math.log(whole)
