"""The demonstration page: every capability tells its part of one data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tacit.report.chapters.attack import attack
from tacit.report.chapters.collect import collect
from tacit.report.chapters.design import design
from tacit.report.chapters.estimates import estimates, joint_estimates
from tacit.report.chapters.mine import mine
from tacit.report.chapters.publish import publish
from tacit.report.chapters.rules import rules
from tacit.report.demo_data import DemoData
from tacit.report.page import Chapter, write
from tacit.table.files import made_folder

TITLE = "What a crowd knows, without any of its members telling"
INTRODUCTION = (
    "This page was made by one command from public census records. Each person's answers were disguised by chance; whatever "
    "is estimated or mined below was learned from the disguised reports alone, and is shown beside the truth only because "
    "here, for once, the truth is known."
)

CHAPTERS: tuple[Callable[[DemoData], Chapter], ...] = (
    design,
    collect,
    estimates,
    joint_estimates,
    mine,
    rules,
    attack,
    publish,
)


def write_demo(folder: Path, *, seed: int, on_chapter: Callable[[], None] = lambda: None) -> Path:
    """Write ``report.html`` into a folder and return its path."""
    made_folder(folder)
    data = DemoData(seed)
    chapters = []
    for chapter in CHAPTERS:
        chapters.append(chapter(data))
        on_chapter()
    return write(folder / "report.html", TITLE, INTRODUCTION, chapters)
