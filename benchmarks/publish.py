"""Publishing: the search beside pymoo's NSGA2, a release beside anjana's, ten million rows beside their tally.

anjana pins older versions of numpy than Tacit, so it lives in an environment of its own: name its interpreter in
TACIT_ANJANA_PYTHON (``python -m venv there && there/bin/pip install anjana``); without it that ratio is left out.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.ratio import Ratio
from tacit import Dataset, bundled
from tacit.count import MemoryEngine
from tacit.publish import Effort, Preferences, Protection, anonymize
from tacit.publish.achievement import Preference
from tacit.publish.opening import open_input, tally
from tacit.publish.problem import NECD, NWP, STRENGTH, Problem, pose
from tacit.publish.search import EvolutionSettings, search
from tacit.table import Table

EVALUATIONS, POPULATION = 50_000, 100
MANY_ROWS = 10_000_000
ANJANA_ROWS = 10_000  # on all of them it runs for many minutes
SEARCH, CUT = Preferences(method="search"), Protection(k=5, suppress=0.04)


def run() -> list[Ratio]:
    problem = adult(10)
    _search(problem, 2_000, polish=True)  # compilation is not what is measured
    polished = cpu_seconds(lambda: _search(problem, EVALUATIONS, polish=True))
    published = cpu_seconds(lambda: _search(problem, EVALUATIONS, polish=False))
    peer = cpu_seconds(lambda: pymoo_search(problem))
    beside = f"{published:.1f} against {peer:.1f} CPU s for {EVALUATIONS:,} evaluations, k = 10"
    ratios = [
        Ratio(
            "search with ruin and recreate, Adult, k = 10", polished, 8, "CPU seconds", f"{EVALUATIONS:,} evaluations"
        ),
        Ratio("published search against pymoo's NSGA2", peer / published, 2.5, "times faster", beside),
        many_rows(),
    ]
    return [*ratios, *anjana()]


def adult(k: int) -> Problem:
    source = open_input(bundled.adult_nine())
    return pose(tally(source, [source.schema.names], ()), k, np.full(9, 1 / 9))


def cpu_seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _search(problem: Problem, evaluations: int, *, polish: bool) -> None:
    search(problem, Preference(), EvolutionSettings(evaluations, POPULATION, polish=polish), np.random.default_rng(1))


def pymoo_search(problem: Problem) -> None:
    """The same objectives by the same compiled evaluation, whole populations at once, the same operators."""
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.problem import Problem as PymooProblem
    from pymoo.operators.crossover.pntx import SinglePointCrossover
    from pymoo.operators.mutation.bitflip import BitflipMutation
    from pymoo.operators.sampling.rnd import BinaryRandomSampling
    from pymoo.optimize import minimize

    class Anonymity(PymooProblem):
        def __init__(self):
            super().__init__(n_var=problem.n_bits, n_obj=2, xl=0, xu=1, vtype=bool)

        def _evaluate(self, x, out, *args, **kwargs):
            measures = problem.measure(x.astype(np.uint8))
            achievement = Preference().achievement(measures[:, NWP], measures[:, NECD])
            out["F"] = np.stack([achievement, problem.k - measures[:, STRENGTH]], axis=1)

    algorithm = NSGA2(
        POPULATION,
        sampling=BinaryRandomSampling(),
        crossover=SinglePointCrossover(prob=0.8),
        mutation=BitflipMutation(prob=1.0, prob_var=0.001),
        eliminate_duplicates=False,
    )
    minimize(Anonymity(), algorithm, ("n_eval", EVALUATIONS), seed=1, verbose=False)


def many_rows() -> Ratio:
    """Ten million rows from memory to a written and verified Parquet file."""
    nine = bundled.adult_nine().table
    rows = np.random.default_rng(1).integers(0, len(nine), MANY_ROWS)
    table = Table(nine.schema, {name: nine[name][rows] for name in nine.schema.names})
    counting = cpu_seconds(lambda: _tally_in_parts(table))
    searching = cpu_seconds(lambda: _search(adult(10), EVALUATIONS, polish=True))
    with tempfile.TemporaryDirectory() as folder:
        whole = cpu_seconds(
            lambda: anonymize(table, 10, preferences=SEARCH, effort=Effort(seed=1)).write(Path(folder) / "out.parquet")
        )
    detail = f"{whole:.1f} CPU s against {counting:.1f} for the tally and {searching:.1f} for the search"
    return Ratio("10 million rows published", whole / (counting + searching), 3, "times tally and search", detail)


def _tally_in_parts(table: Table) -> None:
    for start in range(0, len(table), 1 << 20):
        MemoryEngine(table.rows(slice(start, start + (1 << 20)))).sparse_tally(table.schema.names)


ANJANA = """
import sys, time
import pandas as pd
from anjana.anonymity import k_anonymity
data = pd.read_csv(sys.argv[1])
names = list(data.columns)
def levels(name):
    column, answers = data[name].values, sorted(data[name].unique())
    table, size, depth = {0: column}, 2, 1
    while size < len(answers):
        place = {answer: f"{name}{i // size}" for i, answer in enumerate(answers)}
        table[depth] = data[name].map(place).values
        size, depth = size * 2, depth + 1
    table[depth] = ["*"] * len(data)
    return table
hierarchies = {name: levels(name) for name in names}
began = time.process_time()
k_anonymity(data, [], names, 5, 4, hierarchies)
print(time.process_time() - began)
"""


def anjana() -> list[Ratio]:
    """k = 5 with 4% suppression on 10,000 rows; anjana gets hierarchies that merge neighbours by twos, fours, eights."""
    python = os.environ.get("TACIT_ANJANA_PYTHON")
    if python is None:
        print("anjana is left out: TACIT_ANJANA_PYTHON does not name its interpreter")
        return []
    from pyarrow import csv

    data = Dataset(bundled.adult_nine().table.rows(slice(0, ANJANA_ROWS)))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "adult.csv"
        csv.write_csv(data.to_arrow(), file)
        command = [python, "-W", "ignore", "-c", ANJANA, str(file)]
        theirs = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    # Compilation is not what is measured.
    anonymize(data, protection=CUT, preferences=SEARCH, effort=Effort(seed=1, evaluations=1_000))
    ours = cpu_seconds(lambda: anonymize(data, protection=CUT, preferences=SEARCH, effort=Effort(seed=1)).to_arrow())
    detail = f"{ours:.1f} against {theirs:.1f} CPU s, {ANJANA_ROWS:,} rows"
    return [Ratio("a release against anjana, k = 5, 4% suppressed", theirs / ours, 5, "times faster", detail)]
