"""What a chromosome means, compiled: the block of every answer, and what its penalty is."""

# numba infers the types of kernels from their first call.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.kernels import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Space(NamedTuple):
    """What a chromosome means: the answers of all attributes on one axis, and the bits that cut them."""

    first_bit: Ints  # of each attribute, and the number of bits
    first_value: Ints  # of each attribute, and the number of answers
    levels: Ints  # [fineness, answer]: block in a hierarchy; -1 where the attribute is ordered
    weight: Floats  # of each attribute
    marginal: Floats  # share of rows with each answer


@kernel
def decode(bits, space, block):
    """Write the block of every answer: cuts counted from the left, or the level whose number is the count of ones."""
    first_bit, first_value, levels = space.first_bit, space.first_value, space.levels
    for j in range(len(first_bit) - 1):
        start, stop = first_value[j], first_value[j + 1]
        if levels[0, start] < 0:
            current = 0
            block[start] = 0
            for v in range(start + 1, stop):
                current += bits[first_bit[j] + v - start - 1]
                block[v] = current
        else:
            fineness = 0
            for b in range(first_bit[j], first_bit[j + 1]):
                fineness += bits[b]
            for v in range(start, stop):
                block[v] = levels[fineness, v]


@kernel
def price_blocks(block, space, penalty):
    """Write the penalty of every answer, ``w (|block| - 1) / (|S| - 1)``, and return the mean over all rows (NWP)."""
    total = 0.0
    first_value, weight, marginal = space.first_value, space.weight, space.marginal
    for j in range(len(first_value) - 1):
        start, stop = first_value[j], first_value[j + 1]
        size = np.zeros(stop - start, np.int64)
        for v in range(start, stop):
            size[block[v]] += 1
        for v in range(start, stop):
            penalty[v] = weight[j] * (size[block[v]] - 1) / (stop - start - 1) if stop - start > 1 else 0.0
            total += penalty[v] * marginal[v]
    return total
