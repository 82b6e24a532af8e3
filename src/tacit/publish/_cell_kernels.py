"""Rows too rare for their class put together with others like them but for a few cells, compiled."""

# numba infers the types of kernels from their first call.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from tacit.kernels import inner_kernel, kernel
from tacit.publish._demand_kernels import holds
from tacit.publish._halves_kernels import power_above, spread


@inner_kernel
def number_rows(labels, rows, strides, keys, number):
    """Number the rows by their labels; attributes with a stride of 0 do not count. Returns how many numbers there are."""
    capacity = power_above(2 * len(rows))
    slot_of = np.zeros(capacity, np.int64)
    distinct = 0
    for place in range(len(rows)):
        key = np.uint64(0)
        for j in range(len(strides)):
            key += np.uint64(labels[rows[place], j]) * strides[j]
        slot = spread(key, capacity)
        while slot_of[slot] != 0 and keys[slot_of[slot] - 1] != key:
            slot = (slot + np.uint64(1)) & np.uint64(capacity - 1)
        if slot_of[slot] == 0:
            keys[distinct] = key
            distinct += 1
            slot_of[slot] = distinct
        number[place] = slot_of[slot] - 1
    return distinct


@kernel
def suppress_cells(labels, counts, sensitive, strides, patterns, demand, class_of, pattern_of):
    """Put rows into classes that agree in all attributes but those of a pattern, patterns in the given order.

    `class_of` and `pattern_of` get the class and the pattern of every row, -1 where no pattern serves. Returns the classes.
    """
    class_of[:], pattern_of[:] = -1, -1
    rows, classes = np.arange(len(counts)), 0
    answers = demand.first_sensitive[-1]
    for p in range(len(patterns)):
        if counts[rows].sum() < demand.k:
            break
        steps = np.where(patterns[p], np.uint64(0), strides)
        keys, number = np.empty(len(rows), np.uint64), np.empty(len(rows), np.int64)
        groups = number_rows(labels, rows, steps, keys, number)
        sizes, answers_of = np.zeros(groups, np.int64), np.zeros((groups, answers), np.int64)
        for place in range(len(rows)):
            sizes[number[place]] += counts[rows[place]]
            for s in range(sensitive.shape[1]):
                answers_of[number[place], sensitive[rows[place], s]] += counts[rows[place]]
        new = np.full(groups, -1, np.int64)
        for group in range(groups):
            if holds(sizes[group], answers_of[group], demand):
                new[group] = classes
                classes += 1
        left = 0
        for place in range(len(rows)):
            i = rows[place]
            if new[number[place]] >= 0:
                class_of[i], pattern_of[i] = new[number[place]], p
            else:
                rows[left] = i
                left += 1
        rows = rows[:left]
    return classes
