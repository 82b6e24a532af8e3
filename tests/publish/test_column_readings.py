"""Codes and names of any number of values become answers that are not too many."""

from __future__ import annotations

import pyarrow as pa

from tacit.publish.column_readings import CodeReading, FrequentReading, reading_from_document
from tacit.publish.column_values import counted_columns
from tacit.publish.labels import label
from tacit.schema import Attribute


def column(values) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values)])


def test_codes_are_kept_by_their_longest_prefix_that_is_not_too_many():
    codes = [f"{i:05d}" for i in range(10_000, 12_000)]
    reading = CodeReading.found(column(codes))
    assert (reading.kept, reading.read(column(["10123"])).to_pylist()) == (4, ["1012*"])
    numbers = CodeReading.found(column(list(range(500, 2_000))))
    assert numbers.read(column([500])).to_pylist() == ["050*"]
    assert reading_from_document(reading.to_document()) == reading
    attribute = Attribute("zip", reading.answers())
    assert label(attribute, 0, 9) == "100**"
    assert label(attribute, 1, 9) == "1001* to 1009*"


def test_rare_names_are_grouped():
    names = [f"n{i}" for i in range(500) for _ in range(1 + (i < 100))]
    reading = FrequentReading.found(counted_columns([pa.table({"name": names})], ["name"])["name"])
    assert len(reading.answers()) == 200
    assert reading.read(column(["n5", "n499", None])).to_pylist() == ["n5", "other", None]
    assert reading_from_document(reading.to_document()) == reading
