"""Where a miner's numbers come from: shares of people within a path of conditions, from one source or several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.channel.protocol import Array
from tacit.count.protocol import Source
from tacit.count.sources import ReportSource, sources
from tacit.errors import InvalidInput
from tacit.estimate import true_schema
from tacit.estimate.conditioned import JOINT_CELLS, ConditionedTable, ConditionedTables
from tacit.estimate.inversion import inverted
from tacit.estimate.likelihood import most_likely
from tacit.estimate.pooling import pooled
from tacit.schema import Schema

Path = Mapping[str, NDArray[np.bool_]]


class NodeTables(Protocol):
    """Estimated shares of all people within a path, broken down by further attributes."""

    @property
    def schema(self) -> Schema:
        """What is asked."""

    @property
    def n_reports(self) -> int: ...

    def shares(self, path: Path, names: Sequence[str]) -> Array:
        """The shares alone, one axis per name."""

    def table(self, path: Path, names: Sequence[str]) -> ConditionedTable:
        """The shares with what their errors need."""


@dataclass(frozen=True, eq=False)
class JointTables:
    """One source whose joint table fits memory: every share is a sum over one estimate of all attributes.

    With `likelihood` the estimate is the most likely distribution; errors are those of the inversion all the same.
    """

    source: Source
    schema: Schema
    likelihood: bool = False

    @property
    def n_reports(self) -> int:
        return self.source.engine.n_rows

    @cached_property
    def joint(self) -> Array:
        names = self.schema.names
        if self.likelihood:
            return most_likely([self.source], names, lambda name: self.schema[name].size).distribution
        return np.ascontiguousarray(inverted(self.source, names).probabilities)

    @cached_property
    def _conditioned(self) -> ConditionedTables:
        return ConditionedTables(self.source)

    def shares(self, path: Path, names: Sequence[str]) -> Array:
        order = self.schema.names
        table = self.joint
        for axis, name in enumerate(order):
            if name in path:
                table = np.take(table, np.flatnonzero(path[name]), axis=axis)
        others = tuple(axis for axis, name in enumerate(order) if name not in names)
        kept = [name for name in order if name in names]
        return table.sum(axis=others).transpose([kept.index(name) for name in names])

    def table(self, path: Path, names: Sequence[str]) -> ConditionedTable:
        return self._conditioned.table(path, names)


@dataclass(frozen=True, eq=False)
class SourceTables:
    """One source of any size: every share is asked for when it is needed."""

    source: Source
    schema: Schema

    @property
    def n_reports(self) -> int:
        return self.source.engine.n_rows

    @cached_property
    def _conditioned(self) -> ConditionedTables:
        return ConditionedTables(self.source)

    def shares(self, path: Path, names: Sequence[str]) -> Array:
        return self.table(path, names).probabilities

    def table(self, path: Path, names: Sequence[str]) -> ConditionedTable:
        return self._conditioned.table(path, names)


@dataclass(frozen=True, eq=False)
class PooledTables:
    """Several sources: tables over the path and the wanted attributes, pooled by their information."""

    found: tuple[Source, ...]
    schema: Schema

    @property
    def n_reports(self) -> int:
        return sum(source.engine.n_rows for source in self.found)

    def shares(self, path: Path, names: Sequence[str]) -> Array:
        return self.table(path, names).probabilities

    def table(self, path: Path, names: Sequence[str]) -> ConditionedTable:
        asked = [*path, *(name for name in names if name not in path)]
        joint = pooled(self.found, asked, self.schema.shape(asked))
        # Cells of the path are summed away; their errors add up, covariances included.
        keep: Array = np.ones((1, 1))
        for name in asked:
            size = self.schema[name].size
            of_attribute = np.eye(size) if name in names else path[name][None, :].astype(np.float64)
            keep = np.kron(keep, of_attribute).astype(np.float64)
        p = keep @ joint.probabilities.reshape(-1)
        variance = np.einsum("cu,uw,cw->c", keep, joint.covariance, keep, optimize=True)
        shape = self.schema.shape([name for name in asked if name in names])
        squares = variance * (self.n_reports - 1) + p**2
        return ConditionedTable(p.reshape(shape), squares.reshape(shape), self.n_reports)


def node_tables(reports: ReportSource | Sequence[ReportSource], *, likelihood: bool = False) -> NodeTables:
    """The numbers behind a model: in one table where it fits, else asked for as needed."""
    found = sources(reports)
    schema = true_schema(found)
    if len(found) > 1:
        if likelihood:
            raise InvalidInput("Likelihood needs reports of a single scheme without questionnaires. Use inversion.")
        return PooledTables(found, schema)
    (source,) = found
    cells = math.prod(schema.shape())
    tally = math.prod(column.tally_size for column in source.engine.schema)
    if max(cells, tally) <= JOINT_CELLS:
        return JointTables(source, schema, likelihood)
    if likelihood:
        raise InvalidInput(
            f"The joint table of all attributes has {cells:.3g} cells, too many for its likelihood (at most {JOINT_CELLS:,}). "
            "Leave attributes out, or use inversion."
        )
    return SourceTables(source, schema)
