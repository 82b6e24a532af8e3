"""Several classifiers asked together: whose word counts how much, and what is said of it."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit import Reports, Scheme, channels
from tacit.bundled import binary_votes
from tacit.errors import InvalidInput, NotEstimable
from tacit.mine import AsIfTrueClassifier, MajorityClassifier, model_selection
from tacit.mine.averaged import AveragedClassifier
from tacit.mine.candidates import default_candidates
from tests.estimation.simulation import SCHEMES, simulated

VOTES = binary_votes()
FLIPPED = Scheme.of(VOTES.schema, [(VOTES.schema.names, channels.flip(0.9))])
BAYES, ALWAYS = tacit.NaiveBayesClassifier("Class"), MajorityClassifier("Class")


@pytest.fixture(scope="module")
def votes() -> Reports:
    return tacit.disguise(VOTES, FLIPPED, seed=1)


def test_shares_are_averaged_by_weights(votes: Reports) -> None:
    model = AveragedClassifier("Class", members={"bayes": BAYES, "always": ALWAYS}, weights={"bayes": 3, "always": 1})
    model.fit(votes)
    expected = 0.75 * BAYES.fit(votes).predict_proba(VOTES) + 0.25 * ALWAYS.fit(votes).predict_proba(VOTES)
    np.testing.assert_allclose(model.predict_proba(VOTES), expected, atol=1e-12)
    assert model.score(VOTES) > 0.85
    assert model.to_text() == "75% bayes\n25% always"
    assert model.to_document()["average"][0] == {"model": "bayes", "weight": 0.75}
    assert 0.5 < model.majority_share_ < 0.7


def test_who_cannot_be_estimated_is_left_out() -> None:
    reports = simulated(SCHEMES["mask"], 500, 2)  # bits do not look like answers
    members = {"as if true": AsIfTrueClassifier("drinks"), "bayes": tacit.NaiveBayesClassifier("drinks")}
    assert list(AveragedClassifier("drinks", members=members).fit(reports).weights_) == ["bayes"]
    with pytest.raises(NotEstimable, match="No member of the average"):
        AveragedClassifier("drinks", members={"as if true": members["as if true"]}).fit(reports)


def test_an_average_of_nothing_is_refused(votes: Reports) -> None:
    with pytest.raises(InvalidInput, match="at least one classifier"):
        AveragedClassifier("Class").fit(votes)
    with pytest.raises(InvalidInput, match="one at least must be above"):
        AveragedClassifier("Class", members={"bayes": BAYES}, weights={"bayes": 0}).fit(votes)


def some(target: str) -> dict[str, object]:
    usual = default_candidates(target)
    return {name: usual[name] for name in ("majority", "naive Bayes", "naive Bayes as if true", "tree as if true")}


@pytest.mark.slow
def test_the_usual_choice_averages_what_the_tests_cannot_tell_apart(
    votes: Reports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_selection, "default_candidates", some)
    choice = tacit.choose_model(None, votes, target="Class", folds=3)
    assert choice.chosen == "average"
    assert choice.candidates[0].name == "average"
    assert 0.8 < choice.score.accuracy < 1.05
    assert 0 < choice.score.standard_error < 0.05
    weights = choice.model.weights_
    assert sum(weights.values()) == pytest.approx(1)
    assert "majority" not in weights
    judged = {score.name: score.judged for score in choice.candidates}
    assert max(weights, key=weights.get) == max(weights, key=judged.get)
    assert choice.model.score(VOTES) > 0.85
    assert len(choice.to_document()["candidates"]) == 5


@pytest.mark.slow
def test_of_named_models_one_is_taken(votes: Reports) -> None:
    choice = tacit.choose_model(some("Class"), votes, folds=3)
    assert choice.chosen in some("Class")


def test_whoever_is_far_behind_is_not_asked() -> None:
    trials = [model_selection.Trial(name) for name in some("Class")]
    weights = model_selection.average_weights(trials, np.array([0.9, 0.9, 0.85, 0.6]), some("Class"))
    assert weights == {"naive Bayes": 1.0, "naive Bayes as if true": pytest.approx(np.exp(-1))}
