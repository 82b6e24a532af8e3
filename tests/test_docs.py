"""The documentation is complete and up to date; its examples run as tests of their own."""

from __future__ import annotations

import re
from pathlib import Path

from tacit.cli.reference import reference

DOCS = Path(__file__).parent.parent / "docs"


def test_the_command_line_page_is_up_to_date() -> None:
    written = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert written == reference(), "run: python -m tacit.cli.reference docs/cli.md"


def test_every_page_is_in_the_guide() -> None:
    linked = set(re.findall(r"\]\(([a-z-]+\.md)\)", (DOCS / "index.md").read_text(encoding="utf-8")))
    assert linked == {page.name for page in DOCS.glob("*.md")} - {"index.md"}


def test_links_between_pages_lead_somewhere() -> None:
    for page in DOCS.glob("*.md"):
        for target in re.findall(r"\]\(([^)#:\s]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
