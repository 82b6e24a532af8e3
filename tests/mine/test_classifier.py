"""scikit-learn's conventions: plain arrays in, predictions out, nothing learned from truth by mistake."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator

import tacit
from tacit import Reports, TreeClassifier
from tacit.bundled import binary_votes
from tacit.errors import InvalidInput, UnknownAnswer
from tacit.mine import NaiveBayesClassifier
from tests.estimation.simulation import SCHEMES, people, simulated

BOTH = [TreeClassifier, NaiveBayesClassifier]

# Everything passes; what would be listed here stands in the documentation with its reason.
EXPECTED_FAILURES: dict[str, str] = {}


@pytest.mark.parametrize("classifier", BOTH)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_finds_nothing_to_complain_of(classifier: type) -> None:
    outcomes = check_estimator(classifier(), expected_failed_checks=EXPECTED_FAILURES, on_fail=None, on_skip=None)
    assert len(outcomes) > 40
    assert [(o["check_name"], str(o["exception"])) for o in outcomes if o["status"] in ("failed", "xfail")] == []


@pytest.mark.parametrize("classifier", BOTH)
def test_plain_arrays_are_taken_for_undisguised(classifier: type) -> None:
    votes = binary_votes().table
    names = [name for name in votes.schema.names if name != "Class"]
    answers = np.stack([np.array(votes.schema[name].answers)[votes[name]] for name in names], axis=1)
    parties = np.array(votes.schema["Class"].answers)[votes["Class"]]
    plain = classifier().fit(answers, parties)
    assert plain.fitted_on_ == "plain arrays, undisguised"
    reported = classifier("Class").fit(Reports.from_truth(votes))
    assert reported.fitted_on_ == "reports"
    np.testing.assert_array_equal(plain.predict(answers), reported.predict(votes))
    np.testing.assert_allclose(plain.predict_proba(answers), reported.predict_proba(votes))
    assert cross_val_score(classifier(), answers, parties, cv=3).min() > 0.85


@pytest.mark.parametrize("classifier", BOTH)
def test_predictions_are_made_for_any_table_of_answers(classifier: type) -> None:
    table = people(300, np.random.default_rng(1))
    model = classifier("drinks").fit(simulated(SCHEMES["gamma"], 5000, 2))
    frame = tacit.Dataset(table).to_arrow()
    expected = model.predict(table)
    for records in (tacit.Dataset(table), frame, frame.to_pandas(), frame.select(["sex", "age", "smokes"])):
        np.testing.assert_array_equal(model.predict(records), expected)
    is_right = expected == np.array(["no", "yes"])[table["drinks"]]
    assert model.score(table) == pytest.approx(is_right.mean())
    weights = np.arange(len(is_right)) + 1.0
    assert model.score(table, sample_weight=weights) == pytest.approx(np.average(is_right, weights=weights))
    np.testing.assert_allclose(model.predict_proba(table).sum(axis=1), 1)


@pytest.mark.parametrize("classifier", BOTH)
def test_refusals(classifier: type) -> None:
    reports = simulated(SCHEMES["gamma"], 500, 2)
    with pytest.raises(NotFittedError):
        classifier("drinks").predict(people(3, np.random.default_rng(1)))
    model = classifier("drinks").fit(reports)
    with pytest.raises(InvalidInput, match="disguised_accuracy"):
        model.predict(reports)
    with pytest.raises(UnknownAnswer, match="'age' has no answer 'ancient'"):
        model.predict({"smokes": ["no"], "age": ["ancient"], "sex": ["f"]})
    with pytest.raises(InvalidInput, match="only one class"):
        classifier().fit(np.array([["a"], ["b"]]), np.array([1, 1]))
    plain = classifier().fit(np.array([["a"], ["b"]]), np.array([0, 1]))
    with pytest.raises(UnknownAnswer, match="'x0' has no answer 'c'"):
        plain.predict(np.array([["c"]]))
    numbers = np.arange(60.0)[:, None]
    with pytest.raises(InvalidInput, match="held numbers"):
        classifier().fit(numbers, numbers[:, 0] > 30).predict(np.array([["many"]], dtype=object))
