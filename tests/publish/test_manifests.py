"""The public manifest tells readers what they need; the private one makes the release again."""

from __future__ import annotations

import json
import re
import stat
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit.errors import InvalidInput
from tacit.publish import remake
from tacit.publish.labels import is_round
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
    with pytest.raises(InvalidInput, match="holds no private manifest"):
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
        assert set(labels) <= set(
            shown[name].to_pylist()
        )  # those are left out that name an answer of fewer than k people


def _coordinates(rows: int = 600) -> dict[str, list[str]]:
    """People of whom each has a longitude and a birthday nearly alone; ages and codes some share with many."""
    random = np.random.default_rng(6)
    days = np.datetime64("1950-01-01") + random.integers(0, 9000, rows)
    places = random.uniform(5, 15, 62).round(5)
    place = np.where(random.random(rows) < 0.9, random.integers(0, 20, rows), random.integers(20, 62, rows))
    return {
        "birth_date": [str(day) for day in days],
        "longitude": [f"{places[at]:.5f}" for at in place],
        "age": [str(age) for age in random.geometric(0.06, rows) + 17],
        "plz": [f"{code:05d}" for code in random.integers(1000, 1150, rows)],
        "town": [*random.choice(["Aue", "Bonn", "Celle"], rows - 1).tolist(), "Zeitz an der Elster"],
        "illness": random.choice(["flu", "none"], rows).tolist(),
    }


@pytest.mark.parametrize("method", ["local", "search"])
@pytest.mark.parametrize("k", [2, 5])
def test_the_public_manifest_tells_no_value_of_fewer_than_k_people(tmp_path, method, k):
    """And it is shorter than the release. Both were false: of 62 longitudes it listed every one, of days 231 MB."""
    table = _coordinates()
    quasi = ["longitude", "age", "town"]
    effort = {"evaluations": 500, "seed": 1, "seconds": 1}
    if method == "local":
        quasi, effort = [*quasi, "plz", "birth_date"], {"granularity": {"birth_date": "day"}}
    release = anonymize(table, k, quasi, sensitive="illness", method=method, **effort)
    path = release.write(tmp_path / "out.csv")
    written = (tmp_path / "out.csv.manifest.json").read_text()
    for name in quasi:
        for value, rows in Counter(table[name]).items():
            if rows < k and not is_round(value):
                assert not re.search(
                    rf'[" ]{re.escape(value)}[" ]|"{re.escape(value)}-|-{re.escape(value)}"', written
                ), value
    assert len(written) < path.stat().st_size
    answer = release.to_document()
    assert all(answer["labels"][name] and answer["partitions"][name] for name in quasi)  # the publisher's own answer


def test_numbers_that_are_round_and_steps_may_stand_in_a_manifest():
    for answer in ("5", "45", "60", "1500", "0.25", "-30", "40 to 44", "March 1950", "010**", "week from 1950-01-02"):
        assert is_round(answer), answer
    for answer in ("46", "1937", "10.62345", "1950-01-02", "01069", "Zeitz an der Elster"):
        assert not is_round(answer), answer


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
