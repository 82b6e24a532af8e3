"""A table in a database is published exactly as the same rows in memory."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sqlite3
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tacit import bundled
from tacit.count import backend
from tacit.count.connections import open_table
from tacit.errors import InvalidInput, TacitError
from tacit.publish import check_release, database_input
from tacit.publish.hierarchies import Hierarchy
from tacit.publish.usefulness import classifier_survival
from tacit.schema import Attribute, Schema, numeric
from tacit.table import read_table
from tests.publish.databases import ENGINES, Filled
from tests.publish.test_anonymization import QUICK, people
from tests.publish.wishes import anonymize

NINE = bundled.adult_nine().schema
RACES = Hierarchy(
    np.array([[0, 0, 0, 0, 0], [0, 1, 1, 1, 1], [0, 1, 2, 3, 4]]), (("*",), ("White", "other"), tuple("abcde"))
)


def adult(rows: int | None = None) -> pa.Table:
    """Rows of adult.data as published: ages as numbers, what was not stated as null."""
    raw = bundled.raw_adult().rename_columns({"income": "salary-class"})
    columns = [raw.column(name) for name in NINE.names]
    text = [
        column.cast(pa.int64() if name == "age" else pa.string())
        for name, column in zip(NINE.names, columns, strict=True)
    ]
    train = pa.table(text, names=list(NINE.names)).filter(pa.array(~raw.column("from_test").to_numpy()))
    # Seven who never worked have no occupation either, and no answer in the schema.
    train = train.filter(pc.not_equal(train["workclass"], "Never-worked").fill_null(True))
    return train if rows is None else train.slice(0, rows)


def rows_of(release) -> list[tuple[str, ...]]:
    table = release.to_arrow()
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


TABLES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table'",
    "duckdb": "SELECT table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE'",
    "postgres": "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
}


def tables_in(connection) -> list[str]:
    return sorted(name for (name,) in connection.raw_sql(TABLES[connection.name]).fetchall())


WISHES = {
    "whole": {"k": 10},
    "suppressed": {"k": 5, "suppress": 0.04, "missing": "drop", "sensitive": "salary-class", "l": 2},
    "local": {"k": 20, "method": "local", "keep": ["sex"]},
    "levels": {"k": 30, "attributes": ["age", "race", "sex"], "hierarchies": {"race": RACES}},
    "sets": {"k": 10, "attributes": [["age", "sex"], ["native-country", "race"]], "order": "data"},
}


def wished(name: str) -> tuple[pa.Table, dict]:
    """All of Adult once; for the other wishes a part of it says the same."""
    return adult(None if name == "whole" else 8_000), {"missing": "drop", "schema": NINE} | QUICK | WISHES[name]


@functools.cache
def published_from_memory(name: str) -> tuple[dict, list[tuple[str, ...]]]:
    rows, wishes = wished(name)
    release = anonymize(rows, **wishes)
    return release.to_document(), rows_of(release)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", WISHES)
def test_adult_is_published_as_from_memory(filled: Filled, engine, name):
    rows, wishes = wished(name)
    ours = anonymize(filled(engine, rows), **wishes)
    document, released = published_from_memory(name)
    assert name != "whole" or ours.rows == 30_162
    assert ours.to_document() == document
    assert rows_of(ours) == released


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_the_file_is_streamed_and_verified(filled: Filled, engine, name, tmp_path, monkeypatch):
    monkeypatch.setattr(backend, "STREAMED_ROWS", 64)
    release = anonymize(filled(engine, pa.table(people())), 6, sensitive="illness", **QUICK)
    if engine != "duckdb":  # DuckDB hands out its own vectors of 2048 rows
        assert [len(batch) for batch in release.batches()] == [64] * 6 + [16]
    path = release.write(tmp_path / name)
    assert check_release(path, ["age", "town", "sex"]).k == release.effective_k
    manifest = json.loads((tmp_path / f"{name}.manifest.json").read_text())
    assert manifest["verified"]["k"] == release.effective_k
    private = json.loads((tmp_path / f"{name}.private.json").read_text())
    assert private["input_hash_of"] == "tally"
    assert read_table(path).num_rows == 400


@pytest.mark.parametrize("engine", ENGINES)
def test_a_table_is_published_into_a_table(filled: Filled, engine):
    address = filled(engine, pa.table(people()))
    release = anonymize(address, 6, sensitive="illness", suppress=0.02, **QUICK)
    assert release.write_table("hidden") == "hidden"
    connection = release.input.table.get_backend()
    with backend.asking("Opening"):  # ibis uses names that DuckDB deprecates
        hidden, notes = connection.table("hidden"), connection.table("hidden_manifest")
    published = backend.answer(hidden)
    assert list(zip(*(column.to_pylist() for column in published.columns), strict=True)) == rows_of(release)
    manifest = json.loads(backend.answer(notes)["manifest"][0].as_py())
    assert manifest["verified"]["k"] == release.effective_k
    assert tables_in(connection) == ["hidden", "hidden_manifest", "people"]
    assert check_release(hidden, ["age", "town", "sex"]).k == release.effective_k
    with pytest.raises(InvalidInput, match="There is a table 'hidden' already"):
        release.write_table("hidden")
    with pytest.raises(InvalidInput, match="no plain name"):
        release.write_table('a"b')


@pytest.mark.parametrize("engine", ENGINES)
def test_a_table_that_changed_in_between_is_not_kept(filled: Filled, engine, tmp_path):
    release = anonymize(filled(engine, pa.table(people())), 6, ["age", "town"], **QUICK)
    connection = release.input.table.get_backend()
    backend.command(connection, "INSERT INTO people VALUES ('20', 'Ulm', 'f', 'flu')")
    with pytest.raises(TacitError, match=r"401 rows were written where the manifest says 400.*Did the table change"):
        release.write(tmp_path / "out.csv")
    with pytest.raises(TacitError, match="401 rows were written"):
        release.write_table("hidden")
    assert tables_in(connection) == ["people"]
    assert not list(tmp_path.glob("out*"))


@pytest.mark.parametrize("engine", ENGINES)
def test_values_of_every_type_become_the_answers_of_memory(filled: Filled, engine):
    rng = np.random.default_rng(3)
    n = 300
    rows = pa.table(
        {
            "age": pa.array(rng.integers(18, 30, n)),
            "income": pa.array(np.where(rng.random(n) < 0.1, np.nan, rng.normal(50, 10, n).round(2)), from_pandas=True),
            "owner": pa.array([None if rng.random() < 0.1 else bool(rng.random() < 0.4) for _ in range(n)]),
            "height": pa.array([str(v) for v in rng.integers(150, 200, n)]),
            "town": pa.array([["Ulm", "Rom", " ", None][i] for i in rng.integers(0, 4, n)]),
        }
    )
    if engine == "sqlite":  # where truth values are whole numbers
        rows = rows.set_column(2, "owner", rows["owner"].cast(pa.int64()))
    owner = ("0", "1", "unknown") if engine == "sqlite" else ("false", "true", "unknown")
    schema = Schema(
        (
            Attribute("age", tuple(str(age) for age in range(18, 30)), ordered=True),
            numeric("income", (40, 50, 60), closed="left"),
            Attribute("owner", owner, missing="unknown"),
            numeric("height", (160, 170, 180)),
            Attribute("town", ("Rom", "Ulm", "nowhere"), missing="nowhere"),
        )
    )
    wishes = {"k": 5, "schema": schema, "missing": "drop", "keep": ["owner", "income"]} | QUICK
    ours, theirs = anonymize(filled(engine, rows), **wishes), anonymize(rows, **wishes)
    assert ours.rows == theirs.rows < n
    assert rows_of(ours) == rows_of(theirs)


@pytest.mark.parametrize("missing", ["answer", "drop"])
def test_a_schema_is_inferred_as_in_memory(filled: Filled, missing):
    holes = people()
    holes["town"][3:9] = ["", " ", None, "", "", ""]
    rows = pa.table(holes)
    address = filled("duckdb", rows)
    ours, theirs = (anonymize(data, 6, missing=missing, **QUICK) for data in (address, rows))
    assert ours.input.schema == theirs.input.schema
    assert rows_of(ours) == rows_of(theirs)
    with pytest.raises(InvalidInput, match=r"'town' has 6 missing value\(s\)\. State what they mean"):
        anonymize(address, 6, **QUICK)


def test_an_ibis_table_is_published_where_it_is(filled: Filled):
    table = open_table(filled("sqlite", pa.table(people())))
    release = anonymize(table.filter(table.sex == "f").drop("sex"), 6, ["age", "town"], **QUICK)
    assert isinstance(release.input, database_input.DatabaseInput)
    assert release.rows == people()["sex"].count("f")


def test_the_fingerprint_is_of_the_tally(filled: Filled):
    rows = pa.table(people())
    prints = []
    for engine, shown in (("duckdb", rows), ("sqlite", rows.take(np.arange(400)[::-1])), ("duckdb", rows.slice(1))):
        release = anonymize(filled(engine, shown) if engine == "sqlite" else memory_duckdb(shown), 6, **QUICK)
        prints.append(release.input.fingerprint(release.recoding.tally).sha256)
    assert prints[0] == prints[1] != prints[2]


def memory_duckdb(rows: pa.Table):
    import ibis

    with backend.asking("Creating a table"):  # ibis uses names that DuckDB deprecates
        return ibis.duckdb.connect().create_table("people", ibis.memtable(rows))


def test_what_survives_is_told_from_tallies(filled: Filled):
    rows = pa.table(people())
    ours, theirs = (anonymize(data, 6, sensitive="illness", **QUICK) for data in (filled("duckdb", rows), rows))
    assert classifier_survival(ours, "illness") == classifier_survival(theirs, "illness")


@pytest.mark.parametrize("engine", ENGINES)
def test_any_table_is_checked_where_it_is(filled: Filled, engine):
    rows = adult(5_000)
    address = filled(engine, rows)
    ours, theirs = (check_release(data, ["age", "workclass", "sex"], ["race"]) for data in (address, rows))
    assert ours.class_sizes.tolist() == theirs.class_sizes.tolist()
    assert vars(ours.sensitive[0]) == pytest.approx(vars(theirs.sensitive[0]))
    with pytest.raises(InvalidInput, match="Did you mean 'race'"):
        check_release(address, ["rase"])


def test_refusals(filled: Filled):
    address = filled("sqlite", pa.table(people() | {"number": [str(i) + "." for i in range(399)] + [None]}))
    towns = Schema((Attribute("town", ("Ulm", "Rom", "Bern")), Attribute("sex", ("f", "m"))))
    with pytest.raises(InvalidInput, match="'town' has no answer 'Linz'"):
        anonymize(address, 5, schema=towns, **QUICK)
    with pytest.raises(InvalidInput, match="'town' has no answer 'Linz'"):
        anonymize(address, 5, ["sex"], keep=["town"], schema=towns, **QUICK).to_arrow()
    with pytest.raises(InvalidInput, match="'number' has 1 missing"):
        anonymize(address, 5, schema=Schema((Attribute("number", ("1", "2")),)), **QUICK)
    with pytest.raises(InvalidInput, match="column 'hat' is missing"):
        anonymize(address, 5, schema=Schema((Attribute("hat", ("1", "2")),)), **QUICK)
    with pytest.raises(InvalidInput, match="refused, dropped or an answer"):
        anonymize(address, 5, missing="most-frequent", **QUICK)
    with pytest.raises(InvalidInput, match="Only what is in a database"):
        anonymize(people(), 5, **QUICK).write_table("hidden")
    with pytest.raises(InvalidInput, match="no rows"):
        anonymize(open_table(address).limit(0), 5, schema=towns, **QUICK)


def test_too_many_values_are_refused():
    many = memory_duckdb(pa.table({"name": [f"{i}" for i in range(1_200)]}))
    with pytest.raises(InvalidInput, match="more than 1,000 different values"):
        anonymize(many, 5, **QUICK)
    release = anonymize(many, 5, schema=Schema((numeric("name", (300, 600)),)), **QUICK)
    with pytest.raises(InvalidInput, match="does not hold as numbers"):
        release.to_arrow()


FEW_COMBINATIONS = """
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {rows} - 1)
SELECT i % 40 AS age, 'town ' || (i % 7) AS town, 'a rather long illness ' || (i % 5) AS illness FROM n
"""
PUBLISH = """
import resource, sys
from tacit.publish import Preferences, Protection, anonymize
release = anonymize(
    sys.argv[1],
    protection=Protection(k=5, sensitive=["illness"]),
    preferences=Preferences(method="local"),
)
release.write(sys.argv[2])
print(release.rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.soak
@pytest.mark.slow
def test_memory_does_not_grow_with_the_table(tmp_path):
    """Ten times the rows in SQLite; as Python texts the larger table would take more than 150 MB a million rows."""
    many = 1_000_000 if os.environ.get("TACIT_SOAK") else 200_000
    peaks = []
    for rows in (many // 10, many):
        file = tmp_path / f"{rows}.db"
        with contextlib.closing(sqlite3.connect(file)) as database, database:
            database.execute(f"CREATE TABLE people AS {FEW_COMBINATIONS.format(rows=rows)}")
        command = [sys.executable, "-c", PUBLISH, f"sqlite:///{file}?table=people", str(tmp_path / "out.parquet")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout.split()[0] == str(rows)
        peaks.append(int(done.stdout.split()[1]) / 1024)
    assert peaks[1] - peaks[0] < 60 * many / 1e6, f"peaks of {peaks} MB"


@pytest.mark.parametrize("engine", ENGINES)
def test_more_persons_than_a_question_has_answers(filled: Filled, engine, tmp_path):
    """Beyond 1,000 ids the table was refused."""
    rng = np.random.default_rng(6)
    rows = pa.table(
        {
            "id": [f"p{i // 2:05d}" for i in range(3_000)],
            "age": pa.array(rng.integers(20, 60, 3_000)),
            "town": [("Ulm", "Rom", "Bern")[i] for i in rng.integers(0, 3, 3_000)],
        }
    )
    wishes = {"person": "id", "method": "local"}
    ours = anonymize(filled(engine, rows), 5, ["age", "town"], **wishes)
    theirs = anonymize(rows, 5, ["age", "town"], **wishes)
    assert ours.publication.persons.n_persons == 1_500
    assert rows_of(ours) == rows_of(theirs)
    ours.write(tmp_path / "out.csv")
