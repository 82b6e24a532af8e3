"""Lists the test files that what was changed reaches: ``python -m tools.near [--base REV]``.

Followed are functions and classes of modules: whoever imports a changed one and names it is reached, then whoever names
those, and so on. A test file is near if it names something reached, was changed itself, or mirrors a changed module.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")
STEPS = 2


class Definition(NamedTuple):
    """A function or class of a module; the name "" stands for what the module does outside of them."""

    module: str
    name: str


def changed_lines(base: str) -> dict[str, set[int]]:
    """For each changed file its lines that are new or stand where something was taken out."""
    lines: dict[str, set[int]] = defaultdict(set)
    path = ""
    for line in _git("diff", "--unified=0", base, "--", "src", "tests").splitlines():
        if line.startswith("+++ "):
            path = line.removeprefix("+++ b/")
        elif match := HUNK.match(line):
            lines[path].update(range(int(match[1]), int(match[1]) + max(int(match[2] or 1), 1)))
    for name in _git("ls-files", "--others", "--exclude-standard", "src", "tests").split():
        lines[name].update(range(1, 1 << 16))
    return lines


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


class SourceFile:
    """What a file defines, and what of the project each of its definitions names."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        parts = path.with_suffix("").parts
        self.module = ".".join(parts[1:] if parts[0] == "src" else parts).removesuffix(".__init__")
        self.imported = self._imports()

    def _imports(self) -> dict[str, Definition]:
        """The definitions behind the names that the file imports, wherever it does."""
        lines = [node for node in ast.walk(self.tree) if isinstance(node, ast.ImportFrom) and node.module]
        return {
            alias.asname or alias.name: Definition(node.module or "", alias.name)
            for node in lines
            for alias in node.names
        }

    def definitions(self) -> dict[str, list[ast.stmt]]:
        found: dict[str, list[ast.stmt]] = defaultdict(list)
        for node in self.tree.body:
            is_named = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            found[node.name if is_named else ""].append(node)
        return found

    def named(self, nodes: list[ast.stmt], doors: dict[str, str]) -> set[Definition]:
        """The project's definitions that some statements name: imported ones, those of this file, and ``tacit.estimate``."""
        named = set()
        for node in (child for each in nodes for child in ast.walk(each)):
            if isinstance(node, ast.Name):
                named.add(self.imported.get(node.id, Definition(self.module, node.id)))
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                home = self.imported.get(node.value.id)
                if node.value.id == "tacit" and node.attr in doors:
                    named.add(Definition(doors[node.attr], node.attr))
                elif home is not None:
                    named.add(Definition(f"{home.module}.{home.name}", node.attr))
        return {self._home(each, doors) for each in named}

    def _home(self, definition: Definition, doors: dict[str, str]) -> Definition:
        is_door = definition.module == "tacit" and definition.name in doors
        return Definition(doors[definition.name], definition.name) if is_door else definition


def near_tests(base: str) -> list[str]:
    from tacit import _HOMES

    doors = {name: module for module, names in _HOMES.items() for name in names}
    changed = changed_lines(base)
    users: dict[Definition, set[Definition]] = defaultdict(set)
    reached: set[Definition] = set()
    for path in Path("src").rglob("*.py"):
        file = SourceFile(path)
        for name, nodes in file.definitions().items():
            here = Definition(file.module, name)
            for named in file.named(nodes, doors):
                users[named].add(here)
            if any(changed[str(path)] & set(range(node.lineno, (node.end_lineno or 0) + 1)) for node in nodes):
                reached.add(here)
    latest = reached
    for _ in range(STEPS):
        latest = {user for definition in latest for user in users[definition]} - reached
        reached |= latest
    stems = {Path(path).stem for path, lines in changed.items() if lines and path.startswith("src")}
    tests = (SourceFile(path) for path in Path("tests").rglob("test_*.py"))
    return sorted(
        str(test.path)
        for test in tests
        if changed.get(str(test.path))
        or test.path.stem.removeprefix("test_") in stems
        or test.named(test.tree.body, doors) & reached
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", default="HEAD", help="Commit to compare the working tree with (default: HEAD).")
    print("\n".join(near_tests(parser.parse_args().base)))


if __name__ == "__main__":
    main()
