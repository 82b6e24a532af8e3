"""The demonstration page: one data set, from one person's answer to a published table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tacit.report.chapters.attack import attack
from tacit.report.chapters.design import design
from tacit.report.chapters.mining import mining
from tacit.report.chapters.people import links, one_person, the_crowd
from tacit.report.chapters.publish import publish
from tacit.report.chapters.study import study
from tacit.report.demo_data import DemoData
from tacit.report.page import Chapter, write
from tacit.table.outputs import made_folder

TITLE = "What a crowd knows, without any of its members telling"
INTRODUCTION = (
    "This page was made by one command from public census records. It follows one person's answers through a disguise, and then "
    "shows what the disguised reports of everybody tell. Whatever is estimated or mined was learned from the disguised reports "
    "alone; the truth stands beside it only because these records are public. Point at a chart to read its numbers."
)

# What is being done, for a progress bar, and the chapter that does it.
CHAPTERS: dict[str, Callable[[DemoData], Chapter]] = {
    "disguising one person's answers": one_person,
    "estimating the crowd": the_crowd,
    "estimating links": links,
    "fitting a regression": study,
    "mining": mining,
    "attacking": attack,
    "designing": design,
    "publishing": publish,
}


def write_demo(folder: Path, *, seed: int, on_chapter: Callable[[str], None] = lambda _: None) -> Path:
    """Write ``report.html`` into a folder and return its path; `on_chapter` hears what is done next."""
    made_folder(folder)
    data = DemoData(seed)
    chapters = []
    for doing, chapter in CHAPTERS.items():
        on_chapter(doing)
        chapters.append(chapter(data))
    return write(folder / "report.html", TITLE, INTRODUCTION, chapters)
