"""Counting any table that ibis reaches: DuckDB, Spark, PostgreSQL, SQLite."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacit.count.abilities import coded_rows, distinct_in_memory
from tacit.count.answer_expressions import by_answer, is_cut_here
from tacit.count.backend import answer, asking, stream_rows
from tacit.count.columns import bit_columns, coded_table, decode_keys, set_column
from tacit.count.grouped_cells import MOST_ANSWERS, MOST_SCANS, can_group, grouped_tallies
from tacit.count.many import ManyTallies
from tacit.count.memory import COMPILED_CODES, MemoryEngine, compiled_tally, numpy_tally
from tacit.count.planner import plan_covers, tallied_by_covers
from tacit.count.protocol import Product, SparseTally, Totals, checked_single
from tacit.count.sparse import occurring
from tacit.count.totals import NUMPY_LOOPS, checked_products, columns_of, totals_by_rows, totals_by_tallies
from tacit.schema import Attribute, Schema
from tacit.table import Table
from tacit.table.columns import checked_columns, file_columns

if TYPE_CHECKING:
    from tacit.count.partitions import Kind, Question

# Databases that count many tables in one scan.
GROUPING = ("postgres", "pyspark")
# Sums that one query asks for at a time; planners of databases slow down beyond some hundreds.
SUMS_A_QUERY = 256


@dataclass(frozen=True, eq=False)
class TableEngine:
    """Counts an ibis table whose columns hold the texts of answers, wherever it is stored.

    Columns the schema does not name are not looked at.

    >>> import ibis, pyarrow
    >>> from tacit import Attribute, Schema
    >>> schema = Schema((Attribute("smokes", ("no", "yes")),))
    >>> table = ibis.memtable(pyarrow.table({"smokes": ["no", "yes", "no"]}))
    >>> TableEngine(table, schema).tally(["smokes"]).tolist()
    [2, 1]
    """

    table: Any
    schema: Schema

    def __post_init__(self) -> None:
        wanted = [column for attribute in self.schema for column in file_columns(attribute)]
        checked_columns(list(self.table.columns), wanted, drop_others=True)

    @cached_property
    def n_rows(self) -> int:
        with asking("Counting the rows"):
            return int(self.table.count().to_pyarrow().as_py())

    @cached_property
    def _bits(self) -> dict[str, list[Any]]:
        """For each attribute that shows bits, its columns as 0 and 1."""
        attributes = [attribute for attribute in self.schema if attribute.shows == "bits"]
        return bit_columns(self.table, attributes)

    @cached_property
    def _sets(self) -> dict[str, Any]:
        """For each attribute that shows sets, its column of lists."""
        return {a.name: set_column(self.table, a, self.n_rows) for a in self.schema if a.shows == "set"}

    def tally(self, columns: Sequence[str]) -> NDArray[np.int64]:
        return self.tallies([columns])[0]

    def tallies(self, column_sets: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        there = self._tallied_there(column_sets)
        return self._tallied_by_queries(column_sets) if there is None else there

    def _tallied_there(self, column_sets: Sequence[Sequence[str]]) -> list[NDArray[np.int64]] | None:
        """What the machines of a cluster count, each its own rows; None for any other database."""
        if not self._is_partitioned:
            return None
        from tacit.count.partitions import TalliesQuestion

        question = TalliesQuestion(self.schema, column_sets)
        columns = [name for name in self.schema.names if any(name in wanted for wanted in column_sets)]
        counter = self.counted_there(columns, question) if columns and question.is_small else None
        return None if counter is None else counter.tallies()

    @property
    def _is_partitioned(self) -> bool:
        return bool(self.table.get_backend().name == "pyspark")

    def counted_there(self, columns: Sequence[str], question: Question[Kind]) -> Kind | None:
        """A counter that the machines have filled which hold the rows; None where they cannot.

        An ability beyond the two questions (`tacit.count.abilities`).
        """
        if not self._is_partitioned:
            return None
        from tacit.count.partitions import Parcel, ask_partitions
        from tacit.count.spark import frame_of

        expression, coded, plain = self._coded_expression(columns)
        nobody = coded_table(expression.schema().to_pyarrow().empty_table(), coded, plain)
        answered = ask_partitions(frame_of(expression), question, nobody, Parcel(question, coded, plain))
        if answered is None:
            return None
        rows, counter = answered
        vars(self).setdefault("n_rows", rows)  # as if they had been counted
        return counter

    def _tallied_by_queries(self, column_sets: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        scans = sum(self._scans(cover.columns) for cover in plan_covers(column_sets, self.schema, merge=True))
        if scans > 1 and self.table.get_backend().name in GROUPING and can_group(self.schema, column_sets):
            grouped = grouped_tallies(self, column_sets)
            if grouped is not None:
                return grouped
        if scans > MOST_SCANS:  # however far they have to go, the rows come out once
            return self._streamed_tallies(column_sets)
        return tallied_by_covers(column_sets, self.schema, self._count_columns)

    def _scans(self, columns: Sequence[str]) -> int:
        """How many queries the tally of some columns takes; see `_count_columns`."""
        attributes = [self.schema[name] for name in columns]
        sets = sum(attribute.shows == "set" for attribute in attributes)
        sums = math.prod(attribute.tally_size for attribute in attributes if attribute.shows == "bits")
        return 2**sets * math.ceil(sums / SUMS_A_QUERY)

    def _streamed_tallies(self, column_sets: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        """One pass in which the rows come out as codes and are counted here."""
        columns = [name for name in self.schema.names if any(name in wanted for wanted in column_sets)]
        compiled = self.n_rows * len(columns) >= COMPILED_CODES
        counted = compiled_tally if compiled else numpy_tally
        many = ManyTallies(self.schema, column_sets, counted, merge=compiled, compiled=compiled)
        for block in self.coded_parts(columns):
            many.add(block)
        return many.tallies()

    def _count_columns(self, columns: Sequence[str]) -> NDArray[np.int64]:
        if any(self.schema[name].shows == "hashed" for name in columns):
            return np.sum(
                [MemoryEngine(block).tally(columns) for block in self.coded_parts(columns)], axis=0, dtype=np.int64
            )
        attributes = [self.schema[name] for name in columns]
        counts = np.zeros([attribute.tally_size for attribute in attributes], dtype=np.int64)
        sets = [attribute for attribute in attributes if attribute.shows == "set"]
        # The last slot of a set counts every row: once with its members, once without looking at them.
        for members in itertools.product([True, False], repeat=len(sets)):
            spread = [attribute for attribute, is_member in zip(sets, members, strict=True) if is_member]
            self._add_counts(counts, attributes, spread)
        return counts

    def _add_counts(self, counts: NDArray[np.int64], attributes: list[Attribute], spread: list[Attribute]) -> None:
        keys = [attribute for attribute in attributes if attribute.shows == "one" or attribute in spread]
        bits = [attribute for attribute in attributes if attribute.shows == "bits"]
        combinations = list(itertools.product(*(range(attribute.tally_size) for attribute in bits)))
        for start in range(0, len(combinations), SUMS_A_QUERY):
            block = combinations[start : start + SUMS_A_QUERY]
            groups = self._groups(keys, bits, block)
            codes = decode_keys(groups, keys)
            for position, combination in enumerate(block):
                slots = dict(zip((attribute.name for attribute in bits), combination, strict=True))
                cells = np.zeros(groups.num_rows, dtype=np.int64)
                for attribute in attributes:
                    everyone = slots.get(attribute.name, attribute.size)
                    cells = cells * attribute.tally_size + codes.get(attribute.name, everyone)
                np.add.at(counts.reshape(-1), cells, groups.column(f"n{position}").to_numpy())

    def _groups(self, keys: list[Attribute], bits: list[Attribute], combinations: list[tuple[int, ...]]) -> pa.Table:
        """Key columns ``k0, k1, ...`` and, for each combination of bits, the number of rows that show it."""
        import ibis

        chosen = {f"k{i}": self._sets.get(a.name, self._values(a)) for i, a in enumerate(keys)}
        bits_by_key = {f"b{i}_{j}": bit for i, a in enumerate(bits) for j, bit in enumerate(self._bits[a.name])}
        table = self.table.select(one=ibis.literal(1, type="int64"), **chosen, **bits_by_key)
        for i, attribute in enumerate(keys):
            if attribute.shows == "set":
                table = table.mutate(**{f"k{i}": table[f"k{i}"].unnest()})
        sums = {}
        for position, combination in enumerate(combinations):
            factors = [table[f"b{i}_{slot}"] for i, slot in enumerate(combination) if slot < bits[i].size]
            sums[f"n{position}"] = (math.prod(factors[1:], start=factors[0]) if factors else table["one"]).sum()
        result = answer(table.group_by(list(chosen)).agg(**sums) if chosen else table.agg(**sums))
        return _without_nulls(result, list(sums))

    def _values(self, attribute: Attribute) -> Any:
        """A column to group by; numbers already as the names of their intervals, of which there are few."""
        column = self.table[attribute.name]
        if not is_cut_here(column, attribute):
            return column
        return by_answer(column, attribute, attribute.answers)

    def grouped_by(self, name: str) -> Any:
        """The expression by which an attribute that shows one answer is grouped."""
        return self._values(self.schema[name])

    def sparse_tally(self, columns: Sequence[str]) -> SparseTally:
        checked_single(self.schema, columns)
        keys = [self.schema[name] for name in columns]
        groups = self._groups(keys, [], [()])
        codes = decode_keys(groups, keys)
        # Different values may stand for one answer (numbers of one interval), so groups are merged.
        cells, counts = occurring(
            [codes[name] for name in columns], self.schema.shape(columns), groups.column("n0").to_numpy()
        )
        return SparseTally(tuple(columns), cells, counts)

    def distinct(self, columns: Sequence[str]) -> tuple[Table, NDArray[np.int64]]:
        """The different rows of some columns, and how many reports show each; sets and bits are compared here."""
        if all(self.schema[name].shows == "one" for name in columns):
            tally = self.sparse_tally(columns)
            return coded_rows(self.schema.select(columns), tally.codes), tally.counts
        every = [block.select(columns) for block in self.coded_parts(columns)]
        parts = [distinct_in_memory(block, None, columns) for block in every if block.n_rows or len(every) == 1]
        counts = np.concatenate([counts for _, counts in parts])
        return distinct_in_memory(Table.concatenate([block for block, _ in parts]), counts, columns)

    def totals(self, products: Sequence[Product]) -> Totals:
        checked_products(self.schema, products)
        return totals_by_tallies(self, products, self._row_totals)

    def _row_totals(self, products: Sequence[Product]) -> Totals:
        from tacit.count.table_totals import weighted_totals

        columns = tuple(dict.fromkeys(name for product in products for name in columns_of(product)))
        if self._is_partitioned and columns:
            from tacit.count.partitions import TotalsQuestion

            counter = self.counted_there(columns, TotalsQuestion(products))
            if counter is not None:
                return counter.totals()
        if all(self.schema[name].shows != "hashed" for name in columns):
            return weighted_totals(self, products)
        parts = [totals_by_rows(block, products, NUMPY_LOOPS) for block in self.coded_parts(columns)]
        sums = np.sum([block.sums for block in parts], axis=0)
        return Totals(sums, np.sum([block.squares for block in parts], axis=0))

    def coded_parts(self, columns: Sequence[str]) -> Iterator[Table]:
        """The coded rows of some columns, in parts that fit memory; at least one, which may be empty.

        An ability beyond the two questions (`tacit.count.abilities`).
        """
        expression, coded, plain = self._coded_expression(columns)
        yield coded_table(expression.schema().to_pyarrow().empty_table(), coded, plain)
        wrong: Attribute | None = None
        with contextlib.closing(stream_rows(expression)) as stream:
            for block in stream:
                wrong = next((a for at, a in enumerate(coded) if block.column(f"tacit_code_{at}").null_count), None)
                if wrong is not None:
                    break
                yield coded_table(block, coded, plain)
        if wrong is not None:  # asked only now: a connection does not take a query while rows of another come out
            self.sparse_tally([wrong.name])  # which says what there is instead of an answer

    def _coded_expression(self, columns: Sequence[str]) -> tuple[Any, tuple[Attribute, ...], tuple[Attribute, ...]]:
        """The rows of some columns: as codes ``tacit_code_0, ...`` of the first attributes, as they are of the others."""
        schema = self.schema.select(columns)
        coded = tuple(attribute for attribute in schema if self._is_coded_there(attribute))
        plain = tuple(attribute for attribute in schema if attribute not in coded)
        names = [name for attribute in plain for name in file_columns(attribute)]
        codes = {f"tacit_code_{place}": self._code(attribute) for place, attribute in enumerate(coded)}
        return self.table.select(*names, **codes), coded, plain

    def _is_coded_there(self, attribute: Attribute) -> bool:
        """Whether the database itself gives the codes: texts of few answers, which it compares as fast as any."""
        return (
            attribute.shows == "one"
            and attribute.cut is None
            and attribute.size <= MOST_ANSWERS
            and bool(self.table[attribute.name].type().is_string())
        )

    def _code(self, attribute: Attribute) -> Any:
        return by_answer(self.table[attribute.name], attribute, list(range(attribute.size))).cast("int16")

    def shown_bits(self, name: str) -> list[Any]:
        """The columns of an attribute that shows bits, as expressions that are 0 or 1."""
        return self._bits[name]

    def shown_set(self, name: str) -> Any:
        """The column of an attribute that shows sets, as an expression that is a list of texts."""
        return self._sets[name]


def _without_nulls(result: pa.Table, names: list[str]) -> pa.Table:
    """Sums over no rows are null in SQL."""
    for name in names:
        filled = pc.fill_null(result.column(name).cast(pa.int64()), 0)
        result = result.set_column(result.column_names.index(name), name, filled)
    return result
