"""The page that says how true the errors of studies are: it is whole, and the command that makes it writes what was found."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.estimation import device_simulation
from tests.regression import regression_simulation
from tests.study_scores import Scores
from tools import study_accuracy

PAGE = Path(__file__).parents[1] / "docs" / "notes" / "study-accuracy.md"
EMPTY = f"# Title\n\n{study_accuracy.MARKS[0]}\nold\n{study_accuracy.MARKS[1]}\nend\n"


def test_the_page_has_every_device_and_family_in_both_kinds_of_samples() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    for kind, module in (("share", device_simulation), ("regression", regression_simulation)):
        for case in module.CASES:
            for design in (study_accuracy.SIMPLE, study_accuracy.COMPLEX):
                assert any(row.startswith(f"| {kind}: {case} |") and f"| {design} |" in row for row in rows), case
    assert "2,000 studies of 1,000 people each" in PAGE.read_text()


def test_the_command_writes_the_table_and_goes_on_where_it_stopped(tmp_path, monkeypatch, capsys) -> None:
    wrong = Scores("low|mid", is_clustered=True, z=[3.0, 3.1] * 50, covered=[False] * 100, left_out=2)
    fine = Scores("share", z=[-1.0, 1.0] * 50, covered=[True] * 95 + [False] * 5)
    ran = []

    def simulated(case, seeds, *, clustered, stream):
        ran.append((case, seeds, clustered, stream))
        return [wrong] if clustered else [fine]

    monkeypatch.setattr(study_accuracy.device_simulation, "simulated", simulated)
    monkeypatch.setattr(study_accuracy, "_cases", lambda only: [("share", "kuk", False), ("share", "kuk", True)])
    page, kept = tmp_path / "page.md", tmp_path / "out" / "kept.jsonl"
    page.write_text(EMPTY)
    arguments = ["study_accuracy", "--seeds", "100", "--out", str(page), "--kept", str(kept)]
    monkeypatch.setattr(sys, "argv", arguments)
    assert study_accuracy.main() == 1
    assert ran == [("kuk", 100, False, 1965), ("kuk", 100, True, 1965)]
    text = page.read_text()
    assert "| share: kuk | share | simple sample | +0.00 | 1.00 | 0.950 | 0 |" in text
    assert r"| share: kuk | low\|mid | weights, 40 clusters | **+3.05** | **0.05** | **0.000** | 2 |" in text
    assert (text.startswith("# Title"), text.endswith("end\n"), "old" in text) == (True, True, False)
    assert "deviation 0.050, not from 0.93 to 1.12" in capsys.readouterr().out
    study_accuracy.main()
    assert len(ran) == 2
    assert [json.loads(line)[1][0]["left_out"] for line in kept.read_text().splitlines()] == [0, 2]


def test_what_meets_its_targets_ends_well(tmp_path, monkeypatch) -> None:
    fine = Scores("share", z=[-1.0, 1.0] * 50, covered=[True] * 95 + [False] * 5)
    monkeypatch.setattr(study_accuracy.device_simulation, "simulated", lambda *_, **__: [fine])
    monkeypatch.setattr(study_accuracy, "_cases", lambda only: [("share", "kuk", False)])
    page = tmp_path / "page.md"
    page.write_text(EMPTY)
    monkeypatch.setattr(sys, "argv", ["x", "--out", str(page), "--kept", str(tmp_path / "kept.jsonl")])
    assert study_accuracy.main() == 0
    assert "Every target is met." in page.read_text()


def test_all_cases_or_half_of_them_are_run() -> None:
    every = list(study_accuracy._cases(None))
    assert len(every) == 2 * (len(device_simulation.CASES) + len(regression_simulation.CASES))
    assert {kind for kind, _, _ in study_accuracy._cases("share")} == {"share"}
