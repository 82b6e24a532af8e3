"""Classifiers of the joint model and of a logit: right on clear data, good on disguised ones, and honest refusals."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB

import tacit
from tacit import Dataset, Reports, Scheme, channels
from tacit.bundled import binary_votes
from tacit.errors import InvalidInput, UnknownName
from tacit.mine import AsIfTrueClassifier, JointClassifier, LogisticClassifier, MajorityClassifier
from tests.estimation.simulation import SCHEMES, people, simulated

ALL = [JointClassifier, LogisticClassifier, AsIfTrueClassifier, MajorityClassifier]


def additive(rows: int, seed: int) -> Dataset:
    """Three classes whose log-odds are sums of what each answer adds."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (rows, 4))
    adds = np.random.default_rng(7).normal(0, 1.2, (4, 3, 3))
    scores = sum(adds[place][codes[:, place]] for place in range(4)) + rng.gumbel(size=(rows, 3))
    columns = {**{f"q{place}": codes[:, place] for place in range(4)}, "kind": scores.argmax(axis=1)}
    return Dataset.from_arrow({name: [str(code) for code in codes] for name, codes in columns.items()})


def test_on_clear_data_the_logit_is_that_of_scikit_learn() -> None:
    truth = additive(2000, 1)
    names = [name for name in truth.schema.names if name != "kind"]
    ours = LogisticClassifier("kind", shrinkage=0).fit(Reports.from_truth(truth))
    indicators = np.concatenate([np.eye(3)[truth.table[name]] for name in names], axis=1)
    theirs = LogisticRegression(C=1e4, max_iter=2000, tol=1e-8).fit(indicators, truth.table["kind"])
    np.testing.assert_allclose(ours.predict_proba(truth), theirs.predict_proba(indicators), atol=2e-3)
    assert ours.converged_


@pytest.mark.slow
def test_a_logit_from_disguised_reports_comes_close_to_that_from_the_truth() -> None:
    truth, fresh = additive(8000, 1), additive(4000, 2)
    scheme = Scheme.of(truth.schema, [([name], channels.uniform_perturbation(0.7)) for name in truth.schema.names])
    clear = LogisticClassifier("kind").fit(Reports.from_truth(truth)).score(fresh)
    model = LogisticClassifier("kind").fit(tacit.disguise(truth, scheme, seed=1))
    assert model.score(fresh) > clear - 0.02
    assert clear > MajorityClassifier("kind").fit(Reports.from_truth(truth)).score(fresh) + 0.1
    assert set(model.to_document()["coefficients"]) == {"q0", "q1", "q2", "q3"}
    assert "q3 = 2" in model.to_text()


def test_a_logit_fits_from_tallies_of_whole_reports_as_from_reports() -> None:
    reports = tacit.disguise(
        binary_votes(), Scheme.of(binary_votes().schema, [(["Class"], channels.warner(0.9))]), seed=1
    )
    one = LogisticClassifier("Class").fit(reports)
    two = LogisticClassifier("Class").fit(tacit.Tally.of(reports))
    np.testing.assert_allclose(one.predict_proba(binary_votes()), two.predict_proba(binary_votes()), atol=1e-4)


def test_the_joint_classifier_answers_by_the_chances_of_its_model() -> None:
    reports = simulated(SCHEMES["gamma"], 4000, 2)
    model = JointClassifier("drinks").fit(reports)
    joint, table = tacit.fit_joint(reports), people(20, np.random.default_rng(1))
    for place, chances in enumerate(model.predict_proba(table)):
        given = {name: table.schema[name].answers[table[name][place]] for name in ("smokes", "age", "sex")}
        told = joint.predict("drinks", given)
        np.testing.assert_allclose(chances, [told["no"], told["yes"]], atol=1e-9)
    tree = JointClassifier("drinks", form="tree", records=2000).fit(reports)
    assert (tree.predict(table) == model.predict(table)).mean() > 0.7
    assert model.to_document()["form"] == "chances"
    assert "held-out log-likelihood" in model.to_text()


def test_as_if_true_is_what_scikit_learn_learns_from_the_reports() -> None:
    votes = binary_votes()
    scheme = Scheme.of(votes.schema, [(votes.schema.names, channels.flip(0.9))])
    reports = tacit.disguise(votes, scheme, seed=1)
    names = [name for name in votes.schema.names if name != "Class"]
    codes = [np.stack([table[name] for name in names], axis=1) for table in (reports.table, votes.table)]
    theirs = CategoricalNB(min_categories=2).fit(codes[0], reports.table["Class"]).predict(codes[1])
    model = AsIfTrueClassifier("Class", estimator=CategoricalNB()).fit(reports)
    np.testing.assert_array_equal(model.predicted_codes(votes.table), theirs)
    assert "as if they were true" in model.to_text()


def test_the_majority_is_that_of_the_truth_and_not_of_the_reports() -> None:
    truth = Dataset.from_arrow({"kind": ["a"] * 9000 + ["b"] * 1000, "x": ["0", "1"] * 5000})
    scheme = Scheme.of(truth.schema, [(["kind"], channels.warner(0.3))])
    reports = tacit.disguise(truth, scheme, seed=1)
    assert np.bincount(reports.table["kind"]).argmax() == 1
    model = MajorityClassifier("kind").fit(reports)
    assert set(model.predict(truth)) == {"a"}
    assert model.majority_share_ == pytest.approx(0.9, abs=0.1)
    assert tacit.disguised_accuracy(model, reports).accuracy == pytest.approx(0.9, abs=0.1)
    assert model.to_document() == {"always": "a"}


@pytest.mark.parametrize("classifier", ALL)
def test_plain_arrays_are_taken_for_undisguised(classifier: type) -> None:
    votes = binary_votes().table
    names = [name for name in votes.schema.names if name != "Class"][:5]
    answers = np.stack([np.array(votes.schema[name].answers)[votes[name]] for name in names], axis=1)
    parties = np.array(votes.schema["Class"].answers)[votes["Class"]]
    plain = classifier().fit(answers, parties)
    assert plain.fitted_on_ == "plain arrays, undisguised"
    least = 0.6 if classifier is MajorityClassifier else 0.9
    assert plain.score(answers, parties) > least


def test_refusals() -> None:
    reports = simulated(SCHEMES["gamma"], 500, 2)
    with pytest.raises(UnknownName, match="Form"):
        JointClassifier("drinks", form="forest").fit(reports)
    with pytest.raises(InvalidInput, match="synthetic records of at least 1"):
        JointClassifier("drinks", form="tree", records=0).fit(reports)
    with pytest.raises(InvalidInput, match="at least 0, not -1"):
        LogisticClassifier("drinks", shrinkage=-1).fit(reports)
    with pytest.raises(InvalidInput, match="target="):
        LogisticClassifier().fit(reports)
