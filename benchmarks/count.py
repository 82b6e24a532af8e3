"""All small tallies of ten million rows, against numpy.bincount on mixed-radix codes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.ratio import Ratio
from benchmarks.timing import cpu_medians
from tacit.bundled.published import adult_nine
from tacit.count import MemoryEngine
from tacit.table import Table

ROWS = 10_000_000
TARGETS = {1: 5.0, 2: 8.0, 3: 9.0}
SCHEMA = adult_nine().schema


def uniform(rows: int = ROWS) -> Table:
    generator = np.random.default_rng(1)
    return Table(SCHEMA, {a.name: generator.integers(0, a.size, rows, dtype=np.uint8) for a in SCHEMA})


def adult(rows: int = ROWS) -> Table:
    """Adult's people, drawn again and again: skewed and correlated answers."""
    people = adult_nine().table
    return people.rows(np.random.default_rng(1).integers(0, people.n_rows, rows))


def numpy_tally(data: Table, columns: Sequence[str]) -> NDArray[np.int64]:
    """The peer: codes in the smallest type that holds them, counted by one bincount."""
    shape = SCHEMA.shape(columns)
    codes = data[columns[0]]
    if len(columns) > 1:
        kind = np.uint8 if math.prod(shape) <= 1 << 8 else np.uint16
        codes = codes.astype(kind)
        for name, size in zip(columns[1:], shape[1:], strict=True):
            codes *= kind(size)
            codes += data[name]
    return np.bincount(codes, minlength=math.prod(shape)).reshape(shape)


def numpy_tallies(data: Table, column_sets: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
    return [numpy_tally(data, columns) for columns in column_sets]


def run() -> list[Ratio]:
    ratios = []
    for kind, data in (("uniform", uniform()), ("Adult's", adult())):
        engine = MemoryEngine(data)
        for way, target in TARGETS.items():
            sets = list(itertools.combinations(SCHEMA.names, way))
            for ours, theirs in zip(engine.tallies(sets), numpy_tallies(data, sets), strict=True):
                np.testing.assert_array_equal(ours, theirs)
            tasks = {"tacit": partial(engine.tallies, sets), "numpy": partial(numpy_tallies, data, sets)}
            seconds = cpu_medians(tasks)
            detail = f"{len(sets)} tallies: {seconds['tacit']:.3f} against {seconds['numpy']:.3f} CPU seconds"
            name = f"{way}-way tallies of {ROWS:,} {kind} rows"
            ratios.append(Ratio(name, seconds["numpy"] / seconds["tacit"], target, "times faster", detail))
    return ratios
