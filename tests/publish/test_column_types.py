"""Dates, codes, numbers and names of any number of values are published without preparation."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit.errors import InvalidInput, UnknownName
from tacit.publish import remake
from tacit.publish.column_types import found_type, round_width, stepped_attribute, typed_column
from tacit.publish.column_values import ColumnValues, counted_columns
from tacit.publish.labels import label
from tests.publish.wishes import anonymize


def column(values) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values)])


def counted(values) -> ColumnValues:
    return counted_columns([pa.table({"own": values})], ["own"])["own"]


def hospital(rows: int = 1_500) -> dict[str, list[str]]:
    rng = np.random.default_rng(8)
    born = np.datetime64("1935-06-01") + rng.integers(0, 28_000, rows)
    visit = np.datetime64("2024-01-01") + rng.integers(0, 360, rows)
    return {
        "id": [f"x{i}" for i in range(rows)],
        "born": [str(day) for day in born],
        "zip": [f"{z:05d}" for z in 1000 + np.floor(rng.random(rows) ** 2 * 3_000).astype(int)],
        "visit": [f"{d.item():%d.%m.%Y}" for d in visit],
        "income": [f"{v:.2f}" for v in rng.lognormal(10, 0.5, rows)],
        "street": [f"Street {i}" for i in np.floor(rng.random(rows) ** 3 * 700).astype(int)],
        "sex": [str(s) for s in rng.choice(["f", "m"], rows)],
        "illness": [str(i) for i in rng.choice(["flu", "gout"], rows)],
        "note": [f"remark {i}" for i in range(rows)],
    }


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("visit", ["2024-03-01", "2023-11-30"], "date"),
        ("visit", ["2024-03-01 10:00", "2023-11-30 09:30"], "date"),
        ("visit", ["31.12.2024", "01.02.2023"], "date"),
        ("visit", ["13/02/2024", "01/02/2023"], "date"),
        ("visit", [datetime.date(2024, 3, 1)], "date"),
        ("zip", [f"{i:05d}" for i in range(500, 600)], "code"),
        ("ward", ["0012", "0815"], "code"),
        ("income", ["12.5", "13"], "number"),
        ("age", [30, 31], "number"),
        ("town", ["Ulm", "Rom"], "nominal"),
        ("version", ["1.2.2024", "x"], "nominal"),
    ],
)
def test_types_are_found_from_values_and_names(name, values, expected):
    assert found_type(name, column(values)) == expected


def test_dates_in_two_formats_or_with_days_that_may_be_months_are_refused():
    with pytest.raises(InvalidInput, match=r"two formats, such as '2024-03-01' and '03\.04\.2024'"):
        found_type("visit", column(["2024-03-01", "03.04.2024"]))
    with pytest.raises(InvalidInput, match="day and month cannot be told apart"):
        found_type("visit", column(["03/04/2024", "01/02/2024"]))
    with pytest.raises(InvalidInput, match="not dates, such as 'soon'"):
        typed_column("visit", counted(["2024-03-01", "soon"]), "date", "refuse")


def test_numbers_come_in_round_steps():
    whole = stepped_attribute("income", np.arange(0, 100_000.0, 7))
    assert whole.answers[1] == "500 to 999"
    assert label(whole, 1, 2) == "500 to 1499"
    parts = stepped_attribute("income", np.array([0.0, 0.25, 9.9]), 2.5)
    assert parts.answers == ("0 up to 2.5", "2.5 up to 5", "5 up to 7.5", "7.5 up to 10")
    assert [round_width(x) for x in (0.03, 1, 1.2, 6, 0)] == [0.05, 1, 2, 10, 1]
    with pytest.raises(InvalidInput, match="more than 2,000"):
        stepped_attribute("income", np.array([0.0, 1e6]), 1)
    with pytest.raises(InvalidInput, match="above 0, not 0"):
        stepped_attribute("income", np.array([3.0, 5.0]), 0)
    with pytest.raises(InvalidInput, match="in one step of 100"):
        stepped_attribute("income", np.array([3.0, 5.0]), 100)


@pytest.mark.parametrize("method", ["search", "local"])
def test_an_ordinary_table_is_published_as_it_comes(method, tmp_path):
    path = tmp_path / "hospital.parquet"
    pq.write_table(pa.table(hospital()), path)
    release = anonymize(
        path, 5, ["born", "zip", "visit", "income", "street", "sex"], sensitive=["illness"], keep=["note"], method=method,
        evaluations=800, seed=1,
    )  # fmt: skip
    assert release.effective_k >= 5
    assert any("'note' has 1,500 different values" in warning for warning in release.warnings)
    labels = release.recoding.released_labels()
    assert "id" not in labels
    (tmp_path / "out").mkdir()
    first = release.write(tmp_path / "out" / "out.csv")
    assert remake(f"{first}.private.json", path).write(tmp_path / "out.csv").read_bytes() == first.read_bytes()


def test_granularity_of_dates_and_numbers():
    wishes = {"evaluations": 500, "seed": 1, "method": "local"}
    steps = {"visit": "quarter", "income": 1_000}
    release = anonymize(hospital(), 3, ["visit", "income"], granularity=steps, **wishes)
    assert release.input.schema["visit"].answers == ("Q1 2024", "Q2 2024", "Q3 2024", "Q4 2024")
    assert release.input.schema["income"].answers[3].endswith("000")
    for granularity, error, message in (
        ({"visit": 5}, InvalidInput, "give a step such as month, not 5"),
        ({"visit": "moon"}, UnknownName, "Step of dates 'moon'"),
        ({"sex": "month"}, InvalidInput, "holds no dates"),
        ({"sex": 5}, InvalidInput, "not numbers"),
        ({"hat": 5}, UnknownName, "Column 'hat'"),
    ):
        with pytest.raises(error, match=message):
            anonymize(hospital(), 3, ["visit", "sex"], granularity=granularity, **wishes)


def test_ranges_are_ordered_by_their_numbers():
    ages = typed_column("age", counted(["5-9", "10-14", "100-104", "0-4"]), None, "refuse").attribute
    assert ages.answers == ("0-4", "5-9", "10-14", "100-104")
    assert ages.ordered
    assert label(ages, 1, 2) == "5-14"


@pytest.mark.parametrize(
    "wanted",
    [
        ("<=25", "(25,35]", "(35,65]", ">65"),
        ("under 18", "18 to 64", "65 and over"),
        ("< 10", "10 - 19", "100+"),
        ("-5 up to 0", "0 up to 5", "at least 5"),
    ],
)
def test_ranges_without_an_end_stand_at_the_ends(wanted):
    bands = typed_column("age", counted(sorted(wanted, reverse=True)), None, "refuse").attribute
    assert bands.answers == wanted
    assert bands.ordered


def test_names_among_ranges_leave_all_as_they_are():
    assert not typed_column("age", counted(["1-2", "10-12", "other"]), None, "refuse").attribute.ordered


def test_merged_intervals_read_as_one():
    right = typed_column("age", counted(["<=25", "(25,35]", "(35,65]", "(65,80]", ">80"]), None, "refuse").attribute
    assert [label(right, 0, 1), label(right, 1, 2), label(right, 2, 4)] == ["<=35", "(25,65]", ">35"]
    left = typed_column("age", counted(["<25", "[25,35)", "[35,65)", ">=65"]), None, "refuse").attribute
    assert [label(left, 0, 2), label(left, 1, 2), label(left, 2, 3)] == ["<65", "[25,65)", ">=35"]


def test_missing_dates_and_codes_follow_the_policy():
    data = hospital()
    data["visit"][:7] = [""] * 7
    wishes = {"evaluations": 500, "seed": 1}
    with pytest.raises(InvalidInput, match="'visit' has 7 missing"):
        anonymize(data, 3, ["visit", "sex"], **wishes)
    assert anonymize(data, 3, ["visit", "sex"], missing="drop", **wishes).rows == 1_493
    own = anonymize(data, 3, ["visit", "sex"], missing="answer", **wishes)
    assert own.input.schema["visit"].answers[-1] == "missing"


@pytest.mark.parametrize("year", ["2024", 2024])
def test_a_column_that_says_the_same_of_everybody_is_kept(year, tmp_path):
    data = {"age": [str(20 + i % 9) for i in range(90)], "year": [year] * 90}
    wishes = {"method": "local", "seed": 1}
    release = anonymize(data, 3, ["age"], keep="year", **wishes)
    path = release.write(tmp_path / "out.csv")
    assert set(release.to_arrow()["year"].to_pylist()) == {"2024"}
    assert b"other" not in path.read_bytes() + (tmp_path / "out.csv.manifest.json").read_bytes()
    with pytest.raises(InvalidInput, match=r"year has 1 answer\). Ask for a smaller l: at most 1"):
        anonymize(data, 3, ["age"], sensitive="year", l=2, **wishes)
