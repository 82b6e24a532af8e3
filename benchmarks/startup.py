"""What it costs to start: the help page, and an estimate from a thousand reports."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.ratio import Ratio

REPEATS = 5
TACIT = [sys.executable, "-c", "from tacit.cli import main; main()"]


def cpu_seconds(arguments: list[str]) -> float:
    """Median CPU seconds of a command, user and system, after one unmeasured run that fills the caches."""
    seconds = []
    for _ in range(REPEATS + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*TACIT, *arguments], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(seconds[1:])


def run() -> list[Ratio]:
    with tempfile.TemporaryDirectory() as folder:
        reports, scheme = _thousand_reports(Path(folder))
        estimate = ["estimate", str(reports), "--scheme", str(scheme), "--attributes", "smokes,drinks", "--json"]
        return [
            Ratio("tacit --help", cpu_seconds(["--help"]), 0.15, "CPU seconds"),
            Ratio("an estimate from a thousand reports", cpu_seconds(estimate), 1.0, "CPU seconds"),
        ]


def _thousand_reports(folder: Path) -> tuple[Path, Path]:
    from tacit import Attribute, Dataset, Schema, Scheme, channels, disguise

    schema = Schema(tuple(Attribute(name, ("no", "yes")) for name in ("smokes", "drinks")))
    scheme = Scheme.of(schema, [(["smokes"], channels.warner(0.7)), (["drinks"], channels.warner(0.7))])
    generator = np.random.default_rng(1)
    truth = {name: np.array(["no", "yes"])[generator.integers(0, 2, 1000)].tolist() for name in schema.names}
    scheme.write(folder / "scheme.json")
    disguise(Dataset.from_arrow(truth, schema), scheme, seed=1).write(folder / "reports.csv")
    return folder / "reports.csv", folder / "scheme.json"
