"""``--out -`` writes to standard output, and nothing else goes there."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.run import refused, tacit

TRUTHS = "smokes,age\n" + "yes,young\nno,old\n" * 50


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "truths.csv").write_text(TRUTHS, encoding="utf-8")
    made = ("design", "scheme", "--data", "truths.csv", "--public", "age", "--gamma", 3, "--out", "scheme.json")
    assert tacit(*made).code == 0
    return tmp_path


@pytest.mark.parametrize("out", [("--out", "-"), ("--out=-",)])
def test_reports_are_piped_and_messages_are_not(files: Path, out: tuple[str, ...]) -> None:
    outcome = tacit("disguise", "truths.csv", "--scheme", "scheme.json", *out)
    assert outcome.code == 0
    rows = list(csv.DictReader(io.StringIO(outcome.out)))
    assert len(rows) == 100
    assert {row["age"] for row in rows} == {"young", "old"}
    assert "100 reports written to standard output." in outcome.err
    assert not list(files.glob("-*"))


def test_a_scheme_is_piped(files: Path) -> None:
    outcome = tacit("design", "scheme", "--answers", "x=no,yes", "--gamma", "3", "--out", "-")
    assert json.loads(outcome.out)["format"] == "tacit-scheme/1"
    assert "Amplification 3" in outcome.err


def test_what_is_refused_writes_nothing(files: Path) -> None:
    assert "theta" in refused("design", "scheme", "--answers", "x=no,yes", "--out", "-")


def test_commands_that_write_several_files_say_so(files: Path) -> None:
    assert "cannot write to standard output. Give a name" in refused("publish", "truths.csv", "--out", "-")


def test_json_and_output_cannot_share_standard_output(files: Path) -> None:
    outcome = tacit("roles", "truths.csv", "--out", "-", "--json")
    assert outcome.code == 2
    assert "Leave one of them out" in outcome.json["error"]


@pytest.mark.parametrize("command", [("measure", "-"), ("plan", "-", "--margin", "0.05")], ids=["measure", "plan"])
def test_a_scheme_comes_in_through_the_pipe(
    files: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO((files / "scheme.json").read_text(encoding="utf-8")))
    assert tacit(*command, "--json").json.keys() & {"gamma", "respondents"}
