"""Supports from estimated tables: for any channels and any mix of sources, one table per set of attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.count.protocol import Source
from tacit.count.remembered import Remembered, RememberingEngine
from tacit.count.shown_counts import Level
from tacit.count.sources import true_schema
from tacit.errors import NotEstimable
from tacit.estimation import estimate
from tacit.estimation.contributions import tallied_columns
from tacit.estimation.result import ErrorRule, TableEstimate
from tacit.estimation.sampled_sources import is_weighted
from tacit.estimation.sub_itemsets import Codes, Names, checked_length, members
from tacit.schema import Schema


@dataclass(eq=False)
class TableSupports:
    """Supports read off `tacit.estimate` tables; what those of a level need is counted in one go."""

    origins: tuple[Source, ...]
    _engines: list[RememberingEngine] = field(init=False)
    _tables: dict[Names, TableEstimate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Weighted tallies are counts already.
        self._engines = [] if is_weighted(self.origins) else [RememberingEngine.of(s.engine, []) for s in self.origins]

    @cached_property
    def schema(self) -> Schema:
        return true_schema(self.origins)

    @property
    def error_rule(self) -> ErrorRule:
        return "design" if is_weighted(self.origins) else "law"

    @property
    def n_reports(self) -> int:
        return sum(source.engine.n_rows for source in self.origins)

    def _table(self, names: Names) -> TableEstimate:
        if names not in self._tables:
            counted = zip(self.origins, self._engines, strict=bool(self._engines))
            reports = Remembered(tuple(replace(source, engine=engine) for source, engine in counted) or self.origins)
            self._tables[names] = estimate(reports, names)
        return self._tables[names]

    def known(self, level: Level) -> tuple[Level, list[str]]:
        self.prepare(level)
        told, reasons = {}, []
        for names, codes in level.items():
            try:
                self._table(names)
                told[names] = codes
            except NotEstimable as error:
                reasons.append(str(error))
        return told, reasons

    def keep(self, answers: Mapping[str, NDArray[np.int64]]) -> None:
        """Tables are estimated whole."""

    def prepare(self, level: Level) -> None:
        new = [names for names in level if names not in self._tables]
        counted = zip(self.origins, self._engines, strict=bool(self._engines))
        self._engines = [engine.with_tallies(tallied_columns(source, new)) for source, engine in counted]

    def estimates(self, names: Names, codes: Codes) -> tuple[Array, Array]:
        table, cells = self._table(names), tuple(codes.T)
        return table.unbiased[cells], table.standard_errors[cells]

    def level_estimates(self, level: Level) -> Mapping[Names, tuple[Array, Array]]:
        return {names: self.estimates(names, codes) for names, codes in level.items()}

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
