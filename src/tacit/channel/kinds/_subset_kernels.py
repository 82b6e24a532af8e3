"""Compiled sampler of subset selection: members drawn by rejection, marked in bits, read off in ascending order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.kernels import unlocked_kernel

# Where a row that ran out of words goes on: how many rows are complete, and how many members the next one still lacks.
# A row is never begun anew: rows that need more words would be begun anew more often, and those hold the truth less.
ROW, LACKING = 0, 1
NOT_BEGUN = -1


# A de Bruijn sequence: its 64 windows of six bits all differ, so a shift by the position of a bit can be looked up.
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
POSITIONS = np.zeros(64, dtype=np.uint8)
for _position in range(64):
    POSITIONS[(int(DE_BRUIJN) << _position) % (1 << 64) >> 58] = _position


@unlocked_kernel
def draw_sets(
    truth: NDArray[np.int64],
    words: NDArray[np.uint32],
    coin: np.uint64,
    answers: np.uint64,
    state: NDArray[np.int64],
    marked: NDArray[np.uint64],
    out: NDArray[Any],
) -> None:
    """Fill rows of `out` until the words or the rows end; `state` and `marked` carry over to the next call.

    A word below the coin holds the truth; the others are drawn among the ``answers - 1`` that are not true, each word
    scaled to that range and refused where it would make some answer likelier (Lemire 2019), members drawn twice refused.
    """
    members = out.shape[1]
    others = answers - np.uint64(1)
    uneven = np.uint64(1 << 32) % others
    low_word = np.uint64(0xFFFFFFFF)
    lowest_bit = np.uint64(1)
    row, lacking = state[ROW], state[LACKING]
    for word in words:
        if row == len(truth):
            break
        true = np.uint64(truth[row])
        if lacking == NOT_BEGUN:
            lacking = members
            if np.uint64(word) < coin:
                marked[true >> np.uint64(6)] |= lowest_bit << (true & np.uint64(63))
                lacking -= 1
        else:
            product = np.uint64(word) * others
            if product & low_word < uneven:
                continue
            answer = product >> np.uint64(32)
            answer += np.uint64(answer >= true)
            slot, bit = answer >> np.uint64(6), lowest_bit << (answer & np.uint64(63))
            if marked[slot] & bit:
                continue
            marked[slot] |= bit
            lacking -= 1
        if lacking == 0:
            place = 0
            for slot_at in range(len(marked)):
                left = marked[slot_at]
                while left:
                    rest = left & (left - lowest_bit)
                    out[row, place] = slot_at * 64 + POSITIONS[((left ^ rest) * DE_BRUIJN) >> np.uint64(58)]
                    place += 1
                    left = rest
                marked[slot_at] = 0
            row += 1
            lacking = NOT_BEGUN
    state[ROW], state[LACKING] = row, lacking
