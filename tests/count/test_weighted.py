"""Weighted tallies: the same sums from numpy, from compiled loops and from every database."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.count.memory import MemoryEngine
from tacit.count.weighted import SampleColumns, stored_groups, weighted_tally
from tacit.errors import InvalidInput, UnknownName
from tacit.schema import Attribute, Schema
from tacit.table import Table
from tests.count import engines
from tests.count.engines import attribute, random_table
from tests.spark_session import spark_session

WEIGHTS = ("0.5", "1", "2.25")
SCHEMA = Schema((attribute("a", 3), attribute("b", 2), Attribute("w", WEIGHTS), attribute("s", 2), attribute("c", 5)))
ROWS = 400


@pytest.fixture(scope="module")
def table():
    return random_table(SCHEMA, ROWS, seed=1965)


def by_hand(table):
    """Sums and squares of weights by (stratum, cluster, a, b)."""
    weights = np.array([float(text) for text in WEIGHTS])[table["w"]]
    found = np.zeros((2, 2, 5, 3, 2))
    for row in range(table.n_rows):
        cell = (table["s"][row], table["c"][row], table["a"][row], table["b"][row])
        found[(0, *cell)] += weights[row]
        found[(1, *cell)] += weights[row] ** 2
    return found


@pytest.mark.parametrize("compiled_from", [0, 1 << 62], ids=["compiled", "numpy"])
def test_sums_in_memory_are_those_by_hand(table, compiled_from):
    weights = np.array([float(text) for text in WEIGHTS])[table["w"]]
    keys = table["s"].astype(np.intp) * 5 + table["c"]
    strata = np.repeat(np.arange(2), 5)
    found = weighted_tally(table, ["a", "b"], weights, keys, strata, compiled_from=compiled_from)
    expected = by_hand(table)
    np.testing.assert_allclose(found.sums, np.moveaxis(expected[0].reshape(10, 3, 2), 0, -1))
    np.testing.assert_allclose(found.squares, np.moveaxis(expected[1].sum(axis=1), 0, -1))


@pytest.mark.parametrize(
    "engine",
    [
        "duckdb_parquet",
        "duckdb_csv",
        "sqlite_table",
        pytest.param("postgres_table", marks=pytest.mark.postgres),
        pytest.param("spark_parquet", marks=pytest.mark.spark),
    ],
)
def test_every_database_adds_the_same_weights(table, engine, tmp_path, request):
    if engine == "postgres_table":
        stored = engines.postgres_table(table, request.getfixturevalue("postgres_url"))
    else:
        if engine == "spark_parquet":
            spark_session()
        stored = getattr(engines, engine)(table, tmp_path)
    groups = stored_groups(stored, ["a", "b"], SampleColumns("w", "s", "c", 0.25))
    found = np.zeros((2, 2 * 5 * 6))
    place = (groups.stratum * 5 + groups.cluster) * 6 + groups.cells
    np.add.at(found[0], place, groups.sums)
    np.add.at(found[1], place, groups.squares)
    np.testing.assert_allclose(found.reshape(2, 2, 5, 3, 2), by_hand(table))
    assert groups.rows.sum() == ROWS
    assert set(groups.sampled) == {0.25}
    with pytest.raises(UnknownName, match="'weight'"):
        stored_groups(stored, ["a"], SampleColumns("weight"))


def test_weights_that_are_no_weights_are_refused(tmp_path):
    schema = Schema((attribute("a", 2), Attribute("w", ("0", "1"))))
    stored = engines.duckdb_parquet(Table.from_codes(schema, {"a": [0, 1, 1], "w": [1, 0, 1]}), tmp_path)
    with pytest.raises(InvalidInput, match="1 weights are missing, 0 or below"):
        stored_groups(stored, ["a"], SampleColumns("w"))


def test_columns_of_a_table_in_memory_are_arrays(table):
    with pytest.raises(InvalidInput, match="give the values themselves"):
        stored_groups(MemoryEngine(table), ["a"], SampleColumns("w"))


def test_too_many_clusters_for_the_cells_are_refused(table):
    with pytest.raises(InvalidInput, match="too large to hold"):
        weighted_tally(table, ["a"], np.ones(ROWS), np.zeros(ROWS, np.intp), np.zeros(1 << 24, np.intp))
