"""Classifiers that learn from a joint model of whole records: its own conditional chances, or a tree grown on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tacit.channel.base import Array
from tacit.count.sources import ReportSource
from tacit.errors import InvalidInput, UnknownName
from tacit.mine.baselines import AsIfTrueClassifier, plain_tree
from tacit.mine.classifier import ReportClassifier, checked_target
from tacit.mine.division import joint_model
from tacit.reports import Reports
from tacit.table import Table

Form = Literal["chances", "tree"]
FORMS = ("chances", "tree")


class JointClassifier(ReportClassifier):
    """Predicts the likeliest class under a model of whole records (`tacit.fit_joint`).

    Parameters
    ----------
    target : str
        Name of the class among the attributes of the reports.
    form : {"chances", "tree"}
        "chances" answers by the model's own chances of the classes, given all other answers. "tree" grows
        scikit-learn's tree on synthetic records drawn from the model.
    records : int
        Synthetic records for "tree".
    seed : int
        Makes the draw repeatable.

    Examples
    --------
    >>> import tacit
    >>> from tacit.bundled import binary_votes
    >>> scheme = tacit.Scheme.of(binary_votes().schema, [(binary_votes().schema.names, tacit.channels.flip(0.9))])
    >>> model = tacit.JointClassifier(target="Class").fit(tacit.disguise(binary_votes(), scheme, seed=1))
    >>> model.score(binary_votes()) > 0.85
    True
    """

    def __init__(
        self, target: str | None = None, *, form: Form = "chances", records: int = 1 << 16, seed: int = 0
    ) -> None:
        self.target = target
        self.form = form
        self.records = records
        self.seed = seed

    def _learn(self, reports: ReportSource | Sequence[ReportSource], target: str) -> Self:
        if self.form not in FORMS:
            raise UnknownName("Form", str(self.form), FORMS)
        self.joint_ = joint_model(reports)
        self.schema_, self.n_reports_ = self.joint_.schema, self.joint_.n_reports
        self.target_ = checked_target(self.schema_, target)
        self.class_shares_: Array = self.joint_.table([target]).probabilities
        self.tree_classifier_: AsIfTrueClassifier | None = None
        if self.form == "tree":
            synthetic = self.joint_.sample(_checked_records(self.records), seed=self.seed)
            self.tree_classifier_ = AsIfTrueClassifier(target, estimator=plain_tree()).fit(synthetic)
        return self

    def _predict_table(self, table: Table) -> tuple[NDArray[np.int64], Array]:
        if self.tree_classifier_ is not None:
            return self.tree_classifier_._predict_table(table)
        shares = _chances(self, table)
        return shares.argmax(axis=1), shares

    def to_text(self) -> str:
        """The model's statement of fit."""
        check_is_fitted(self)
        return self.joint_.summary()

    def to_document(self) -> dict[str, Any]:
        """What was fitted, for JSON."""
        check_is_fitted(self)
        return {
            "form": self.form,
            "joint": self.joint_.what,
            "n_parameters": self.joint_.model.n_parameters,
            "converged": self.joint_.converged,
            "class_shares": dict(zip(self.target_.answers, self.class_shares_.tolist(), strict=True)),
        }


def _chances(model: JointClassifier, table: Table) -> Array:
    """The chance of each class for every record; equal records are asked for once."""
    inputs = table.select(model.inputs_.names)
    codes = np.stack([inputs[name] for name in inputs.schema.names], axis=1).astype(np.int64)
    keys = np.ravel_multi_index(tuple(codes.T), inputs.schema.shape()) if _is_numbered(inputs) else None
    if keys is None:
        first, places = np.arange(len(codes)), np.arange(len(codes))
    else:
        _, first, places = np.unique(keys, return_index=True, return_inverse=True)
    posterior = model.joint_.posterior(Reports.from_truth(inputs.rows(first)))[model.target_.name]
    return (posterior / posterior.sum(axis=1, keepdims=True))[places]


def _is_numbered(table: Table) -> bool:
    """Whether whole records can be numbered by 64-bit integers."""
    return float(np.prod([float(size) for size in table.schema.shape()])) < 2.0**62


def _checked_records(records: int) -> int:
    if not (isinstance(records, int) and records >= 1):
        raise InvalidInput(f"A tree needs a whole number of synthetic records of at least 1, not {records!r}.")
    return records
