"""Combinations as pairs of halves, compiled: the inner loop of the search.

The distinct combinations of a set of quasi-identifiers are kept as pairs (left half, right half): every attribute
belongs to one half, a generalization first maps the few distinct halves to class halves, and only then one addition
per combination counts the classes in a table small enough for the fastest cache.
"""

# numba infers the types of kernels from their first call.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.kernels import inner_kernel

Ints = NDArray[np.int64]
Counts = NDArray[np.uint32]

DIRECT_KEYS = 1 << 14
# Indices are unsigned in the inner loops: signed ones would be tested for "counts from the end" on every access.
HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio


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
    people: Counts  # of the population; empty where they are not asked for


class HalvedSets(NamedTuple):
    """The halved tallies of all sets one behind the other, so that their number is no part of the type numba compiles for.

    ``ends[s]`` says where the arrays of set s begin, and the next row where they end; halves are flat lists of codes.
    """

    ends: Ints  # [set, array]
    columns: Ints  # left ones of the first set, then right ones, and so on
    codes: Counts  # of left halves, then of right ones
    run_start: Counts
    right_of: Counts
    counts: Counts
    sensitive: Counts
    people: Counts


LEFT_COLUMNS, RIGHT_COLUMNS, LEFT, RIGHT, RUNS, CELLS, PEOPLE = range(7)


def halved_sets(tallies: Sequence[HalvedTally]) -> HalvedSets:
    """The tallies in one object."""
    ends = np.zeros((len(tallies) + 1, 7), np.int64)
    for s, tally in enumerate(tallies):
        lengths = [
            len(tally.left_columns),
            len(tally.right_columns),
            tally.left.size,
            tally.right.size,
            len(tally.run_start),
        ]
        ends[s + 1] = ends[s] + [*lengths, len(tally.counts), len(tally.people)]
    width = tallies[0].sensitive.shape[1] if tallies else 0
    nothing, nobody = np.empty(0, np.uint32), np.empty((0, width), np.uint32)
    return HalvedSets(
        ends,
        np.concatenate(
            [np.empty(0, np.int64), *(part for tally in tallies for part in (tally.left_columns, tally.right_columns))]
        ),
        np.concatenate([nothing, *(half.ravel() for tally in tallies for half in (tally.left, tally.right))]),
        _together([tally.run_start for tally in tallies], nothing),
        _together([tally.right_of for tally in tallies], nothing),
        _together([tally.counts for tally in tallies], nothing),
        _together([tally.sensitive for tally in tallies], nobody),
        _together([tally.people for tally in tallies], nothing),
    )


def _together(arrays: Sequence[Counts], nothing: Counts) -> Counts:
    """Arrays one behind the other; one alone as it is, because it has an entry for every combination."""
    return arrays[0] if len(arrays) == 1 else np.concatenate([nothing, *arrays])


@inner_kernel
def set_of(sets, s):
    """The tally of one set."""
    first, last = sets.ends[s], sets.ends[s + 1]
    columns, codes = first[LEFT_COLUMNS] + first[RIGHT_COLUMNS], first[LEFT] + first[RIGHT]
    lefts, rights = last[LEFT_COLUMNS] - first[LEFT_COLUMNS], last[RIGHT_COLUMNS] - first[RIGHT_COLUMNS]
    left_codes, right_codes = last[LEFT] - first[LEFT], last[RIGHT] - first[RIGHT]
    left = sets.codes[codes : codes + left_codes]
    right = sets.codes[codes + left_codes : codes + left_codes + right_codes]
    return HalvedTally(
        sets.columns[columns : columns + lefts],
        sets.columns[columns + lefts : columns + lefts + rights],
        left.reshape((left_codes // lefts if lefts else 1, lefts)),
        right.reshape((right_codes // rights if rights else 1, rights)),
        sets.run_start[first[RUNS] : last[RUNS]],
        sets.right_of[first[CELLS] : last[CELLS]],
        sets.counts[first[CELLS] : last[CELLS]],
        sets.sensitive[first[CELLS] : last[CELLS]],
        sets.people[first[PEOPLE] : last[PEOPLE]],
    )


@inner_kernel
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


@inner_kernel
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


@inner_kernel
def power_above(least):
    power = 1
    while power < least:
        power *= 2
    return power


@inner_kernel
def spread(key, capacity):
    """Slot of a key in a hash table whose capacity is a power of two."""
    mixed = np.uint64(key) * HASH_FACTOR
    return (mixed ^ (mixed >> np.uint64(32))) & np.uint64(capacity - 1)


@inner_kernel
def number_halves(halves, columns, space, block, number, first):
    keys = np.empty(len(halves), np.uint64)
    possible = half_keys(halves, columns, space, block, keys)
    return first_of_keys(keys, possible, number, first)


@inner_kernel
def price_of_halves(halves, columns, space, penalty, first, distinct):
    """Penalty that every numbered half adds to its rows."""
    price = np.zeros(distinct)
    for h in range(distinct):
        for c in range(len(columns)):
            price[h] += penalty[space.first_value[columns[c]] + halves[first[h], c]]
    return price


@inner_kernel
def count_sizes(tally, left_number, right_number, rights, table):
    """Add every combination to the cell of its class."""
    run_start, right_of, counts = tally.run_start, tally.right_of, tally.counts
    for left in range(np.uint32(len(run_start) - 1)):
        base = left_number[left] * rights
        for i in range(run_start[left], run_start[left + np.uint32(1)]):
            table[base + right_number[right_of[i]]] += counts[i]


@inner_kernel
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
