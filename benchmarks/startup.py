"""What it costs to start, as ratios: the help page, an estimate from a thousand reports, the first classifier."""

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
TACIT = "from tacit.cli import main; main()"


def cpu_seconds(commands: dict[str, list[str]]) -> dict[str, float]:
    """Median CPU seconds of each command, user and system, by turns, after one unmeasured round that fills the caches."""
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(REPEATS + 1):
        for name, command in commands.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", *command], capture_output=True, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds[name].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return {name: statistics.median(times[1:]) for name, times in seconds.items()}


def run() -> list[Ratio]:
    with tempfile.TemporaryDirectory() as folder:
        reports, scheme = _thousand_reports(Path(folder))
        given = [str(reports), "--scheme", str(scheme)]
        used = cpu_seconds(
            {
                "typer": ["import typer"],
                "help": [TACIT, "--help"],
                "libraries": ["import numpy, pyarrow.csv, typer"],
                "estimate": [TACIT, "estimate", *given, "--attributes", "smokes,drinks", "--json"],
                "scikit-learn": ["import sklearn.tree, sklearn.naive_bayes"],
                "classifier": [TACIT, "mine", "bayes", *given, "--class", "smokes", "--json"],
            }
        )
    return [
        Ratio("tacit --help against importing typer", used["help"] / used["typer"], 1.7, "times the CPU seconds"),
        Ratio(
            "an estimate from a thousand reports against importing numpy, pyarrow.csv and typer",
            used["estimate"] / used["libraries"],
            3,  # scipy's special functions are one of these libraries' times more; 2.5 with a beta function of our own
            "times the CPU seconds",
        ),
        Ratio(
            "the first classifier against importing scikit-learn",
            used["classifier"] / used["scikit-learn"],
            1.5,
            "times the CPU seconds",
        ),
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
