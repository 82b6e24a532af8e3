"""Classes peeled off along hierarchies, compiled: the rows are grouped by one combination of levels after the other.

What may be published of a group is taken away with its labels; the rest waits for coarser levels, where it meets the rest of
other groups. So a class may be what is left of a group after its parts are gone, which no cut in two can make.
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


class LevelKeys(NamedTuple):
    """What every answer adds to the key of its group, at every level of its attribute."""

    added: NDArray[np.uint64]  # [first_key of the attribute + level * answers + answer]; levels are given finest first
    first_key: NDArray[np.int64]
    answers: NDArray[np.int64]


class Slots(NamedTuple):
    """A hash table of groups; those of earlier levels are overwritten."""

    turn: NDArray[np.int32]  # in which the slot was taken
    key: NDArray[np.uint64]
    rows: NDArray[np.int64]
    group: NDArray[np.int32]  # among those of at least k rows; -1 for others


@inner_kernel
def slot_of(slots, key, turn):
    """The slot of a group; a new one is empty."""
    last = len(slots.key) - 1
    at = (
        np.int64((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(24)) & last
    )  # the golden ratio spreads keys that are near
    while slots.turn[at] == turn and slots.key[at] != key:
        at = (at + 1) & last
    if slots.turn[at] != turn:
        slots.turn[at], slots.key[at], slots.rows[at], slots.group[at] = turn, key, 0, -1
    return at


@inner_kernel
def group_waiting(codes, counts, keys, level, waiting, slots, turn, places):
    """Put the waiting combinations into the slots of their groups; returns the rows of the largest group."""
    largest = 0
    for x in range(len(waiting)):
        i, key = waiting[x], np.uint64(0)
        for j in range(codes.shape[1]):
            key += keys.added[keys.first_key[j] + level[j] * keys.answers[j] + codes[i, j]]
        at = slot_of(slots, key, turn)
        slots.rows[at] += counts[i]
        largest = max(largest, slots.rows[at])
        places[x] = at
    return largest


@inner_kernel
def publishable(places, waiting, slots, counts, sensitive, demand):
    """Number the groups of at least k rows; returns which of them may be published."""
    groups = 0
    for at in places:
        if slots.rows[at] >= demand.k and slots.group[at] < 0:
            slots.group[at] = groups
            groups += 1
    width = demand.first_sensitive[-1]
    answers, rows = np.zeros((groups, width), np.int64), np.zeros(groups, np.int64)
    for x in range(len(places)):
        group = slots.group[places[x]]
        if group >= 0:
            rows[group] = slots.rows[places[x]]
            for s in range(sensitive.shape[1]):
                answers[group, sensitive[waiting[x], s]] += counts[waiting[x]]
    may = np.ones(groups, np.bool_)
    if width > 0:
        for group in range(groups):
            may[group] = holds(rows[group], answers[group], demand)
    return may


@inner_kernel
def take_publishable(places, waiting, slots, may, found, classes):
    """Number the classes of what may be published, and keep the others waiting; returns how many these are."""
    number = found - 1 + np.cumsum(may)
    stay = 0
    for x in range(len(places)):
        group = slots.group[places[x]]
        if group >= 0 and may[group]:
            classes[waiting[x]] = number[group]
        else:
            waiting[stay] = waiting[x]
            stay += 1
    return stay


@inner_kernel
def join_rest(found, left, counts, sensitive, demand, classes):
    """Put the rows that are left to those that were peeled last, and to as many before them as it takes; returns the classes."""
    rows = np.zeros(found + 1, np.int64)
    answers = np.zeros((found + 1, demand.first_sensitive[-1]), np.int64)
    for i in left:
        classes[i] = found
    for i in range(len(classes)):
        rows[classes[i]] += counts[i]
        for s in range(sensitive.shape[1]):
            answers[classes[i], sensitive[i, s]] += counts[i]
    last = found
    while last > 0 and not holds(rows[last], answers[last], demand):
        rows[last - 1] += rows[last]
        answers[last - 1] += answers[last]
        last -= 1
    for i in range(len(classes)):
        classes[i] = min(classes[i], last)
    return last + 1 if holds(rows[last], answers[last], demand) else 0


@kernel
def peel(codes, counts, sensitive, keys, levels, demand, classes):
    """Write the class of every combination; returns how many there are, 0 where not even all together may be published.

    Levels are tried in the given order; at the last of them all that is left stands in one group. Rows that may not be published
    even there join those that were peeled last, whose labels are the widest.
    """
    room = 1
    while room < 2 * len(codes):
        room *= 2
    slots = Slots(
        np.zeros(room, np.int32), np.empty(room, np.uint64), np.empty(room, np.int64), np.empty(room, np.int32)
    )
    waiting, places = np.arange(len(codes)).astype(np.int32), np.empty(len(codes), np.int64)
    found, left = 0, len(codes)
    for turn in range(len(levels)):
        if left == 0:
            break
        if group_waiting(codes, counts, keys, levels[turn], waiting[:left], slots, turn + 1, places) < demand.k:
            continue
        may = publishable(places[:left], waiting, slots, counts, sensitive, demand)
        left = take_publishable(places[:left], waiting, slots, may, found, classes)
        found += may.sum()
    return found if left == 0 else join_rest(found, waiting[:left], counts, sensitive, demand, classes)
