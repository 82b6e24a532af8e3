"""Frequent itemsets of a million disguised records, against pyfim's C code and mlxtend on the clear ones; disguising."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.ratio import Ratio
from benchmarks.timing import cpu_medians
from tacit import Dataset, Scheme, channels, disguise
from tacit.bundled import adult_nine, census
from tacit.design.split import split_questionnaire
from tacit.design.targets import itemset_targets
from tacit.mine import FrequentItemsets
from tacit.randomness import SystemRandomness
from tacit.reports import Reports

ROWS = 1_000_000
MIN_SUPPORT = 0.02
GAMMA = 19.0


def drawn(data: Dataset, rows: int = ROWS) -> Dataset:
    """A table of that many people, drawn from the data with replacement."""
    return Dataset(data.table.rows(np.random.default_rng(1).integers(0, data.n_rows, rows)))


def run() -> list[Ratio]:
    six, nine = drawn(census()), drawn(adult_nine())
    split = split_questionnaire(six.schema, itemset_targets(six.schema, six.schema.names, 6), GAMMA).scheme
    joint = Scheme.of(six.schema, [(six.schema.names, channels.gamma_diagonal(GAMMA))])
    each = Scheme.of(nine.schema, [([name], channels.gamma_diagonal(GAMMA)) for name in nine.schema.names])
    ratios = [
        *mining("CENSUS, DET-GD", disguise(six, joint, seed=1), six),
        *mining("CENSUS, split questionnaire", disguise(six, split, seed=1), six),
        *mining("Adult's nine, a group each", disguise(nine, each, seed=1), nine),
    ]
    return [*ratios, *disguising(six)]


def mining(name: str, reports: Reports, clear: Dataset) -> list[Ratio]:
    import fim
    from mlxtend.frequent_patterns import fpgrowth

    transactions, frame = _transactions(clear), _one_hot(clear)
    tasks: dict[str, Callable[[], Any]] = {
        "tacit": lambda: FrequentItemsets(MIN_SUPPORT).fit(reports),
        "pyfim": lambda: fim.apriori(transactions, supp=100 * MIN_SUPPORT, report="a"),
    }
    seconds = cpu_medians(tasks, repeats=3)
    seconds |= cpu_medians({"mlxtend": lambda: fpgrowth(frame, min_support=MIN_SUPPORT)}, repeats=1)
    ratios = []
    for peer, target in (("pyfim", 1.0), ("mlxtend", 20.0)):
        detail = f"{seconds['tacit']:.3f} against {seconds[peer]:.3f} CPU seconds"
        label = f"itemsets of {ROWS:,} disguised records ({name}), against {peer} on clear ones"
        ratios.append(Ratio(label, seconds[peer] / seconds["tacit"], target, "times faster", detail))
    return ratios


def _transactions(clear: Dataset) -> list[list[int]]:
    starts = np.cumsum([0, *clear.schema.shape()[:-1]])
    columns = [
        clear.table[name].astype(np.int64) + start for name, start in zip(clear.schema.names, starts, strict=True)
    ]
    return np.stack(columns, axis=1).tolist()


def _one_hot(clear: Dataset) -> Any:
    import pandas as pd

    columns = {}
    for attribute in clear.schema:
        for code, answer in enumerate(attribute.answers):
            columns[f"{attribute.name}={answer}"] = clear.table[attribute.name] == code
    return pd.DataFrame(columns)


def disguising(data: Dataset) -> list[Ratio]:
    """CPU seconds of a million records of a joint domain of 2000 answers, with the system's randomness."""
    truths = [data.table[name] for name in data.schema.names]
    shape = data.schema.shape()
    recipes = {
        "a mixture": (channels.gamma_diagonal(GAMMA), 0.2),
        "subset selection": (channels.subset(100, GAMMA), 2.0),
    }
    ratios = []
    for name, (recipe, target) in recipes.items():
        channel, randomness = recipe.build(shape), SystemRandomness()
        seconds = cpu_medians({"tacit": lambda: channel.sample(truths, randomness)}, repeats=3)["tacit"]  # noqa: B023
        label = f"disguising {ROWS:,} records of {math.prod(shape)} joint answers by {name}"
        ratios.append(Ratio(label, seconds, target, "CPU seconds"))
    return ratios
