"""What commands ask of Spark: jobs, bytes that its machines send each other and back, and seconds of its tasks.

Named on its own (``python -m benchmarks spark``) it prints a table for the docs; no ratio comes of it.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ratio import Ratio

ROWS, QUESTIONS, PARTITIONS = 20_000, 10, 4
WIDE_ROWS = 100_000


class SparkLoad:
    """How many jobs a session has run; what their stages shuffled and sent to the driver, and how long their tasks took."""

    def __init__(self, session: Any) -> None:
        self._context = session.sparkContext
        self._store = self._context._jsc.sc().statusStore()

    def now(self) -> tuple[int, int, int, int]:
        """Jobs, bytes shuffled, bytes to the driver, milliseconds of tasks."""
        self._context._jsc.sc().listenerBus().waitUntilEmpty(60_000)
        jobs = self._store.jobsList(None).size()
        gateway, machine = self._context._gateway, self._context._jvm
        quantiles = gateway.new_array(machine.double, 0)
        stages = self._store.stageList(None, False, False, quantiles, machine.java.util.ArrayList())
        every = [stages.apply(at) for at in range(stages.size())]
        return (
            int(jobs),
            sum(int(stage.shuffleWriteBytes()) for stage in every),
            sum(int(stage.resultSize()) for stage in every),
            sum(int(stage.executorRunTime()) for stage in every),
        )


def tasks(folder: Path) -> dict[str, Callable[[], Any]]:
    import tacit
    from tacit.count import StoredReports
    from tacit.mine import FrequentItemsets, NaiveBayesClassifier, TreeClassifier
    from tacit.publish import Effort, Preferences, anonymize
    from tacit.table import Table

    names = tuple(f"q{place}" for place in range(QUESTIONS))
    schema = tacit.Schema(tuple(tacit.Attribute(name, ("a", "b", "c")) for name in names))
    scheme = tacit.Scheme.of(schema, [([name], tacit.channels.gamma_diagonal(5)) for name in names])
    rng = np.random.default_rng(1)
    truth = tacit.Dataset(Table(schema, {name: rng.integers(0, 3, ROWS).astype(np.uint8) for name in names}))
    import pyarrow.parquet as pq

    for part in range(PARTITIONS):
        (folder / "truth").mkdir(exist_ok=True)
        pq.write_table(
            truth.to_arrow().slice(part * ROWS // PARTITIONS, ROWS // PARTITIONS), folder / f"truth/{part}.parquet"
        )
    there, reports = f"spark:{folder}/truth", f"spark:{folder}/reports.parquet"
    stored: list[Any] = []

    def disguise() -> None:
        tacit.disguise_on_spark(there, scheme, reports)
        stored.append(StoredReports.open(reports, scheme))

    def publish() -> None:
        quick = Effort(seed=1, evaluations=1000)
        release = anonymize(there, 5, names[:4], preferences=Preferences(method="search"), effort=quick)
        release.write_table(f"spark:{folder}/released.parquet")

    return {
        "disguise": disguise,
        "estimate of a pair": lambda: tacit.estimate(stored[0], names[:2]),
        "tally --order 2": lambda: tacit.Tally.of(stored[0], order=2),
        "mine bayes": lambda: NaiveBayesClassifier("q0").fit(stored[0]),
        "mine tree --max-depth 3": lambda: TreeClassifier("q0", max_depth=3, significance=0, method="inversion").fit(
            stored[0]
        ),
        "mine rules --max-length 2": lambda: FrequentItemsets(0.02, 2).fit(stored[0]),
        "publish --method search": publish,
    }


def wide_tasks(folder: Path) -> dict[str, Callable[[], Any]]:
    """All pairs of wide questionnaires."""
    return {
        "all pairs of 200 yes/no questions": _all_pairs(folder / "yes_no", 200, 2),
        "all pairs of 60 questions of five answers": _all_pairs(folder / "five", 60, 5),
    }


def _all_pairs(folder: Path, questions: int, answers: int) -> Callable[[], Any]:
    import itertools

    import pyarrow as pa
    import pyarrow.parquet as pq

    import tacit
    from tacit.count import StoredReports

    names = [f"q{place}" for place in range(questions)]
    shown = tuple("abcde"[:answers])
    rng = np.random.default_rng(2)
    folder.mkdir()
    for part in range(PARTITIONS):
        codes = rng.integers(0, answers, (questions, WIDE_ROWS // PARTITIONS), dtype=np.int32)
        texts = [pa.DictionaryArray.from_arrays(own, list(shown)) for own in codes]
        pq.write_table(pa.table(texts, names), folder / f"{part}.parquet")
    scheme = tacit.Scheme.of(tacit.Schema(tuple(tacit.Attribute(name, shown) for name in names)))
    stored = StoredReports.open(f"spark:{folder}", scheme)
    return lambda: stored.sources()[0].engine.tallies(list(itertools.combinations(names, 2)))


def run() -> list[Ratio]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    warnings.simplefilter("ignore")
    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2", "spark.driver.host": "127.0.0.1"}
    builder = SparkSession.builder.master("local[2]").appName("tacit")
    for name, value in (settings | {"spark.driver.bindAddress": "127.0.0.1"}).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    asked = SparkLoad(session)
    with tempfile.TemporaryDirectory() as folder:
        print(f"{ROWS:,} rows of {QUESTIONS} questions of three answers; wide ones {WIDE_ROWS:,} rows")
        print("| command | jobs | bytes shuffled | bytes to the driver | seconds of tasks |\n|---|---|---|---|---|")
        for name, task in (tasks(Path(folder)) | wide_tasks(Path(folder))).items():
            before = asked.now()
            task()
            jobs, *sent, spent = (now - then for now, then in zip(asked.now(), before, strict=True))
            print(f"| {name} | {jobs} | {sent[0]:,} | {sent[1]:,} | {spent / 1000:.1f} |", flush=True)
    session.stop()
    return []
