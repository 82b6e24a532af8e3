"""Cuts that keep every table of m attributes full enough, compiled.

Each of the many tables is kept by the cells of it that occur in the finest answers. A cut of an attribute can only hurt tables
with that attribute, so only these are counted again.
"""

# numba infers the types of kernels from their first call.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.kernels import inner_kernel, kernel
from tacit.publish._halves_kernels import power_above, spread
from tacit.publish._space_kernels import attribute_of, decode_one, price_attribute, savings

DENSE_CELLS = 1 << 16  # beyond, cells are looked up by hashing instead of in a table of all


class Tables(NamedTuple):
    """The tables of m attributes, one behind the other."""

    columns: NDArray[np.int64]  # [table, m]: its attributes
    first: NDArray[np.int64]  # cell of each table, and the number of cells
    cells: NDArray[np.int32]  # [cell, m]: answers
    counts: NDArray[np.int64]  # rows of each cell
    with_attribute: NDArray[np.int64]  # tables by attribute, those that failed last first
    first_with: NDArray[np.int64]  # of each attribute on that list, and its length


@inner_kernel
def smallest_class(tables, t, space, block, limit):
    """Rows of the smallest class of one table under a generalization; anything below `limit` where it is below."""
    width = tables.columns.shape[1]
    stride, possible = np.empty(width, np.uint64), np.uint64(1)
    start_of = np.empty(width, np.int64)
    for c in range(width):
        start, stop = space.first_value[tables.columns[t, c]], space.first_value[tables.columns[t, c] + 1]
        start_of[c], stride[c] = start, possible
        possible *= np.uint64(block[start:stop].max() + 1)
    first, last = tables.first[t], tables.first[t + 1]
    dense = possible <= DENSE_CELLS
    capacity = np.int64(possible) if dense else power_above(2 * (last - first))
    sizes = np.zeros(capacity, np.int64)
    keys = np.empty(0 if dense else capacity, np.uint64)
    for i in range(first, last):
        key = np.uint64(0)
        for c in range(width):
            key += np.uint64(block[start_of[c] + tables.cells[i, c]]) * stride[c]
        slot = key
        if not dense:
            slot = spread(key, capacity)
            while sizes[slot] != 0 and keys[slot] != key:
                slot = (slot + np.uint64(1)) & np.uint64(capacity - 1)
            keys[slot] = key
        sizes[slot] += tables.counts[i]
    least = np.int64(2**62)
    for size in sizes:
        if 0 < size < least:
            least = size
            if least < limit:
                return least
    return least


@kernel
def keeps(tables, j, space, block, k):
    """Whether all tables with attribute `j` hold k rows in every class; and how many cells were counted to say so."""
    first, last, counted = tables.first_with[j], tables.first_with[j + 1], 0
    for place in range(first, last):
        t = tables.with_attribute[place]
        counted += tables.first[t + 1] - tables.first[t]
        if smallest_class(tables, t, space, block, k) < k:
            tables.with_attribute[place] = tables.with_attribute[first]
            tables.with_attribute[first] = t
            return False, counted
    return True, counted


@kernel
def recreate(bits, tables, space, k, noise):
    """Set bits while every table stays full enough, those that save most first; returns the loss and the cells counted."""
    block, saving = np.empty(space.first_value[-1], np.int64), np.zeros(len(bits))
    open_bits, counted = bits == 0, np.int64(0)
    for j in range(len(space.first_bit) - 1):
        savings(bits, j, space, block, noise, open_bits, saving)
    while True:
        b = np.argmax(saving)
        if saving[b] <= 1e-12:
            break
        open_bits[b], saving[b], bits[b] = False, 0.0, 1
        attribute = attribute_of(space, b)
        decode_one(bits, space, attribute, block)
        full, cells = keeps(tables, attribute, space, block, k)
        counted += cells
        if full:
            savings(bits, attribute, space, block, noise, open_bits, saving)
        else:
            bits[b] = 0
            decode_one(bits, space, attribute, block)
    loss = 0.0
    for j in range(len(space.first_bit) - 1):
        loss += price_attribute(block, space, j)
    return loss, counted
