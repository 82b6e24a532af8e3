"""Repeated options from tacit.toml."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit import Attribute, Scheme, channels
from tests.cli.run import Outcome, refused, tacit


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    Scheme.of([Attribute("smokes", ("no", "yes"))], [(["smokes"], channels.warner(0.8))]).write(tmp_path / "s.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def measured(folder: Path, settings: str, *arguments: object) -> Outcome:
    (folder / "tacit.toml").write_text(settings, encoding="utf-8")
    return tacit("measure", "s.json", "--json", *arguments)


def test_a_setting_stands_for_an_option_and_is_announced(folder: Path) -> None:
    outcome = measured(folder, "[measure]\nrespondents = 2000\nprior = ['0.9,0.1']\n")
    assert outcome.json["respondents"] == 2000
    assert outcome.json["prior"] == "given"
    assert "From tacit.toml: respondents = 2000" in outcome.err


def test_what_is_typed_wins(folder: Path) -> None:
    outcome = measured(folder, "[measure]\nrespondents = 2000\nverbose = true\n", "--respondents=50")
    assert outcome.json["respondents"] == 50
    assert "From tacit.toml: verbose = true.\n" in outcome.err  # and of respondents not a word


def test_json_is_as_if_it_were_typed(folder: Path) -> None:
    (folder / "tacit.toml").write_text("[measure]\njson = true\n", encoding="utf-8")
    assert tacit("measure", "s.json").json["respondents"] == 1000
    assert "no file 'other.json'" in tacit("measure", "other.json").json["error"]


def test_commands_of_a_folder_have_tables_of_their_own(folder: Path) -> None:
    (folder / "tacit.toml").write_text("[design.scheme]\nanswers = 'x=no,yes'\ngamma = 3\n", encoding="utf-8")
    assert tacit("design", "scheme", "--out", "made.json").code == 0
    assert Scheme.read(folder / "made.json").schema.names == ("x",)


def test_settings_of_other_commands_are_not_announced(folder: Path) -> None:
    assert "tacit.toml" not in measured(folder, "[plan]\nmargin = 0.05\n").err


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("[measure]\nrespondent = 5\n", "'respondent' does not exist. Did you mean 'respondents'"),
        ("[mesure]\nrespondents = 5\n", "'mesure' does not exist. Did you mean 'measure'"),
        ("measure = 5\n", "must be a table of options, not 5"),
        ("[measure.prior]\nx = 1\n", "must be a value or a list"),
        ("[measure\n", "tacit.toml cannot be read"),
        ("[measure]\nrespondents = 'many'\n", "Invalid value for '--respondents'"),
    ],
)
def test_what_means_nothing_is_refused(folder: Path, settings: str, message: str) -> None:
    (folder / "tacit.toml").write_text(settings, encoding="utf-8")
    assert message in refused("measure", "s.json")
