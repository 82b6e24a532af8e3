"""What commands ask of Spark: jobs, and bytes that its machines send each other, for one table of reports.

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


class SparkLoad:
    """How many jobs a session has run, and what their stages shuffled."""

    def __init__(self, session: Any) -> None:
        self._context = session.sparkContext
        self._store = self._context._jsc.sc().statusStore()

    def now(self) -> tuple[int, int]:
        self._context._jsc.sc().listenerBus().waitUntilEmpty(60_000)
        jobs = self._store.jobsList(None).size()
        gateway, machine = self._context._gateway, self._context._jvm
        quantiles = gateway.new_array(machine.double, 0)
        stages = self._store.stageList(None, False, False, quantiles, machine.java.util.ArrayList())
        return int(jobs), sum(int(stages.apply(at).shuffleWriteBytes()) for at in range(stages.size()))


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
        quick = Effort(seed=1, evaluations=1000, seconds=0)
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
        print(
            f"| command, {ROWS:,} rows, {QUESTIONS} questions of three answers | jobs | bytes shuffled |\n|---|---|---|"
        )
        for name, task in tasks(Path(folder)).items():
            before = asked.now()
            task()
            jobs, shuffled = (now - then for now, then in zip(asked.now(), before, strict=True))
            print(f"| {name} | {jobs} | {shuffled:,} |", flush=True)
    session.stop()
    return []
