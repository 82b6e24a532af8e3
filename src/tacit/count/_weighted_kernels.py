"""Compiled loops of weighted tallies; their callers have checked every code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.kernels import unlocked_kernel


@unlocked_kernel
def add_weights(
    codes: NDArray[Any], others: NDArray[Any], size: np.uint32, weights: NDArray[np.float64], sums: NDArray[np.float64]
) -> None:
    """Add each row's weight and its square to the cell ``codes * size + others`` of ``(copies, cells, 2)``.

    The copies, up to four, are to be summed. Neighbouring rows go to different ones, and weight and square lie side by
    side: an addition need not wait for the one before it, and touches one line of memory. The cell is worked out here and
    not stored first: reading the weights already takes as long as counting, so every further pass shows.
    """
    copies = len(sums)
    first, second, third, fourth = sums[0], sums[1 % copies], sums[2 % copies], sums[3 % copies]
    whole = len(weights) & ~3
    for row in range(0, whole, 4):
        # Numbers without a sign are indices as they are: any other would be looked at for counting from the end.
        i = np.uintp(np.uint32(codes[row]) * size + np.uint32(others[row]))
        j = np.uintp(np.uint32(codes[row + 1]) * size + np.uint32(others[row + 1]))
        k = np.uintp(np.uint32(codes[row + 2]) * size + np.uint32(others[row + 2]))
        m = np.uintp(np.uint32(codes[row + 3]) * size + np.uint32(others[row + 3]))
        a, b, c, d = weights[row], weights[row + 1], weights[row + 2], weights[row + 3]
        first[i, 0] += a
        first[i, 1] += a * a
        second[j, 0] += b
        second[j, 1] += b * b
        third[k, 0] += c
        third[k, 1] += c * c
        fourth[m, 0] += d
        fourth[m, 1] += d * d
    for row in range(whole, len(weights)):
        i = np.uintp(np.uint32(codes[row]) * size + np.uint32(others[row]))
        first[i, 0] += weights[row]
        first[i, 1] += weights[row] * weights[row]
