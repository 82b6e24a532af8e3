"""Counting coded tables in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.count.protocol import Product, SparseTally, Totals, checked_cells
from tacit.errors import InvalidInput
from tacit.schema import Attribute, Schema
from tacit.table import Table


@dataclass(frozen=True, eq=False)
class MemoryEngine:
    """Counts a table of codes."""

    table: Table

    @property
    def schema(self) -> Schema:
        return self.table.schema

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    def tally(self, columns: Sequence[str]) -> NDArray[np.int64]:
        shape = checked_cells(self.schema, columns)
        sets = [position for position, name in enumerate(columns) if self.schema[name].shows != "one"]
        if sets:
            return self._tally_sets(columns, shape)
        cells = np.zeros(self.n_rows, dtype=np.int64)
        for name, size in zip(columns, shape, strict=True):
            cells *= size
            cells += self.table[name]
        return np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)

    def _tally_sets(self, columns: Sequence[str], shape: tuple[int, ...]) -> NDArray[np.int64]:
        counts = np.zeros(shape, dtype=np.int64)
        rows = 1 << 14
        letters = "abcdefghijklmnopqrstuvw"[: len(columns)]
        formula = ",".join("z" + letter for letter in letters) + "->" + letters
        for start in range(0, self.n_rows, rows):
            part = self.table.rows(slice(start, start + rows))
            shown = [slots(part[name], self.schema[name]) for name in columns]
            counts += np.einsum(formula, *shown, optimize=True).astype(np.int64)
        return counts

    def tallies(self, column_sets: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        return [self.tally(columns) for columns in column_sets]

    def sparse_tally(self, columns: Sequence[str]) -> SparseTally:
        for name in columns:
            if self.schema[name].shows != "one":
                raise InvalidInput(f"{name!r} shows a set; only columns with one answer have a sparse tally.")
        stacked = np.stack([self.table[name].astype(np.int64) for name in columns], axis=1)
        codes, counts = np.unique(stacked, axis=0, return_counts=True)
        return SparseTally(tuple(columns), codes, counts)

    def totals(self, products: Sequence[Product]) -> Totals:
        sums, squares = np.zeros(len(products)), np.zeros(len(products))
        for position, product in enumerate(products):
            values = np.ones(self.n_rows)
            for columns, weights in product:
                values *= self._factor(columns, weights)
            sums[position], squares[position] = values.sum(), (values**2).sum()
        return Totals(sums, squares)

    def _factor(self, columns: tuple[str, ...], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        if any(self.schema[name].shows != "one" for name in columns):
            (name,) = columns
            return slots(self.table[name], self.schema[name]) @ weights
        return weights[tuple(self.table[name] for name in columns)]


def slots(codes: NDArray[Any], attribute: Attribute) -> NDArray[np.float64]:
    """The slots of a tally that each row adds to, as indicators."""
    indicators = np.zeros((len(codes), attribute.tally_size))
    if attribute.shows == "one":
        indicators[np.arange(len(codes)), codes] = 1
        return indicators
    indicators[:, -1] = 1
    if attribute.shows == "bits":
        indicators[:, :-1] = codes
    else:
        np.put_along_axis(indicators, codes.astype(np.intp), 1, axis=1)
    return indicators
