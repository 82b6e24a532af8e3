"""Counting coded tables in memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.count.planner import Cover, covers, margin
from tacit.count.protocol import Product, SparseTally, Totals, checked_cells, checked_single
from tacit.count.slots import crossed, joint_slots, widest
from tacit.count.sparse import occurring
from tacit.count.totals import (
    NUMPY_LOOPS,
    checked_products,
    columns_of,
    compiled_loops,
    is_tallied,
    moments_of_tally,
    totals_by_rows,
)
from tacit.schema import Schema
from tacit.table import Table

# From here on the compiled kernels earn their import.
COMPILED_ROWS = 1 << 20
# Codes of a block and the histograms they are counted into share the second-level cache.
BLOCK_ROWS = 1 << 16
# 32-bit counters are emptied before they could overflow.
FLUSH_ROWS = 1 << 31


@dataclass(frozen=True, eq=False)
class MemoryEngine:
    """Counts a table of codes; from `compiled_from` rows on with compiled kernels.

    >>> from tacit import Attribute, Schema
    >>> from tacit.table import Table
    >>> schema = Schema((Attribute("smokes", ("no", "yes")),))
    >>> MemoryEngine(Table.from_codes(schema, {"smokes": [0, 1, 0]})).tally(["smokes"]).tolist()
    [2, 1]
    """

    table: Table
    compiled_from: int = COMPILED_ROWS

    @property
    def schema(self) -> Schema:
        return self.table.schema

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    @property
    def _is_compiled(self) -> bool:
        return self.n_rows >= self.compiled_from

    def tally(self, columns: Sequence[str]) -> NDArray[np.int64]:
        return self.tallies([columns])[0]

    def tallies(self, column_sets: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        found: dict[int, NDArray[np.int64]] = {}
        for cover in self._plan(column_sets):
            counts = self._counted(cover.columns)
            for position in cover.wanted:
                found[position] = margin(counts, cover.columns, column_sets[position])
        return [found[position] for position in range(len(column_sets))]

    def _plan(self, column_sets: Sequence[Sequence[str]]) -> Sequence[Cover]:
        """Which columns to count together: sets and bits never grow, as a row adds to all combinations of its slots."""
        for columns in column_sets:
            checked_cells(self.schema, columns)
        apart = [
            position
            for position, columns in enumerate(column_sets)
            if not self._is_compiled or any(self.schema[name].shows != "one" for name in columns)
        ]
        alone = [Cover(tuple(column_sets[position]), (position,)) for position in apart]
        together = [position for position in range(len(column_sets)) if position not in set(apart)]
        sizes = {attribute.name: attribute.tally_size for attribute in self.schema}
        found = covers([column_sets[position] for position in together], sizes)
        return [*alone, *(Cover(c.columns, tuple(together[inside] for inside in c.wanted)) for c in found)]

    def _counted(self, columns: Sequence[str]) -> NDArray[np.int64]:
        """One pass over the rows."""
        shape = tuple(self.schema[name].tally_size for name in columns)
        counted = compiled_counts if self._is_compiled else numpy_counts
        return counted(self.table, columns, math.prod(shape)).reshape(shape)

    def sparse_tally(self, columns: Sequence[str]) -> SparseTally:
        checked_single(self.schema, columns)
        codes, counts = occurring([self.table[name] for name in columns], self.schema.shape(columns))
        return SparseTally(tuple(columns), codes, counts)

    def totals(self, products: Sequence[Product]) -> Totals:
        checked_products(self.schema, products)
        tallied = [i for i, product in enumerate(products) if is_tallied(self.schema, product, self.n_rows)]
        others = [i for i in range(len(products)) if i not in set(tallied)]
        sums, squares = np.zeros(len(products)), np.zeros(len(products))
        column_sets = list(dict.fromkeys(columns_of(products[i]) for i in tallied))
        counted = dict(zip(column_sets, self.tallies(column_sets), strict=True))
        for i in tallied:
            columns = columns_of(products[i])
            sums[i], squares[i] = moments_of_tally(counted[columns], columns, products[i])
        if others:
            loops = compiled_loops() if self._is_compiled else NUMPY_LOOPS
            by_rows = totals_by_rows(self.table, [products[i] for i in others], loops)
            sums[others], squares[others] = by_rows.sums, by_rows.squares
        return Totals(sums, squares)


def numpy_counts(table: Table, columns: Sequence[str], cells: int) -> NDArray[np.int64]:
    """Flat counts of joint slots, block by block where rows have several."""
    counts = np.zeros(cells, dtype=np.int64)
    rows = max(1, COMPILED_ROWS // widest(table, columns))
    for start in range(0, table.n_rows, rows):
        block = table.rows(slice(start, start + rows))
        counts += np.bincount(joint_slots(block, columns, crossed).values, minlength=cells)
    return counts


def compiled_counts(table: Table, columns: Sequence[str], cells: int) -> NDArray[np.int64]:
    """Flat counts of joint slots by compiled loops."""
    from tacit.count import _memory_kernels as kernels

    counts = np.zeros(cells, dtype=np.int64)
    histogram = np.zeros((4, cells), dtype=np.uint32)
    width = widest(table, columns)
    rows = max(1, BLOCK_ROWS // width)
    unflushed = 0
    buffer = np.empty(rows, dtype=np.uint32)
    for start in range(0, table.n_rows, rows):
        here = slice(start, min(start + rows, table.n_rows))
        if width == 1 and all(table.schema[name].shows == "one" for name in columns):
            codes = buffer[: here.stop - start]
            codes[:] = 0
            for name in columns:
                kernels.extend_codes(codes, table[name][here], np.uint32(table.schema[name].size))
        else:
            codes = joint_slots(table.rows(here), columns, kernels.crossed).values
        if unflushed + len(codes) > FLUSH_ROWS:
            counts += histogram.sum(axis=0, dtype=np.int64)
            histogram[:] = 0
            unflushed = 0
        kernels.add_to_histogram(codes, histogram)
        unflushed += len(codes)
    return counts + histogram.sum(axis=0, dtype=np.int64)
