"""No command writes over what Tacit did not write, nor over anything that is not a regular file."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from pathlib import Path

import pytest
import typer

from tacit.cli.app import app
from tacit.cli.writing import WRITTEN
from tests.cli.run import refused, tacit

CSV = "smokes,age\n" + "yes,old\nno,young\nno,old\nyes,young\n" * 10
MINE = "what nobody may replace"


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    inputs = tmp_path_factory.mktemp("inputs")
    (inputs / "truth.csv").write_text(CSV)
    with contextlib.chdir(inputs):
        assert tacit("design", "scheme", "--data", "truth.csv", "--gamma", 9, "--out", "scheme.json").code == 0
        assert tacit("disguise", "truth.csv", "--scheme", "scheme.json", "--out", "reports.csv").code == 0
    return inputs


@pytest.fixture
def folder(inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(inputs, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


# One line for each command and option that names a file to be written; OUT is that file.
WRITING = [
    "design scheme --data truth.csv --gamma 9 --out OUT.json",
    "design front --method warner --distribution uniform --categories 3 --records 100 --delta .8 --points 3 --out OUT.json",
    "design front --method warner --distribution uniform --categories 3 --records 100 --delta .8 --points 3 --plot OUT.png",
    "design front --method warner --distribution uniform --categories 3 --records 100 --delta .8 --points 3 --plot OUT.svg",
    "design front --method warner --distribution uniform --categories 3 --records 100 --delta .8 --points 3 --plot OUT.pdf",
    "design open --gamma 9 --out OUT.json",
    "disguise truth.csv --scheme scheme.json --out OUT.csv",
    "disguise truth.csv --scheme scheme.json --out OUT.parquet",
    "tally reports.csv --scheme scheme.json --order 2 --out OUT.parquet",
    "mine tree reports.csv --scheme scheme.json --class smokes --plot OUT.png",
    "mine bayes reports.csv --scheme scheme.json --class smokes --export OUT.json",
    "prevalence truth.csv --item smokes --device forced-response --parameters truth=3/4,yes=1/8 --plot OUT.png",
    "plan --device warner --parameters p=.7 --power .8 --share .2 --against 0 --plot OUT.png",
    "devices warner --parameters p=.7 --out OUT.html",
    "publish truth.csv --k 2 --attributes smokes,age --method local --again --out OUT.csv",
    "publish truth.csv --k 2 --attributes smokes,age --method local --again --out OUT.parquet",
    "publish truth.csv --k 2 --attributes smokes,age --method local --again --out r.csv --report OUT.html",
    "publish truth.csv --k 2 --attributes smokes,age --method local --again --out r.csv --plot OUT.png",
    "synthesize truth.csv --schema scheme.json --epsilon 9 --out OUT.csv",
]
# Files made to be changed by hand, lists of codes and tables for a paper: these are replaced only with --force.
MENDED = [
    "roles truth.csv --out OUT.yaml",
    "survey new OUT.yaml",
    "survey words OUT.yaml",
    "estimate reports.csv --scheme scheme.json --attributes smokes --out OUT.csv",
    "estimate reports.csv --scheme scheme.json --attributes smokes --out OUT.tex",
    "prevalence truth.csv --item smokes --device forced-response --parameters truth=3/4,yes=1/8 --out OUT.csv",
    "correlations reports.csv --scheme scheme.json --attributes smokes,age --out OUT.csv",
]
BESIDE = {
    "disguise truth.csv --scheme scheme.json --out OUT.csv": "OUT.csv.json",
    "publish truth.csv --k 2 --attributes smokes,age --method local --again --out OUT.csv": "OUT.csv.manifest.json",
    "publish truth.csv --k 2 --attributes smokes,age --method local --again --out OUT.parquet": "OUT.parquet.private.json",
}


def _out(line: str) -> Path:
    return next(Path(word) for word in line.split() if word.startswith("OUT"))


@pytest.mark.slow
@pytest.mark.parametrize("line", WRITING)
def test_an_unrelated_file_stays_and_an_output_is_replaced(folder: Path, line: str) -> None:
    out = _out(line)
    out.write_text(MINE)
    assert "exists already and is not an output of Tacit" in refused(*line.split())
    assert out.read_text() == MINE
    first = tacit(*line.split(), "--force")
    assert first.code == 0, first.err
    again = tacit(*line.split())
    assert again.code == 0, again.err


@pytest.mark.parametrize("line", MENDED)
def test_what_is_mended_by_hand_is_replaced_only_by_force(folder: Path, line: str) -> None:
    assert tacit(*line.split()).code == 0
    with _out(line).open("a") as file:
        file.write("# mended\n")
    assert "exists already" in refused(*line.split())
    assert "# mended" in _out(line).read_text()
    assert tacit(*line.split(), "--force").code == 0
    assert "# mended" not in _out(line).read_text()


@pytest.mark.parametrize(("line", "beside"), BESIDE.items())
def test_unrelated_files_beside_an_output_stay(folder: Path, line: str, beside: str) -> None:
    Path(beside).write_text(MINE)
    assert f"{beside}' exists already" in refused(*line.split())
    assert Path(beside).read_text() == MINE
    assert not _out(line).exists()


@pytest.mark.slow
@pytest.mark.parametrize("line", [*WRITING, *MENDED])
def test_pipes_and_dangling_links_are_named_and_links_are_followed(folder: Path, line: str) -> None:
    out = _out(line)
    os.mkfifo(out)
    assert "is a named pipe (FIFO)" in refused(*line.split(), "--force")
    assert stat.S_ISFIFO(out.lstat().st_mode)
    out.unlink()
    out.symlink_to("absent")
    assert "where there is no file" in refused(*line.split(), "--force")
    assert not Path("absent").exists()
    Path("absent").write_text(MINE)
    assert "exists already" in refused(*line.split())
    outcome = tacit(*line.split(), "--force")
    assert outcome.code == 0, outcome.err
    assert out.is_symlink()
    assert Path("absent").read_bytes() != MINE.encode()


def test_a_backup_replaces_a_backup_and_never_a_store(folder: Path) -> None:
    assert tacit("survey", "new", "study.yaml").code == 0
    assert tacit("survey", "open", "study.yaml", "--store", "surveys.db").code == 0
    assert tacit("survey", "open", "study.yaml", "--store", "other.db").code == 0
    for _ in range(2):
        assert tacit("survey", "backup", "copy.db", "--store", "surveys.db").code == 0
    assert "exists already" in refused("survey", "backup", "other.db", "--store", "surveys.db")


def test_every_command_that_names_an_output_takes_force() -> None:
    """And each of them stands in a line above, or writes into a new folder, or asks nothing that was there before."""
    elsewhere = {"demo", "reproduce", "survey export", "survey preregister", "survey import", "survey backup"}
    elsewhere |= {"survey invite", "survey reminders", "survey incentives", "regress", "mine best"}
    tried = {" ".join(line.split()[:2]) for line in (*WRITING, *MENDED)} | {
        line.split()[0] for line in WRITING + MENDED
    }
    for name, command in _commands(typer.main.get_command(app), ()):
        names = {parameter.name for parameter in command.params}
        if names & WRITTEN:
            assert "force" in names, name
            assert name in tried | elsewhere, f"{name} writes and is not tried"
        else:
            assert not names & {"output", "file_out", "save", "target_file", "html", "pdf"}, name


def _commands(command: object, path: tuple[str, ...]) -> list[tuple[str, typer.core.TyperCommand]]:
    children = getattr(command, "commands", None)
    if children is None:
        return [(" ".join(path), command)]  # type: ignore[list-item]
    return [entry for name in children for entry in _commands(children[name], (*path, name))]


def test_a_folder_of_settings_cannot_force(folder: Path) -> None:
    Path("tacit.toml").write_text("[disguise]\nforce = true\n")
    Path("x.csv").write_text(MINE)
    line = ("disguise", "truth.csv", "--scheme", "scheme.json", "--out", "x.csv")
    assert "exists already" in refused(*line)
    assert tacit(*line, "--settings", "tacit.toml").code == 0
