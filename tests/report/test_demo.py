"""The demonstration tells the truth: every chapter is there and its intervals cover."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tacit.report.demo import CHAPTERS, write_demo
from tests.cli.run import tacit


@pytest.mark.slow
def test_the_demonstration_has_every_chapter(tmp_path: Path) -> None:
    told: list[int] = []
    page = write_demo(tmp_path, seed=1965, on_chapter=lambda: told.append(1)).read_text(encoding="utf-8")
    assert len(told) == len(CHAPTERS)
    assert page.count("<section") == len(CHAPTERS)
    inside, total = map(int, re.search(r"(\d+) of the (\d+) intervals", page).groups())
    assert inside >= 0.8 * total
    assert len(page) < 3_000_000


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    outcome = tacit("demo", "--out", tmp_path / "file" / "out")
    assert outcome.code == 2
    assert "file" in outcome.err
