"""``tacit demo``: the whole story on bundled data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.output import JsonFlag, Progress, compiling_told, print_json, print_text, progress
from tacit.cli.writing import check_writable
from tacit.extras import require_all


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("out"),
    seed: Annotated[int, typer.Option(help="Seed of the simulation.")] = 1965,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Run the whole story on bundled census data and write one self-contained page."""
    require_all("The demonstration", ("mine", "design", "publish", "regress"))
    with progress("Starting") as bar:
        from tacit.report.demo import CHAPTERS, write_demo
        from tacit.table.outputs import made_folder

        check_writable(made_folder(out) / "report.html")
        bar.total = len(CHAPTERS)
        with compiling_told(bar):
            page = write_demo(out, seed=seed, on_chapter=_chapters(bar))
    if json:
        print_json({"report": str(page)})
    else:
        print_text(f"The report is in {page}.")


def _chapters(bar: Progress) -> Callable[[str], None]:
    """Lets the bar say which chapter is made, and move on with each but the first."""
    begun: list[str] = []

    def chapter(doing: str) -> None:
        if begun:
            bar.advance()
        begun.append(doing)
        bar.say(doing.capitalize())

    return chapter
