"""Supports from estimated tables: for any channels and any mix of sources, one table per set of attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.count.protocol import Source
from tacit.errors import NotEstimable
from tacit.estimation import estimate
from tacit.estimation.result import TableEstimate
from tacit.mine.shown_counts import Level
from tacit.mine.sub_itemsets import Codes, Names, checked_length, members
from tacit.mine.supports import asked_schema
from tacit.schema import Schema


@dataclass(frozen=True, eq=False)
class Counted:
    """Sources, as something that can be estimated from."""

    found: tuple[Source, ...]

    def sources(self) -> tuple[Source, ...]:
        return self.found


@dataclass(frozen=True, eq=False)
class TableSupports:
    """Supports read off `tacit.estimate` tables."""

    found: tuple[Source, ...]
    _tables: dict[Names, TableEstimate] = field(default_factory=dict)

    @cached_property
    def schema(self) -> Schema:
        return asked_schema(self.found)

    @property
    def n_reports(self) -> int:
        return sum(source.engine.n_rows for source in self.found)

    def _table(self, names: Names) -> TableEstimate:
        if names not in self._tables:
            self._tables[names] = estimate(Counted(self.found), names)
        return self._tables[names]

    def why_not(self, names: Names) -> str | None:
        try:
            self._table(names)
        except NotEstimable as error:
            return str(error)
        return None

    def keep(self, answers: Mapping[str, NDArray[np.int64]]) -> None:
        """Tables are estimated whole."""

    def prepare(self, level: Level) -> None:
        """Tables are estimated when they are first asked for."""

    def estimates(self, names: Names, codes: Codes) -> tuple[Array, Array]:
        table, cells = self._table(names), tuple(codes.T)
        return table.unbiased[cells], table.standard_errors[cells]

    def covariances(self, names: Names, codes: Codes) -> Array:
        checked_length(len(names))
        table = self._table(names)
        cells = np.indices(table.unbiased.shape).reshape(len(names), -1)
        inside = members(len(names))
        matrices = []
        for row in codes:
            agrees = cells == row[:, None]
            # Sub-itemset by cell: the cells that a sub-itemset sums are those that agree with all of its answers.
            summed = (agrees[None] | ~inside[:, :, None]).all(axis=1).astype(np.float64)
            matrices.append(summed @ table.covariance @ summed.T)
        return np.array(matrices)
