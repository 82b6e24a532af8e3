"""The chapter shows both disguises, and that only one of them hides."""

from __future__ import annotations

import tacit.report.chapters.attack as chapter
from tacit.report.demo_data import DemoData
from tacit.report.page import Picture, Rows, render


def test_the_chapter_shows_what_a_flip_gives_away() -> None:
    made = chapter.attack(DemoData(1965))
    (rows,) = (block for block in made.blocks if isinstance(block, Rows))
    guessed = {(str(row[0]), str(row[1])): float(str(row[2]).rstrip("%")) for row in rows.rows}
    assert guessed[chapter.FLIPPED, "whole records"] > 99
    assert guessed[chapter.EACH, "whole records"] < 30
    assert any(isinstance(block, Picture) for block in made.blocks)
    assert "people are not like their opposites" in render("", "", [made]).replace("&#x27;", "'")
