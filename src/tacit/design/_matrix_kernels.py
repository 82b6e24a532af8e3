"""Measures of one square channel and its repair to the posterior bound, compiled for the search loops."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.kernels import inner_kernel, kernel

Array = NDArray[np.float64]
Codes = NDArray[np.intp]


# Sweeps over the columns before a matrix that still breaks the bound is blended towards equal columns.
REPAIR_SWEEPS = 20
# Repaired entries aim this much below the bound, so that rounding never lifts a posterior above it.
BELOW_BOUND = 1e-12
SINGULAR = 1e-12  # pivots below this: the matrix has no inverse to working precision


@kernel
def invert(matrix: Array, inverse: Array, order: Codes) -> bool:
    """Write the inverse (Gauss-Jordan in place, row pivoting); False if the matrix is singular to working precision.

    `order` is room for the rows that were exchanged.
    """
    n = matrix.shape[0]
    for i in range(n):
        for j in range(n):
            inverse[i, j] = matrix[i, j]
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(inverse[i, k]) > abs(inverse[pivot, k]):
                pivot = i
        if abs(inverse[pivot, k]) < SINGULAR:
            return False
        order[k] = pivot
        _eliminate(inverse, k, pivot)
    for k in range(n - 1, -1, -1):  # exchanged rows of the matrix are exchanged columns of its inverse
        if order[k] != k:
            for i in range(n):
                inverse[i, k], inverse[i, order[k]] = inverse[i, order[k]], inverse[i, k]
    return True


@inner_kernel
def _eliminate(inverse: Array, k: int, pivot: int) -> None:
    n = inverse.shape[0]
    if pivot != k:
        for j in range(n):
            inverse[k, j], inverse[pivot, j] = inverse[pivot, j], inverse[k, j]
    scale = 1.0 / inverse[k, k]
    inverse[k, k] = 1.0
    for j in range(n):
        inverse[k, j] *= scale
    for i in range(n):
        factor = inverse[i, k]
        if i != k and factor != 0.0:
            inverse[i, k] = 0.0
            for j in range(n):
                inverse[i, j] -= factor * inverse[k, j]


@kernel
def inverse_trace(matrix: Array, prior: Array, inverse: Array, order: Codes) -> float:
    """Trace of the inverse information of a square channel, ``sum_v q_v |A^-1[:, v]|^2``; infinite if singular."""
    if not invert(matrix, inverse, order):
        return np.inf
    n = matrix.shape[0]
    total = 0.0
    for v in range(n):
        expected = 0.0
        squared = 0.0
        for u in range(n):
            expected += matrix[v, u] * prior[u]
            squared += inverse[u, v] * inverse[u, v]
        total += expected * squared
    return total


@inner_kernel
def right_guesses(matrix: Array, prior: Array, accuracy: Array) -> float:
    """What the best guesser gains: ``sum_v max_x sum_u accuracy[x, u] A[v, u] p[u]``."""
    n = matrix.shape[0]
    total = 0.0
    for v in range(n):
        best = 0.0
        for x in range(n):
            gain = 0.0
            for u in range(n):
                gain += accuracy[x, u] * matrix[v, u] * prior[u]
            best = max(best, gain)
        total += best
    return total


@inner_kernel
def exact_guesses(matrix: Array, prior: Array) -> float:
    """`right_guesses` where only the exact guess counts."""
    n = matrix.shape[0]
    total = 0.0
    for v in range(n):
        best = 0.0
        for u in range(n):
            best = max(best, matrix[v, u] * prior[u])
        total += best
    return total


@inner_kernel
def largest_posterior(matrix: Array, prior: Array) -> float:
    worst = 0.0
    n = matrix.shape[0]
    for v in range(n):
        expected = 0.0
        largest = 0.0
        for u in range(n):
            joint = matrix[v, u] * prior[u]
            expected += joint
            largest = max(largest, joint)
        if expected > 0.0:
            worst = max(worst, largest / expected)
    return worst


@kernel
def repair(matrix: Array, prior: Array, delta: float) -> None:
    """Lower entries whose posterior exceeds `delta` and hand their mass to the column's entries with room.

    OptRR's bound repair, column by column; a matrix it cannot mend is blended towards equal columns, whose posteriors
    are the prior.
    """
    if delta >= 1.0:
        return
    n = matrix.shape[0]
    room = np.empty(n)
    for _ in range(REPAIR_SWEEPS):
        if largest_posterior(matrix, prior) <= delta:
            return
        for j in range(n):
            _repair_column(matrix, j, prior, delta, room)
    blend(matrix, prior, delta)


@inner_kernel
def _repair_column(matrix: Array, j: int, prior: Array, delta: float, room: Array) -> None:
    n = matrix.shape[0]
    freed = 0.0
    total_room = 0.0
    for v in range(n):
        rest = 0.0
        for u in range(n):
            if u != j:
                rest += matrix[v, u] * prior[u]
        allowed = (delta - BELOW_BOUND) * rest / ((1.0 - delta) * prior[j])
        if matrix[v, j] > allowed:
            freed += matrix[v, j] - allowed
            matrix[v, j] = allowed
            room[v] = 0.0
        else:
            room[v] = min(allowed, 1.0) - matrix[v, j]
            total_room += room[v]
    if freed == 0.0:
        return
    if total_room > 0.0:
        for v in range(n):
            matrix[v, j] += freed * room[v] / total_room
    else:
        for v in range(n):
            matrix[v, j] += freed / n


@kernel
def blend(matrix: Array, prior: Array, delta: float) -> None:
    """Mix with the channel whose every column is the distribution of the reports, just enough to meet the bound."""
    n = matrix.shape[0]
    share = 0.0
    for v in range(n):
        expected = 0.0
        for u in range(n):
            expected += matrix[v, u] * prior[u]
        for u in range(n):
            if expected > 0.0:
                posterior = matrix[v, u] * prior[u] / expected
                if posterior > delta:
                    needed = (posterior - delta) / (posterior - prior[u])
                    share = max(share, min(1.0, needed * (1.0 + 1e-9)))
    if share == 0.0:
        return
    for v in range(n):
        expected = 0.0
        for u in range(n):
            expected += matrix[v, u] * prior[u]
        for u in range(n):
            matrix[v, u] = (1.0 - share) * matrix[v, u] + share * expected
