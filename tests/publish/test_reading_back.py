"""A stranger who holds only the file and its public manifest finds every promise kept, and notices a broken one."""

from __future__ import annotations

import dataclasses
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit.errors import TacitError
from tacit.publish.reading_back import BrokenPromise, read_back
from tacit.table import read_table
from tests.publish.test_anonymization import QUICK, people
from tests.publish.test_one_distance import patients
from tests.publish.wishes import anonymize

NAMES = ["age", "town", "sex"]


@pytest.fixture(params=["out.csv", "out.parquet"])
def written(request, tmp_path):
    """A release with l and t, its file and its manifest."""
    data, schema = patients()
    release = anonymize(data, 4, sensitive="pain", l=2, t=0.1, suppress=0.1, schema=schema, **QUICK)
    path = release.write(tmp_path / request.param)
    return path, json.loads((tmp_path / f"{path.name}.manifest.json").read_text())


def rewritten(path, table: pa.Table, **options) -> None:
    if path.suffix == ".csv":
        from pyarrow import csv

        csv.write_csv(table, path)
    else:
        pq.write_table(table, path, **options)


def test_the_promises_are_found_in_the_file(written):
    path, manifest = written
    found = read_back(path, manifest, parquet=path.suffix == ".parquet")
    assert found.to_document() == {name: manifest["verified"][name] for name in ("k", "l", "t", "rows", "one_answer")}
    assert found.k >= 4
    assert found.l >= 2
    assert found.t <= 0.1


def texts(path) -> pa.Table:
    table = read_table(path)
    return table.cast(pa.schema([(name, pa.string()) for name in table.column_names]))


def in_order(table: pa.Table) -> pa.Table:
    return table.sort_by([(name, "ascending") for name in table.column_names])


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda table: table.slice(1), "rows were written where the manifest says"),
        (lambda table: table.take(list(range(table.num_rows))[::-1]), "not sorted"),
        (lambda table: table.rename_columns(["age", "town", "sex", "ache"]), "has the columns"),
        (lambda table: pa.concat_tables([table.slice(0, table.num_rows - 1), table.slice(0, 1)]), "not sorted"),
        (lambda table: in_order(table.set_column(0, "age", pa.array(["93", *table["age"].to_pylist()[1:]]))), "'93'"),
    ],
    ids=["row-lost", "other-order", "other-column", "row-twice", "unknown-label"],
)
def test_a_changed_file_is_noticed(written, harm, message):
    path, manifest = written
    rewritten(path, harm(texts(path)))
    with pytest.raises(BrokenPromise, match=message):
        read_back(path, manifest, parquet=path.suffix == ".parquet")


@pytest.mark.parametrize(("name", "value"), [("k", 100), ("l", 5), ("t", 0.001)])
def test_a_broken_promise_is_named(written, name, value):
    path, manifest = written
    with pytest.raises(BrokenPromise, match=rf"show {name} = .* where {value} was promised"):
        read_back(path, manifest | {name: value}, parquet=path.suffix == ".parquet")


def parquet_release(tmp_path):
    path = anonymize(people(), 6, sensitive="illness", **QUICK).write(tmp_path / "out.parquet")
    return path, json.loads((tmp_path / "out.parquet.manifest.json").read_text())


def test_texts_that_no_row_shows_are_found_in_dictionaries_and_notes(tmp_path):
    path, manifest = parquet_release(tmp_path)
    table = texts(path)
    column = table["town"].combine_chunks().dictionary_encode()
    hidden = pa.concat_arrays([column.dictionary, pa.array(["Atlantis"])])
    with_more = pa.DictionaryArray.from_arrays(column.indices, hidden)
    rewritten(path, table.set_column(1, "town", with_more))
    with pytest.raises(BrokenPromise, match="'town' holds texts in the file that no row shows"):
        read_back(path, manifest, parquet=True)
    rewritten(path, table.replace_schema_metadata({"author": "Atlantis"}))
    with pytest.raises(BrokenPromise, match="carries notes"):
        read_back(path, manifest, parquet=True)


def test_a_release_that_lies_about_its_labels_is_not_kept(tmp_path):
    release = anonymize(people(), 6, **QUICK)
    recoding = dataclasses.replace(release.recoding, names=tuple(("?",) * len(own) for own in release.recoding.names))
    answer = dataclasses.replace(release.answer, recoding=recoding)
    lying = dataclasses.replace(release, answer=answer, k=401)
    with pytest.raises(TacitError, match="was not kept"):
        lying.write(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []
