from __future__ import annotations

import dataclasses
import json
from unittest import mock

import numpy as np
import pytest

from tacit.errors import InvalidInput, TacitError
from tacit.publish import check_release, released_rows, writing
from tacit.publish.recoding import Recoding
from tacit.publish.usefulness import classifier_survival, table_error
from tacit.table import read_table
from tests.publish.test_anonymization import QUICK, people
from tests.publish.wishes import anonymize


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
@pytest.mark.parametrize("method", ["search", "local"])
def test_the_file_is_what_was_promised(tmp_path, name, method):
    release = anonymize(people(), 6, sensitive="illness", method=method, **QUICK)
    path = release.write(tmp_path / name)
    assert read_table(path).to_pydict() == release.to_arrow().to_pydict()
    assert check_release(path, ["age", "town", "sex"]).k == release.effective_k
    manifest = json.loads((tmp_path / f"{name}.manifest.json").read_text())
    assert manifest["verified"]["k"] == release.effective_k
    assert manifest["weights"] == release.weights
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == [name, f"{name}.manifest.json", f"{name}.private.json"]


def test_a_release_that_breaks_its_promise_is_not_kept(tmp_path):
    release = anonymize(people(), 6, **QUICK)
    broken = dataclasses.replace(release, k=release.effective_k + 1)
    with pytest.raises(TacitError, match=r"was not kept: the written rows show k = \d+ where \d+ was promised"):
        broken.write(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_rows_keep_their_sensitive_answer_and_their_order_only_if_asked():
    data = people()
    kept = anonymize(data, 6, sensitive="illness", keep_order=True, **QUICK).to_arrow()
    assert kept["illness"].to_pylist() == data["illness"]
    rows = list(zip(*(column.to_pylist() for column in kept.columns), strict=True))
    published = anonymize(data, 6, sensitive="illness", **QUICK).to_arrow()
    assert list(zip(*(column.to_pylist() for column in published.columns), strict=True)) == sorted(rows)


@pytest.mark.parametrize("method", ["search", "local"])
def test_rows_written_from_the_tally_are_the_rows_of_the_table(monkeypatch, method):
    """With l the tally holds the sensitive answers, so the release needs no second look at the table."""
    wishes = {"sensitive": ["illness", "sex"], "l": 2, "suppress": 0.3, "prefer_loss": 0.01, "method": method, **QUICK}
    release = anonymize(people(), 20, **wishes)
    in_place = anonymize(people(), 20, keep_order=True, **wishes).to_arrow()
    assert release.suppressed
    monkeypatch.setattr(Recoding, "apply", None)
    expected = sorted(zip(*(column.to_pylist() for column in in_place.columns), strict=True))
    assert list(zip(*(column.to_pylist() for column in release.to_arrow().columns), strict=True)) == expected


def test_files_are_published_batch_by_batch(tmp_path, monkeypatch):
    import pyarrow as pa
    import pyarrow.parquet as pq

    from tacit.publish import opening
    from tacit.table import files

    path = tmp_path / "in.parquet"
    pq.write_table(pa.table(people()), path)
    whole = anonymize(path, 6, **QUICK)
    monkeypatch.setattr(files, "BATCH_ROWS", 64)
    monkeypatch.setattr(opening, "MOST_HELD_CELLS", 0)  # as of a large file
    monkeypatch.setattr(released_rows, "SLICE_ROWS", 150)
    parts = anonymize(path, 6, schema=whole.input.schema, **QUICK)
    assert [len(batch) for batch in parts.batches()] == [150, 150, 100]
    kept = anonymize(path, 6, schema=whole.input.schema, keep_order=True, **QUICK)
    assert len(list(kept.batches())) == 7
    assert parts.to_arrow().to_pydict() == whole.to_arrow().to_pydict()


def test_a_folder_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="no folder"):
        anonymize(people(), 6, **QUICK).write(tmp_path / "nowhere" / "out.csv")


def test_the_words_name_the_numbers():
    release = anonymize(people(), 6, **QUICK)
    words = release.describe()
    assert f"at least {release.effective_k} (wanted: 6)" in words
    assert f"{release.nwp:.1%} of the weighted detail is lost" in words
    assert all(f"{name} {loss:.0%}" in words for name, loss in release.losses.items())


def test_losses_weigh_up_to_the_nwp():
    for options in ({}, {"method": "local"}, {"suppress": 0.1}):
        release = anonymize(people(), 6, ["age", "town"], {"age": 0.3, "town": 0.7}, **(QUICK | options))
        assert 0.3 * release.losses["age"] + 0.7 * release.losses["town"] == pytest.approx(release.nwp)


def test_what_survives():
    rng = np.random.default_rng(2)
    x = rng.integers(0, 6, 3000)
    y = np.where(rng.random(3000) < 0.9, x >= 3, x < 3)
    data = {"x": [str(v) for v in x], "z": [str(v) for v in rng.integers(0, 3, 3000)], "y": [str(int(v)) for v in y]}
    whole = anonymize(data, 1, sensitive="y", **QUICK)
    kept = classifier_survival(whole, "y")
    assert table_error(whole.recoding) == pytest.approx(0, abs=1e-12)
    assert kept.before == kept.after == pytest.approx(0.9, abs=0.04)
    nothing = anonymize(data, 3000, sensitive="y", **QUICK)
    lost = classifier_survival(nothing, "y")
    assert lost.after == pytest.approx(lost.majority_share, abs=0.03)
    assert 0 < table_error(nothing.recoding) < 0.1  # x and z are nearly uniform, so spreading evenly is nearly right
    with pytest.raises(InvalidInput, match="Did you mean 'y'"):
        classifier_survival(nothing, "yy")


def test_an_interruption_while_writing_leaves_nothing_behind(tmp_path):
    release = anonymize(people(), 6, **QUICK)
    with mock.patch.object(writing, "read_back", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        release.write(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []
