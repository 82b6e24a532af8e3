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
from numpy.typing import NDArray

from tacit.kernels import inner_kernel, kernel
from tacit.publish._proof_kernels import (
    FORBIDDEN,
    FORCED,
    OPEN,
    may_stop,
    must_stop,
    reach_ahead,
    reach_behind,
    trace,
)
from tacit.publish._share_kernels import charge_blocks, move_shares
from tacit.publish._sure_class_kernels import sure_classes

Floats = NDArray[np.float64]
HALVINGS = 8  # of the interval in which the price of a suppressed row is sought
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


@kernel
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


@kernel
def trace_dearest(instance, limit, status, charges, target, cuts):
    """The same, and writes the `cuts` of these paths unless they reach `target`."""
    best = dearest_paths(instance, limit, status, charges, target)
    if best < target:
        trace(instance, status, charges, cuts)
    return best


@inner_kernel
def costs_through(status, bit, base, size, others, charges, over):
    """Write for every usable block of an attribute what the cheapest path through it costs with all `others`; else infinite."""
    over[:] = np.inf
    for a in range(size):
        if charges.ahead[base + a] == np.inf or not may_stop(status, bit, a, size):
            continue
        for b in range(a + 1, size + 1):
            if may_stop(status, bit, b, size) and charges.usable[base + a, base + b]:
                over[a, b] = (
                    others + charges.ahead[base + a] + charges.cost[base + a, base + b] + charges.behind[base + b]
                )
            if must_stop(status, bit, b, size):
                break


@inner_kernel
def judge_blocks(status, bit, base, size, others, target, charges, whole, without):
    """Strike the blocks of one attribute through which every path reaches `target`.

    Writes the least cost through a cut (`whole`) and past it (`without`), infinite where nothing below the target is left.
    """
    whole[:], without[:] = np.inf, np.inf
    over = np.empty((size + 1, size + 1))
    costs_through(status, bit, base, size, others, charges, over)
    for a in range(size):
        for b in range(a + 1, size + 1):
            if over[a, b] < target:
                whole[a], whole[b] = min(whole[a], over[a, b]), min(whole[b], over[a, b])
                for v in range(a + 1, b):
                    without[v] = min(without[v], over[a, b])
            elif over[a, b] < np.inf:
                charges.usable[base + a, base + b] = False


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
def decide_attribute(instance, status, far, charges, j, others, target):
    """Decide the open cuts of an attribute whose opposite would reach `target`; whether any was forced or a block shortened.

    The paths of the attribute lie in `charges`; to each is added what the `others` cost.
    """
    size = instance.first_value[j + 1] - instance.first_value[j]
    base, bit, decided = instance.first_value[j] + j, instance.first_bit[j], False
    whole, without = np.empty(size + 1), np.empty(size + 1)
    judge_blocks(status, bit, base, size, others, target, charges, whole, without)
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
def decide_cuts(instance, status, far, charges, bound, target):
    """Force and forbid the open cuts whose opposite would reach `target`, and shorten how far blocks go; whether any was."""
    decided = False
    for j in range(len(charges.least)):
        decided = decide_attribute(instance, status, far, charges, j, bound - charges.least[j], target) or decided
    return decided


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


@kernel
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


@kernel
def cost_beside(instance, limit, status, charges, j, cost):
    """Write for every stretch of cuts of an attribute, first to last, what it would cost at least to make none of them."""
    size = instance.first_value[j + 1] - instance.first_value[j]
    base, bit = instance.first_value[j] + j, instance.first_bit[j]
    others = charges.least.sum() - charges.least[j] - charges.price[0] * limit / instance.rows
    over = np.empty((size + 1, size + 1))
    costs_through(status, bit, base, size, others, charges, over)
    cost[:] = np.inf
    for p in range(1, size):  # a block past a longer stretch passes a shorter one too
        for q in range(size - 1, p - 1, -1):
            cost[p, q] = over[p - 1, q + 1]
            if p > 1:
                cost[p, q] = min(cost[p, q], cost[p - 1, q])
            if q < size - 1:
                cost[p, q] = min(cost[p, q], cost[p, q + 1])
