"""Weighted counts that are kept: the different reports of each stratum and cluster, with the sums of their weights.

Sums of weights and of their squares are all that a weighted estimate and its error ask for. They are added and taken away
like counts, so days of a weighted sample are counted once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.count.backend import answer
from tacit.count.columns import value_codes
from tacit.count.protocol import CountEngine, Product, SparseTally, Totals
from tacit.count.table import TableEngine
from tacit.count.weighted import SampleColumns, StoredGroups, grouped_rows
from tacit.errors import InvalidInput, NotEstimable
from tacit.schema import Schema
from tacit.table import Table
from tacit.table.coded import code_type

Texts = NDArray[np.str_]
KEYS = ("stratum", "cluster")
SUMS = ("count", "weight", "square")


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """Different reports, once for each stratum and cluster that shows them, and the sums over who sent them."""

    table: Table
    strata: Texts
    clusters: Texts
    counts: NDArray[np.int64]
    sums: Array
    squares: Array
    sample: SampleColumns  # which columns they came from

    @property
    def schema(self) -> Schema:
        return self.table.schema

    @cached_property
    def n_rows(self) -> int:
        return int(self.counts.sum())

    @classmethod
    def of_table(cls, table: Table, weights: Any, strata: Any, clusters: Any, sample: SampleColumns) -> WeightedRows:
        """From reports in memory, with the weight, the stratum and the cluster of each."""
        _checked_columns(table.schema)
        everybody = np.full(table.n_rows, "")
        weight = np.ones(table.n_rows) if weights is None else _weights(weights, table.n_rows)
        sample_names = [everybody if names is None else _names(names, table.n_rows) for names in (strata, clusters)]
        ones = np.ones(table.n_rows, dtype=np.int64)
        return cls(table, sample_names[0], sample_names[1], ones, weight, weight**2, sample).merge_rows()

    @classmethod
    def of_stored(
        cls, engine: TableEngine, sample: SampleColumns, columns: Sequence[str] | None = None
    ) -> WeightedRows:
        """From reports where they are stored, all or some of their columns; the database adds."""
        schema = engine.schema if columns is None else engine.schema.select(columns)
        _checked_columns(schema)
        names = schema.names
        result = answer(grouped_rows(engine, names, sample))
        counts = result.column("rows")
        codes = {
            name: value_codes(result.column(f"k{place}"), engine.schema[name], counts).astype(
                code_type(engine.schema[name].size)
            )
            for place, name in enumerate(names)
        }
        sums, squares = (np.asarray(result.column(name).to_numpy(), np.float64) for name in ("sums", "squares"))
        strata, clusters = (_names(result.column(name), result.num_rows) for name in KEYS)
        rows = np.asarray(counts.to_numpy(), np.int64)
        return cls(Table(schema, codes), strata, clusters, rows, sums, squares, sample).merge_rows()

    def select_columns(self, columns: Sequence[str]) -> WeightedRows:
        """Some of the columns; rows that agree in all of these become one row."""
        schema = self.schema.select(columns)
        table = Table(schema, {name: self.table[name] for name in columns})
        return dataclasses.replace(self, table=table).merge_rows()

    def merge_rows(self) -> WeightedRows:
        """Add up rows that agree in report, stratum and cluster; drop those with no reports left."""
        names = [f"{place}" for place in range(len(self.schema))]
        columns = dict(zip(names, (self.table[name] for name in self.schema.names), strict=True))
        keys = {
            "stratum": pa.array(self.strata.tolist(), pa.string()),
            "cluster": pa.array(self.clusters.tolist(), pa.string()),
        }
        numbers = dict(zip(SUMS, (self.counts, self.sums, self.squares), strict=True))
        grouped = pa.table(columns | keys | numbers).group_by([*names, *KEYS], use_threads=False)
        result = grouped.aggregate([(name, "sum") for name in SUMS])
        result = result.filter(np.asarray(result.column("count_sum").to_numpy()) != 0)
        codes = {
            attribute: np.asarray(result.column(name).to_numpy()).astype(self.table[attribute].dtype)
            for name, attribute in zip(names, self.schema.names, strict=True)
        }
        count, weight, square = (np.asarray(result.column(f"{name}_sum").to_numpy()) for name in SUMS)
        strata, clusters = (np.array(result.column(name).to_pylist(), dtype=np.str_) for name in KEYS)
        return WeightedRows(Table(self.schema, codes), strata, clusters, count, weight, square, self.sample)

    def combine(self, other: WeightedRows, sign: int = 1) -> WeightedRows:
        """The reports of both together; with `sign` -1, these reports without those of `other`."""
        if _asked_columns(self.sample) != _asked_columns(other.sample):
            raise InvalidInput(
                "One of these tallies knows weights, strata or clusters that the other does not. Tally both with the same."
            )
        return WeightedRows(
            Table.concatenate([self.table, other.table]),
            np.concatenate([self.strata, other.strata]),
            np.concatenate([self.clusters, other.clusters]),
            np.concatenate([self.counts, sign * other.counts]),
            np.concatenate([self.sums, sign * other.sums]),
            np.concatenate([self.squares, sign * other.squares]),
            self.sample,
        ).merge_rows()

    def weighted_groups(self, columns: Sequence[str]) -> StoredGroups:
        """What a weighted estimate asks of a stored table."""
        cells = np.zeros(len(self.counts), dtype=np.intp)
        for name in columns:
            cells = cells * self.schema[name].size + self.table[name].astype(np.intp)
        strata, stratum = np.unique(self.strata, return_inverse=True)
        clusters, cluster = np.unique(self.clusters, return_inverse=True)
        stratum, cluster = (code.reshape(-1).astype(np.intp) for code in (stratum, cluster))
        names, cluster_names = (list(map(str, texts)) for texts in (strata, clusters))
        sampled, again = np.zeros(len(cells)), np.zeros((len(cells), 0))
        rows, sums, squares = self.counts, self.sums, self.squares
        return StoredGroups(names, cluster_names, stratum, cluster, cells, rows, sums, squares, sampled, again)

    # Whoever does not know of weights would count everybody alike.

    def _refuse(self, *_: Any) -> NoReturn:
        raise NotEstimable(
            "This tally is weighted, and whole reports cannot be listed from it, nor sums over them taken: only tables know "
            "weights. Ask for fewer attributes or single answers, use the inversion method, or tally the reports without weights."
        )

    def tally(self, columns: Sequence[str]) -> NDArray[np.int64]:
        self._refuse()

    def tallies(self, column_sets: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        self._refuse()

    def sparse_tally(self, columns: Sequence[str]) -> SparseTally:
        self._refuse()

    def totals(self, products: Sequence[Product]) -> Totals:
        self._refuse()


def _asked_columns(sample: SampleColumns) -> tuple[bool, ...]:
    return tuple(name is not None for name in (sample.weights, sample.strata, sample.clusters))


def _checked_columns(schema: Schema) -> None:
    set_columns = [attribute.name for attribute in schema if attribute.shows != "one"]
    if set_columns:
        raise InvalidInput(
            f"{', '.join(set_columns)} show sets or bits, which are not kept in weighted tallies. "
            "Estimate from the reports themselves."
        )


def _weights(weights: Any, n: int) -> Array:
    try:
        values = np.asarray(weights, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise InvalidInput("Weights must be numbers above 0, one for each report.") from None
    if len(values) != n:
        raise InvalidInput(f"There are {len(values):,} weights for {n:,} reports; each needs one.")
    wrong = ~(np.isfinite(values) & (values > 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InvalidInput(f"The weight in row {row + 1:,} is {values[row]:g}; weights must be above 0.")
    return values


def _names(values: Any, n: int) -> Texts:
    """Names of strata or clusters as texts, the way they are compared."""
    listed = values.to_pylist() if hasattr(values, "to_pylist") else values
    texts = [None if value is None else str(value).strip() for value in listed]
    if len(texts) != n:
        raise InvalidInput(f"There are {len(texts):,} names of strata or clusters for {n:,} reports; each needs one.")
    if None in texts:
        raise InvalidInput(f"Strata and clusters need a value in every row; row {texts.index(None) + 1:,} has none.")
    return np.array(texts, dtype=np.str_) if texts else np.zeros(0, dtype=np.str_)


def weighted_rows(engine: CountEngine, columns: Sequence[str], sample: SampleColumns | None) -> WeightedRows | None:
    """The different rows of a weighted tally, or of a stored table with these columns of weights; None without weights."""
    if isinstance(engine, WeightedRows):
        if sample is not None:
            raise InvalidInput("This tally knows its weights, strata and clusters. Leave them out.")
        return engine.select_columns(columns)
    if sample is None:
        return None
    if not isinstance(engine, TableEngine):
        raise InvalidInput(
            "This tally has no weights, strata or clusters. Tally the reports with them (tacit tally --weights, Tally.weighted), "
            "or read the file itself."
        )
    if sample.replicates or sample.sampled is not None:
        raise InvalidInput(
            "Replicate weights and sampled shares are read from a file or a data frame, not from a stored table. Give its path."
        )
    return WeightedRows.of_stored(engine, sample, columns)
