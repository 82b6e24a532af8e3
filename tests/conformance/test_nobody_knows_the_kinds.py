"""Outside `tacit.channel` nobody asks a channel what kind it is; `lint-imports` keeps the kinds' files from being imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import tacit
from tacit.channel import KINDS
from tacit.channel.registry import FILES

ROOT = Path(tacit.__file__).parent
OUTSIDE = sorted(path for path in ROOT.rglob("*.py") if "channel" not in path.relative_to(ROOT).parts[:1])


@cache
def kind_classes() -> set[str]:
    trees = [ast.parse((ROOT / "channel" / "kinds" / f"{name}.py").read_text()) for name in set(FILES.values())]
    return {node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def asks_for_a_kind(tree: ast.AST, classes: set[str]) -> Iterator[str]:
    """Comparisons of a channel's kind, class tests on a kind, and imports of one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare | ast.Match):
            attributes = [part for part in ast.walk(node) if isinstance(part, ast.Attribute) and part.attr == "kind"]
            words = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
            of_channel = [part for part in attributes if ast.unparse(part.value).endswith("channel")]
            if of_channel or (attributes and words & set(KINDS)):
                yield f"line {node.lineno}: {ast.unparse(node)}"
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
            tested = {part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name)}
            if tested & classes:
                yield f"line {node.lineno}: {ast.unparse(node)}"
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "tacit.channel.kinds" in node.value:
            yield f"line {node.lineno}: {node.value}"


def test_no_kind_is_asked_for() -> None:
    asking = {
        str(path.relative_to(ROOT)): asked
        for path in OUTSIDE
        if (asked := list(asks_for_a_kind(ast.parse(path.read_text()), kind_classes())))
    }
    assert not asking


@pytest.mark.parametrize(
    "code",
    [
        "if group.channel.kind == 'matrix': pass",
        "alike = group.channel.kind not in UNEVEN",
        "chosen = recipe.kind in ('warner', 'flip')",
        "isinstance(channel, FlipChannel | MixtureLaw)",
        "importlib.import_module('tacit.channel.kinds.flip')",
    ],
)
def test_the_test_notices_who_asks(code: str) -> None:
    assert list(asks_for_a_kind(ast.parse(code), kind_classes()))


def test_questions_may_have_kinds_of_their_own() -> None:
    assert not list(asks_for_a_kind(ast.parse("question.kind == 'several'"), kind_classes()))
