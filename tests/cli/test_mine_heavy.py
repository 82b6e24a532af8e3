"""An open question from the command line: designed, disguised, its frequent answers found; each refusal."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit.mine.heavy_hitters import OpenQuestion
from tacit.mine.open_question_files import read_question
from tests.cli.run import refused, tacit

COMMON = {"Oslo": 0.4, "rome": 0.25}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Towns of 8,000 people in two files, most of them one of two; and the question they answer."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(7)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    rare = ["".join(word) for word in letters[rng.integers(0, 26, (8000, 4))]]
    kinds = rng.choice(3, 8000, p=[*COMMON.values(), 1 - sum(COMMON.values())]).tolist()
    towns = [word if kind == 2 else list(COMMON)[kind] for word, kind in zip(rare, kinds, strict=True)]
    Path("towns").mkdir()
    for part in (0, 1):
        pq.write_table(pa.table({"town": towns[part::2], "age": ["old"] * 4000}), f"towns/{part}.parquet")
    made = tacit("design", "open", "--attribute", "town", "--epsilon", 3, "--length", 4, "--out", "q.json", "--json")
    assert made.code == 0, made.err
    return tmp_path


def test_frequent_answers_are_found_from_disguised_files(folder: Path) -> None:
    for out in ("r.parquet", "r.csv"):
        done = tacit("disguise", "towns", "--scheme", "q.json", "--out", out, "--drop-others", "--seed", 5, "--json")
        assert done.json["n_reports"] == 8000, done.err
    for given in (("r.parquet",), ("r.csv",), ("r.parquet", "--scheme", "q.json")):
        answer = tacit("mine", "heavy", *given, "--certainty", 0.999, "--json").json
        assert [hitter["answer"] for hitter in answer["answers"]] == ["oslo", "rome"]
        for hitter, truth in zip(answer["answers"], COMMON.values(), strict=True):
            assert abs(hitter["share"] - truth) < 5 * hitter["standard_error"]
            assert hitter["certainty"] > 0.999
    assert answer["n_reports"] == 8000
    twice = tacit("mine", "heavy", "r.parquet", "r.csv", "--json").json
    assert twice["n_reports"] == 16_000
    shown = tacit("mine", "heavy", "r.parquet", "--top", 1)
    assert "oslo" in shown.out
    assert "more with --top" in shown.err


def test_a_report_holds_a_level_a_bucket_and_a_seed_and_nothing_else(folder: Path) -> None:
    tacit("disguise", "towns/0.parquet", "--scheme", "q.json", "--out", "r.parquet", "--drop-others")
    reports = pq.read_table("r.parquet")
    assert reports.column_names == ["level", "bucket", "seed"]
    assert reports.nbytes / len(reports) <= 16
    assert b"Oslo" not in Path("r.parquet").read_bytes()
    assert b"oslo" not in Path("r.parquet").read_bytes()


def test_every_answer_makes_every_report_at_most_gamma_times_as_likely() -> None:
    """All that leaves a person's hands: the level is dealt whatever is true, the rest is local hashing's."""
    question = OpenQuestion(gamma=math.e**2, length=4, step=2)
    counts = {}
    for answer in ("oslo", "rome"):
        reports = question.disguise([answer] * 40_000, seed=11)
        counts[answer] = np.bincount(reports["level"], minlength=2)
    assert np.abs(counts["oslo"] - 20_000).max() < 5 * 100
    assert question.channel.amplification <= math.e**2


def test_design_open_says_from_which_share_on_an_answer_stands_out(folder: Path) -> None:
    said = tacit("design", "open", "--gamma", 20, "--out", "o.json", "--respondents", 10_000)
    assert "from a share of" in said.out
    document = json.loads(Path("o.json").read_text())
    assert document["format"] == "tacit-open-question/1"
    assert read_question("o.json") == OpenQuestion(20)
    few, many = (OpenQuestion(20).least_share(n) for n in (1000, 100_000))
    assert few == pytest.approx(10 * many)


def test_the_least_share_is_found_about_every_other_time() -> None:
    question = OpenQuestion(gamma=20, length=2, step=2)
    least = question.least_share(2000)
    rng = np.random.default_rng(3)
    times = 0
    for seed in range(40):
        truth = np.where(rng.random(2000) < least, "ab", "zz").tolist()
        times += any(hitter.answer == "ab" for hitter in question.find(question.disguise(truth, seed=seed)))
    assert 8 <= times <= 36  # 20 expected; one binomial in a million lies outside


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("design", "open", "--out", "x.json"), "--gamma or --epsilon"),
        (("design", "open", "--gamma", 2, "--epsilon", 1, "--out", "x.json"), "one of both"),
        (("design", "open", "--gamma", 2, "--step", 9, "--length", 9, "--out", "x.json"), "9 characters at a time"),
        (("design", "open", "--gamma", 2, "--respondents", 0, "--out", "x.json"), "at least 1"),
        (("disguise", "towns", "--scheme", "q.json", "--out", "r.csv"), "'age'"),
        (("disguise", "bad.csv", "--scheme", "q.json", "--out", "r.csv"), "holds '?'"),
        (("disguise", "gap.csv", "--scheme", "q.json", "--out", "r.csv"), "Row 2 has no answer"),
        (("disguise", "gap.csv", "--scheme", "q.json", "--out", "gap.csv", "--missing", "drop"), "would overwrite"),
        (("disguise", "spark:a", "--scheme", "q.json", "--out", "spark:b"), "disguised from files"),
        (("mine", "heavy", "gap.csv"), "does not carry its question"),
        (("mine", "heavy", "gap.csv", "--scheme", "q.json"), "'level' is missing"),
        (("mine", "heavy", "r.parquet", "--scheme", "other.json"), "another open question"),
        (("mine", "heavy", "r.parquet", "--scheme", "changed.json"), "was changed"),
        (("mine", "heavy", "r.parquet", "--scheme", "scheme.json"), "is not the document of an open question"),
        (("mine", "heavy", "r.parquet", "--certainty", 1), "between 0 and 1"),
        (("mine", "heavy", "nobody.parquet"), "There is no file"),
        (("estimate", "r.parquet", "--attributes", "town"), "holds reports of an open question"),
        (("tally", "r.parquet", "--out", "t.parquet"), "holds reports of an open question"),
        (("measure", "q.json"), "is an open question, not a scheme"),
        (("plan", "q.json", "--margin", ".01"), "is an open question, not a scheme"),
    ],
)
def test_bad_input(folder: Path, arguments: tuple[object, ...], message: str) -> None:
    Path("bad.csv").write_text("town\nw?\n")
    Path("gap.csv").write_text("town\noslo\n\n")
    Path("scheme.json").write_text('{"format": "tacit-scheme/1"}')
    tacit("design", "open", "--attribute", "town", "--gamma", 2, "--out", "other.json")
    changed = json.loads(Path("q.json").read_text()) | {"length": 6}
    Path("changed.json").write_text(json.dumps(changed))
    tacit("disguise", "towns/0.parquet", "--scheme", "q.json", "--out", "r.parquet", "--drop-others", "--seed", 1)
    before = sorted(Path().iterdir())
    assert message in refused(*arguments)
    assert sorted(Path().iterdir()) == before
