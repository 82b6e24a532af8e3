"""What a report file tells besides its reports: attacked by the order of its rows and by the prior of its scheme."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit import Attribute, Dataset, Scheme, channels
from tacit.leaks import Leaks
from tacit.table import read_metadata
from tests.cli.run import refused, tacit

SMOKES, AGE = Attribute("smokes", ("no", "yes")), Attribute("age", ("young", "old"))
SCHEME = Scheme.of([SMOKES, AGE], [(["smokes"], channels.warner(0.75))])
N = 2000
SORTED = ["no"] * 1400 + ["yes"] * 600


def said(smokes: list[str], *, is_mixed: bool = False) -> list[str]:
    leaks = Leaks(SCHEME)
    age = np.resize(AGE.answers, len(smokes))
    for part in range(0, len(smokes), 500):
        rows = {"smokes": smokes[part : part + 500], "age": age[part : part + 500]}
        leaks.add(Dataset.from_arrow(rows, SCHEME.schema).table)
    return leaks.sentences(is_mixed=is_mixed)


def split_where_reports_change(reports: list[str]) -> int:
    """The place at which a sorted file changes from no to yes, most likely: the attack on the order of rows."""
    votes = np.where(np.array(reports) == "no", 1, -1)
    return int(np.argmax(np.concatenate([[0], np.cumsum(votes)])))


@pytest.fixture
def sorted_file(tmp_path: Path) -> Path:
    SCHEME.write(tmp_path / "scheme.json")
    pq.write_table(pa.table({"smokes": SORTED, "age": np.resize(AGE.answers, N)}), tmp_path / "truths.parquet")
    return tmp_path


def disguised(folder: Path, *more: object) -> tuple[list[str], str]:
    """The reports of the sorted file, and what was said."""
    out = folder / "reports.parquet"
    done = tacit(
        "disguise", folder / "truths.parquet", "--scheme", folder / "scheme.json", "--out", out, "--json", *more
    )
    assert done.code == 0, done.err
    assert done.json["n_reports"] == N
    return pq.read_table(out).column("smokes").to_pylist(), done.err


def test_a_sorted_file_tells_its_answers_by_their_places_and_that_is_said(sorted_file: Path) -> None:
    reports, told = disguised(sorted_file)
    # From reports that are wrong one time in four, nearly everybody's answer.
    assert abs(split_where_reports_change(reports) - 1400) < 60
    assert "neighbouring rows have the same smokes in 100% of cases, in random order 58%" in told
    assert "--shuffle" in told


def test_shuffled_reports_are_the_same_reports_at_places_that_tell_nothing(sorted_file: Path) -> None:
    reports, told = disguised(sorted_file, "--shuffle")
    assert "order" not in told
    # 60% of the reports are "no", all over the file; in the order of the truths 75% of the first 1,400 would be.
    assert abs(reports[:1400].count("no") - 0.6 * 1400) < 6 * np.sqrt(1400 * 0.24)
    simulated = ["--seed", "4"]
    kept, mixed = disguised(sorted_file, *simulated)[0], disguised(sorted_file, *simulated, "--shuffle")[0]
    assert kept != mixed
    assert sorted(kept) == sorted(mixed)


def test_an_order_is_noticed_whichever_it_is_and_chance_is_not() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):  # in some, neighbours are alike in a point more or less of the cases
        assert said(rng.permutation(SORTED).tolist()) == []
    assert said(["yes"] * N) == []
    assert said(SORTED, is_mixed=True) == []
    assert len(said(SORTED)) == 1
    assert len(said(["no", "yes"] * (N // 2))) == 1  # pairs of a case and its control


def test_the_counts_of_the_truths_stay_in_a_private_file_unless_they_are_asked_for(sorted_file: Path) -> None:
    """The attack: read the prior of the scheme that a report file carries, and know how many gave each answer."""
    design = ["design", "scheme", "--data", sorted_file / "truths.parquet", "--gamma", 3, "--public", "age"]
    design += ["--out", sorted_file / "scheme.json"]
    made = tacit(*design)
    private = sorted_file / "scheme.private.json"
    assert f"it is in {str(private)!r}, for your eyes only" in made.err
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert json.loads(private.read_text())["prior"]["smokes"] == pytest.approx([0.7, 0.3])
    _, told = disguised(sorted_file, "--shuffle")
    assert told == "Going out undisguised, as the scheme has them in no group: age.\n"
    carried = read_metadata(sorted_file / "reports.parquet")["scheme_document"]
    assert "prior" not in carried
    for file in ("scheme.json", "reports.parquet"):
        assert b"prior" not in (sorted_file / file).read_bytes()

    # plan and measure read it, as if it stood in the scheme.
    asked = [("plan", sorted_file / "scheme.json", "--margin", 0.05), ("measure", sorted_file / "scheme.json")]
    beside = [tacit(*command, "--json").json for command in asked]
    stated = tacit(*design, "--with-prior")
    assert "whoever gets one knows how many gave each answer" in stated.err
    assert not private.exists()
    assert [tacit(*command, "--json").json for command in asked] == beside
    _, told = disguised(sorted_file, "--shuffle")
    carried = read_metadata(sorted_file / "reports.parquet")["scheme_document"]["prior"]["smokes"]
    assert np.array(carried) * N == pytest.approx([1400, 600])
    assert "how many people gave each answer to smokes, to the last one" in told

    silent = tacit(*design, "--no-prior")
    assert "prior" not in silent.err
    assert not private.exists()
    assert [tacit(*command, "--json").json for command in asked] != beside


def test_the_prior_of_another_scheme_is_refused(sorted_file: Path) -> None:
    design = ["design", "scheme", "--data", sorted_file / "truths.parquet", "--public", "age"]
    for gamma, out in ((3, "scheme.json"), (9, "other.json")):
        assert tacit(*design, "--gamma", gamma, "--out", sorted_file / out).code == 0
    (sorted_file / "other.private.json").replace(sorted_file / "scheme.private.json")
    assert "is the prior of another scheme" in refused("measure", sorted_file / "scheme.json")
    (sorted_file / "scheme.private.json").write_text('{"mine": 1}')
    assert "is not the private prior of a scheme" in refused("measure", sorted_file / "scheme.json")
    assert "say the opposite" in refused(
        *design, "--gamma", 3, "--out", sorted_file / "n.json", "--no-prior", "--with-prior"
    )


def test_a_prior_that_is_not_counted_in_the_file_is_nobodys_secret(sorted_file: Path) -> None:
    Scheme.of(SCHEME.schema, [(["smokes"], channels.warner(0.75))], prior={"smokes": [0.71, 0.29]}).write(
        sorted_file / "scheme.json"
    )
    assert "prior" not in disguised(sorted_file)[1]


def test_no_prior_is_refused_where_there_is_none(tmp_path: Path) -> None:
    message = refused(
        "design", "scheme", "--answers", "smokes=no,yes", "--gamma", 3, "--no-prior", "--out", tmp_path / "s.json"
    )
    assert "--no-prior leaves out the shares of --data" in message
    assert not (tmp_path / "s.json").exists()
