"""The results of a study on one page, its pictures beside it, its numbers as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from tacit.experiments.registry import StudyResult
from tacit.report.page import Chapter, Picture, WrittenTable, write, write_picture
from tacit.table.outputs import made_folder, written_whole


def write_study(result: StudyResult, folder: Path) -> Path:
    """Write ``NAME.html``, ``NAME.json`` and a PNG of each plot; the page's path."""
    made_folder(folder)
    for plot in result.plots:
        write_picture(plot.figure, folder / f"{result.name}-{plot.name}.png")
    with written_whole(folder / f"{result.name}.json") as temporary:
        temporary.write_text(json.dumps({"format": "tacit-study/1"} | result.to_document(), indent=1), encoding="utf-8")
    introduction = "A published study, run again: what was published beside what comes out here."
    text = " ".join(sentence for sentence in (introduction, result.settings) if sentence)
    return write(folder / f"{result.name}.html", result.title, text, _chapters(result))


def _chapters(result: StudyResult) -> list[Chapter]:
    rows = [(row.what, row.published or "-", row.ours, row.verdict) for row in result.comparisons]
    chapters = [
        Chapter(
            "Published and found", (WrittenTable(("what", "published", "here", "verdict"), rows, is_sentences=True),)
        )
    ]
    if result.plots:
        chapters.append(Chapter("Pictures", tuple(Picture(plot.figure, plot.description) for plot in result.plots)))
    for table in result.tables:
        chapters.append(Chapter(table.title, (WrittenTable(table.columns, table.rows),)))
    return chapters
