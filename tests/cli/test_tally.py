"""``tacit tally``, folders, patterns and schemes that travel with their reports."""

from __future__ import annotations

from pathlib import Path

import pytest

import tacit as package
from tacit import Attribute, Dataset, Scheme, channels
from tests.cli.run import refused, tacit


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three days of reports of one scheme, in a folder partitioned by town, and all of them in one file."""
    monkeypatch.chdir(tmp_path)
    schema = [Attribute("smokes", ("no", "yes")), Attribute("town", ("a", "b"))]
    scheme = Scheme.of(schema, [(["smokes"], channels.warner(0.8))])
    scheme.write("s.json")
    days = []
    for seed, town in ((1, "a"), (2, "b"), (3, "a")):
        truth = Dataset.from_arrow({"smokes": ["no", "yes", "no"] * 50, "town": [town] * 150}, scheme.schema)
        days.append(package.disguise(truth, scheme, seed=seed))
        Path(f"days/town={town}").mkdir(parents=True, exist_ok=True)
        days[-1].write(f"days/town={town}/{seed}.parquet")
        Path("flat").mkdir(exist_ok=True)
        days[-1].write(f"flat/{seed}.csv")
    from tacit.reports import Reports
    from tacit.table import Table

    Reports(scheme, (Table.concatenate([day.table for day in days]),), True).write("all.parquet")
    return tmp_path


def cells(*arguments: object) -> list[dict[str, object]]:
    done = tacit("estimate", *arguments, "--attributes", "smokes,town", "--json")
    assert done.code == 0, done.err
    return done.json["cells"]


def test_parts_folders_patterns_and_tallies_give_the_estimate_of_the_whole(folder: Path) -> None:
    whole = cells("all.parquet", "--scheme", "s.json")
    assert cells("days", "--scheme", "s.json") == whole
    assert cells("flat", "--scheme", "s.json") == whole
    assert cells("days/*/*.parquet") == whole  # the files carry their scheme
    assert cells("flat/1.csv", "flat/2.csv", "flat/3.csv", "--scheme", "s.json") == whole
    for shape in (["--whole"], ["--order", 2], ["--tables", "smokes,town"], []):
        made = tacit("tally", "days", *shape, "--out", "t.parquet", "--json")
        assert made.json["n_reports"] == 450
        assert cells("t.parquet") == whole
        assert cells("t.parquet", "--scheme", "s.json") == whole


def test_a_column_that_only_the_folders_name_is_read_from_there(folder: Path) -> None:
    import pyarrow.parquet as pq

    for file in Path("days").rglob("*.parquet"):
        table = pq.read_table(file, partitioning=None)
        pq.write_table(table.drop_columns(["town"]), file)
    assert cells("days", "--scheme", "s.json") == cells("all.parquet")


def test_tallies_are_added_and_taken_away(folder: Path) -> None:
    for day in (1, 2, 3):
        tacit("tally", f"flat/{day}.csv", "--out", f"{day}.parquet")
    assert tacit("tally", "1.parquet", "2.parquet", "3.parquet", "--out", "t.parquet").code == 0
    assert cells("t.parquet") == cells("all.parquet")
    tacit("tally", "t.parquet", "--minus", "1.parquet", "--minus", "3.parquet", "--out", "window.parquet")
    assert cells("window.parquet") == cells("flat/2.csv")


def test_a_watched_folder_is_counted_once(folder: Path) -> None:
    Path("stream").mkdir()
    assert "holds no report file" in refused("tally", "--watch", "stream", "--once", "--out", "t.parquet")
    Path("flat/1.csv").rename("stream/1.csv")
    Path("flat/1.csv.json").rename("stream/1.csv.json")
    assert tacit("tally", "--watch", "stream", "--once", "--out", "t.parquet", "--json").json["n_reports"] == 150
    assert tacit("tally", "--watch", "stream", "--once", "--out", "t.parquet", "--json").json["n_reports"] == 150
    Path("days/town=b/2.parquet").rename("stream/2.parquet")
    assert tacit("tally", "--watch", "stream", "--once", "--out", "t.parquet", "--json").json["n_reports"] == 300
    with Path("stream/1.csv").open("a") as more:
        more.write("no,a\n")
    assert "was changed after it was counted in" in refused(
        "tally", "--watch", "stream", "--once", "--out", "t.parquet"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("tally", "all.parquet", "--order", 2, "--whole", "--out", "t.parquet"),
            "one of --order, --tables and --whole",
        ),
        (("tally", "all.parquet", "--out", "t.csv"), "A tally is a Parquet file"),
        (("tally", "--out", "t.parquet"), "Which reports"),
        (("tally", "--watch", "nowhere", "--out", "t.parquet"), "There is no folder 'nowhere'"),
        (("tally", "all.parquet", "--minus", "all.parquet", "--out", "t.parquet"), "is not a tally"),
        (("estimate", "empty", "--attributes", "smokes"), "The folder 'empty' holds no Parquet or CSV file"),
        (("estimate", "no*.csv", "--attributes", "smokes"), "The pattern 'no*.csv' holds no"),
        (("estimate", "bare.csv", "--attributes", "smokes"), "does not carry its scheme"),
        (("estimate", "mixed", "--scheme", "s.json", "--attributes", "smokes"), "'mixed/other.csv' of 'mixed'"),
        (("estimate", "sqlite:///x.db?table=t", "--attributes", "smokes"), "does not carry its scheme"),
    ],
)
def test_bad_input(folder: Path, arguments: tuple[object, ...], message: str) -> None:
    Path("empty").mkdir()
    Path("bare.csv").write_text("smokes,town\nno,a\n")
    Path("mixed").mkdir()
    Path("mixed/other.csv").write_text("what\nno\n")
    Path("mixed/one.csv").write_text("smokes,town\nno,a\n")
    assert message in refused(*arguments)
