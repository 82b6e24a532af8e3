"""The faults of ``make mutants``: where they are put."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tools.mutants.sites import sites_of
from tools.mutants.targets import ROOT, modules, stages

TEXT = '''
def tried(values: list[int] | None, *, flag: bool = True) -> int:
    """A docstring with 1 + 1."""
    if not values or len(values) >= 3:
        raise ValueError(f"{len(values or ())} is more than 2")
    total = 0
    for value in sorted(values):
        total += max(value, 0) * 2
    print(total)
    return -total if flag and total > 1.5 else "a" + "b"
'''


@pytest.fixture
def faulty(tmp_path: Path) -> dict[str, str]:
    """What the text becomes by each fault."""
    file = tmp_path / "text.py"
    file.write_text(TEXT)
    return {site.shown(TEXT.encode()): site.applied(TEXT.encode()).decode() for site in sites_of(file, "text.py")}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("len(values) >= 3", "len(values) > 3"),
        ("len(values) >= 3", "len(values) >= 4"),
        ("not values or", "not values and"),
        ("not values or", "values or"),
        ("if not values or len(values) >= 3", "if (not (not values or len(values) >= 3))"),
        ('raise ValueError(f"{len(values or ())} is more than 2")', "pass"),
        ("sorted(values)", "list(values)"),
        ("total += max(value, 0) * 2", "pass"),
        ("max(value, 0)", "min(value, 0)"),
        (") * 2", ") / 2"),
        ("print(total)", "pass"),
        ("return -total", "return total"),
        ("total > 1.5", "total > 2.25"),
    ],
)
def test_each_kind_of_fault_is_put_in(faulty: dict[str, str], before: str, after: str) -> None:
    assert TEXT.replace(before, after) in faulty.values()


def test_texts_annotations_and_docstrings_are_left_alone(faulty: dict[str, str]) -> None:
    for changed in faulty.values():
        ast.parse(changed)
        assert "list[int] | None" in changed
        assert "1 + 1" in changed
        assert '"a" + "b"' in changed
    assert not any("more than 3" in changed for changed in faulty.values())


def test_every_module_has_tests_of_its_own() -> None:
    listed = {str(module.relative_to(ROOT)): stages(module) for module in modules()}
    assert [name for name, files in listed.items() if not files] == []
    assert listed["src/tacit/count/memory.py"][0] == ["tests/count/test_memory.py"]
