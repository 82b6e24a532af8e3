"""The page ``docs/cli.md``, made from the commands' own help: ``python -m tacit.cli.reference docs/cli.md``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

INTRODUCTION = """# The command line

Every command answers programs with `--json`, shows a progress bar on standard error when it runs longer than two seconds (in a
log a line that says what takes so long), and ends with exit code 0, or with 2 and one clear message for bad input. What is
infinite is `null` in JSON, with a sentence in `warnings`. Names in a list are separated by commas; one that holds a comma
itself is quoted as in a CSV file: `--attributes '"income, net",age'`. `-h` is short for `--help`; `-` is standard input, and
`--out -` standard output. Repeated options may stand in [`tacit.toml`](reference/formats.md#settings-tacittoml), or
in a file that `--settings` names. A command writes to a new name or in place of an earlier output of Tacit; any other file
is replaced only with `--force`, a link is written through to its target, and devices, pipes and folders are refused. This
page is made from the commands' own help.
"""
WIDTH = 80  # a terminal's; the site's column holds no more either


def reference() -> str:
    """The whole page."""
    from tacit.cli.app import app

    root = typer.main.get_command(app)
    sections = [f"## `{name}`\n\n```\n{text}\n```\n" for name, text in _helps(root, "tacit")]
    return INTRODUCTION + "\n" + "\n".join(sections)


def _helps(command: Any, name: str) -> Iterator[tuple[str, str]]:
    context = command.make_context(name, [], resilient_parsing=True, max_content_width=WIDTH, terminal_width=WIDTH)
    children = getattr(command, "commands", None)
    if children is None:
        yield name, "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
        return
    for child, subcommand in children.items():
        yield from _helps(subcommand, f"{name} {child}")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(reference(), encoding="utf-8")
