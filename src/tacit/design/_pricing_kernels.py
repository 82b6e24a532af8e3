"""Which posteriors a dual asks for, compiled: all sets of answers in turn, or uphill from given sets.

A posterior w under the bound delta is uniform on a set of answers, or holds delta on as many as fit and the rest on one
more. It exceeds the dual by ``w^T M w - price . w - budget_price max(w)``. Every set comes after one that differs in a
single answer (a Gray code), so that each costs one addition of a row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.kernels import inner_kernel, kernel

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

AFRESH = 1 << 14  # sets after which sums are computed anew, so that rounding does not build up
ROOM = 8  # times the wanted number are collected before the best of them are kept
MOST_CLIMBED = 40  # steps of one climb
UPHILL = 1e-12  # relative gain below which a step is none


class Prices(NamedTuple):
    """A dual as the search reads it, and the shape of the posteriors."""

    matrix: Array  # M = P^-1 Y^2 P^-1
    price: Array
    budget_price: float
    delta: float
    least_size: int  # of a uniform posterior
    n_capped: int  # answers that hold delta; 0 where there is no such posterior


class Sums(NamedTuple):
    """Of a set of answers: its size, the sum of M over it, its price, and its summed rows of M."""

    size: int
    square: float
    price: float
    rows: Array


class PricedPosteriors(NamedTuple):
    """Posteriors by their set and the answer that holds the rest (-1: none), their excess, and the largest of all."""

    sets: Codes
    rests: Codes
    excess: Array
    largest: float


@inner_kernel
def _sums(code: int, prices: Prices, rows: Array) -> Sums:
    n = len(rows)
    rows[:] = 0.0
    size, price = 0, 0.0
    for i in range(n):
        if code >> i & 1:
            size += 1
            price += prices.price[i]
            for j in range(n):
                rows[j] += prices.matrix[i, j]
    square = 0.0
    for i in range(n):
        if code >> i & 1:
            square += rows[i]
    return Sums(size, square, price, rows)


@inner_kernel
def _toggle_answer(sums: Sums, answer: int, sign: float, prices: Prices) -> Sums:
    """Sums after adding an answer to the set, or removing it if the sign is negative; changes the rows in place."""
    square = sums.square + 2.0 * sign * sums.rows[answer] + prices.matrix[answer, answer]
    for j in range(len(sums.rows)):
        sums.rows[j] += sign * prices.matrix[answer, j]
    return Sums(sums.size + int(sign), square, sums.price + sign * prices.price[answer], sums.rows)


@inner_kernel
def _even(size: int, square: float, price: float, budget_price: float) -> float:
    """Excess of the posterior that is uniform on a set."""
    return (square / size - price - budget_price) / size


@inner_kernel
def _capped_excess(sums: Sums, rest: int, prices: Prices) -> float:
    """Excess of the posterior that holds delta on a set, and what is left on one more answer."""
    delta = prices.delta
    share = 1.0 - prices.n_capped * delta
    on_set = delta * (delta * sums.square - sums.price - prices.budget_price)
    return on_set + share * (2.0 * delta * sums.rows[rest] + share * prices.matrix[rest, rest] - prices.price[rest])


@inner_kernel
def _note_posteriors(
    code: int, sums: Sums, prices: Prices, threshold: float, asked: PricedPosteriors, count: int
) -> tuple[int, float]:
    """Note the set's posteriors above the threshold; returns how many there are now, and the largest excess here."""
    n, largest = len(prices.price), -np.inf
    if sums.size >= prices.least_size:
        largest = _even(sums.size, sums.square, sums.price, prices.budget_price)
        if largest > threshold:
            asked.sets[count], asked.rests[count], asked.excess[count] = code, -1, largest
            count += 1
    if sums.size == prices.n_capped:
        for j in range(n):
            if code >> j & 1 == 0:
                excess = _capped_excess(sums, j, prices)
                largest = max(largest, excess)
                if excess > threshold:
                    asked.sets[count], asked.rests[count], asked.excess[count] = code, j, excess
                    count += 1
    return count, largest


@inner_kernel
def _strongest(asked: PricedPosteriors, count: int, wanted: int) -> int:
    """Move the strongest to the front; returns how many are left."""
    if count <= wanted:
        return count
    order = np.argsort(-asked.excess[:count])[:wanted]
    asked.sets[:wanted], asked.rests[:wanted] = asked.sets[order], asked.rests[order]
    asked.excess[:wanted] = asked.excess[order]
    return wanted


@kernel
def among_all(prices: Prices, wanted: int, threshold: float) -> PricedPosteriors:
    """Go through every posterior; returns the `wanted` strongest above the threshold, and the largest excess of all."""
    n = len(prices.price)
    room = ROOM * wanted + n
    asked = PricedPosteriors(np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room), 0.0)
    count, largest, code = 0, -np.inf, 0
    sums = Sums(0, 0.0, 0.0, np.zeros(n))
    for step in range(1, 1 << n):
        bit = 0
        while step >> bit & 1 == 0:
            bit += 1
        sign = -1.0 if code >> bit & 1 else 1.0
        code ^= 1 << bit
        sums = _sums(code, prices, sums.rows) if step % AFRESH == 0 else _toggle_answer(sums, bit, sign, prices)
        count, here = _note_posteriors(code, sums, prices, threshold, asked, count)
        largest = max(largest, here)
        if count > room - n - 1:
            count = _strongest(asked, count, wanted)
            threshold = asked.excess[wanted - 1]
    count = _strongest(asked, count, wanted)
    return PricedPosteriors(asked.sets[:count], asked.rests[:count], asked.excess[:count], largest)


@inner_kernel
def _better_set(code: int, sums: Sums, prices: Prices, value: float) -> tuple[int, float]:
    """The best set with one answer more, less or exchanged; the same set where none is better."""
    n, best, better = len(prices.price), value + UPHILL * abs(value), code
    for i in range(n):
        sign = -1.0 if code >> i & 1 else 1.0
        size = sums.size + int(sign)
        square = sums.square + 2.0 * sign * sums.rows[i] + prices.matrix[i, i]
        price = sums.price + sign * prices.price[i]
        if size >= prices.least_size:
            changed = _even(size, square, price, prices.budget_price)
            if changed > best:
                best, better = changed, code ^ (1 << i)
        for j in range(n):
            if sign < 0 and code >> j & 1 == 0:
                both = square + 2.0 * (sums.rows[j] - prices.matrix[i, j]) + prices.matrix[j, j]
                changed = _even(sums.size, both, price + prices.price[j], prices.budget_price)
                if changed > best:
                    best, better = changed, code ^ (1 << i) ^ (1 << j)
    return better, best


@kernel
def uphill(prices: Prices, starts: Codes) -> PricedPosteriors:
    """From each set climb by adding, dropping or exchanging an answer; returns the uniform posteriors met on the way."""
    count, room = 0, (MOST_CLIMBED + 1) * len(starts)
    sets, excess = np.empty(room, np.int64), np.empty(room)
    rows = np.empty(len(prices.price))
    for code in starts:
        for _ in range(MOST_CLIMBED + 1):
            sums = _sums(code, prices, rows)
            sets[count], excess[count] = code, _even(sums.size, sums.square, sums.price, prices.budget_price)
            better, _ = _better_set(code, sums, prices, excess[count])
            count += 1
            if better == code:
                break
            code = better
    return PricedPosteriors(sets[:count], np.full(count, -1, np.int64), excess[:count], excess[:count].max())


@inner_kernel
def _best_rest(code: int, sums: Sums, prices: Prices) -> tuple[int, float]:
    best, rest = -np.inf, -1
    for j in range(len(prices.price)):
        if code >> j & 1 == 0:
            excess = _capped_excess(sums, j, prices)
            if excess > best:
                best, rest = excess, j
    return rest, best


@kernel
def uphill_capped(prices: Prices, starts: Codes) -> PricedPosteriors:
    """As `uphill`, among posteriors that hold delta on a set: exchange an answer, and give the rest to the best other one."""
    n, count = len(prices.price), len(starts)
    sets, rests, excess = starts.copy(), np.empty(count, np.int64), np.empty(count)
    rows = np.empty(n)
    for k in range(count):
        rests[k], excess[k] = _best_rest(sets[k], _sums(sets[k], prices, rows), prices)
        climbing = True
        while climbing:
            climbing = False
            for i in range(n):
                for j in range(n):
                    if sets[k] >> i & 1 and sets[k] >> j & 1 == 0:
                        other = sets[k] ^ (1 << i) ^ (1 << j)
                        rest, changed = _best_rest(other, _sums(other, prices, rows), prices)
                        if changed > excess[k] + UPHILL * abs(excess[k]):
                            sets[k], rests[k], excess[k] = other, rest, changed
                            climbing = True
    return PricedPosteriors(sets, rests, excess, excess.max())
