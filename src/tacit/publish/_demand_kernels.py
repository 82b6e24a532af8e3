"""Whether classes may be published, compiled: their size, and how diverse their sensitive answers are."""

# numba infers the types of kernels from their first call.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.kernels import inner_kernel, kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Demand(NamedTuple):
    """What every published class must show."""

    k: int
    first_sensitive: Ints  # first answer of each sensitive attribute on their axis, and the number of answers
    distinct: float  # l as a number of answers; 0 where not asked
    entropy: float  # log l; 0 where not asked
    closeness: float  # t; infinite where not asked
    ordered: Ints  # per sensitive attribute: whether distance between its answers counts
    overall: Floats  # share of each sensitive answer in the whole table: what t compares with where all is released
    limit: int  # rows that may be suppressed
    tail: int  # l of recursive (c, l); 0 where not asked
    ratio: float  # c of recursive (c, l)
    likeness: float  # beta; infinite where not asked
    people: int  # where the people of a class stand on the axis of sensitive answers; -1 where they are not asked for
    k_map: int  # people every class must hold
    least_presence: float  # share of a class's people who are in the table, at least
    most_presence: float


@kernel
def distance(sensitive, size, overall, start, stop, ordered):
    """The t of a class: how far its answers from `start` to `stop` are from the shares in all released rows.

    Half the absolute differences; along an order the earth mover's distance, each step between neighbours among the m
    released answers costing 1/(m-1).
    """
    moved, carried, released = 0.0, 0.0, 0
    for v in range(start, stop):
        if overall[v] > 0:
            released += 1
            carried += sensitive[v] / size - overall[v]
            moved += abs(carried) if ordered else abs(sensitive[v] / size - overall[v]) / 2
    return moved / max(1, released - 1) if ordered else moved


@inner_kernel
def recursive_share(sensitive, size, start, stop, demand):
    """1 where the most frequent answer has fewer rows than c times those from the l-th on; less in proportion otherwise."""
    counts = np.empty(stop - start, np.int64)
    for v in range(len(counts)):
        counts[v] = sensitive[start + v]
    rest, most = float(size), np.int64(0)
    for place in range(min(demand.tail - 1, len(counts))):
        greatest = place
        for v in range(place + 1, len(counts)):
            if counts[v] > counts[greatest]:
                greatest = v
        counts[place], counts[greatest] = counts[greatest], counts[place]
        rest -= counts[place]
    for v in range(len(counts)):
        most = max(most, counts[v])
    return 1.0 if most < demand.ratio * rest - 1e-9 else (1 - 1e-6) * min(1.0, demand.ratio * rest / most)


@inner_kernel
def likeness_share(sensitive, size, overall, start, stop, demand):
    """1 where no answer is more frequent than in all released rows by more than beta of its share there."""
    share = 1.0
    for v in range(start, stop):
        if overall[v] > 0:
            gain = (sensitive[v] / size - overall[v]) / overall[v]
            if gain > demand.likeness + 1e-9:
                share = min(share, demand.likeness / gain)
    return share


@inner_kernel
def presence_share(size, people, demand):
    """How much of what is asked of a class's people it shows."""
    share = 1.0
    if people < demand.k_map:
        share = people / demand.k_map
    if size > demand.most_presence * people * (1 + 1e-12):
        share = min(share, demand.most_presence * people / size * (1 - 1e-6))
    if size < demand.least_presence * people * (1 - 1e-12):
        share = min(share, size / (demand.least_presence * people))
    return share


@inner_kernel
def diversity_share(sensitive, size, demand, overall):
    """How much of the demanded l and t a class shows: 1 if all, less in proportion otherwise."""
    share = 1.0
    if demand.people >= 0:
        share = presence_share(size, sensitive[demand.people], demand)
    for s in range(len(demand.ordered)):
        start, stop = demand.first_sensitive[s], demand.first_sensitive[s + 1]
        answers, entropy = 0, 0.0
        for v in range(start, stop):
            answer_share = sensitive[v] / size
            if answer_share > 0:
                answers += 1
                entropy -= answer_share * math.log(answer_share)
        moved = distance(sensitive, size, overall, start, stop, demand.ordered[s])
        if demand.distinct > 0:
            share = min(share, answers / demand.distinct)
        if demand.entropy > 0 and entropy < demand.entropy - 1e-9:
            share = min(share, entropy / demand.entropy)
        if moved > demand.closeness + 1e-9:
            share = min(share, demand.closeness / moved)
        if demand.tail > 0:
            share = min(share, recursive_share(sensitive, size, start, stop, demand))
        if demand.likeness < np.inf:
            share = min(share, likeness_share(sensitive, size, overall, start, stop, demand))
    return share


@inner_kernel
def holds(size, shown, demand):
    """Whether a class of this size with these sensitive answers may be published."""
    if size < demand.k:
        return False
    return len(shown) == 0 or diversity_share(shown, size, demand, demand.overall) >= 1


@kernel
def strengths(sizes, sensitive, demand):
    """Size of every class; below k, in proportion, where its sensitive answers are not diverse enough.

    Where rows may be suppressed, t and beta compare with the rows that stay: classes that are too far from them go, which changes
    the shares in the others, until all that stay are near enough.
    """
    strength = sizes.copy()
    overall = demand.overall
    shifts = demand.limit > 0 and (demand.closeness < np.inf or demand.likeness < np.inf)
    if shifts:
        overall = released_shares(sizes, sensitive, strength, demand)
    weakened = True
    while weakened:
        weakened = False
        for c in range(len(sizes)):
            if sizes[c] > 0 and (strength[c] >= demand.k or (sizes[c] < demand.k and strength[c] == sizes[c])):
                share = diversity_share(sensitive[c], sizes[c], demand, overall)
                if share < 1:
                    weakened = weakened or strength[c] >= demand.k
                    strength[c] = min(sizes[c], np.uint32(share * (demand.k - 1)))
        if not shifts:
            break
        if weakened:
            overall = released_shares(sizes, sensitive, strength, demand)
    return strength


@inner_kernel
def released_shares(sizes, sensitive, strength, demand):
    """Share of each sensitive answer in the rows of the classes that may be published so far."""
    counts, rows = np.zeros(sensitive.shape[1]), 0.0
    for c in range(len(sizes)):
        if strength[c] >= demand.k:
            rows += sizes[c]
            for v in range(len(counts)):
                counts[v] += sensitive[c, v]
    return counts / rows if rows > 0 else demand.overall


@inner_kernel
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


@inner_kernel
def judge(sizes, strength, demand, rows):
    """Largest and smallest published class, least strength, rows suppressed (0 if too many), the weakest cell."""
    suppressed = np.int64(0)
    absent = False
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
        elif demand.least_presence > 0:  # people of whom one then knows that they are not in the table
            absent = True
    if suppressed <= demand.limit and suppressed < rows and not absent:
        return largest, smallest, least, suppressed, weakest
    for c in range(np.uint64(len(sizes))):  # cannot be published: its measures are those of the whole table
        if sizes[c] > 0:
            smallest, largest = min(smallest, np.int64(sizes[c])), max(largest, np.int64(sizes[c]))
    least = np.int64(0) if absent else np.int64(weakest_publishable(sizes, strength, demand))
    return largest, smallest, least, np.int64(0), weakest
