"""Local recoding, compiled: a box of rows is cut in two, and each half again, while every class stays publishable.

Boxes cut this way never overlap (multidimensional recoding, LeFevre et al. 2006); here a cut is chosen by the penalty
that is left over the tight boxes, and judged by cutting on greedily to the end (the pilot method). Most boxes are small, so the
work on one grows with its combinations and with the answers it spans, never with the whole domain.
Plain loops stand where numpy would have an expression over an array: numba compiles each of those several times longer.
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

NO_CUT = np.int64(-1)


class Rows(NamedTuple):
    """The combinations to be put into boxes, and what their answers cost."""

    codes: NDArray[np.int16]  # [combination, attribute]; of very many answers in four bytes
    counts: NDArray[np.int64]
    sensitive: NDArray[np.int64]
    people: NDArray[np.int64]  # of the population; empty where they are not asked for
    first_value: NDArray[np.int64]
    scale: NDArray[np.float64]  # penalty of one answer more
    spans: NDArray[
        np.float64
    ]  # of an attribute with a hierarchy: [first_span + low * size + high], answers merged in excess of 1
    first_span: NDArray[np.int64]  # -1 for attributes without one


class Scratch(NamedTuple):
    """Room for what is known of every answer of one attribute."""

    low: NDArray[np.int32]  # [answer, attribute]
    high: NDArray[np.int32]
    entries: NDArray[np.int64]
    rows: NDArray[np.int64]
    shown: NDArray[np.int64]  # [answer, sensitive answer]
    above: NDArray[np.float64]  # penalty of a row in the tight box of this answer and all above


class Sides(NamedTuple):
    """Room for the sensitive answers, and the people, of a box, below a cut and above it.

    Kernels get None in its place where nothing is asked of a class but its size. What else may be asked is then not compiled.
    """

    whole: NDArray[np.int64]
    below: NDArray[np.int64]
    above: NDArray[np.int64]


@inner_kernel
def extent(rows, low, high):
    """Penalty of a row in the box."""
    total = 0.0
    for j in range(len(rows.scale)):
        if rows.first_span[j] < 0:
            total += rows.scale[j] * (high[j] - low[j])
        elif high[j] > low[j]:
            size = rows.first_value[j + 1] - rows.first_value[j]
            total += rows.scale[j] * rows.spans[rows.first_span[j] + low[j] * size + high[j]]
    return total


@inner_kernel
def profile(rows, box, j, base, scratch):
    """Tight box, rows and sensitive answers of the box's combinations, apart for every answer of attribute `j`."""
    codes, low, high, entries = rows.codes, scratch.low, scratch.high, scratch.entries
    attributes = codes.shape[1]
    people = scratch.shown.shape[1] - 1
    for i in box:
        v = codes[i, j] - base
        if entries[v] == 0:
            scratch.rows[v] = 0
            for s in range(people + 1):
                scratch.shown[v, s] = 0
            for a in range(attributes):
                low[v, a] = high[v, a] = codes[i, a]
        else:
            for a in range(attributes):
                low[v, a], high[v, a] = min(low[v, a], codes[i, a]), max(high[v, a], codes[i, a])
        entries[v] += 1
        scratch.rows[v] += rows.counts[i]
        for s in range(rows.sensitive.shape[1]):
            scratch.shown[v, rows.sensitive[i, s]] += rows.counts[i]
        if len(rows.people) > 0:
            scratch.shown[v, people] += rows.people[i]


@inner_kernel
def keep_cheapest(prices, places, price, place):
    """Put a cut among the cheapest ones, in ascending order."""
    at = len(prices) - 1
    while at > 0 and prices[at - 1] > price:
        prices[at], places[at] = prices[at - 1], places[at - 1]
        at -= 1
    prices[at], places[at] = price, place


@inner_kernel
def box_of(low, high, v):
    """The tight box of one answer, to be widened."""
    run_low, run_high = np.empty(low.shape[1], np.int32), np.empty(low.shape[1], np.int32)
    for a in range(len(run_low)):
        run_low[a], run_high[a] = low[v, a], high[v, a]
    return run_low, run_high


@inner_kernel
def widen(run_low, run_high, low, high, v):
    """Widen a box so that it also holds the rows of one answer."""
    for a in range(len(run_low)):
        run_low[a], run_high[a] = min(run_low[a], low[v, a]), max(run_high[a], high[v, a])


@inner_kernel
def show_box(sides, rows, box):
    """Sum up what all rows of a box show."""
    if sides is not None:
        for s in range(len(sides.whole)):
            sides.whole[s] = 0
        for i in box:
            for s in range(rows.sensitive.shape[1]):
                sides.whole[rows.sensitive[i, s]] += rows.counts[i]
            if len(rows.people) > 0:
                sides.whole[-1] += rows.people[i]


@inner_kernel
def show_above(sides):
    """Put all that a box shows above the cut."""
    if sides is not None:
        for s in range(len(sides.whole)):
            sides.below[s], sides.above[s] = 0, sides.whole[s]


@inner_kernel
def move(sides, shown, v):
    """Move what the rows of one answer show from above a cut to below it."""
    if sides is not None:
        for s in range(len(sides.whole)):
            sides.above[s] -= shown[v, s]
            sides.below[s] += shown[v, s]


@inner_kernel
def both_hold(below, above, sides, demand):
    """Whether both sides of a cut, each large enough, show what is asked beside their size."""
    if sides is None:
        return True
    return holds(below, sides.below, demand) and holds(above, sides.above, demand)


@inner_kernel
def price_attribute(rows, j, base, answers, total, demand, scratch, sides, prices, places):
    """The cheapest cuts of a profiled attribute: penalty left on both sides, where both may be published."""
    low, high, entries = scratch.low, scratch.high, scratch.entries
    run_low, run_high = box_of(low, high, answers - 1)
    for v in range(answers - 1, 0, -1):
        if entries[v] > 0:
            widen(run_low, run_high, low, high, v)
            scratch.above[v] = extent(rows, run_low, run_high)
    lowest = np.int64(0)  # written out, it would have a type of its own and be compiled for it
    run_low, run_high = box_of(low, high, lowest)
    below = scratch.rows[lowest]
    show_above(sides)
    move(sides, scratch.shown, lowest)
    for v in range(1, answers):
        if entries[v] == 0:
            continue
        above = total - below
        if above < demand.k:
            break
        if below >= demand.k:
            price = below * extent(rows, run_low, run_high) + above * scratch.above[v]
            if price < prices[-1] and both_hold(below, above, sides, demand):
                keep_cheapest(prices, places, price, rows.first_value[j] + base + v)
        below += scratch.rows[v]
        move(sides, scratch.shown, v)
        widen(run_low, run_high, low, high, v)


@inner_kernel
def tight(rows, box):
    """Least and greatest code of every attribute in a box, and its rows."""
    codes = rows.codes  # of another type than the boxes of answers, for which box_of and widen are compiled
    low, high = np.empty(codes.shape[1], np.int32), np.empty(codes.shape[1], np.int32)
    for a in range(len(low)):
        low[a] = high[a] = codes[box[0], a]
    total = np.int64(0)
    for i in box:
        total += rows.counts[i]
        for a in range(len(low)):
            if codes[i, a] < low[a]:
                low[a] = codes[i, a]
            elif codes[i, a] > high[a]:
                high[a] = codes[i, a]
    return low, high, total


@inner_kernel
def cuts(rows, box, demand, scratch, sides, prices, places):
    """Write the cheapest cuts of a box with the penalty left after each, infinite where there are fewer.

    A cut is the place of the lowest answer above it on the axis of all answers. Returns the penalty of the box uncut.
    """
    for at in range(len(prices)):
        prices[at], places[at] = np.inf, NO_CUT
    low, high, total = tight(rows, box)
    whole = total * extent(rows, low, high)
    if total < 2 * demand.k or whole == 0:
        return whole
    show_box(sides, rows, box)
    for j in range(len(low)):
        if high[j] > low[j]:
            answers = np.int64(high[j]) - low[j] + 1
            for v in range(answers):
                scratch.entries[v] = 0
            profile(rows, box, j, low[j], scratch)
            price_attribute(rows, j, low[j], answers, total, demand, scratch, sides, prices, places)
    return whole


@kernel
def part(rows, box, cut):
    """Put the combinations below a cut to the front of the box; returns how many they are."""
    j = 0
    while rows.first_value[j + 1] <= cut:
        j += 1
    least = cut - rows.first_value[j]
    front, back = 0, len(box) - 1
    while front <= back:
        if rows.codes[box[front], j] < least:
            front += 1
        else:
            box[front], box[back] = box[back], box[front]
            back -= 1
    return front


@inner_kernel
def greedy_penalty(rows, box, demand, scratch, sides, floor):
    """Penalty left when every box is cut where that leaves least, to the end; gives up above `floor`. Reorders the box."""
    starts, stops, waiting = np.empty(len(box) + 1, np.int64), np.empty(len(box) + 1, np.int64), 1
    starts[0], stops[0] = 0, len(box)
    prices, places = np.empty(1), np.empty(1, np.int64)
    total = 0.0
    while waiting > 0 and total < floor:
        waiting -= 1
        start, stop = starts[waiting], stops[waiting]
        inside = box[start:stop]
        whole = cuts(rows, inside, demand, scratch, sides, prices, places)
        if prices[0] == np.inf:
            total += whole
        elif prices[0] > 0:
            middle = start + part(rows, inside, places[0])
            starts[waiting], stops[waiting] = start, middle
            starts[waiting + 1], stops[waiting + 1] = middle, stop
            waiting += 2
    return total


@kernel
def best_cut(rows, box, demand, scratch, sides, pilots, known):
    """The cut after which cutting on greedily leaves least penalty, among the `pilots` cheapest, and what is left on its sides.

    `known` is what is left of the box when it is cut greedily, infinite where nobody has tried. Without a cut, -1. The last
    figure is the penalty of the box uncut.
    """
    prices, places = np.empty(pilots), np.empty(pilots, np.int64)
    whole = cuts(rows, box, demand, scratch, sides, prices, places)
    best, least, below, above = places[0], known, np.inf, np.inf
    if prices[0] == np.inf or pilots == 1 or prices[1] == np.inf:
        return best, below, above, whole
    work = np.empty_like(box)
    for candidate in range(1 if known < np.inf else 0, pilots):
        if prices[candidate] == np.inf:
            break
        for i in range(len(box)):
            work[i] = box[i]
        middle = part(rows, work, places[candidate])
        halves, left = (work[:middle], work[middle:]), np.empty(2)
        left[0], left[1] = 0.0, 0.0
        for side in range(2):  # one call in a loop: two would be compiled into this kernel twice
            if left[0] < least:
                left[side] = greedy_penalty(rows, halves[side], demand, scratch, sides, least - left[0])
        if left[0] + left[1] < least:
            best, least, below, above = places[candidate], left[0] + left[1], left[0], left[1]
    return best, below, above, whole


@kernel
def best_trim(rows, box, demand, scratch, left):
    """The edge of a box whose suppression lowers the penalty most, a suppressed row costing 1, with at most `left` rows in it.

    Returns what is gained, the cut, and whether what lies above it is suppressed; the rest may be published.
    """
    low, high, total = tight(rows, box)
    whole, gain, place, from_above = total * extent(rows, low, high), 0.0, NO_CUT, False
    width = scratch.shown.shape[1]
    for j in range(len(low)):
        if high[j] == low[j]:
            continue
        answers = np.int64(high[j]) - low[j] + 1
        scratch.entries[:answers] = 0
        profile(rows, box, j, low[j], scratch)
        for upwards in (True, False):  # the rest grows from below, then from above
            run_low, run_high = rows.codes[box[0]].copy(), rows.codes[box[0]].copy()
            rest, rest_answers, is_first = np.int64(0), np.zeros(width, np.int64), True
            for step in range(answers - 1):
                v = step if upwards else answers - 1 - step
                if scratch.entries[v] == 0:
                    continue
                for a in range(len(low)):
                    run_low[a] = scratch.low[v, a] if is_first else min(run_low[a], scratch.low[v, a])
                    run_high[a] = scratch.high[v, a] if is_first else max(run_high[a], scratch.high[v, a])
                is_first = False
                rest += scratch.rows[v]
                rest_answers += scratch.shown[v]
                gone = total - rest
                if 0 < gone <= left and holds(rest, rest_answers, demand):
                    saved = whole - gone - rest * extent(rows, run_low, run_high)
                    if saved > gain:
                        gain, from_above = saved, upwards
                        place = rows.first_value[j] + low[j] + (v + 1 if upwards else v)
    return gain, place, from_above
