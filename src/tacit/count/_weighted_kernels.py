"""Compiled loops of weighted tallies; their callers have checked every code."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def add_weights(codes: NDArray[np.uint32], weights: NDArray[np.float64], sums: NDArray[np.float64]) -> None:
    """Add each row's weight and its square to ``(copies, cells, 2)``; the copies, up to four, are to be summed.

    Neighbouring rows go to different copies, and weight and square lie side by side: an addition need not wait for the
    one before it, and touches one line of memory.
    """
    copies = len(sums)
    first, second, third, fourth = sums[0], sums[1 % copies], sums[2 % copies], sums[3 % copies]
    whole = len(codes) & ~3
    for row in range(0, whole, 4):
        a, b, c, d = weights[row], weights[row + 1], weights[row + 2], weights[row + 3]
        first[codes[row], 0] += a
        first[codes[row], 1] += a * a
        second[codes[row + 1], 0] += b
        second[codes[row + 1], 1] += b * b
        third[codes[row + 2], 0] += c
        third[codes[row + 2], 1] += c * c
        fourth[codes[row + 3], 0] += d
        fourth[codes[row + 3], 1] += d * d
    for row in range(whole, len(codes)):
        first[codes[row], 0] += weights[row]
        first[codes[row], 1] += weights[row] * weights[row]
