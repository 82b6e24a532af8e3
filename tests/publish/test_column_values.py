"""What columns hold is counted batch by batch, and comes out as if the table were read whole."""

from __future__ import annotations

import collections

import numpy as np
import pyarrow as pa
import pytest

from tacit.errors import InvalidInput
from tacit.publish import column_values
from tacit.publish.column_values import counted_columns


def batches(columns: dict, size: int):
    table = pa.table(columns)
    return (table.slice(start, size) for start in range(0, table.num_rows, size))


def test_values_are_those_of_the_whole_table(monkeypatch):
    monkeypatch.setattr(column_values, "WAITING", 50)  # so that sums are made on the way
    rng = np.random.default_rng(5)
    names = [f"n{i}" for i in rng.integers(0, 300, 5_000)]
    ages = rng.integers(0, 90, 5_000)
    held = counted_columns(batches({"name": names, "age": ages}, 37), ["age", "name"])
    assert list(held) == ["age", "name"]
    for name, whole in (("name", names), ("age", ages.tolist())):
        told = dict(zip(held[name].values.to_pylist(), held[name].times.tolist(), strict=True))
        assert len(told) == len(held[name].times)
        assert told == collections.Counter(whole)


def test_missing_values_are_counted_in_rows_or_their_rows_left_out():
    columns = {"town": ["Ulm", None, "", "Rom", None], "age": [1, 2, 3, None, 5]}
    kept = counted_columns(batches(columns, 2), ["town", "age"])
    assert (kept["town"].missing, kept["age"].missing) == (3, 1)
    dropped = counted_columns(batches(columns, 2), ["town", "age"], drop=True)
    assert dropped["town"].values.to_pylist() == ["Ulm"]
    with pytest.raises(InvalidInput, match=r"'town' has 3 missing value\(s\), 'age' 1\."):
        column_values.refuse_missing(kept)


def test_dictionaries_that_differ_from_batch_to_batch_are_no_matter():
    parts = [pa.table({"town": pa.array(own).dictionary_encode()}) for own in (["Ulm", "Rom"], ["Rom", "Wien"])]
    held = counted_columns(parts, ["town"])["town"]
    assert dict(zip(held.values.to_pylist(), held.times.tolist(), strict=True)) == {"Ulm": 1, "Rom": 2, "Wien": 1}


def test_what_cannot_be_counted_is_refused():
    with pytest.raises(InvalidInput, match="no rows"):
        counted_columns([pa.table({"a": pa.array([], pa.string())})], ["a"])
    with pytest.raises(InvalidInput, match="dropping them leaves nothing"):
        counted_columns([pa.table({"a": ["", None]})], ["a"], drop=True)
    with pytest.raises(InvalidInput, match="different types in different files"):
        counted_columns([pa.table({"a": [1]}), pa.table({"a": ["x"]})], ["a"])
    with pytest.raises(InvalidInput, match="cannot be read as answers"):
        counted_columns([pa.table({"a": [[1], [2]]})], ["a"])


def test_rows_that_are_alike_take_no_memory():
    part = pa.table({"town": [f"t{i % 500}" for i in range(10_000)]})
    held = []

    def parts():
        for _ in range(600):
            held.append(pa.total_allocated_bytes())
            yield part.filter(pa.array(np.ones(10_000, np.bool_)))  # a fresh copy

    counted_columns(parts(), ["town"])
    assert max(held) - held[0] < 50 * part.nbytes  # of 600 parts
