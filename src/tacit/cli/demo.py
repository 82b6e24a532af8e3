"""``tacit demo``: the whole story on bundled data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.output import JsonFlag, print_json, print_text, progress


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("out"),
    seed: Annotated[int, typer.Option(help="Seed of the simulation.")] = 1965,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Run the whole story on bundled census data and write one self-contained page."""
    from tacit.report.demo import CHAPTERS, write_demo

    with progress("Demonstrating", total=len(CHAPTERS)) as bar:
        page = write_demo(out, seed=seed, on_chapter=bar.advance)
    if json:
        print_json({"report": str(page)})
    else:
        print_text(f"The report is in {page}.")
