"""Lower bounds for branch and bound, compiled.

A node forces some cuts and forbids others. Whatever is decided later, a block of attribute j is a union of classes of
the finished release, so it must be publishable already among the classes that the forced cuts make. Which blocks
survive this test does not depend on the other open cuts; the cheapest chain of surviving blocks from the first answer
to the last, a shortest path, bounds the penalty of the attribute from below, and the bounds add up.
"""

# numba infers the types of kernels from their first call.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.kernels import inner_kernel, kernel
from tacit.publish._demand_kernels import holds
from tacit.publish._halves_kernels import power_above, spread

OPEN, FORCED, FORBIDDEN = 0, 1, 2


class Instance(NamedTuple):
    """The tally and the price of every block; positions of attribute j lie from ``first_value[j] + j`` on."""

    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    sensitive: NDArray[np.int64]
    members: NDArray[np.bool_]  # [set, attribute]: which attributes are known together
    first_bit: NDArray[np.int64]
    first_value: NDArray[np.int64]
    price: NDArray[np.float64]  # [position of the block's first answer, position after its last]


class Paths(NamedTuple):
    """Shortest paths of every attribute, as arrays over positions."""

    weak: NDArray[np.int64]  # [position, position]: rows that such a block leaves in classes that are too small
    usable: NDArray[np.bool_]  # [position, position]
    cost: NDArray[np.float64]  # [position, position]: of such a block
    ahead: NDArray[np.float64]  # cost from the first answer
    behind: NDArray[np.float64]  # cost to the last
    least: NDArray[np.float64]  # of each attribute


@inner_kernel
def forced_blocks(status, instance):
    """First and last answer (exclusive) of the forced block of every answer, within its attribute."""
    first_value, first_bit = instance.first_value, instance.first_bit
    low, high = np.empty(first_value[-1], np.int64), np.empty(first_value[-1], np.int64)
    for j in range(len(first_bit) - 1):
        size = first_value[j + 1] - first_value[j]
        start = 0
        for v in range(1, size + 1):
            if v == size or status[first_bit[j] + v - 1] == FORCED:
                low[first_value[j] + start : first_value[j] + v] = start
                high[first_value[j] + start : first_value[j] + v] = v
                start = v
    return low, high


@inner_kernel
def number_classes(instance, member, low, class_of, sample):
    """Number the classes of the forced cuts; ``sample[c]`` is a combination in class c."""
    first_value = instance.first_value
    capacity = power_above(2 * len(class_of))
    keys = np.empty(capacity, np.uint64)
    slot_of = np.zeros(capacity, np.uint32)
    distinct = 0
    for i in range(len(class_of)):
        key = np.uint64(0)
        for j in range(len(member)):
            if member[j]:
                size = np.uint64(first_value[j + 1] - first_value[j])
                key = key * size + np.uint64(low[first_value[j] + instance.codes[i, j]])
        slot = spread(key, capacity)
        while slot_of[slot] != 0 and keys[slot] != key:
            slot = (slot + np.uint64(1)) & np.uint64(capacity - 1)
        if slot_of[slot] == 0:
            sample[distinct] = i
            distinct += 1
            keys[slot], slot_of[slot] = key, distinct
        class_of[i] = slot_of[slot] - 1
    return distinct


@inner_kernel
def count_weak(rows, answers, positions, demand, weak):
    """Count the rows of the blocks whose rows, given up to every position, are some but not enough."""
    for a in range(len(rows) - 1):
        for b in range(a + 1, len(rows)):
            inside = rows[b] - rows[a]
            if inside == 0:
                continue
            if not holds(inside, answers[b] - answers[a], demand):
                weak[positions[a], positions[b]] += inside
            elif answers.shape[1] == 0:
                break  # a larger block only has more rows


@inner_kernel
def count_class(count, shown, span, bits, base, demand, weak):
    """Count what the blocks of one attribute within `span` leave of one class that is too small."""
    low, high = span
    if high - low == 1:  # nothing left to cut, as mostly deep in the tree
        return
    stops = np.empty(high - low + 1, np.int64)
    rows = np.zeros(high - low + 1, np.int64)
    answers = np.zeros((high - low + 1, shown.shape[1]), np.int64)
    last = 0
    stops[0] = low
    for v in range(low, high):
        rows[last + 1] += count[v]
        answers[last + 1] += shown[v]
        if v + 1 == high or bits[v] != FORBIDDEN:
            last += 1
            stops[last] = v + 1
            if last < high - low:
                rows[last + 1], answers[last + 1] = rows[last], answers[last]
    count_weak(rows[: last + 1], answers[: last + 1], base + stops, demand, weak)


@inner_kernel
def sort_by_class(class_of, classes, order):
    """Put the combinations of every class side by side; returns where each class starts, and the end."""
    start = np.zeros(classes + 1, np.int64)
    for c in class_of:
        start[c + 1] += 1
    for c in range(classes):
        start[c + 1] += start[c]
    place = start[:-1].copy()
    for i in range(len(class_of)):
        order[place[class_of[i]]] = i
        place[class_of[i]] += 1
    return start


@inner_kernel
def count_answers(instance, members, count, shown):
    """Count the rows, and their sensitive answers, of one class with each answer; so small a table stays in the cache."""
    count[:] = 0
    shown[:] = 0
    for i in members:
        for j in range(instance.codes.shape[1]):
            v = instance.first_value[j] + instance.codes[i, j]
            count[v] += instance.counts[i]
            for s in range(instance.sensitive.shape[1]):
                shown[v, instance.sensitive[i, s]] += instance.counts[i]


@inner_kernel
def strike_all(instance, demand, status, weak):
    """Count for every block the rows it leaves in classes that are too small; False if the forced cuts leave some already."""
    low, high = forced_blocks(status, instance)
    rows, answers = len(instance.counts), demand.first_sensitive[-1]
    weak[:] = 0
    class_of, sample, order = np.empty(rows, np.int64), np.empty(rows, np.int64), np.empty(rows, np.int64)
    count = np.empty(instance.first_value[-1], np.int64)
    answers_of = np.empty((instance.first_value[-1], answers), np.int64)
    for member in instance.members:
        classes = number_classes(instance, member, low, class_of, sample)
        start_of = sort_by_class(class_of, classes, order)
        first = slice(0, instance.first_value[1])  # every row shows one answer of the first attribute
        for c in range(classes):
            count_answers(instance, order[start_of[c] : start_of[c + 1]], count, answers_of)
            size = count[first].sum()
            if not holds(size, answers_of[first].sum(axis=0), demand):
                return False
            for j in range(len(member)):
                if member[j]:
                    start = instance.first_value[j]
                    v = start + instance.codes[sample[c], j]
                    within = slice(start, instance.first_value[j + 1])
                    span = (low[v], high[v])
                    bits = status[instance.first_bit[j] : instance.first_bit[j + 1]]
                    count_class(count[within], answers_of[within], span, bits, start + j, demand, weak)
    return True


@inner_kernel
def may_stop(status, first_bit, v, size):
    return v == 0 or v == size or status[first_bit + v - 1] != FORBIDDEN


@inner_kernel
def must_stop(status, first_bit, v, size):
    return 0 < v < size and status[first_bit + v - 1] == FORCED


@inner_kernel
def reach_ahead(usable, cost, status, bit, size, ahead):
    """Write the least cost from the first answer to every position of one attribute."""
    ahead[:], ahead[0] = np.inf, 0.0
    for b in range(1, size + 1):
        if may_stop(status, bit, b, size):
            for a in range(b - 1, -1, -1):
                if usable[a, b] and may_stop(status, bit, a, size):
                    ahead[b] = min(ahead[b], ahead[a] + cost[a, b])
                if must_stop(status, bit, a, size):
                    break


@inner_kernel
def reach_behind(usable, cost, status, bit, size, behind):
    """Write the least cost from every position of one attribute to the last answer."""
    behind[:], behind[size] = np.inf, 0.0
    for a in range(size - 1, -1, -1):
        if may_stop(status, bit, a, size):
            for b in range(a + 1, size + 1):
                if usable[a, b] and may_stop(status, bit, b, size):
                    behind[a] = min(behind[a], behind[b] + cost[a, b])
                if must_stop(status, bit, b, size):
                    break


@inner_kernel
def shortest_paths(instance, status, paths):
    """Fill `paths` from both ends; return the sum of the least costs."""
    for j in range(len(paths.least)):
        size = instance.first_value[j + 1] - instance.first_value[j]
        base, bit = instance.first_value[j] + j, instance.first_bit[j]
        inside = slice(base, base + size + 1)
        usable, cost = paths.usable[inside, inside], paths.cost[inside, inside]
        cost[:] = instance.price[inside, inside]
        reach_ahead(usable, cost, status, bit, size, paths.ahead[inside])
        reach_behind(usable, cost, status, bit, size, paths.behind[inside])
        paths.least[j] = paths.ahead[base + size]
    return paths.least.sum()


@inner_kernel
def cost_without(instance, status, paths, j, v):
    """Least cost of attribute `j` when it is not cut below answer `v`."""
    size = instance.first_value[j + 1] - instance.first_value[j]
    base, bit = instance.first_value[j] + j, instance.first_bit[j]
    best = np.inf
    for a in range(v - 1, -1, -1):
        if paths.ahead[base + a] < np.inf and may_stop(status, bit, a, size):
            for b in range(v + 1, size + 1):
                if may_stop(status, bit, b, size) and paths.usable[base + a, base + b]:
                    over = paths.ahead[base + a] + paths.cost[base + a, base + b] + paths.behind[base + b]
                    best = min(best, over)
                if must_stop(status, bit, b, size):
                    break
        if must_stop(status, bit, a, size):
            break
    return best


@inner_kernel
def decide(instance, status, paths, bound, target, rise):
    """Force and forbid the open cuts whose opposite would reach `target`; write how much forbidding each would cost."""
    forced = 0
    for j in range(len(paths.least)):
        size = instance.first_value[j + 1] - instance.first_value[j]
        base, bit = instance.first_value[j] + j, instance.first_bit[j]
        others = bound - paths.least[j]
        for v in range(1, size):
            if status[bit + v - 1] != OPEN:
                continue
            if others + paths.ahead[base + v] + paths.behind[base + v] >= target:
                status[bit + v - 1] = FORBIDDEN
                continue
            without = cost_without(instance, status, paths, j, v)
            rise[bit + v - 1] = without - paths.least[j]
            if others + without >= target:
                status[bit + v - 1] = FORCED
                forced += 1
    return forced


@inner_kernel
def trace(instance, status, paths, cuts):
    """Write the cuts of every attribute's shortest path, of equals the one with the most cuts."""
    cuts[:] = 0
    for j in range(len(paths.least)):
        size = instance.first_value[j + 1] - instance.first_value[j]
        base, bit = instance.first_value[j] + j, instance.first_bit[j]
        b = size
        while b > 0:
            a = b - 1
            while not (
                may_stop(status, bit, a, size)
                and paths.usable[base + a, base + b]
                and paths.ahead[base + a] + paths.cost[base + a, base + b] <= paths.ahead[base + b]
            ):
                a -= 1
            b = a
            if b > 0:
                cuts[bit + b - 1] = 1


@kernel
def bound(instance, demand, status, target, paths, cuts, rise, is_counted):
    """Lower bound of a node, infinite if it holds nothing; decides cuts in `status` and traces the bound's own `cuts`.

    `is_counted` says that `paths.weak` already holds what the forced cuts make of every block; forbidding cuts leaves it so.
    """
    while True:
        if not is_counted and not strike_all(instance, demand, status, paths.weak):
            return np.inf
        is_counted = False
        paths.usable[:] = paths.weak == 0
        total = shortest_paths(instance, status, paths)
        if total >= target:
            return total
        trace(instance, status, paths, cuts)
        if decide(instance, status, paths, total, target, rise) == 0:
            return total


@inner_kernel
def first_inseparable(instance, status):
    """Of every answer the first one that every cut between them is forbidden to."""
    first_value, first_bit = instance.first_value, instance.first_bit
    merged = np.empty(first_value[-1], np.int64)
    for j in range(len(first_bit) - 1):
        start = 0
        for v in range(first_value[j + 1] - first_value[j]):
            if v > 0 and status[first_bit[j] + v - 1] != FORBIDDEN:
                start = v
            merged[first_value[j] + v] = start
    return merged


@kernel
def merge_inseparable(instance, status, radices):
    """The combinations with answers between which every cut is forbidden written as one; their classes are the same.

    `radices` make a number of a combination and its sensitive answers, a different one for each.
    """
    first_value, merged = instance.first_value, first_inseparable(instance, status)
    rows, attributes = instance.codes.shape
    capacity = power_above(2 * rows)
    slot_of, keys = np.zeros(capacity, np.int64), np.empty(rows, np.uint64)
    first, counts = np.empty(rows, np.int64), np.zeros(rows, np.int64)
    distinct = 0
    for i in range(rows):
        key = np.uint64(0)
        for j in range(attributes):
            key = key * radices[j] + np.uint64(merged[first_value[j] + instance.codes[i, j]])
        for s in range(instance.sensitive.shape[1]):
            key = key * radices[attributes + s] + np.uint64(instance.sensitive[i, s])
        slot = spread(key, capacity)
        while slot_of[slot] != 0 and keys[slot_of[slot] - 1] != key:
            slot = (slot + np.uint64(1)) & np.uint64(capacity - 1)
        if slot_of[slot] == 0:
            keys[distinct], first[distinct] = key, i
            distinct += 1
            slot_of[slot] = distinct
        counts[slot_of[slot] - 1] += instance.counts[i]
    codes = np.empty((distinct, attributes), np.int64)
    sensitive = np.empty((distinct, instance.sensitive.shape[1]), np.int64)
    for place in range(distinct):
        for j in range(attributes):
            codes[place, j] = merged[first_value[j] + instance.codes[first[place], j]]
        for s in range(sensitive.shape[1]):
            sensitive[place, s] = instance.sensitive[first[place], s]
    return codes, counts[:distinct].copy(), sensitive
