"""Equivalence classes of a generalized tally, compiled: the inner loop of the search.

The distinct combinations of a set of quasi-identifiers are kept as pairs (left half, right half): every attribute
belongs to one half, a generalization first maps the few distinct halves to class halves, and only then one addition
per combination counts the classes in a table small enough for the fastest cache.
"""

# numba infers the types of kernels from their first call.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Counts = NDArray[np.uint32]

# Counting classes in a table is several times faster than hashing until the table leaves the cache.
DENSE_CELLS = 1 << 15
DIRECT_KEYS = 1 << 14
# Indices are unsigned in the inner loops: signed ones would be tested for "counts from the end" on every access.
HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio


class Space(NamedTuple):
    """What a chromosome means: the answers of all attributes on one axis, and the bits that cut them."""

    first_bit: Ints  # of each attribute, and the number of bits
    first_value: Ints  # of each attribute, and the number of answers
    levels: Ints  # [fineness, answer]: block in a hierarchy; -1 where the attribute is ordered
    weight: Floats  # of each attribute
    marginal: Floats  # share of rows with each answer


class HalvedTally(NamedTuple):
    """The distinct combinations of one set of quasi-identifiers, sorted by their left half."""

    left_columns: Ints
    right_columns: Ints
    left: Counts  # [distinct left half, column]
    right: Counts
    run_start: Counts  # first combination of each left half, and the number of combinations
    right_of: Counts  # right half of each combination
    counts: Counts
    sensitive: Counts  # [combination, sensitive attribute]: position on the axis of sensitive answers


class Demand(NamedTuple):
    """What every published class must show."""

    k: int
    first_sensitive: Ints  # first answer of each sensitive attribute on their axis, and the number of answers
    distinct: float  # l as a number of answers; 0 where not asked
    entropy: float  # log l; 0 where not asked
    closeness: float  # t; infinite where not asked
    ordered: Ints  # per sensitive attribute: whether distance between its answers counts
    overall: Floats  # share of each sensitive answer in the whole table
    limit: int  # rows that may be suppressed


@njit(cache=True)
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


@njit(cache=True)
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


@njit(cache=True)
def half_keys(halves, columns, space, block, keys):
    """Write one number for every generalized half, equal for equal halves; return how many numbers are possible."""
    first_value = space.first_value
    share = np.empty(first_value[-1], np.uint64)
    start_of = np.empty(len(columns), np.uint32)
    possible = np.uint64(1)
    for c in range(len(columns)):
        start, stop = first_value[columns[c]], first_value[columns[c] + 1]
        blocks = 0
        for v in range(start, stop):
            share[v] = np.uint64(block[v]) * possible
            blocks = max(blocks, block[v] + 1)
        start_of[c] = start
        possible *= np.uint64(blocks)
    for i in range(np.uint64(len(halves))):
        key = np.uint64(0)
        for c in range(np.uint64(halves.shape[1])):
            key += share[start_of[c] + halves[i, c]]
        keys[i] = key
    return possible


@njit(cache=True)
def first_of_keys(keys, possible, number, first):
    """Number the distinct keys 0, 1, ... in order of appearance; `first` is where each appears."""
    distinct = np.uint32(0)
    if possible <= DIRECT_KEYS:
        seen = np.zeros(possible, np.uint32)
        for i in range(np.uint64(len(keys))):
            if seen[keys[i]] == 0:
                first[distinct] = i
                distinct += np.uint32(1)
                seen[keys[i]] = distinct
            number[i] = seen[keys[i]] - np.uint32(1)
        return distinct
    capacity = power_above(2 * len(keys))
    slot_of = np.zeros(capacity, np.uint32)
    for i in range(np.uint64(len(keys))):
        slot = spread(keys[i], capacity)
        while slot_of[slot] != 0 and keys[first[slot_of[slot] - np.uint32(1)]] != keys[i]:
            slot = (slot + np.uint64(1)) & np.uint64(capacity - 1)
        if slot_of[slot] == 0:
            first[distinct] = i
            distinct += np.uint32(1)
            slot_of[slot] = distinct
        number[i] = slot_of[slot] - np.uint32(1)
    return distinct


@njit(cache=True)
def power_above(least):
    power = 1
    while power < least:
        power *= 2
    return power


@njit(cache=True)
def spread(key, capacity):
    """Slot of a key in a hash table whose capacity is a power of two."""
    mixed = np.uint64(key) * HASH_FACTOR
    return (mixed ^ (mixed >> np.uint64(32))) & np.uint64(capacity - 1)


@njit(cache=True)
def number_halves(halves, columns, space, block, number, first):
    keys = np.empty(len(halves), np.uint64)
    possible = half_keys(halves, columns, space, block, keys)
    return first_of_keys(keys, possible, number, first)


@njit(cache=True)
def price_of_halves(halves, columns, space, penalty, first, distinct):
    """Penalty that every numbered half adds to its rows."""
    price = np.zeros(distinct)
    for h in range(distinct):
        for c in range(len(columns)):
            price[h] += penalty[space.first_value[columns[c]] + halves[first[h], c]]
    return price


@njit(cache=True)
def count_sizes(tally, left_number, right_number, rights, table):
    """Add every combination to the cell of its class."""
    run_start, right_of, counts = tally.run_start, tally.right_of, tally.counts
    for left in range(np.uint32(len(run_start) - 1)):
        base = left_number[left] * rights
        for i in range(run_start[left], run_start[left + np.uint32(1)]):
            table[base + right_number[right_of[i]]] += counts[i]


@njit(cache=True)
def number_cells(tally, left_number, right_number, rights, keys, cell_of):
    """Number the occupied cells where a table of all would be too large; ``keys[number]`` is the cell itself."""
    capacity = power_above(2 * len(tally.counts))
    slot_of = np.zeros(capacity, np.uint32)
    distinct = np.uint32(0)
    for left in range(np.uint32(len(tally.run_start) - 1)):
        base = np.uint64(left_number[left]) * np.uint64(rights)
        for i in range(tally.run_start[left], tally.run_start[left + np.uint32(1)]):
            cell = base + np.uint64(right_number[tally.right_of[i]])
            slot = spread(cell, capacity)
            while slot_of[slot] != 0 and keys[slot_of[slot] - np.uint32(1)] != cell:
                slot = (slot + np.uint64(1)) & np.uint64(capacity - 1)
            if slot_of[slot] == 0:
                keys[distinct] = cell
                distinct += np.uint32(1)
                slot_of[slot] = distinct
            cell_of[i] = slot_of[slot] - np.uint32(1)
    return distinct


@njit(cache=True)
def diversity_share(sensitive, size, demand):
    """How much of the demanded l and t a class shows: 1 if all, less in proportion otherwise."""
    share = 1.0
    for s in range(len(demand.first_sensitive) - 1):
        start, stop = demand.first_sensitive[s], demand.first_sensitive[s + 1]
        answers, entropy, moved, carried = 0, 0.0, 0.0, 0.0
        for v in range(start, stop):
            part = sensitive[v] / size
            if part > 0:
                answers += 1
                entropy -= part * math.log(part)
            carried += part - demand.overall[v]
            if demand.ordered[s]:  # earth mover's distance along the order: what is carried over each step
                moved += abs(carried) / (stop - start - 1)
            else:
                moved += abs(part - demand.overall[v]) / 2
        if demand.distinct > 0:
            share = min(share, answers / demand.distinct)
        if demand.entropy > 0 and entropy < demand.entropy - 1e-9:
            share = min(share, entropy / demand.entropy)
        if moved > demand.closeness + 1e-9:
            share = min(share, demand.closeness / moved)
    return share


@njit(cache=True)
def strengths(sizes, sensitive, demand):
    """Size of every class; below k, in proportion, where its sensitive answers are not diverse enough."""
    strength = sizes.copy()
    for c in range(len(sizes)):
        if sizes[c] > 0:
            share = diversity_share(sensitive[c], sizes[c], demand)
            if share < 1:
                strength[c] = min(sizes[c], np.uint32(share * (demand.k - 1)))
    return strength


@njit(cache=True)
def weakest_publishable(sizes, strength, demand):
    """Least strength once as many rows as allowed, from the weakest classes up, are left out."""
    weak = np.zeros(demand.k, np.int64)
    for c in range(len(sizes)):
        if strength[c] < demand.k:
            weak[strength[c]] += sizes[c]
    seen = 0
    for firm in range(demand.k):
        seen += weak[firm]
        if seen > demand.limit:
            return firm
    return demand.k


@njit(cache=True)
def judge(sizes, strength, demand, rows):
    """Largest and smallest published class, least strength, rows suppressed (0 if too many), the weakest cell."""
    suppressed = np.int64(0)
    weakest = np.uint64(0)
    least, smallest, largest = np.int64(rows + 1), np.int64(rows + 1), np.int64(0)
    for c in range(np.uint64(len(sizes))):
        size = np.int64(sizes[c])
        if size > 0:
            if strength[c] < demand.k:
                suppressed += size
                if sizes[weakest] == 0 or strength[c] <= strength[weakest]:
                    weakest = np.uint64(c)
            else:
                least = min(least, np.int64(strength[c]))
                smallest, largest = min(smallest, size), max(largest, size)
    if suppressed <= demand.limit and suppressed < rows:
        return largest, smallest, least, suppressed, weakest
    for c in range(np.uint64(len(sizes))):  # cannot be published: its measures are those of the whole table
        if sizes[c] > 0:
            smallest, largest = min(smallest, np.int64(sizes[c])), max(largest, np.int64(sizes[c]))
    return largest, smallest, np.int64(weakest_publishable(sizes, strength, demand)), np.int64(0), weakest


@njit(cache=True)
def price_of_suppression(sizes, strength, keys, left_price, right_price, demand):
    """What the suppressed rows cost beyond their own penalty: all that is missing to 1."""
    price = 0.0
    rights = len(right_price)
    for c in range(len(sizes)):
        if sizes[c] > 0 and strength[c] < demand.k:
            cell = np.int64(keys[c]) if len(keys) > 0 else c
            price += sizes[c] * (1 - left_price[cell // rights] - right_price[cell % rights])
    return price


@njit(cache=True)
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
    return sizes, sensitive, keys


@njit(cache=True)
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


@njit(cache=True)
def measure_all(population, tallies, space, demand, rows, measures, witness):
    """Write (NWP, NECD, smallest class, strength, suppressed rows) of every chromosome of `population`."""
    values = space.first_value[-1]
    block = np.empty(values, np.int64)
    penalty = np.empty(values)
    for p in range(len(population)):
        decode(population[p], space, block)
        nwp = price_blocks(block, space, penalty)
        dearest, necd, least, firm, gone = 0.0, 0.0, np.int64(rows + 1), np.int64(rows + 1), np.int64(0)
        for tally in tallies:
            extra, largest, smallest, weakest, out = measure_set(tally, space, demand, rows, block, penalty, witness)
            dearest, gone = max(dearest, extra), max(gone, out)
            necd = max(necd, (largest - smallest) / max(1, rows - 1))
            least, firm = min(least, smallest), min(firm, weakest)
        measures[p, 0], measures[p, 1], measures[p, 2] = nwp + dearest, necd, least
        measures[p, 3], measures[p, 4] = firm, gone
