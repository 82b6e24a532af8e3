"""Counts that are asked for once: many tallies in as few passes as possible, kept for whoever asks for them next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.count.protocol import CountEngine, Product, Source, SparseTally, Totals
from tacit.count.tabled import TabledEngine
from tacit.schema import Schema


@dataclass(frozen=True, eq=False)
class RememberingEngine:
    """Answers from its tallies where they hold what is asked, and asks the engine behind it otherwise."""

    engine: CountEngine
    held: TabledEngine

    @classmethod
    def of(cls, engine: CountEngine, column_sets: Sequence[Sequence[str]]) -> RememberingEngine:
        wanted = list(dict.fromkeys(map(tuple, column_sets)))
        tallies = dict(zip(wanted, engine.tallies(wanted), strict=True))
        # Asked for only now: whoever counted the tallies may know the number of rows.
        return cls(engine, TabledEngine(engine.schema, engine.n_rows, tallies))

    def with_tallies(self, column_sets: Sequence[Sequence[str]]) -> RememberingEngine:
        """An engine that remembers these tallies too; those that are missing are counted in as few passes as possible."""
        wanted = [names for names in dict.fromkeys(map(tuple, column_sets)) if not self.holds(names)]
        if not wanted:
            return self
        tallies = dict(zip(wanted, self.engine.tallies(wanted), strict=True))
        return replace(self, held=replace(self.held, tables={**self.held.tables, **tallies}))

    @property
    def schema(self) -> Schema:
        return self.engine.schema

    @property
    def n_rows(self) -> int:
        return self.held.n_rows

    def holds(self, columns: Sequence[str]) -> bool:
        """Whether these columns were counted together, alone or with others."""
        return self.held.holds(columns)

    def tally(self, columns: Sequence[str]) -> NDArray[np.int64]:
        return (self.held if self.holds(columns) else self.engine).tally(columns)

    def tallies(self, column_sets: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        if all(self.holds(columns) for columns in column_sets):
            return self.held.tallies(column_sets)
        return self.engine.tallies(column_sets)

    def sparse_tally(self, columns: Sequence[str]) -> SparseTally:
        return self.engine.sparse_tally(columns)

    def totals(self, products: Sequence[Product]) -> Totals:
        return self.engine.totals(products)

    def __getattr__(self, name: str) -> Any:
        """Whatever more the engine can do."""
        return getattr(object.__getattribute__(self, "engine"), name)


@dataclass(frozen=True, eq=False)
class Remembered:
    """Reports some of whose tallies were counted already; estimators and miners take them as any others."""

    origins: tuple[Source, ...]

    def sources(self) -> tuple[Source, ...]:
        return self.origins


def remember_tallies(source: Source, column_sets: Sequence[Sequence[str]]) -> Source:
    """The source, with these tallies counted."""
    return replace(source, engine=RememberingEngine.of(source.engine, column_sets)) if column_sets else source
