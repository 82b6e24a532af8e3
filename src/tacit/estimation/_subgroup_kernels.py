"""Compiled loops over product rows. The arguments are assumed to be valid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Patterns = NDArray[np.uint16]
Places = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Layout(NamedTuple):
    """Attributes stand group by group: group g holds those from starts[g] to starts[g + 1]; `group_of` is the way back."""

    starts: Places
    group_of: Places


@njit(cache=True)
def _is_zero(row: Patterns, masked: Floats, layout: Layout, group: int, term: int) -> bool:
    """Whether a term of a row's group has a factor of zero."""
    zeros = 0
    for place in range(layout.starts[group], layout.starts[group + 1]):
        zeros += masked[place, row[place], term] == 0.0
    return zeros > 0


@njit(cache=True)
def _lost(row: Patterns, masked: Floats, layout: Layout, is_constant: Flags, group: int) -> tuple[bool, bool]:
    """Whether nothing is left of a row's group, and whether nothing but constant terms is."""
    nothing, only_constant = True, True
    for term in range(masked.shape[2]):
        if not _is_zero(row, masked, layout, group, term):
            nothing = False
            only_constant = only_constant and is_constant[group, term]
    return nothing, only_constant


@njit(cache=True)
def narrowed(
    patterns: Patterns, masked: Floats, layout: Layout, is_constant: Flags, nothing: Patterns
) -> tuple[Patterns, Flags, int]:
    """The rows with the pattern of saying nothing wherever only constant terms are left of a group.

    ``masked[attribute, pattern, term]`` is what is left of each factor within the conditions. Also whether each row says
    anything at all, and how many rows have lost a group.
    """
    result = patterns.copy()
    says = np.ones(len(patterns), dtype=np.bool_)
    lost = 0
    for row in range(len(patterns)):
        is_lost = False
        for group in range(len(layout.starts) - 1):
            is_nothing, only_constant = _lost(patterns[row], masked, layout, is_constant, group)
            if is_nothing:
                says[row] = False
                break
            if only_constant:
                is_lost = True
                for place in range(layout.starts[group], layout.starts[group + 1]):
                    result[row, place] = nothing[place]
        lost += is_lost
    return result, says, lost


class Left(NamedTuple):
    """What is left of one row: of every term of every group, of groups, and of everything.

    A product is kept without its factors of zero, which are counted, so that any factor can be taken out again.
    """

    terms: Floats  # [group, term]
    zeros: Places  # [group, term]
    groups: Floats
    everything: Floats  # the product of the groups that are not zero, and the number of those that are


@njit(cache=True)
def _weigh(left: Left, row: Patterns, masked: Floats, layout: Layout) -> None:
    left.everything[0], left.everything[1] = 1.0, 0.0
    for group in range(len(left.groups)):
        added = 0.0
        for term in range(masked.shape[2]):
            product, zeros = 1.0, 0
            for place in range(layout.starts[group], layout.starts[group + 1]):
                factor = masked[place, row[place], term]
                if factor == 0.0:
                    zeros += 1
                else:
                    product *= factor
            left.terms[group, term], left.zeros[group, term] = product, zeros
            if zeros == 0:
                added += product
        left.groups[group] = added
        if added == 0.0:
            left.everything[1] += 1
        else:
            left.everything[0] *= added


@njit(cache=True)
def _without(product: float, zeros: float, one: float, other: float) -> float:
    """A product without two of its factors; `product` is that of all factors but zeros, of which there are `zeros`."""
    if one == 0.0:
        zeros -= 1
    else:
        product /= one
    if other == 0.0:
        zeros -= 1
    else:
        product /= other
    return product if zeros == 0 else 0.0


@njit(cache=True)
def _term_without(left: Left, group: int, term: int, one: float, other: float) -> float:
    return _without(left.terms[group, term], left.zeros[group, term], one, other)


@njit(cache=True)
def _pair_terms(
    weights: Floats, left: Left, row: Patterns, masked: Floats, layout: Layout, place: int, target: int
) -> int:
    """What is left of each pair of terms of an attribute's group and the target's without the two; how many they are."""
    group, home, n_terms = layout.group_of[place], layout.group_of[target], masked.shape[2]
    if group == home:
        rest = _without(left.everything[0], left.everything[1], left.groups[home], 1.0)
        for term in range(n_terms):
            weights[term] = rest * _term_without(
                left, home, term, masked[target, row[target], term], masked[place, row[place], term]
            )
        return n_terms
    rest = _without(left.everything[0], left.everything[1], left.groups[home], left.groups[group])
    for term in range(n_terms):
        first = rest * _term_without(left, group, term, masked[place, row[place], term], 1.0)
        for other in range(n_terms):
            weights[term * n_terms + other] = first * _term_without(
                left, home, other, masked[target, row[target], other], 1.0
            )
    return n_terms * n_terms


@njit(cache=True)
def _add_pair(sums: Floats, products: Floats, weights: Floats, size: int, count: float) -> None:
    """A row's terms, and their products above the diagonal where they are wanted."""
    for one in range(size):
        first = count * weights[one]
        if first != 0.0:
            sums[one] += first
            for two in range(one, len(products) and size):
                products[one, two] += first * weights[two]


class PatternSums(NamedTuple):
    """Sums over rows of what is left of their terms when the factors of a free attribute and of the target are taken out.

    ``pairs[free, pattern, target pattern, terms]`` and ``products[..., terms, terms]``, where `terms` numbers the term of the
    attribute's group and that of the target's; the same for the target alone; and of everything, the sum and the sum of
    squares. Products are filled above the diagonal only.
    """

    pairs: Floats
    products: Floats
    targets: Floats
    target_products: Floats
    everything: Floats


@njit(cache=True)
def pattern_sums(
    patterns: Patterns, counts: Floats, masked: Floats, layout: Layout, target: int, free: Places, shape: tuple[int, int],
    with_products: bool,
) -> PatternSums:  # fmt: skip
    """The sums over all rows; `shape` is how many patterns an attribute and the target may have."""
    n_groups, n_terms, home = len(layout.starts) - 1, masked.shape[2], layout.group_of[target]
    size, wanted = n_terms * n_terms, n_terms * n_terms if with_products else 0
    sums = PatternSums(
        np.zeros((len(free), shape[0], shape[1], size)), np.zeros((len(free), shape[0], shape[1], wanted, wanted)),
        np.zeros((shape[1], n_terms)), np.zeros((shape[1], n_terms, n_terms)), np.zeros(2),
    )  # fmt: skip
    left = Left(
        np.empty((n_groups, n_terms)), np.empty((n_groups, n_terms), dtype=np.int64), np.empty(n_groups), np.empty(2)
    )
    weights = np.zeros(size)
    for number in range(len(patterns)):
        row, count = patterns[number], counts[number]
        _weigh(left, row, masked, layout)
        whole = _without(left.everything[0], left.everything[1], 1.0, 1.0)
        sums.everything[0] += count * whole
        sums.everything[1] += count * whole**2
        kind, rest = row[target], _without(left.everything[0], left.everything[1], left.groups[home], 1.0)
        for term in range(n_terms):
            weights[term] = rest * _term_without(left, home, term, masked[target, kind, term], 1.0)
        _add_pair(sums.targets[kind], sums.target_products[kind], weights, n_terms, count)
        for position in range(len(free)):
            place = free[position]
            terms = _pair_terms(weights, left, row, masked, layout, place, target)
            _add_pair(
                sums.pairs[position, row[place], kind],
                sums.products[position, row[place], kind],
                weights,
                terms,
                count,
            )
    return sums


@njit(cache=True)
def _terms_of(number: int, is_together: bool, n_terms: int) -> tuple[int, int]:
    """The term of the attribute's group and that of the target's which a number of `terms` stands for."""
    return (number, number) if is_together else (number // n_terms, number % n_terms)


@njit(cache=True)
def _add_table(table: Floats, sums: Floats, of_place: Floats, of_target: Floats) -> None:
    """One term's sums by pattern as a table by answer and class; factors are ``[pattern, answer]``."""
    for pattern in range(sums.shape[0]):
        for kind in range(sums.shape[1]):
            value = sums[pattern, kind]
            if value != 0.0:
                for answer in range(table.shape[0]):
                    first = value * of_place[pattern, answer]
                    if first != 0.0:
                        for of_class in range(table.shape[1]):
                            table[answer, of_class] += first * of_target[kind, of_class]


@njit(cache=True)
def _answers_crossed(within: Floats, sums: Floats, one: Floats, two: Floats) -> None:
    """Products of answers, from sums by pattern of the attribute and the factors of two terms."""
    within[:] = 0.0
    for pattern in range(len(sums)):
        if sums[pattern] != 0.0:
            for answer in range(len(within)):
                first = sums[pattern] * one[pattern, answer]
                if first != 0.0:
                    for other in range(len(within)):
                        within[answer, other] += first * two[pattern, other]


@njit(cache=True)
def _add_crossed(crossed: Floats, within: Floats, of_class: Floats, of_other: Floats, is_mirrored: bool) -> None:
    """Products of answers times those of classes, and their mirror image where two different terms meet."""
    for answer in range(len(within)):
        for other in range(len(within)):
            value = within[answer, other]
            if value == 0.0:
                continue
            for one in range(crossed.shape[1]):
                first = value * of_class[one]
                for two in range(crossed.shape[1] if first != 0.0 else 0):
                    added = first * of_other[two]
                    crossed[answer, one, other, two] += added
                    if is_mirrored:
                        crossed[other, two, answer, one] += added


@njit(cache=True)
def answer_tables(
    sums: PatternSums, factors: Floats, layout: Layout, target: int, free: Places, n_classes: int
) -> tuple[Floats, Floats]:
    """Sums over rows of contributions by answer and class, and of their products, of every free attribute.

    ``factors[attribute, pattern, term, answer]`` hold zeros for the answers that the conditions rule out.
    """
    n_terms, n_answers, home = factors.shape[2], factors.shape[3], layout.group_of[target]
    tables = np.zeros((len(free), n_answers, n_classes))
    crossed = np.zeros((len(free) if sums.products.size else 0, n_answers, n_classes, n_answers, n_classes))
    within = np.zeros((n_answers, n_answers))
    for position in range(len(free)):
        place = free[position]
        is_together = layout.group_of[place] == home
        size = n_terms if is_together else n_terms * n_terms
        for one in range(size):
            first, kind = _terms_of(one, is_together, n_terms)
            _add_table(
                tables[position], sums.pairs[position, :, :, one], factors[place, :, first], factors[target, :, kind]
            )
            for two in range(one, size if sums.products.size else 0):
                second, other = _terms_of(two, is_together, n_terms)
                for pattern in range(sums.pairs.shape[2]):
                    _answers_crossed(
                        within,
                        sums.products[position, :, pattern, one, two],
                        factors[place, :, first],
                        factors[place, :, second],
                    )
                    _add_crossed(
                        crossed[position],
                        within,
                        factors[target, pattern, kind],
                        factors[target, pattern, other],
                        one != two,
                    )
    return tables, crossed


@njit(cache=True)
def class_table(found: PatternSums, factors: Floats, n_classes: int) -> tuple[Floats, Floats]:
    """The same by class alone; ``factors[pattern, term, class]``."""
    sums, crossed = np.zeros(n_classes), np.zeros((n_classes, n_classes))
    for kind in range(found.targets.shape[0]):
        for one in range(found.targets.shape[1]):
            for of_class in range(n_classes):
                sums[of_class] += found.targets[kind, one] * factors[kind, one, of_class]
            for two in range(one, found.targets.shape[1]):
                value = found.target_products[kind, one, two]
                for of_class in range(n_classes if value != 0.0 else 0):
                    for other in range(n_classes):
                        added = value * factors[kind, one, of_class] * factors[kind, two, other]
                        crossed[of_class, other] += added
                        if one != two:
                            crossed[other, of_class] += added
    return sums, crossed


@njit(cache=True)
def subgroup_sums(
    patterns: Patterns, counts: Floats, masked: Floats, factors: Floats, layout: Layout, target: int, free: Places,
    shape: tuple[int, int], n_classes: int, with_products: bool, people: float,
) -> tuple[Floats, Floats, Floats, Floats, Floats]:  # fmt: skip
    """Mean contributions by answer and class and their products, by class and theirs, and of the size and its square."""
    sums = pattern_sums(patterns, counts, masked, layout, target, free, shape, with_products)
    tables, crossed = answer_tables(sums, factors, layout, target, free, n_classes)
    classes, products = class_table(sums, factors[target], n_classes)
    return tables / people, crossed / people, classes / people, products / people, sums.everything / people
