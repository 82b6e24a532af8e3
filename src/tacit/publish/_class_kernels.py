"""The measures of generalizations, compiled: their classes counted, judged and priced."""

# numba infers the types of kernels from their first call.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from tacit.kernels import inner_kernel, kernel
from tacit.publish._demand_kernels import judge, strengths
from tacit.publish._halves_kernels import count_sizes, number_cells, number_halves, price_of_halves, set_of
from tacit.publish._space_kernels import decode, price_blocks

# Counting classes in a table is several times faster than hashing until the table leaves the cache.
DENSE_CELLS = 1 << 15


@inner_kernel
def price_of_suppression(sizes, strength, keys, left_price, right_price, demand):
    """What the suppressed rows cost beyond their own penalty: all that is missing to 1."""
    price = 0.0
    rights = len(right_price)
    for c in range(len(sizes)):
        if sizes[c] > 0 and strength[c] < demand.k:
            cell = np.int64(keys[c]) if len(keys) > 0 else c
            price += sizes[c] * (1 - left_price[cell // rights] - right_price[cell % rights])
    return price


@inner_kernel
def count_cells(tally, left_number, right_number, lefts, rights, demand):
    """Sizes and sensitive answers of all cells; `keys` is empty where a cell's position says which it is."""
    answers = demand.first_sensitive[-1]
    if answers == 0 and lefts * rights <= DENSE_CELLS:
        sizes = np.zeros(lefts * rights, np.uint32)
        count_sizes(tally, left_number, right_number, np.uint32(rights), sizes)
        return sizes, np.empty((0, 0), np.uint32), np.empty(0, np.uint64)
    keys = np.empty(len(tally.counts), np.uint64)
    cell_of = np.empty(len(tally.counts), np.uint32)
    occupied = number_cells(tally, left_number, right_number, rights, keys, cell_of)
    sizes = np.zeros(occupied, np.uint32)
    sensitive = np.zeros((occupied, answers), np.uint32)
    for i in range(len(cell_of)):
        sizes[cell_of[i]] += tally.counts[i]
        for s in range(tally.sensitive.shape[1]):
            sensitive[cell_of[i], tally.sensitive[i, s]] += tally.counts[i]
        if demand.people >= 0:
            sensitive[cell_of[i], demand.people] += tally.people[i]
    return sizes, sensitive, keys


@inner_kernel
def measure_set(tally, space, demand, rows, block, penalty, witness):
    """Measures of one set of quasi-identifiers under the decoded generalization.

    Where it cannot be published, `witness` gets the answers of somebody in the weakest class.
    """
    left_number, left_first = np.empty(len(tally.left), np.uint32), np.empty(len(tally.left), np.uint32)
    right_number, right_first = np.empty(len(tally.right), np.uint32), np.empty(len(tally.right), np.uint32)
    lefts = np.int64(number_halves(tally.left, tally.left_columns, space, block, left_number, left_first))
    rights = np.int64(number_halves(tally.right, tally.right_columns, space, block, right_number, right_first))
    sizes, sensitive, keys = count_cells(tally, left_number, right_number, lefts, rights, demand)
    strength = sizes if demand.first_sensitive[-1] == 0 else strengths(sizes, sensitive, demand)
    largest, smallest, least, suppressed, weakest = judge(sizes, strength, demand, rows)
    if least < demand.k:
        cell = np.int64(keys[weakest]) if len(keys) > 0 else np.int64(weakest)
        witness[:] = -1
        for c in range(len(tally.left_columns)):
            witness[tally.left_columns[c]] = tally.left[left_first[cell // rights], c]
        for c in range(len(tally.right_columns)):
            witness[tally.right_columns[c]] = tally.right[right_first[cell % rights], c]
    extra = 0.0
    if suppressed > 0:
        left_price = price_of_halves(tally.left, tally.left_columns, space, penalty, left_first, lefts)
        right_price = price_of_halves(tally.right, tally.right_columns, space, penalty, right_first, rights)
        extra = price_of_suppression(sizes, strength, keys, left_price, right_price, demand) / rows
    return extra, largest, smallest, least, suppressed


@kernel
def measure_all(population, tallies, space, demand, rows, measures, witness):
    """Write (NWP, NECD, smallest class, strength, suppressed rows) of every chromosome of `population`."""
    values = space.first_value[-1]
    block = np.empty(values, np.int64)
    penalty = np.empty(values)
    for p in range(len(population)):
        decode(population[p], space, block)
        nwp = price_blocks(block, space, penalty)
        dearest, necd, least, firm, gone = 0.0, 0.0, np.int64(rows + 1), np.int64(rows + 1), np.int64(0)
        for s in range(len(tallies.ends) - 1):
            tally = set_of(tallies, s)
            extra, largest, smallest, weakest, out = measure_set(tally, space, demand, rows, block, penalty, witness)
            dearest, gone = max(dearest, extra), max(gone, out)
            necd = max(necd, (largest - smallest) / max(1, rows - 1))
            least, firm = min(least, smallest), min(firm, weakest)
        measures[p, 0], measures[p, 1], measures[p, 2] = nwp + dearest, necd, least
        measures[p, 3], measures[p, 4] = firm, gone
