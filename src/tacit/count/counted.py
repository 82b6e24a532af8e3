"""Counting rows that stand for several reports each: what a saved tally of whole reports holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.count.abilities import distinct_in_memory
from tacit.count.planner import tallied_by_covers
from tacit.count.protocol import Product, SparseTally, Totals, checked_single
from tacit.count.slots import joint_slots
from tacit.count.sparse import occurring
from tacit.count.totals import NUMPY_LOOPS, checked_products, row_products, totals_by_tallies
from tacit.schema import Schema
from tacit.table import Table


@dataclass(frozen=True, eq=False)
class CountedEngine:
    """Answers the two questions from distinct rows and the number of reports that each stands for."""

    table: Table
    counts: NDArray[np.int64]

    @property
    def schema(self) -> Schema:
        return self.table.schema

    @cached_property
    def n_rows(self) -> int:
        return int(self.counts.sum())

    def tally(self, columns: Sequence[str]) -> NDArray[np.int64]:
        return self.tallies([columns])[0]

    def tallies(self, column_sets: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        return tallied_by_covers(column_sets, self.schema, self._count_columns, merge=False)

    def _count_columns(self, columns: Sequence[str]) -> NDArray[np.int64]:
        shape = tuple(self.schema[name].tally_size for name in columns)
        counts = np.zeros(int(np.prod(shape)), dtype=np.int64)
        slots = joint_slots(self.table, columns)
        np.add.at(counts, slots.values, np.repeat(self.counts, np.diff(slots.row_ends(), prepend=0)))
        return counts.reshape(shape)

    def sparse_tally(self, columns: Sequence[str]) -> SparseTally:
        checked_single(self.schema, columns)
        codes, counts = occurring([self.table[name] for name in columns], self.schema.shape(columns), self.counts)
        return SparseTally(tuple(columns), codes, counts)

    def totals(self, products: Sequence[Product]) -> Totals:
        checked_products(self.schema, products)
        return totals_by_tallies(self, products, self._row_totals)

    def _row_totals(self, products: Sequence[Product]) -> Totals:
        values = [row_products(self.table, product, NUMPY_LOOPS) for product in products]
        sums = np.array([value @ self.counts for value in values])
        return Totals(sums, np.array([(value * value) @ self.counts for value in values]))

    def distinct(self, columns: Sequence[str]) -> tuple[Table, NDArray[np.int64]]:
        return distinct_in_memory(self.table, self.counts, columns)
