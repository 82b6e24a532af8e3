"""Naive Bayes from disguised reports (Zhan and Matwin's electronic surveys), for any channel of the scheme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tacit.channel.base import Array
from tacit.count.sources import ReportSource
from tacit.errors import NotEstimable
from tacit.mine.classifier import ReportClassifier, checked_class_shares, checked_target
from tacit.mine.count_sources import PairTable, ordered_sources, pair_tables
from tacit.schema import Attribute
from tacit.table import Table


@dataclass(frozen=True, eq=False)
class Likelihoods:
    """For one attribute the share of each answer within each class, ``[answer, class]``: proper and above zero."""

    attribute: Attribute
    shares: Array
    estimated: PairTable


class NaiveBayesClassifier(ReportClassifier):
    """Bayes' rule with answers taken as independent within a class; every table is estimated from the reports.

    Estimates below one standard error of the disguise are raised to it, and so are counts below half a person; then
    each class is renormalised. After fitting: `class_shares_` with `class_errors_`, `likelihoods_` for each attribute,
    and `left_out_`, the attributes that no report asks for together with the class.

    Parameters
    ----------
    target:
        Name of the class among the attributes of the reports.
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
        class_shares: Sequence[float] | Mapping[str, float] | None = None,
    ) -> None:
        self.target = target
        self.class_shares = class_shares

    def _learn(self, reports: ReportSource | Sequence[ReportSource], target: str) -> Self:
        found, self.schema_ = ordered_sources(reports)
        self.n_reports_ = sum(source.engine.n_rows for source in found)
        self.target_ = checked_target(self.schema_, target)
        known = checked_class_shares(self.class_shares, self.target_)
        classes, tables = pair_tables(found, self.schema_, target)
        self.class_errors_ = classes.errors
        self.class_shares_ = _proper(classes) if known is None else known
        self.likelihoods_ = tuple(
            Likelihoods(self.schema_[name], _proper(table), table)
            for name, table in tables.items()
            if table is not None
        )
        self.left_out_ = tuple(name for name, table in tables.items() if table is None)
        if not self.likelihoods_:
            raise NotEstimable(
                f"No attribute is ever asked together with the class {target!r}, so nothing can be learned."
            )
        return self

    @property
    def majority_share_(self) -> float:
        """The estimated share of the most frequent class: what answering blindly gets right."""
        return float(self.class_shares_.max())

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


def _proper(table: PairTable) -> Array:
    """Estimates floored at one standard error and half a person, made to sum to one along the first axis."""
    raised = np.maximum(table.shares, np.maximum(table.floors, 0.5 / table.n_reports))
    return raised / raised.sum(axis=0)
