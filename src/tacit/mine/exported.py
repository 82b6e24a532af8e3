"""Classifiers as documents that any device can apply: a tree of answers, or scores that are added up.

``{"format": "tacit-classifier/1", "target": ..., "tree": ...}`` or ``{..., "scores": ...}``. A node of a tree is
``{"answer": label}``, or has ``attribute`` and ``branches`` too. Scores are whole numbers, millionths of a natural
logarithm, so that every device adds them up to the same class: those of the classes, then those of each answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tacit.channel.base import Array
from tacit.errors import InvalidInput, UnknownAnswer
from tacit.mine.baselines import MajorityClassifier
from tacit.mine.classifier import ReportClassifier
from tacit.mine.logistic import LogisticClassifier
from tacit.mine.naive_bayes import NaiveBayesClassifier
from tacit.mine.tree import Node
from tacit.mine.tree_classifier import TreeClassifier
from tacit.schema import Attribute, Schema

FORMAT = "tacit-classifier/1"
MILLIONTHS = 1_000_000


def classifier_document(model: ReportClassifier) -> dict[str, Any]:
    """A fitted classifier, frozen; those that no device could apply are refused."""
    head = {"format": FORMAT, "target": model.target_.name}
    if isinstance(model, TreeClassifier):
        return {**head, "tree": tree_document(model.tree_, model.schema_, model.target_)}
    if isinstance(model, MajorityClassifier):
        return {**head, "tree": {"answer": model.target_.answers[model.constant_code_]}}
    if isinstance(model, NaiveBayesClassifier):
        tables = {table.attribute.name: np.log(table.shares) for table in model.likelihoods_}
        start = np.log(np.maximum(model.class_shares_, np.finfo(np.float64).tiny))
        return {**head, "scores": _scores(model, start, tables)}
    if isinstance(model, LogisticClassifier):
        return {**head, "scores": _scores(model, model.intercepts_, model.coefficients_)}
    raise InvalidInput(
        f"{type(model).__name__} cannot be written as a tree or as scores, so no device could apply it. Use a tree, naive "
        "Bayes or a logit."
    )


def tree_document(node: Node, schema: Schema, target: Attribute) -> dict[str, Any]:
    """The tree as a device applies it: answers by name, and a label at every node."""
    document: dict[str, Any] = {"answer": target.answers[node.label]}
    if node.attribute is None:
        return document
    answers = schema[node.attribute].answers
    branches = {
        answers[code]: tree_document(branch.node, schema, target) for branch in node.branches for code in branch.answers
    }
    return {**document, "attribute": node.attribute, "branches": branches}


def read_classifier(path: str | Path, schema: Schema) -> dict[str, Any]:
    """A document from a file, refused where it does not fit the questions."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError):
        raise InvalidInput(
            f"{str(path)!r} is no document of a classifier. Write one with tacit mine ... --export."
        ) from None
    return checked_classifier(document, schema)


def checked_classifier(document: Any, schema: Schema) -> dict[str, Any]:
    """The document, where it predicts and looks at answers that are asked for."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InvalidInput(
            f'A classifier is a document with "format": "{FORMAT}". Write one with tacit mine ... --export.'
        )
    target = schema[str(document.get("target"))]
    if isinstance(document.get("tree"), dict):
        _check_node(document["tree"], schema, target)
    elif isinstance(document.get("scores"), dict):
        _check_scores(document["scores"], schema, target)
    else:
        raise InvalidInput("A classifier holds a tree or scores; this document holds neither.")
    return document


def predicted_answer(document: Mapping[str, Any], answers: Mapping[str, str]) -> str:
    """What the classifier says of somebody's answers: the same as the respondents' page."""
    if "tree" in document:
        node = document["tree"]
        while "attribute" in node:
            node = node["branches"].get(answers.get(node["attribute"]), {"answer": node["answer"]})
        return str(node["answer"])
    scores = document["scores"]
    sums = list(scores["start"])
    for name, table in scores["answers"].items():
        sums = [sum_ + more for sum_, more in zip(sums, table.get(answers.get(name), [0] * len(sums)), strict=True)]
    return str(scores["classes"][sums.index(max(sums))])


def _scores(model: ReportClassifier, start: Array, tables: Mapping[str, Array]) -> dict[str, Any]:
    return {
        "classes": list(model.target_.answers),
        "start": _whole(start),
        "answers": {
            name: {answer: _whole(row) for answer, row in zip(model.schema_[name].answers, table, strict=True)}
            for name, table in tables.items()
        },
    }


def _whole(scores: Array) -> list[int]:
    return [round(float(score) * MILLIONTHS) for score in scores]


def _check_node(node: Any, schema: Schema, target: Attribute) -> None:
    if not isinstance(node, dict) or not isinstance(node.get("answer"), str):
        raise InvalidInput('Every node of a tree has an "answer", a text.')
    target.encode(node["answer"])
    if "attribute" not in node:
        return
    attribute = _document_attribute(str(node["attribute"]), schema, target)
    branches = node.get("branches")
    if not isinstance(branches, dict):
        raise InvalidInput(f"The node that looks at {attribute.name!r} has no branches.")
    for answer, branch in branches.items():
        attribute.encode(answer)
        _check_node(branch, schema, target)


def _check_scores(scores: Mapping[str, Any], schema: Schema, target: Attribute) -> None:
    if scores.get("classes") != list(target.answers):
        raise InvalidInput(
            f"The scores are for {scores.get('classes')}, but {target.name!r} has {list(target.answers)}."
        )
    _check_row(scores.get("start"), target)
    tables = scores.get("answers")
    if not isinstance(tables, dict):
        raise InvalidInput("The scores say nothing of any answer.")
    for name, table in tables.items():
        attribute = _document_attribute(name, schema, target)
        if not isinstance(table, dict):
            raise InvalidInput(f"The scores of {name!r} are not by answer.")
        for answer, row in table.items():
            if answer not in attribute.answers:
                raise UnknownAnswer(name, answer, attribute.answers)
            _check_row(row, target)


def _check_row(row: Any, target: Attribute) -> None:
    is_whole = isinstance(row, Sequence) and all(isinstance(score, int) and abs(score) < 2**48 for score in row)
    if not is_whole or len(row) != target.size:
        raise InvalidInput(
            f"Scores are {target.size} whole numbers, one for each answer of {target.name!r}, not {row!r}."
        )


def _document_attribute(name: str, schema: Schema, target: Attribute) -> Attribute:
    if name == target.name:
        raise InvalidInput(
            f"The classifier uses {name!r}, which is what it should predict. Fit it without {name!r} and write it again "
            "with tacit mine ... --export."
        )
    return schema[name]
