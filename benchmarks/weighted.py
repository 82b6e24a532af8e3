"""Ten million weighted rows, tallied with the squares of their weights, against the same rows counted."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.count import ROWS, SCHEMA, uniform
from benchmarks.ratio import Ratio
from benchmarks.timing import cpu_medians
from tacit.count import MemoryEngine
from tacit.count.weighted import weighted_tally


def run() -> list[Ratio]:
    data = uniform()
    weights = np.random.default_rng(1).uniform(0.5, 2, ROWS)
    everybody, one = np.zeros(ROWS, dtype=np.intp), np.zeros(1, dtype=np.intp)
    columns = list(SCHEMA.names[:2])
    counted = MemoryEngine(data).tally(columns)
    even = weighted_tally(data, columns, np.ones(ROWS), everybody, one)
    np.testing.assert_array_equal(even.sums[..., 0], counted)
    tasks = {
        "counted": partial(MemoryEngine(data).tally, columns),
        "weighted": partial(weighted_tally, data, columns, weights, everybody, one),
    }
    seconds = cpu_medians(tasks, repeats=9)
    detail = f"{seconds['weighted']:.3f} against {seconds['counted']:.3f} CPU seconds"
    return [Ratio("weighted tally", seconds["weighted"] / seconds["counted"], 1.5, "times the unweighted", detail)]
