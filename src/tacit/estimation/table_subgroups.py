"""Subgroups from one estimated table after the other: for pooled sources, and for reports that are no product rows.

The table of a path of conditions, one more attribute and the target is estimated with its covariance, then summed over what
meets the conditions. Tables that would be too large, or are never asked together, are not told of. What the subgroups of a
level need is counted in one go, so the number of passes over the reports does not grow with the number of subgroups.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.count.protocol import Source
from tacit.count.remembered import RememberingEngine
from tacit.errors import InvalidInput, NotEstimable
from tacit.estimation.contributions import COVARIANCE_CELLS, filled, tallied_columns
from tacit.estimation.mean import Mean, Wanted
from tacit.estimation.pooling import MOST_POOLED, never_together
from tacit.estimation.result import ErrorRule, Sampling
from tacit.estimation.sampled_sources import is_weighted, table_mean
from tacit.estimation.subgroup_numbers import AnswerBreakdown, AnswerTable, ClassShares, Codes
from tacit.schema import Attribute, Schema

Path = Mapping[str, NDArray[np.bool_]]
# Cells of a table whose covariance is written out for a single split.
MOST_CELLS = 1 << 11


@dataclass(eq=False)
class TableSource:
    """Estimates tables of some sources, and keeps what was counted for the conditions that were asked about."""

    origins: tuple[Source, ...]
    schema: Schema
    _engines: list[RememberingEngine] = field(init=False, repr=False)
    _prepared: set[tuple[str, ...]] = field(default_factory=set, repr=False)
    _tables: dict[tuple[str, ...], Mean | None] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        filled(self.origins)
        # Weighted tallies are counts already.
        self._engines = [] if is_weighted(self.origins) else [RememberingEngine.of(s.engine, []) for s in self.origins]

    @property
    def n_reports(self) -> int:
        return sum(source.engine.n_rows for source in self.origins)

    def table(self, conditions: Sequence[str], names: Sequence[str], target: str) -> Mean | None:
        """The table of some conditions' attributes and some more; None where it is not told of."""
        wanted = (*conditions, *(name for name in names if name not in conditions))
        if wanted not in self._tables:
            if self._may_be_told(wanted) and not self._is_counted(wanted):
                self.prepare([conditions], target)
            self._tables[wanted] = self._estimated(wanted)
        return self._tables[wanted]

    def known_table(self, names: Sequence[str], target: str) -> Mean:
        """A table without which nothing can be said: refused with the reason where it is not told of."""
        table = self.table([], names, target)
        if table is None:
            raise NotEstimable(never_together(names))
        return table

    def prepare(self, level: Sequence[Sequence[str]], target: str) -> None:
        """Count in one go everything that splits below each of these sets of conditions need."""
        new = dict.fromkeys(tuple(conditions) for conditions in level if tuple(conditions) not in self._prepared)
        self._prepared.update(new)
        wanted = [names for conditions in new for names in self._below(conditions, target)]
        counted = zip(self.origins, self._engines, strict=bool(self._engines))
        self._engines = [engine.with_tallies(tallied_columns(source, wanted)) for source, engine in counted]

    def _below(self, conditions: Sequence[str], target: str) -> list[list[str]]:
        """The tables of a split below these conditions."""
        others = [name for name in self.schema.names if name != target and name not in conditions]
        tables = [[*conditions, target], *([*conditions, name, target] for name in others)]
        return [names for names in tables if self._may_be_told(names)]

    def _is_counted(self, names: Sequence[str]) -> bool:
        """Whether an estimate of the table needs no more than was counted; what a level above asked for often does."""
        return all(
            engine.holds(columns)
            for source, engine in zip(self.origins, self._engines, strict=bool(self._engines))
            for columns in tallied_columns(source, [names])
        )

    def _may_be_told(self, names: Sequence[str]) -> bool:
        """Whether a table is so small that it is estimated at all."""
        if len(self.origins) > 1 and len(names) > MOST_POOLED:
            return False
        return len(names) <= 2 or math.prod(self.schema.shape(names)) <= MOST_CELLS

    def _estimated(self, names: Sequence[str]) -> Mean | None:
        if not self._may_be_told(names):
            return None
        counted = zip(self.origins, self._engines, strict=bool(self._engines))
        origins = [replace(source, engine=engine) for source, engine in counted] or list(self.origins)
        try:
            table = table_mean(origins, names, self.schema.shape(names))
            _ = table.probabilities  # a channel may tell too little of so many attributes together
        except (NotEstimable, InvalidInput):
            if len(names) == 1 or (len(names) == 2 and len(origins) == 1):
                raise  # asked in vain: the channel says why
            return None
        return table


@dataclass(frozen=True, eq=False)
class TableSubgroup:
    """A subgroup whose numbers are summed from estimated tables."""

    source: TableSource
    target: str
    path: Path

    @property
    def by_level(self) -> bool:
        return True

    @property
    def error_rule(self) -> ErrorRule:
        return self.source.known_table([self.target], self.target).rule

    def prepare(self, others: Sequence[TableSubgroup]) -> None:
        self.source.prepare([group._conditions for group in (self, *others)], self.target)

    @property
    def _conditions(self) -> list[str]:
        return [name for name in self.source.schema.names if name in self.path]

    def _table(self, names: Sequence[str]) -> Mean | None:
        return self.source.table(self._conditions, names, self.target)

    def _wanted(self, table: Mean, names: Sequence[str]) -> Wanted:
        return Wanted.within(self.source.schema, table.names, names, self.path)

    def _covariance(self, table: Mean, names: Sequence[str], sampling: Sampling) -> Array:
        return table.numbers_covariance(self._wanted(table, names), sampling)

    def shares(self) -> ClassShares:
        classes, size = self._table([self.target]), self._table([]) if self.path else None
        if classes is None or (self.path and size is None):
            raise NotEstimable(f"{', '.join([*self.path, self.target])} are never asked together.")
        own = classes.numbers(self._wanted(classes, [self.target]))
        covariance, disguise = (
            self._covariance(classes, [self.target], each) for each in ("population", "respondents")
        )
        if size is None:
            return ClassShares(1.0, 0.0, 0.0, own, covariance, disguise)
        whole = float(size.numbers(self._wanted(size, []))[0])
        errors = [float(self._covariance(size, [], each)[0, 0]) for each in ("population", "respondents")]
        return ClassShares(whole, max(errors[0], 0.0), max(errors[1], 0.0), own, covariance, disguise)

    def by_answer(self) -> AnswerBreakdown:
        tables = []
        for attribute in self.source.schema:
            allowed = self.path.get(attribute.name, np.ones(attribute.size, dtype=np.bool_))
            codes = tuple(allowed.nonzero()[0].tolist())
            names = [attribute.name, self.target]
            if attribute.name == self.target or len(codes) < 2:
                continue
            if math.prod(self.source.schema.shape(names)) > COVARIANCE_CELLS:
                continue  # without errors nothing could be believed of it
            table = self._table(names)
            if table is not None:
                shares = table.numbers(self._wanted(table, names))
                tables.append(AnswerTable(attribute, shares.reshape(attribute.size, -1), codes))
        return AnswerBreakdown.of(tables)

    def covariance(self, attribute: Attribute, sampling: Sampling = "respondents") -> Array:
        names = [attribute.name, self.target]
        table = self._table(names)
        assert table is not None, "only tables that are listed by answer have errors"
        shape = self.source.schema.shape(names)
        return self._covariance(table, names, sampling).reshape(*shape, *shape)

    def within(self, attribute: Attribute, codes: Codes) -> TableSubgroup:
        mask = np.zeros(attribute.size, dtype=np.bool_)
        mask[list(codes)] = True
        return replace(self, path={**self.path, attribute.name: mask})
