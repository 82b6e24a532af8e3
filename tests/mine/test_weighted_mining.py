"""Weighted tallies are mined as they are estimated: trees, naive Bayes, itemsets, shares and accuracies."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit import Reports, SampleDesign, Scheme, Tally, TreeClassifier, channels
from tacit.errors import InvalidInput, NotEstimable
from tacit.mine import FrequentItemsets, NaiveBayesClassifier, disguised_accuracy
from tests.estimation.simulation import SCHEMA, people, simulated

SCHEMES = {
    "clear": Scheme.of(SCHEMA),
    "disguised": Scheme.of(
        SCHEMA, [(["smokes"], channels.warner(0.85)), (["age", "drinks"], channels.gamma_diagonal(15))]
    ),
}


def weighed(scheme: str) -> tuple[Reports, Tally, np.ndarray, SampleDesign]:
    """Reports whose weights depend on a public answer, alone and as a weighted tally."""
    reports = simulated(SCHEMES[scheme], 4000, 6)
    weights = np.where(reports.table["sex"] == 1, 3.0, 1.0)
    clusters = np.arange(4000) // 4
    tally = Tally.weighted(reports, weights=weights, clusters=clusters)
    return reports, tally, weights, SampleDesign.of(4000, weights=weights, clusters=clusters)


@pytest.mark.parametrize("scheme", list(SCHEMES))
def test_a_weighted_share_is_the_cell_of_the_weighted_table(scheme: str) -> None:
    reports, tally, _, design = weighed(scheme)
    table = tacit.estimate(reports, ["smokes", "age"], sample=design)
    share = tacit.estimate(tally, {"smokes": "yes", "age": "old"})
    assert share.error_rule == "design"
    assert share.probability == pytest.approx(table.probabilities[1, 2], abs=1e-12)
    assert share.standard_error == pytest.approx(table.standard_errors[1, 2], rel=1e-9)


@pytest.mark.parametrize("scheme", list(SCHEMES))
def test_weighted_itemsets_have_the_supports_and_errors_of_weighted_tables(scheme: str) -> None:
    reports, tally, _, design = weighed(scheme)
    found = FrequentItemsets(0.05, max_length=2, certainty=None).fit(tally).itemsets_
    assert found.supports.error_rule == "design"
    table = tacit.estimate(reports, ["smokes", "age"], sample=design)
    ends = table.interval()
    pairs = {
        tuple(code for _, code in one.items): one
        for one in found
        if [name for name, _ in one.items] == ["smokes", "age"]
    }
    assert pairs
    for answers, one in pairs.items():
        cell = (SCHEMA["smokes"].encode(answers[0]), SCHEMA["age"].encode(answers[1]))
        assert one.unbiased == pytest.approx(table.probabilities[cell], abs=1e-12)
        assert one.standard_error == pytest.approx(table.standard_errors[cell], rel=1e-9)
        assert (one.low, one.high) == pytest.approx((ends.low[cell], ends.high[cell]), abs=1e-12)


def test_a_weighted_tree_of_clear_reports_is_that_of_everybody_repeated() -> None:
    """Weights of 3 and 1 without a disguise: the shares of nodes are those of a table that lists people so often."""
    reports, tally, weights, _ = weighed("clear")
    repeated = Reports.from_truth(reports.table.rows(np.repeat(np.arange(4000), weights.astype(int))))
    options = {"significance": 0.0, "max_depth": 2, "method": "inversion"}
    ours, listed = (TreeClassifier("drinks", **options).fit(each) for each in (tally, repeated))
    assert ours.error_rule_ == "design"
    for one, other in zip(ours.tree_.walk(), listed.tree_.walk(), strict=True):
        assert one.attribute == other.attribute
        assert one.size == pytest.approx(other.size, abs=1e-12)
        np.testing.assert_allclose(one.class_shares, other.class_shares, atol=1e-12)


def test_weighted_naive_bayes_learns_the_weighted_shares() -> None:
    reports, tally, _, design = weighed("disguised")
    model = NaiveBayesClassifier("drinks").fit(tally)
    table = tacit.estimate(reports, "drinks", sample=design)
    np.testing.assert_allclose(model.class_shares_, table.probabilities, atol=1e-9)
    np.testing.assert_allclose(model.class_errors_, table.standard_errors, rtol=1e-9)


def test_a_weighted_accuracy_is_the_weighted_share_of_right_predictions() -> None:
    reports, tally, weights, _ = weighed("clear")
    model = TreeClassifier("drinks", method="inversion").fit(people_reports())
    found = disguised_accuracy(model, tally)
    right = model.predicted_codes(reports.table) == reports.table["drinks"]
    assert found.accuracy == pytest.approx(np.average(right, weights=weights), abs=1e-12)
    assert found.error_rule == "design"
    with pytest.raises(InvalidInput, match="Weights are for the accuracy in a population"):
        disguised_accuracy(model, tally, sampling="respondents")


def people_reports() -> Reports:
    return Reports.from_truth(people(500, np.random.default_rng(2)))


def test_several_answers_are_cells_of_the_weighted_table_too() -> None:
    reports, tally, _, design = weighed("disguised")
    share = tacit.estimate(tally, {"smokes": "yes", "age": ["old", "young"]})
    table = tacit.estimate(reports, ["smokes", "age"], sample=design)
    chosen = np.array([0, 0, 0, 1, 0, 1.0])
    assert share.probability == pytest.approx(chosen @ table.probabilities.reshape(-1), abs=1e-12)
    assert share.standard_error == pytest.approx(np.sqrt(chosen @ table.covariance @ chosen), rel=1e-9)
    one = tacit.estimate(tally, {"smokes": "yes", "age": "old"})
    assert one.interval() == pytest.approx((table.interval().low[1, 2], table.interval().high[1, 2]), abs=1e-12)
    low, high = share.interval()
    assert (high - low) / 2 == pytest.approx(1.9624 * share.standard_error, rel=0.01)


def test_what_needs_whole_reports_is_refused() -> None:
    _, tally, _, _ = weighed("disguised")
    with pytest.raises(NotEstimable, match="only tables know weights"):
        tacit.fit_joint(tally)
