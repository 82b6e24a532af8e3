"""A table to be published that stays in its database: tallied there, generalized there by a join, streamed out."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.count import TableEngine
from tacit.count.answer_expressions import by_answer
from tacit.count.backend import lent, stream_rows
from tacit.count.database_schema import complete_rows
from tacit.errors import InvalidInput
from tacit.publish.recoding import Recoding
from tacit.publish.release_input import Fingerprint
from tacit.publish.running_tally import CountedCells, code_type
from tacit.publish.tally import QuasiTally
from tacit.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class DatabaseInput:
    """Truths in an ibis table; only tallies and published rows ever leave their database."""

    table: Any
    schema: Schema
    drop_missing: bool = False

    @cached_property
    def _engine(self) -> TableEngine:
        engine = TableEngine(self.table, self.schema)  # refuses a table that lacks a column
        if not self.drop_missing:
            return engine
        asked = tuple(attribute.name for attribute in self.schema if attribute.missing is None)
        return TableEngine(complete_rows(self.table, asked), self.schema)

    def sparse_tally(self, columns: Sequence[str]) -> CountedCells:
        tally = self._engine.sparse_tally(columns)
        if not len(tally.counts):
            raise InvalidInput("The table has no rows: there is nothing to publish.")
        return CountedCells(tally.columns, tally.codes.astype(code_type(self.schema.shape(columns))), tally.counts)

    def tallies(self, column_sets: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        return self._engine.tallies(column_sets)

    def in_order(self, schema: Schema) -> DatabaseInput:
        return dataclasses.replace(self, schema=schema)

    def published(self, recoding: Recoding, others: Sequence[str], *, keep_order: bool = False) -> Iterator[pa.Table]:
        """The published rows; a table of a database has no order that could be kept."""
        with self.release(recoding, others) as rows:
            yield from stream_rows(rows)

    @contextlib.contextmanager
    def release(self, recoding: Recoding, others: Sequence[str]) -> Iterator[Any]:
        """The published rows as a sorted expression: every row joined with the labels of its combination.

        They are sorted by the places of their texts, which are numbers: databases compare texts in different ways.

        What is suppressed has no labels, so its rows find no partner. Neither would a value that became part of the
        table after it was tallied: the rows are counted when they are written.
        """
        self._engine.tallies([[name] for name in others])  # an answer the schema does not know is refused
        table, names = self._engine.table, recoding.tally.names
        ranks = recoding.columns(self.schema, others).ranks
        columns = {}
        for i, name in enumerate(others):
            attribute = self.schema[name]
            columns[f"o{i}"] = by_answer(table[name], attribute, attribute.answers)
            columns[f"p{i}"] = by_answer(table[name], attribute, ranks[name].tolist())
        rows = table.select(combination=self._combination(recoding), **columns)
        places = [*(f"r{j}" for j in range(len(names))), *(f"p{i}" for i in range(len(others)))]
        with lent(table.get_backend(), recoding.published_labels(ranks)) as labels:
            joined = rows.join(labels, "combination").order_by(places)
            texts = {name: joined[f"l{j}"] for j, name in enumerate(names)}
            yield joined.select(**texts, **{name: joined[f"o{i}"] for i, name in enumerate(others)})

    def _combination(self, recoding: Recoding) -> Any:
        """The number of every row's combination, as `Combinations.radix_keys` has it."""
        number, stride = None, 1
        for attribute in reversed(recoding.tally.attributes):
            steps = [code * stride for code in range(attribute.size)]
            share = by_answer(self._engine.table[attribute.name], attribute, steps).cast("int64")
            number, stride = share if number is None else number + share, stride * attribute.size
        return number

    def fingerprint(self, tally: QuasiTally) -> Fingerprint:
        """A database table has neither bytes nor an order of its own, so what is hashed is the tally."""
        named = json.dumps([attribute.to_document() for attribute in (*tally.attributes, *tally.sensitive)])
        cells = np.concatenate([tally.codes, tally.sensitive_codes, tally.counts[:, None]], axis=1)
        return Fingerprint(hashlib.sha256(named.encode() + cells.astype("<i8").tobytes()).hexdigest(), "tally")
