"""Where a miner's numbers come from: one joint estimate, one source asked as needed, or several sources pooled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, Self

import numpy as np

from tacit.channel.base import Array
from tacit.count.protocol import Source
from tacit.count.sources import ReportSource, sources
from tacit.errors import InvalidInput, NotEstimable
from tacit.estimation import true_schema
from tacit.estimation.conditional_tables import JOINT_CELLS, ConditionedTable, ConditionedTables
from tacit.estimation.inversion import COVARIANCE_CELLS
from tacit.estimation.pooling import MOST_POOLED, pooled
from tacit.mine.cells import JointTables, Method
from tacit.mine.people import (
    Codes,
    DisguiseVariances,
    NodeShares,
    Path,
    People,
    allowed_codes,
    independent_variances,
    narrowed,
)
from tacit.schema import Attribute, Schema


class NodeTables(Protocol):
    """Reports, as a miner sees them."""

    @property
    def schema(self) -> Schema:
        """What is asked."""

    @property
    def n_reports(self) -> int: ...

    @property
    def is_inverted(self) -> bool:
        """Whether estimates are those of inversion, to which the errors belong."""

    def people(self, target: str) -> People:
        """Everybody, by the classes of a target attribute."""


class PathTables(Protocol):
    """Shares within a path, broken down by further attributes."""

    @property
    def schema(self) -> Schema: ...

    def tables(self, path: Path, free: Sequence[Sequence[str]]) -> list[ConditionedTable | None]:
        """One table for each list of attributes; None where they are never asked together with the path."""

    def disguise_variance(self, table: ConditionedTable) -> Array:
        """Of just the people who answered, where that is known."""


@dataclass(frozen=True, eq=False)
class PathPeople:
    """People within a path whose every number is asked for when it is needed."""

    tables: PathTables
    target: str
    path: Path

    def shares(self) -> NodeShares:
        classes, size = self.tables.tables(self.path, [[self.target], []])
        if classes is None or size is None:
            raise NotEstimable(f"{', '.join([*self.path, self.target])} are never asked together.")
        return NodeShares(
            float(size.probabilities),
            float(size.population_variance),
            classes.probabilities,
            classes.population_variance,
            DisguiseVariances(self.tables.disguise_variance(classes), self.tables.disguise_variance(size)),
        )

    def by_answer(self) -> list[tuple[Attribute, Array, Codes]]:
        others = [attribute for attribute in self.tables.schema if attribute.name != self.target]
        free = [attribute for attribute in others if len(allowed_codes(self.path, attribute)) > 1]
        found = self.tables.tables(self.path, [[attribute.name, self.target] for attribute in free])
        return [
            (attribute, table.probabilities, allowed_codes(self.path, attribute))
            for attribute, table in zip(free, found, strict=True)
            if table is not None
        ]

    def contrast_variances(self, attribute: Attribute, branches: Sequence[Codes], contrasts: Array) -> Array:
        classes, totals = [], []
        for codes in branches:
            found = self.tables.tables(narrowed(self.path, attribute, codes), [[self.target], []])
            by_class, whole = (self.tables.disguise_variance(table) for table in found if table is not None)
            classes.append(by_class)
            totals.append(whole)
        return independent_variances(DisguiseVariances(np.stack(classes), np.stack(totals)), contrasts)

    def within(self, attribute: Attribute, codes: Codes) -> Self:
        return replace(self, path=narrowed(self.path, attribute, codes))


@dataclass(frozen=True, eq=False)
class SourceTables:
    """One source of any size: one pass over it for every node."""

    source: Source
    schema: Schema

    @property
    def n_reports(self) -> int:
        return self.source.engine.n_rows

    @cached_property
    def _conditioned(self) -> ConditionedTables:
        return ConditionedTables(self.source)

    @property
    def is_inverted(self) -> bool:
        return True

    def people(self, target: str) -> People:
        return PathPeople(self, target, {})

    def tables(self, path: Path, free: Sequence[Sequence[str]]) -> list[ConditionedTable | None]:
        try:
            return [*self._conditioned.tables(path, free)]
        except NotEstimable:
            if not path:
                raise
            return [self._table_if_any(path, names) for names in free]  # a long path may be more than a report tells

    def _table_if_any(self, path: Path, names: Sequence[str]) -> ConditionedTable | None:
        try:
            return self._conditioned.table(path, names)
        except NotEstimable:
            return None

    def disguise_variance(self, table: ConditionedTable) -> Array:
        return table.respondents_variance


@dataclass(frozen=True, eq=False)
class PooledTables:
    """Several sources: tables over the path and the wanted attributes, pooled by their information.

    Who is in which table is chance too, so the error for just these people is not known: the population's stands for it.
    """

    found: tuple[Source, ...]
    schema: Schema

    @property
    def n_reports(self) -> int:
        return sum(source.engine.n_rows for source in self.found)

    @property
    def is_inverted(self) -> bool:
        return True

    def people(self, target: str) -> People:
        return PathPeople(self, target, {})

    def tables(self, path: Path, free: Sequence[Sequence[str]]) -> list[ConditionedTable | None]:
        return [self._table(path, names) for names in free]

    def _table(self, path: Path, names: Sequence[str]) -> ConditionedTable | None:
        if not path and not names:
            return ConditionedTable(np.ones(()), np.ones(()), self.n_reports)  # everybody
        asked = [*path, *(name for name in names if name not in path)]
        shape = self.schema.shape(asked)
        if len(asked) > MOST_POOLED or math.prod(shape) > COVARIANCE_CELLS:
            return None
        try:
            joint = pooled(self.found, asked, shape)
        except NotEstimable:
            return None
        # Cells of the path are summed away; their errors add up, covariances included.
        keep: Array = np.ones((1, 1))
        for name in asked:
            size = self.schema[name].size
            within = path[name].astype(np.float64) if name in path else np.ones(size)
            of_attribute = np.diag(within) if name in names else within[None, :]
            keep = np.kron(keep, of_attribute).astype(np.float64)
        p = keep @ joint.probabilities.reshape(-1)
        variance = np.einsum("cu,uw,cw->c", keep, joint.covariance, keep, optimize=True)
        order = [name for name in asked if name in names]
        squares = variance * (self.n_reports - 1) + p**2
        table = [values.reshape(self.schema.shape(order)) for values in (p, squares)]
        places = [order.index(name) for name in names]
        return ConditionedTable(table[0].transpose(places), table[1].transpose(places), self.n_reports)

    def disguise_variance(self, table: ConditionedTable) -> Array:
        return table.population_variance


def node_tables(reports: ReportSource | Sequence[ReportSource], method: Method = "inversion") -> NodeTables:
    """The numbers behind a model: in one table where it fits, else asked for as needed, by inversion."""
    found, schema = ordered_sources(reports)
    # Questions of which each respondent reports only some: table by table, as far as they go.
    if len(found) > 1 or not _tells_all(found[0]):
        if method == "likelihood":
            raise InvalidInput("Likelihood needs reports of a single scheme without questionnaires. Use inversion.")
        return PooledTables(found, schema)
    (source,) = found
    cells = math.prod(schema.shape())
    tally = math.prod(column.tally_size for column in source.engine.schema)
    # Where contributions do not sum to one over the answers, as with bits, a sum of cells would be a poorer estimate.
    sums_to_one = all(group.channel.sums_to_one for group in source.questionnaire.groups)
    if max(cells, tally) <= JOINT_CELLS and sums_to_one:
        return JointTables.of(source, schema, method)
    if method == "likelihood":
        raise InvalidInput(
            f"The joint table of all attributes has {cells:.3g} cells, too many for its likelihood (at most {JOINT_CELLS:,}). "
            "Leave attributes out, or use inversion."
        )
    return SourceTables(source, schema)


def _tells_all(source: Source) -> bool:
    """Whether no routed group is dealt in parts, so that all its answers have a joint estimate."""
    routed = [group for group in source.questionnaire.groups if group.records is not None]
    return all(group.channel.margin(range(len(group.names))).is_invertible() for group in routed)


def ordered_sources(reports: ReportSource | Sequence[ReportSource]) -> tuple[tuple[Source, ...], Schema]:
    """The tables to count, and their attributes as the scheme lists them: ties are broken alike however they are grouped."""
    found = sources(reports)
    schema = true_schema(found)
    parts = reports if isinstance(reports, Sequence) else [reports]
    listed = [name for part in parts if hasattr(part, "scheme") for name in part.scheme.schema.names]
    order = dict.fromkeys([*(name for name in listed if name in schema), *schema.names])
    return found, schema.select(order)
