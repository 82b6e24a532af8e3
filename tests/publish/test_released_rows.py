from __future__ import annotations

import numpy as np
import pytest

from tacit.publish import released_rows
from tacit.publish.released_rows import ReleasedColumns

TEXTS = {"a": ("z", "", "Z", "é", "10", "9"), "b": ("𝄞", "\uffff", "x")}


def shown(tables) -> list[tuple[str, ...]]:
    return [row for table in tables for row in zip(*(c.to_pylist() for c in table.columns), strict=True)]


@pytest.mark.parametrize("largest_word", [2**63, 7])
def test_rows_are_sorted_by_bytes_from_left_to_right_and_empty_last(monkeypatch, largest_word):
    monkeypatch.setattr(released_rows, "LARGEST_WORD", largest_word)
    rng = np.random.default_rng(1)
    batches = [{"a": rng.integers(0, 6, 40), "b": rng.integers(0, 3, 40)} for _ in range(3)]
    rows = [(TEXTS["a"][a], TEXTS["b"][b]) for batch in batches for a, b in zip(batch["a"], batch["b"], strict=True)]
    expected = sorted(rows, key=lambda row: [(text == "", text.encode()) for text in row])
    assert shown(ReleasedColumns(TEXTS).in_order(batches)) == expected
    assert shown(ReleasedColumns(TEXTS).as_they_come(batches)) == rows


def test_dictionaries_hold_only_what_rows_show():
    (table,) = ReleasedColumns(TEXTS).in_order([{"a": np.array([3, 0]), "b": np.array([2, 2])}])
    assert table["a"].chunk(0).dictionary.to_pylist() == ["z", "é"]
    assert table["b"].chunk(0).dictionary.to_pylist() == ["x"]


@pytest.mark.parametrize("largest_word", [2**63, 7])
@pytest.mark.parametrize("slice_rows", [1 << 20, 7])
def test_counted_rows_are_those_that_were_counted(monkeypatch, largest_word, slice_rows):
    monkeypatch.setattr(released_rows, "LARGEST_WORD", largest_word)
    monkeypatch.setattr(released_rows, "SLICE_ROWS", slice_rows)
    rng = np.random.default_rng(2)
    codes, counts = {"a": rng.integers(0, 6, 40), "b": rng.integers(0, 3, 40)}, rng.integers(0, 9, 40)
    one_by_one = {name: np.repeat(own, counts) for name, own in codes.items()}
    expected = shown(ReleasedColumns(TEXTS).in_order([one_by_one]))
    assert len(expected) == counts.sum()
    parts = list(ReleasedColumns(TEXTS).in_order_of_counts(codes, counts))
    assert shown(parts) == expected
    assert all(len(part) == slice_rows for part in parts[:-1])
    for part in parts:
        for column in part.columns:
            assert set(column.chunk(0).dictionary.to_pylist()) == set(column.to_pylist())
