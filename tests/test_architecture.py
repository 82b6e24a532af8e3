"""The map of the code names every module, so that a reader guesses the file from the question."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
MAP = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def test_the_map_names_every_module_and_no_other():
    modules = {file.stem for file in (ROOT / "src/tacit").rglob("*.py") if not file.stem.startswith("_")}
    named = {Path(name).stem for name in re.findall(r"`([\w/.]+)`", MAP)}
    assert sorted(modules - named) == []
    tables = [line for line in MAP.splitlines() if line.startswith("| ") and "/" not in line.split("|")[1]]
    in_tables = {name for line in tables for name in re.findall(r"`([a-z][a-z_]+)`", line)}
    folders = {folder.name for folder in (ROOT / "src/tacit").rglob("*") if folder.is_dir()}
    assert sorted(in_tables - modules - folders) == []
