"""The command line as a whole."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from tacit.cli.app import COMMANDS as LISTED
from tacit.cli.app import app
from tests.cli.run import refused, tacit

COMMANDS = typer.main.get_command(app)


def leaves(command: object, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], object]]:
    children = getattr(command, "commands", None)
    if children is None:
        return [(path, command)]
    return [leaf for name, child in children.items() for leaf in leaves(child, (*path, name))]


@pytest.mark.parametrize(
    ("path", "command"), leaves(COMMANDS), ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_every_command_explains_itself_and_speaks_json(path: tuple[str, ...], command: object) -> None:
    assert command.help, f"{path} is missing its help"
    assert any("--json" in parameter.opts for parameter in command.params), f"{path} has no --json"
    for parameter in command.params:
        assert getattr(parameter, "help", None) or parameter.param_type_name == "argument", f"{path}: {parameter.name}"
    assert tacit(*path, "--help").code == 0


def test_the_lines_of_the_help_page_are_those_of_the_commands() -> None:
    lines = {name: line for name, (line, _) in LISTED.items()}
    own = {name: command.help.split("\n\n")[0].replace("\n", " ") for name, command in COMMANDS.commands.items()}
    assert lines == own


@pytest.mark.parametrize("path", [(), ("design",), ("mine",), ("survey",), *(path for path, _ in leaves(COMMANDS))])
def test_no_help_line_is_cut(path: tuple[str, ...]) -> None:
    for flag in ("-h", "--help"):
        page = tacit(*path, flag)
        assert page.code == 0
        assert not re.search(r"\w\.\.\.$", page.out.partition("\n")[2], re.MULTILINE)
        assert all(len(line) <= 80 for line in page.out.splitlines())


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("mine", "tree"), "tacit mine tree [OPTIONS] REPORTS..."),
        (("measure",), "tacit measure [OPTIONS] SCHEME"),
        (("devices",), "tacit devices [OPTIONS] [NAME]"),
        (("tally",), "tacit tally [OPTIONS] [REPORTS...]"),
        (("survey", "open"), "tacit survey open [OPTIONS] FILE"),
    ],
)
def test_usage_lines_name_the_arguments_as_they_are_written(path: tuple[str, ...], line: str) -> None:
    assert tacit(*path, "-h").out.splitlines()[0] == f"Usage: {line}"


def _after_help(code: str) -> None:
    """Run some code in a process that has just printed the help page."""
    shown = """
import sys
from tacit.cli import main
sys.argv = ["tacit", "--help"]
try:
    main()
except SystemExit:
    pass
"""
    subprocess.run([sys.executable, "-c", shown + code], check=True, capture_output=True, timeout=60)


def test_the_help_page_imports_no_command() -> None:
    _after_help("""
loaded = {name for name in sys.modules if name.startswith("tacit.cli.")}
machinery = {"app", "commands", "output", "toml_defaults", "writing"}
assert loaded == {f"tacit.cli.{name}" for name in machinery}, loaded
""")


def test_help_loads_nothing_heavy() -> None:
    _after_help("""
heavy = {"numpy", "pyarrow", "numba", "scipy", "matplotlib", "sklearn", "ibis", "duckdb", "rich"} & set(sys.modules)
assert not heavy, heavy
""")


def test_importing_tacit_loads_nothing_heavy() -> None:
    code = "import sys, tacit; assert not {'numpy', 'pyarrow', 'numba', 'scipy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60)


def test_version() -> None:
    assert tacit("--version").out.startswith("tacit 0.")


def test_the_module_runs_as_the_command_does() -> None:
    done = subprocess.run([sys.executable, "-m", "tacit", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == tacit("--version").out


def test_an_unknown_command_is_refused() -> None:
    assert "No such command" in refused("guess")


def test_a_misspelt_option_is_also_json_under_json() -> None:
    outcome = tacit("measure", "--json", "--atack")
    assert outcome.code == 2
    assert "No such option: --atack" in outcome.json["error"]
    assert "No such option" in outcome.err


@pytest.mark.parametrize("path", [(), ("survey",), ("design",), ("mine",)])
def test_descriptions_of_commands_are_wrapped_and_never_cut(
    path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = tacit(*path, "-h").out
    assert "..." not in text.partition("Commands:")[2]
    assert all(len(line) <= 80 for line in text.splitlines())
    for name, command in leaves(COMMANDS):
        if name[:-1] == path:
            first = command.get_short_help_str(limit=500)
            assert " ".join(first.split()).replace("- ", "-") in " ".join(text.split()).replace("- ", "-")


def test_h_is_help() -> None:
    assert tacit("measure", "-h").out == tacit("measure", "--help").out


def test_a_shell_can_complete_commands() -> None:
    asked = {**os.environ, "_TACIT_COMPLETE": "complete_bash", "COMP_WORDS": "tacit est", "COMP_CWORD": "1"}
    done = subprocess.run([sys.executable, "-m", "tacit"], env=asked, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["estimate"]


def test_there_is_no_colour_away_from_a_terminal() -> None:
    assert "\x1b" not in tacit("devices").out


def test_a_number_that_cannot_be_read_is_said_in_plain_words() -> None:
    message = refused("plan", "--device", "warner", "--parameters", "p=.75", "--respondents", "many", "--share", "0.2")
    assert "Invalid value for '--respondents': a whole number such as 5 is wanted." in message
    assert "Value error" not in refused("estimate", "reports.parquet", "--attributes", "a", "--method", "guess")


def test_a_table_where_a_scheme_is_wanted_says_how_to_make_one(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("smokes\nno\nyes\n", encoding="utf-8")
    assert "tacit design scheme --data people.csv" in refused("measure", path)
