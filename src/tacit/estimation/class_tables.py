"""The table of every attribute with a target, and of the target alone: what naive Bayes and regression on classes learn from.

They are the tables of subgroups below no condition at all, without the covariances that splits of them would need.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.channel.base import Array
from tacit.count.protocol import Source
from tacit.estimation.mean import Mean
from tacit.estimation.table_subgroups import TableSource
from tacit.estimation.uncertainty import open_answers
from tacit.schema import Schema


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

    def modelled(self, shares: Array) -> ClassTable:
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
        told = {name: source.table([], [name, target], target) for name in schema.names if name != target}
        return cls(classes, {name: None if table is None else ClassTable.of(table) for name, table in told.items()})

    def asked(self) -> Iterator[tuple[str, ClassTable]]:
        """The tables that the reports tell of."""
        return ((name, table) for name, table in self.by_name.items() if table is not None)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The attributes that no report asks for together with the classes."""
        return tuple(name for name, table in self.by_name.items() if table is None)

    @property
    def effective_people(self) -> float:
        """How many people asked openly would tell as much of these tables as all the disguised ones do."""
        numbers = [open_answers(table.shares, table.errors**2) for _, table in self.asked()]
        return float(np.median(numbers)) if numbers else 0.0
