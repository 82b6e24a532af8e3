"""Compiled loops of the memory engine; their callers have checked every code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.kernels import unlocked_kernel


@unlocked_kernel
def extend_codes(codes: NDArray[np.uint32], column: NDArray[Any], size: np.uint32) -> None:
    """Append one column to mixed-radix codes, in place; compiles to vector instructions."""
    for row in range(len(codes)):
        codes[row] = codes[row] * size + np.uint32(column[row])


@unlocked_kernel
def add_to_histogram(codes: NDArray[np.uint32], histogram: NDArray[np.uint32]) -> None:
    """Count codes into the rows of ``(copies, cells)``, which are to be summed; there may be up to four copies.

    Neighbouring rows go to different ones: an increment that must wait for the one before it to be stored costs several
    times as much, and skewed answers make such pairs frequent.
    """
    copies = len(histogram)
    first, second, third, fourth = histogram[0], histogram[1 % copies], histogram[2 % copies], histogram[3 % copies]
    whole = len(codes) & ~3
    for row in range(0, whole, 4):
        first[codes[row]] += np.uint32(1)
        second[codes[row + 1]] += np.uint32(1)
        third[codes[row + 2]] += np.uint32(1)
        fourth[codes[row + 3]] += np.uint32(1)
    for row in range(whole, len(codes)):
        first[codes[row]] += np.uint32(1)


@unlocked_kernel
def cross_slots(
    values: NDArray[np.uint32],
    ends: NDArray[np.int64],
    others: NDArray[np.uint32],
    other_ends: NDArray[np.int64],
    size: np.uint32,
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Every pair of a row's slots in two ragged columns; compiled twin of `tacit.count.slots.crossed`."""
    out_ends = np.empty(len(ends), dtype=np.int64)
    start, other_start, total = 0, 0, 0
    for row in range(len(ends)):
        total += (ends[row] - start) * (other_ends[row] - other_start)
        out_ends[row], start, other_start = total, ends[row], other_ends[row]
    out = np.empty(total, dtype=np.uint32)
    start, other_start, place = 0, 0, 0
    for row in range(len(ends)):
        for first in range(start, ends[row]):
            base = values[first] * size
            for second in range(other_start, other_ends[row]):
                out[place] = base + others[second]
                place += 1
        start, other_start = ends[row], other_ends[row]
    return out, out_ends


@unlocked_kernel
def multiply_looked_up(products: NDArray[np.float64], codes: NDArray[np.uint32], weights: NDArray[np.float64]) -> None:
    """Multiply each row's product by the weight of its cell."""
    for row in range(len(products)):
        products[row] *= weights[codes[row]]


@unlocked_kernel
def multiply_summed(
    products: NDArray[np.float64], values: NDArray[np.uint32], ends: NDArray[np.int64], weights: NDArray[np.float64]
) -> None:
    """Multiply each row's product by the sum of the weights of its slots."""
    start = 0
    for row in range(len(products)):
        total = 0.0
        for place in range(start, ends[row]):
            total += weights[values[place]]
        products[row] *= total
        start = ends[row]


@unlocked_kernel
def add_moments(products: NDArray[np.float64], moments: NDArray[np.float64]) -> None:
    """Add the sum and the sum of squares of a block to ``moments = (sum, squares, and the rounding error of each)``.

    Within a block four partial sums run side by side; across blocks Neumaier's compensation keeps what rounding drops.
    """
    sums, squares = np.zeros(4), np.zeros(4)
    whole = len(products) & ~3
    for row in range(0, whole, 4):
        for lane in range(4):
            value = products[row + lane]
            sums[lane] += value
            squares[lane] += value * value
    for row in range(whole, len(products)):
        sums[0] += products[row]
        squares[0] += products[row] * products[row]
    for which, added in ((0, sums.sum()), (1, squares.sum())):
        before = moments[which]
        after = before + added
        if abs(before) >= abs(added):
            moments[which + 2] += (before - after) + added
        else:
            moments[which + 2] += (added - after) + before
        moments[which] = after
