"""Which modules get faults, and which tests are a module's own."""

from __future__ import annotations

import re
from pathlib import Path

from tools.mutants.running import ROOT

SOURCES = (
    "channel", "estimation", "measures", "joint", "count", "disguising.py", "survey/receiving.py", "survey/accounts.py",
    "survey/store",
)  # fmt: skip
# Kernels that rely on the machine's whole numbers or instructions, which plain Python does not have.
COMPILED_ONLY = ("_pair_kernels.py", "_mixture_kernels.py")
# Beside the folder of the same name.
MORE_TESTS = {
    "channel": ("tests/conformance", "tests/measures/test_closed_forms.py", "tests/measures/test_amplification.py"),
    "count": ("tests/conformance/test_count_engine.py", "tests/estimation/test_weighted_tables.py"),
    "measures": ("tests/design/test_plan.py", "tests/cli/test_measure.py"),
    "disguising.py": ("tests/test_disguising.py",),
    "survey/receiving.py": ("tests/survey",),
    "survey/accounts.py": ("tests/survey/test_login_attacks.py", "tests/survey/test_threats.py", "tests/survey"),
    "survey/store": ("tests/survey",),
}


def modules() -> list[Path]:
    """Every module under mutation."""
    found = []
    for name in SOURCES:
        path = ROOT / "src/tacit" / name
        found += [path] if path.suffix else sorted(path.rglob("*.py"))
    return found


def stages(module: Path) -> list[list[str]]:
    """The test files of a module: its namesake, then those that import it, then the rest of its package's."""
    relative = module.relative_to(ROOT / "src/tacit")
    package = next(name for name in SOURCES if relative.is_relative_to(name))
    folders = [f"tests/{package}", *MORE_TESTS.get(package, ())]
    files = list(dict.fromkeys(file for folder in folders for file in _files(ROOT / folder)))
    stem = module.stem.strip("_").removesuffix("_kernels")
    namesakes = [file for file in files if file.stem == f"test_{stem}"]
    dotted = ".".join(("tacit", *relative.with_suffix("").parts)).removesuffix(".__init__")
    importing = re.compile(rf"\b{re.escape(dotted)}\b|from {re.escape(dotted.rpartition('.')[0])} import .*\b{stem}\b")
    importers = [file for file in files if file not in namesakes and importing.search(file.read_text())]
    rest = [file for file in files if file not in namesakes and file not in importers]
    return [[str(file.relative_to(ROOT)) for file in stage] for stage in (namesakes, importers, rest) if stage]


def _files(path: Path) -> list[Path]:
    files = path.glob("test_*.py") if path.is_dir() else [path] if path.name.startswith("test_") else []
    return sorted(files, key=lambda file: file.stat().st_size)
