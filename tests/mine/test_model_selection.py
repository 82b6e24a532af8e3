"""Choosing a model on reports: what is estimated is right, what is chosen is good, and scikit-learn's tools agree."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier

import tacit
from tacit import Dataset, Reports, Scheme, Tally, channels
from tacit.bundled import binary_votes
from tacit.errors import InvalidInput, NotEstimable
from tacit.mine import AsIfTrueClassifier, MajorityClassifier
from tacit.mine.candidates import default_candidates
from tacit.mine.division import folds, loaded_reports
from tacit.mine.model_selection import FALSE_ALARM as FALSE_ALARM_OF_CHOICE
from tacit.mine.model_selection import combine_accuracies, is_told
from tacit.mine.predictions import predictor, right_weights
from tests.estimation.simulation import SCHEMES, people, simulated
from tests.statistics import FALSE_ALARM

VOTES = binary_votes()
FLIPPED = Scheme.of(VOTES.schema, [(VOTES.schema.names, channels.flip(0.9))])


@pytest.fixture(scope="module")
def votes() -> Reports:
    return tacit.disguise(VOTES, FLIPPED, seed=1)


def xor(rows: int, seed: int) -> Dataset:
    """A class that no single answer tells, and two answers together do; a third says a little of it."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 3, rows), rng.integers(0, 3, rows)
    told = np.where(rng.random(rows) < 0.95, (a == b).astype(int), rng.integers(0, 2, rows))
    hint = np.where(rng.random(rows) < 0.5, told, rng.integers(0, 2, rows))
    columns = {"a": a, "b": b, "hint": hint, "kind": told}
    return Dataset.from_arrow({name: [str(code) for code in codes] for name, codes in columns.items()})


@pytest.mark.parametrize("name", sorted(SCHEMES))
def test_the_mean_of_the_weights_is_the_accuracy_from_disguised_reports(name: str) -> None:
    """Report by report or in one table, for every kind of channel, the same number comes out."""
    reports = simulated(SCHEMES[name], 2000, 5)
    model = tacit.NaiveBayesClassifier("drinks").fit(Reports.from_truth(people(2000, np.random.default_rng(3))))
    told = tacit.disguised_accuracy(model, reports)
    asking = [source for source in loaded_reports(reports).parts if len(source.questionnaire.attributes) == 4]
    found = [right_weights(source, predictor(model, model.schema_, None, None)) for source in asking]
    if len(found) == 1 and told.method == "exact":
        assert found[0].mean() == pytest.approx(told.accuracy, abs=1e-9)
    for weights in found:
        assert abs(weights.mean() - told.accuracy) < 6 * (weights.std() / np.sqrt(len(weights)) + told.standard_error)


def test_every_report_is_tested_on_once_and_never_learned_from_then(votes: Reports) -> None:
    loaded = loaded_reports(votes)
    tested = 0
    for learning, testing in folds(loaded, 4, seed=2):
        assert learning.n_reports + testing.n_reports == 435
        tested += testing.n_reports
    assert tested == 435


def estimated_less_counted(seeds: int) -> np.ndarray:
    """Accuracies on disguised tests, less those counted on the truth of the same people, for as many disguises."""
    truth = xor(600, 1)
    scheme = Scheme.of(truth.schema, [([name], channels.uniform_perturbation(0.8)) for name in truth.schema.names])
    apart = []
    for seed in range(seeds):
        parts = folds(loaded_reports(tacit.disguise(truth, scheme, seed=seed)), 2, seed=0)
        true_parts = folds(loaded_reports(Reports.from_truth(truth)), 2, seed=0)
        for (learning, testing), (_, true_testing) in zip(parts, true_parts, strict=True):
            model = tacit.NaiveBayesClassifier("kind").fit(learning)
            weights = right_weights(testing.parts[0], predictor(model, model.schema_, None, None))
            apart.append(weights.mean() - model.score(true_testing.parts[0].engine.rows))
    return np.array(apart)


def test_the_accuracy_on_disguised_tests_is_right_on_average() -> None:
    apart = estimated_less_counted(60)
    assert stats.ttest_1samp(apart, 0).pvalue >= FALSE_ALARM
    assert stats.ttest_1samp(apart + 0.03, 0).pvalue < FALSE_ALARM, "an error of .03 would not be noticed"


def test_cross_validation_shows_every_part(votes: Reports) -> None:
    found = tacit.cross_validate(tacit.NaiveBayesClassifier("Class"), votes, folds=5)
    assert len(found) == 5
    assert sum(part.n_reports for part in found) == found.n_reports == 435
    assert found.accuracy == pytest.approx(np.mean([part.accuracy for part in found]))
    low, high = found.interval()
    assert 0 <= low < found.accuracy < high <= 1
    assert "one standard error" in found.summary()
    assert found.to_document()["folds"][0]["n_reports"] == 87
    assert len(found.to_arrow()) == 6


def test_scikit_learns_tools_give_the_same_accuracies(votes: Reports) -> None:
    model = tacit.NaiveBayesClassifier("Class")
    ours = tacit.cross_validate(model, votes, folds=3)
    theirs = cross_val_score(model, votes, cv=KFold(3, shuffle=True, random_state=0))
    assert abs(theirs.mean() - ours.accuracy) < 0.03
    search = GridSearchCV(tacit.TreeClassifier("Class"), {"max_depth": [0, 2]}, cv=3).fit(votes)
    assert search.best_params_ == {"max_depth": 2}
    assert search.best_estimator_.score(VOTES) > 0.85
    assert search.best_estimator_.score(votes) == tacit.disguised_accuracy(search.best_estimator_, votes).accuracy


def test_reports_are_divided_by_position() -> None:
    reports = simulated(SCHEMES["gamma"], 50, 2)
    assert reports.shape == (50, len(reports.to_arrow().column_names))
    assert len(reports[np.array([0, 3])]) == 2
    assert reports[10:20].to_arrow().equals(reports.to_arrow().slice(10, 10))
    assert len(reports[np.arange(50) < 7]) == 7
    with pytest.raises(IndexError, match="50 reports"):
        _ = reports[[70]]
    with pytest.raises(InvalidInput, match="by position"):
        _ = reports["sex"]


def test_the_chosen_model_sees_what_single_answers_do_not_tell() -> None:
    truth, fresh = xor(3000, 1), xor(3000, 2)
    scheme = Scheme.of(truth.schema, [(truth.schema.names, channels.mixture(0.5))])
    models = {name: model for name, model in default_candidates("kind").items() if name != "logistic"}
    choice = tacit.choose_model(models, tacit.disguise(truth, scheme, seed=3))
    assert choice.model.score(fresh) > 0.93
    by_name = {score.name: score for score in choice.candidates}
    assert by_name["naive Bayes"].behind > 5 * by_name["naive Bayes"].behind_error
    assert by_name["majority"].judged < choice.score.judged
    assert choice.candidates[0].name == choice.chosen
    assert choice.n_reports == 3000
    assert 0.5 < choice.majority_share < 0.75
    assert choice.chosen in choice.summary()
    assert {"chosen", "candidates", "majority_share"} <= set(choice.to_document())


def unrelated(rows: int) -> Dataset:
    """Answers that have nothing to do with the class, whose majority is .76."""
    rng = np.random.default_rng(0)
    columns = {f"q{place}": rng.integers(0, 2, rows) for place in range(9)}
    columns["kind"] = (rng.random(rows) < 0.24).astype(int)
    return Dataset.from_arrow({name: [str(code) for code in codes] for name, codes in columns.items()})


@pytest.mark.slow
def test_where_nothing_is_told_the_majority_is_chosen() -> None:
    """Ten flips near one half: accuracies have errors of many times one, and some model always seems to be good."""
    truth = unrelated(800)
    scheme = Scheme.of(truth.schema, [([name], channels.flip(0.55)) for name in truth.schema.names])
    models = [MajorityClassifier("kind"), tacit.NaiveBayesClassifier("kind"), tacit.LogisticClassifier("kind")]
    choice = tacit.choose_model(models, tacit.disguise(truth, scheme, seed=0), target="kind")
    assert choice.chosen == "MajorityClassifier"
    assert "majority is answered" in choice.to_document()["warnings"][0]
    assert "majority is answered" in choice.summary()


@pytest.mark.parametrize("theta", [0.55, 0.9])
def test_noise_is_seldom_taken_for_an_answer_that_tells(theta: float) -> None:
    """The chance of a false alarm is that which is stated; and an answer that tells is noticed."""
    truth = unrelated(800)
    scheme = Scheme.of(truth.schema, [([name], channels.flip(theta)) for name in truth.schema.names])
    nothing = np.zeros(1), np.ones((1, 1))
    alarms = sum(
        is_told(loaded_reports(tacit.disguise(truth, scheme, seed=seed)), "kind", *nothing, 0) for seed in range(30)
    )
    assert stats.binom.sf(alarms - 1, 30, FALSE_ALARM_OF_CHOICE) >= FALSE_ALARM
    copied = Dataset(truth.table.select(truth.schema.names))
    copied.table.columns["q0"][:] = copied.table["kind"]
    assert is_told(loaded_reports(tacit.disguise(copied, scheme, seed=1)), "kind", *nothing, 0) == (theta == 0.9)


def test_both_kinds_of_evidence_are_weighed_by_their_errors() -> None:
    expected = np.array([0.8, 0.7])
    sure = combine_accuracies(np.array([0.60, 0.75]), np.full((2, 2), 1e-4) + 1e-6 * np.eye(2), expected)
    np.testing.assert_allclose(sure, [0.60, 0.75], atol=2e-3)
    noisy = combine_accuracies(np.array([0.20, 1.40]), 4.0 * np.eye(2), expected)
    assert noisy[0] > noisy[1]
    np.testing.assert_allclose(noisy[0] - noisy[1], 0.1, atol=0.01)
    nobody = combine_accuracies(np.array([0.6, 0.7]), 1e-4 * np.eye(2), np.full(2, np.nan))
    assert nobody[1] > nobody[0]


@pytest.mark.slow
def test_models_are_named_once_each_and_taken_by_name(votes: Reports) -> None:
    models = [tacit.TreeClassifier("Class", max_depth=1), tacit.TreeClassifier("Class"), DecisionTreeClassifier()]
    choice = tacit.choose_model(models, votes, target="Class")
    assert sorted(score.name for score in choice.candidates) == [
        "DecisionTreeClassifier as if true",
        "TreeClassifier",
        "TreeClassifier (2)",
    ]
    named = tacit.choose_model({"short": models[0]}, votes)
    assert named.chosen == "short"
    assert named.model.target == "Class"


@pytest.mark.slow
def test_tallies_and_dealt_questionnaires_are_divided_too(votes: Reports) -> None:
    models = [MajorityClassifier("Class"), tacit.NaiveBayesClassifier("Class")]
    counted = Tally.of(votes)
    assert tacit.choose_model(models, counted).chosen == "NaiveBayesClassifier"
    dealt = simulated(SCHEMES["dealt"], 4000, 4)
    choice = tacit.choose_model([MajorityClassifier("drinks"), tacit.NaiveBayesClassifier("drinks")], dealt)
    assert any(score.accuracy is not None for score in choice.candidates)


def test_refusals(votes: Reports) -> None:
    with pytest.raises(InvalidInput, match="from 2 to the 435"):
        tacit.cross_validate(tacit.NaiveBayesClassifier("Class"), votes, folds=500)
    with pytest.raises(InvalidInput, match="target="):
        tacit.choose_model(None, votes)
    with pytest.raises(InvalidInput, match="target="):
        tacit.cross_validate(DecisionTreeClassifier(), votes)
    with pytest.raises(InvalidInput, match="no model to choose from"):
        tacit.choose_model([], votes, target="Class")
    with pytest.raises(InvalidInput, match="different classes, 'Class' and 'V1'"):
        tacit.choose_model([MajorityClassifier("Class"), MajorityClassifier("V1")], votes)
    with pytest.raises(InvalidInput, match="is neither"):
        tacit.choose_model(["tree"], votes, target="Class")
    with pytest.raises(InvalidInput, match="predicts 'Class', not 'V1'"):
        tacit.cross_validate(MajorityClassifier("Class"), votes, target="V1")
    with pytest.raises(InvalidInput, match="'nobody' does not exist"):
        tacit.choose_model(None, votes, target="nobody")
    with pytest.raises(InvalidInput, match="'nobody' does not exist"):
        tacit.cross_validate(MajorityClassifier("nobody"), votes)
    with pytest.raises(InvalidInput, match="There are no reports"):
        tacit.cross_validate(MajorityClassifier("Class"), votes[:0])


@pytest.mark.slow
def test_a_model_that_cannot_be_estimated_is_named_with_the_reason() -> None:
    """Bits do not look like answers, so nothing can be learned from them as if they were true."""
    reports = simulated(SCHEMES["mask"], 800, 2)
    as_true = AsIfTrueClassifier("drinks", estimator=DecisionTreeClassifier())
    with pytest.raises(NotEstimable, match="do not show an answer to"):
        tacit.cross_validate(as_true, reports)
    with pytest.raises(NotEstimable, match="No model can be estimated"):
        tacit.choose_model([as_true], reports)
    choice = tacit.choose_model([as_true, MajorityClassifier("drinks")], reports)
    assert choice.chosen == "MajorityClassifier"
    assert "do not show an answer" in (choice.candidates[-1].problem or "")
