"""Subgroups of people who are told of by product rows: every number is a sum over the rows that still say something."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.estimation import _subgroup_kernels as kernels
from tacit.estimation.product_rows import ProductRows
from tacit.estimation.result import Sampling
from tacit.estimation.subgroups import AnswerTable, ClassShares, Codes
from tacit.estimation.uncertainty import counted_covariance
from tacit.schema import Attribute

# Rows that have lost a group are folded into one where they are this share of all, and at least so many.
FOLDED, FEWEST_FOLDED = 0.25, 64
LARGEST_KEY = 1 << 62


Free = tuple[Attribute, int, Codes]


@dataclass(frozen=True, eq=False)
class RowSubgroup:
    """A subgroup of people who are told of by product rows.

    ``factors[attribute, pattern, term, answer]`` are without the answers that the conditions rule out,
    ``masked[attribute, pattern, term]`` is what is left of each factor: summed over the answers that meet the conditions.
    """

    rows: ProductRows
    target: str
    free: tuple[Free, ...]  # what can still be split on: attributes, their places, and the answers that are left
    factors: Array
    masked: Array
    patterns: NDArray[np.uint16]
    counts: Array
    with_errors: bool = True

    @classmethod
    def everybody(cls, rows: ProductRows, target: str, order: tuple[Attribute, ...], with_errors: bool = True) -> Self:
        """All people; splits are listed in the given order of the attributes."""
        free = tuple(
            (attribute, rows.places[attribute.name], tuple(range(attribute.size)))
            for attribute in order
            if attribute.name != target and attribute.size > 1
        )
        return cls(rows, target, free, rows.factors, rows.open, rows.patterns, rows.counts, with_errors)

    @property
    def by_level(self) -> bool:
        """Rows are in memory already, and a whole level of subgroups would hold them many times."""
        return False

    def prepare(self, others: Sequence[Self]) -> None:
        """Nothing is left to be counted."""

    @cached_property
    def _sums(self) -> tuple[Array, Array, Array, Array, Array]:
        rows, target = self.rows, self.rows.places[self.target]
        places = np.array([place for _, place, _ in self.free], dtype=np.int64)
        widths = (rows.factors.shape[1], int(rows.nothing[target]) + 1)
        return kernels.subgroup_sums(
            self.patterns, self.counts, self.masked, self.factors, rows.layout, target, places, widths,
            rows.schema[self.target].size, self.with_errors, rows.people,
        )  # fmt: skip

    def shares(self) -> ClassShares:
        _, _, classes, products, (size, square) = self._sums
        n = self.rows.people
        return ClassShares(
            float(size), max(float(square - size**2), 0.0) / max(n - 1, 1), max(float(square - size), 0.0) / n, classes,
            counted_covariance(products, classes, n), counted_covariance(products, classes, n, "respondents"),
        )  # fmt: skip

    def by_answer(self) -> list[AnswerTable]:
        tables = self._sums[0]
        return [
            AnswerTable(attribute, table[: attribute.size], codes)
            for (attribute, _, codes), table in zip(self.free, tables, strict=True)
        ]

    def covariance(self, attribute: Attribute, sampling: Sampling = "respondents") -> Array:
        position = next(number for number, (each, _, _) in enumerate(self.free) if each.name == attribute.name)
        shares, products = (self._sums[part][position] for part in (0, 1))
        size, n_classes, n = attribute.size, shares.shape[1], self.rows.people
        p, both = shares[:size].reshape(-1), products[:size, :, :size].reshape(size * n_classes, -1)
        return counted_covariance(both, p, n, sampling).reshape(size, n_classes, size, n_classes)

    def within(self, attribute: Attribute, codes: Codes) -> RowSubgroup:
        place = self.rows.places[attribute.name]
        allowed = np.zeros(self.factors.shape[3])
        allowed[list(codes)] = 1
        factors, masked = self.factors.copy(), self.masked.copy()
        factors[place] = self.rows.factors[place] * allowed
        masked[place] = factors[place].sum(axis=2)
        left = [(each, at, codes if at == place else own) for each, at, own in self.free]
        free = tuple(each for each in left if len(each[2]) > 1)
        patterns, counts = _narrowed(self.rows, masked, self.patterns, self.counts)
        return RowSubgroup(self.rows, self.target, free, factors, masked, patterns, counts, self.with_errors)


def _narrowed(
    rows: ProductRows, masked: Array, before: NDArray[np.uint16], counts: Array
) -> tuple[NDArray[np.uint16], Array]:
    """The rows that still say something; those that no longer differ in what they say are folded into one."""
    patterns, says, lost = kernels.narrowed(before, masked, rows.layout, rows.is_constant, rows.nothing)
    if not lost:
        patterns = before  # one array for all subgroups in which every row says what it said before
    if not says.all():
        patterns, counts = patterns[says], counts[says]
    if lost < FEWEST_FOLDED or lost < FOLDED * len(counts):
        return patterns, counts
    _, first, kinds = np.unique(_row_keys(patterns, rows.nothing), return_index=True, return_inverse=True)
    return patterns[first], np.bincount(kinds.reshape(-1), weights=counts, minlength=len(first)).astype(np.float64)


def _row_keys(patterns: NDArray[np.uint16], largest: NDArray[np.uint16]) -> NDArray[Any]:
    """One value for each different row: a whole number where it fits, else its bytes."""
    if math.prod(int(size) + 1 for size in largest) >= LARGEST_KEY:
        return patterns.view(np.dtype((np.void, patterns.dtype.itemsize * patterns.shape[1]))).reshape(-1)
    keys = np.zeros(len(patterns), dtype=np.int64)
    for place, size in enumerate(largest):
        keys *= int(size) + 1
        keys += patterns[:, place]
    return keys
