"""``tacit demo``: the whole story on bundled data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from tacit.cli.output import JsonFlag, Progress, print_json, print_text, progress
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

        bar.total = len(CHAPTERS)
        with _told(bar) as chapter:
            page = write_demo(out, seed=seed, on_chapter=chapter)
    if json:
        print_json({"report": str(page)})
    else:
        print_text(f"The report is in {page}.")


@contextmanager
def _told(bar: Progress) -> Iterator[Callable[[str], None]]:
    """Let the bar say which chapter is made and, the first time, what is being compiled for it."""
    from numba.core import event as numba_event

    event: Any = numba_event  # untyped

    now = ["Starting"]

    def chapter(doing: str) -> None:
        if now[0] != "Starting":
            bar.advance()
        now[0] = doing.capitalize()
        bar.say(now[0])

    class Compiling(event.Listener):  # type: ignore[misc]
        def on_start(self, happening: Any) -> None:
            name = happening.data["dispatcher"].py_func.__name__.strip("_").replace("_", " ")
            bar.say(f"{now[0]}: compiling {name} (the first time only)")

        def on_end(self, happening: Any) -> None:
            bar.say(now[0])

    listener = Compiling()
    event.register("numba:compile", listener)
    try:
        yield chapter
    finally:
        event.unregister("numba:compile", listener)
