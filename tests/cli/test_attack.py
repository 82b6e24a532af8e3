"""``tacit measure --attack`` as a user types it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit import Attribute, Schema, Scheme, channels
from tests.cli.run import refused, tacit

NAMES = ("age", "smokes", "drinks", "drives")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A scheme that flips four related answers at once, and a file of truths."""
    schema = Schema(tuple(Attribute(name, ("no", "yes")) for name in NAMES))
    scheme = tmp_path / "scheme.json"
    Scheme.of(schema, [(NAMES, channels.flip(0.7))]).write(scheme)
    rng = np.random.default_rng(8)
    truth = {name: np.where(rng.random(800) < 0.1, "yes", "no") for name in NAMES}
    pq.write_table(pa.table(truth), tmp_path / "truth.parquet")
    return scheme, tmp_path / "truth.parquet"


def test_truths_are_disguised_and_guessed(files: tuple[Path, Path]) -> None:
    scheme, truth = files
    found = tacit("measure", scheme, "--data", truth, "--attack", "--seed", 1, "--json").json["attack"]
    assert found["basis"] == "counted"
    assert found["coins"] > 0.9
    assert found["records"] > found["records_without_reports"]
    assert set(found["per_attribute"]) == set(NAMES)


def test_what_is_known_reveals_the_group(files: tuple[Path, Path]) -> None:
    scheme, truth = files
    outcome = tacit("measure", scheme, "--data", truth, "--attack", "--known", "age", "--seed", 1)
    assert "age, known to the guesser, shares a group with smokes, drinks and drives" in outcome.out
    assert "whole records" in outcome.out
    assert "100.0%" in outcome.out


@pytest.mark.slow
def test_reports_alone_give_estimates(files: tuple[Path, Path], tmp_path: Path) -> None:
    scheme, truth = files
    reports = tmp_path / "reports.parquet"
    assert tacit("disguise", truth, "--scheme", scheme, "--out", reports, "--seed", 3).code == 0
    alone = tacit("measure", scheme, "--attack", "--reports", reports, "--json").json["attack"]
    beside = tacit("measure", scheme, "--attack", "--reports", reports, "--data", truth, "--json").json["attack"]
    assert (alone["basis"], beside["basis"]) == ("estimated", "counted")
    assert alone["coins"] == pytest.approx(beside["coins"], abs=0.05)


def test_files_of_a_folder_and_their_tally_are_attacked_as_the_whole_table(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    scheme, truth = files
    parts = tmp_path / "parts"
    parts.mkdir()
    rows = pq.read_table(truth)
    for at, (seed, count) in enumerate(((3, 500), (4, 300))):
        pq.write_table(rows.slice(500 * at, count), tmp_path / "part.parquet")
        disguise = ("disguise", tmp_path / "part.parquet", "--scheme", scheme, "--out", parts / f"{at}.csv")
        assert tacit(*disguise, "--seed", seed).code == 0
    attacked = tacit("measure", scheme, "--attack", "--reports", parts, "--data", truth, "--json").json["attack"]
    assert (attacked["basis"], attacked["n_reports"]) == ("counted", 800)
    for kept, shape in (("whole.parquet", "--whole"), ("few.parquet", "--order=1")):
        assert tacit("tally", parts, shape, "--out", tmp_path / kept).code == 0
    assert tacit("tally", parts / "0.csv", "--out", parts / "2.parquet").code == 0  # a folder may hold tallies as well
    alone = tacit("measure", scheme, "--attack", "--reports", tmp_path / "whole.parquet", "--json").json["attack"]
    assert alone["n_reports"] == 800
    both = tacit("measure", scheme, "--attack", "--reports", parts, "--json").json["attack"]
    assert both["n_reports"] == 1300
    lacking = refused("measure", scheme, "--attack", "--reports", tmp_path / "few.parquet")
    assert "This tally does not hold age, smokes, drinks, drives together" in lacking


def test_the_attack_refuses_what_it_cannot_use(files: tuple[Path, Path]) -> None:
    scheme, truth = files
    assert "add --attack" in refused("measure", scheme, "--known", "age")
    assert "Give --reports" in refused("measure", scheme, "--attack")
    assert "'height' does not exist" in refused("measure", scheme, "--attack", "--data", truth, "--known", "height")


def test_whoever_designs_a_flip_of_a_group_is_shown_what_does_better(files: tuple[Path, Path], tmp_path: Path) -> None:
    scheme, truth = files
    design = (
        "design",
        "scheme",
        "--schema",
        scheme,
        "--groups",
        ",".join(NAMES),
        "--theta",
        0.7,
        "--out",
        tmp_path / "s.json",
    )
    tried = tacit(*design, "--data", truth).out
    assert "Better at the same usefulness: an unrelated question on the same groups" in tried
    assert "What the best guesser gets right from reports of these data" in tried
    assert "tacit measure --attack shows" in tacit(*design).out
    assert len(tacit(*design, "--json").json["alternatives"]) == 2
