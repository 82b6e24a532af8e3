"""Truths of a Spark cluster, disguised there."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tacit import Attribute, Schema, Scheme, channels, estimate
from tacit.count.backend import asking
from tacit.count.spark import SparkAddress
from tacit.count.stored import StoredReports
from tacit.errors import InvalidInput, SchemeMismatch
from tests.cli.run import refused, tacit
from tests.spark_session import spark_session

SCHEMA = Schema((Attribute("smokes", ("no", "yes")), Attribute("sex", ("f", "m"))))
SCHEME = Scheme.of(SCHEMA, [(["smokes"], channels.warner(0.8))])
ROWS, PARTITIONS = 4_000, 2


@pytest.fixture
def database(tmp_path: Path) -> Any:
    """A database of its own: partitions, each with the same truths in the same order, a quarter of them "yes"."""
    session = spark_session()
    name = f"tacit_{tmp_path.name}".replace("-", "_")
    session.sql(f"CREATE DATABASE {name} LOCATION '{tmp_path}'")
    each = ROWS // PARTITIONS
    rows = [("yes" if row % 4 == 0 else "no", "f" if row % 2 else "m") for row in range(each)] * PARTITIONS
    frame = session.sparkContext.parallelize(rows, PARTITIONS).toDF(["smokes", "sex"])
    frame.write.saveAsTable(f"{name}.truths")
    yield name
    session.sql(f"DROP DATABASE {name} CASCADE")


def disguise(*arguments: Any, **settings: Any) -> int:
    from tacit.spark_disguising import disguise_on_spark

    return disguise_on_spark(*arguments, **settings)


def columns(table: str) -> list[tuple[str, str]]:
    return [tuple(row) for row in spark_session().table(table).select("smokes", "sex").collect()]


@pytest.mark.spark
def test_a_spark_table_is_disguised_where_it_lies(database: str) -> None:
    assert disguise(f"spark:{database}.truths", SCHEME, f"spark:{database}.reports") == ROWS
    stored = StoredReports.open(f"spark:{database}.reports", SCHEME)  # the table says under which scheme: no warning
    assert not stored.is_simulation
    other = Scheme.of(SCHEME.schema, [(["smokes"], channels.warner(0.9))])
    with pytest.raises(SchemeMismatch, match=r"reports' was disguised under the scheme"):
        StoredReports.open(f"spark:{database}.reports", other)
    share = estimate(stored, ["smokes"])
    assert abs(share.probabilities[1] - 0.25) < 5 * share.standard_errors[1]
    # One draw, kept: whoever looks again sees the same reports.
    assert columns(f"{database}.reports") == columns(f"{database}.reports")
    said = {row.key: row.value for row in spark_session().sql(f"SHOW TBLPROPERTIES {database}.reports").collect()}
    assert said["tacit.scheme"] == SCHEME.hash
    assert said["tacit.simulation"] == "false"


@pytest.mark.spark
def test_partitions_of_a_seeded_spark_simulation_do_not_repeat(database: str) -> None:
    """The partitions hold the same truths, so equal streams would give equal reports."""
    frame = spark_session().table(f"{database}.truths")
    for name in ("first", "again"):
        disguise(frame, SCHEME, f"spark:{database}.{name}", seed=7)
    assert columns(f"{database}.first") == columns(f"{database}.again")
    assert StoredReports.open(f"spark:{database}.first", SCHEME).is_simulation
    reports = np.array([smokes == "yes" for smokes, _ in columns(f"{database}.first")]).reshape(PARTITIONS, -1)
    for one in range(PARTITIONS):
        for other in range(one):
            # Two coins of .8 agree with chance .68; the same stream would agree always.
            assert np.mean(reports[one] == reports[other]) < 0.8


@pytest.mark.spark
def test_the_spark_command_disguises_into_folders_too(database: str, tmp_path: Path) -> None:
    SCHEME.write(tmp_path / "scheme.json")
    out = f"spark:{tmp_path}/reports.parquet"
    done = tacit(
        "disguise",
        f"spark:{database}.truths",
        "--scheme",
        tmp_path / "scheme.json",
        "--out",
        out,
        "--seed",
        1,
        "--json",
    )
    assert done.json["n_reports"] == spark_session().read.parquet(f"{tmp_path}/reports.parquet").count() == ROWS
    assert done.json["simulation"] is True


@pytest.mark.spark
def test_sets_and_bits_go_through_spark(database: str) -> None:
    more = Schema((*SCHEMA, Attribute("town", ("a", "b"))))
    scheme = Scheme.of(more, [(["smokes", "sex"], channels.subset(2, gamma=3)), (["town"], channels.mask(0.8))])
    frame = spark_session().table(f"{database}.truths").selectExpr("*", "'a' AS town")
    disguise(frame, scheme, f"spark:{database}.sets")
    stored = StoredReports.open(f"spark:{database}.sets", scheme)
    for name, code, truth in (("smokes", 1, 0.25), ("town", 0, 1.0)):
        share = estimate(stored, [name])
        assert abs(share.probabilities[code] - truth) < 5 * share.standard_errors[code]


@pytest.mark.spark
def test_what_spark_cannot_disguise_is_refused_in_a_sentence(database: str) -> None:
    truths = f"spark:{database}.truths"
    with pytest.raises(InvalidInput, match=r"has a table .* already"):
        disguise(truths, SCHEME, truths)
    narrow = Scheme.of(Schema((Attribute("smokes", ("no", "yes")),)), [(["smokes"], channels.warner(0.8))])
    with pytest.raises(InvalidInput, match="drop_others"):
        disguise(truths, narrow, f"spark:{database}.narrow")
    with pytest.raises(InvalidInput, match="as a table or as Parquet"):
        disguise(truths, SCHEME, "spark:out.csv")
    with pytest.raises(InvalidInput, match="failed"):
        disguise(f"spark:{database}.nobody", SCHEME, f"spark:{database}.out")
    other = Scheme.of(
        Schema((Attribute("smokes", ("never", "yes")), Attribute("sex", ("f", "m")))),
        [(["smokes"], channels.warner(0.8))],
    )
    with pytest.raises(InvalidInput, match=r"^Unknown answer|'no'"):
        disguise(truths, other, f"spark:{database}.unknown")


def test_a_dead_spark_cluster_is_named_at_once(tmp_path: Path) -> None:
    with socket.socket() as held:  # bound and never listening: nobody answers there
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        with pytest.raises(InvalidInput, match=r"No Spark master answers at 'spark://127\.0\.0\.1"):
            SparkAddress.parse(f"spark://127.0.0.1:{port}/db.reports").session()
        SCHEME.write(tmp_path / "s.json")
        address = f"spark://127.0.0.1:{port}/db.reports"
        said = refused("estimate", address, "--scheme", tmp_path / "s.json", "--attributes", "smokes")
        assert said.startswith("Error: No Spark master answers")  # and nothing else before it


@pytest.mark.parametrize(
    ("address", "name", "is_table"),
    [
        ("spark:reports", "reports", True),
        ("spark:db.reports", "db.reports", True),
        ("spark:reports.parquet", "reports.parquet", False),
        ("spark:data/*.parquet", "data/*.parquet", False),
        ("spark:data/day=1", "data/day=1", False),
        ("spark://host:7077/db.reports", "db.reports", True),
    ],
)
def test_spark_addresses_are_understood(address: str, name: str, is_table: bool) -> None:
    place = SparkAddress.parse(address)
    assert (place.name, place.is_table) == (name, is_table)
    assert place.master == ("spark://host:7077" if "//" in address else None)


@pytest.mark.parametrize("is_active", [True, False])
def test_only_a_session_that_was_made_here_is_kept_quiet(is_active: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    levels: list[str] = []
    session = SimpleNamespace(sparkContext=SimpleNamespace(setLogLevel=levels.append))
    builder = SimpleNamespace(getOrCreate=lambda: session)
    builder.appName = lambda name: builder
    sessions = SimpleNamespace(builder=builder, getActiveSession=lambda: session if is_active else None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", SimpleNamespace(SparkSession=sessions))
    assert SparkAddress.parse("spark:reports").session() is session
    assert levels == ([] if is_active else ["ERROR"])


@pytest.mark.parametrize("address", ["spark:", "spark://host/db.reports", "spark:reports?memory=4g"])
def test_wrong_spark_addresses_are_refused(address: str) -> None:
    with pytest.raises(InvalidInput, match="spark"):
        SparkAddress.parse(address)


def test_truths_do_not_leave_a_spark_cluster(tmp_path: Path) -> None:
    SCHEME.write(tmp_path / "scheme.json")
    given = ("--scheme", tmp_path / "scheme.json", "--out", tmp_path / "reports.csv")
    assert "stay there" in refused("disguise", "spark:truths", *given)


def test_what_python_raised_on_a_machine_is_said_and_not_a_trace() -> None:
    from pyspark.errors import PySparkException

    trace = (
        "\n  An exception was thrown from the Python worker. Please see the stack trace below.\nTraceback (most recent call "
        "last):\n  File 'worker.py', line 93, in to_arrow_type\n    import pyarrow as pa\nModuleNotFoundError: No module named "
        "'pyarrow'\n"
    )
    with pytest.raises(InvalidInput) as refusal, asking("Disguising 'spark:truths'"):
        raise PySparkException(trace)
    said = str(refusal.value)
    assert said.startswith(
        "Disguising 'spark:truths' failed on a machine of the cluster: ModuleNotFoundError: No module"
    )
    assert "below" not in said
