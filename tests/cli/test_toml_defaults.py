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


REGRESS = ("regress", "study.csv", "--device", "r: forced-response truth=2/3,yes=1/6", "--json")


@pytest.fixture
def study(folder: Path) -> Path:
    """A folder as it may be downloaded: a table, and settings that nobody asked for."""
    rows = [f"{number % 2},{number * 7 % 13}" for number in range(300)]
    (folder / "study.csv").write_text("\n".join(["r,x", *rows, ""]), encoding="utf-8")
    formula = """r ~ x + I(x * x + (np.testing.runstring(\\"open('opened', 'w')\\", {}) or 0))"""
    (folder / "tacit.toml").write_text(f'[regress]\nformula = "{formula}"\nlevel = 0.9\n', encoding="utf-8")
    return folder


def test_a_formula_that_came_with_a_folder_is_not_even_read(study: Path) -> None:
    outcome = tacit(*REGRESS)
    assert outcome.code == 2
    assert "Ignored in tacit.toml: formula." in outcome.err
    assert "add --settings tacit.toml, or type them" in outcome.err
    assert "Missing option '--formula'" in outcome.err
    assert not (study / "opened").exists()


@pytest.mark.parametrize("place", [0, 2])
def test_a_formula_of_a_named_file_is_data(study: Path, place: int) -> None:
    words = [*REGRESS[:place], "--settings", "tacit.toml", *REGRESS[place:]]
    assert "or function of a formula. Its functions: log, " in tacit(*words).json["error"]
    assert not (study / "opened").exists()
    (study / "mine.toml").write_text('[regress]\nformula = "r ~ log(x + 1)"\n', encoding="utf-8")
    words[words.index("tacit.toml")] = "mine.toml"
    outcome = tacit(*words)
    assert 'From mine.toml: formula = "r ~ log(x + 1)".' in outcome.err
    assert outcome.json["formula"] == "r ~ log(x + 1)"


def test_other_settings_of_the_folder_stay(study: Path) -> None:
    outcome = tacit(*REGRESS, "--formula", "r ~ x")
    assert "From tacit.toml: level = 0.9.\n" in outcome.err
    assert "Ignored" not in outcome.err  # what is typed is not missed


@pytest.mark.parametrize(
    ("command", "table", "ignored"),
    [
        (["disguise", "study.csv", "--scheme", "s.json", "--out", "o.csv"], "[disguise]\nseed = 1\n", "seed"),
        (["survey", "status"], "[survey.status]\nstore = 'theirs.db'\n", "store"),
        (
            ["survey", "serve", "--store", "none.db"],
            "[survey.serve]\nhost = '0.0.0.0'\nproxy = ['10.0.0.0/8']\n",
            "host, proxy",
        ),
    ],
)
def test_a_folder_sets_no_seed_store_host_or_proxy(folder: Path, command: list[str], table: str, ignored: str) -> None:
    (folder / "study.csv").write_text("smokes\nno\nyes\n", encoding="utf-8")
    (folder / "tacit.toml").write_text(table, encoding="utf-8")
    assert f"Ignored in tacit.toml: {ignored}. They are taken from a file only if it is named" in tacit(*command).err
    assert not (folder / "theirs.db").exists()
    (folder / "o.csv").unlink(missing_ok=True)
    named = tacit(*command, "--settings=tacit.toml").err
    assert "Ignored" not in named
    assert "From tacit.toml: " in named


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--settings", "none.toml"], "none.toml cannot be read"),
        (["--settings"], "--settings names no file. Write --settings tacit.toml."),
        (["--settings=a.toml", "--settings=b.toml"], "--settings is given twice. Name one file."),
    ],
)
def test_settings_that_cannot_be_found_are_refused(folder: Path, words: list[str], message: str) -> None:
    assert message in refused("measure", "s.json", *words)


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
