"""A sharper bound where rows may be suppressed: given the block of one attribute, the others within it, compiled.

Take one attribute as the central one. Whatever its blocks are, the rows of one block never share a class with those of another.
So within a block the classes of the sure cuts are cut once more, by the block itself, and what the other attributes have
suppressed there is told as in `_suppression_kernels`, but from these smaller classes. A block of the central attribute then
costs what its rows lose at least: their penalty by the block itself, and for every other attribute the shortest path among the
rows of the block. A release takes one path for all blocks; that here each block has its own only makes them shorter. So the
cheapest chain of blocks of the central attribute is a bound, at any price of a suppressed row and whatever the shares.

Rows of a class that is too small already within the block are suppressed for sure and cost 1 and the price, no less. All
others are shared out among the attributes other than the central one, anew for every central attribute: their shares move to
those attributes whose path within the row's block has it suppressed, which raises the bound by a quarter.
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
from tacit.publish._proof_kernels import may_stop, must_stop, reach_ahead, reach_behind
from tacit.publish._share_kernels import add_rectangle, add_up, weak_blocks
from tacit.publish._suppression_kernels import decide_attribute
from tacit.publish._sure_class_kernels import sure_classes

Floats = NDArray[np.float64]
LEAST_PRICE, SWIFTEST = 0.002, 1.4  # of a suppressed row, and by how much it may change between rounds
LEAST_SHARE = 1e-4  # from which a share grows: one that has vanished in other nodes must come back within a few rounds
# Shares are moved again where the target is within so many times what moving them gained last, or is expected to gain at first.
WITHIN_REACH, HOPED_GAIN, MOST_ROUNDS = 2.0, 0.02, 8


class Sorted(NamedTuple):
    """Classes of the sure cuts of all but the central attribute, their rows by its answers, and what blocks of these show."""

    order: NDArray[np.int64]  # combinations, class by class, and by the central answer within
    at: NDArray[np.int64]  # [class, answer]: where in the order this answer starts
    low: NDArray[np.int64]  # [class, attribute]: the first answer of the class
    high: NDArray[np.int64]
    sure: NDArray[np.bool_]  # of every combination: it is in one class only
    occupied: NDArray[np.int64]  # answers shown in a class, attribute by attribute
    first: NDArray[np.int64]  # [class, attribute]: where these start, and the end
    slot: NDArray[np.int64]  # [place in the order, attribute]: where its answer stands among the occupied
    part: Floats  # [place, attribute]: the attribute's shares of these rows, none if they are not sure
    rest: Floats  # [place, attribute]: the same, each times what its row does not lose in other attributes
    number: NDArray[np.int64]  # classes that show each central answer, answer by answer
    of_answer: NDArray[np.int64]  # where these start, and the end


class Sums(NamedTuple):
    """What is added up for the blocks of the central attribute that start at one answer, as they grow."""

    owed_steps: Floats  # [attribute, position, position]
    charge_steps: Floats
    counted: NDArray[np.int64]  # of each occupied answer: rows
    shown: NDArray[np.int64]  # [occupied answer, sensitive answer]
    own: Floats  # shares
    rest: Floats
    rows: NDArray[np.int64]  # of each class
    seen: NDArray[np.int64]  # [class, sensitive answer]
    lost: NDArray[np.int64]  # of each answer: rows that are suppressed for sure


class Ways(NamedTuple):
    """Shortest paths of the other attributes among the rows of one central block."""

    owed: Floats  # [attribute, position, position]
    charge: Floats
    ahead: Floats  # cost from the first answer
    spent: Floats  # shares owed on that way
    back: NDArray[np.int64]  # where the last block before each position starts
    before: Floats  # rows with answers before each position


@inner_kernel
def sort_class(instance, members, start, central, order, at):
    """Sort the rows of one class by their central answer."""
    size = len(at) - 1
    for i in members:
        at[instance.codes[i, central] + 1] += 1
    at[0] = start
    for v in range(size):
        at[v + 1] += at[v]
    for i in members:
        v = instance.codes[i, central]
        order[at[v]] = i
        at[v] += 1
    for v in range(size, 0, -1):
        at[v] = at[v - 1]
    at[0] = start


@inner_kernel
def list_answers(instance, members, low, high, place_of, occupied, first, listed):
    """List the answers that one class shows, attribute by attribute, from place `listed` on; returns the end."""
    first_value, attributes = instance.first_value, instance.codes.shape[1]
    for i in members:
        for j in range(attributes):
            place_of[first_value[j] + instance.codes[i, j]] = 0
    for j in range(attributes):
        first[j] = listed
        for v in range(low[j], high[j]):
            if place_of[first_value[j] + v] == 0:
                place_of[first_value[j] + v], occupied[listed] = listed, v
                listed += 1
    first[attributes] = listed
    return listed


@inner_kernel
def share_entry(instance, shares, dearest, i, central, part, rest):
    """Write how the rows of a combination are shared out among the attributes but the central one."""
    attributes = instance.codes.shape[1]
    shared, kept = 0.0, 1.0
    for j in range(attributes):
        if j != central:
            shared += shares[i, j]
            kept -= dearest[instance.first_value[j] + instance.codes[i, j]]
    for j in range(attributes):
        if j != central:
            share = shares[i, j] / shared if shared > 1e-6 else 1.0 / (attributes - 1)
            part[j] = instance.counts[i] * share
            rest[j] = part[j] * (kept + dearest[instance.first_value[j] + instance.codes[i, j]])


@inner_kernel
def classes_by_answer(at):
    """The classes that show each central answer, and where they start."""
    classes, size = len(at), at.shape[1] - 1
    of_answer = np.zeros(size + 1, np.int64)
    for c in range(classes):
        for v in range(size):
            of_answer[v + 1] += at[c, v + 1] > at[c, v]
    for v in range(size):
        of_answer[v + 1] += of_answer[v]
    number, place = np.empty(of_answer[size], np.int64), of_answer.copy()
    for c in range(classes):
        for v in range(size):
            if at[c, v + 1] > at[c, v]:
                number[place[v]] = c
                place[v] += 1
    return number, of_answer


@inner_kernel
def sort_classes(instance, classes, shares, dearest, central):
    """The classes made ready for the blocks of the central attribute."""
    first_value, attributes = instance.first_value, instance.codes.shape[1]
    size, classes_in_all, entries = (
        first_value[central + 1] - first_value[central],
        len(classes.start) - 1,
        len(classes.order),
    )
    order, at = np.empty(entries, np.int64), np.zeros((classes_in_all, size + 1), np.int64)
    occupied, first = np.empty(entries * attributes, np.int64), np.zeros((classes_in_all, attributes + 1), np.int64)
    slot, part = np.empty((entries, attributes), np.int64), np.zeros((entries, attributes))
    rest, place_of = np.zeros((entries, attributes)), np.full(first_value[-1], -1, np.int64)
    listed = 0
    for c in range(classes_in_all):
        start, stop = classes.start[c], classes.start[c + 1]
        members = classes.order[start:stop]
        sort_class(instance, members, start, central, order, at[c])
        place_of[:] = -1
        listed = list_answers(instance, members, classes.low[c], classes.high[c], place_of, occupied, first[c], listed)
        for e in range(start, stop):
            for j in range(attributes):
                slot[e, j] = place_of[first_value[j] + instance.codes[order[e], j]]
            if classes.sure[order[e]]:
                share_entry(instance, shares, dearest, order[e], central, part[e], rest[e])
    number, of_answer = classes_by_answer(at)
    return Sorted(
        order,
        at,
        classes.low,
        classes.high,
        classes.sure,
        occupied[:listed],
        first,
        slot,
        part,
        rest,
        number,
        of_answer,
    )


@inner_kernel
def charge_answers(values, low, high, first, sums, demand, sign, owed_steps, charge_steps):
    """Charge the blocks of one attribute for what they have suppressed of one class that shows these answers.

    Blocks with the same answers are charged alike: those that start after the answer before, and stop before the answer after.
    A negative `sign` takes the charges back.
    """
    before, asked = low, sums.shown.shape[1] > 0
    seen = np.zeros(sums.shown.shape[1], np.int64)
    for p in range(len(values)):
        if sums.counted[first + p] == 0:
            continue
        if asked:
            seen[:] = 0
        inside, owed, charge, t = 0, 0.0, 0.0, p
        while t < len(values):
            inside += sums.counted[first + t]
            owed += sums.own[first + t]
            charge += sums.rest[first + t]
            if asked:
                seen += sums.shown[first + t]
            if inside >= demand.k and (not asked or holds(inside, seen, demand)):
                break
            after = t + 1
            while after < len(values) and sums.counted[first + after] == 0:
                after += 1
            end = values[after] if after < len(values) else high
            if owed > 0.0:
                add_rectangle(owed_steps, before, values[p], values[t] + 1, end, sign * owed)
                add_rectangle(charge_steps, before, values[p], values[t] + 1, end, sign * charge)
            t = after
        before = values[p] + 1


@inner_kernel
def charge_all(sorted_, c, central, sums, demand, sign):
    """Charge the blocks of all attributes but the central one for one class, or take that back."""
    for j in range(sorted_.low.shape[1]):
        first, last = sorted_.first[c, j], sorted_.first[c, j + 1]
        if j != central:
            values, low, high = sorted_.occupied[first:last], sorted_.low[c, j], sorted_.high[c, j]
            charge_answers(values, low, high, first, sums, demand, sign, sums.owed_steps[j], sums.charge_steps[j])


@inner_kernel
def lose(instance, sorted_, begin, end, sums, sign):
    """Count rows as suppressed for sure, or no longer; returns how many."""
    rows = 0
    for e in range(begin, end):
        i = sorted_.order[e]
        if sorted_.sure[i]:
            rows += instance.counts[i]
            for j in range(instance.codes.shape[1]):
                sums.lost[instance.first_value[j] + instance.codes[i, j]] += sign * instance.counts[i]
    return sign * rows


@inner_kernel
def add_members(instance, sorted_, begin, end, c, central, sums):
    for e in range(begin, end):
        i = sorted_.order[e]
        sums.rows[c] += instance.counts[i]
        for s in range(instance.sensitive.shape[1]):
            sums.seen[c, instance.sensitive[i, s]] += instance.counts[i]
        for j in range(instance.codes.shape[1]):
            if j != central:
                place = sorted_.slot[e, j]
                sums.counted[place] += instance.counts[i]
                sums.own[place] += sorted_.part[e, j]
                sums.rest[place] += sorted_.rest[e, j]
                for s in range(instance.sensitive.shape[1]):
                    sums.shown[place, instance.sensitive[i, s]] += instance.counts[i]


@inner_kernel
def grow(instance, demand, sorted_, central, begin, v, sums):
    """Add the rows with central answer `v` to the blocks that start at `begin`; returns how many more are suppressed for sure."""
    gone = 0
    for n in range(sorted_.of_answer[v], sorted_.of_answer[v + 1]):
        c = sorted_.number[n]
        start, left, right = sorted_.at[c, begin], sorted_.at[c, v], sorted_.at[c, v + 1]
        was_whole = sums.rows[c] > 0 and holds(sums.rows[c], sums.seen[c], demand)
        if was_whole:
            charge_all(sorted_, c, central, sums, demand, -1)
        add_members(instance, sorted_, left, right, c, central, sums)
        if holds(sums.rows[c], sums.seen[c], demand):
            charge_all(sorted_, c, central, sums, demand, 1)
            if not was_whole:
                gone += lose(instance, sorted_, start, left, sums, -1)
        else:
            gone += lose(instance, sorted_, left, right, sums, 1)
    return gone


@inner_kernel
def path_within(instance, status, usable, j, price, penalty, ways):
    """The least that one attribute costs among the rows of a central block of this penalty, and the shares owed on that way."""
    size = instance.first_value[j + 1] - instance.first_value[j]
    base, bit, scale = instance.first_value[j] + j, instance.first_bit[j], instance.scale[j]
    ways.ahead[:], ways.ahead[0], ways.spent[0] = np.inf, 0.0, 0.0
    for a in range(size):
        if ways.ahead[a] == np.inf or not may_stop(status, bit, a, size):
            continue
        for b in range(a + 1, size + 1):
            if usable[base + a, base + b] and may_stop(status, bit, b, size):
                lost = scale * (b - a - 1)
                due = lost * (ways.before[base + b] - ways.before[base + a]) + ways.charge[j, a, b]
                cost = ways.ahead[a] + (due + (price - penalty - lost) * ways.owed[j, a, b]) / instance.rows
                if cost < ways.ahead[b]:
                    ways.ahead[b], ways.back[b] = cost, a
                    ways.spent[b] = ways.spent[a] + ways.owed[j, a, b]
            if must_stop(status, bit, b, size):
                break
    return ways.ahead[size], ways.spent[size]


@inner_kernel
def count_before(instance, by_answer, begin, end, lost, central, before):
    """Write the rows of a central block with answers before every position, without those that are lost; returns all rows."""
    first_value = instance.first_value
    for j in range(instance.codes.shape[1]):
        base, total = first_value[j] + j, 0
        before[base] = 0.0
        for v in range(first_value[j + 1] - first_value[j]):
            place = first_value[j] + v
            total += by_answer[end, place] - by_answer[begin, place] - lost[place]
            before[base + v + 1] = total
    return before[first_value[central + 1] + central]


@inner_kernel
def answers_before(instance, central):
    """[position of the central attribute, answer]: rows with an earlier central answer and this answer."""
    size = instance.first_value[central + 1] - instance.first_value[central]
    by_answer = np.zeros((size + 1, instance.first_value[-1]), np.int64)
    for i in range(len(instance.counts)):
        for j in range(instance.codes.shape[1]):
            by_answer[instance.codes[i, central] + 1, instance.first_value[j] + instance.codes[i, j]] += (
                instance.counts[i]
            )
    for v in range(size):
        by_answer[v + 1] += by_answer[v]
    return by_answer


@inner_kernel
def add_up_charges(instance, central, sums, ways):
    for j in range(instance.codes.shape[1]):
        if j != central:
            size = instance.first_value[j + 1] - instance.first_value[j]
            add_up(sums.owed_steps[j], size, ways.owed[j])
            add_up(sums.charge_steps[j], size, ways.charge[j])


@inner_kernel
def price_block(instance, status, usable, central, penalty, gone, price, rows, sums, ways):
    """What one block of the central attribute costs at least, and how many rows it has suppressed at that."""
    add_up_charges(instance, central, sums, ways)
    worth, owed = (penalty * rows + gone * (1.0 + price)) / instance.rows, float(gone)
    for j in range(instance.codes.shape[1]):
        if j != central:
            cost, spent = path_within(instance, status, usable, j, price, penalty, ways)
            worth, owed = worth + cost, owed + spent
    return worth, owed


@inner_kernel
def sums_for(instance, demand, sorted_):
    first_value, attributes, answers = instance.first_value, instance.codes.shape[1], demand.first_sensitive[-1]
    widest = 0
    for j in range(attributes):
        widest = max(widest, first_value[j + 1] - first_value[j])
    shape, places, classes = (attributes, widest + 2, widest + 2), len(sorted_.occupied), len(sorted_.at)
    sums = Sums(
        np.zeros(shape),
        np.zeros(shape),
        np.zeros(places, np.int64),
        np.zeros((places, answers), np.int64),
        np.zeros(places),
        np.zeros(places),
        np.zeros(classes, np.int64),
        np.zeros((classes, answers), np.int64),
        np.zeros(first_value[-1], np.int64),
    )
    side, positions = widest + 2, first_value[-1] + attributes
    ways = Ways(
        np.zeros(shape), np.zeros(shape), np.zeros(side), np.zeros(side), np.zeros(side, np.int64), np.zeros(positions)
    )
    return sums, ways


@inner_kernel
def clear(sums):
    sums.owed_steps[:] = 0.0
    sums.charge_steps[:] = 0.0
    sums.own[:] = 0.0
    sums.rest[:] = 0.0
    sums.counted[:], sums.shown[:], sums.rows[:], sums.seen[:], sums.lost[:] = 0, 0, 0, 0, 0


@inner_kernel
def price_blocks(instance, demand, status, far, charges, sorted_, by_answer, sums, ways, central, price, worth, owed):
    """Write what every usable block of the central attribute costs at least, and the rows suppressed at that."""
    first_value = instance.first_value
    size = first_value[central + 1] - first_value[central]
    base, bit = first_value[central] + central, instance.first_bit[central]
    for a in range(size):
        if not may_stop(status, bit, a, size):
            continue
        clear(sums)
        gone = 0
        for b in range(a + 1, far[base + a] + 1):
            gone += grow(instance, demand, sorted_, central, a, b - 1, sums)
            if may_stop(status, bit, b, size) and charges.usable[base + a, base + b]:
                penalty = instance.scale[central] * (b - a - 1)
                rows = count_before(instance, by_answer, a, b, sums.lost, central, ways.before)
                worth[a, b], owed[a, b] = price_block(
                    instance, status, charges.usable, central, penalty, gone, price, rows, sums, ways
                )
            if must_stop(status, bit, b, size):
                break


@inner_kernel
def move_within(instance, demand, sorted_, central, begin, end, block, shares, rate):
    """Move the shares of the rows in one central block to the attributes whose blocks there have them suppressed."""
    first_value, attributes = instance.first_value, instance.codes.shape[1]
    count = np.zeros(first_value[-1], np.int64)
    shown = np.zeros((first_value[-1], demand.first_sensitive[-1]), np.int64)
    weak = np.zeros(first_value[-1], np.bool_)
    for c in range(len(sorted_.at)):
        members = sorted_.order[sorted_.at[c, begin] : sorted_.at[c, end]]
        weak_blocks(instance, demand, members, block, count, shown, weak)
        for i in members:
            hits, total = 0, 0.0
            for j in range(attributes):
                hits += j != central and weak[block[first_value[j] + instance.codes[i, j]]]
            if 0 < hits < attributes - 1 and sorted_.sure[i]:
                shares[i, central] = 0.0
                for j in range(attributes):
                    if j != central:
                        hit = weak[block[first_value[j] + instance.codes[i, j]]]
                        shares[i, j] = max(shares[i, j], LEAST_SHARE) * (rate if hit else 1.0)
                        total += shares[i, j]
                for j in range(attributes):
                    shares[i, j] /= total


@inner_kernel
def move_central(
    instance, demand, status, charges, sorted_, by_answer, sums, ways, central, price, start, shares, rate
):
    """Move the shares of every row by the paths within its block of the central attribute.

    ``start[b]`` is where the block starts that stops at `b`.
    """
    first_value = instance.first_value
    end = first_value[central + 1] - first_value[central]
    block = np.empty(first_value[-1], np.int64)
    block[first_value[central] : first_value[central + 1]] = first_value[central]
    while end > 0:
        begin = start[end]
        clear(sums)
        for v in range(begin, end):
            grow(instance, demand, sorted_, central, begin, v, sums)
        count_before(instance, by_answer, begin, end, sums.lost, central, ways.before)
        add_up_charges(instance, central, sums, ways)
        for j in range(instance.codes.shape[1]):
            if j != central:
                path_within(
                    instance, status, charges.usable, j, price, instance.scale[central] * (end - begin - 1), ways
                )
                b = first_value[j + 1] - first_value[j]
                while b > 0:
                    block[first_value[j] + ways.back[b] : first_value[j] + b] = first_value[j] + ways.back[b]
                    b = ways.back[b]
        move_within(instance, demand, sorted_, central, begin, end, block, shares, rate)
        end = begin


@inner_kernel
def share_again(instance, sorted_, shares, dearest, central):
    for e in range(len(sorted_.order)):
        i = sorted_.order[e]
        if sorted_.sure[i]:
            share_entry(instance, shares, dearest, i, central, sorted_.part[e], sorted_.rest[e])


@inner_kernel
def trace_blocks(usable, cost, status, bit, size, ahead, start):
    """Write where the block starts that stops at each position of a shortest path."""
    b = size
    while b > 0:
        a = b - 1
        while not (may_stop(status, bit, a, size) and usable[a, b] and ahead[a] + cost[a, b] <= ahead[b]):
            a -= 1
        start[b] = a
        b = a


@kernel
def bound_by_blocks(instance, demand, status, far, target, charges, shares, central, price, rounds, rate):
    """Lower bound of a node by the blocks of a central attribute; strikes its blocks and decides its cuts in `status`.

    `price` of a suppressed row, in a single entry, goes up where more than the limit are suppressed, else down. It changes and
    the shares are moved after each of as many `rounds`, and more where that promises to reach the target.
    """
    first_value, bit = instance.first_value, instance.first_bit[central]
    size, base = first_value[central + 1] - first_value[central], first_value[central] + central
    own = slice(base, base + size + 1)
    usable, ahead, anywhere = charges.usable[own, own], charges.ahead[own], far.copy()
    anywhere[own] = size
    classes = sure_classes(instance, status, anywhere, charges.before)
    sorted_ = sort_classes(instance, classes, shares, charges.dearest, central)
    by_answer = answers_before(instance, central)
    sums, ways = sums_for(instance, demand, sorted_)
    worth, owed = np.empty((size + 1, size + 1)), np.zeros((size + 1, size + 1))
    start, spent = np.zeros(size + 1, np.int64), np.zeros(size + 1)
    best, gain, turn = -np.inf, HOPED_GAIN * target, 0
    while True:
        worth[:] = np.inf
        price_blocks(
            instance, demand, status, far, charges, sorted_, by_answer, sums, ways, central, price[0], worth, owed
        )
        reach_ahead(usable, worth, owed, status, bit, size, ahead, spent)
        total = ahead[size] - price[0] * demand.limit / instance.rows
        if turn > 0:
            gain = total - best
        best, turn = max(best, total), turn + 1
        if best >= target:
            return best
        charges.cost[own, own] = worth
        reach_behind(usable, worth, status, bit, size, charges.behind[own])
        trace_blocks(usable, worth, status, bit, size, ahead, start)
        move_central(
            instance, demand, status, charges, sorted_, by_answer, sums, ways, central, price[0], start, shares, rate
        )
        change = min(SWIFTEST, max(1.0 / SWIFTEST, np.sqrt(spent[size] / demand.limit)))
        decide_attribute(instance, status, far, charges, central, total - ahead[size], target)
        price[0] = max(LEAST_PRICE, price[0] * change)
        if turn >= rounds and (target - best > WITHIN_REACH * gain or turn >= MOST_ROUNDS):
            return best
        share_again(instance, sorted_, shares, charges.dearest, central)
