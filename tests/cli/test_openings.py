"""An input is opened once for what stands before its rows and as few times as possible for its rows."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from tacit import Attribute, Dataset, Scheme, channels, disguise
from tacit.table.files import column_names, n_cells, read_metadata, read_table
from tacit.table.heads import CLOCK_TICK, _heads
from tests.cli.run import tacit
from tests.opened_files import watch_openings


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    _heads.clear()
    return tmp_path


@pytest.fixture
def people(folder: Path) -> Path:
    random = np.random.default_rng(1)
    rows = [
        f"{random.integers(18, 90)},{'mf'[random.integers(2)]},{'abcde'[random.integers(5)]},{'ny'[random.integers(2)]}"
        for _ in range(2_000)
    ]
    (folder / "people.csv").write_text("\n".join(["age,sex,town,ill", *rows, ""]), encoding="utf-8")
    return folder / "people.csv"


def openings(file: Path, *command: object) -> int:
    time.sleep(2 * CLOCK_TICK / 1e9)  # of a file that was written just now nothing is kept
    with watch_openings(file) as counted:
        outcome = tacit(*command)
    assert outcome.code == 0, outcome.err
    return counted.number


def test_the_kernel_tells_of_every_opening(people: Path) -> None:
    with watch_openings(people) as counted:
        for _ in range(7):
            with people.open() as one, people.open() as other:  # two at once, and nothing between
                assert one.fileno() != other.fileno()
    assert counted.number == 14


@pytest.mark.parametrize("name", ["reports.csv", "reports.parquet"])
@pytest.mark.parametrize("options", [("--attributes", "x"), ("--attributes", "x", "--given", "y")])
def test_an_estimate_opens_its_reports_twice(folder: Path, name: str, options: tuple[str, ...]) -> None:
    """On the former code five and six times."""
    scheme = Scheme.of(
        [Attribute("x", ("no", "yes")), Attribute("y", ("a", "b"))],
        [(["x"], channels.warner(0.8)), (["y"], channels.warner(0.8))],
    )
    truth = Dataset.from_arrow({"x": ["no", "yes"] * 500, "y": ["a", "b", "b", "a"] * 250}, scheme.schema)
    disguise(truth, scheme, seed=1).write(folder / name)
    scheme.write(folder / "s.json")
    assert openings(folder / name, "estimate", name, "--scheme", "s.json", *options) <= 2
    assert openings(folder / name, "estimate", name, *options) <= 2  # with the scheme that it carries


PUBLISH = ("--k", "5", "--attributes", "age,sex,town", "--sensitive", "ill", "--out")


@pytest.mark.slow
def test_publish_opens_its_table_four_times(people: Path) -> None:
    """For what stands before its rows, for its values, for its fingerprint, for its codes; it was 15 times."""
    assert openings(people, "publish", "people.csv", *PUBLISH, "first.csv") <= 4
    assert (
        openings(people, "publish", "people.csv", *PUBLISH, "second.csv", "--again") <= 4
    )  # beside an earlier release


@pytest.mark.parametrize("command", [("check", "people.csv", "--attributes", "age,sex"), ("roles", "people.csv")])
def test_looking_at_a_table_opens_it_twice(people: Path, command: tuple[str, ...]) -> None:
    assert openings(people, *command) <= 2


def test_a_head_is_never_that_of_an_earlier_file(folder: Path) -> None:
    """Also where a file of the same size follows at once: a tick of the clock is waited for."""
    file = folder / "table.csv"
    for number in range(60):
        separator, names = ",;|"[number % 3], [f"a{number % 7}", f"b{number % 5}"]
        file.write_text(separator.join(names) + f"\n1{separator}2\n", encoding="utf-8")
        assert column_names(file) == names
        assert read_table(file).to_pylist() == [dict(zip(names, ("1", "2"), strict=True))]


def test_a_head_says_how_much_a_file_holds(people: Path) -> None:
    assert n_cells(people) == pytest.approx(8_000, rel=0.02)
    assert read_metadata(people) is None


@pytest.mark.slow
def test_a_line_of_names_may_be_longer_than_what_is_looked_at(folder: Path) -> None:
    names = [f"column_{number}_{'x' * 100}" for number in range(12_000)]
    (folder / "wide.csv").write_text(",".join(names) + "\n" + ",".join("1" for _ in names) + "\n", encoding="utf-8")
    assert column_names(folder / "wide.csv") == names
