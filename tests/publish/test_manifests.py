"""The public manifest tells readers what they need; the private one makes the release again."""

from __future__ import annotations

import json
import stat

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit.errors import InvalidInput
from tacit.publish import remake
from tests.publish.test_anonymization import QUICK, interrupting, people
from tests.publish.test_hierarchies import towns
from tests.publish.wishes import anonymize

WISHES = [
    {"suppress": 0.02, "sensitive": "illness", "l": 2},
    {"method": "local", "keep_order": True},
    {"method": "exact", "evaluations": 500, "seconds": 2, "attributes": ["town", "sex"]},
    {"order": "data", "weights": {"age": 0.5, "town": 0.25, "sex": 0.25}, "sensitive": "illness"},
]


def documents(path):
    return [json.loads(path.with_name(f"{path.name}.{kind}.json").read_text()) for kind in ("manifest", "private")]


@pytest.mark.parametrize("wishes", WISHES, ids=["suppressed", "local", "exact", "data-order"])
@pytest.mark.parametrize("source", ["file", "memory"])
def test_the_private_manifest_makes_the_release_again_byte_by_byte(tmp_path, wishes, source):
    data = pa.table(people())
    if source == "file":
        pq.write_table(data, tmp_path / "people.parquet")
        data = tmp_path / "people.parquet"
    _made(tmp_path)
    first = anonymize(data, 6, **(QUICK | wishes)).write(tmp_path / "first" / "out.csv")
    again = remake(f"{first}.private.json", data)
    second = again.write(tmp_path / "out.csv")
    assert second.read_bytes() == first.read_bytes()
    assert documents(second)[0] == documents(first)[0]


def _made(folder) -> None:
    (folder / "first").mkdir()


def test_an_interrupted_local_recoding_is_made_again_as_it_was(tmp_path):
    first = anonymize(people(), 5, method="local", progress=interrupting(0.3, "recoding"))
    _made(tmp_path)
    path = first.write(tmp_path / "first" / "out.csv")
    assert remake(f"{path}.private.json", people()).to_arrow() == first.to_arrow()


def test_another_input_is_refused(tmp_path):
    path = anonymize(people(), 6, **QUICK).write(tmp_path / "out.csv")
    other = {name: values[::-1] for name, values in people().items()}
    with pytest.raises(InvalidInput, match="This is not the input of the release"):
        remake(f"{path}.private.json", other)
    with pytest.raises(InvalidInput, match="is no private manifest"):
        remake(f"{path}.manifest.json", people())


def test_what_each_manifest_holds(tmp_path):
    release = anonymize(people(), 6, sensitive="illness", suppress=0.02, **QUICK)
    path = release.write(tmp_path / "out.csv")
    public, private = documents(path)
    assert {"labels", "k", "l", "t", "nwp", "necd", "method", "verified"} <= set(public)
    assert not {"seed", "front", "input_sha256", "partitions", "evaluations"} & set(public)
    assert private["settings"]["effort"]["seed"] == 1
    assert len(private["input_sha256"]) == 64
    assert private["input_sha256"] not in json.dumps(public)
    assert stat.S_IMODE((tmp_path / "out.csv.private.json").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "out.csv.manifest.json").stat().st_mode) != 0o600
    shown = release.to_arrow()
    for name, labels in public["labels"].items():
        assert set(labels) == set(shown[name].to_pylist())


def test_hierarchies_are_kept_with_the_private_manifest(tmp_path):
    _made(tmp_path)
    towns(tmp_path)
    release = anonymize(people(), 40, ["town", "sex"], hierarchies=tmp_path, **QUICK)
    path = release.write(tmp_path / "first" / "out.csv")
    assert remake(f"{path}.private.json", people()).to_arrow() == release.to_arrow()


def test_every_alternative_can_be_picked(tmp_path):
    release = anonymize(people(), 5, prefer_bias=0.05, **QUICK)
    assert len(release.front) > 2
    for number, entry in enumerate(release.front):
        picked = release.pick(number)
        assert (picked.nwp, picked.necd) == pytest.approx((entry.nwp, entry.necd))
        assert (picked.effective_k, picked.suppressed) == (entry.effective_k, entry.suppressed)
    with pytest.raises(InvalidInput, match=f"alternatives 0 to {len(release.front) - 1}, not 99"):
        release.pick(99)
    local = anonymize(people(), 5, method="local")
    assert local.pick(0).to_arrow() == local.to_arrow()
