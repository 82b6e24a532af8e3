"""Compiled twin of `tacit.channel.kinds.mixture.mixture_codes`: the same reports from the same words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

ONE = 1 << 32


@njit(cache=True, nogil=True)
def _reports(
    truth: NDArray[Any], words: NDArray[np.uint32], coin: float, inverse_width: float, out: NDArray[Any]
) -> np.int32:
    highest = np.int32(0)
    for row in range(len(truth)):
        # Doubles instead of integer division, and no branch: this compiles to vector instructions. The quotient is
        # exact: (rest + 1/2) / width lies at least 1 / (2 width) from every integer, and rounding moves it by less
        # than 2**-51 of itself, which is at most 2**-19 / width.
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
    width = (ONE - coin) // choices
    draw = _other_reports if others else _reports
    if width and draw(truth, words, float(coin), 1 / width, out) < choices:
        return np.empty(0, dtype=np.intp)
    rest = words.astype(np.int64) - coin
    if not width:
        np.copyto(out, truth)
    return np.flatnonzero((rest >= 0) & (rest >= width * choices))
