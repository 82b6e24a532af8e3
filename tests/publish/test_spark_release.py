"""A Spark table is tallied, generalized and written on the cluster, as the same rows are from memory."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit.errors import InvalidInput, TacitError
from tacit.publish import Release, spark_release
from tacit.publish.opening import refuse_engine
from tacit.table import read_table
from tests.cli.run import refused, tacit
from tests.publish.test_anonymization import QUICK, people
from tests.publish.wishes import anonymize
from tests.spark_session import spark_session

WISHES = {"k": 6, "sensitive": "illness", "suppress": 0.04} | QUICK


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="module")
def database(folder: Path) -> Iterator[str]:
    """A database of its own with the table `people`, in two partitions."""
    session = spark_session()
    name = f"tacit_{secrets.token_hex(4)}"
    session.sql(f"CREATE DATABASE {name} LOCATION '{folder}'")
    session.createDataFrame(pa.table(people())).repartition(2).write.saveAsTable(f"{name}.people")
    yield name
    session.sql(f"DROP DATABASE {name} CASCADE")


@pytest.fixture(scope="module")
def release(database: str) -> Release:
    return anonymize(spark_session().table(f"{database}.people"), **WISHES)


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


@pytest.mark.spark
def test_a_data_frame_of_spark_is_published_as_from_memory(release: Release, database: str) -> None:
    expected = anonymize(pa.table(people()), **WISHES)
    from_file = {"read_columns", "nwp_of_file"}  # what only a file's own values tell
    documents = [{k: v for k, v in made.to_document().items() if k not in from_file} for made in (release, expected)]
    assert documents[0] == documents[1]
    assert rows(release.to_arrow()) == rows(expected.to_arrow())
    # Into a table of the cluster, whose rows are counted there before it takes its name.
    release.write_table(f"{database}.released")
    written = spark_session().table(f"{database}.released").toArrow()
    assert sorted(rows(written)) == sorted(rows(expected.to_arrow()))
    manifest = json.loads(spark_session().table(f"{database}.released_manifest").first().manifest)
    assert manifest["verified"]["k"] == expected.effective_k
    assert "input_sha256" not in manifest
    left = {row.tableName for row in spark_session().sql(f"SHOW TABLES IN {database}").collect()}
    assert {name for name in left if not name.startswith("tacit_")} >= {"people", "released", "released_manifest"}
    assert not spark_session().sql(f"SHOW TABLES IN {database} LIKE 'tacit_*'").filter("NOT isTemporary").collect()
    with pytest.raises(InvalidInput, match=r"has a table .* already"):
        release.write_table(f"{database}.released")


@pytest.mark.spark
def test_the_command_writes_folders_of_the_spark_cluster_and_files_of_this_machine(
    database: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    wishes = ("--k", 6, "--attributes", "age,town", "--method", "search", "--seed", 1)
    source = f"spark:{database}.people"
    done = tacit("publish", source, *wishes, "--out", f"spark:{folder}/release.parquet", "--json")
    assert done.code == 0, done.err
    assert done.json["verified"]["k"] >= 6
    assert json.loads(Path("release.parquet.manifest.json").read_text())["verified"] == done.json["verified"]
    assert Path("release.parquet.private.json").stat().st_mode & 0o077 == 0
    here = tacit("publish", source, *wishes, "--out", "release.csv", "--again", "--json")
    assert here.json["partitions"] == done.json["partitions"]
    assert sorted(rows(pq.read_table("release.parquet"))) == sorted(rows(read_table("release.csv")))
    assert list(folder.glob("*.part")) == []
    assert "is there already" in refused("publish", source, *wishes, "--out", f"spark:{folder}/release.parquet")
    assert "as a table or as Parquet" in refused("publish", source, *wishes, "--out", "spark:x.csv")
    assert "Spark has no table" in refused("publish", f"spark:{database}.nobody", *wishes, "--out", "spark:y")


@pytest.mark.spark
def test_a_release_that_breaks_its_promise_leaves_nothing_on_the_spark_cluster(
    release: Release, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = spark_release.SparkFolder.write

    def half(self: Any, frame: Any) -> Any:
        return write(self, frame.limit(200))

    monkeypatch.setattr(spark_release.SparkFolder, "write", half)
    with pytest.raises(TacitError, match="was not kept"):
        release.write_table(f"spark:{folder}/broken.parquet")
    assert [path.name for path in folder.iterdir() if "broken" in path.name or path.suffix == ".part"] == []


def test_spark_takes_only_releases_of_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,town\n1,a\n")
    given = ("--k", 2, "--attributes", "age", "--out", "spark:release")
    assert "Spark takes releases of what it holds" in refused("publish", tmp_path / "people.csv", *given)
    release = anonymize(pa.table(people()), **WISHES)
    with pytest.raises(InvalidInput, match="only what Spark holds"):
        spark_release.write_on_spark(release, "spark:release")


def test_engines_that_were_never_tried_are_refused() -> None:
    with pytest.raises(InvalidInput, match="Tables of mysql are not published where they are"):
        refuse_engine("mysql")
