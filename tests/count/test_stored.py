from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tacit import Attribute, Dataset, Reports, Scheme, channels, disguise
from tacit.count import sources
from tacit.count.connections import open_table, safe_address
from tacit.count.database_schema import inferred_schema
from tacit.count.stored import StoredReports
from tacit.errors import InvalidInput, MissingExtra, SchemeMismatch, UnknownName
from tacit.reports import MissingSchemeNote
from tacit.schema import Schema
from tests.spark_session import spark_session

SCHEMA = Schema(tuple(Attribute(name, ("no", "maybe", "yes")) for name in ("a", "b", "c")))
PLAIN = Scheme.of(SCHEMA, [(["a"], channels.warner(0.7)), (["b", "c"], channels.gamma_diagonal(19))])
SHOWN = Scheme.of(SCHEMA, [(["a"], channels.mask(0.8)), (["b", "c"], channels.subset(3, 5.0))])
DEALT = Scheme.dealt(
    SCHEMA,
    [("first", 0.5, [(["a"], channels.warner(0.7))]), ("second", 0.5, [(["b", "c"], channels.gamma_diagonal(19))])],
)


def reports_under(scheme: Scheme, rows: int = 300) -> Reports:
    generator = np.random.default_rng(1)
    truth = {name: np.array(["no", "maybe", "yes"])[generator.integers(0, 3, rows)].tolist() for name in "abc"}
    return disguise(Dataset.from_arrow(truth, SCHEMA), scheme, seed=2)


def assert_counted_alike(stored: StoredReports, reports: Reports) -> None:
    for ours, theirs in zip(sources(stored), sources(reports), strict=True):
        assert ours.questionnaire.name == theirs.questionnaire.name
        assert ours.engine.n_rows == theirs.engine.n_rows
        names = theirs.engine.schema.names
        np.testing.assert_array_equal(ours.engine.tally(names), theirs.engine.tally(names))
    assert len(stored) == reports.n_reports


@pytest.mark.parametrize("scheme", [PLAIN, SHOWN, DEALT], ids=["plain", "sets and bits", "dealt"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_stored_reports_count_like_reports_in_memory(tmp_path: Path, scheme: Scheme, suffix: str) -> None:
    reports = reports_under(scheme)
    reports.write(tmp_path / f"reports.{suffix}")
    stored = StoredReports.open(tmp_path / f"reports.{suffix}", scheme)
    assert stored.is_simulation
    assert_counted_alike(stored, reports)


@pytest.mark.parametrize("address", ["{folder}/truth.parquet", "duckdb:///{folder}/truth.duckdb?table=truth"])
def test_labels_of_rows_out_of_pandas_are_no_attribute_of_a_stored_table(tmp_path: Path, address: str) -> None:
    import duckdb
    import pandas as pd

    frame = pd.DataFrame({"a": ["x", "y", "x", "y"], "b": ["u", "v", "v", "v"]}).iloc[[3, 0, 1]]
    frame.to_parquet(tmp_path / "truth.parquet")
    with duckdb.connect(str(tmp_path / "truth.duckdb")) as database:
        database.execute(f"CREATE TABLE truth AS SELECT * FROM '{tmp_path}/truth.parquet'")
        columns = [row[0] for row in database.execute("DESCRIBE truth").fetchall()]
        assert "__index_level_0__" in columns
    table = open_table(address.format(folder=tmp_path))
    assert list(table.columns) == ["a", "b"]
    assert inferred_schema(table).names == ("a", "b")
    stored = StoredReports(table, Scheme.of(inferred_schema(table)))
    assert len(stored) == 3


def test_a_file_of_another_scheme_is_refused(tmp_path: Path) -> None:
    reports_under(PLAIN).write(tmp_path / "reports.parquet")
    other = Scheme.of(SCHEMA, [(["a"], channels.warner(0.8)), (["b", "c"], channels.gamma_diagonal(19))])
    with pytest.raises(SchemeMismatch, match="was disguised under the scheme"):
        StoredReports.open(tmp_path / "reports.parquet", other)


def test_a_file_without_a_note_is_a_warning(tmp_path: Path) -> None:
    reports_under(PLAIN).write(tmp_path / "reports.csv")
    (tmp_path / "reports.csv.json").unlink()
    with pytest.warns(MissingSchemeNote, match="does not say under which scheme"):
        StoredReports.open(tmp_path / "reports.csv", PLAIN)


@pytest.mark.slow
@pytest.mark.parametrize("address", ["{folder}/reports.csv", "duckdb:///{folder}/reports.duckdb?table=reports"])
def test_a_long_count_in_an_interactive_session_prints_nothing(tmp_path: Path, address: str) -> None:
    """DuckDB draws a bar on standard output where there is no script: in notebooks, consoles and `python -c`."""
    import duckdb

    (tmp_path / "reports.csv").write_text("smokes\nno\n", encoding="utf-8")
    with duckdb.connect(str(tmp_path / "reports.duckdb")) as database:
        database.execute("CREATE TABLE reports AS SELECT 'no' AS smokes")
    script = (
        "import sys; from tacit.count.connections import open_table; "
        "table = open_table(sys.argv[1]); asked = \"SELECT current_setting('enable_progress_bar')\"; "
        "print(table.get_backend().raw_sql(asked).fetchone()[0])"
    )
    command = [sys.executable, "-c", script, address.format(folder=tmp_path)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"


def test_an_unknown_questionnaire_is_refused(tmp_path: Path) -> None:
    reports_under(DEALT).write(tmp_path / "reports.csv")
    text = (tmp_path / "reports.csv").read_text().replace("second", "third")
    (tmp_path / "reports.csv").write_text(text)
    with pytest.raises(UnknownName, match="Questionnaire 'third' does not exist"):
        StoredReports.open(tmp_path / "reports.csv", DEALT).sources()


def test_ragged_rows_are_refused(tmp_path: Path) -> None:
    clear = Scheme.of(SCHEMA)
    (tmp_path / "reports.csv").write_text("a,b,c\nno,no,no\nno,no\n")
    with pytest.raises(InvalidInput, match="failed"):
        StoredReports.open(tmp_path / "reports.csv", clear).sources()[0].engine.tally(["a"])


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("nowhere.parquet", "There is no file"),
        ("postgresql://someone:secret@127.0.0.1/db", r"someone:\*\*\*@.* does not name a table. Add \?table=NAME"),
        ("sqlite:///nowhere.db?table=t", "There is no file"),
        ("postgresql://someone:secret@127.0.0.1:1/db?table=t", r"Opening .*\*\*\*@.* failed"),
        (
            "mysql://someone:secret@127.0.0.1/db?table=t",
            r"'mysql://someone:\*\*\*@.* is no address .* begin with postgresql://",
        ),
    ],
)
def test_what_cannot_be_opened_is_refused(where: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as refusal:
        StoredReports.open(where, Scheme.of(SCHEMA))
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_table_that_is_not_there_is_refused(tmp_path: Path, kind: str) -> None:
    import duckdb

    file = tmp_path / "reports.db"
    with contextlib.closing((sqlite3 if kind == "sqlite" else duckdb).connect(str(file))) as database:
        database.execute("CREATE TABLE reports (a TEXT)")
    with pytest.raises(InvalidInput, match="The database has no table 'report'"):
        StoredReports.open(f"{kind}:///{file}?table=report", Scheme.of(SCHEMA))


def test_a_password_is_not_shown() -> None:
    assert safe_address("mysql://me:p%40ss@host/db") == "'mysql://me:***@host/db'"
    assert safe_address("postgresql://me@host/db") == "'postgresql://me@host/db'"
    assert safe_address("me:p@ss.csv") == "'me:p@ss.csv'"  # a file's name
    assert safe_address("postgresql://me:p%40ss@host/db?table=t") == "'postgresql://me:***@host/db?table=t'"


def test_a_missing_driver_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "ibis.backends.postgres", raising=False)
    with pytest.raises(MissingExtra, match=r"tacit\[postgres\]"):
        StoredReports.open("postgresql://127.0.0.1:1/db?table=t", Scheme.of(SCHEMA))
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(MissingExtra, match=r"tacit\[spark\]"):
        StoredReports.open("spark:reports", Scheme.of(SCHEMA))


@pytest.mark.postgres
def test_a_table_of_postgresql(postgres_url: str) -> None:
    import psycopg

    reports = reports_under(PLAIN)
    rows = [tuple(row.values()) for row in reports.to_arrow().to_pylist()]
    with psycopg.connect(postgres_url) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA poll")
        # Other columns of the table, such as when a report came in, are not looked at.
        cursor.execute("CREATE TABLE poll.reports (a TEXT, b TEXT, c TEXT, received TIMESTAMP)")
        cursor.executemany("INSERT INTO poll.reports VALUES (%s, %s, %s, now())", rows)
    with pytest.warns(MissingSchemeNote):
        stored = StoredReports.open(f"{postgres_url}?table=poll.reports", PLAIN)
    assert_counted_alike(stored, reports)
    with pytest.raises(InvalidInput, match="no table 'report'"):  # and no warning of what is not there
        StoredReports.open(f"{postgres_url}?table=poll.report", PLAIN)


@pytest.mark.spark
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_read_by_spark(tmp_path: Path, suffix: str) -> None:
    spark_session()
    reports = reports_under(PLAIN, rows=40)
    reports.write(tmp_path / f"reports.{suffix}")
    with pytest.warns(MissingSchemeNote):
        stored = StoredReports.open(f"spark:{tmp_path}/reports.{suffix}", PLAIN)
    assert_counted_alike(stored, reports)
