"""Counts the lines of the program: non-blank ones of .py, .js, .css and .html under src, with `studio/` apart."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "src"
KINDS = (".py", ".js", ".css", ".html")


def count_lines(folder: Path) -> Counter[tuple[str, str]]:
    """Non-blank lines by package and kind of file."""
    lines: Counter[tuple[str, str]] = Counter()
    for file in folder.rglob("*"):
        if file.suffix in KINDS and file.is_file():
            inside = file.relative_to(folder).parts[1:]
            package = inside[0] if len(inside) > 1 else "(top)"
            lines[package, file.suffix] += sum(bool(line.strip()) for line in file.open(encoding="utf-8"))
    return lines


def main() -> None:
    """Print a table of packages, and the two sums that are watched: all but the studio, and the studio."""
    lines = count_lines(SOURCES)
    print(f"{'package':14}" + "".join(f"{kind:>9}" for kind in KINDS) + f"{'all':>9}")
    for package in sorted({package for package, _ in lines}):
        counts = [lines[package, kind] for kind in KINDS]
        print(f"{package:14}" + "".join(f"{count:9,}" for count in counts) + f"{sum(counts):9,}")
    studio = sum(count for (package, _), count in lines.items() if package == "studio")
    print(f"\n{lines.total() - studio:,} lines without studio/, {studio:,} in it.")


if __name__ == "__main__":
    main()
