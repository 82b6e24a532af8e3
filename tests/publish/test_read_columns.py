"""What was read of a file's columns is said, and counted on the file's own values."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tests.publish.wishes import anonymize


def visits(rows: int = 600) -> dict[str, list[str]]:
    rng = np.random.default_rng(12)
    born = np.datetime64("1940-01-01") + rng.integers(0, 20_000, rows)
    return {"born": born.astype(str).tolist(), "sex": [("f", "m")[i] for i in rng.integers(0, 2, rows)]}


def test_the_loss_of_the_file_is_that_of_its_own_values():
    """Birth dates became years before the loss was counted, and nothing said so."""
    data = visits()
    release = anonymize(data, 5, ["born", "sex"], method="local", keep_order=True)
    labels = release.recoding.released_labels()["born"]
    years = release.input.readings["born"].read(pa.chunked_array([data["born"]])).to_pylist()
    days = {}
    for day, year in zip(data["born"], years, strict=True):
        days.setdefault(year, set()).add(day)
    distinct = len(set(data["born"]))
    shown = release.to_arrow()["born"].to_pylist()
    lost = np.mean([(len(set.union(*(days.get(year, set()) for year in labels[text]))) - 1) for text in shown])
    own = lost / (distinct - 1)
    (born, sex) = release.read_columns
    assert born.lost_in_release == pytest.approx(own)
    assert (born.read_as, born.values) == ("quarters", distinct)
    assert born.lost_by_reading == pytest.approx(np.mean([len(days[year]) - 1 for year in years]) / (distinct - 1))
    assert (sex.read_as, sex.lost_by_reading) == ("as it is", 0)
    assert release.nwp_of_file == pytest.approx((own + release.losses["sex"]) / 2)
    assert release.nwp_of_file > release.nwp
    assert "born as quarters" in release.describe()
    assert "--granularity born=month keeps more" in release.describe()
    assert release.to_document()["nwp_of_file"] == release.nwp_of_file


def test_columns_that_are_read_as_they_are_lose_what_the_release_loses():
    data = {"age": [str(20 + i % 30) for i in range(300)], "sex": ["f", "m", "m"] * 100}
    release = anonymize(data, 20, ["age", "sex"], method="local")
    assert release.nwp_of_file == pytest.approx(release.nwp)
    assert "own values" not in release.describe()
