"""The models a choice is made from: what they are called, what they predict, and the usual ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sklearn.naive_bayes import CategoricalNB

from tacit.errors import InvalidInput
from tacit.mine.baselines import AsIfTrueClassifier, MajorityClassifier, plain_tree
from tacit.mine.classifier import ReportClassifier
from tacit.mine.joint_classifier import JointClassifier
from tacit.mine.logistic import LogisticClassifier
from tacit.mine.naive_bayes import NaiveBayesClassifier
from tacit.mine.tree_classifier import TreeClassifier


def default_candidates(target: str) -> dict[str, ReportClassifier]:
    """The usual candidates, the simplest first: of equals the first is chosen."""
    return {
        "majority": MajorityClassifier(target),
        "naive Bayes": NaiveBayesClassifier(target),
        "logistic": LogisticClassifier(target),
        "joint model": JointClassifier(target),
        "tree": TreeClassifier(target),
        "tree on the joint model": JointClassifier(target, form="tree"),
        "naive Bayes as if true": AsIfTrueClassifier(target, estimator=CategoricalNB()),
        "tree as if true": AsIfTrueClassifier(target, estimator=plain_tree(1)),
        "tree as if true, larger leaves": AsIfTrueClassifier(target),
    }


def exportable_candidates(target: str) -> dict[str, ReportClassifier]:
    """The usual candidates that any device can apply (`tacit.mine.exported`)."""
    usual = default_candidates(target)
    return {name: usual[name] for name in ("majority", "naive Bayes", "logistic", "tree")}


def as_candidate(model: Any, target: str | None) -> ReportClassifier:
    """A classifier of ours that knows its class; one of scikit-learn's is learned from reports as if true."""
    if isinstance(model, ReportClassifier):
        if model.target is None and target is None:
            raise InvalidInput("Say which attribute is the class: target='...'.")
        if model.target is None:
            return type(model)(**{**model.get_params(deep=False), "target": target})
        if target not in (None, model.target):
            raise InvalidInput(f"The model predicts {model.target!r}, not {target!r}. Name one class for all.")
        return model
    if hasattr(model, "fit") and hasattr(model, "predict_proba"):
        if target is None:
            raise InvalidInput(f"Say which attribute {type(model).__name__} should predict: target='...'.")
        return AsIfTrueClassifier(target, estimator=model)
    raise InvalidInput(
        "A model is a classifier of Tacit's, or one of scikit-learn's with `fit` and `predict_proba`; "
        f"{type(model).__name__} is neither."
    )


def model_name(model: ReportClassifier) -> str:
    """What a model is called in results."""
    if isinstance(model, AsIfTrueClassifier) and model.estimator is not None:
        return f"{type(model.estimator).__name__} as if true"
    return type(model).__name__


def common_target(models: Iterable[ReportClassifier]) -> str:
    """The class that all models predict."""
    targets = list(dict.fromkeys(str(model.target) for model in models))
    if len(targets) > 1:
        raise InvalidInput(
            f"The models predict different classes, {targets[0]!r} and {targets[1]!r}. Name one class for all."
        )
    return targets[0]
