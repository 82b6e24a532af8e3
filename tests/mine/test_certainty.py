"""What is called found is there: false discoveries, order of supports, intervals of confidences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import tacit
from tacit import Dataset, FrequentItemsets, Reports, Scheme, association_rules, channels
from tacit.errors import InvalidInput
from tacit.mine.certainty import discoveries
from tacit.mine.rules import ratio_intervals
from tacit.schema import Attribute, Schema
from tacit.table import Table
from tests.statistics import FALSE_ALARM

SCHEMA = Schema(tuple(Attribute(f"q{j}", ("no", "yes", "maybe")) for j in range(4)))


def people(rows: int, seed: int) -> Dataset:
    """Answers of which some lie just below the threshold of a tenth, and two questions that go together."""
    generator = np.random.default_rng(seed)
    columns = {name: generator.choice(3, rows, p=(0.6, 0.31, 0.09)) for name in SCHEMA.names}
    columns["q1"] = np.where(generator.random(rows) < 0.7, columns["q0"], columns["q1"])
    return Dataset(Table.from_codes(SCHEMA, columns))


SCHEME = Scheme.of(SCHEMA, [([name], channels.gamma_diagonal(3)) for name in SCHEMA.names])


def false_and_found(certainty: float | None, seeds: range) -> tuple[int, int]:
    """False discoveries, and discoveries in all."""
    wrong = found = 0
    for seed in seeds:
        truth = people(2000, seed)
        real = {i.items for i in FrequentItemsets(0.1).fit(Reports.from_truth(truth)).itemsets_}
        listed = FrequentItemsets(0.1, certainty=certainty).fit(tacit.disguise(truth, SCHEME, seed=seed)).itemsets_
        false = sum(itemset.items not in real for itemset in listed)
        wrong, found = wrong + false, found + len(listed)
    return wrong, found


@pytest.mark.slow
def test_false_discoveries_are_as_rare_as_asked_for() -> None:
    wrong, found = false_and_found(0.95, range(40))
    # A share of at most .05 is expected; so many false ones among `found` have a chance below 1e-6.
    assert wrong <= binom.isf(FALSE_ALARM, found, 0.05)
    assert found > 40 * 4  # and it still finds


@pytest.mark.slow
def test_without_a_certainty_the_same_reports_mislead() -> None:
    wrong, found = false_and_found(None, range(40))
    assert wrong > binom.isf(FALSE_ALARM, found, 0.05)


def test_supports_are_shares_and_never_above_their_parts() -> None:
    for seed in range(5):
        whole = Scheme.of(SCHEMA, [(SCHEMA.names, channels.gamma_diagonal(60))])
        listed = list(
            FrequentItemsets(0.02, certainty=0.5).fit(tacit.disguise(people(3000, seed), whole, seed=seed)).itemsets_
        )
        shares = {itemset.items: itemset.support for itemset in listed}
        assert shares
        for items, support in shares.items():
            assert 0 <= support <= 1
            for at in range(len(items)):
                below = items[:at] + items[at + 1 :]
                assert shares.get(below, 1.0) >= support


def test_confidences_have_intervals_within_zero_and_one() -> None:
    listed = FrequentItemsets(0.1, certainty=0.5).fit(tacit.disguise(people(3000, 1), SCHEME, seed=1)).itemsets_
    rules = list(association_rules(listed, min_threshold=0.1))
    assert rules
    for rule in rules:
        assert 0 <= rule.confidence.low <= rule.confidence.value <= rule.confidence.high <= 1


def test_the_interval_of_a_ratio_covers_it() -> None:
    generator = np.random.default_rng(7)
    mean, covariance = np.array([0.3, 0.4, 0.5]), np.array([[4, 3, 0], [3, 6, 0], [0, 0, 1]]) * 1e-4
    draws = generator.multivariate_normal(mean, covariance, size=20_000)
    low, high = ratio_intervals(draws, np.broadcast_to(covariance, (20_000, 3, 3)))
    covered = int(((low <= 0.75) & (high >= 0.75)).sum())
    assert binom.isf(1 - FALSE_ALARM, 20_000, 0.95) <= covered <= binom.isf(FALSE_ALARM, 20_000, 0.95)


def test_a_left_side_that_cannot_be_told_from_nothing_leaves_every_confidence_possible() -> None:
    low, high = ratio_intervals(np.array([[0.01, 0.02, 0.5]]), np.eye(3)[None] * 1e-3)
    assert (low[0], high[0]) == (0, 1)


def test_discoveries_by_hand() -> None:
    # Benjamini and Yekutieli with four tests: thresholds i * .05 / (4 * 25/12).
    p = np.array([0.2, 0.0059, 0.011, 0.9])
    assert discoveries(p, 0.95).tolist() == [False, True, True, False]
    assert not discoveries(np.array([0.0061, 0.5, 0.5, 0.5]), 0.95).any()


def test_hypotheses_that_were_left_out_after_a_look_count_as_tried() -> None:
    # Of four that were tried two were chosen: the thresholds remain i * .05 / (4 * 25/12) = i * .006.
    p = np.array([0.0119, 0.0061])
    assert discoveries(p, 0.95, tried=4).tolist() == [True, True]
    assert discoveries(np.array([0.0121, 0.0061]), 0.95, tried=4).tolist() == [False, False]
    assert discoveries(np.array([0.0121, 0.0061]), 0.95).tolist() == [True, True]


def data_sets_with_a_rule(metric: str, least: float, seeds: range) -> int:
    """In how many studies of independent fair answers some rule is listed, at the threshold that all of them just meet.

    The least support lies one standard error below that of every pair, so that the few pairs that are listed are
    those whose support is far too large by chance: their confidence and lift are too large by the same chance.
    """
    names = [f"q{j}" for j in range(10)]
    schema = Schema(tuple(Attribute(name, ("no", "yes")) for name in names))
    scheme = Scheme.of(schema, [([name], channels.warner(0.8)) for name in names])
    per_report = (0.8**2 + 0.2**2) / 2 / 0.6**2  # mean square of what a report adds to a share of one half
    error = np.sqrt((per_report**2 - 1 / 16) / 2000)
    listed = 0
    for seed in seeds:
        codes = np.random.default_rng(seed).integers(0, 2, (10, 2000))
        reports = tacit.disguise(
            Dataset(Table.from_codes(schema, dict(zip(names, codes, strict=True)))), scheme, seed=seed
        )
        found = FrequentItemsets(0.25 - error, max_length=2).fit(reports).itemsets_
        listed += len(association_rules(found, metric, least)) > 0
    return listed


@pytest.mark.parametrize(("metric", "least"), [("confidence", 0.5), ("lift", 1.0)])
def test_pairs_that_seem_frequent_by_chance_make_no_rules(metric: str, least: float) -> None:
    # Every listed rule is false, so at most one study in twenty may list any; four of ten have a chance of .001.
    assert data_sets_with_a_rule(metric, least, range(500, 510)) <= 3


@pytest.mark.parametrize("certainty", [1.0, 0.3, -1, "sure", float("nan")])
def test_a_certainty_that_is_none_is_refused(certainty: object) -> None:
    with pytest.raises(InvalidInput, match="certainty is the wanted chance"):
        FrequentItemsets(certainty=certainty).fit(Reports.from_truth(people(10, 1)))  # type: ignore[arg-type]
