"""The threat model names tests that exist, and every test of an attack is named there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def named_tests() -> set[tuple[str, str]]:
    found = set()
    for row in (ROOT / "docs/explanation/threat-model.md").read_text(encoding="utf-8").splitlines():
        file = ""
        for stated, test in re.findall(r"`(test_\w+\.py)?::(test_\w+)`", row):
            file = stated or file
            found.add((file, test))
    return found


def test_every_named_test_exists() -> None:
    named = named_tests()
    assert len(named) > 25
    for file, test in named:
        texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob(file)]
        assert any(f"def {test}(" in text for text in texts), f"{file} has no {test}"
