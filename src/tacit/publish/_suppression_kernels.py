"""Lower bounds for branch and bound where rows may be suppressed, compiled.

A node forces some cuts. If attribute j gets a block that holds too few rows of a class of the forced cuts, these rows are
suppressed, whatever is cut elsewhere. So every attribute by itself tells of rows that it has suppressed, and the union of these
rows must be within the limit. To keep the attributes apart, every row is shared out among them: attribute j bears the
share ``shares[row, j]`` of a row, the shares of a row add up to 1, and a block is charged its shares of the rows it has
suppressed. What all attributes are charged together is then at most what is suppressed. A suppressed row costs 1 instead of its
penalty, and a price on top (a Lagrange multiplier) sees to the limit; the shortest paths of the attributes add up to a bound,
whatever the shares and the price. Good ones make it sharp: the price is found by bisection, and a row's shares move to those
attributes whose shortest path has it suppressed.
"""

# numba infers the types of kernels from their first call.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.kernels import inner_kernel
from tacit.publish._demand_kernels import holds
from tacit.publish._halves_kernels import power_above, spread
from tacit.publish._proof_kernels import (
    FORBIDDEN,
    FORCED,
    OPEN,
    may_stop,
    must_stop,
    reach_ahead,
    reach_behind,
    sort_by_class,
    trace,
)

Floats = NDArray[np.float64]
HALVINGS = 8  # of the interval in which the price of a suppressed row is sought
UNSURE = 0.1  # share of rows whose side of a sure cut may be unknown: those beyond lose more than the cut brings
DEAREST = 1e3  # price beyond which nothing is sought


class Charges(NamedTuple):
    """What blocks are charged, and the shortest paths of every attribute, as arrays over positions."""

    owed: Floats  # [position, position]: shares of the rows that such a block has suppressed
    charge: Floats  # [position, position]: the same, each times what its row does not lose in other attributes
    usable: NDArray[np.bool_]  # [position, position]
    cost: Floats  # [position, position]
    ahead: Floats  # cost from the first answer
    behind: Floats  # cost to the last
    least: Floats  # of each attribute
    dearest: Floats  # of each answer: the most that a row may lose by it
    price: Floats  # of a suppressed row beyond what it costs, in a single entry
    before: Floats  # share of rows with answers before each position


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
def paths_at(instance, limit, status, charges, price):
    """The bound at one price of a suppressed row, and how many shares the shortest paths owe."""
    total, spent = -price * limit / instance.rows, 0.0
    gone = np.zeros(len(charges.ahead))
    for j in range(len(charges.least)):
        size = instance.first_value[j + 1] - instance.first_value[j]
        base, bit = instance.first_value[j] + j, instance.first_bit[j]
        own = slice(base, base + size + 1)
        for a in range(base, base + size):
            for b in range(a + 1, base + size + 1):
                due = charges.charge[a, b] + (price - instance.scale[j] * (b - a - 1)) * charges.owed[a, b]
                charges.cost[a, b] = instance.price[a, b] + due / instance.rows
        usable, cost = charges.usable[own, own], charges.cost[own, own]
        reach_ahead(usable, cost, charges.owed[own, own], status, bit, size, charges.ahead[own], gone[own])
        charges.least[j] = charges.ahead[base + size]
        total, spent = total + charges.least[j], spent + gone[base + size]
    return total, spent


@njit(cache=True)
def dearest_paths(instance, limit, status, charges, target):
    """The largest bound over the prices of a suppressed row, in which it is concave; leaves its paths in `charges`."""
    best, spent = paths_at(instance, limit, status, charges, charges.price[0])
    at, low, high = charges.price[0], 0.0, charges.price[0]
    if spent > limit:
        low, high = high, max(0.25, 2 * high)
        while best < target and high < DEAREST:
            total, spent = paths_at(instance, limit, status, charges, high)
            if total > best:
                best, at = total, high
            if spent <= limit:
                break
            low, high = high, 2 * high
    for _ in range(HALVINGS):
        if best >= target or high - low < 1e-3:
            break
        middle = (low + high) / 2
        total, spent = paths_at(instance, limit, status, charges, middle)
        if total > best:
            best, at = total, middle
        if spent > limit:
            low = middle
        else:
            high = middle
    charges.price[0] = at
    best, _ = paths_at(instance, limit, status, charges, at)
    for j in range(len(charges.least)):
        size = instance.first_value[j + 1] - instance.first_value[j]
        base = instance.first_value[j] + j
        own = slice(base, base + size + 1)
        reach_behind(
            charges.usable[own, own],
            charges.cost[own, own],
            status,
            instance.first_bit[j],
            size,
            charges.behind[own],
        )
    return best


@inner_kernel
def judge_blocks(status, bit, base, size, others, target, charges, whole, without):
    """Strike the blocks of one attribute through which every path reaches `target`.

    Writes the least cost through a cut (`whole`) and past it (`without`), infinite where nothing below the target is left.
    """
    whole[:], without[:] = np.inf, np.inf
    for a in range(size):
        if charges.ahead[base + a] == np.inf or not may_stop(status, bit, a, size):
            continue
        for b in range(a + 1, size + 1):
            if may_stop(status, bit, b, size) and charges.usable[base + a, base + b]:
                over = others + charges.ahead[base + a] + charges.cost[base + a, base + b] + charges.behind[base + b]
                if over >= target:
                    charges.usable[base + a, base + b] = False
                else:
                    whole[a], whole[b] = min(whole[a], over), min(whole[b], over)
                    for v in range(a + 1, b):
                        without[v] = min(without[v], over)
            if must_stop(status, bit, b, size):
                break


@inner_kernel
def most_lost(instance, j, status, charges):
    """Write the most that rows may lose by each answer of an attribute: its widest block that is still usable."""
    size = instance.first_value[j + 1] - instance.first_value[j]
    base, bit = instance.first_value[j] + j, instance.first_bit[j]
    dearest = charges.dearest[instance.first_value[j] : instance.first_value[j + 1]]
    dearest[:] = 0.0
    for a in range(size):
        if not may_stop(status, bit, a, size):
            continue
        for b in range(a + 1, size + 1):
            if charges.usable[base + a, base + b] and may_stop(status, bit, b, size):
                for v in range(a, b):
                    dearest[v] = max(dearest[v], instance.scale[j] * (b - a - 1))
            if must_stop(status, bit, b, size):
                break


@inner_kernel
def decide_cuts(instance, status, far, charges, bound, target):
    """Force and forbid the open cuts whose opposite would reach `target`, and shorten how far blocks go; whether any was."""
    decided = False
    for j in range(len(charges.least)):
        size = instance.first_value[j + 1] - instance.first_value[j]
        base, bit = instance.first_value[j] + j, instance.first_bit[j]
        whole, without = np.empty(size + 1), np.empty(size + 1)
        judge_blocks(status, bit, base, size, bound - charges.least[j], target, charges, whole, without)
        for v in range(1, size):
            if status[bit + v - 1] != OPEN:
                continue
            if whole[v] == np.inf:
                status[bit + v - 1] = FORBIDDEN
            elif without[v] == np.inf:
                status[bit + v - 1] = FORCED
                decided = True
        decided = shorten(status, bit, base, size, far, charges.usable) or decided
        most_lost(instance, j, status, charges)
    return decided


@inner_kernel
def shorten(status, bit, base, size, far, usable):
    """Write how far usable blocks go from every position of an attribute; whether any goes less far than before."""
    shorter, forced = False, size
    for a in range(size - 1, -1, -1):
        b = min(far[base + a], forced)
        while b > a + 1 and not (usable[base + a, base + b] and may_stop(status, bit, b, size)):
            b -= 1
        shorter = shorter or b < far[base + a]
        far[base + a] = b
        if must_stop(status, bit, a, size):
            forced = a
    return shorter


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


@inner_kernel
def allow_blocks(instance, status, far, charges):
    """Allow the blocks that go no farther than they may."""
    for j in range(len(charges.least)):
        base, size = instance.first_value[j] + j, instance.first_value[j + 1] - instance.first_value[j]
        for a in range(size):
            for b in range(a + 1, size + 1):
                charges.usable[base + a, base + b] = b <= far[base + a]
        shorten(status, instance.first_bit[j], base, size, far, charges.usable)
        most_lost(instance, j, status, charges)


@njit(cache=True)
def bound_shared(instance, demand, status, far, target, charges, shares, cuts, rounds, rate):
    """Lower bound of a node, infinite if it holds nothing; decides cuts in `status` and traces the bound's own `cuts`.

    The shares are moved between as many `rounds`, each time by at most the factor `rate`.
    """
    allow_blocks(instance, status, far, charges)
    classes = sure_classes(instance, status, far, charges.before)
    best = 0.0
    for turn in range(rounds):
        if charge_blocks(instance, demand, classes, shares, charges) > demand.limit:
            return np.inf
        total = dearest_paths(instance, demand.limit, status, charges, target)
        best = max(best, total)
        if total >= target:
            break
        trace(instance, status, charges, cuts)
        decided = decide_cuts(instance, status, far, charges, total, target)
        if turn + 1 < rounds:
            move_shares(instance, demand, classes, cuts, shares, rate)
            if decided:
                classes = sure_classes(instance, status, far, charges.before)
    return best


@njit(cache=True)
def cost_beside(instance, limit, status, charges, j, cost):
    """Write for every stretch of cuts of an attribute, first to last, what it would cost at least to make none of them."""
    size = instance.first_value[j + 1] - instance.first_value[j]
    base, bit = instance.first_value[j] + j, instance.first_bit[j]
    others = charges.least.sum() - charges.least[j] - charges.price[0] * limit / instance.rows
    cost[:] = np.inf
    for a in range(size):
        if charges.ahead[base + a] == np.inf or not may_stop(status, bit, a, size):
            continue
        for b in range(a + 2, size + 1):
            if may_stop(status, bit, b, size) and charges.usable[base + a, base + b]:
                over = others + charges.ahead[base + a] + charges.cost[base + a, base + b] + charges.behind[base + b]
                cost[a + 1, b - 1] = min(cost[a + 1, b - 1], over)
    for p in range(1, size):  # a block past a longer stretch passes a shorter one too
        for q in range(size - 1, p - 1, -1):
            if p > 1:
                cost[p, q] = min(cost[p, q], cost[p - 1, q])
            if q < size - 1:
                cost[p, q] = min(cost[p, q], cost[p, q + 1])


@njit(cache=True)
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
