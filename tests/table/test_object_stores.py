"""Object addresses are read wherever a file is; what is wrong with one is said in a sentence."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit import Attribute, Dataset, Schema, Scheme, channels, disguise
from tacit.errors import InvalidInput
from tacit.table.files import column_names, read_table
from tacit.table.object_stores import is_object, local_copy, objects
from tests.cli.run import refused, tacit
from tests.object_store import object_store

SCHEMA = Schema((Attribute("smokes", ("no", "yes")),))
SCHEME = Scheme.of(SCHEMA, [(["smokes"], channels.warner(0.8))])


def reports(folder: Path, seed: int) -> bytes:
    path = folder / f"{seed}.parquet"
    disguise(Dataset.from_arrow({"smokes": ["no", "yes", "no"] * 400}, SCHEMA), SCHEME, seed=seed).write(path)
    return path.read_bytes()


def parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("objects")
    stored = {
        "survey/day=1/part.parquet": reports(folder, 1),
        "survey/day=2/part.parquet": reports(folder, 2),
        "survey/_hidden/part.parquet": b"nothing",
        "tables/truth.csv": b"smokes\nno\nyes\n",
        "tables/mixed/a.parquet": parquet(pa.table({"x": ["1"]})),
        "tables/mixed/b.parquet": parquet(pa.table({"y": ["1"]})),
    }
    with object_store(stored):
        yield folder


def test_an_object_is_read_as_a_file_is(bucket: Path) -> None:
    assert read_table("s3://tables/truth.csv").to_pydict() == {"smokes": ["no", "yes"]}
    assert column_names(Path("s3://tables/truth.csv")) == ["smokes"]  # a path has one slash
    copy = local_copy("s3a://tables/truth.csv")
    assert copy == local_copy("s3://tables/truth.csv")
    assert copy.parents[2].stat().st_mode & 0o077 == 0


def test_commands_take_objects_folders_and_patterns_of_them(bucket: Path) -> None:
    both = [bucket / "1.parquet", bucket / "2.parquet"]
    expected = tacit("estimate", *both, "--attributes", "smokes", "--json").json
    for place in ("s3://survey/day=*/part.parquet", "s3://survey"):
        assert tacit("estimate", place, "--attributes", "smokes", "--json").json == expected
    one = tacit("estimate", "s3://survey/day=1/part.parquet", "--attributes", "smokes", "--json").json
    assert one["n_reports"] == 1200
    out = bucket / "out.parquet"
    SCHEME.write(bucket / "scheme.json")
    done = tacit("disguise", "s3://tables/truth.csv", "--scheme", bucket / "scheme.json", "--out", out, "--json")
    assert done.json["n_reports"] == 2
    assert len(Dataset.read("s3://tables/truth.csv", SCHEMA)) == 2


def test_what_is_wrong_with_an_object_is_said(bucket: Path) -> None:
    with pytest.raises(InvalidInput, match=r"There is no file 's3://tables/nobody\.csv' in its object store"):
        read_table("s3://tables/nobody.csv")
    with pytest.raises(InvalidInput, match="holds no Parquet or CSV file"):
        objects("s3://survey/day=9/*.parquet")
    with pytest.raises(InvalidInput, match=r"differ in the column\(s\) 'x', 'y'"):
        read_table("s3://tables/mixed/")


def test_a_store_that_does_not_answer_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    message = refused("estimate", "s3://bucket/reports.parquet", "--attributes", "smokes")
    assert message.count("\n") == 1
    assert "could not be read from its object store" in message


@pytest.mark.slow
def test_google_is_not_asked_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLOUD_STORAGE_EMULATOR_ENDPOINT", "http://127.0.0.1:9")
    started = time.monotonic()
    with pytest.raises(InvalidInput, match="could not be read from its object store"):
        local_copy("gs://box/reports.parquet")
    assert time.monotonic() - started < 9


@pytest.mark.parametrize("address", ["az://box/reports.parquet", "https://host/reports.parquet"])
def test_an_address_without_its_connector_is_refused_with_what_to_do(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    message = refused("estimate", address, "--attributes", "smokes")
    assert "for which there is no connector here" in message
    assert "spark:ADDRESS" in message


def test_arrow_without_its_connector_is_refused_too(monkeypatch: pytest.MonkeyPatch) -> None:
    from pyarrow import fs

    def missing(address: str) -> None:
        raise pa.ArrowNotImplementedError("Got S3 URI but Arrow compiled without S3 support")

    monkeypatch.setattr(fs, "FileSystem", type("Without", (), {"from_uri": staticmethod(missing)}))
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(InvalidInput, match=r"no connector here \(.*\)\. Install one"):
        read_table("s3://bucket/reports.parquet")


@pytest.mark.parametrize(
    "place", ["reports.parquet", "/data/s3/x.csv", "sqlite:///x.db?table=t", "spark:s3://b/x.parquet"]
)
def test_other_places_are_no_objects(place: str) -> None:
    assert not is_object(place)
