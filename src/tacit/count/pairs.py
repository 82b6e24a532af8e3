"""All pairs of many columns at once: every answer becomes a row of bits, and a pair of answers a count of common bits.

A wide questionnaire has thousands of pairs of questions. Counted table by table every row would be gone through for each;
as bits, 64 rows meet in one word, and rows are gone through once whatever is asked. So parts of a table, as they come out
of a file or a database, are added up and need not be held. Longer combinations of single answers are counted the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.schema import Schema
from tacit.table import Table

# Below so many tables the planner's covers do as well, and need no bits.
FEWEST_TABLES = 64
WORD = 64
# Rows whose bits numpy goes through together: 200 columns of them stay in the second-level cache.
BLOCK_WORDS = 512
# Rows whose bits are packed at a time.
PACKED_ROWS = 1 << 20


class PairCounts:
    """How often any two answers of some columns go together, added up part by part."""

    def __init__(self, schema: Schema, columns: Sequence[str], *, compiled: bool) -> None:
        self._sizes = {name: schema[name].size for name in columns}
        # The last answer of a column is what the others leave over.
        self._starts = _starts({name: size - 1 for name, size in self._sizes.items()})
        indicators = sum(self._sizes.values()) - len(self._sizes)
        self._common = np.zeros((indicators + indicators % 2,) * 2, dtype=np.int64)
        self._indicators, self._compiled = indicators, compiled
        self._rows = 0

    def add(self, table: Table) -> None:
        """Count the rows of a table."""
        bits = np.zeros((len(self._common), -(-table.n_rows // WORD)), dtype=np.uint64)
        for name, start in self._starts.items():
            for answer in range(self._sizes[name] - 1):
                _pack(table[name] == answer, bits[start + answer])
        if self._compiled:
            from tacit.count._pair_kernels import add_common_bits

            add_common_bits(bits, self._common)
        else:
            _add_common_bits(bits, self._common)
        self._rows += table.n_rows

    def sums(self) -> list[NDArray[Any]]:
        """All that was added up."""
        return [self._common, np.array(self._rows)]

    def add_sums(self, sums: Sequence[NDArray[Any]]) -> None:
        """Add what was added up elsewhere."""
        common, rows = sums
        self._common += common.astype(np.int64)
        self._rows += int(rows)

    def tallies(self, column_sets: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        """Tallies of one or two of the columns each."""
        whole, starts = self._every_pair(), _starts(self._sizes)
        cut = {name: slice(start, start + self._sizes[name]) for name, start in starts.items()}
        made = []
        for columns in column_sets:
            if len(columns) == 2:
                made.append(np.ascontiguousarray(whole[cut[columns[0]], cut[columns[1]]]))
            else:
                made.append(np.diagonal(whole)[cut[columns[0]]].copy())
        return made

    def _every_pair(self) -> NDArray[np.int64]:
        """Counts of all pairs of answers, the last of each column included."""
        upper = np.triu(self._common[: self._indicators, : self._indicators])
        common = upper + np.triu(upper, 1).T
        return self._with_last(self._with_last(common).T)

    def _with_last(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows of indicators, made rows of all answers: the last is everyone less the others.

        Of a square of indicators "everyone" is how often each of them is shown; once its columns are complete, it is how
        often each answer is shown, which the columns of any one question add up to.
        """
        everyone = self._counts_of_slots(counts)
        rows = []
        for name, start in self._starts.items():
            indicators = counts[start : start + self._sizes[name] - 1]
            rows += [indicators, (everyone - indicators.sum(axis=0))[None]]
        return np.concatenate(rows)

    def _counts_of_slots(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        singles = np.diagonal(self._common)[: self._indicators]
        if counts.shape[1] == self._indicators:
            return singles
        slots: list[NDArray[np.int64]] = []
        for name, start in self._starts.items():
            indicators = singles[start : start + self._sizes[name] - 1]
            slots += [indicators, np.array([self._rows - indicators.sum()])]
        return np.concatenate(slots)


class CommonCounts:
    """How many rows show every answer of each of some combinations, added up part by part.

    ``combinations[which, place]`` are positions among `answers`, pairs of a column and a code; of columns that show one
    answer, or bits.
    """

    def __init__(self, answers: Sequence[tuple[str, int]], combinations: NDArray[np.int64], *, compiled: bool) -> None:
        self._answers, self._compiled = answers, compiled
        # In this order combinations that differ in their last answer only follow one another.
        self._order = np.lexsort(combinations.T[::-1])
        self._combinations = np.ascontiguousarray(combinations[self._order])
        self._common = np.zeros(len(combinations), dtype=np.int64)

    def add(self, table: Table) -> None:
        """Count the rows of a table."""
        for start in range(0, table.n_rows, PACKED_ROWS):
            rows = table.rows(slice(start, start + PACKED_ROWS))
            bits = np.zeros((len(self._answers), -(-rows.n_rows // WORD)), dtype=np.uint64)
            for row, (name, code) in enumerate(self._answers):
                column = rows[name]
                _pack(column[:, code] if column.ndim == 2 else column == code, bits[row])
            if self._compiled:
                from tacit.count._pair_kernels import add_common_to_all

                add_common_to_all(bits, self._combinations, self._common)
            else:
                _add_common_to_all(bits, self._combinations, self._common)

    def sums(self) -> list[NDArray[Any]]:
        """All that was added up."""
        return [self._common]

    def add_sums(self, sums: Sequence[NDArray[Any]]) -> None:
        """Add what was added up elsewhere."""
        self._common += sums[0].astype(np.int64)

    def counts(self) -> NDArray[np.int64]:
        """What was counted, in the order of the combinations."""
        counts = np.empty_like(self._common)
        counts[self._order] = self._common
        return counts


def _pack(shown: NDArray[np.bool_], words: NDArray[np.uint64]) -> None:
    packed = np.packbits(shown)
    words.view(np.uint8)[: len(packed)] = packed


def _add_common_to_all(bits: NDArray[np.uint64], combinations: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
    """Twin of the compiled loop."""
    for which, rows in enumerate(combinations):
        counts[which] += np.bitwise_count(np.bitwise_and.reduce(bits[rows], axis=0)).sum(dtype=np.int64)


def _starts(widths: Mapping[str, int]) -> dict[str, int]:
    """Where each column begins if all are laid side by side."""
    ends = np.cumsum(list(widths.values()))
    return {name: int(end) - width for (name, width), end in zip(widths.items(), ends, strict=True)}


def _add_common_bits(bits: NDArray[np.uint64], counts: NDArray[np.int64]) -> None:
    """Twin of the compiled loop."""
    for start in range(0, bits.shape[1], BLOCK_WORDS):
        block = bits[:, start : start + BLOCK_WORDS]
        for i in range(len(block)):
            counts[i, i:] += np.bitwise_count(block[i] & block[i:]).sum(axis=1, dtype=np.int64)


def pair_columns(schema: Schema, column_sets: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The columns of the sets that are one or two columns of single answers."""
    asked = {name for columns in column_sets if is_pair(schema, columns) for name in columns}
    return tuple(name for name in schema.names if name in asked)


def is_pair(schema: Schema, columns: Sequence[str]) -> bool:
    """Whether a table is of one or two columns that show one answer each."""
    return 1 <= len(columns) <= 2 and all(schema[name].shows == "one" for name in columns)
