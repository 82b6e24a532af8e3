"""Compiled steps of the search: fronts and crowding of NSGA-II, and the polishing of one generalization."""

# numba infers the types of kernels from their first call.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.kernels import inner_kernel, kernel
from tacit.publish._class_kernels import measure_all
from tacit.publish._space_kernels import decode, price_blocks
from tacit.publish.achievement import EPSILON

# Of ruin and recreate, tuned on Adult at k = 10 to 100: how far the order of setting bits strays from the savings,
# and how much worse than the best a followed chromosome may be.
NOISE = 0.5
TOLERANCE = 0.05


@kernel
def rank_fronts(first, second):
    """Front of every point of two objectives to be minimised; 0 is not dominated.

    Points enter in lexicographic order, so a point is dominated by a front only if by its last member.
    """
    order = np.argsort(second, kind="mergesort")
    order = order[np.argsort(first[order], kind="mergesort")]
    rank = np.empty(len(first), np.int64)
    last = np.empty(len(first), np.int64)
    fronts = 0
    for i in order:
        low, high = 0, fronts
        while low < high:
            middle = (low + high) // 2
            j = last[middle]
            if second[j] < second[i] or (second[j] == second[i] and first[j] < first[i]):
                low = middle + 1
            else:
                high = middle
        if low == fronts:
            fronts += 1
        last[low] = i
        rank[i] = low
    return rank


@kernel
def crowding(first, second, rank):
    """Crowding distance of every point within its front (Deb et al. 2002)."""
    distance = np.zeros(len(first))
    for front in range(rank.max() + 1):
        members = np.flatnonzero(rank == front)
        for values in (first, second):
            ordered = members[np.argsort(values[members], kind="mergesort")]
            span = values[ordered[-1]] - values[ordered[0]]
            distance[ordered[0]] = distance[ordered[-1]] = np.inf
            if span > 0:
                for i in range(1, len(ordered) - 1):
                    distance[ordered[i]] += (values[ordered[i + 1]] - values[ordered[i - 1]]) / span
    return distance


@inner_kernel
def achieved(measures, share):
    """`Preference.achievement` of one row of measures."""
    return max(share * (measures[0] + EPSILON), (1 - share) * (measures[1] + EPSILON))


class Lessons(NamedTuple):
    """Sets of cuts that cannot all be made: each leaves some class too weak, and further cuts only weaken it."""

    masks: NDArray[np.uint64]  # [lesson, word of 64 bits]
    number: NDArray[np.int64]  # of lessons, in a single entry


@inner_kernel
def try_bits(bits, posed, scratch):
    """Achievement of one chromosome, infinite where it cannot be published."""
    tallies, space, demand, rows, share = posed
    measure_all(bits.reshape(1, -1), tallies, space, demand, rows, scratch.measures, scratch.witness)
    return achieved(scratch.measures[0], share) if scratch.measures[0, 3] >= demand.k else np.inf


@inner_kernel
def learn(bits, posed, scratch, lessons):
    """Remember why `bits` failed: the cuts next to the weakest class, whatever else is cut elsewhere."""
    if posed[2].limit > 0 or lessons.number[0] >= len(lessons.masks):
        return
    space = posed[1]
    mask = lessons.masks[lessons.number[0]]
    mask[:] = 0
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


@kernel
def mark(mask, b, bit):
    if bit:
        mask[b >> 6] |= np.uint64(1) << np.uint64(b & 63)


@inner_kernel
def warned(bits, lessons, mask):
    """Whether a lesson already says that `bits` cannot be published."""
    mask[:] = 0
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
    penalty: NDArray[np.float64]
    mask: NDArray[np.uint64]


@inner_kernel
def plain_nwp(bits, space, block, penalty):
    decode(bits, space, block)
    return price_blocks(block, space, penalty)


@kernel
def ruin(bits, space, rng):
    """Generalize one to five random attributes fully."""
    for _ in range(1 + rng.integers(0, 5)):
        j = rng.integers(0, len(space.first_bit) - 1)
        bits[space.first_bit[j] : space.first_bit[j + 1]] = 0


@kernel
def savings(bits, j, space, scratch, noise, open_bits, saving):
    """Write what setting each open bit of attribute `j` would save of the penalty, times its noise."""
    base = plain_nwp(bits, space, scratch.block, scratch.penalty)
    for b in range(space.first_bit[j], space.first_bit[j + 1]):
        saving[b] = 0.0
        if open_bits[b]:
            bits[b] = 1
            saving[b] = (base - plain_nwp(bits, space, scratch.block, scratch.penalty)) * noise[b]
            bits[b] = 0


@kernel
def recreate(bits, lessons, posed, budget, noise, scratch):
    """Set bits again while the release stays publishable and gets better, those that save most penalty first."""
    space = posed[1]
    value = try_bits(bits, posed, scratch)
    spent = 1
    open_bits = bits == 0
    saving = np.zeros(len(bits))
    for j in range(len(space.first_bit) - 1):
        savings(bits, j, space, scratch, noise, open_bits, saving)
    while spent < budget:
        b = np.argmax(saving)
        if saving[b] <= 1e-12:
            break
        open_bits[b], saving[b] = False, 0.0
        bits[b] = 1
        if warned(bits, lessons, scratch.mask):
            bits[b] = 0
            continue
        tried = try_bits(bits, posed, scratch)
        spent += 1
        if tried < np.inf and tried <= value:
            value = tried
            attribute = np.searchsorted(space.first_bit, b, side="right") - 1
            savings(bits, attribute, space, scratch, noise, open_bits, saving)
        else:
            if tried == np.inf:
                learn(bits, posed, scratch, lessons)
            bits[b] = 0
    return value, spent


@kernel
def polish(start, lessons, posed, budget, rng, found):
    """Ruin and recreate from `start` for `budget` evaluations; `found` collects the improvements."""
    space = posed[1]
    scratch = Scratch(
        np.empty((1, 5)),
        np.empty(len(space.weight), np.int64),
        np.empty(space.first_value[-1], np.int64),
        np.empty(space.first_value[-1]),
        np.empty(lessons.masks.shape[1], np.uint64),
    )
    current = start.copy()
    value = try_bits(current, posed, scratch)
    best = value
    spent, kept = 1, 0
    while spent < budget:
        trial = current.copy()
        ruin(trial, space, rng)
        noise = np.exp(NOISE * rng.random() * rng.standard_normal(len(trial)))
        reached, cost = recreate(trial, lessons, posed, budget - spent, noise, scratch)
        spent += cost
        # Slightly worse ones are followed now and then; else the walk ends in the first valley.
        if reached <= value or reached <= best * (1 + TOLERANCE * rng.random()):
            current, value = trial, reached
            if reached < best and kept < len(found):
                found[kept] = trial
                kept += 1
                best = reached
    return kept, spent
