"""Public names have types: a checker refuses every wrong use, and none of the right ones."""

from __future__ import annotations

import re
from pathlib import Path

from mypy import api

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def lines_refused(file: Path) -> dict[int, str]:
    """The line numbers at which mypy finds an error, with its message."""
    out, problem, _ = api.run([str(file), "--config-file", str(ROOT / "pyproject.toml"), "--no-pretty"])
    assert not problem
    errors = re.findall(rf"{file.name}:(\d+): error: (.*)", out)
    return {int(line): message for line, message in errors}


def test_every_wrong_use_is_refused() -> None:
    file = HERE / "wrong_uses.py"
    lines = file.read_text(encoding="utf-8").splitlines()
    first = lines.index('scheme = Scheme.read("scheme.json")') + 2
    wrong = {number for number, line in enumerate(lines, start=1) if number > first - 1 and line}
    refused = set(lines_refused(file))
    assert len(wrong) >= 25
    assert not {lines[number - 1] for number in wrong - refused}, "mypy takes these for right"
    assert not {lines[number - 1] for number in refused - wrong}, "mypy takes these for wrong"


def test_right_uses_are_not(tmp_path: Path) -> None:
    file = tmp_path / "right_uses.py"
    file.write_text(
        """
import tacit
from tacit.estimation import ShareEstimate, TableEstimate
reports = tacit.Reports.from_truth({"smokes": ["no", "yes"]})
table: TableEstimate = tacit.estimate(reports, "smokes")
joint: TableEstimate = tacit.estimate(reports, ["smokes", "age"], method="likelihood")
tables: list[TableEstimate] = tacit.estimate(reports, [["smokes"], ["smokes", "age"]])
share: ShareEstimate = tacit.estimate(reports, {"smokes": "yes", "age": ["young", "old"]}, sampling="respondents")
shares: list[ShareEstimate] = tacit.estimate(reports, [{"smokes": "yes"}, {"smokes": "no"}])
scheme = tacit.Scheme.of([tacit.Attribute("x", ("a", "b"))], [(["x"], tacit.channels.subset(size=1, gamma=3))])
""",
        encoding="utf-8",
    )
    assert lines_refused(file) == {}
