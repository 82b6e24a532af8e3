from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tacit
from tacit import Reports, Scheme, channels, disguise
from tacit.errors import InvalidInput, UnknownName
from tacit.mine import FrequentItemsets, association_rules
from tacit.mine.rules import METRICS, Measured, Rule
from tests.mine.itemset_checks import dataset, one_hot
from tests.statistics import assert_standard_scores

DATA = dataset((3, 2, 4), 4000, 1)
JOINT = Scheme.of(DATA.schema, [(DATA.schema.names, channels.gamma_diagonal(200))])
SPLIT = Scheme.dealt(
    DATA.schema,
    [
        ("all", 0.6, [(["q0", "q1", "q2"], channels.subset(2, 100))]),
        ("two", 0.4, [(["q2", "q0"], channels.gamma_diagonal(100))]),
    ],
)


@pytest.mark.parametrize("metric", METRICS)
def test_clear_records_give_the_rules_of_mlxtend(metric: str) -> None:
    from mlxtend.frequent_patterns import apriori
    from mlxtend.frequent_patterns import association_rules as theirs

    found = FrequentItemsets(0.05).fit(Reports.from_truth(DATA)).itemsets_
    least = 0.005 if metric == "leverage" else 0.3
    mine = association_rules(found, metric, least).to_pandas()
    frame = theirs(apriori(one_hot(DATA), min_support=0.05, use_colnames=True), metric=metric, min_threshold=least)
    keys = ["antecedents", "consequents"]
    both = mine.merge(frame, on=keys, suffixes=("", " of mlxtend"))
    assert len(both) == len(mine) == len(frame) > 0
    for column in ("antecedent support", "consequent support", *METRICS):
        np.testing.assert_allclose(both[column], both[f"{column} of mlxtend"], rtol=1e-9)


def metrics_of(reports: Reports, items: frozenset[str]) -> dict[str, tuple[float, float]]:
    found = FrequentItemsets(1e-6, slack=50.0, certainty=None).fit(reports).itemsets_
    rules = association_rules(found, "support", -1.0)
    rule = next(r for r in rules if {f"{n}={a}" for n, a in r.antecedents} == items and len(r.consequents) == 1
                and r.consequents[0] == ("q1", "a0"))  # fmt: skip
    return {metric: (getattr(rule, metric).value, getattr(rule, metric).standard_error) for metric in METRICS}


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [JOINT, SPLIT], ids=["joint", "split"])
def test_errors_of_every_metric_are_true(scheme: Scheme) -> None:
    """z-scores over surveys of people drawn from a population; the covariances of the three supports matter here."""
    items = frozenset({"q0=a0", "q2=a0"})
    truth = metrics_of(Reports.from_truth(DATA), items)
    generator = np.random.default_rng(5)
    scores: dict[str, list[float]] = {metric: [] for metric in METRICS}
    for seed in range(60):
        people = tacit.Dataset(DATA.table.rows(generator.integers(0, DATA.n_rows, 20_000)))
        for metric, (value, error) in metrics_of(disguise(people, scheme, seed=seed), items).items():
            scores[metric].append((value - truth[metric][0]) / error)
    for metric in METRICS:
        # Ratios are only nearly normal at this size; conviction's tail is the longest.
        assert_standard_scores(np.clip(scores[metric], -3, 3))


def test_the_check_notices_errors_without_covariances() -> None:
    found = FrequentItemsets(0.05).fit(disguise(DATA, JOINT, seed=1)).itemsets_
    rule = next(rule for rule in association_rules(found, "confidence", 0.3) if len(rule.antecedents) == 2)
    parts = rule.support.standard_error / rule.antecedent_support
    assert rule.confidence.standard_error < 0.9 * parts * np.sqrt(1 + rule.confidence.value**2)


def test_a_rule_that_never_fails_has_infinite_conviction() -> None:
    truth = tacit.Dataset.from_arrow({"a": ["x"] * 6 + ["y"] * 4, "b": ["x"] * 7 + ["y"] * 3})
    found = FrequentItemsets(0.5).fit(Reports.from_truth(truth)).itemsets_
    rule = next(iter(association_rules(found)))
    assert rule.confidence.value == 1
    assert rule.conviction.value == np.inf
    assert str(rule) == "a=x -> b=x: 1.000 ± 0.000, 0.607 to 1.000 (± one standard error, then the 95% interval)"


@pytest.mark.parametrize(
    ("confidence", "told"),
    [
        (Measured(0.8412, 0.214, 0.3, 1.0), "0.84 ± 0.21, 0.30 to 1.00"),
        (Measured(0.8412, 0.0372, 0.77, 0.91), "0.841 ± 0.037, 0.770 to 0.910"),
        (Measured(0.84123, 0.00052, 0.8402, 0.8422), "0.84123 ± 0.00052, 0.84020 to 0.84220"),
        (Measured(1.0, 0.0, 0.9981, 1.0), "1.00000 ± 0.00000, 0.99810 to 1.00000"),
    ],
)
def test_a_rule_has_as_many_digits_as_its_error_leaves(confidence: Measured, told: str) -> None:
    rule = Rule((("a", "x"),), (("b", "x"),), 0.5, 0.5, *[Measured(0.4, 0.01)] * 5)
    assert replace(rule, confidence=confidence).line == f"a=x -> b=x: {told}"


@pytest.mark.parametrize("certainty", [None, 0.95])
@pytest.mark.parametrize("people", [1, 3, 20])
def test_of_few_people_supports_and_confidences_stay_within_their_range(people: int, certainty: float | None) -> None:
    """Unbiased estimates of three people under a strong disguise are many times one."""
    few = tacit.Dataset(DATA.table.rows(slice(0, people)))
    wildest = 0.0
    for scheme in (JOINT, Scheme.of(DATA.schema, [([name], channels.warner(0.55)) for name in DATA.schema.names])):
        for seed in range(4):
            found = FrequentItemsets(0.02, certainty=certainty).fit(disguise(few, scheme, seed=seed)).itemsets_
            for itemset in found:
                wildest = max(wildest, abs(itemset.unbiased))
                assert 0 <= itemset.support <= 1
                assert 0 <= itemset.low < itemset.high <= 1
            for rule in association_rules(found, min_threshold=0.1):
                shares = (rule.antecedent_support, rule.consequent_support, rule.support.value, rule.confidence.value)
                assert all(0 <= share <= 1 for share in shares)
                assert 0 <= rule.confidence.low < rule.confidence.high <= 1
    assert wildest > 1 or certainty is not None


def test_documents_and_frames_hold_the_same_rules() -> None:
    rules = association_rules(FrequentItemsets(0.05).fit(disguise(DATA, JOINT, seed=1)).itemsets_, min_threshold=0.4)
    document = rules.to_document()
    assert {"if", "then", "support", "confidence", "lift", "leverage", "conviction"} <= set(document[0])
    assert rules.to_arrow().num_rows == len(rules) == len(document) > 0
    assert [rule.confidence.value for rule in rules] == sorted((r.confidence.value for r in rules), reverse=True)


def test_impossible_wishes_are_refused() -> None:
    found = FrequentItemsets(0.3).fit(Reports.from_truth(DATA)).itemsets_
    with pytest.raises(UnknownName, match="Metric 'certainty' does not exist"):
        association_rules(found, "certainty")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="finite number, not nan"):
        association_rules(found, min_threshold=float("nan"))
    with pytest.raises(InvalidInput, match="itemsets_ of a fitted FrequentItemsets"):
        association_rules([])  # type: ignore[arg-type]


def test_where_no_rule_is_certain_a_sentence_says_so_and_what_to_do() -> None:
    data = tacit.Dataset.from_arrow({"a": ["x", "y"] * 200, "b": ["u", "u", "v", "v"] * 100})
    scheme = tacit.Scheme.of(data.schema, [([name], tacit.channels.warner(0.75)) for name in ("a", "b")])
    mined = tacit.FrequentItemsets(0.02).fit(tacit.disguise(data, scheme, seed=1)).itemsets_
    made = tacit.association_rules(mined, min_threshold=0.95)
    assert len(made) == 0
    assert "No rule has a confidence of at least 0.95 with 95% certainty. Lower the threshold" in str(made)
    assert len(made.to_pandas()) == 0
    rough = tacit.FrequentItemsets(0.02, certainty=0).fit(tacit.disguise(data, scheme, seed=1)).itemsets_
    assert (
        str(tacit.association_rules(rough, min_threshold=9))
        == "No rule has a confidence of at least 9. Lower the threshold."
    )
    assert str(rough).count("one standard error") == 1
