"""Subgroups of people who are told of by product rows: every number is a sum over the rows that still say something.

`everybody` is the door: from product rows where reports are such and few enough to hold, else from one table after the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.count.protocol import Source
from tacit.estimation._row_kernels import add_kinds, add_pairs, add_rows, name_kinds, weigh_kinds
from tacit.estimation.product_rows import Kinds, ProductRows, Rows, report_rows
from tacit.estimation.result import ErrorRule, Sampling
from tacit.estimation.sampled_sources import is_weighted
from tacit.estimation.subgroups import AnswerBreakdown, Choice, ClassShares, Codes, Subgroup, TableSource, TableSubgroup
from tacit.estimation.uncertainty import counted_covariance
from tacit.schema import Attribute, Schema

# Rows that have lost a group are folded into one where they are this share of all, and at least so many.
FOLDED, FEWEST_FOLDED = 0.25, 64
LARGEST_KEY = 1 << 62
# Kinds that no row is of are left out where they are many.
MANY_KINDS = 1 << 7


class KindSums(NamedTuple):
    """Sums over rows by their kinds, from which every number of a subgroup follows.

    ``at_target[target pattern, term]`` are the sums of what rows are without the target's factors, ``target_products[..., term,
    term]`` those of their products. Of each kind of the target's group, ``pattern[kind]`` is that of the target, and
    ``by_home[kind]`` sum and sum of squares, over the rows, of the product of all other groups. Of other groups, whose kinds
    begin at ``room[group]``, ``terms[kind, target pattern, term]`` are sums of what is left of the rows without the group and
    the target, ``products[..., term, term]`` those of their products. ``factors[cell, term]`` are what is left of the factors
    of every attribute, ones for the target.
    """

    factors: Array
    pattern: NDArray[np.int64]
    at_target: Array
    target_products: Array
    by_home: Array
    terms: Array
    products: Array
    room: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RowSubgroup:
    """A subgroup of people who are told of by product rows; without errors of tables, these are summed faster."""

    product_rows: ProductRows
    target: int  # its place
    with_errors: bool
    choices: tuple[Choice, ...]
    places: tuple[int, ...]  # of the attributes that leave a choice
    rows: Rows
    kinds: Kinds
    allowed: Array  # [attribute, answer]: 1 where the conditions allow the answer
    masked: Array  # [attribute, pattern, term]: factors summed over the allowed answers
    by_class: Array  # the target's factors, [pattern, term, class]
    by_classes: Array  # products of these, [pattern, both terms, both classes]

    @classmethod
    def everybody(cls, rows: ProductRows, target: str, order: tuple[Attribute, ...], with_errors: bool = True) -> Self:
        """All people; splits are listed in the given order of the attributes."""
        choices = tuple(
            (attribute, tuple(range(attribute.size)))
            for attribute in order
            if attribute.name != target and attribute.size > 1
        )
        places = tuple(rows.places[attribute.name] for attribute, _ in choices)
        allowed = np.ones((len(rows.factors), rows.factors.shape[3]))
        place, size = rows.places[target], rows.schema[target].size
        by_class = np.ascontiguousarray(rows.factors[place, : rows.nothing[place] + 1, :, :size])
        by_classes = by_class[:, :, None, :, None] * by_class[:, None, :, None, :]
        return cls(
            rows, place, with_errors, choices, places, rows.rows, rows.kinds, allowed, rows.open, by_class,
            by_classes.reshape(len(by_class), by_class.shape[1] ** 2, size**2),
        )  # fmt: skip

    @property
    def by_level(self) -> bool:
        """Rows are in memory already, and a whole level of subgroups would hold them many times."""
        return False

    @property
    def error_rule(self) -> ErrorRule:
        return "counted"

    def prepare(self, others: Sequence[Self]) -> None:
        """Nothing is left to be counted."""

    @cached_property
    def _sums(self) -> KindSums:
        product_rows, kinds, n_terms = self.product_rows, self.kinds, self.masked.shape[2]
        home = product_rows.group_of[self.target]
        here, slot = slice(kinds.first[home], kinds.first[home + 1]), self.target - product_rows.starts[home]
        factors = self.masked.copy()
        factors[self.target] = 1.0
        terms = _products_of(kinds.cells, factors)
        pattern = kinds.cells[here, slot] - self.target * self.masked.shape[1]
        room, end = np.full(len(product_rows.starts) - 1, -1), 0
        for group in sorted({product_rows.group_of[place] for place in self.places} - {home}):
            room[group], end = end, end + int(kinds.first[group + 1] - kinds.first[group])
        n_patterns = len(self.by_class)
        sums = KindSums(
            factors.reshape(-1, n_terms), pattern, np.zeros((n_patterns, n_terms)),
            np.zeros((n_patterns, n_terms, n_terms)), np.zeros((len(pattern), 2)), np.zeros((end, n_patterns, n_terms)),
            np.zeros((end if self.with_errors else 0, n_patterns, n_terms, n_terms)), room,
        )  # fmt: skip
        whole = terms.sum(axis=1)
        add_rows(*sums[2:7], *self.rows, kinds.first, whole, home, pattern, terms[here], room)
        return sums

    def shares(self) -> ClassShares:
        sums, n, by_class = self._sums, self.product_rows.people, self.by_class
        left = self.masked[self.target, : len(by_class)]
        size = float((sums.at_target * left).sum()) / n
        square = float((sums.target_products * left[:, :, None] * left[:, None, :]).sum()) / n
        classes = sums.at_target.reshape(-1) @ by_class.reshape(-1, by_class.shape[2]) / n
        products = np.asarray((by_class.swapaxes(1, 2) @ sums.target_products @ by_class).sum(axis=0) / n)
        disguise = products / n
        disguise.flat[:: len(classes) + 1] -= classes / n
        return ClassShares(
            size, max(square - size**2, 0.0) / n, max(square - size, 0.0) / n, classes,
            (products - classes[:, None] * classes) / n, disguise,
        )  # fmt: skip

    def by_answer(self) -> AnswerBreakdown:
        return AnswerBreakdown(self.choices, self._tables)

    @cached_property
    def _tables(self) -> Array:
        """Contributions ``[attribute, answer, class]`` of the attributes that leave a choice."""
        sums, kinds, factors = self._sums, self.kinds, self.product_rows.factors
        n_attributes, n_patterns, n_terms, n_answers = factors.shape
        n_classes = self.by_class.shape[2]
        by_kind = np.empty((len(kinds.cells), n_terms, n_classes))
        of_target = self.by_class.reshape(-1, n_classes)
        for group, start in enumerate(sums.room):
            here = slice(kinds.first[group], kinds.first[group + 1])
            if group == self.product_rows.group_of[self.target]:
                np.multiply(sums.by_home[:, :1, None], self.by_class[sums.pattern], out=by_kind[here])
            elif start < 0:
                by_kind[here] = 0.0
            else:
                seen = sums.terms[start : start + here.stop - here.start]
                by_kind[here] = (seen.reshape(len(seen), -1) @ of_target)[:, None, :]
        by_pattern = np.zeros((n_attributes * n_patterns, n_terms, n_classes))
        add_kinds(by_pattern, kinds.cells, sums.factors, by_kind, np.empty(kinds.cells.shape[1]))
        of_answers = factors.reshape(n_attributes, -1, n_answers).swapaxes(1, 2)
        tables = of_answers @ by_pattern.reshape(n_attributes, -1, n_classes)
        places = list(self.places)
        return np.asarray(tables[places] * self.allowed[places, :, None] / self.product_rows.people)

    def covariance(self, attribute: Attribute, sampling: Sampling = "respondents") -> Array:
        position = next(at for at, (each, _) in enumerate(self.choices) if each.name == attribute.name)
        shares = self._tables[position, : attribute.size]
        products = self._products(self.places[position], attribute.size)
        covariance = counted_covariance(
            products.reshape(shares.size, -1), shares.reshape(-1), self.product_rows.people, sampling
        )
        return covariance.reshape(products.shape)

    def _products(self, place: int, size: int) -> Array:
        """Mean products of contributions to an attribute's table, ``[answer, class, answer, class]``."""
        product_rows, sums, group = self.product_rows, self._sums, self.product_rows.group_of[place]
        low, high = self.kinds.first[group], self.kinds.first[group + 1]
        both, n_classes, is_home = self.by_classes, self.by_class.shape[2], sums.room[group] < 0
        if is_home:  # its terms are those of the attribute, so classes are told apart when kinds are summed
            column, weights = sums.pattern, np.ascontiguousarray(sums.by_home[:, 1:])
        else:
            seen = sums.products[sums.room[group] : sums.room[group] + high - low]
            column, weights = (
                np.zeros(len(seen), dtype=np.int64),
                seen.reshape(len(seen), -1) @ both.reshape(-1, both.shape[2]),
            )
        n_patterns, n_terms = int(product_rows.nothing[place]) + 1, self.masked.shape[2]
        pairs = np.zeros((n_patterns, len(both) if is_home else both.shape[2], n_terms, n_terms))
        add_pairs(
            pairs, self.kinds.cells[low:high], place - int(product_rows.starts[group]), place * self.masked.shape[1],
            sums.factors, column, weights, np.empty(n_terms),
        )  # fmt: skip
        flat = pairs.reshape(n_patterns, -1, n_terms**2)
        by_pattern = (flat.transpose(2, 0, 1) @ both.swapaxes(0, 1)).swapaxes(0, 1) if is_home else flat.swapaxes(1, 2)
        factors = (product_rows.factors[place, :n_patterns] * self.allowed[place])[:, :, :size]
        # Sum over the second term and then over pattern and first term: [pattern, term, class, class, answer].
        shaped = by_pattern.reshape(n_patterns, n_terms, n_terms, -1).swapaxes(2, 3)
        half = shaped.reshape(n_patterns, -1, n_terms) @ factors
        crossed = factors.reshape(-1, size).T @ half.reshape(n_patterns * n_terms, -1)
        return crossed.reshape(size, n_classes, n_classes, size).transpose(0, 1, 3, 2) / product_rows.people

    def within(self, attribute: Attribute, codes: Codes) -> RowSubgroup:
        place = self.product_rows.places[attribute.name]
        allowed, masked = self.allowed.copy(), self.masked.copy()
        allowed[place] = 0.0
        allowed[place, list(codes)] = 1.0
        masked[place] = self.product_rows.factors[place] @ allowed[place]
        rows, kinds = self._narrow_rows(self.product_rows.group_of[place], allowed)
        choices = [(each, codes if each.name == attribute.name else before) for each, before in self.choices]
        free = [at for at, (_, answers) in enumerate(choices) if len(answers) > 1]
        return RowSubgroup(
            self.product_rows, self.target, self.with_errors, tuple(choices[at] for at in free),
            tuple(self.places[at] for at in free), rows, kinds, allowed, masked, self.by_class,
            self.by_classes,
        )  # fmt: skip

    def _narrow_rows(self, group: int, allowed: Array) -> tuple[Rows, Kinds]:
        """The rows that still say something after a condition on a group, and the kinds that they are of.

        Kinds of which only constant terms are left become the last kind of the group, which says nothing.
        """
        rows, kinds, product_rows = self.rows, self.kinds, self.product_rows
        numbers = np.empty(kinds.first[group + 1] - kinds.first[group], dtype=np.int32)
        cells = kinds.cells[kinds.first[group] : kinds.first[group + 1]]
        if not name_kinds(numbers, cells, product_rows.flat_factors, allowed, product_rows.is_constant[group]):
            return rows, kinds
        codes = numbers[rows.codes[group]]
        staying = np.flatnonzero(codes >= 0)
        left = Rows(rows.codes.take(staying, axis=1), rows.counts[staying])
        left.codes[group] = codes = codes[staying]
        n_lost = np.count_nonzero(codes == len(numbers) - 1) if product_rows.is_constant[group].any() else 0
        if n_lost >= max(FEWEST_FOLDED, FOLDED * len(staying)):
            left = _fold_rows(left, np.diff(kinds.first))
        is_sparse = len(kinds.cells) > max(MANY_KINDS, 4 * len(left.counts))
        return _without_unused(left, kinds) if is_sparse else (left, kinds)


def everybody(origins: Sequence[Source], schema: Schema, target: str, *, with_errors: bool = True) -> Subgroup:
    """All people behind some sources, by the classes of a target.

    Without errors of the tables, where nobody will ask for them, they are quicker.
    """
    # Questions of which each respondent reports only some are told of table by table, as far as they go.
    rows = None
    if len(origins) == 1 and tells_all(origins[0]) and not is_weighted(origins):
        rows = report_rows(origins[0])
    if rows is not None:
        return RowSubgroup.everybody(rows, target, schema.attributes, with_errors)
    return TableSubgroup(TableSource(tuple(origins), schema), target, {})


def tells_all(source: Source) -> bool:
    """Whether no routed group is dealt in parts, so that all its answers have a joint estimate."""
    routed = [group for group in source.questionnaire.groups if group.records is not None]
    return all(group.channel.margin(range(len(group.names))).is_invertible() for group in routed)


def _products_of(cells: NDArray[np.int64], factors: Array) -> Array:
    """Products ``[kind, term]`` of the factors ``[..., term]`` of the cells of each kind."""
    terms = np.empty((len(cells), factors.shape[-1]))
    weigh_kinds(terms, np.ascontiguousarray(cells), factors.reshape(-1, terms.shape[1]))
    return terms


def _without_unused(rows: Rows, kinds: Kinds) -> tuple[Rows, Kinds]:
    """Only the kinds that rows are of, and the last of each group."""
    cells, codes = [], np.empty_like(rows.codes)
    for group, column in enumerate(rows.codes):
        last = kinds.first[group + 1] - 1 - kinds.first[group]
        used, numbers = np.unique(np.append(column, last), return_inverse=True)
        codes[group] = numbers[:-1]
        cells.append(kinds.cells[kinds.first[group] + used])
    first = np.cumsum([0, *(len(each) for each in cells)])
    return Rows(codes, rows.counts), Kinds(np.concatenate(cells), first)


def _fold_rows(rows: Rows, sizes: NDArray[np.int64]) -> Rows:
    """Rows that no longer differ in what they say made one."""
    _, first, numbers = np.unique(_row_keys(rows.codes, sizes), return_index=True, return_inverse=True)
    counts = np.bincount(numbers.reshape(-1), weights=rows.counts, minlength=len(first))
    return Rows(np.take(rows.codes, first, axis=1), counts.astype(np.float64))


def _row_keys(codes: NDArray[np.int32], sizes: NDArray[np.int64]) -> NDArray[Any]:
    """One value for each different row: a whole number where it fits, else its bytes."""
    if math.prod(sizes.tolist()) >= LARGEST_KEY:
        rows = np.ascontiguousarray(codes.T)
        return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).reshape(-1)
    keys = np.zeros(codes.shape[1], dtype=np.int64)
    for column, size in zip(codes, sizes, strict=True):
        keys *= size
        keys += column
    return keys
