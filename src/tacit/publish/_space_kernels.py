"""What a chromosome means, compiled: the block of every answer, and what its penalty is."""

# numba infers the types of kernels from their first call.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.kernels import inner_kernel, kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Space(NamedTuple):
    """What a chromosome means: the answers of all attributes on one axis, and the bits that cut them."""

    first_bit: Ints  # of each attribute, and the number of bits
    first_value: Ints  # of each attribute, and the number of answers
    levels: Ints  # [fineness, answer]: block in a hierarchy; -1 where the attribute is ordered
    weight: Floats  # of each attribute
    marginal: Floats  # share of rows with each answer


@inner_kernel
def decode_one(bits, space, j, block):
    """Write the block of every answer of one attribute: cuts counted from the left, or the level numbered by the ones."""
    start, stop, bit = space.first_value[j], space.first_value[j + 1], space.first_bit[j]
    if space.levels[0, start] >= 0:
        fineness = 0
        for b in range(bit, space.first_bit[j + 1]):
            fineness += bits[b]
        for v in range(start, stop):
            block[v] = space.levels[fineness, v]
        return
    current = 0
    block[start] = 0
    for v in range(start + 1, stop):
        current += bits[bit + v - start - 1]
        block[v] = current


@kernel
def decode(bits, space, block):
    """Write the block of every answer of all attributes."""
    for j in range(len(space.first_bit) - 1):
        decode_one(bits, space, j, block)


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


@inner_kernel
def price_attribute(block, space, j):
    """The penalty of one attribute, as a mean over the rows."""
    start, stop = space.first_value[j], space.first_value[j + 1]
    if stop - start < 2:
        return 0.0
    size = np.zeros(stop - start, np.int64)
    for v in range(start, stop):
        size[block[v]] += 1
    total = 0.0
    for v in range(start, stop):
        total += (size[block[v]] - 1) * space.marginal[v]
    return space.weight[j] * total / (stop - start - 1)


@inner_kernel
def attribute_of(space, b):
    """The attribute that a bit cuts."""
    j = 0
    while space.first_bit[j + 1] <= b:
        j += 1
    return j


@kernel
def savings(bits, j, space, block, noise, open_bits, saving):
    """Write what setting each open bit of attribute `j` would save of the penalty, times its noise."""
    decode_one(bits, space, j, block)
    base = price_attribute(block, space, j)
    for b in range(space.first_bit[j], space.first_bit[j + 1]):
        saving[b] = 0.0
        if open_bits[b]:
            bits[b] = 1
            decode_one(bits, space, j, block)
            saving[b] = (base - price_attribute(block, space, j)) * noise[b]
            bits[b] = 0
    decode_one(bits, space, j, block)
