"""From whatever a user hands in to tables that can be counted."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tacit.count.abilities import distinct_in_memory, distinct_rows, held_rows
from tacit.count.memory import MemoryEngine
from tacit.count.protocol import CountEngine, Product, Source, SparseTally, Totals
from tacit.count.sparse import occurring
from tacit.errors import InvalidInput
from tacit.reports import Reports
from tacit.schema import Attribute, Schema
from tacit.table import Table


@runtime_checkable
class Stored(Protocol):
    """Reports that live outside memory and know how to be counted."""

    def sources(self) -> tuple[Source, ...]: ...


ReportSource = Reports | Stored


def sources(reports: ReportSource | Sequence[ReportSource]) -> tuple[Source, ...]:
    """The tables to count: one per questionnaire of each scheme.

    Several sets of reports under one scheme are parts of one table: they are added, not pooled like different surveys.
    """
    if isinstance(reports, Reports):
        prior = reports.scheme.prior
        return tuple(Source(questionnaire, MemoryEngine(table), prior) for questionnaire, table in reports)
    if isinstance(reports, Stored):
        return reports.sources()
    if isinstance(reports, Sequence) and not isinstance(reports, str):
        by_scheme: dict[object, list[tuple[Source, ...]]] = {}
        for source in reports:
            scheme = getattr(source, "scheme", None)
            by_scheme.setdefault(id(source) if scheme is None else scheme.hash, []).append(sources(source))
        return tuple(source for parts in by_scheme.values() for source in _add_sources(parts))
    raise InvalidInput(
        f"Expected reports, not {type(reports).__name__}. Truths are disguised first: tacit.disguise(data, scheme). A frame of "
        "reports is read by tacit.Reports.from_arrow(frame, scheme), undisguised data by tacit.Reports.from_truth(data)."
    )


def _add_sources(parts: Sequence[tuple[Source, ...]]) -> Iterator[Source]:
    """One source for each questionnaire, from the sources of all parts of a table."""
    for same in zip(*parts, strict=True):
        yield replace(same[0], engine=add_engines([source.engine for source in same]))


def true_schema(origins: Sequence[Source]) -> Schema:
    """The attributes that the sources ask for, which must agree on their answers."""
    attributes: dict[str, Attribute] = {}
    for source in origins:
        asked = [a for group in source.questionnaire.groups for a in group.attributes] + list(
            source.questionnaire.public
        )
        for attribute in asked:
            first = attributes.setdefault(attribute.name, attribute)
            if first.answers != attribute.answers:
                raise InvalidInput(
                    f"The tables list the answers of {attribute.name!r} differently, so they cannot be pooled: "
                    f"{', '.join(first.answers)} and {', '.join(attribute.answers)}. Disguise both with the same answers "
                    "in the same order, or estimate from one."
                )
    return Schema(tuple(attributes.values()))


@dataclass(frozen=True, eq=False)
class AddedEngine:
    """Answers the two questions for all of its parts together, by adding their answers."""

    parts: tuple[CountEngine, ...]

    @property
    def schema(self) -> Schema:
        return self.parts[0].schema

    @cached_property
    def n_rows(self) -> int:
        return sum(engine.n_rows for engine in self.parts)

    def tally(self, columns: Sequence[str]) -> NDArray[np.int64]:
        return self.tallies([columns])[0]

    def tallies(self, column_sets: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        answers = [engine.tallies(column_sets) for engine in self.parts]
        return [sum(counts[1:], start=counts[0]) for counts in zip(*answers, strict=True)]

    def sparse_tally(self, columns: Sequence[str]) -> SparseTally:
        tallies = [engine.sparse_tally(columns) for engine in self.parts]
        codes = np.concatenate([tally.codes for tally in tallies])
        counts = np.concatenate([tally.counts for tally in tallies])
        merged = occurring([codes[:, at] for at in range(len(columns))], self.schema.shape(columns), counts)
        return SparseTally(tuple(columns), *merged)

    def totals(self, products: Sequence[Product]) -> Totals:
        answers = [engine.totals(products) for engine in self.parts]
        # Shards of one survey are alike, so a plain sum of few loses no digit that matters.
        sums = np.sum([answer.sums for answer in answers], axis=0)
        return Totals(sums, np.sum([answer.squares for answer in answers], axis=0))

    def distinct(self, columns: Sequence[str]) -> tuple[Table, NDArray[np.int64]]:
        answers = [distinct_rows(engine, columns) for engine in self.parts]
        table = Table.concatenate([table for table, _ in answers])
        return distinct_in_memory(table, np.concatenate([counts for _, counts in answers]), columns)


def add_engines(parts: Sequence[CountEngine]) -> CountEngine:
    """One engine for several of the same columns; rows that are all in memory are laid one after the other."""
    if len(parts) == 1:
        return parts[0]
    if all(hasattr(engine, "weighted_groups") for engine in parts):
        together: CountEngine = functools.reduce(lambda first, second: first.combine(second), parts)  # type: ignore[attr-defined]
        return together
    held = [rows for rows in map(held_rows, parts) if rows is not None]
    if len(held) == len(parts):
        return MemoryEngine(Table.concatenate(held))
    return AddedEngine(tuple(parts))
