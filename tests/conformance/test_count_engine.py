"""What every engine must answer: one suite over memory, files and databases."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tacit.count.protocol import CountEngine
from tacit.errors import InvalidInput, UnknownName
from tacit.schema import Attribute, Schema
from tacit.table import Table
from tests.count import engines
from tests.count.engines import attribute, counted_by_hand, random_table, totals_by_hand
from tests.spark_session import spark_session

Build = Callable[[Table], CountEngine]

PLAIN = Schema((attribute("a", 3), attribute("b", 4), attribute("c", 2), attribute("long name, with comma", 5)))
# Answers that files and databases like to reinterpret.
AWKWARD = Schema(
    (
        Attribute("n", ("1", "01", "1.0", "NULL", "NaN")),
        Attribute("value", ("true", "false", "it's", 'a "quote"', "ü, ö")),
    )
)
SHOWN = Schema((attribute("a", 3), attribute("bits", 3, "bits"), attribute("set", 4, "set")))
HASHED = Schema((attribute("a", 3), attribute("h", 11, "hashed", 4), attribute("b", 2), attribute("g", 6, "hashed", 8)))
WIDE = Schema(tuple(attribute(f"q{i}", size) for i, size in enumerate((2, 30, 3, 60, 2, 41, 2, 50, 2, 40, 37, 2))))
BITS = Schema((attribute("a", 3), attribute("x", 3, "bits"), attribute("y", 2, "bits")))


@pytest.fixture(
    params=[
        "memory_numpy",
        "memory_compiled",
        "duckdb_parquet",
        "duckdb_csv",
        "sqlite_table",
        "whole_tally",
        "shards_in_memory_and_duckdb",
        pytest.param("postgres_table", marks=pytest.mark.postgres),
        pytest.param("spark_parquet", marks=pytest.mark.spark),
    ]
)
def build(request: pytest.FixtureRequest, tmp_path: Path) -> Build:
    """Puts a table where an engine counts it."""
    make = getattr(engines, request.param)
    if request.param == "postgres_table":
        return partial(make, server=request.getfixturevalue("postgres_url"))
    if request.param == "spark_parquet":
        spark_session()
    return partial(make, folder=tmp_path)


@pytest.fixture
def has_lists(request: pytest.FixtureRequest) -> bool:
    return request.node.callspec.params["build"] != "sqlite_table"


def test_tallies_are_the_counts_of_the_rows(build: Build) -> None:
    table = random_table(PLAIN, 200, seed=1)
    engine = build(table)
    sets = [["a"], ["b", "a"], ["c", "long name, with comma", "a"], [], ["b"], ["a", "b", "c"]]
    for columns, counts in zip(sets, engine.tallies(sets), strict=True):
        assert counts.dtype == np.int64
        np.testing.assert_array_equal(counts, counted_by_hand(table, columns))
    assert engine.n_rows == 200
    assert engine.tallies([]) == []


def test_all_pairs_of_many_columns_are_the_counts_of_the_rows(build: Build) -> None:
    table = random_table(WIDE, 150, seed=7)
    wanted = [*itertools.combinations(WIDE.names, 2), ("q3",), ("q1", "q0", "q5")]
    for columns, counts in zip(wanted, build(table).tallies(wanted), strict=True):
        assert counts.dtype == np.int64
        np.testing.assert_array_equal(counts, counted_by_hand(table, columns))


def test_answers_are_compared_as_text(build: Build) -> None:
    table = random_table(AWKWARD, 120, seed=2)
    np.testing.assert_array_equal(build(table).tally(["n", "value"]), counted_by_hand(table, ["n", "value"]))


def test_bits_and_sets_count_once_per_member_and_once_per_row(build: Build, has_lists: bool) -> None:
    table = random_table(SHOWN if has_lists else BITS, 60, seed=3)
    engine = build(table)
    sets = [["bits"], ["set"], ["a", "set"], ["set", "bits", "a"]] if has_lists else [["x"], ["y", "a", "x"]]
    for columns, counts in zip(sets, engine.tallies(sets), strict=True):
        np.testing.assert_array_equal(counts, counted_by_hand(table, columns))


def test_hashed_sets_count_once_per_member_and_once_per_row(build: Build) -> None:
    table = random_table(HASHED, 70, seed=3)
    engine = build(table)
    sets = [["h"], ["a", "h"], ["h", "b", "a"], ["g", "h"], ["a"]]
    for columns, counts in zip(sets, engine.tallies(sets), strict=True):
        assert counts.dtype == np.int64
        np.testing.assert_array_equal(counts, counted_by_hand(table, columns))


def test_totals_of_hashed_sets_are_sums_over_the_rows(build: Build) -> None:
    table = random_table(HASHED, 50, seed=5)
    weights = np.random.default_rng(6)
    products = [
        [(("h",), weights.normal(size=12))],
        [(("h",), np.where(np.arange(12) < 2, 0.75, 0.0)), (("a",), weights.normal(size=3))],
        [
            (("g",), weights.normal(size=7)),
            (("h",), weights.normal(size=12)),
            (("a", "b"), weights.normal(size=(3, 2))),
        ],
        [(("a",), weights.normal(size=3))],
    ]
    totals = build(table).totals(products)
    sums, squares = totals_by_hand(table, products)
    np.testing.assert_allclose(totals.sums, sums, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(totals.squares, squares, rtol=1e-12, atol=1e-12)


def test_a_sparse_tally_lists_what_occurs_in_ascending_order(build: Build) -> None:
    table = random_table(PLAIN, 90, seed=4)
    columns = ["long name, with comma", "a", "b"]
    sparse = build(table).sparse_tally(columns)
    dense = counted_by_hand(table, columns)
    np.testing.assert_array_equal(sparse.codes, np.argwhere(dense))
    np.testing.assert_array_equal(sparse.counts, dense[dense > 0])


def test_totals_are_sums_over_the_rows(build: Build, has_lists: bool) -> None:
    table = random_table(SHOWN if has_lists else BITS, 50, seed=5)
    weights = np.random.default_rng(6)
    last = "set" if has_lists else "y"
    size = table.schema[last].tally_size
    middle = "bits" if has_lists else "x"
    products = [
        [(("a",), weights.normal(size=3))],
        [(("a",), weights.normal(size=3)), ((middle,), weights.normal(size=4))],
        [((last,), np.where(np.arange(size) < 2, 0.75, -0.25)), (("a",), weights.normal(size=3))],
        [((last,), weights.normal(size=size)), ((middle,), weights.normal(size=4))],
        [],
    ]
    totals = build(table).totals(products)
    sums, squares = totals_by_hand(table, products)
    np.testing.assert_allclose(totals.sums, sums, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(totals.squares, squares, rtol=1e-12, atol=1e-12)


def test_totals_of_columns_with_more_cells_than_rows(build: Build) -> None:
    table = random_table(PLAIN, 40, seed=7)
    weights = np.random.default_rng(8)
    products = [
        [(("b", "a"), weights.normal(size=(4, 3))), (("c", "long name, with comma"), weights.normal(size=(2, 5)))],
        [(("b", "a"), weights.normal(size=(4, 3))), (("long name, with comma",), weights.normal(size=5))],
    ]
    totals = build(table).totals(products)
    sums, squares = totals_by_hand(table, products)
    np.testing.assert_allclose(totals.sums, sums, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(totals.squares, squares, rtol=1e-12, atol=1e-12)


def test_an_empty_table_counts_nothing(build: Build, has_lists: bool) -> None:
    engine = build(random_table(SHOWN if has_lists else BITS, 0, seed=9))
    assert engine.n_rows == 0
    assert engine.tally(["a"]).tolist() == [0, 0, 0]
    assert engine.tally(["bits" if has_lists else "x"]).sum() == 0
    assert engine.sparse_tally(["a"]).codes.shape == (0, 1)
    assert engine.totals([[(("a",), np.ones(3))]]).sums.tolist() == [0.0]


def test_what_cannot_be_counted_is_refused(build: Build) -> None:
    engine = build(random_table(BITS, 5, seed=10))
    with pytest.raises(UnknownName, match="'z' does not exist"):
        engine.tally(["z"])
    with pytest.raises(InvalidInput, match="names the column 'a' twice"):
        engine.tally(["a", "a"])
    with pytest.raises(InvalidInput, match="'x' shows a set; only columns with one answer"):
        engine.sparse_tally(["x"])
    with pytest.raises(InvalidInput, match="at least one column"):
        engine.sparse_tally([])
    with pytest.raises(InvalidInput, match=r"need the shape \(3,\)"):
        engine.totals([[(("a",), np.ones(4))]])
    with pytest.raises(InvalidInput, match="a set or bits together with other columns"):
        engine.totals([[(("a", "x"), np.ones((3, 4)))]])


def test_a_tally_too_large_to_hold_is_refused(build: Build) -> None:
    engine = build(random_table(Schema(tuple(attribute(f"a{i}", 30) for i in range(6))), 5, seed=11))
    with pytest.raises(InvalidInput, match=r"7\.29e\+08 cells, too many to hold"):
        engine.tally([f"a{i}" for i in range(6)])
    assert engine.sparse_tally([f"a{i}" for i in range(6)]).counts.sum() == 5


@st.composite
def tables(draw: st.DrawFn) -> Table:
    shows = draw(st.lists(st.sampled_from(["one", "one", "bits", "set"]), min_size=1, max_size=4))
    sizes = [draw(st.integers(3, 5)) for _ in shows]
    schema = Schema(
        tuple(attribute(f"c{i}", size, kind) for i, (size, kind) in enumerate(zip(sizes, shows, strict=True)))
    )
    return random_table(schema, draw(st.integers(1, 12)), seed=draw(st.integers(0, 1000)))


@pytest.mark.parametrize("kind", ["memory_numpy", "memory_compiled", "duckdb_parquet"])
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=tables(), data=st.data())
def test_any_table_any_columns(kind: str, table: Table, data: st.DataObject, tmp_path: Path) -> None:
    engine = getattr(engines, kind)(table, tmp_path)
    subsets = st.lists(st.permutations(table.schema.names).flatmap(_some), min_size=1, max_size=3)
    sets = data.draw(subsets)
    for columns, counts in zip(sets, engine.tallies(sets), strict=True):
        np.testing.assert_array_equal(counts, counted_by_hand(table, columns))
    generator = np.random.default_rng(data.draw(st.integers(0, 100)))
    product = [((name,), generator.normal(size=table.schema[name].tally_size)) for name in table.schema.names]
    totals = engine.totals([product])
    sums, squares = totals_by_hand(table, [product])
    np.testing.assert_allclose(totals.sums, sums, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(totals.squares, squares, rtol=1e-11, atol=1e-11)


def _some(names: list[str]) -> st.SearchStrategy[list[str]]:
    return st.integers(0, min(3, len(names))).map(lambda count: list(names[:count]))
