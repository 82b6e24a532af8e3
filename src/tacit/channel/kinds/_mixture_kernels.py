"""Compiled twin of `tacit.channel.kinds.mixture.mixture_codes`: the same reports from the same words.

The loops compile to vector instructions, also where there are only those of AVX2 (a test reads the assembly). So every
step is cast back to 32 bits, which numba would widen; the factor has 32 bits, so that AVX2 and AVX-512 take the same
multiplication of 32-bit lanes; the truth is read before the choice, because a load under a condition is not vectorised; and
the words that must be drawn again are looked for in a loop of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.kernels import unlocked_kernel

ONE = 1 << 32


@unlocked_kernel
def draw_reports(
    truth: NDArray[Any],
    words: NDArray[np.uint32],
    coin: np.uint32,
    factor: np.uint32,
    shift: np.uint64,
    others: np.uint32,
    out: NDArray[Any],
) -> None:
    """Leaves a report for every truth in `out`: the truth, or stretch `(word - coin) // width` by a multiplication.

    With `others` 1 the alternative leaves the truth out.
    """
    for row in range(truth.shape[0]):
        word, true_code = words[row], np.uint32(truth[row])
        half = np.uint32(np.uint32(word - coin) >> np.uint32(1))
        value = np.uint32((np.uint64(half) * np.uint64(factor)) >> shift)
        other = np.uint32(value + np.uint32(others & np.uint32(value >= true_code)))
        out[row] = true_code if word < coin else other


@unlocked_kernel
def largest_word(words: NDArray[np.uint32]) -> np.uint32:
    largest = np.uint32(0)
    for row in range(words.shape[0]):
        largest = max(largest, words[row])
    return largest


def quotient_factor(divisor: int) -> tuple[int, int]:
    """A factor below 2^32 and a shift with ``n // divisor == n * factor >> shift`` for all n below 2^31.

    The factor is 2^shift / divisor rounded up, with the largest shift that fits: divisor <= 2^(shift - 31), so the excess
    of factor * divisor over 2^shift, which is below the divisor, moves no quotient over the next whole number
    (Granlund and Montgomery 1994).
    """
    shift = 30 + max(divisor.bit_length(), 1) + (divisor & (divisor - 1) != 0)
    return -(-(1 << shift) // divisor), shift


def mixture_codes(
    truth: NDArray[Any], words: NDArray[np.uint32], coin: int, choices: int, others: bool, out: NDArray[Any]
) -> NDArray[np.intp]:
    half = (ONE - coin) // (2 * choices)
    if not half:
        np.copyto(out, truth)
        return np.flatnonzero(words >= coin)
    if coin == ONE:
        np.copyto(out, truth)
        return np.empty(0, dtype=np.intp)
    factor, shift = quotient_factor(half)
    draw_reports(truth, words, np.uint32(coin), np.uint32(factor), np.uint64(shift), np.uint32(others), out)
    beyond = coin + 2 * half * choices
    if beyond == ONE or largest_word(words) < beyond:
        return np.empty(0, dtype=np.intp)
    return np.flatnonzero(words >= beyond)
