"""Classes that are sure to be kept apart, of a node that says how far blocks go and not where exactly they end, compiled."""

# numba infers the types of kernels from their first call.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.kernels import inner_kernel
from tacit.publish._halves_kernels import power_above, spread
from tacit.publish._proof_kernels import FORBIDDEN, sort_by_class

UNSURE = 0.1  # share of rows whose side of a sure cut may be unknown: those beyond lose more than the cut brings


class Classes(NamedTuple):
    """The classes that cuts make which are sure to come, wherever exactly; rows of whom the side is not known are in both."""

    low: NDArray[np.int64]  # [class, attribute]: the first answer
    high: NDArray[np.int64]
    order: NDArray[np.int64]  # combinations, those of a class side by side
    start: NDArray[np.int64]  # of every class in this order, and the end
    sure: NDArray[np.bool_]  # of every combination: it is in one class only


@inner_kernel
def sure_cuts(instance, status, far, before, j, first, last):
    """Write disjoint stretches of an attribute, ``first`` to ``last``, in each of which some cut is sure; returns how many.

    No block that starts at a stops beyond ``far[a]``. So among the cuts from p on there is one up to the farthest stop of a block
    that starts before p. Of all such stretches those that end first are taken, which makes them most.
    """
    size = instance.first_value[j + 1] - instance.first_value[j]
    base, bit = instance.first_value[j] + j, instance.first_bit[j]
    number, farthest, after = 0, far[base], 0
    for p in range(1, size):
        if farthest >= size or farthest < p:  # no stretch, or no way at all
            break
        if status[bit + p - 1] != FORBIDDEN:
            # a later start of the stretch is as sure where no block from here reaches farther
            if p > after and (p == farthest or far[base + p] > farthest):
                stop = farthest
                while status[bit + stop - 1] == FORBIDDEN:
                    stop -= 1
                if before[base + stop] - before[base + p] <= UNSURE:
                    first[number], last[number] = p, stop
                    number, after = number + 1, stop
            farthest = max(farthest, far[base + p])
    return number


@inner_kernel
def segments(instance, status, far, before):
    """Of every answer the segments between sure cuts that it may be in (the second -1 where there is one); their ranges."""
    first_value = instance.first_value
    values = first_value[-1]
    one, other = np.zeros(values, np.int64), np.full(values, -1, np.int64)
    low, high = np.zeros(values, np.int64), np.zeros(values, np.int64)  # by first_value[j] + segment
    for j in range(len(first_value) - 1):
        start, size = first_value[j], first_value[j + 1] - first_value[j]
        first, last = np.empty(size, np.int64), np.empty(size, np.int64)
        number = sure_cuts(instance, status, far, before, j, first, last)
        for s in range(number + 1):
            low[start + s] = first[s - 1] if s > 0 else 0
            high[start + s] = last[s] if s < number else size
        s = 0
        for v in range(size):
            while s < number and v >= last[s]:
                s += 1
            one[start + v] = s
            if s < number and v >= first[s]:
                other[start + v] = s + 1
    return one, other, low, high


@inner_kernel
def count_copies(instance, other):
    """Of every combination whether it is in one class only, and how many places all take up."""
    sure, entries = np.ones(len(instance.codes), np.bool_), 0
    for i in range(len(instance.codes)):
        copies = 1
        for j in range(instance.codes.shape[1]):
            if other[instance.first_value[j] + instance.codes[i, j]] >= 0:
                copies, sure[i] = 2 * copies, False
        entries += copies
    return sure, entries


@inner_kernel
def class_ranges(instance, keys, low, high):
    """First answer and the one after the last, of every class and attribute, from the segments that its key is made of."""
    first_value, attributes = instance.first_value, instance.codes.shape[1]
    class_low, class_high = np.empty((len(keys), attributes), np.int64), np.empty((len(keys), attributes), np.int64)
    for c in range(len(keys)):
        key = keys[c]
        for j in range(attributes - 1, -1, -1):
            radix = np.uint64(first_value[j + 1] - first_value[j])
            segment = np.int64(key % radix)
            key //= radix
            class_low[c, j], class_high[c, j] = low[first_value[j] + segment], high[first_value[j] + segment]
    return class_low, class_high


@inner_kernel
def sure_classes(instance, status, far, before):
    """The classes of the cuts that are sure, with a row in all that it may be in."""
    first_value, (combinations, attributes) = instance.first_value, instance.codes.shape
    one, other, low, high = segments(instance, status, far, before)
    sure, entries = count_copies(instance, other)
    capacity = power_above(2 * entries)
    keys, slot_of = np.empty(capacity, np.uint64), np.zeros(capacity, np.uint32)
    class_of, row_of = np.empty(entries, np.int64), np.empty(entries, np.int64)
    key_of = np.empty(entries, np.uint64)
    number, place = 0, 0
    for i in range(combinations):
        start = place
        key_of[place], place = np.uint64(0), place + 1
        for j in range(attributes):
            v, radix = first_value[j] + instance.codes[i, j], np.uint64(first_value[j + 1] - first_value[j])
            stop = place
            for e in range(start, stop):
                key = key_of[e] * radix
                if other[v] >= 0:
                    key_of[place], place = key + np.uint64(other[v]), place + 1
                key_of[e] = key + np.uint64(one[v])
        for e in range(start, place):
            slot = spread(key_of[e], capacity)
            while slot_of[slot] != 0 and keys[slot] != key_of[e]:
                slot = (slot + np.uint64(1)) & np.uint64(capacity - 1)
            if slot_of[slot] == 0:
                number += 1
                keys[slot], slot_of[slot] = key_of[e], number
            class_of[e], row_of[e] = slot_of[slot] - 1, i
    order = np.empty(entries, np.int64)
    starts = sort_by_class(class_of, number, order)
    class_low, class_high = class_ranges(instance, key_of[order[starts[:-1]]], low, high)
    return Classes(class_low, class_high, row_of[order], starts, sure)
