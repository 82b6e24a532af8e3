"""Rows shared out among the attributes: what every block is charged for, and how the shares move, compiled."""

# numba infers the types of kernels from their first call.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from tacit.kernels import inner_kernel, kernel
from tacit.publish._demand_kernels import holds


@inner_kernel
def sum_class(instance, shares, sure, dearest, members, count, shown, own, rest):
    """Add up a class by answer: rows, sensitive answers, shares, and shares times what rows keep in other attributes.

    Returns all its rows, and those that are sure to be in it; only their shares are added up.
    """
    first_value, attributes = instance.first_value, instance.codes.shape[1]
    count[:] = 0
    shown[:] = 0
    own[:] = 0.0
    rest[:] = 0.0
    rows, certain = 0, 0
    for i in members:
        rows += instance.counts[i]
        kept = 1.0
        for j in range(attributes):
            v = first_value[j] + instance.codes[i, j]
            count[v] += instance.counts[i]
            kept -= dearest[v]
            for s in range(instance.sensitive.shape[1]):
                shown[v, instance.sensitive[i, s]] += instance.counts[i]
        if sure[i]:
            certain += instance.counts[i]
            for j in range(attributes):
                v = first_value[j] + instance.codes[i, j]
                part = instance.counts[i] * shares[i, j]
                own[v] += part
                rest[v] += part * (kept + dearest[v])
    return rows, certain


@inner_kernel
def add_rectangle(steps, first, last, begin, end, amount):
    """Add `amount` to all blocks that start at `first` to `last` and stop at `begin` to `end`, as differences."""
    steps[first, begin] += amount
    steps[last + 1, begin] -= amount
    steps[first, end + 1] -= amount
    steps[last + 1, end + 1] += amount


@inner_kernel
def charge_class(count, shown, own, rest, low, high, demand, owed_steps, charge_steps):
    """Charge the blocks of one attribute for what they have suppressed of one class.

    Blocks with the same occupied answers are charged alike, so only occupied answers are looked at.
    """
    before = low  # blocks that start from here on start with the answer in hand
    seen, asked = np.zeros(shown.shape[1], np.int64), shown.shape[1] > 0
    for i in range(low, high):
        if count[i] == 0:
            continue
        inside, owed, charge = 0, 0.0, 0.0
        seen[:] = 0
        t = i
        while t < high:
            inside += count[t]
            owed += own[t]
            charge += rest[t]
            if asked:
                seen += shown[t]
            if inside >= demand.k and (not asked or holds(inside, seen, demand)):
                break
            after = t + 1
            while after < high and count[after] == 0:
                after += 1
            add_rectangle(owed_steps, before, i, t + 1, after, owed)
            add_rectangle(charge_steps, before, i, t + 1, after, charge)
            t = after
        before = i + 1


@inner_kernel
def charge_blocks(instance, demand, classes, shares, charges):
    """Write what every block is charged; returns the rows that the sure cuts alone have suppressed."""
    first_value, attributes = instance.first_value, instance.codes.shape[1]
    widest = 0
    for j in range(attributes):
        widest = max(widest, first_value[j + 1] - first_value[j])
    owed, charge = np.zeros((attributes, widest + 2, widest + 2)), np.zeros((attributes, widest + 2, widest + 2))
    count = np.empty(first_value[-1], np.int64)
    shown = np.empty((first_value[-1], demand.first_sensitive[-1]), np.int64)
    own, rest = np.empty(first_value[-1]), np.empty(first_value[-1])
    first, gone = slice(0, first_value[1]), 0  # every row shows one answer of the first attribute
    for c in range(len(classes.start) - 1):
        members = classes.order[classes.start[c] : classes.start[c + 1]]
        rows, sure = sum_class(instance, shares, classes.sure, charges.dearest, members, count, shown, own, rest)
        if sure == 0:
            continue
        if not holds(rows, shown[first].sum(axis=0), demand):
            gone += sure
        for j in range(attributes):
            of, low, high = slice(first_value[j], first_value[j + 1]), classes.low[c, j], classes.high[c, j]
            charge_class(count[of], shown[of], own[of], rest[of], low, high, demand, owed[j], charge[j])
    for j in range(attributes):
        base, size = first_value[j] + j, first_value[j + 1] - first_value[j]
        add_up(owed[j], size, charges.owed[base : base + size + 1, base : base + size + 1])
        add_up(charge[j], size, charges.charge[base : base + size + 1, base : base + size + 1])
    return gone


@inner_kernel
def add_up(steps, size, total):
    for a in range(size + 1):
        along = 0.0
        for b in range(size + 1):
            along += steps[a, b]
            total[a, b] = along + (total[a - 1, b] if a > 0 else 0.0)


@inner_kernel
def blocks_of(instance, cuts):
    """The first answer of the block of every answer, on the axis of all answers."""
    first_value = instance.first_value
    block = np.empty(first_value[-1], np.int64)
    for j in range(len(first_value) - 1):
        for v in range(first_value[j], first_value[j + 1]):
            place = v - first_value[j]
            block[v] = v if place == 0 or cuts[instance.first_bit[j] + place - 1] else block[v - 1]
    return block


@inner_kernel
def weak_blocks(instance, demand, members, block, count, shown, weak):
    """Write whether the blocks that a class has rows in would have them suppressed."""
    first_value, attributes, asked = instance.first_value, instance.codes.shape[1], shown.shape[1]
    for i in members:
        for j in range(attributes):
            b = block[first_value[j] + instance.codes[i, j]]
            count[b] = 0
            for s in range(asked):
                shown[b, s] = 0
    for i in members:
        for j in range(attributes):
            b = block[first_value[j] + instance.codes[i, j]]
            count[b] += instance.counts[i]
            for s in range(instance.sensitive.shape[1]):
                shown[b, instance.sensitive[i, s]] += instance.counts[i]
    for i in members:
        for j in range(attributes):
            b = block[first_value[j] + instance.codes[i, j]]
            weak[b] = count[b] < demand.k or (asked > 0 and not holds(count[b], shown[b], demand))


@inner_kernel
def move_shares(instance, demand, classes, cuts, shares, rate):
    """Move the shares of every row to the attributes whose `cuts` have it suppressed."""
    first_value, attributes = instance.first_value, instance.codes.shape[1]
    block = blocks_of(instance, cuts)
    count = np.zeros(first_value[-1], np.int64)
    shown = np.zeros((first_value[-1], demand.first_sensitive[-1]), np.int64)
    weak = np.zeros(first_value[-1], np.bool_)
    for c in range(len(classes.start) - 1):
        members = classes.order[classes.start[c] : classes.start[c + 1]]
        weak_blocks(instance, demand, members, block, count, shown, weak)
        for i in members:
            if not classes.sure[i]:
                continue
            hits, total = 0, 0.0
            for j in range(attributes):
                hits += weak[block[first_value[j] + instance.codes[i, j]]]
            if 0 < hits < attributes:
                for j in range(attributes):
                    shares[i, j] *= rate if weak[block[first_value[j] + instance.codes[i, j]]] else 1.0
                    total += shares[i, j]
                for j in range(attributes):
                    shares[i, j] /= total


@kernel
def average_shares(shares, counts, place, distinct):
    """The shares of merged combinations: the mean of those of their rows."""
    merged, rows = np.zeros((distinct, shares.shape[1])), np.zeros(distinct)
    for i in range(len(place)):
        rows[place[i]] += counts[i]
        for j in range(shares.shape[1]):
            merged[place[i], j] += counts[i] * shares[i, j]
    for i in range(distinct):
        for j in range(shares.shape[1]):
            merged[i, j] /= rows[i]
    return merged
