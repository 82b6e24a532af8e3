"""Accuracy on disguised test sets: unbiased, with true errors, for every channel and every classifier."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit import Attribute, Scheme, channels
from tacit.errors import InvalidInput, NotEstimable, SchemeMismatch, UnknownAnswer
from tacit.estimation import record_weights
from tacit.mine import disguised_accuracy, told_accuracy
from tacit.table import Table
from tests.estimation.simulation import SCHEMA, SCHEMES, TRUTH, people, simulated
from tests.statistics import assert_standard_scores

REPEATS = 150
PEOPLE = 1500
DOMAIN, REPORT_BY_REPORT = record_weights.DOMAIN_ENTRIES, 0


def drinks(table: Table) -> np.ndarray:
    """A classifier of someone else's: young non-smokers and all old men drink."""
    young, old = table["age"] == 0, table["age"] == 2
    says_yes = (young & (table["smokes"] == 0)) | (old & (table["sex"] == 1))
    return np.where(says_yes, "yes", "no")


def true_confusion(joint: np.ndarray = TRUTH) -> np.ndarray:
    cells = np.indices(TRUTH.shape).reshape(4, -1).astype(np.uint8)
    table = Table(SCHEMA, dict(zip(SCHEMA.names, cells, strict=True)))
    confusion = np.zeros((2, 2))
    np.add.at(confusion, (table["drinks"], (drinks(table) == "yes").astype(int)), joint.ravel())
    return confusion


def balanced(confusion: np.ndarray) -> float:
    return float((np.diag(confusion) / confusion.sum(axis=1)).mean())


@pytest.mark.parametrize("entries", [DOMAIN, REPORT_BY_REPORT], ids=["exact", "report by report"])
@pytest.mark.parametrize("scheme", [name for name in SCHEMES if name != "dealt"])
def test_unbiased_with_true_errors(scheme: str, entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_weights, "DOMAIN_ENTRIES", entries)
    truth = true_confusion()
    scores, cells = [], []
    for repeat in range(REPEATS):
        reports = simulated(SCHEMES[scheme], PEOPLE, 1000 + repeat)
        found = disguised_accuracy(drinks, reports, target="drinks", draws=2, seed=repeat)
        scores.append((found.accuracy - np.trace(truth)) / found.standard_error)
        cells.append((found.confusion[0, 1] - truth[0, 1]) / found.confusion_errors[0, 1])
    assert_standard_scores(scores)
    assert_standard_scores(cells)


def test_the_check_notices_an_error_of_half_a_standard_error() -> None:
    truth = np.trace(true_confusion())
    scores = []
    for repeat in range(REPEATS):
        found = disguised_accuracy(drinks, simulated(SCHEMES["gamma"], PEOPLE, 1000 + repeat), target="drinks")
        scores.append((found.accuracy - truth) / found.standard_error + 0.5)
    with pytest.raises(AssertionError, match="p-value"):
        assert_standard_scores(scores)


def test_balanced_accuracy_has_true_errors_too() -> None:
    truth = balanced(true_confusion())
    scores = []
    for repeat in range(REPEATS):
        found = disguised_accuracy(drinks, simulated(SCHEMES["uniform"], 20_000, repeat), target="drinks")
        scores.append((found.balanced_accuracy - truth) / found.balanced_error)
    assert_standard_scores(scores)


def test_errors_for_just_the_respondents() -> None:
    table = people(PEOPLE, np.random.default_rng(5))
    joint = np.zeros(TRUTH.shape)
    np.add.at(joint, tuple(table[name] for name in SCHEMA.names), 1 / PEOPLE)
    truth = np.trace(true_confusion(joint))
    scores = []
    for repeat in range(REPEATS):
        reports = simulated(SCHEMES["flip"], PEOPLE, 77 + repeat, table)
        found = disguised_accuracy(drinks, reports, target="drinks", sampling="respondents")
        scores.append((found.accuracy - truth) / found.standard_error)
    assert_standard_scores(scores)


def test_without_disguise_it_is_the_share_of_right_predictions() -> None:
    table = people(500, np.random.default_rng(5))
    reports = tacit.Reports.from_truth(table)
    found = disguised_accuracy(drinks, reports, target="drinks")
    right = drinks(table) == np.array(SCHEMA["drinks"].answers)[table["drinks"]]
    assert found.accuracy == pytest.approx(right.mean())
    assert found.standard_error == pytest.approx(right.std() / np.sqrt(500))
    assert disguised_accuracy(drinks, reports, target="drinks", sampling="respondents").standard_error == 0


def test_flips_turned_back_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = simulated(SCHEMES["flip"], 300, 3)
    exact = disguised_accuracy(drinks, reports, target="drinks")
    monkeypatch.setattr(record_weights, "DOMAIN_ENTRIES", 0)
    turned = disguised_accuracy(drinks, reports, target="drinks", draws=1)
    assert (exact.method, turned.method) == ("exact", "report by report")
    np.testing.assert_allclose(turned.confusion, exact.confusion, atol=1e-12)
    assert turned.standard_error == pytest.approx(exact.standard_error)


def test_questionnaires_that_ask_everything_are_pooled() -> None:
    found = disguised_accuracy(
        lambda table: np.where(table["smokes"] == 1, "yes", "no"),
        simulated(SCHEMES["dealt"], 20_000, 3),
        target="drinks",
        attributes=["smokes"],
    )
    truth = TRUTH.sum(axis=(2, 3))[[0, 1], [0, 1]].sum()
    assert abs(found.accuracy - truth) < 5 * found.standard_error
    assert 14_000 < found.n_reports < 16_000
    with pytest.raises(NotEstimable, match="never asked together"):
        disguised_accuracy(drinks, simulated(SCHEMES["dealt"].__class__.dealt(SCHEMA, [
            ("one", 0.5, [(["smokes", "drinks"], channels.warner(0.8))]),
            ("two", 0.5, [(["age"], channels.warner(0.8))]),
        ]), 100, 1), target="drinks", attributes=["age", "smokes", "sex"])  # fmt: skip


def test_a_scikit_learn_pipeline_is_tested_on_answers() -> None:
    from sklearn.naive_bayes import BernoulliNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    table = people(2000, np.random.default_rng(1))
    answers = tacit.Dataset(table).to_arrow().to_pandas().astype(str)
    inputs = ["smokes", "age", "sex"]
    model = make_pipeline(OneHotEncoder(), BernoulliNB()).fit(answers[inputs].to_numpy(), answers["drinks"])
    reports = simulated(SCHEMES["gamma"], 30_000, 9)
    found = disguised_accuracy(model, reports, target="drinks", attributes=inputs)
    named = make_pipeline(OneHotEncoder(), BernoulliNB()).fit(answers[inputs], answers["drinks"])
    again = disguised_accuracy(named, reports, target="drinks")
    assert again.accuracy == pytest.approx(found.accuracy)
    fresh = people(50_000, np.random.default_rng(2))
    clear = tacit.Dataset(fresh).to_arrow().to_pandas().astype(str)
    right = (model.predict(clear[inputs].to_numpy()) == clear["drinks"]).mean()
    assert abs(found.accuracy - right) < 5 * found.standard_error


def test_a_hopeless_error_is_said_instead_of_a_number() -> None:
    scheme = Scheme.of(SCHEMA, [(["smokes", "drinks", "age"], channels.gamma_diagonal(1.1))])
    found = disguised_accuracy(drinks, simulated(scheme, 100, 1), target="drinks")
    assert found.estimate is None
    assert "standard error would be" in str(found)
    assert found.to_document()["estimate"] is None
    assert found.to_document()["warnings"]


def test_respondents_may_tell_right_from_wrong_themselves() -> None:
    asked = [Attribute("right", ("no", "yes"))]
    scheme = Scheme.of(asked, [(["right"], channels.mixture(0.5, [0.5, 0.5]))])
    truth = tacit.Dataset.from_arrow({"right": ["yes"] * 8000 + ["no"] * 2000}, scheme.schema)
    found = told_accuracy(tacit.disguise(truth, scheme, seed=3), "right", "yes")
    assert abs(found.accuracy - 0.8) < 5 * found.standard_error < 0.1


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, InvalidInput, "target="),
        ({"target": "drinks", "attributes": ["drinks"]}, InvalidInput, "which is the class it should predict"),
        ({"target": "dinks"}, InvalidInput, "Did you mean 'drinks'"),
        ({"target": "drinks", "sampling": "nobody"}, InvalidInput, "Sampling"),
        ({"target": "drinks", "draws": 0}, InvalidInput, "draws"),
    ],
)
def test_refusals(arguments: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        disguised_accuracy(drinks, simulated(SCHEMES["flip"], 50, 1), **arguments)


def test_what_is_no_classifier_or_no_report_is_refused() -> None:
    reports = simulated(SCHEMES["flip"], 50, 1)
    with pytest.raises(InvalidInput, match="predict"):
        disguised_accuracy(3, reports, target="drinks")
    with pytest.raises(UnknownAnswer, match="'drinks' has no answer 'maybe'"):
        disguised_accuracy(lambda table: ["maybe"] * len(table), reports, target="drinks")
    with pytest.raises(InvalidInput, match="Expected reports"):
        disguised_accuracy(drinks, people(10, np.random.default_rng(1)), target="drinks")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="no test reports"):
        disguised_accuracy(drinks, reports.rows(slice(0, 0)), target="drinks")


def test_reports_that_do_not_fit_the_classifier_are_refused() -> None:
    tree = tacit.TreeClassifier("drinks", significance=0).fit(
        tacit.Reports.from_truth(people(500, np.random.default_rng(5)))
    )
    other = tacit.Schema((*SCHEMA.attributes[:2], Attribute("age", ("a", "b", "c")), SCHEMA["sex"]))
    table = people(50, np.random.default_rng(1))
    relabelled = tacit.Reports.from_truth(Table(other, table.columns))
    with pytest.raises(SchemeMismatch, match="'age' differently"):
        disguised_accuracy(tree, relabelled)
    with pytest.raises(SchemeMismatch, match="needs 'smokes'"):
        disguised_accuracy(tree, tacit.Reports.from_truth(table.select(["drinks", "age", "sex"])))
    hopeless = Scheme.of(SCHEMA, [(["smokes", "drinks"], channels.flip(0.5))])
    with pytest.raises(NotEstimable, match="unrelated question"):
        disguised_accuracy(tree, simulated(hopeless, 50, 1))
