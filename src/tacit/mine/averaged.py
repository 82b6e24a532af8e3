"""Several classifiers that are asked together: their class shares, averaged by weights.

Where disguised tests cannot tell which of several models is best, whoever takes one takes a chance; models of different kinds
err on different people, and their average is wrong less often than most of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from tacit.channel.base import Array
from tacit.count.sources import ReportSource
from tacit.errors import InvalidInput, NotEstimable, TacitError
from tacit.mine.classifier import ReportClassifier
from tacit.mine.division import loaded_reports
from tacit.table import Table


class AveragedClassifier(ReportClassifier):
    """Predicts the class with the largest weighted mean of the members' shares.

    Parameters
    ----------
    target : str
        Name of the class among the attributes of the reports.
    members : mapping from names to classifiers
        Who is asked. Those that cannot be estimated from the reports are left out.
    weights : mapping from names to numbers, optional
        How much each one's word counts; without them all alike.
    """

    def __init__(
        self,
        target: str | None = None,
        *,
        members: Mapping[str, ReportClassifier] | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        self.target = target
        self.members = members
        self.weights = weights

    @classmethod
    def of(cls, fitted: Mapping[str, ReportClassifier], weights: Mapping[str, float]) -> Self:
        """The average of members that were fitted already."""
        first = next(iter(fitted.values()))
        return cls(first.target, members=dict(fitted), weights=dict(weights))._with(fitted)

    def _learn(self, reports: ReportSource | Sequence[ReportSource], target: str) -> Self:
        if not self.members:
            raise InvalidInput("An average needs at least one classifier: members={'tree': TreeClassifier(...), ...}.")
        loaded = loaded_reports(reports)  # so that a model of whole records is fitted once for all
        fitted: dict[str, ReportClassifier] = {}
        problem = ""
        for name, member in self.members.items():
            try:
                fitted[name] = clone(member).set_params(target=target).fit(loaded)
            except TacitError as error:
                problem = f"{name}: {error}"
        if not fitted:
            raise NotEstimable(f"No member of the average can be estimated from these reports. {problem}")
        return self._with(fitted)

    def _with(self, fitted: Mapping[str, ReportClassifier]) -> Self:
        first = next(iter(fitted.values()))
        self.members_ = dict(fitted)
        self.schema_, self.target_, self.n_reports_ = first.schema_, first.target_, first.n_reports_
        self.classes_, self.fitted_on_, self._coding = first.classes_, first.fitted_on_, None
        asked = self.weights or dict.fromkeys(fitted, 1.0)
        total = sum(asked[name] for name in fitted)
        if not total > 0:
            raise InvalidInput("The weights of an average must not be below 0, and one at least must be above it.")
        self.weights_ = {name: asked[name] / total for name in fitted}
        return self

    def _predict_table(self, table: Table) -> tuple[NDArray[np.int64], Array]:
        shares = np.zeros((table.n_rows, self.target_.size))
        for name, member in self.members_.items():
            shares += self.weights_[name] * member._predict_table(table)[1]
        return shares.argmax(axis=1), shares

    @property
    def majority_share_(self) -> float:
        """The share of the most frequent class, as the member that counts most has it."""
        return float(self.members_[max(self.weights_, key=lambda name: self.weights_[name])].majority_share_)

    def to_text(self) -> str:
        """Who is asked, and how much each one's word counts."""
        check_is_fitted(self)
        return "\n".join(f"{weight:.0%} {name}" for name, weight in self._by_weight())

    def to_document(self) -> dict[str, Any]:
        """The members with their weights, for JSON."""
        check_is_fitted(self)
        return {"average": [{"model": name, "weight": weight} for name, weight in self._by_weight()]}

    def _by_weight(self) -> list[tuple[str, float]]:
        return sorted(self.weights_.items(), key=lambda item: -item[1])
