"""Compiled loops over packed bits; their callers have laid them out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from tacit.kernels import unlocked_kernel

# Words of all columns that go through the second-level cache together: 2 KB each.
BLOCK_WORDS = 256


def _count_ones(typing_context: Any, word: Any) -> Any:
    """How many bits of a 64-bit word are set: one instruction, or a few vector ones for several words."""

    def count_instruction(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), count_instruction


_ones: Any = intrinsic(_count_ones)


@unlocked_kernel
def add_common_bits(bits: NDArray[np.uint64], counts: NDArray[np.int64]) -> None:
    """Add to ``counts[i, j]``, i at most j, how many bits columns i and j have in common; an even number of columns.

    Two columns meet two others at a time, so that every word that is loaded is used twice.
    """
    columns, words = bits.shape
    for start in range(0, words, BLOCK_WORDS):
        stop = min(start + BLOCK_WORDS, words)
        for i in range(0, columns, 2):
            for j in range(i, columns, 2):
                first, second, third, fourth = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
                for word in range(start, stop):
                    even_word, odd_word = bits[i, word], bits[i + 1, word]
                    first += _ones(even_word & bits[j, word])
                    second += _ones(even_word & bits[j + 1, word])
                    third += _ones(odd_word & bits[j, word])
                    fourth += _ones(odd_word & bits[j + 1, word])
                counts[i, j] += np.int64(first)
                counts[i, j + 1] += np.int64(second)
                counts[i + 1, j] += np.int64(third)
                counts[i + 1, j + 1] += np.int64(fourth)


@unlocked_kernel
def add_common_to_all(bits: NDArray[np.uint64], combinations: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
    """Add to each count how many bits all rows of its combination have in common.

    What the rows but the last have in common is kept for the next combination, which often differs in the last only.
    """
    words, length = bits.shape[1], combinations.shape[1]
    shared = np.empty(BLOCK_WORDS, dtype=np.uint64)
    for start in range(0, words, BLOCK_WORDS):
        size = min(BLOCK_WORDS, words - start)
        for which in range(len(combinations)):
            is_same = which > 0
            for place in range(length - 1):
                is_same = is_same and combinations[which, place] == combinations[which - 1, place]
            if not is_same:
                shared[:] = ~np.uint64(0)
                for place in range(length - 1):
                    row = bits[combinations[which, place]]
                    for word in range(size):
                        shared[word] &= row[start + word]
            last, common = bits[combinations[which, length - 1]], np.uint64(0)
            for word in range(size):
                common += _ones(shared[word] & last[start + word])
            counts[which] += np.int64(common)
