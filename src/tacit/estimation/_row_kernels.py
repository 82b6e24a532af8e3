"""Compiled: the one pass over product rows. The arguments are assumed to be valid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.kernels import inner_kernel, kernel

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@inner_kernel
def _product(codes: NDArray[np.int32], row: int, first: Places, whole: Floats, home: int) -> tuple[float, int]:
    """What a row is outside the target's group: the product of the groups that are not zero, and how many are."""
    product, zeros = 1.0, 0
    for group in range(len(codes)):
        if group != home:
            value = whole[first[group] + codes[group, row]]
            if value == 0.0:
                zeros += 1
            else:
                product *= value
    return product, zeros


@inner_kernel
def _add_home(at_target: Floats, target_products: Floats, by_home: Floats, pattern: Places, others: Floats) -> None:
    """Sums by the pattern of the target, from those by the kinds of its group."""
    for code in range(len(by_home)):
        for term in range(others.shape[1]):
            at_target[pattern[code], term] += by_home[code, 0] * others[code, term]
            for other in range(others.shape[1]):
                target_products[pattern[code], term, other] += (
                    by_home[code, 1] * others[code, term] * others[code, other]
                )


@kernel
def add_rows(
    at_target: Floats, target_products: Floats, by_home: Floats, terms: Floats, products: Floats,
    codes: NDArray[np.int32], counts: Floats, first: Places, whole: Floats, home: int, pattern: Places, others: Floats,
    room: Places,
) -> None:  # fmt: skip
    """Sum rows by what they say of the target's group, ``home``, and by what they say of every other group that is asked.

    A row is the product over the groups of ``whole[first[group] + code]``. ``by_home[code]`` gets sum and sum of squares of
    the product of all other groups, ``at_target[target pattern, term]`` and ``target_products[..., term, term]`` the sums of
    what rows are without the target. ``terms[room[group] + code, target pattern, term]`` of another group gets the sum of what
    is left without this group and the target: the groups in between times the home group's ``others[code, term]``;
    ``products[..., term, term]`` the sums of their products, if there is room. Groups whose `room` is below 0 are not asked.
    """
    n_groups, n_terms, with_products = len(codes), others.shape[1], len(products) > 0
    for row in range(len(counts)):
        product, zeros = _product(codes, row, first, whole, home)
        at_home = codes[home, row]
        if zeros == 0:
            by_home[at_home, 0] += counts[row] * product
            by_home[at_home, 1] += counts[row] * product * product
        for group in range(n_groups if zeros < 2 else 0):
            value = whole[first[group] + codes[group, row]]
            if room[group] < 0 or (zeros == 1 and value != 0.0):
                continue
            rest, kind = product if zeros == 1 else product / value, room[group] + codes[group, row]
            for term in range(n_terms):
                added = counts[row] * rest * others[at_home, term]
                if added != 0.0:
                    terms[kind, pattern[at_home], term] += added
                    for other in range(n_terms if with_products else 0):
                        products[kind, pattern[at_home], term, other] += added * rest * others[at_home, other]
    _add_home(at_target, target_products, by_home, pattern, others)


@kernel
def weigh_kinds(terms: Floats, cells: Places, factors: Floats) -> None:
    """Fill ``terms[kind, term]``: the product of the factors ``[cell, term]`` of a kind's attributes, term by term."""
    for kind in range(len(cells)):
        for term in range(factors.shape[1]):
            terms[kind, term] = 1.0
            for cell in cells[kind]:
                terms[kind, term] *= factors[cell, term]


@kernel
def add_kinds(by_pattern: Floats, cells: Places, factors: Floats, by_kind: Floats, before: Floats) -> None:
    """Add ``by_kind[kind, term, class]`` to the cells of a kind, each time without the factor of that cell's attribute.

    `before` is room for as many numbers as a kind has cells.
    """
    width = len(before)
    for kind in range(len(cells)):
        for term in range(factors.shape[1]):
            product = 1.0
            for slot in range(width):
                before[slot] = product
                product *= factors[cells[kind, slot], term]
            after = 1.0
            for slot in range(width - 1, -1, -1):
                cell, without = cells[kind, slot], before[slot] * after
                after *= factors[cell, term]
                for of_class in range(by_kind.shape[2] if without != 0.0 else 0):
                    by_pattern[cell, term, of_class] += without * by_kind[kind, term, of_class]


@kernel
def name_kinds(
    numbers: NDArray[np.int32], cells: Places, factors: Floats, allowed: Floats, is_constant: NDArray[np.bool_]
) -> bool:
    """What the kinds of a group are within the conditions: themselves, the last kind, which says nothing, or -1 for ruled out.

    ``factors[cell, term, answer]`` are those of all attributes, ``allowed[attribute, answer]`` is 0 for answers that are ruled
    out. A term is left while every attribute has an answer; kinds with no other than constant terms say nothing. Whether any
    kind has changed.
    """
    n_patterns, is_changed = len(factors) // len(allowed), False
    for kind in range(len(cells)):
        numbers[kind] = -1
        for term in range(factors.shape[1]):
            is_left = True
            for cell in cells[kind]:
                is_possible = False
                for answer in range(factors.shape[2]):
                    if factors[cell, term, answer] != 0.0 and allowed[cell // n_patterns, answer] != 0.0:
                        is_possible = True
                        break
                if not is_possible:
                    is_left = False
                    break
            if is_left and numbers[kind] != kind:
                numbers[kind] = len(cells) - 1 if is_constant[term] else kind
        is_changed = is_changed or numbers[kind] != kind
    return is_changed


@kernel
def add_pairs(
    sums: Floats, cells: Places, slot: int, start: int, factors: Floats, column: Places, weights: Floats, left: Floats
) -> None:
    """Add products of the terms of kinds without one attribute, whose cells begin at `start`: ``[pattern, column, term, term]``.

    A kind's products are added to the columns from ``column[kind]`` on, multiplied by its weights; `left` is room for its terms.
    """
    for kind in range(len(cells)):
        for term in range(len(left)):
            left[term] = 1.0
            for other in range(cells.shape[1]):
                if other != slot:
                    left[term] *= factors[cells[kind, other], term]
        for which in range(weights.shape[1]):
            for term in range(len(left)):
                value = weights[kind, which] * left[term]
                for other in range(len(left) if value != 0.0 else 0):
                    sums[cells[kind, slot] - start, column[kind] + which, term, other] += value * left[other]
