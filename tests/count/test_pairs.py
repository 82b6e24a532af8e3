"""All pairs of many columns from their bits: the counts of any other way, part by part, and fast."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

from tacit.count import MemoryEngine
from tacit.count.many import _tables_of_bits
from tacit.count.pairs import CommonCounts, PairCounts
from tacit.schema import Schema
from tacit.table import Table
from tests.count.engines import NEVER, attribute, random_table

MIXED = Schema(tuple(attribute(f"q{i}", size) for i, size in enumerate((2, 5, 3, 2, 2, 4, 2, 7, 2, 2, 3, 2))))


def pairs_of(schema: Schema) -> list[tuple[str, ...]]:
    return [*itertools.combinations(schema.names, 2), *((name,) for name in schema.names)]


def plainly(table: Table, columns: tuple[str, ...]) -> np.ndarray:
    counts = np.zeros(table.schema.shape(columns), dtype=np.int64)
    np.add.at(counts, tuple(table[name] for name in columns), 1)
    return counts


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("rows", [0, 1, 63, 64, 1000])
def test_bits_count_what_rows_show(compiled: bool, rows: int) -> None:
    table = random_table(MIXED, rows, seed=rows)
    counts = PairCounts(MIXED, MIXED.names, compiled=compiled)
    for start in range(0, rows, 300):
        counts.add(table.rows(slice(start, start + 300)))
    wanted = [*pairs_of(MIXED), ("q7", "q1")]
    for columns, tally in zip(wanted, counts.tallies(wanted), strict=True):
        assert tally.dtype == np.int64
        np.testing.assert_array_equal(tally, plainly(table, columns))


@pytest.mark.parametrize("compiled_from", [0, NEVER])
def test_an_engine_answers_pairs_and_larger_tables_together(compiled_from: int) -> None:
    table = random_table(MIXED, 700, seed=3)
    wanted = [("q1", "q2", "q5"), *pairs_of(MIXED), ("q3", "q0", "q7")]
    assert len(_tables_of_bits(MIXED, wanted, merge=compiled_from == 0)) == len(wanted) - 2
    for columns, tally in zip(wanted, MemoryEngine(table, compiled_from).tallies(wanted), strict=True):
        np.testing.assert_array_equal(tally, plainly(table, columns))


def test_few_or_large_tables_are_not_made_bits() -> None:
    assert _tables_of_bits(MIXED, pairs_of(MIXED)[:20], merge=True) == []
    large = Schema(tuple(attribute(f"q{i}", 200) for i in range(13)))
    assert _tables_of_bits(large, pairs_of(large), merge=True) == []


def test_all_pairs_of_two_hundred_questions_take_a_moment() -> None:
    schema = Schema(tuple(attribute(f"q{i}", 2) for i in range(200)))
    table = random_table(schema, 100_000, seed=4)
    wanted = list(itertools.combinations(schema.names, 2))
    engine = MemoryEngine(table)
    started = time.process_time()
    tallies = engine.tallies(wanted)
    assert time.process_time() - started < 3
    np.testing.assert_array_equal(tallies[777], plainly(table, wanted[777]))


@pytest.mark.parametrize("length", [1, 2, 4])
@pytest.mark.parametrize("compiled", [True, False])
def test_combinations_of_answers_are_counted_like_rows(length: int, compiled: bool) -> None:
    schema = Schema((*(attribute(f"q{i}", 3) for i in range(4)), attribute("shown", 4, "bits")))
    table = random_table(schema, 300, seed=5)
    answers = [("q0", 1), ("q1", 0), ("q2", 2), ("shown", 3), ("shown", 0), ("q3", 0)]
    combinations = np.array(list(itertools.combinations(range(len(answers)), length)))[::-1]
    common = CommonCounts(answers, combinations, compiled=compiled)
    for part in (table.rows(slice(0, 100)), table.rows(slice(100, 300))):
        common.add(part)
    shows = [table[name][:, code] if table[name].ndim == 2 else table[name] == code for name, code in answers]
    expected = [np.logical_and.reduce([shows[at] for at in row]).sum() for row in combinations]
    np.testing.assert_array_equal(common.counts(), expected)
