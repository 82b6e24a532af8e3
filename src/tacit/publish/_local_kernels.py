"""Local recoding, compiled: a box of rows is cut in two, and each half again, while every class stays publishable.

Boxes cut this way never overlap (multidimensional recoding, LeFevre et al. 2006); here a cut is chosen by the penalty
that is left over the tight boxes, and judged by cutting on greedily to the end (the pilot method).
"""

# numba infers the types of kernels from their first call.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import njit

from tacit.publish._demand_kernels import holds


@njit(cache=True)
def profile(codes, counts, sensitive, order, first_value, low, high, count, shown):
    """Tight box, rows and sensitive answers of the combinations in `order`, apart for every answer of each attribute."""
    low[:], high[:], count[:], shown[:] = 1 << 30, -1, 0, 0
    attributes = codes.shape[1]
    for i in order:
        for j in range(attributes):
            v = first_value[j] + codes[i, j]
            count[v] += counts[i]
            for s in range(sensitive.shape[1]):
                shown[v, sensitive[i, s]] += counts[i]
            for a in range(attributes):
                low[v, a], high[v, a] = min(low[v, a], codes[i, a]), max(high[v, a], codes[i, a])


@njit(cache=True)
def extent(low, high, scale):
    """Penalty of a row in the box."""
    total = 0.0
    for j in range(len(scale)):
        total += scale[j] * (high[j] - low[j])
    return total


@njit(cache=True)
def cuts(codes, counts, sensitive, order, first_value, scale, demand, price):
    """Write the penalty left after each possible cut of a box; infinite where a side may not be published.

    ``price[v]`` is of the cut just below answer v. Returns the penalty of the box uncut.
    """
    attributes = codes.shape[1]
    answers = first_value[-1]
    low, high = np.empty((answers, attributes), np.int64), np.empty((answers, attributes), np.int64)
    count = np.empty(answers, np.int64)
    shown = np.empty((answers, demand.first_sensitive[-1]), np.int64)
    profile(codes, counts, sensitive, order, first_value, low, high, count, shown)
    price[:] = np.inf
    whole = 0.0
    for j in range(attributes):
        start, stop = first_value[j], first_value[j + 1]
        above_low, above_high = low[start:stop].copy(), high[start:stop].copy()
        for v in range(stop - start - 2, -1, -1):
            above_low[v] = np.minimum(above_low[v], above_low[v + 1])
            above_high[v] = np.maximum(above_high[v], above_high[v + 1])
        total, total_shown = count[start:stop].sum(), shown[start:stop].sum(axis=0)
        whole = total * extent(above_low[0], above_high[0], scale)
        below_low, below_high = low[start].copy(), high[start].copy()
        below, below_shown = count[start], shown[start].copy()
        for v in range(start + 1, stop):
            if (
                count[v] > 0
                and holds(below, below_shown, demand)
                and holds(total - below, total_shown - below_shown, demand)
            ):
                price[v] = below * extent(below_low, below_high, scale)
                price[v] += (total - below) * extent(above_low[v - start], above_high[v - start], scale)
            below += count[v]
            below_shown += shown[v]
            below_low, below_high = np.minimum(below_low, low[v]), np.maximum(below_high, high[v])
    return whole


@njit(cache=True)
def divide(codes, order, first_value, cut):
    """The combinations below and above a cut."""
    j = np.searchsorted(first_value, cut, side="right") - 1
    below = codes[order, j] < cut - first_value[j]
    return order[below], order[~below]


@njit(cache=True)
def greedy_penalty(codes, counts, sensitive, order, first_value, scale, demand, floor):
    """Penalty left when every box is cut where that leaves least, to the end; gives up above `floor`."""
    boxes = [order]
    price = np.empty(first_value[-1])
    total = 0.0
    while len(boxes) > 0 and total < floor:
        box = boxes.pop()
        whole = cuts(codes, counts, sensitive, box, first_value, scale, demand, price)
        cut = np.argmin(price)
        if price[cut] == np.inf:
            total += whole
        elif price[cut] > 0:
            below, above = divide(codes, box, first_value, cut)
            boxes.append(below)
            boxes.append(above)
    return total


@njit(cache=True)
def best_cut(codes, counts, sensitive, order, first_value, scale, demand, pilots):
    """The cut after which cutting on greedily leaves least penalty, among the `pilots` most promising; -1 for none."""
    price = np.empty(first_value[-1])
    cuts(codes, counts, sensitive, order, first_value, scale, demand, price)
    candidates = np.argsort(price)[:pilots]
    if price[candidates[0]] == np.inf:
        return -1
    best, least = candidates[0], np.inf
    if len(candidates) == 1 or price[candidates[1]] == np.inf:
        return best
    for cut in candidates:
        if price[cut] == np.inf:
            break
        left = 0.0
        for side in divide(codes, order, first_value, cut):
            left += greedy_penalty(codes, counts, sensitive, side, first_value, scale, demand, least - left)
            if left >= least:
                break
        if left < least:
            best, least = cut, left
    return best
