"""Many tallies from few scans: rows that come out once, and cells counted far away; each equal to counting in memory."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tacit.count import MemoryEngine, grouped_cells
from tacit.count import table as tables
from tacit.count.connections import open_table
from tacit.count.partitions import Cluster
from tacit.count.protocol import CountEngine
from tacit.count.table import TableEngine
from tacit.errors import InvalidInput, UnknownAnswer
from tacit.schema import Attribute, Schema
from tacit.table import Table
from tacit.table.files import table_writer
from tests.count.engines import attribute, duckdb_parquet, postgres_table, random_table, spark_parquet
from tests.count.scans import counted_scans
from tests.spark_session import spark_session

YES_NO = Schema(tuple(attribute(f"q{i}", 2) for i in range(60)))
FIVE = Schema(tuple(attribute(f"q{i}", 5) for i in range(20)))


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB treated as if its rows were far away."""
    monkeypatch.setattr(tables, "GROUPING", ("duckdb",))


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is asked of the database, query by query."""
    asked: list[str] = []
    plain, out = grouped_cells.answer, tables.stream_rows
    monkeypatch.setattr(grouped_cells, "answer", lambda query: asked.append("grouping") or plain(query))
    monkeypatch.setattr(tables, "stream_rows", lambda query: asked.append("stream") or out(query))
    return asked


@pytest.mark.parametrize("schema", [YES_NO, FIVE], ids=["yes or no", "five answers"])
def test_all_pairs_come_from_at_most_two_scans(schema: Schema, tmp_path: Path, remote: None, scans: list[str]) -> None:
    table = random_table(schema, 300, seed=1)
    engine = duckdb_parquet(table, tmp_path)
    wanted = list(itertools.combinations(schema.names, 2))
    for ours, theirs in zip(engine.tallies(wanted), MemoryEngine(table).tallies(wanted), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert 1 <= len(scans) <= 2


@pytest.mark.slow
def test_all_pairs_of_two_hundred_questions_take_two_scans_of_postgresql(postgres_url: str) -> None:
    table = random_table(Schema(tuple(attribute(f"q{i}", 2) for i in range(200))), 60, seed=4)
    assert_all_pairs_in_two_scans(postgres_table(table, postgres_url), table)


@pytest.mark.slow
@pytest.mark.spark
def test_where_tacit_is_not_installed_on_a_cluster_spark_groups_in_two_scans(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spark_session()
    monkeypatch.setattr(Cluster, "without_tacit", set())
    table = random_table(Schema(YES_NO.attributes[:12]), 60, seed=5)
    engine = spark_parquet(table, tmp_path)
    with monkeypatch.context() as patch:  # machines that have another version say so and are not asked again
        patch.setattr("tacit.__version__", "0.0.0")
        wanted = [["q0"]]
        np.testing.assert_array_equal(engine.tallies(wanted)[0], MemoryEngine(table).tallies(wanted)[0])
    assert Cluster.without_tacit
    assert_all_pairs_in_two_scans(engine, table)
    product = [((name,), np.array([0.3, -1.7])) for name in table.schema.names[:5]]  # more cells than a tally is worth
    ours, theirs = engine.totals([product]), MemoryEngine(table).totals([product])
    np.testing.assert_allclose([ours.sums, ours.squares], [theirs.sums, theirs.squares], rtol=1e-12)


def assert_all_pairs_in_two_scans(engine: CountEngine, table: Table) -> None:
    wanted = list(itertools.combinations(table.schema.names, 2))
    with counted_scans() as asked:
        counts = engine.tallies(wanted)
    assert len(asked) <= 2
    for ours, theirs in zip(counts, MemoryEngine(table).tallies(wanted), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_tables_of_three_columns_are_grouped_too(tmp_path: Path, remote: None, scans: list[str]) -> None:
    table = random_table(FIVE, 200, seed=2)
    wanted = [*itertools.combinations(FIVE.names[:6], 3), ("q7",), ("q9", "q8")]
    counts = duckdb_parquet(table, tmp_path).tallies(wanted)
    for ours, theirs in zip(counts, MemoryEngine(table).tallies(wanted), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert scans == ["grouping"]


def test_rows_nearby_come_out_once(tmp_path: Path, scans: list[str]) -> None:
    table = random_table(YES_NO, 300, seed=3)
    wanted = list(itertools.combinations(YES_NO.names, 2))
    counts = duckdb_parquet(table, tmp_path).tallies(wanted)
    for ours, theirs in zip(counts, MemoryEngine(table).tallies(wanted), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert scans == ["stream"]


@pytest.mark.parametrize("is_remote", [True, False])
def test_what_is_no_answer_is_refused_by_name(is_remote: bool, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if is_remote:
        request.getfixturevalue("remote")
    names = [f"q{i}" for i in range(30)]
    schema = Schema(tuple(Attribute(name, ("no", "yes")) for name in names))
    wanted = list(itertools.combinations(names, 2))
    for wrong, error, message in [
        ("perhaps", UnknownAnswer, "'q7' has no answer 'perhaps'"),
        (None, InvalidInput, "'q7' has 1 missing value"),
    ]:
        rows = {name: ["no", "yes", wrong if name == "q7" else "no"] for name in names}
        path = tmp_path / f"{wrong}.parquet"
        with table_writer(path, {}) as writer:
            writer.write(pa.table(rows))
        with pytest.raises(error, match=message):
            TableEngine(open_table(path), schema).tallies(wanted)


def test_missing_values_that_stand_for_an_answer_are_counted(tmp_path: Path) -> None:
    names = [f"q{i}" for i in range(30)]
    schema = Schema(tuple(Attribute(name, ("no", "yes", "none"), missing="none") for name in names))
    rows = {name: ["no", "yes", None, ""] for name in names}
    with table_writer(tmp_path / "rows.parquet", {}) as writer:
        writer.write(pa.table(rows))
    counts = TableEngine(open_table(tmp_path / "rows.parquet"), schema).tallies(list(itertools.combinations(names, 2)))
    np.testing.assert_array_equal(counts[5], np.diag([1, 1, 2]))


def test_grouped_counts_are_those_of_every_table_unless_a_row_shows_no_answer(tmp_path: Path) -> None:
    schema = Schema((attribute("a", 2), attribute("b", 3), attribute("c", 2)))
    table = random_table(schema, 50, seed=3)
    engine = duckdb_parquet(table, tmp_path)
    sets = [["a", "b"], ["c", "b"], ["a"]]
    counts = grouped_cells.grouped_tallies(engine, sets)
    assert counts is not None
    for columns, counted in zip(sets, counts, strict=True):
        np.testing.assert_array_equal(counted, MemoryEngine(table).tally(columns))
    other = Schema((attribute("a", 2), Attribute("b", ("b0", "b1", "other")), attribute("c", 2)))
    assert grouped_cells.grouped_tallies(TableEngine(engine.table, other), sets) is None
