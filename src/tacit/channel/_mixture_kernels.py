"""Compiled twin of `tacit.channel.mixture.mixture_codes`: the same reports from the same words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

ONE = 1 << 32
# Below this many stretches the quotient in doubles is exact: (rest + 1/2) / width is at least 2**-33 away from every
# integer, and its rounding error at most the quotient times 2**-51.
EXACT_CHOICES = 1 << 17


@njit(cache=True, nogil=True)
def _reports(
    truth: NDArray[Any], words: NDArray[np.uint32], coin: float, inverse_width: float, out: NDArray[Any]
) -> np.int32:
    highest = np.int32(0)
    for row in range(len(truth)):
        # Doubles instead of integer division, and no branch: this compiles to vector instructions.
        rest = np.float64(words[row]) - coin
        value = np.int32((rest + 0.5) * inverse_width)
        highest = max(highest, value)
        out[row] = truth[row] if rest < 0 else value
    return highest


@njit(cache=True, nogil=True)
def _other_reports(
    truth: NDArray[Any], words: NDArray[np.uint32], coin: float, inverse_width: float, out: NDArray[Any]
) -> np.int32:
    highest = np.int32(0)
    for row in range(len(truth)):
        rest = np.float64(words[row]) - coin
        value = np.int32((rest + 0.5) * inverse_width)
        highest = max(highest, value)
        other = value + np.int32(value >= np.int32(truth[row]))
        out[row] = truth[row] if rest < 0 else other
    return highest


def mixture_codes(
    truth: NDArray[Any], words: NDArray[np.uint32], coin: int, choices: int, others: bool, out: NDArray[Any]
) -> NDArray[np.intp]:
    width = max((ONE - coin) // choices, 1)
    draw = _other_reports if others else _reports
    if draw(truth, words, float(coin), 1 / width, out) < choices:
        return np.empty(0, dtype=np.intp)
    rest = words.astype(np.int64) - coin
    return np.flatnonzero((rest >= 0) & (rest // width >= choices))
