"""Compiled loops over hashed reports; their callers have checked every number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.kernels import unlocked_kernel

# Reports whose two numbers stay in the first-level cache while all answers go by.
BLOCK_REPORTS = 2048


@unlocked_kernel
def add_support(
    factors: NDArray[np.int32], shifts: NDArray[np.int32], limit: np.int32, counts: NDArray[np.int64]
) -> None:
    """Add to each answer u the number of reports with ``factor * u + shift < limit``, in 32-bit words that overflow.

    Every step is cast back to 32 bits, else it would be widened and lose half of its lanes. Four answers share what is
    loaded of a report; from one to the next is an addition.
    """
    whole = len(counts) & ~3
    for start in range(0, len(factors), BLOCK_REPORTS):
        stop = min(start + BLOCK_REPORTS, len(factors))
        for answer in range(0, whole, 4):
            code = np.int32(answer)
            first, second, third, fourth = np.int32(0), np.int32(0), np.int32(0), np.int32(0)
            for row in range(start, stop):
                factor = factors[row]
                hashed = np.int32(factor * code + shifts[row])
                first = np.int32(first + np.int32(hashed < limit))
                hashed = np.int32(hashed + factor)
                second = np.int32(second + np.int32(hashed < limit))
                hashed = np.int32(hashed + factor)
                third = np.int32(third + np.int32(hashed < limit))
                hashed = np.int32(hashed + factor)
                fourth = np.int32(fourth + np.int32(hashed < limit))
            counts[answer] += first
            counts[answer + 1] += second
            counts[answer + 2] += third
            counts[answer + 3] += fourth
        for answer in range(whole, len(counts)):
            code, total = np.int32(answer), np.int32(0)
            for row in range(start, stop):
                hashed = np.int32(factors[row] * code + shifts[row])
                total = np.int32(total + np.int32(hashed < limit))
            counts[answer] += total


@unlocked_kernel
def add_support_of(
    answers: NDArray[np.int32],
    factors: NDArray[np.int32],
    shifts: NDArray[np.int32],
    limit: np.int32,
    counts: NDArray[np.int64],
) -> None:
    """As `add_support`, for listed answers, which need not follow each other."""
    for start in range(0, len(factors), BLOCK_REPORTS):
        stop = min(start + BLOCK_REPORTS, len(factors))
        for place in range(len(answers)):
            code, total = answers[place], np.int32(0)
            for row in range(start, stop):
                hashed = np.int32(factors[row] * code + shifts[row])
                total = np.int32(total + np.int32(hashed < limit))
            counts[place] += total
