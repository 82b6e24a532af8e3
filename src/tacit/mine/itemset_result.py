"""Frequent itemsets as a result: what was found, how sure it is, and in the shape users of data frames know."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from tacit.count.remembered import Remembered
from tacit.display import Told, told_lines, with_error
from tacit.estimation import counted_once, estimate
from tacit.estimation.intervals import Interval, share_intervals
from tacit.estimation.sampled_sources import is_weighted
from tacit.estimation.supports import Supports
from tacit.mine.apriori import Candidates

ERRORS = "± is one standard error."
# Cells of a table whose own intervals its itemsets have.
TABLE_CELLS = 64


@dataclass(frozen=True)
class Itemset:
    """Answers that go together, and the estimated share of people who give all of them."""

    items: tuple[tuple[str, str], ...]  # attribute and answer
    support: float  # within [0, 1], and at most that of its parts where a certainty was asked for
    standard_error: float
    unbiased: float
    low: float  # ends of the interval of 95%, within [0, 1]
    high: float

    def __len__(self) -> int:
        return len(self.items)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"{attribute}={answer}" for attribute, answer in self.items)

    def to_document(self) -> dict[str, Any]:
        return {
            "items": dict(self.items),
            "support": self.support,
            "standard_error": self.standard_error,
            "unbiased": self.unbiased,
            "low": self.low,
            "high": self.high,
        }

    @property
    def line(self) -> str:
        """The itemset with its support; ± is one standard error."""
        return f"{', '.join(self.labels)}: {with_error(self.support, self.standard_error)}"

    def __str__(self) -> str:
        return f"{self.line} (± one standard error)"


@dataclass(frozen=True, eq=False, repr=False)
class Itemsets(Told):
    """The frequent itemsets, short ones first, each length by falling support.

    `unknown` says which combinations of attributes the reports hold no information about, `notes` which lengths their
    errors leave nothing of. Without a `certainty` everything estimated above the threshold is here.
    """

    found: tuple[Candidates, ...]
    supports: Supports = field(repr=False)
    min_support: float
    n_reports: int
    unknown: tuple[str, ...] = ()
    certainty: float | None = None
    notes: tuple[str, ...] = ()
    n_splits: int = 0  # of all itemsets that could have been listed: the rules that were tried

    def __len__(self) -> int:
        return sum(len(candidates.codes) for candidates in self.found)

    def __iter__(self) -> Iterator[Itemset]:
        itemsets = [itemset for candidates in self.found for itemset in self._of(candidates)]
        return iter(sorted(itemsets, key=lambda itemset: (len(itemset), -itemset.support)))

    def _of(self, candidates: Candidates) -> Iterator[Itemset]:
        attributes = [self.supports.schema[name] for name in candidates.names]
        shares = np.clip(candidates.supports, 0, 1) if candidates.shares is None else candidates.shares
        ends = self._intervals(candidates)
        numbers = np.column_stack([shares, candidates.errors, candidates.supports, ends.low, ends.high])
        for row, figures in zip(candidates.codes, numbers.tolist(), strict=True):
            items = tuple((a.name, a.answers[code]) for a, code in zip(attributes, row, strict=True))
            yield Itemset(items, *figures)

    def _intervals(self, candidates: Candidates) -> Interval:
        """Those of the cells of a table, where it is small; else from the errors alone."""
        if candidates.names not in self._table_intervals:
            return share_intervals(
                candidates.supports, candidates.errors, np.full(len(candidates.codes), float(self.n_reports))
            )
        table, cells = self._table_intervals[candidates.names], tuple(candidates.codes.T)
        return Interval(table.low[cells], table.high[cells], table.level)

    @cached_property
    def _table_intervals(self) -> dict[tuple[str, ...], Interval]:
        """The intervals of all small tables, counted in as few passes as possible."""
        schema, origins = self.supports.schema, self.supports.origins
        listed = dict.fromkeys(candidates.names for candidates in self.found if origins)
        # The law of a table that is pooled takes long, so that only single answers have it.
        longest = 1 if len(origins) > 1 else len(schema)
        small = [n for n in listed if len(n) <= longest and math.prod(schema.shape(n)) <= TABLE_CELLS]
        if not small:
            return {}
        reports = Remembered(tuple(origins))
        counted = reports if is_weighted(origins) else counted_once(reports, small)
        return {names: estimate(counted, names).interval() for names in small}

    def counts(self) -> dict[int, int]:
        """How many itemsets there are of each length."""
        named: dict[int, int] = {}
        for candidates in self.found:
            named[len(candidates.names)] = named.get(len(candidates.names), 0) + len(candidates.codes)
        return dict(sorted(named.items()))

    def to_document(self) -> list[dict[str, Any]]:
        return [itemset.to_document() for itemset in self]

    def to_arrow(self) -> Any:
        """Columns ``support`` and ``itemsets`` (lists of ``attribute=answer``) as in mlxtend, and ``standard_error``."""
        rows = list(self)
        return pa.table(
            {
                "support": pa.array([row.support for row in rows], pa.float64()),
                "itemsets": pa.array([list(row.labels) for row in rows], pa.list_(pa.string())),
                "standard_error": pa.array([row.standard_error for row in rows], pa.float64()),
            }
        )

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """The columns of `to_arrow` as a pandas frame, the itemsets as frozen sets."""
        frame = self.to_arrow().to_pandas()
        frame["itemsets"] = frame["itemsets"].map(frozenset)
        return frame

    def __str__(self) -> str:
        return told_lines([itemset.line for itemset in self], ERRORS) if len(self) else "No itemset is listed."

    def __repr__(self) -> str:
        return f"<Itemsets: {len(self):,} of support at least {self.min_support:g} in {self.n_reports:,} reports>"
