"""The command line as a whole."""

from __future__ import annotations

import subprocess
import sys

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


@pytest.mark.parametrize("path", [(), ("design",), ("mine",), ("survey",)])
def test_no_help_line_is_cut(path: tuple[str, ...]) -> None:
    for flag in ("-h", "--help"):
        page = tacit(*path, flag)
        assert page.code == 0
        assert "..." not in page.out.replace("[ARGS]...", "")
        assert all(len(line) <= 80 for line in page.out.splitlines())


def test_the_help_page_imports_no_command() -> None:
    code = """
import sys
from tacit.cli import main
sys.argv = ["tacit", "--help"]
try:
    main()
except SystemExit:
    pass
loaded = {name for name in sys.modules if name.startswith("tacit.cli.")}
assert loaded == {"tacit.cli.app", "tacit.cli.commands", "tacit.cli.output"}, loaded
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60)


def test_help_loads_nothing_heavy() -> None:
    code = """
import sys
from tacit.cli import main
sys.argv = ["tacit", "--help"]
try:
    main()
except SystemExit:
    pass
heavy = {"numpy", "pyarrow", "numba", "scipy", "matplotlib", "sklearn", "ibis", "duckdb", "rich"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60)


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
