"""The chapter shows both disguises, and that only one of them hides."""

from __future__ import annotations

import tacit.report.chapters.attack as chapter
from tacit.report.demo_data import DemoData
from tacit.report.page import Bars, WrittenTable, render


def test_the_chapter_shows_what_a_flip_gives_away() -> None:
    made = chapter.attack(DemoData(1965))
    (rows,) = (block for block in made.blocks if isinstance(block, WrittenTable))
    guessed = {(str(row[0]), str(row[1])): float(str(row[2]).rstrip("%")) for row in rows.rows}
    assert guessed[chapter.FLIPPED, "whole records"] > 99
    assert guessed[chapter.OWN, "whole records"] < 30
    assert any(isinstance(block, Bars) for block in made.blocks)
    assert "the same 4,000 people" in render("", "", [made])
