"""Counting coded tables in memory."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.count.abilities import distinct_in_memory
from tacit.count.hashed import hashed_column, hashed_counts
from tacit.count.many import ManyTallies
from tacit.count.protocol import Product, SparseTally, Totals, checked_single
from tacit.count.slots import joint_slots, widest
from tacit.count.sparse import occurring
from tacit.count.totals import NUMPY_LOOPS, checked_products, compiled_loops, totals_by_rows, totals_by_tallies
from tacit.schema import Schema
from tacit.table import Table

# From so many codes on, rows times columns of all tables, the compiled kernels earn their import; once they are there,
# from so many rows on.
COMPILED_CODES = 1 << 24
COMPILED_ROWS = 1 << 19
# Codes of a block and the histograms they are counted into share the second-level cache.
BLOCK_ROWS = 1 << 16
COPIED_COUNTERS = 1 << 17
# 32-bit counters are emptied before they could overflow.
FLUSH_ROWS = 1 << 31


@dataclass(frozen=True, eq=False)
class MemoryEngine:
    """Counts a table of codes; where at least `compiled_from` codes are looked at with compiled kernels.

    >>> from tacit import Attribute, Schema
    >>> from tacit.table import Table
    >>> schema = Schema((Attribute("smokes", ("no", "yes")),))
    >>> MemoryEngine(Table.from_codes(schema, {"smokes": [0, 1, 0]})).tally(["smokes"]).tolist()
    [2, 1]
    """

    table: Table
    compiled_from: int = COMPILED_CODES

    @property
    def schema(self) -> Schema:
        return self.table.schema

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    @property
    def rows(self) -> Table:
        """The rows themselves: an ability beyond the two questions (`tacit.count.abilities`)."""
        return self.table

    def distinct(self, columns: Sequence[str]) -> tuple[Table, NDArray[np.int64]]:
        """The different rows of some columns, and how many rows show each."""
        return distinct_in_memory(self.table, None, columns)

    def _is_compiled(self, looked_at: int) -> bool:
        """Whether so many codes are looked at that compiled loops earn their import, or are there already."""
        loaded = "numba" in sys.modules and self.n_rows >= COMPILED_ROWS
        return looked_at >= self.compiled_from or (loaded and self.compiled_from <= COMPILED_CODES)

    def tally(self, columns: Sequence[str]) -> NDArray[np.int64]:
        return self.tallies([columns])[0]

    def tallies(self, column_sets: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        looked_at = self.n_rows * sum(map(len, column_sets))
        compiled = self._is_compiled(looked_at)
        counted = compiled_tally if compiled else numpy_tally
        many = ManyTallies(self.schema, column_sets, counted, merge=compiled, compiled=compiled)
        many.add(self.table)
        return many.tallies()

    def sparse_tally(self, columns: Sequence[str]) -> SparseTally:
        checked_single(self.schema, columns)
        codes, counts = occurring([self.table[name] for name in columns], self.schema.shape(columns))
        return SparseTally(tuple(columns), codes, counts)

    def totals(self, products: Sequence[Product]) -> Totals:
        checked_products(self.schema, products)
        looked_at = self.n_rows * sum(len(product) for product in products)
        loops = compiled_loops() if self._is_compiled(looked_at) else NUMPY_LOOPS
        return totals_by_tallies(self, products, lambda others: totals_by_rows(self.table, others, loops))


def numpy_tally(table: Table, columns: Sequence[str]) -> NDArray[np.int64]:
    """One pass over the rows."""
    return _tally(table, columns, numpy_counts)


def compiled_tally(table: Table, columns: Sequence[str]) -> NDArray[np.int64]:
    """One pass over the rows, by compiled loops."""
    return _tally(table, columns, compiled_counts)


def _tally(
    table: Table, columns: Sequence[str], counts: Callable[[Table, Sequence[str], int], NDArray[np.int64]]
) -> NDArray[np.int64]:
    hashed = hashed_column(table.schema, columns)
    if hashed is not None:
        return hashed_counts(table, columns, hashed)
    shape = tuple(table.schema[name].tally_size for name in columns)
    return counts(table, columns, math.prod(shape)).reshape(shape)


def numpy_counts(table: Table, columns: Sequence[str], cells: int) -> NDArray[np.int64]:
    """Flat counts of joint slots, block by block where rows have several."""
    counts = np.zeros(cells, dtype=np.int64)
    rows = max(1, COMPILED_ROWS // widest(table, columns))
    for start in range(0, table.n_rows, rows):
        block = table.rows(slice(start, start + rows))
        counts += np.bincount(joint_slots(block, columns).values, minlength=cells)
    return counts


def compiled_counts(table: Table, columns: Sequence[str], cells: int) -> NDArray[np.int64]:
    """Flat counts of joint slots by compiled loops."""
    from tacit.count import _memory_kernels as kernels

    rows = max(1, BLOCK_ROWS // widest(table, columns))
    show_one = all(table.schema[name].shows == "one" for name in columns)
    counters = _Counters(cells)
    buffer = np.empty(rows, dtype=np.uint32)
    for start in range(0, table.n_rows, rows):
        here = slice(start, min(start + rows, table.n_rows))
        codes = buffer[: here.stop - start]
        if show_one:
            codes[:] = 0
            for name in columns:
                kernels.extend_codes(codes, table[name][here], np.uint32(table.schema[name].size))
        else:
            codes = joint_slots(table.rows(here), columns, kernels.cross_slots).values
        counters.add(codes)
    return counters.counts()


class _Counters:
    """Fast 32-bit counters, emptied into 64-bit ones before they could overflow."""

    def __init__(self, cells: int) -> None:
        from tacit.count import _memory_kernels as kernels

        self._add = kernels.add_to_histogram
        self._counts = np.zeros(cells, dtype=np.int64)
        # Rows of a large table rarely meet in a cell, so it needs no copies that keep them apart.
        copies = min(max(COPIED_COUNTERS // cells, 1), 4)
        self._fast = np.zeros((copies, cells), dtype=np.uint32)
        self._pending = 0

    def add(self, codes: NDArray[np.uint32]) -> None:
        if self._pending + len(codes) > FLUSH_ROWS:
            self._flush()
        self._add(codes, self._fast)
        self._pending += len(codes)

    def _flush(self) -> None:
        self._counts += self._fast.sum(axis=0, dtype=np.int64)
        self._fast[:] = 0
        self._pending = 0

    def counts(self) -> NDArray[np.int64]:
        self._flush()
        return self._counts
