"""Counting from tables that were counted before: what a saved tally up to an order, or of chosen tables, holds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.count.protocol import Product, SparseTally, Totals, checked_single
from tacit.count.totals import checked_products, columns_of, moments_of_tally
from tacit.errors import NotEstimable
from tacit.schema import Schema

Names = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class TabledEngine:
    """Answers what the margins of its tables answer, and says which columns it lacks."""

    schema: Schema
    n_rows: int
    tables: Mapping[Names, NDArray[np.int64]]

    def tally(self, columns: Sequence[str]) -> NDArray[np.int64]:
        if not columns:
            return np.array(self.n_rows, dtype=np.int64)
        names = self._holding(columns)
        if names is None:
            raise NotEstimable(
                f"This tally does not hold {', '.join(columns)}{' together' * (len(columns) > 1)}. It holds: "
                f"{self._contents()}. Tally the reports again with {'these together' if len(columns) > 1 else 'it'} "
                "(--tables, a higher --order, or --whole)."
            )
        return self._margin(names, columns)

    @cached_property
    def _exactly(self) -> dict[frozenset[str], Names]:
        return {frozenset(names): names for names in self.tables}

    @cached_property
    def _with_column(self) -> dict[str, set[Names]]:
        tables: dict[str, set[Names]] = {}
        for names in self.tables:
            for name in names:
                tables.setdefault(name, set()).add(names)
        return tables

    def _holding(self, columns: Sequence[str]) -> Names | None:
        """The smallest table with these columns; the table of just them is found at once."""
        wanted = frozenset(columns)
        if wanted in self._exactly:
            return self._exactly[wanted]
        holding = set.intersection(*(self._with_column.get(name, set()) for name in wanted)) if wanted else self.tables
        return min(holding, key=lambda each: math.prod(self.tables[each].shape)) if holding else None

    def holds(self, columns: Sequence[str]) -> bool:
        """Whether these columns are counted together."""
        return self._holding(columns) is not None

    def _margin(self, names: Names, columns: Sequence[str]) -> NDArray[np.int64]:
        counts: NDArray[np.int64] = self.tables[names]
        for axis in reversed(range(len(names))):
            if names[axis] not in columns:
                # A set or bits count every report in their last slot; single answers add up to all reports.
                single = self.schema[names[axis]].shows == "one"
                counts = np.asarray(counts.sum(axis=axis) if single else counts.take(-1, axis=axis))
        remaining = [name for name in names if name in columns]
        return np.ascontiguousarray(counts.transpose([remaining.index(name) for name in columns]))

    def _contents(self, most: int = 6) -> str:
        tables = [" with ".join(names) for names in self.tables]
        more = f" and {len(tables) - most:,} more tables" if len(tables) > most else ""
        return "; ".join(tables[:most]) + more

    def tallies(self, column_sets: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        return [self.tally(columns) for columns in column_sets]

    def sparse_tally(self, columns: Sequence[str]) -> SparseTally:
        checked_single(self.schema, columns)
        counts = self.tally(columns)
        codes = np.argwhere(counts)
        return SparseTally(tuple(columns), codes.astype(np.int64), counts[tuple(codes.T)])

    def totals(self, products: Sequence[Product]) -> Totals:
        checked_products(self.schema, products)
        moments = np.array([self._moments(product) for product in products]).reshape(-1, 2)
        return Totals(moments[:, 0], moments[:, 1])

    def _moments(self, product: Product) -> tuple[float, float]:
        columns = columns_of(product)
        set_columns = [name for name in columns if self.schema[name].shows != "one"]
        if set_columns:
            raise NotEstimable(
                f"Reports of {', '.join(set_columns)} show sets or bits; their errors need whole reports, which this tally does "
                "not hold. Tally the reports again with --whole."
            )
        return moments_of_tally(self.tally(columns), columns, product)
