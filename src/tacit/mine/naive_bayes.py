"""Naive Bayes from disguised reports (Zhan and Matwin's electronic surveys), for any channel of the scheme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tacit.channel.base import Array
from tacit.count.sources import ReportSource
from tacit.errors import NotEstimable, TacitError, UnknownName
from tacit.estimation.subgroups import ClassTable, ClassTables
from tacit.joint.classes import LatentClasses
from tacit.mine.classifier import ReportClassifier, checked_class_shares, checked_target
from tacit.mine.count_sources import learned_from, modelled_pairs, ordered_sources, pairs_may_pay
from tacit.mine.division import LoadedReports, folds, joint_model, loaded_reports
from tacit.mine.held_out import bayes_logs
from tacit.schema import Attribute, Schema
from tacit.table import Table

BayesMethod = Literal["auto", "inversion", "joint"]
BAYES_METHODS = ("auto", "inversion", "joint")
PARTS = 5  # of which one is held out while two sources of tables are compared


@dataclass(frozen=True, eq=False)
class Likelihoods:
    """For one attribute the share of each answer within each class, ``[answer, class]``: proper and above zero."""

    attribute: Attribute
    shares: Array
    estimated: ClassTable


class NaiveBayesClassifier(ReportClassifier):
    """Bayes' rule with answers taken as independent within a class; every table is estimated from the reports.

    Estimates below one standard error of the disguise are raised to it, and so are counts below half a person; then
    each class is renormalised. After fitting: `class_shares_` with `class_errors_`, `likelihoods_` for each attribute,
    and `left_out_`, the attributes that no report asks for together with the class.

    Parameters
    ----------
    target:
        Name of the class among the attributes of the reports.
    method:
        "inversion" estimates each table without bias; "joint" takes it from a model of whole records (`tacit.fit_joint`);
        "auto" takes the model where several groups hide much and it makes held-out reports likelier. `method_` says which.
    class_shares:
        The distribution of the classes where it is known, as a list in the order of the answers or by answer.

    Examples
    --------
    >>> import tacit
    >>> from tacit.bundled import binary_votes
    >>> model = tacit.mine.NaiveBayesClassifier(target="Class").fit(tacit.Reports.from_truth(binary_votes()))
    >>> model.score(binary_votes()) > 0.85
    True
    """

    def __init__(
        self,
        target: str | None = None,
        *,
        method: BayesMethod = "inversion",
        class_shares: Sequence[float] | Mapping[str, float] | None = None,
    ) -> None:
        self.target = target
        self.method = method
        self.class_shares = class_shares

    def _learn(self, reports: ReportSource | Sequence[ReportSource], target: str) -> Self:
        origins, self.schema_ = ordered_sources(reports)
        self.n_reports_ = sum(source.engine.n_rows for source in origins)
        self.target_ = checked_target(self.schema_, target)
        class_shares = checked_class_shares(self.class_shares, self.target_)
        if self.method not in BAYES_METHODS:
            raise UnknownName("Method", str(self.method), BAYES_METHODS)
        tables = ClassTables.of(origins, self.schema_, target)
        self.method_: BayesMethod = "inversion"
        self.reason_ = {
            "auto": "the reports tell enough without a model",
            "inversion": "the method taken unless another is asked for",
            "joint": "as asked",
        }[self.method]
        # Where models are being compared, one of whole records is among them anyway.
        may_model = self.method == "auto" and not isinstance(reports, LoadedReports) and pairs_may_pay(origins, tables)
        is_likelier = may_model and self._model_is_likelier(reports, target)
        if may_model:
            self.reason_ = (
                f"a model of whole records made held-out reports {'likelier' if is_likelier else 'no likelier'}"
            )
        if self.method == "joint" or is_likelier:
            tables = modelled_pairs(joint_model(reports), target, tables)
            self.method_ = "joint"
        self.class_errors_ = tables.classes.errors
        self.class_shares_ = _proper(tables.classes) if class_shares is None else class_shares
        self.likelihoods_ = tuple(
            Likelihoods(self.schema_[name], _proper(table), table) for name, table in tables.asked_tables()
        )
        self.left_out_ = tables.left_out
        if not self.likelihoods_:
            raise NotEstimable(
                f"No attribute is ever asked together with the class {target!r}, so nothing can be learned."
            )
        return self

    def _model_is_likelier(self, reports: ReportSource | Sequence[ReportSource], target: str) -> bool:
        """Whether tables of a model of whole records make held-out reports likelier than estimated ones do."""
        try:
            learning, testing = next(folds(loaded_reports(reports), PARTS, 0))
            estimated = ClassTables.of(learning.sources(), self.schema_, target)
            both = [estimated, modelled_pairs(learning.joint, target, estimated)]
            models = [_whole_records(self.schema_, target, each) for each in both]
            logs = bayes_logs(models, self.schema_, testing.sources())
        except TacitError:  # the model cannot be had: a group too large to be weighed, too few reports to divide
            return False
        return logs[1] > logs[0]

    @property
    def learned_from_(self) -> str:
        """Which estimate the shares were learned from, and why."""
        return learned_from(self.method_, self.n_reports_, self.reason_)

    @property
    def needed_names_(self) -> tuple[str, ...]:
        """Names of the attributes that are asked together with the class."""
        return tuple(likelihoods.attribute.name for likelihoods in self.likelihoods_)

    def _predict_table(self, table: Table) -> tuple[NDArray[np.int64], Array]:
        scores = np.tile(np.log(np.maximum(self.class_shares_, np.finfo(np.float64).tiny)), (table.n_rows, 1))
        for likelihoods in self.likelihoods_:
            scores += np.log(likelihoods.shares)[table[likelihoods.attribute.name]]
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        return scores.argmax(axis=1), shares

    def to_document(self) -> dict[str, Any]:
        """The shares for JSON: of the classes, and of every answer within each class."""
        check_is_fitted(self)
        classes = self.target_.answers
        return {
            "class_shares": dict(zip(classes, self.class_shares_.tolist(), strict=True)),
            "class_errors": dict(zip(classes, self.class_errors_.tolist(), strict=True)),
            "answer_shares": {
                table.attribute.name: {
                    answer: dict(zip(classes, shares.tolist(), strict=True))
                    for answer, shares in zip(table.attribute.answers, table.shares, strict=True)
                }
                for table in self.likelihoods_
            },
            "left_out": list(self.left_out_),
        }

    def to_text(self) -> str:
        """The shares of the classes, and of every answer within each class."""
        check_is_fitted(self)
        width = max(
            len(f"{table.attribute.name} = {a}") for table in self.likelihoods_ for a in table.attribute.answers
        )
        lines = [" " * width + "".join(f"  {answer:>12}" for answer in self.target_.answers)]
        lines.append(f"{self.target_.name:{width}}" + "".join(f"  {share:12.4f}" for share in self.class_shares_))
        for table in self.likelihoods_:
            for answer, shares in zip(table.attribute.answers, table.shares, strict=True):
                name = f"{table.attribute.name} = {answer}"
                lines.append(f"{name:{width}}" + "".join(f"  {share:12.4f}" for share in shares))
        return "\n".join(lines)


def _whole_records(schema: Schema, target: str, tables: ClassTables) -> LatentClasses:
    """The distribution of whole records that the classifier assumes; what is never asked with the class is even."""
    weights, factors = _proper(tables.classes), []
    for attribute in schema:
        table = None if attribute.name == target else tables.by_name[attribute.name]
        even = np.full((len(weights), attribute.size), 1 / attribute.size)
        factors.append(
            np.eye(len(weights)) if attribute.name == target else even if table is None else _proper(table).T
        )
    return LatentClasses(weights, tuple(factors))


def _proper(table: ClassTable) -> Array:
    """Estimates floored at one standard error and half a person, made to sum to one along the first axis."""
    raised = np.maximum(table.shares, np.maximum(table.floors, 0.5 / table.n_reports))
    return raised / raised.sum(axis=0)
