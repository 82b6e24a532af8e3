"""Tables that can be tallied and published as often as needed: rows in memory or in a file, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.count import MemoryEngine
from tacit.publish.column_readings import Reading
from tacit.publish.recoding import Recoding
from tacit.publish.running_tally import CountedCells, running_tally
from tacit.publish.tally import QuasiTally
from tacit.schema import Schema
from tacit.table import Table

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Fingerprint:
    """A SHA-256 by which an input is known again, and what it was computed of."""

    sha256: str
    of: str


class ReleaseInput(Protocol):
    """Truths, wherever they are: what publishing asks of them."""

    @property
    def schema(self) -> Schema: ...

    def sparse_tally(self, columns: Sequence[str]) -> CountedCells:
        """The combinations of these columns that occur."""

    def tallies(self, column_sets: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        """How many rows show each combination of each set of columns."""

    def published(self, recoding: Recoding, others: Sequence[str], *, keep_order: bool = False) -> Iterator[pa.Table]:
        """The rows of the release in parts that fit memory: labels, and `others` as they are.

        Sorted by their texts, so that they do not tell the order of the input; `keep_order` keeps that order.
        """

    def in_order(self, schema: Schema) -> ReleaseInput:
        """The same rows with the answers of attributes in another order."""

    def fingerprint(self, tally: QuasiTally) -> Fingerprint: ...


@dataclass(frozen=True, eq=False)
class CodedInput:
    """Coded rows that come in batches."""

    schema: Schema
    batches: Callable[[], Iterator[Table]]
    known_by: Fingerprint
    readings: Mapping[str, Reading] = field(default_factory=dict)  # how values become answers
    values_behind: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)  # different values of each answer

    def sparse_tally(self, columns: Sequence[str]) -> CountedCells:
        cells = running_tally(self.schema.shape(columns))
        for batch in self.batches():
            if len(batch):
                cells.add([batch[name] for name in columns])
        return CountedCells(tuple(columns), *cells.counted())

    def tallies(self, column_sets: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        counts = [np.zeros(self.schema.shape(columns), np.int64) for columns in column_sets]
        for batch in self.batches():
            for whole, counted in zip(counts, MemoryEngine(batch).tallies(column_sets), strict=True):
                whole += counted
        return counts

    def published(self, recoding: Recoding, others: Sequence[str], *, keep_order: bool = False) -> Iterator[pa.Table]:
        columns = recoding.columns(self.schema, others)
        codes = (recoding.apply(batch, others) for batch in self.batches())
        if keep_order:
            yield from columns.as_they_come(codes)
        elif {attribute.name for attribute in recoding.tally.sensitive} >= set(others):
            yield from columns.in_order_of_counts(*_counted_rows(recoding, others))
        else:
            yield from columns.in_order(codes)

    def in_order(self, schema: Schema) -> CodedInput:
        places = {
            old.name: np.array([new.encode(answer) for answer in old.answers])
            for old, new in zip(self.schema, schema, strict=True)
            if old.answers != new.answers
        }

        def batches() -> Iterator[Table]:
            for batch in self.batches():
                columns = {name: batch[name] for name in schema.names}
                recoded = {name: place[columns[name]].astype(columns[name].dtype) for name, place in places.items()}
                yield Table(schema, columns | recoded)

        behind = dict(self.values_behind)
        for name, place in places.items():
            if name in behind:
                behind[name] = behind[name][np.argsort(place)]
        return CodedInput(schema, batches, self.known_by, self.readings, behind)

    def fingerprint(self, tally: QuasiTally) -> Fingerprint:
        return self.known_by


def _counted_rows(recoding: Recoding, others: Sequence[str]) -> tuple[dict[str, NDArray[np.int64]], NDArray[np.int64]]:
    """The published rows from the tally alone, if it has all their columns: combinations, and the rows that show each."""
    tally = recoding.tally
    if not others:  # then a class shows one row, as often as it has any
        labels, rows = recoding.by_class
        return dict(zip(tally.names, labels.T.astype(np.int64), strict=True)), rows
    published = recoding.classes[recoding.combinations.number] >= 0
    labels = recoding.shown[recoding.classes[recoding.combinations.number[published]]]
    codes = dict(zip(tally.names, labels.T, strict=True))
    start = 0
    for attribute, column in zip(tally.sensitive, tally.sensitive_codes[published].T, strict=True):
        if attribute.name in others:
            codes[attribute.name] = column - start
        start += attribute.size
    return codes, tally.counts[published]
