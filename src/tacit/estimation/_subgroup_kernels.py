"""Compiled sums over product rows. The arguments are assumed to be valid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.estimation._row_kernels import Floats, Kinds, Layout, Places, Rows
from tacit.kernels import inner_kernel, kernel


class Weighed(NamedTuple):
    """What is left of every term of every kind, and of the kind as a whole.

    A product is kept without its factors of zero, which are counted, so that any factor can be taken out again.
    """

    terms: Floats  # [kind, term]
    zeros: Places  # [kind, term]
    whole: Floats


@inner_kernel
def _weighed(kinds: Kinds, masked: Floats, layout: Layout) -> Weighed:
    n_kinds, n_terms = len(kinds.patterns), masked.shape[2]
    left = Weighed(np.empty((n_kinds, n_terms)), np.empty((n_kinds, n_terms), np.int64), np.empty(n_kinds))
    for group in range(len(layout.starts) - 1):
        start, stop = layout.starts[group], layout.starts[group + 1]
        for kind in range(kinds.first[group], kinds.first[group + 1]):
            left.whole[kind] = 0.0
            for term in range(n_terms):
                product, zeros = 1.0, 0
                for place in range(start, stop):
                    factor = masked[place, kinds.patterns[kind, place - start], term]
                    if factor == 0.0:
                        zeros += 1
                    else:
                        product *= factor
                left.terms[kind, term], left.zeros[kind, term] = product, zeros
                if zeros == 0:
                    left.whole[kind] += product
    return left


@inner_kernel
def _without(product: float, zeros: int, one: float, other: float) -> float:
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


class Outside(NamedTuple):
    """What rows are outside the target's group: the product of the groups that are not zero, and how many are."""

    product: Floats
    zeros: Places


class Home(NamedTuple):
    """What each kind of the target's group is without the target, ``others[kind, term]``, and its pattern of the target."""

    group: int
    others: Floats
    pattern: Places


@inner_kernel
def _home(kinds: Kinds, weighed: Weighed, masked: Floats, layout: Layout, target: int) -> Home:
    group = layout.group_of[target]
    first, size = kinds.first[group], kinds.first[group + 1] - kinds.first[group]
    home = Home(group, np.empty((size, masked.shape[2])), np.empty(size, np.int64))
    for code in range(size):
        kind = first + code
        home.pattern[code] = kinds.patterns[kind, target - layout.starts[group]]
        for term in range(masked.shape[2]):
            home.others[code, term] = _without(
                weighed.terms[kind, term], weighed.zeros[kind, term], masked[target, home.pattern[code], term], 1.0
            )
    return home


@inner_kernel
def _outside(rows: Rows, kinds: Kinds, weighed: Weighed, home: Home) -> tuple[Outside, Floats]:
    """What rows are outside the target's group; its sum and its sum of squares by the kinds of that group."""
    outside = Outside(np.empty(len(rows.counts)), np.empty(len(rows.counts), np.int64))
    sums = np.empty((len(home.pattern), 2))
    for kind in range(len(home.pattern)):
        sums[kind, 0], sums[kind, 1] = 0.0, 0.0
    for row in range(len(rows.counts)):
        outside.product[row], outside.zeros[row] = 1.0, 0
        for group in range(rows.codes.shape[1]):
            if group != home.group:
                whole = weighed.whole[kinds.first[group] + rows.codes[row, group]]
                if whole == 0.0:
                    outside.zeros[row] += 1
                else:
                    outside.product[row] *= whole
        if outside.zeros[row] == 0:
            product, code = outside.product[row], rows.codes[row, home.group]
            sums[code, 0] += rows.counts[row] * product
            sums[code, 1] += rows.counts[row] * product**2
    return outside, sums


@inner_kernel
def _add_home(
    sums: PatternSums, by_kind: Floats, kinds: Kinds, weighed: Weighed, home: Home, masked: Floats, layout: Layout,
    target: int, free: Places,
) -> None:  # fmt: skip
    """What the kinds of the target's group add: to everything, to the target's sums, and to those of their attributes."""
    n_terms, start = masked.shape[2], layout.starts[home.group]
    weights = np.empty(n_terms)
    for code in range(len(home.pattern)):
        kind, shown = kinds.first[home.group] + code, home.pattern[code]
        once, squared = by_kind[code, 0], by_kind[code, 1]
        sums.everything[0] += once * weighed.whole[kind]
        sums.everything[1] += squared * weighed.whole[kind] ** 2
        _add_terms(sums.targets[shown], sums.target_products[shown], home.others[code], once, squared)
        for position in range(len(free)):
            place = free[position]
            if layout.group_of[place] == home.group:
                pattern = kinds.patterns[kind, place - start]
                for term in range(n_terms):
                    weights[term] = _without(
                        weighed.terms[kind, term],
                        weighed.zeros[kind, term],
                        masked[target, shown, term],
                        masked[place, pattern, term],
                    )
                _add_terms(
                    sums.pairs[position, pattern, shown],
                    sums.products[position, pattern, shown],
                    weights,
                    once,
                    squared,
                )


@inner_kernel
def _add_terms(sums: Floats, products: Floats, weights: Floats, once: float, squared: float) -> None:
    """Terms times a sum, and their products, above the diagonal, times a sum of squares where they are wanted."""
    for one in range(len(weights)):
        if weights[one] != 0.0:
            sums[one] += once * weights[one]
            for two in range(one, len(products) and len(weights)):
                products[one, two] += squared * weights[one] * weights[two]


class Seen(NamedTuple):
    """Sums over rows by a kind of another group and the pattern of the target: of the home group's terms, times the rest."""

    terms: Floats  # [kind, target pattern, term]
    products: Floats  # [kind, target pattern, term, term], above the diagonal


@inner_kernel
def _seen(
    seen: Seen, low: int, rows: Rows, kinds: Kinds, weighed: Weighed, home: Home, outside: Outside, group: int
) -> None:
    """Fill what is empty yet, for the kinds of a group from a code on, as many as there is room for."""
    n_terms, room = home.others.shape[1], len(seen.terms)
    with_products = len(seen.products) > 0
    for row in range(len(rows.counts)):
        code = rows.codes[row, group]
        if code < low or code >= low + room:
            continue
        rest = _without(outside.product[row], outside.zeros[row], weighed.whole[kinds.first[group] + code], 1.0)
        at_home = rows.codes[row, home.group]
        shown = home.pattern[at_home]
        for one in range(n_terms):
            first = rows.counts[row] * rest * home.others[at_home, one]
            if first != 0.0:
                seen.terms[code - low, shown, one] += first
                for two in range(one, n_terms if with_products else 0):
                    seen.products[code - low, shown, one, two] += first * rest * home.others[at_home, two]


@inner_kernel
def _add_seen(
    sums: PatternSums, seen: Seen, low: int, kinds: Kinds, weighed: Weighed, masked: Floats, layout: Layout, free: Places,
    group: int,
) -> None:  # fmt: skip
    """What the kinds of another group add to the sums of their attributes with the target."""
    n_terms = masked.shape[2]
    own = np.empty(n_terms)
    for code in range(low, min(low + len(seen.terms), kinds.first[group + 1] - kinds.first[group])):
        kind = kinds.first[group] + code
        for position in range(len(free)):
            place = free[position]
            if layout.group_of[place] != group:
                continue
            pattern = kinds.patterns[kind, place - layout.starts[group]]
            for term in range(n_terms):
                own[term] = _without(
                    weighed.terms[kind, term], weighed.zeros[kind, term], masked[place, pattern, term], 1.0
                )
            for shown in range(seen.terms.shape[1]):
                _add_own(sums.pairs[position, pattern, shown], own, seen.terms[code - low, shown])
                if len(seen.products):
                    _add_own_products(sums.products[position, pattern, shown], own, seen.products[code - low, shown])


@inner_kernel
def _add_own(sums: Floats, own: Floats, seen: Floats) -> None:
    """The terms of an attribute's group times those of the target's."""
    for one in range(len(own)):
        if own[one] != 0.0:
            for other in range(len(own)):
                sums[one * len(own) + other] += own[one] * seen[other]


@inner_kernel
def _add_own_products(products: Floats, own: Floats, seen: Floats) -> None:
    """The products of such pairs of terms, above the diagonal."""
    n_terms = len(own)
    for one in range(n_terms):
        for two in range(one, n_terms if own[one] != 0.0 else 0):
            value = own[one] * own[two]
            if value != 0.0:
                for of_one in range(n_terms):
                    for of_two in range(of_one if one == two else 0, n_terms):
                        products[one * n_terms + of_one, two * n_terms + of_two] += (
                            value * seen[min(of_one, of_two), max(of_one, of_two)]
                        )


@inner_kernel
def _is_asked(group: int, layout: Layout, free: Places) -> bool:
    """Whether a free attribute belongs to the group."""
    is_asked = False
    for place in free:
        is_asked = is_asked or layout.group_of[place] == group
    return is_asked


@kernel
def add_patterns(
    sums: PatternSums,
    rows: Rows,
    kinds: Kinds,
    masked: Floats,
    layout: Layout,
    target: int,
    free: Places,
    most_seen: int,
) -> None:
    """Add up all rows, with products where there is room for them.

    ``masked[attribute, pattern, term]`` is what is left of each factor within the conditions. At most so many numbers are
    held of what is seen from the kinds of a group; of more kinds, some are looked at after the others.
    """
    n_terms, size, n_shown = masked.shape[2], masked.shape[2] ** 2, sums.pairs.shape[2]
    with_products = sums.products.shape[3] > 0
    weighed = _weighed(kinds, masked, layout)
    home = _home(kinds, weighed, masked, layout, target)
    outside, by_kind = _outside(rows, kinds, weighed, home)
    _add_home(sums, by_kind, kinds, weighed, home, masked, layout, target, free)
    for group in range(rows.codes.shape[1]):
        if group != home.group and _is_asked(group, layout, free):
            n_kinds = kinds.first[group + 1] - kinds.first[group]
            room = max(1, min(n_kinds, most_seen // (n_shown * (n_terms + size))))
            for low in range(0, n_kinds, room):
                seen = Seen(
                    np.zeros((room, n_shown, n_terms)),
                    np.zeros((room if with_products else 0, n_shown, n_terms, n_terms)),
                )
                _seen(seen, low, rows, kinds, weighed, home, outside, group)
                _add_seen(sums, seen, low, kinds, weighed, masked, layout, free, group)


@inner_kernel
def _terms_of(number: int, is_together: bool, n_terms: int) -> tuple[int, int]:
    """The term of the attribute's group and that of the target's which a number of `terms` stands for."""
    return (number, number) if is_together else (number // n_terms, number % n_terms)


@inner_kernel
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


@inner_kernel
def _answers_crossed(within: Floats, sums: Floats, one: Floats, two: Floats) -> None:
    """Products of answers, from sums by pattern of the attribute and the factors of two terms."""
    for answer in range(len(within)):
        for other in range(len(within)):
            within[answer, other] = 0.0
    for pattern in range(len(sums)):
        if sums[pattern] != 0.0:
            for answer in range(len(within)):
                first = sums[pattern] * one[pattern, answer]
                if first != 0.0:
                    for other in range(len(within)):
                        within[answer, other] += first * two[pattern, other]


@inner_kernel
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


@kernel
def add_answers(
    tables: Floats, crossed: Floats, sums: PatternSums, factors: Floats, layout: Layout, target: int, free: Places
) -> None:
    """Add contributions by answer and class, and their products where there is room for them, of every free attribute.

    ``factors[attribute, pattern, term, answer]`` hold zeros for the answers that the conditions rule out.
    """
    n_terms, n_answers, home = factors.shape[2], factors.shape[3], layout.group_of[target]
    within = np.empty((n_answers, n_answers))
    for position in range(len(free)):
        place = free[position]
        is_together = layout.group_of[place] == home
        size = n_terms if is_together else n_terms * n_terms
        for one in range(size):
            first, kind = _terms_of(one, is_together, n_terms)
            _add_table(
                tables[position], sums.pairs[position, :, :, one], factors[place, :, first], factors[target, :, kind]
            )
            for two in range(one, size if len(crossed) else 0):
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
