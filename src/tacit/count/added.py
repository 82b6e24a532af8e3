"""Several tables of one questionnaire, counted as one: parts, days or shards are added, never pooled."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.count.abilities import distinct_in_memory, distinct_rows, held_rows
from tacit.count.memory import MemoryEngine
from tacit.count.protocol import CountEngine, Product, SparseTally, Totals
from tacit.count.sparse import occurring
from tacit.schema import Schema
from tacit.table import Table


@dataclass(frozen=True, eq=False)
class AddedEngine:
    """Answers the two questions for all of its parts together, by adding their answers."""

    parts: tuple[CountEngine, ...]

    @property
    def schema(self) -> Schema:
        return self.parts[0].schema

    @cached_property
    def n_rows(self) -> int:
        return sum(part.n_rows for part in self.parts)

    def tally(self, columns: Sequence[str]) -> NDArray[np.int64]:
        return self.tallies([columns])[0]

    def tallies(self, column_sets: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        answers = [part.tallies(column_sets) for part in self.parts]
        return [sum(counts[1:], start=counts[0]) for counts in zip(*answers, strict=True)]

    def sparse_tally(self, columns: Sequence[str]) -> SparseTally:
        tallies = [part.sparse_tally(columns) for part in self.parts]
        codes = np.concatenate([tally.codes for tally in tallies])
        counts = np.concatenate([tally.counts for tally in tallies])
        merged = occurring([codes[:, at] for at in range(len(columns))], self.schema.shape(columns), counts)
        return SparseTally(tuple(columns), *merged)

    def totals(self, products: Sequence[Product]) -> Totals:
        answers = [part.totals(products) for part in self.parts]
        # Shards of one survey are alike, so a plain sum of few loses no digit that matters.
        sums = np.sum([answer.sums for answer in answers], axis=0)
        return Totals(sums, np.sum([answer.squares for answer in answers], axis=0))

    def distinct(self, columns: Sequence[str]) -> tuple[Table, NDArray[np.int64]]:
        answers = [distinct_rows(part, columns) for part in self.parts]
        table = Table.concatenate([table for table, _ in answers])
        return distinct_in_memory(table, np.concatenate([counts for _, counts in answers]), columns)


def added(parts: Sequence[CountEngine]) -> CountEngine:
    """One engine for several of the same columns; rows that are all in memory are laid one after the other."""
    if len(parts) == 1:
        return parts[0]
    if all(hasattr(part, "weighted_groups") for part in parts):
        together: CountEngine = functools.reduce(lambda one, two: one.combined(two), parts)  # type: ignore[attr-defined]
        return together
    held = [rows for rows in map(held_rows, parts) if rows is not None]
    if len(held) == len(parts):
        return MemoryEngine(Table.concatenate(held))
    return AddedEngine(tuple(parts))
