"""Naive Bayes from reports: the clear-data classifier where nothing is hidden, consistent where something is."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import CategoricalNB

import tacit
from tacit import Reports, Scheme, channels
from tacit.bundled import binary_adult, binary_breast_cancer
from tacit.disguising import disguise
from tacit.errors import InvalidInput, NotEstimable, UnknownName
from tacit.mine import NaiveBayesClassifier
from tests.estimation.simulation import SCHEMA, SCHEMES, marginal, people, simulated


def test_clear_data_give_the_classifier_of_counts() -> None:
    data = binary_breast_cancer().table
    names = [name for name in data.schema.names if name != "Class"]
    codes = np.stack([data[name] for name in names], axis=1)
    peer = CategoricalNB(alpha=1e-10, force_alpha=True).fit(codes, data["Class"])
    ours = NaiveBayesClassifier("Class").fit(Reports.from_truth(data))
    np.testing.assert_allclose(ours.class_shares_, np.exp(peer.class_log_prior_))
    for table, logarithms in zip(ours.likelihoods_, peer.feature_log_prob_, strict=True):
        np.testing.assert_allclose(table.shares, np.exp(logarithms).T, atol=1e-9)
    np.testing.assert_array_equal(ours.predicted_codes(data), peer.predict(codes))


@pytest.mark.parametrize("recipe", [channels.mixture(1, [[0.5, 0.5]] * 10), channels.flip(1), channels.flip(0)])
def test_a_channel_that_hides_nothing_gives_the_clear_classifier(recipe: object) -> None:
    data = binary_breast_cancer()
    scheme = Scheme.of(data.schema, [(data.schema.names, recipe)])
    found = NaiveBayesClassifier("Class").fit(disguise(data, scheme, seed=1))
    clear = NaiveBayesClassifier("Class").fit(Reports.from_truth(data))
    np.testing.assert_allclose(found.predict_proba(data), clear.predict_proba(data), atol=1e-9)


@pytest.mark.parametrize("scheme", list(SCHEMES))
def test_tables_converge_to_the_truth(scheme: str) -> None:
    model = NaiveBayesClassifier("drinks").fit(simulated(SCHEMES[scheme], 200_000, 3))
    for table in model.likelihoods_:
        joint = marginal([table.attribute.name, "drinks"])
        errors = table.estimated.errors
        assert (np.abs(table.estimated.shares - joint) < 5.5 * errors + 1e-12).all()
        np.testing.assert_allclose(table.shares, joint / joint.sum(axis=0), atol=12 * errors.max())
        np.testing.assert_allclose(table.shares.sum(axis=0), 1)
    np.testing.assert_allclose(model.class_shares_, marginal(["drinks"]), atol=6 * model.class_errors_.max())


def test_estimates_are_raised_to_one_standard_error() -> None:
    scheme = Scheme.of(SCHEMA, [(SCHEMA.names, channels.gamma_diagonal(3))])
    model = NaiveBayesClassifier("drinks").fit(simulated(scheme, 300, 3))
    lowest = [table for table in model.likelihoods_ if (table.estimated.shares < table.estimated.floors).any()]
    assert lowest, "nothing had to be raised: the example shows nothing"
    for table in model.likelihoods_:
        raised = np.maximum(table.estimated.shares, table.estimated.floors)
        np.testing.assert_allclose(table.shares, raised / raised.sum(axis=0))


def test_a_known_class_distribution_is_taken() -> None:
    model = NaiveBayesClassifier("drinks", class_shares={"no": 0.7, "yes": 0.3}).fit(simulated(SCHEMES["flip"], 500, 3))
    np.testing.assert_allclose(model.class_shares_, [0.7, 0.3])


def test_what_is_never_asked_with_the_class_is_left_out() -> None:
    scheme = Scheme.dealt(
        SCHEMA,
        [
            ("one", 0.5, [(["smokes", "drinks"], channels.gamma_diagonal(9))]),
            ("two", 0.5, [(["age"], channels.gamma_diagonal(9))]),
        ],
    )
    model = NaiveBayesClassifier("drinks").fit(simulated(scheme, 5000, 3))
    assert model.left_out_ == ("age",)
    assert model.needed_names_ == ("smokes", "sex")
    model.predict({"smokes": ["no"], "sex": ["f"], "age": ["old"]})


def test_half_the_truth_costs_less_than_a_point_on_adult() -> None:
    """All of Adult, every answer replaced by a coin with chance one half (published: no visible loss)."""
    data = binary_adult("all")
    clear = NaiveBayesClassifier("income").fit(Reports.from_truth(data)).score(data)
    recipe = channels.mixture(0.5, [[0.5, 0.5]] * len(data.schema))
    scheme = Scheme.of(data.schema, [(data.schema.names, recipe)])
    losses = [
        clear - NaiveBayesClassifier("income").fit(disguise(data, scheme, seed=seed)).score(data) for seed in range(3)
    ]
    assert np.mean(losses) < 0.01


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        (channels.uniform_perturbation(0), "kept with chance 0"),
        (channels.mixture(0, [[0.5, 0.5]] * 2), "kept with chance 0"),
        (channels.flip(0.5), "unrelated question"),
        (channels.cut_and_paste(1, 0.3), "K = 1"),
    ],
)
def test_reports_that_say_nothing_are_refused(recipe: object, message: str) -> None:
    scheme = Scheme.of(SCHEMA, [(["smokes", "drinks"], recipe)])
    with pytest.raises(NotEstimable, match=message):
        NaiveBayesClassifier("drinks").fit(simulated(scheme, 100, 1))


def test_refusals() -> None:
    reports = simulated(SCHEMES["flip"], 100, 1)
    with pytest.raises(InvalidInput, match="target="):
        NaiveBayesClassifier().fit(reports)
    with pytest.raises(UnknownName, match="Did you mean 'drinks'"):
        NaiveBayesClassifier("drink").fit(reports)
    with pytest.raises(InvalidInput, match=r"sum to 0\.9"):
        NaiveBayesClassifier("drinks", class_shares=[0.5, 0.4]).fit(reports)
    alone = Scheme.dealt(SCHEMA.select(["smokes", "drinks"]), [
        ("one", 0.5, [(["smokes"], channels.warner(0.8))]), ("two", 0.5, [(["drinks"], channels.warner(0.8))]),
    ])  # fmt: skip
    table = people(200, np.random.default_rng(1)).select(["smokes", "drinks"])
    with pytest.raises(NotEstimable, match="No attribute is ever asked together"):
        NaiveBayesClassifier("drinks").fit(simulated(alone, 200, 1, table))


def test_it_is_told_in_words_and_as_a_document() -> None:
    model = NaiveBayesClassifier("drinks").fit(tacit.Reports.from_truth(people(500, np.random.default_rng(1))))
    assert "age = middle" in model.to_text()
    document = model.to_document()
    assert document["answer_shares"]["sex"]["f"]["yes"] == pytest.approx(model.likelihoods_[2].shares[0, 1])


def test_tables_of_a_model_are_proper_and_near_the_estimates() -> None:
    scheme = Scheme.of(SCHEMA, [([name], channels.warner(0.8)) for name in SCHEMA.names])
    reports = simulated(scheme, 5000, 3)
    modelled, inverted = (
        NaiveBayesClassifier("drinks", method=method).fit(reports) for method in ("joint", "inversion")
    )
    assert (modelled.method_, inverted.method_) == ("joint", "inversion")
    for one, other in zip(modelled.likelihoods_, inverted.likelihoods_, strict=True):
        np.testing.assert_allclose(one.shares.sum(axis=0), 1)
        assert (np.abs(one.estimated.shares - other.estimated.shares) < 5 * other.estimated.errors).all()


@pytest.mark.parametrize("better", ["inversion", "joint"])
def test_the_likelier_tables_are_taken(better: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scheme = Scheme.of(SCHEMA, [([name], channels.warner(0.6)) for name in SCHEMA.names])
    monkeypatch.setattr("tacit.mine.count_sources.MOST_TOLD", 1.0)
    monkeypatch.setattr("tacit.mine.count_sources.FEWEST_TOLD", 0)
    logs = {"inversion": [-1.0, -2.0], "joint": [-2.0, -1.0]}[better]
    monkeypatch.setattr("tacit.mine.naive_bayes.bayes_logs", lambda *arguments: logs)
    assert NaiveBayesClassifier("drinks", method="auto").fit(simulated(scheme, 2000, 5)).method_ == better


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(UnknownName, match="Method 'guess'"):
        NaiveBayesClassifier("drinks", method="guess").fit(simulated(SCHEMES["flip"], 100, 1))
