"""Runs every benchmark of this folder, or those named, and prints each ratio on a line of its own."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path


def main(names: list[str]) -> None:
    every = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))
    missed = 0
    for name in names or every:
        module = importlib.import_module(f"benchmarks.{name}")
        for ratio in module.run() if hasattr(module, "run") else []:
            print(ratio, flush=True)
            missed += not ratio.is_met
    sys.exit(1 if missed else 0)


main(sys.argv[1:])
