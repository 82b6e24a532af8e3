"""Bits of one generalization set again after some were ruined, compiled."""

# numba infers the types of kernels from their first call.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.kernels import inner_kernel, kernel
from tacit.publish._class_kernels import measure_all
from tacit.publish._space_kernels import attribute_of, savings
from tacit.publish.achievement import EPSILON


class Lessons(NamedTuple):
    """Sets of cuts that cannot all be made: each leaves some class too weak, and further cuts only weaken it."""

    masks: NDArray[np.uint64]  # [lesson, word of 64 bits]; zeros where there is none yet
    number: NDArray[np.int64]  # of lessons, in a single entry


@inner_kernel
def learn(bits, posed, scratch, lessons):
    """Remember why `bits` failed: the cuts next to the weakest class, whatever else is cut elsewhere."""
    if posed[2].limit > 0 or lessons.number[0] >= len(lessons.masks):
        return
    space = posed[1]
    mask = lessons.masks[lessons.number[0]]
    for j in range(len(space.first_bit) - 1):
        code = scratch.witness[j]
        first, stop = space.first_bit[j], space.first_bit[j + 1]
        if code < 0:
            continue
        if space.levels[0, space.first_value[j]] >= 0:  # a level holds as a whole
            for b in range(first, stop):
                mark(mask, b, bits[b])
            continue
        b = first + code - 1
        while b >= first and bits[b] == 0:
            b -= 1
        if b >= first:
            mark(mask, b, 1)
        b = first + code
        while b < stop and bits[b] == 0:
            b += 1
        if b < stop:
            mark(mask, b, 1)
    lessons.number[0] += 1


@inner_kernel
def mark(mask, b, bit):
    if bit:
        mask[b >> 6] |= np.uint64(1) << np.uint64(b & 63)


@inner_kernel
def is_forbidden(bits, lessons, mask):
    """Whether a lesson already says that `bits` cannot be published."""
    for w in range(len(mask)):
        mask[w] = 0
    for b in range(len(bits)):
        mark(mask, b, bits[b])
    for i in range(lessons.number[0]):
        holds = True
        for w in range(len(mask)):
            holds = holds and lessons.masks[i, w] & ~mask[w] == 0
        if holds:
            return True
    return False


class Scratch(NamedTuple):
    """Room the kernels write in."""

    measures: NDArray[np.float64]  # [1, measure]
    witness: NDArray[np.int64]
    block: NDArray[np.int64]
    mask: NDArray[np.uint64]


@inner_kernel
def next_bit(bits, saving, open_bits, lessons, mask):
    """Set the open bit that saves most and that no lesson forbids; returns its place, -1 where there is none."""
    while True:
        most, place = 1e-12, -1
        for b in range(len(saving)):
            if saving[b] > most:
                most, place = saving[b], b
        if place < 0:
            return place
        open_bits[place], saving[place], bits[place] = False, 0.0, 1
        if not is_forbidden(bits, lessons, mask):
            return place
        bits[place] = 0


@kernel
def recreate(population, lessons, posed, budget, noise, scratch):
    """Set bits of the only chromosome while it stays publishable and gets better, those that save most penalty first.

    Returns the achievement (infinite where it cannot be published) and the evaluations spent.
    """
    tallies, space, demand, rows, share = posed
    bits, measures = population[0], scratch.measures
    open_bits, saving = np.empty(len(bits), np.bool_), np.zeros(len(bits))
    for b in range(len(bits)):
        open_bits[b] = bits[b] == 0
    for j in range(len(space.first_bit) - 1):
        savings(bits, j, space, scratch.block, noise, open_bits, saving)
    value, spent, place = np.inf, 0, -1  # first as it is, without a further bit
    while spent < budget:
        measure_all(population, tallies, space, demand, rows, measures, scratch.witness)
        spent += 1
        reached = np.inf
        if measures[0, 3] >= demand.k:
            # `Preference.achievement` of these measures.
            reached = max(share * (measures[0, 0] + EPSILON), (1 - share) * (measures[0, 1] + EPSILON))
        if place < 0 or (reached < np.inf and reached <= value):
            value = reached
            if place >= 0:
                savings(bits, attribute_of(space, place), space, scratch.block, noise, open_bits, saving)
        else:
            if reached == np.inf:
                learn(bits, posed, scratch, lessons)
            bits[place] = 0
        place = next_bit(bits, saving, open_bits, lessons, scratch.mask)
        if place < 0:
            return value, spent
    bits[place] = 0  # nobody has measured it
    return value, spent
