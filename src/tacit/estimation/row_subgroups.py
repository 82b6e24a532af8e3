"""Subgroups of people who are told of by product rows: every number is a sum over the rows that still say something."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.estimation import _subgroup_kernels as kernels
from tacit.estimation.product_rows import ProductRows
from tacit.estimation.result import Sampling
from tacit.estimation.subgroups import AnswerTable, ClassShares, Codes
from tacit.schema import Attribute

# Rows that have lost a group are folded into one where they are this share of all, and at least so many.
FOLDED, FEWEST_FOLDED = 0.25, 64
LARGEST_KEY = 1 << 62


@dataclass(frozen=True, eq=False)
class RowSubgroup:
    """A subgroup of people who are told of by product rows.

    `open` holds the answers that are left of every attribute, ``[attribute, answer]``.
    """

    rows: ProductRows
    target: str
    order: tuple[Attribute, ...]  # the attributes in which splits are listed
    open: NDArray[np.bool_]
    patterns: NDArray[np.uint16]
    counts: Array
    with_errors: bool = True
    conditioned: frozenset[int] = field(default=frozenset())

    @classmethod
    def everybody(cls, rows: ProductRows, target: str, order: tuple[Attribute, ...], with_errors: bool = True) -> Self:
        sizes = np.array(rows.schema.shape())
        left = np.arange(sizes.max()) < sizes[:, None]
        return cls(rows, target, order, left, rows.patterns, rows.counts, with_errors)

    @property
    def by_level(self) -> bool:
        """Rows are in memory already, and a whole level of subgroups would hold them many times."""
        return False

    def prepare(self, others: Sequence[Self]) -> None:
        """Nothing is left to be counted."""

    @cached_property
    def _target(self) -> int:
        return self.rows.places[self.target]

    @cached_property
    def _free(self) -> list[tuple[Attribute, int, Codes]]:
        """The attributes that can still be split on, their places, and the answers that are left."""
        made = []
        for attribute in self.order:
            place = self.rows.places[attribute.name]
            codes = tuple(self.open[place, : attribute.size].nonzero()[0].tolist())
            if attribute.name != self.target and len(codes) > 1:
                made.append((attribute, place, codes))
        return made

    @cached_property
    def _layout(self) -> kernels.Layout:
        return kernels.Layout(self.rows.starts, self.rows.group_of)

    @cached_property
    def _factors(self) -> Array:
        """Without the answers that are ruled out."""
        return self.rows.factors * self.open[:, None, None, :]

    @cached_property
    def _masked(self) -> Array:
        """What is left of each factor: summed over the answers that meet the conditions."""
        masked = self.rows.open.copy()
        for place in self.conditioned:
            masked[place] = self._factors[place].sum(axis=2)
        return masked

    @cached_property
    def _sums(self) -> tuple[Array, Array, Array, Array, Array]:
        places = np.array([place for _, place, _ in self._free], dtype=np.int64)
        n_classes = self.rows.schema[self.target].size
        widths = (self.rows.factors.shape[1], int(self.rows.nothing[self._target]) + 1)
        sums = kernels.pattern_sums(
            self.patterns, self.counts, self._masked, self._layout, self._target, places, widths, self.with_errors
        )
        tables, crossed = kernels.answer_tables(sums, self._factors, self._layout, self._target, places, n_classes)
        classes, class_products = kernels.class_table(sums, self._factors[self._target], n_classes)
        people = self.rows.people
        return tables / people, crossed / people, classes / people, class_products / people, sums.everything / people

    def shares(self) -> ClassShares:
        _, _, classes, products, (size, square) = self._sums
        n = self.rows.people
        return ClassShares(
            float(size), max(float(square - size**2), 0.0) / max(n - 1, 1), max(float(square - size), 0.0) / n, classes,
            (products - np.multiply.outer(classes, classes)) / max(n - 1, 1), (products - np.diag(classes)) / n,
        )  # fmt: skip

    def by_answer(self) -> list[AnswerTable]:
        tables = self._sums[0]
        return [
            AnswerTable(attribute, table[: attribute.size], codes)
            for (attribute, _, codes), table in zip(self._free, tables, strict=True)
        ]

    def covariance(self, attribute: Attribute, sampling: Sampling = "respondents") -> Array:
        position = next(number for number, (each, _, _) in enumerate(self._free) if each.name == attribute.name)
        shares, products = (self._sums[part][position] for part in (0, 1))
        size, n_classes, n = attribute.size, shares.shape[1], self.rows.people
        p, both = shares[:size].reshape(-1), products[:size, :, :size].reshape(size * n_classes, -1)
        table = (
            (both - np.diag(p)) / n if sampling == "respondents" else (both - np.multiply.outer(p, p)) / max(n - 1, 1)
        )
        return table.reshape(size, n_classes, size, n_classes)

    def within(self, attribute: Attribute, codes: Codes) -> RowSubgroup:
        place = self.rows.places[attribute.name]
        left = self.open.copy()
        left[place] = False
        left[place, list(codes)] = True
        narrower = replace(self, open=left, conditioned=self.conditioned | {place})
        patterns, counts = _narrowed(narrower)
        return replace(narrower, patterns=patterns, counts=counts)


def _narrowed(group: RowSubgroup) -> tuple[NDArray[np.uint16], Array]:
    """The rows that still say something; those that no longer differ in what they say are folded into one."""
    rows = group.rows
    patterns, says, lost = kernels.narrowed(
        group.patterns, group._masked, group._layout, rows.is_constant, rows.nothing
    )
    counts = group.counts
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
