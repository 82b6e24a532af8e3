"""Tallies of disguised records, drawn without disguising a single record.

Under one unrelated question with fair personal bits the records of one kind are kept with the same chance, each on its
own; so how many are kept is binomial for each kind. All others are replaced by fair and independent bits, so how many of
them show a class is binomial again, and so is, within a class, how many show an answer, for each attribute on its own.
The tallies of the class and of each attribute with the class then have exactly the law they have when rows are disguised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel import mixture
from tacit.channel.scheme import Scheme
from tacit.count.protocol import Product, Source, SparseTally, Totals
from tacit.errors import InvalidInput
from tacit.schema import Schema
from tacit.table import Table

Counts = NDArray[np.int64]


def unrelated_question(schema: Schema, keep: float) -> Scheme:
    """One group of everything: the whole record is kept with chance `keep`, else fair personal bits are reported."""
    return Scheme.from_groups(schema, [(schema.names, mixture(keep, "uniform"))])


@dataclass(frozen=True, eq=False)
class PairTallies:
    """A counting engine that knows the class alone and each attribute with the class; nothing else is needed here."""

    schema: Schema
    n_rows: int
    target: str
    pairs: dict[str, Counts]  # counts[answer, class] of each other attribute

    def tally(self, columns: Sequence[str]) -> Counts:
        if list(columns) == [self.target]:
            return next(iter(self.pairs.values())).sum(axis=0)
        first, second = columns
        return self.pairs[first] if second == self.target else self.pairs[second].T

    def tallies(self, column_sets: Sequence[Sequence[str]]) -> list[Counts]:
        return [self.tally(columns) for columns in column_sets]

    def sparse_tally(self, columns: Sequence[str]) -> SparseTally:
        raise InvalidInput("Sampled tallies know pairs only.")

    def totals(self, products: Sequence[Product]) -> Totals:
        raise InvalidInput("Sampled tallies know pairs only.")


@dataclass(frozen=True, eq=False)
class SampledReports:
    """Reports of which only the pair tallies exist."""

    scheme: Scheme
    engine: PairTallies

    def sources(self) -> tuple[Source, ...]:
        return (Source(self.scheme.questionnaires[0], self.engine),)


@dataclass(frozen=True, eq=False)
class TrueRecords:
    """True binary records by kind, ready to be disguised as often as wanted."""

    table: Table
    target: str

    @cached_property
    def _kinds(self) -> tuple[NDArray[np.intp], Counts]:
        """One row of each kind, and how many rows are of that kind."""
        codes = np.stack([self.table[name] for name in self.table.schema.names], axis=1)
        _, first, counts = np.unique(codes, axis=0, return_index=True, return_counts=True)
        return first, counts

    @cached_property
    def kinds(self) -> Table:
        return self.table.rows(self._kinds[0])

    @property
    def counts(self) -> Counts:
        return self._kinds[1]

    @cached_property
    def _others(self) -> tuple[str, ...]:
        return tuple(name for name in self.table.schema.names if name != self.target)

    @cached_property
    def _pairs(self) -> NDArray[np.float64]:
        """``[kind, attribute * answer * class]``: which pair each kind shows, as indicators."""
        target = self.kinds[self.target]
        cells = [2 * self.kinds[name].astype(np.intp) + target for name in self._others]
        return np.concatenate([np.eye(4)[cell] for cell in cells], axis=1)

    def sample_reports(self, scheme: Scheme, rng: np.random.Generator) -> SampledReports:
        """The pair tallies of one disguise of all records."""
        keep = scheme.groups[0].channel.keep  # type: ignore[attr-defined]
        own_answers = rng.binomial(self.counts, keep)
        pair_counts = np.rint(own_answers @ self._pairs).astype(np.int64).reshape(len(self._others), 2, 2)
        drawn = pair_counts + self._personal(self.table.n_rows - int(own_answers.sum()), rng)
        pairs = dict(zip(self._others, drawn, strict=True))
        return SampledReports(scheme, PairTallies(scheme.report_schema, self.table.n_rows, self.target, pairs))

    def _personal(self, people: int, rng: np.random.Generator) -> Counts:
        """``[attribute, answer, class]``: pairs shown by people who report fair bits."""
        positive = rng.binomial(people, 0.5)
        of_class = np.array([people - positive, positive])
        yes = rng.binomial(of_class, 0.5, size=(len(self._others), 2))
        return np.stack([of_class - yes, yes], axis=1)
