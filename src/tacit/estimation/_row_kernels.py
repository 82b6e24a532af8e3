"""Compiled: which product rows still say something within conditions. The arguments are assumed to be valid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.kernels import inner_kernel, kernel

Floats = NDArray[np.float64]
Patterns = NDArray[np.uint16]
Places = NDArray[np.int64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.int32]


class Layout(NamedTuple):
    """Attributes stand group by group: group g holds those from starts[g] to starts[g + 1]; `group_of` is the way back."""

    starts: Places
    group_of: Places


class Kinds(NamedTuple):
    """The different things that rows say of each group: of group g those from first[g] to first[g + 1].

    A kind is what it says of each attribute of its group, ``patterns[kind, attribute]``. Rows name their kinds, so what
    depends on one group only is worked out once for a kind, not once for a row.
    """

    patterns: Patterns
    first: Places


class Rows(NamedTuple):
    """The rows that still say something: which of each group's kinds, ``codes[row, group]``, and for how many people."""

    codes: Codes
    counts: Floats


@inner_kernel
def _has_zero(pattern: Patterns, factors: Floats, start: int, stop: int, term: int) -> bool:
    """Whether the conditions rule out every answer of an attribute that a term of a kind leaves possible."""
    for place in range(start, stop):
        is_ruled_out = True
        for factor in factors[place, pattern[place - start], term]:
            if factor != 0.0:
                is_ruled_out = False
                break
        if is_ruled_out:
            return True
    return False


@inner_kernel
def _fate(pattern: Patterns, factors: Floats, start: int, stop: int, is_constant: Flags) -> tuple[bool, bool]:
    """Whether nothing is left of a kind, and whether nothing but constant terms is."""
    nothing, only_constant = True, True
    for term in range(factors.shape[2]):
        if not _has_zero(pattern, factors, start, stop, term):
            nothing = False
            only_constant = only_constant and is_constant[term]
    return nothing, only_constant


@inner_kernel
def _merged(
    kinds: Kinds, factors: Floats, layout: Layout, is_constant: Flags, nothing: Patterns, group: int
) -> tuple[Patterns, Places, Flags]:
    """What kinds of a group say within the conditions: which they now are (-1 for nothing), and who lost all but constants."""
    patterns, low, high = kinds.patterns.copy(), kinds.first[group], kinds.first[group + 1]
    start, stop = layout.starts[group], layout.starts[group + 1]
    now, is_lost = np.empty(len(patterns), np.int64), np.empty(len(patterns), np.bool_)
    for kind in range(len(patterns)):
        now[kind], is_lost[kind] = kind, False
    first_lost = -1
    for kind in range(low, high):
        is_nothing, only_constant = _fate(kinds.patterns[kind], factors, start, stop, is_constant[group])
        if is_nothing:
            now[kind] = -1
        elif only_constant:
            is_lost[kind] = True
            if first_lost < 0:
                first_lost = kind
                for place in range(start, stop):
                    patterns[kind, place - start] = nothing[place]
            now[kind] = first_lost
    return patterns, now, is_lost


@inner_kernel
def _counted_kinds(rows: Rows, kinds: Kinds, now: Places, is_lost: Flags, group: int) -> tuple[Flags, int, int]:
    """Which kinds occur in the rows that say something, how many rows these are, and how many of them lost a group."""
    occurs = np.empty(len(now), np.bool_)
    for kind in range(len(now)):
        occurs[kind] = False
    n_rows, n_lost = 0, 0
    for row in range(len(rows.counts)):
        changed = kinds.first[group] + rows.codes[row, group]
        if now[changed] < 0:
            continue
        n_rows += 1
        n_lost += is_lost[changed]
        for each in range(rows.codes.shape[1]):
            occurs[now[kinds.first[each] + rows.codes[row, each]]] = True
    return occurs, n_rows, n_lost


@inner_kernel
def _numbered(occurs: Flags, patterns: Patterns, first: Places) -> tuple[Kinds, Places]:
    """The kinds that occur, and the number of each within its group."""
    numbers, n_kinds, end = np.empty(len(occurs), np.int64), 0, 0
    for is_there in occurs:
        n_kinds += is_there
    kept = Kinds(np.empty((n_kinds, patterns.shape[1]), patterns.dtype), np.empty(len(first), np.int64))
    for group in range(len(first) - 1):
        kept.first[group] = end
        for kind in range(first[group], first[group + 1]):
            numbers[kind] = -1
            if occurs[kind]:
                for place in range(patterns.shape[1]):
                    kept.patterns[end, place] = patterns[kind, place]
                numbers[kind] = end - kept.first[group]
                end += 1
    kept.first[-1] = end
    return kept, numbers


@inner_kernel
def _renamed(rows: Rows, kinds: Kinds, now: Places, numbers: Places, n_rows: int, group: int) -> Rows:
    """The rows that say something, with the numbers of what their kinds have become."""
    left = Rows(np.empty((n_rows, rows.codes.shape[1]), rows.codes.dtype), np.empty(n_rows))
    end = 0
    for row in range(len(rows.counts)):
        if now[kinds.first[group] + rows.codes[row, group]] >= 0:
            left.counts[end] = rows.counts[row]
            for each in range(rows.codes.shape[1]):
                left.codes[end, each] = numbers[now[kinds.first[each] + rows.codes[row, each]]]
            end += 1
    return left


@inner_kernel
def _allowing(factors: Floats, masked: Floats, place: int, answers: Places) -> tuple[Floats, Floats]:
    """Factors, and their sums over the answers, with all but some answers of an attribute ruled out."""
    narrower, sums = factors.copy(), masked.copy()
    is_allowed = np.empty(factors.shape[3], np.bool_)
    for answer in range(len(is_allowed)):
        is_allowed[answer] = False
    for answer in answers:
        is_allowed[answer] = True
    for pattern in range(factors.shape[1]):
        for term in range(factors.shape[2]):
            total = 0.0
            for answer in range(factors.shape[3]):
                if is_allowed[answer]:
                    total += factors[place, pattern, term, answer]
                else:
                    narrower[place, pattern, term, answer] = 0.0
            sums[place, pattern, term] = total
    return narrower, sums


class Narrowed(NamedTuple):
    """The rows that still say something and the kinds that they are of, and how many of them have lost a group.

    ``factors[attribute, pattern, term, answer]`` are without the answers that the conditions rule out,
    ``masked[attribute, pattern, term]`` is what is left of each factor: summed over the answers that meet the conditions.
    """

    rows: Rows
    kinds: Kinds
    factors: Floats
    masked: Floats
    lost: int


@kernel
def narrowed(
    before: Narrowed, layout: Layout, is_constant: Flags, nothing: Patterns, place: int, answers: Places
) -> Narrowed:
    """What is left when an attribute may have some answers only.

    Kinds of which only constant terms are left become one, with the pattern of saying nothing.
    """
    factors, masked = _allowing(before.factors, before.masked, place, answers)
    rows, kinds, group = before.rows, before.kinds, layout.group_of[place]
    patterns, now, is_lost = _merged(kinds, factors, layout, is_constant, nothing, group)
    for kind in range(kinds.first[group], kinds.first[group + 1]):
        if now[kind] < 0 or is_lost[kind]:
            break
    else:
        return Narrowed(rows, kinds, factors, masked, 0)
    occurs, n_rows, n_lost = _counted_kinds(rows, kinds, now, is_lost, group)
    kept, numbers = _numbered(occurs, patterns, kinds.first)
    return Narrowed(_renamed(rows, kinds, now, numbers, n_rows, group), kept, factors, masked, n_lost)
