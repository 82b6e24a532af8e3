from __future__ import annotations

import numpy as np

from tacit.count import MemoryEngine
from tacit.count.sparse import KEY_LIMIT, occurring
from tacit.schema import Schema
from tests.count.engines import attribute, random_table


def test_joint_domains_beyond_64_bits_are_counted_exactly() -> None:
    generator = np.random.default_rng(1)
    rows = generator.integers(0, 60_000, size=(50, 9), dtype=np.uint16)
    rows = rows[generator.integers(0, 50, size=400)]  # 50 combinations, each several times
    assert KEY_LIMIT < 60_000**9
    codes, counts = occurring(list(rows.T), [60_000] * 9)
    expected, expected_counts = np.unique(rows, axis=0, return_counts=True)
    np.testing.assert_array_equal(codes, expected)
    np.testing.assert_array_equal(counts, expected_counts)


def test_forty_columns_of_a_table() -> None:
    table = random_table(Schema(tuple(attribute(f"c{i}", 10) for i in range(40))), 300, seed=2)
    sparse = MemoryEngine(table).sparse_tally(table.schema.names)
    stacked = np.stack([table[name] for name in table.schema.names], axis=1)
    expected, counts = np.unique(stacked, axis=0, return_counts=True)
    np.testing.assert_array_equal(sparse.codes, expected)
    np.testing.assert_array_equal(sparse.counts, counts)


def test_given_counts_are_added_up() -> None:
    codes, counts = occurring([np.array([1, 0, 1])], [2], np.array([5, 7, 11]))
    assert codes.tolist() == [[0], [1]]
    assert counts.tolist() == [7, 16]
