"""Subgroups of people who are told of by product rows: every number is a sum over the rows that still say something."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.estimation import _row_kernels, _subgroup_kernels
from tacit.estimation.product_rows import ProductRows
from tacit.estimation.result import ErrorRule, Sampling
from tacit.estimation.subgroup_numbers import AnswerBreakdown, Choice, ClassShares, Codes
from tacit.estimation.uncertainty import counted_covariance
from tacit.schema import Attribute

# Rows that have lost a group are folded into one where they are this share of all, and at least so many.
FOLDED, FEWEST_FOLDED = 0.25, 64
LARGEST_KEY = 1 << 62
# Numbers held at once of what is seen from the kinds of one group.
MOST_SEEN = 1 << 20


class SubgroupSums(NamedTuple):
    """Contributions by answer and class and their products, by class and theirs, and of the size and its square."""

    tables: Array  # [free, answer, class]
    products: Array  # [free, answer, class, answer, class]
    classes: Array
    class_products: Array
    size: Array


@dataclass(frozen=True, eq=False)
class Wanted:
    """What is asked of every subgroup: by which target, and whether with the errors of tables."""

    rows: ProductRows
    target: int  # its place
    n_classes: int
    patterns: tuple[int, int]  # of any attribute at most, and of the target
    with_errors: bool

    @classmethod
    def of(cls, rows: ProductRows, target: str, with_errors: bool) -> Wanted:
        place = rows.places[target]
        return cls(
            rows, place, rows.schema[target].size, (rows.factors.shape[1], int(rows.nothing[place]) + 1), with_errors
        )

    def no_patterns(self, n_free: int, n_terms: int) -> _subgroup_kernels.PatternSums:
        """Room for the sums by pattern."""
        of_all, of_target = self.patterns
        wanted = n_terms**2 if self.with_errors else 0
        return _subgroup_kernels.PatternSums(
            np.zeros((n_free, of_all, of_target, n_terms**2)),
            np.zeros((n_free, of_all, of_target, wanted, wanted)),
            np.zeros((of_target, n_terms)),
            np.zeros((of_target, n_terms, n_terms)),
            np.zeros(2),
        )

    def no_sums(self, n_free: int, n_answers: int, size: Array) -> SubgroupSums:
        """Room for the sums by answer and class, with the size that is known already."""
        cells = (n_answers, self.n_classes)
        return SubgroupSums(
            np.zeros((n_free, *cells)),
            np.zeros((n_free if self.with_errors else 0, *cells, *cells)),
            np.zeros(0),
            np.zeros((0, 0)),
            size,
        )

    def class_sums(self, sums: _subgroup_kernels.PatternSums, factors: Array) -> dict[str, Array]:
        """Contributions by class alone, and their products, from the sums by pattern; ``factors[pattern, term, class]``."""
        own = factors[: len(sums.targets), :, : self.n_classes]
        above = sums.target_products  # filled above the diagonal, and on it
        products = above + above.swapaxes(1, 2) * (1 - np.eye(above.shape[1]))
        crossed = np.einsum("kst,ksc,ktd->cd", products, own, own)
        return {"classes": np.einsum("kt,ktc->c", sums.targets, own), "class_products": crossed}


@dataclass(frozen=True, eq=False)
class RowSubgroup:
    """A subgroup of people who are told of by product rows."""

    wanted: Wanted
    choices: tuple[Choice, ...]
    places: NDArray[np.int64]  # of the attributes that leave a choice
    left: _row_kernels.Narrowed

    @classmethod
    def everybody(cls, rows: ProductRows, target: str, order: tuple[Attribute, ...], with_errors: bool = True) -> Self:
        """All people; splits are listed in the given order of the attributes."""
        choices = tuple(
            (attribute, tuple(range(attribute.size)))
            for attribute in order
            if attribute.name != target and attribute.size > 1
        )
        places = np.array([rows.places[attribute.name] for attribute, _ in choices], dtype=np.int64)
        left = _row_kernels.Narrowed(rows.told, rows.kinds, rows.factors, rows.open, 0)
        return cls(Wanted.of(rows, target, with_errors), choices, places, left)

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
    def _means(self) -> SubgroupSums:
        # Two kernels, not one that calls them: numba would compile everything below that one a second time.
        wanted, left, free = self.wanted, self.left, self.places
        target, layout = wanted.target, wanted.rows.layout
        by_pattern = wanted.no_patterns(len(free), left.masked.shape[2])
        _subgroup_kernels.add_patterns(by_pattern, left.rows, left.kinds, left.masked, layout, target, free, MOST_SEEN)
        sums = wanted.no_sums(len(free), left.factors.shape[3], by_pattern.everything)
        _subgroup_kernels.add_answers(sums.tables, sums.products, by_pattern, left.factors, layout, target, free)
        sums = sums._replace(**wanted.class_sums(by_pattern, left.factors[target]))
        return SubgroupSums(*(part / wanted.rows.people for part in sums))

    def shares(self) -> ClassShares:
        _, _, classes, products, moments = self._means
        n, (size, square) = self.wanted.rows.people, moments.tolist()
        return ClassShares(
            size, max(square - size**2, 0.0) / n, max(square - size, 0.0) / n, classes,
            counted_covariance(products, classes, n), counted_covariance(products, classes, n, "respondents"),
        )  # fmt: skip

    def by_answer(self) -> AnswerBreakdown:
        return AnswerBreakdown(self.choices, self._means.tables)

    def covariance(self, attribute: Attribute, sampling: Sampling = "respondents") -> Array:
        position, size = self._position(attribute), attribute.size
        covariances = self._disguise if sampling == "respondents" else self._sampled
        return np.ascontiguousarray(covariances[position, :size, :, :size])

    @cached_property
    def _disguise(self) -> Array:
        return self._covariances("respondents")

    @cached_property
    def _sampled(self) -> Array:
        return self._covariances("population")

    def _covariances(self, sampling: Sampling) -> Array:
        """Covariances of all tables: ``[attribute, answer, class, answer, class]``."""
        tables, products = self._means.tables, self._means.products
        n_tables, cells = len(tables), tables.shape[1] * tables.shape[2]
        covariances = counted_covariance(
            products.reshape(n_tables, cells, cells), tables.reshape(n_tables, cells), self.wanted.rows.people, sampling
        )
        return covariances.reshape(products.shape)

    def _position(self, attribute: Attribute) -> int:
        return next(place for place, (each, _) in enumerate(self.choices) if each.name == attribute.name)

    def within(self, attribute: Attribute, codes: Codes) -> RowSubgroup:
        rows = self.wanted.rows
        left = _row_kernels.narrowed(
            self.left, rows.layout, rows.is_constant, rows.nothing, rows.places[attribute.name], np.array(codes)
        )
        if left.lost >= max(FEWEST_FOLDED, FOLDED * len(left.rows.counts)):
            left = left._replace(rows=_folded(left.rows, left.kinds))
        choices = [(each, codes if each.name == attribute.name else own) for each, own in self.choices]
        free = [place for place, (_, own) in enumerate(choices) if len(own) > 1]
        return RowSubgroup(self.wanted, tuple(choices[place] for place in free), self.places[free], left)


def _folded(told: _row_kernels.Rows, kinds: _row_kernels.Kinds) -> _row_kernels.Rows:
    """Rows that no longer differ in what they say made one."""
    keys = _row_keys(told.codes, np.diff(kinds.first))
    _, first, numbers = np.unique(keys, return_index=True, return_inverse=True)
    counts = np.bincount(numbers.reshape(-1), weights=told.counts, minlength=len(first))
    return _row_kernels.Rows(told.codes[first], counts.astype(np.float64))


def _row_keys(codes: NDArray[np.int32], sizes: NDArray[np.int64]) -> NDArray[Any]:
    """One value for each different row: a whole number where it fits, else its bytes."""
    if math.prod(sizes.tolist()) >= LARGEST_KEY:
        return codes.view(np.dtype((np.void, codes.dtype.itemsize * codes.shape[1]))).reshape(-1)
    keys = np.zeros(len(codes), dtype=np.int64)
    for group, size in enumerate(sizes):
        keys *= size
        keys += codes[:, group]
    return keys
