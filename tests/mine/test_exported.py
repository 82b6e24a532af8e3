"""Classifiers as documents: what a device says by them is what the model says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.errors import InvalidInput, UnknownAnswer, UnknownName
from tacit.mine import MajorityClassifier
from tacit.mine.candidates import exportable_candidates
from tacit.mine.exported import checked_classifier, classifier_document, predicted_answer, read_classifier
from tests.estimation.simulation import SCHEMES, people, simulated
from tests.survey.page import node

MODELS = [
    tacit.TreeClassifier("drinks", significance=0),
    tacit.NaiveBayesClassifier("drinks"),
    tacit.LogisticClassifier("drinks"),
    MajorityClassifier("drinks"),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_document_says_what_the_model_says_in_python_and_on_the_page(model: Any) -> None:
    fitted = model.fit(simulated(SCHEMES["gamma"], 4000, 2))
    table = people(60, np.random.default_rng(1))
    persons = [
        {name: table.schema[name].answers[table[name][row]] for name in ("smokes", "age", "sex")} for row in range(60)
    ]
    document = json.loads(json.dumps(classifier_document(fitted)))
    assert checked_classifier(document, fitted.schema_) == document
    expected = fitted.predict(table).tolist()
    assert [predicted_answer(document, person) for person in persons] == expected
    assert node("classified", script="page_hash.mjs", classifier=document, people=persons) == expected


def test_the_models_that_an_export_chooses_from_can_all_be_written() -> None:
    models = exportable_candidates("drinks")
    assert sorted(type(model).__name__ for model in models.values()) == sorted(type(model).__name__ for model in MODELS)


def test_what_no_device_could_apply_is_refused() -> None:
    joint = tacit.JointClassifier("drinks").fit(simulated(SCHEMES["public"], 500, 2))
    with pytest.raises(InvalidInput, match="no device could apply it"):
        classifier_document(joint)


GOOD: dict[str, Any] = {"format": "tacit-classifier/1", "target": "drinks"}
SCORES = {"classes": ["no", "yes"], "start": [0, 1], "answers": {"smokes": {"yes": [0, 5]}}}


@pytest.mark.parametrize(
    ("document", "problem", "message"),
    [
        ([], InvalidInput, "tacit-classifier/1"),
        ({"format": "other"}, InvalidInput, "tacit-classifier/1"),
        (GOOD, InvalidInput, "holds neither"),
        ({**GOOD, "target": "eats", "tree": {"answer": "no"}}, UnknownName, "eats"),
        ({**GOOD, "tree": {"answer": "maybe"}}, UnknownAnswer, "maybe"),
        ({**GOOD, "tree": {}}, InvalidInput, "answer"),
        (
            {**GOOD, "tree": {"answer": "no", "attribute": "drinks", "branches": {}}},
            InvalidInput,
            "which is what it should predict",
        ),
        ({**GOOD, "tree": {"answer": "no", "attribute": "smokes"}}, InvalidInput, "no branches"),
        ({**GOOD, "scores": {**SCORES, "classes": ["yes"]}}, InvalidInput, "scores are for"),
        ({**GOOD, "scores": {**SCORES, "start": [0.5, 1]}}, InvalidInput, "2 whole numbers"),
        ({**GOOD, "scores": {**SCORES, "start": None}}, InvalidInput, "2 whole numbers"),
        ({**GOOD, "scores": {**SCORES, "answers": None}}, InvalidInput, "say nothing"),
        ({**GOOD, "scores": {**SCORES, "answers": {"smokes": []}}}, InvalidInput, "not by answer"),
        ({**GOOD, "scores": {**SCORES, "answers": {"smokes": {"often": [0, 0]}}}}, UnknownAnswer, "often"),
    ],
)
def test_documents_that_do_not_fit_are_refused(document: Any, problem: type[Exception], message: str) -> None:
    with pytest.raises(problem, match=message):
        checked_classifier(document, SCHEMES["public"].schema)


def test_a_file_that_holds_no_classifier_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text("{", encoding="utf-8")
    for name in ("model.json", "absent.json"):
        with pytest.raises(InvalidInput, match="no document of a classifier"):
            read_classifier(tmp_path / name, SCHEMES["public"].schema)
