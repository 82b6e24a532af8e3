"""Tables and paragraphs for a paper."""

from __future__ import annotations

import csv

import numpy as np
import openpyxl
import pandas as pd
import pytest

import tacit
from tests.cli.run import refused
from tests.cli.run import tacit as run


@pytest.fixture
def study(tmp_path):
    g = np.random.default_rng(1)
    truth = g.random(800) < 0.3
    frame = pd.DataFrame(
        {"x": np.where(g.random(800) < 0.8, truth, ~truth) * 1, "age_50%": g.choice(["=1+1", "old"], 800), "w": 1.5}
    )
    frame.to_csv(tmp_path / "p.csv", index=False)
    return tmp_path / "p.csv"


PREVALENCE = ("--item", "x", "--device", "warner", "--parameters", "p=.8", "--by", "age_50%")
REGRESS = ("--formula", "x ~ `age_50%`", "--device", "x: warner p=.8", "--weights", "w")


@pytest.mark.parametrize(("command", "options"), [("prevalence", PREVALENCE), ("regress", REGRESS)])
def test_every_format_holds_every_digit(study, tmp_path, command: str, options: tuple[str, ...]) -> None:
    answer = run(command, study, *options, "--json").json
    numbers = answer["shares"] if command == "prevalence" else answer["coefficients"]
    name = "share" if command == "prevalence" else "estimate"
    for ending in ("csv", "tex", "html", "xlsx"):
        run(command, study, *options, "--out", tmp_path / f"t.{ending}")
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text().splitlines()))
    assert [float(row[name]) for row in rows[:2]] == [one[name] for one in numbers[:2]]
    tex = (tmp_path / "t.tex").read_text()
    assert r"\toprule" in tex
    assert f"${numbers[0][name]:.4g}$" in tex
    assert "%" not in tex.split("\n", 1)[1].replace(r"\%", "")  # a comment would swallow the rest of its line
    assert "<table>" in (tmp_path / "t.html").read_text()
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").active
    head = [cell.value for cell in sheet[1]]
    assert sheet[2][head.index(name)].value == pytest.approx(numbers[0][name])
    assert all(cell.data_type != "f" for row in sheet for cell in row)
    run(command, study, *options, "--plot", tmp_path / "t.png")
    assert (tmp_path / "t.png").stat().st_size > 1000


def test_other_endings_are_refused_before_the_work(study, tmp_path) -> None:
    assert "cannot be written as '.doc'" in refused("prevalence", study, *PREVALENCE, "--out", tmp_path / "t.doc")


def test_methods_say_what_was_used(study) -> None:
    text = run("regress", study, *REGRESS, "--methods").out
    for part in (
        "Warner's device (p=4/5)",
        "at most 4 times",
        "800 reports",
        "weights w",
        "Rao and Scott",
        "Warner 1965",
    ):
        assert part in text
    assert "clusters school" not in text
    text = tacit.prevalence(study, "x", "warner", "p=.8", bootstrap=50, seed=7).methods_text()
    assert "seed 7" in text
    assert "bootstrap" in text


def test_documents_record_the_design(study) -> None:
    record = run("prevalence", study, *PREVALENCE, "--weights", "w", "--json").json["study"]
    assert record["devices"]["x"] == {"device": "warner", "parameters": [{"sample": None, "p": "4/5"}], "direct": None}
    assert (record["weights"], record["clusters"], record["version"]) == ("w", None, tacit.__version__)
    frame = tacit.prevalence(study, "x", "warner", "p=.8", by="age_50%").to_pandas()
    assert list(frame["group"]) == ["all", "all", "=1+1", "=1+1", "old", "old"]


def test_estimates_and_plans_are_written_too(tmp_path) -> None:
    scheme = tacit.Scheme.of([tacit.Attribute("x", ("no", "yes"))], [(["x"], tacit.channels.warner(0.8))])
    truth = tacit.Dataset.from_arrow({"x": ["no", "yes"] * 50}, scheme.schema)
    tacit.disguise(truth, scheme, seed=1).write(tmp_path / "r.parquet")
    run("estimate", tmp_path / "r.parquet", "--attributes", "x", "--out", tmp_path / "e.csv")
    assert (tmp_path / "e.csv").read_text().startswith("x,probability")
    asked = ("estimate", tmp_path / "r.parquet", "--mean", "x", "--out", tmp_path / "m.csv")
    assert "--out writes the table of --attributes" in refused(*asked)
    run("plan", "--device", "warner", "--parameters", "p=.8", "--margin", ".03", "--out", tmp_path / "p.tex")
    assert r"\toprule" in (tmp_path / "p.tex").read_text()
