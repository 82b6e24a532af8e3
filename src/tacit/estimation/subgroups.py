"""People whose answers lie within some conditions, broken down by further attributes and a target: what miners ask for.

A subgroup knows its estimated shares with their errors, covariances included, and the subgroups within it. Here its numbers
come from one estimated table after the other: for pooled sources, and for reports that are no product rows. The table of a
path of conditions, one more attribute and the target is estimated with its covariance, then summed over what meets the
conditions. Tables that would be too large, or are never asked together, are not told of. What the subgroups of a level need
is counted in one go, so the number of passes over the reports does not grow with the number of subgroups.

`row_subgroups.everybody` is the door. A model may stand in for the estimates. `ClassTables` are the tables below no condition
at all, for classifiers that split nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.count.protocol import Source
from tacit.count.remembered import RememberingEngine
from tacit.errors import InvalidInput, NotEstimable
from tacit.estimation.contributions import COVARIANCE_CELLS, nonempty_sources, tallied_columns
from tacit.estimation.mean import Mean, Wanted
from tacit.estimation.pooling import MOST_POOLED, never_together
from tacit.estimation.result import ErrorRule, Sampling
from tacit.estimation.sampled_sources import is_weighted, table_mean
from tacit.estimation.uncertainty import open_answers
from tacit.schema import Attribute, Schema

Codes = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class ClassShares:
    """Estimated shares of all people: of a whole subgroup, and of each class of the target within it.

    Variances and covariances are those of people sampled from a population; `disguise` is the covariance of the classes,
    `size_disguise` the variance of the size, for just the people who answered.
    """

    size: float
    size_variance: float
    size_disguise: float
    classes: Array
    covariance: Array
    disguise: Array


@dataclass(frozen=True, eq=False)
class AnswerTable:
    """Shares ``[answer, class]`` of all people, and the answers that the conditions leave."""

    attribute: Attribute
    shares: Array
    codes: Codes


# An attribute, and the answers of it that the conditions leave.
Choice = tuple[Attribute, Codes]


@dataclass(frozen=True, eq=False)
class AnswerBreakdown:
    """The tables with the target of all attributes that leave a choice, one behind the other.

    ``shares[attribute, answer, class]`` are zero beyond the answers of an attribute.
    """

    choices: tuple[Choice, ...]
    shares: Array

    @classmethod
    def of(cls, tables: Sequence[AnswerTable]) -> AnswerBreakdown:
        shape = [max((table.shares.shape[axis] for table in tables), default=0) for axis in (0, 1)]
        shares = np.zeros((len(tables), *shape))
        for padded, table in zip(shares, tables, strict=True):
            padded[: len(table.shares)] = table.shares
        return cls(tuple((table.attribute, table.codes) for table in tables), shares)

    def __len__(self) -> int:
        return len(self.choices)

    def __iter__(self) -> Iterator[AnswerTable]:
        return map(self.table, range(len(self)))

    def table(self, place: int) -> AnswerTable:
        attribute, codes = self.choices[place]
        return AnswerTable(attribute, self.shares[place, : attribute.size], codes)


class Subgroup(Protocol):
    """The people whose answers lie within a path of conditions, as far as the reports tell of them."""

    @property
    def by_level(self) -> bool:
        """Whether it pays to ask about many subgroups at once: then all are counted in one pass over the reports."""

    @property
    def error_rule(self) -> ErrorRule:
        """Which rule its errors follow."""

    def prepare(self, others: Sequence[Self]) -> None:
        """Count, in as few passes as possible, what splits of these people and of `others` need."""

    def shares(self) -> ClassShares: ...

    def by_answer(self) -> AnswerBreakdown:
        """For each attribute that leaves a choice, its table with the target, where they are told of together."""

    def covariance(self, attribute: Attribute, sampling: Sampling = "respondents") -> Array:
        """Covariance of an attribute's table: ``[answer, class, answer, class]``; for "respondents" of the disguise alone."""

    def within(self, attribute: Attribute, codes: Codes) -> Self:
        """Those of them who gave one of these answers."""


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
        nonempty_sources(self.origins)
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
            self._tables[wanted] = self._estimate_table(wanted)
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

    def _estimate_table(self, names: Sequence[str]) -> Mean | None:
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

    def _wanted_cells(self, table: Mean, names: Sequence[str]) -> Wanted:
        return Wanted.within(self.source.schema, table.names, names, self.path)

    def _covariance(self, table: Mean, names: Sequence[str], sampling: Sampling) -> Array:
        return table.numbers_covariance(self._wanted_cells(table, names), sampling)

    def shares(self) -> ClassShares:
        classes, size = self._table([self.target]), self._table([]) if self.path else None
        if classes is None or (self.path and size is None):
            raise NotEstimable(f"{', '.join([*self.path, self.target])} are never asked together.")
        estimates = classes.numbers(self._wanted_cells(classes, [self.target]))
        covariance, disguise = (
            self._covariance(classes, [self.target], each) for each in ("population", "respondents")
        )
        if size is None:
            return ClassShares(1.0, 0.0, 0.0, estimates, covariance, disguise)
        whole = float(size.numbers(self._wanted_cells(size, []))[0])
        errors = [float(self._covariance(size, [], each)[0, 0]) for each in ("population", "respondents")]
        return ClassShares(whole, max(errors[0], 0.0), max(errors[1], 0.0), estimates, covariance, disguise)

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
                shares = table.numbers(self._wanted_cells(table, names))
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


def effective_people(subgroup: Subgroup) -> float:
    """How many people asked openly would tell as much of tables of two attributes as all the disguised ones do."""
    numbers = []
    for table in subgroup.by_answer():
        shares, covariance = table.shares.reshape(-1), subgroup.covariance(table.attribute, "population")
        numbers.append(open_answers(shares, np.diagonal(covariance.reshape(len(shares), -1))))
    return float(np.median(numbers)) if numbers else 0.0


@dataclass(frozen=True, eq=False)
class OpenSubgroup:
    """A subgroup of a model of whole records, with the errors that counting `people` undisguised records would have.

    Its size is the model's too, but where all conditions so far are about public attributes: there the reports tell it, and
    `counted` are its people as they do.
    """

    model: Subgroup
    people: float
    counted: Subgroup | None = None
    public: frozenset[str] = frozenset()

    @property
    def by_level(self) -> bool:
        return self.model.by_level

    @property
    def error_rule(self) -> ErrorRule:
        return "model"

    def prepare(self, others: Sequence[OpenSubgroup]) -> None:
        self.model.prepare([other.model for other in others])
        counted_subgroups = [each.counted for each in (self, *others) if each.counted is not None]
        if counted_subgroups:
            counted_subgroups[0].prepare(counted_subgroups[1:])

    def shares(self) -> ClassShares:
        estimates = self.model.shares()
        size = min(max(estimates.size, 0.0), 1.0)
        spread = np.diag(estimates.classes)
        modelled = ClassShares(
            estimates.size, size * (1 - size) / self.people, 0.0, estimates.classes,
            (spread - np.multiply.outer(estimates.classes, estimates.classes)) / self.people, spread / self.people,
        )  # fmt: skip
        if self.counted is None:
            return modelled
        counted = self.counted.shares()
        return replace(
            modelled, size=counted.size, size_variance=counted.size_variance, size_disguise=counted.size_disguise
        )

    def by_answer(self) -> AnswerBreakdown:
        return self.model.by_answer()

    def covariance(self, attribute: Attribute, sampling: Sampling = "respondents") -> Array:
        """A model's counts are uncertain for those who answered as well, so there is always some spread."""
        shares = next(table.shares for table in self.by_answer() if table.attribute.name == attribute.name)
        p = shares.reshape(-1)
        sampled = np.multiply.outer(p, p) if sampling == "population" else 0.0
        return ((np.diag(p) - sampled) / self.people).reshape(*shares.shape, *shares.shape)

    def within(self, attribute: Attribute, codes: Codes) -> OpenSubgroup:
        counted = self.counted if attribute.name in self.public else None
        return OpenSubgroup(
            self.model.within(attribute, codes), self.people, counted and counted.within(attribute, codes), self.public
        )


@dataclass(frozen=True, eq=False)
class ModelledSubgroup:
    """A subgroup whose shares are those of a model, with the errors of what the reports tell without it."""

    model: Subgroup
    counted: Subgroup

    @property
    def by_level(self) -> bool:
        return self.model.by_level or self.counted.by_level

    @property
    def error_rule(self) -> ErrorRule:
        return self.counted.error_rule

    def prepare(self, others: Sequence[ModelledSubgroup]) -> None:
        self.model.prepare([other.model for other in others])
        self.counted.prepare([other.counted for other in others])

    def shares(self) -> ClassShares:
        estimates, counted = self.model.shares(), self.counted.shares()
        return replace(counted, size=estimates.size, classes=estimates.classes)

    def by_answer(self) -> AnswerBreakdown:
        return self.model.by_answer()

    def covariance(self, attribute: Attribute, sampling: Sampling = "respondents") -> Array:
        return self.counted.covariance(attribute, sampling)

    def within(self, attribute: Attribute, codes: Codes) -> ModelledSubgroup:
        return ModelledSubgroup(self.model.within(attribute, codes), self.counted.within(attribute, codes))


@dataclass(frozen=True, eq=False)
class ClassTable:
    """Estimated shares of all people, with the population's errors; `floors` are the errors of the disguise alone."""

    shares: Array
    errors: Array
    floors: Array
    n_reports: int

    @classmethod
    def of(cls, table: Mean) -> ClassTable:
        errors, floors = (np.sqrt(table.variances(sampling)) for sampling in ("population", "respondents"))
        return cls(table.probabilities, errors, floors, table.n_reports)

    def with_model_shares(self, shares: Array) -> ClassTable:
        """A model's shares in place of the estimates, whose errors they keep; a model hides nothing."""
        return replace(self, shares=shares, floors=np.zeros_like(shares))


@dataclass(frozen=True, eq=False)
class ClassTables:
    """The classes alone, and each attribute ``[answer, class]`` by its name; None where they are never asked together."""

    classes: ClassTable
    by_name: Mapping[str, ClassTable | None]

    @classmethod
    def of(cls, origins: Sequence[Source], schema: Schema, target: str) -> ClassTables:
        source = TableSource(tuple(origins), schema)
        classes = ClassTable.of(source.known_table([target], target))
        tables = {name: source.table([], [name, target], target) for name in schema.names if name != target}
        return cls(classes, {name: None if table is None else ClassTable.of(table) for name, table in tables.items()})

    def asked_tables(self) -> Iterator[tuple[str, ClassTable]]:
        """The tables that the reports tell of."""
        return ((name, table) for name, table in self.by_name.items() if table is not None)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The attributes that no report asks for together with the classes."""
        return tuple(name for name, table in self.by_name.items() if table is None)

    @property
    def effective_people(self) -> float:
        """How many people asked openly would tell as much of these tables as all the disguised ones do."""
        numbers = [open_answers(table.shares, table.errors**2) for _, table in self.asked_tables()]
        return float(np.median(numbers)) if numbers else 0.0
