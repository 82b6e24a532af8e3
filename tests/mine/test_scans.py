"""Miners on stored reports: at most three scans a level, however many nodes or itemsets, and the answers of memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tacit import Attribute, Reports, Schema, Scheme, TreeClassifier, channels
from tacit.count.protocol import CountEngine, Source
from tacit.count.remembered import Remembered
from tacit.count.sources import sources
from tacit.disguising import disguise_table
from tacit.mine import FrequentItemsets, NaiveBayesClassifier, association_rules
from tacit.mine.tree import Node
from tacit.randomness import SeededRandomness
from tacit.table import Table
from tests.count.engines import duckdb_parquet, sqlite_table
from tests.count.scans import counted_scans

QUESTIONS = 10
SCHEMA = Schema(tuple(Attribute(f"q{i}", ("no", "yes")) for i in range(QUESTIONS)))
NAMES = SCHEMA.names
SCHEMES = {
    "a group each": Scheme.of(SCHEMA, [([name], channels.gamma_diagonal(19)) for name in NAMES]),
    "more reports than answers": Scheme.of(
        SCHEMA, [([name], channels.matrix([[0.7, 0.1], [0.2, 0.2], [0.1, 0.7]], ["n", "?", "y"])) for name in NAMES]
    ),
    "bits": Scheme.of(SCHEMA, [([name], channels.mask(0.9)) for name in NAMES]),
    "sets": Scheme.of(SCHEMA, [([NAMES[i], NAMES[i + 1]], channels.subset(1, 19)) for i in range(0, QUESTIONS, 2)]),
}
# Where reports are stored, and whether it is taken for a database that counts groupings far away.
STORES: dict[str, tuple[Callable[[Table, Path], CountEngine], bool]] = {
    "duckdb": (duckdb_parquet, False),
    "sqlite": (sqlite_table, False),
    "far away": (duckdb_parquet, True),
}

CASES = [
    *((scheme, "duckdb") for scheme in SCHEMES),
    *((scheme, store) for scheme in ("a group each", "bits") for store in ("sqlite", "far away")),
]


def people(rows: int, seed: int) -> Table:
    """Answers that go with the first ones, so that there is something to find on every level."""
    generator = np.random.default_rng(seed)
    codes = {name: (generator.random(rows) < 0.4).astype(np.uint8) for name in NAMES}
    for place in range(4, QUESTIONS):
        told = generator.random(rows) < 0.5
        codes[NAMES[place]] = np.where(told, codes[NAMES[place % 4]], codes[NAMES[place]])
    return Table(SCHEMA, codes)


def reports_of(scheme: str, rows: int = 1500, seed: int = 1) -> Reports:
    return disguise_table(people(rows, seed), SCHEMES[scheme], SeededRandomness(seed))


def stored(reports: Reports, store: str, folder: Path) -> Remembered:
    (source,) = sources(reports)
    return Remembered((Source(source.questionnaire, STORES[store][0](reports.table, folder)),))


def numbers(node: Node) -> list[float]:
    return [
        value for each in node.walk() for value in (each.size, each.size_error, *each.class_shares, *each.class_errors)
    ]


def shape(node: Node) -> list[object]:
    return [(each.attribute, each.label, tuple(branch.answers for branch in each.branches)) for each in node.walk()]


@pytest.mark.parametrize(
    ("scheme", "store", "is_held"),
    [*((*case, False) for case in CASES), ("sets", "duckdb", True), ("bits", "sqlite", True)],
)
def test_a_tree_takes_at_most_three_scans_a_level(
    scheme: str, store: str, is_held: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_held:  # as if the reports were too many to hold
        monkeypatch.setattr("tacit.estimation.product_rows.MOST_ROWS", 1)
        monkeypatch.setattr("tacit.estimation.product_rows.TALLIED_CELLS", 1)
    reports = reports_of(scheme)
    there = stored(reports, store, tmp_path)
    rule = TreeClassifier(NAMES[-1], significance=0, method="inversion", max_depth=4)
    with counted_scans(remote=STORES[store][1]) as scans:
        tree = rule.fit(there).tree_
    assert len(list(tree.walk())) > 3 * (tree.depth + 1), "more nodes than scans are allowed"
    assert 1 <= len(scans) <= 3 * (tree.depth + 1)
    here = rule.fit(reports).tree_
    assert shape(tree) == shape(here)
    np.testing.assert_allclose(numbers(tree), numbers(here), atol=1e-12)


def test_pruning_counts_level_by_level_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = TreeClassifier(NAMES[-1], significance=0, method="inversion", max_depth=4).fit(reports_of("a group each"))
    monkeypatch.setattr("tacit.estimation.product_rows.MOST_ROWS", 1)
    further = reports_of("a group each", seed=2)
    with counted_scans() as scans:
        smaller = tree.pruned(stored(further, "duckdb", tmp_path)).tree_
    assert 1 <= len(scans) <= 3 * tree.tree_.depth
    assert shape(smaller) == shape(tree.pruned(further).tree_)


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "store"), CASES)
def test_naive_bayes_takes_at_most_three_scans(scheme: str, store: str, tmp_path: Path) -> None:
    reports = reports_of(scheme)
    there = stored(reports, store, tmp_path)
    with counted_scans(remote=STORES[store][1]) as scans:
        model = NaiveBayesClassifier(NAMES[-1]).fit(there)
    assert 1 <= len(scans) <= 3
    here = NaiveBayesClassifier(NAMES[-1]).fit(reports)
    for one, other in zip(model.likelihoods_, here.likelihoods_, strict=True):
        np.testing.assert_allclose(one.shares, other.shares, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "store"), CASES)
def test_itemsets_and_rules_take_at_most_three_scans_a_length(scheme: str, store: str, tmp_path: Path) -> None:
    reports = reports_of(scheme)
    there = stored(reports, store, tmp_path)
    miner = FrequentItemsets(0.2, max_length=3, certainty=None)
    with counted_scans(remote=STORES[store][1]) as scans:
        itemsets = miner.fit(there).itemsets_
        rules = association_rules(itemsets, min_threshold=0.8)
    assert itemsets.counts()[3] > 9, "more itemsets than scans are allowed"
    assert 1 <= len(scans) <= 9
    here = miner.fit(reports).itemsets_
    assert [itemset.items for itemset in itemsets] == [itemset.items for itemset in here]
    np.testing.assert_allclose([i.support for i in itemsets], [i.support for i in here], atol=1e-12)
    np.testing.assert_allclose([i.standard_error for i in itemsets], [i.standard_error for i in here], atol=1e-12)
    assert [rule.line for rule in rules] == [rule.line for rule in association_rules(here, min_threshold=0.8)]
