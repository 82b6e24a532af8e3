"""Many tallies of coded rows in one go, whether all rows are in memory or come part by part."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.count.pairs import FEWEST_TABLES, PACKED_ROWS, PairCounts, is_pair, pair_columns
from tacit.count.planner import COVER_CELLS, Cover, margins, plan_covers
from tacit.schema import Schema
from tacit.table import Table

Counted = Callable[[Table, Sequence[str]], NDArray[np.int64]]

# Nanoseconds for one row, measured; they only choose between two ways to the same counts.
PACK_ONE, MEET_ONE, COVER, COVER_COLUMN, NUMPY_TABLE = 0.2, 0.003, 1.5, 0.6, 10.0


class ManyTallies:
    """Wanted tallies, added up part by part: pairs of many columns by their bits, all others by covers.

    `counted` counts some columns of a table; without `merge` it is asked for each wanted set on its own.
    """

    def __init__(
        self, schema: Schema, column_sets: Sequence[Sequence[str]], counted: Counted, *, merge: bool, compiled: bool
    ) -> None:
        self._sets, self._counted = column_sets, counted
        paired = set(_tables_of_bits(schema, column_sets, merge=merge))
        self._tables_of_bits = sorted(paired)
        self._others = [position for position in range(len(column_sets)) if position not in paired]
        self._plan = plan_covers([column_sets[position] for position in self._others], schema, merge=merge)
        self._counts: list[NDArray[np.int64]] | None = None
        columns = pair_columns(schema, [column_sets[position] for position in self._tables_of_bits])
        self._pairs = PairCounts(schema, columns, compiled=compiled) if columns else None

    def add(self, table: Table) -> None:
        """Count the rows of a table."""
        counts = [self._counted(table, cover.columns) for cover in self._plan]
        if self._counts is None:
            self._counts = counts
        else:
            self._counts = [before + more for before, more in zip(self._counts, counts, strict=True)]
        if self._pairs is not None:
            for start in range(0, table.n_rows, PACKED_ROWS):
                self._pairs.add(table.rows(slice(start, start + PACKED_ROWS)))

    def sums(self) -> list[NDArray[Any]]:
        """All that was added up: what is added to a counter of the same tallies that never saw these rows."""
        return [*(self._counts or []), *([] if self._pairs is None else self._pairs.sums())]

    def add_sums(self, sums: Sequence[NDArray[Any]]) -> None:
        """Add what was added up elsewhere."""
        counts = sums[: len(self._plan)]
        before = self._counts or [np.zeros_like(more, dtype=np.int64) for more in counts]
        self._counts = [total + more for total, more in zip(before, counts, strict=True)]
        if self._pairs is not None:
            self._pairs.add_sums(sums[len(self._plan) :])

    def tallies(self) -> list[NDArray[np.int64]]:
        """What was counted, in the order in which it was wanted."""
        others = margins(self._plan, self._counts or [], [self._sets[position] for position in self._others])
        made = dict(zip(self._others, others, strict=True))
        if self._pairs is not None:
            pairs = self._pairs.tallies([self._sets[position] for position in self._tables_of_bits])
            made.update(zip(self._tables_of_bits, pairs, strict=True))
        return [made[position] for position in range(len(self._sets))]


def _tables_of_bits(schema: Schema, column_sets: Sequence[Sequence[str]], *, merge: bool) -> list[int]:
    """The positions of the tables that bits count sooner."""
    pairs = [
        position
        for position, columns in enumerate(column_sets)
        if is_pair(schema, columns) and len(set(columns)) == len(columns)
    ]
    if len(pairs) < FEWEST_TABLES:
        return []
    wanted = [column_sets[position] for position in pairs]
    indicators = sum(schema[name].size - 1 for name in pair_columns(schema, wanted))
    by_bits = indicators * PACK_ONE + indicators**2 / 2 * MEET_ONE
    if not merge:
        return pairs if by_bits < NUMPY_TABLE * len(wanted) else []
    # A plan costs time itself, so it is made only where its least cost leaves the question open.
    is_less = by_bits < _least_by_covers(schema, wanted) or by_bits < _by_covers(schema, wanted)
    return pairs if is_less else []


def _by_covers(schema: Schema, wanted: Sequence[Sequence[str]]) -> float:
    plan: Sequence[Cover] = plan_covers(wanted, schema, merge=True)
    return sum(COVER + COVER_COLUMN * len(cover.columns) for cover in plan)


def _least_by_covers(schema: Schema, wanted: Sequence[Sequence[str]]) -> float:
    """What covers would cost if each were full of columns of the fewest answers and every pair of them were wanted."""
    fewest = min(schema[name].size for columns in wanted for name in columns)
    columns = max(int(math.log(COVER_CELLS, fewest)), 2)
    return len(wanted) / (columns * (columns + 1) / 2) * (COVER + COVER_COLUMN * columns)
