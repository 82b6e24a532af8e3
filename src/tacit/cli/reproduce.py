"""``tacit reproduce``: published studies run again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli.output import JsonFlag, print_json, print_table, print_text, progress
from tacit.extras import require_all

if TYPE_CHECKING:
    from tacit.experiments.registry import Study, StudyResult


def reproduce(
    name: Annotated[str, typer.Argument(help="Name of a study, or all.")] = "all",
    out: Annotated[Path, typer.Option(help="Folder for pages, pictures and numbers.")] = Path("out"),
    quick: Annotated[
        bool, typer.Option("--quick", help="A small version that shows the way, not the numbers.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the searches and simulations.")] = 2008,
    health: Annotated[Path | None, typer.Option(help="frapp: the RAND health table, as the second data set.")] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Run a published study again: tables, plots, the published number or sentence beside ours."""
    require_all("Running the studies again", ("mine", "design", "publish", "report"))
    from tacit.experiments.page import write_study
    from tacit.experiments.registry import STUDIES, study

    chosen = list(STUDIES.values()) if name == "all" else [study(name)]
    documents = []
    for each in chosen:
        result = _run(each, quick, seed, health)
        page = write_study(result, out)
        documents.append({**result.to_document(), "page": str(page)})
        if not json:
            rows = [(row.what, row.published or "", row.ours) for row in result.comparisons]
            print_table(result.title, ("what", "published", "here"), rows)
            if result.settings:
                print_text(result.settings)
            print_text(f"The page is in {page}.")
    if json:
        print_json({"studies": documents})


def _run(study: Study, quick: bool, seed: int, health: Path | None) -> StudyResult:
    with progress(f"Running {study.name}", total=1.0) as bar:
        done = 0.0

        def tell(share: float) -> None:
            nonlocal done
            bar.advance(share - done)
            done = share

        return study.run(quick, seed, tell, health=health)
