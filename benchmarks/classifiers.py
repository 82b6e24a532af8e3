"""Classifiers from disguised reports, against scikit-learn's on the clear rows."""

from __future__ import annotations

import time

import numpy as np
from sklearn.naive_bayes import CategoricalNB
from sklearn.tree import DecisionTreeClassifier

from benchmarks.ratio import Ratio
from benchmarks.timing import cpu_medians
from tacit import Dataset, Reports, Scheme, TreeClassifier, channels
from tacit.bundled import binary_adult, binary_breast_cancer, binary_votes
from tacit.count import sources
from tacit.disguising import disguise, disguise_table
from tacit.mine import NaiveBayesClassifier
from tacit.randomness import SeededRandomness
from tacit.table import Table

ROWS = 1_000_000
TARGET = "income"
THETAS = (0, 0.1, 0.2, 0.3, 0.4, 0.45, 0.51, 0.55, 0.6, 0.7, 0.8, 0.9, 1)
REPEATS = 50


def people(rows: int) -> Table:
    """Binary Adult (14 attributes and the class), drawn again and again."""
    table = binary_adult("all").table
    return table.rows(np.random.default_rng(1).integers(0, table.n_rows, rows))


def grouped(table: Table, groups: int, theta: float, seed: int) -> Scheme:
    """Attributes and class dealt at random into groups that are flipped together."""
    order = np.random.default_rng(seed).permutation(table.schema.names)
    parts = [[str(name) for name in part] for part in np.array_split(order, groups)]
    return Scheme.of(table.schema, [(part, channels.flip(theta)) for part in parts])


def clear_arrays(table: Table) -> tuple[np.ndarray, np.ndarray]:
    inputs = [name for name in table.schema.names if name != TARGET]
    return np.stack([table[name] for name in inputs], axis=1), table[TARGET]


def fitting(table: Table, reports: Reports) -> list[Ratio]:
    X, y = clear_arrays(table)
    single = X.astype(np.float32)  # what scikit-learn's tree would turn them into
    tree = cpu_medians(
        {
            "tacit": lambda: TreeClassifier(TARGET).fit(reports),
            "scikit-learn": lambda: DecisionTreeClassifier(criterion="entropy").fit(single, y),
        },
        repeats=3,
    )
    bayes = cpu_medians(
        {
            "tacit": lambda: NaiveBayesClassifier(TARGET).fit(reports),
            "scikit-learn": lambda: CategoricalNB().fit(X, y),
        },
        repeats=3,
    )
    return [
        Ratio(
            f"{name} on {ROWS:,} disguised rows, against scikit-learn on the clear ones",
            seconds["scikit-learn"] / seconds["tacit"],
            target,
            "times faster",
            f"{seconds['tacit']:.3f} s against {seconds['scikit-learn']:.2f} s",
        )
        for name, seconds, target in (("Tree", tree, 20.0), ("Naive Bayes", bayes, 1.0))
    ]


def beyond_the_tally(table: Table) -> Ratio:
    reports = disguise(Dataset(table), grouped(table, 3, 0.8, 1), seed=1)
    (source,) = sources(reports)
    seconds = cpu_medians(
        {
            "tree": lambda: TreeClassifier(TARGET).fit(reports),
            "tally": lambda: source.engine.tally(source.engine.schema.names),
        },
        repeats=3,
    )
    beyond = seconds["tree"] - seconds["tally"]
    return Ratio(f"Tree on {table.n_rows:,} rows, beyond their tally", beyond, 0.5, "CPU seconds",
                 f"the tally takes {seconds['tally']:.2f} s")  # fmt: skip


def published_repeat(repeat: int) -> None:
    """Every tree of the published study once, by the published rule and by ours, disguise included."""
    sets = ((binary_adult(10_000), "income"), (binary_breast_cancer(), "Class"), (binary_votes(), "Class"))
    for data, target in sets:
        training = data.table.rows(np.arange(data.n_rows) % 5 != repeat % 5)
        for theta in THETAS:
            for groups in (1, 2, 3):
                scheme = grouped(data.table, groups, theta, repeat)
                reports = disguise_table(training, scheme, SeededRandomness(repeat))
                TreeClassifier(target, significance=0, method="inversion").fit(reports)
                TreeClassifier(target).fit(reports)


def study() -> Ratio:
    published_repeat(0)
    start = time.process_time()
    published_repeat(1)
    minutes = REPEATS * (time.process_time() - start) / 60
    return Ratio("All published repeats of the tree study, both rules", minutes, 10.0, "CPU minutes",
                 f"one repeat of {REPEATS} measured")  # fmt: skip


def run() -> list[Ratio]:
    table = people(ROWS)
    reports = disguise(Dataset(table), grouped(table, 3, 0.8, 1), seed=1)
    ratios = fitting(table, reports)
    return [*ratios, beyond_the_tally(people(10 * ROWS)), study()]


if __name__ == "__main__":
    for ratio in run():
        print(ratio)
