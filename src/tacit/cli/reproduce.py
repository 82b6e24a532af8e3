"""``tacit reproduce``: published studies run again."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.output import JsonFlag, note, print_json, print_table, print_text, progress
from tacit.cli.writing import check_writable
from tacit.experiments.page import write_study
from tacit.experiments.registry import STUDIES, Study, StudyResult, study
from tacit.extras import require_all
from tacit.table.outputs import made_folder

LONG = "At full size each takes minutes of processor time; --quick runs a small version."


def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="Name of a study, or all; without NAME and --out the studies are listed.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for pages, pictures and numbers: 'out' if not said.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run a small version: the same steps, but not the published numbers.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the searches and simulations.")] = 2008,
    health: Annotated[
        Path | None, typer.Option(help="For the study frapp: file of the RAND health table, its second data set.")
    ] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Run a published study again, and show its published numbers and sentences beside Tacit's."""
    if name is None and out is None:
        _list(STUDIES.values(), json=json)
        return
    require_all("Running the studies again", ("mine", "design", "publish", "report"))
    chosen = list(STUDIES.values()) if name in (None, "all") else [study(name)]
    if len(chosen) > 1 and not quick:
        note(f"Running {', '.join(each.name for each in chosen)}, one after the other. {LONG}")
    folder = made_folder(out or Path("out"))
    for each in chosen:
        check_writable(folder / f"{each.name}.html")
    documents = []
    for each in chosen:
        result = _run(each, quick, seed, health)
        page = write_study(result, folder)
        documents.append({**result.to_document(), "page": str(page)})
        if not json:
            rows = [(row.what, row.published or "-", row.ours, row.verdict) for row in result.comparisons]
            print_table(result.title, ("what", "published", "here", "verdict"), rows)
            if result.settings:
                print_text(result.settings)
            print_text(f"The page is in {page}.")
    if json:
        print_json({"studies": documents})


def _list(studies: Iterable[Study], *, json: bool) -> None:
    if json:
        print_json({"studies": [{"name": each.name, "title": each.title} for each in studies]})
        return
    print_table("Studies that can be run again", ("name", "study"), [(each.name, each.title) for each in studies])
    print_text(f"`tacit reproduce NAME` runs one, `tacit reproduce all` every one. {LONG}")


def _run(study: Study, quick: bool, seed: int, health: Path | None) -> StudyResult:
    with progress(f"Running {study.name}", total=1.0) as bar:
        done = 0.0

        def tell(share: float) -> None:
            nonlocal done
            bar.advance(share - done)
            done = share

        return study.run(quick, seed, tell, health=health)
