"""What every classifier here has in common: reports or plain arrays in, predictions out, scikit-learn's conventions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from tacit.channel.base import Array
from tacit.count.sources import ReportSource, Stored
from tacit.errors import InvalidInput
from tacit.mine.plain_arrays import PlainCoding, plain_reports
from tacit.mine.predictions import checked_attributes
from tacit.reports import Reports
from tacit.schema import Attribute, Schema
from tacit.table import Table, as_arrow, encode


class ReportClassifier(ClassifierMixin, BaseEstimator):
    """A classifier that learns from disguised reports.

    ``fit(reports)`` learns `target` from reports and their scheme; ``fit(X, y)`` with plain arrays means undisguised
    data, and `fitted_on_` says so. After fitting: `classes_`, `schema_` (what is asked), `target_`, `n_reports_`.
    """

    target: str | None
    _coding: PlainCoding | None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from reports, or from plain arrays."""
        if y is None and is_reports(X):
            self.fitted_on_ = "reports"
            return self._fit_reports(X)
        # A Dataset or a data frame, nothing at all, or a list in which something else stands between the reports.
        if y is None and (X is None or hasattr(X, "__arrow_c_stream__") or _has_reports(X)):
            raise InvalidInput(
                f"fit learns from reports, not from {type(X).__name__}. Disguise the data first (tacit.disguise), or say that "
                "they are not disguised: fit(tacit.Reports.from_truth(data)), or fit(X, y) with plain arrays."
            )
        X, y = validate_data(self, X, y, dtype=None, ensure_min_samples=1)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise InvalidInput(f"The classifier can't train when only one class is present: {self.classes_[0]!r}.")
        self._coding, reports = plain_reports(X, y, self.classes_)
        self.fitted_on_ = "plain arrays, undisguised"
        return self._learn(reports, "y")

    def _fit_reports(self, reports: ReportSource | Sequence[ReportSource]) -> Self:
        if self.target is None:
            raise InvalidInput("Say which attribute is the class: target='...'.")
        self._coding = None
        self._learn(reports, self.target)
        self.classes_ = np.array(self.target_.answers)
        return self

    def _learn(self, reports: ReportSource | Sequence[ReportSource], target: str) -> Self:
        raise NotImplementedError

    def _predict_table(self, table: Table) -> tuple[NDArray[np.int64], Array]:
        """Class codes and class shares of true records."""
        raise NotImplementedError

    @property
    def inputs_(self) -> Schema:
        """The attributes a prediction needs."""
        return Schema(tuple(attribute for attribute in self.schema_ if attribute.name != self.target_.name))

    @property
    def majority_share_(self) -> float:
        """The estimated share of the most frequent class: what answering blindly gets right."""
        return float(self.class_shares_.max())

    @property
    def needed_names_(self) -> tuple[str, ...]:
        """Names of the attributes that predictions really depend on."""
        return self.inputs_.names

    def predicted_codes(self, table: Table) -> NDArray[np.int64]:
        """The codes of the predicted classes of true records, for whoever has them coded already."""
        return self._predict_table(table)[0]

    def _records(self, X: Any) -> Table:
        check_is_fitted(self)
        if self._coding is not None:
            return self._coding.table(validate_data(self, X, dtype=None, reset=False))
        if isinstance(X, Reports):
            raise InvalidInput(
                "Predictions are made for true records. How well the classifier does on disguised ones, "
                "tacit.disguised_accuracy estimates."
            )
        table = true_table(X)
        if table is not None:
            checked_attributes(table.schema, [self.schema_[name] for name in self.needed_names_])
            return table
        frame = as_arrow(X)
        asked = [name for name in self.inputs_.names if name in frame.column_names or name in self.needed_names_]
        return encode(frame, self.schema_.select(asked or self.inputs_.names), drop_others=True)

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of every record."""
        codes, _ = self._predict_table(self._records(X))
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> Array:
        """The share of every class among records like each one."""
        return self._predict_table(self._records(X))[1]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Share of right predictions on true records; without `y` the class is taken from the table.

        On reports it is the accuracy that `tacit.disguised_accuracy` estimates, so that scikit-learn's cross-validation
        and searches work on them; `tacit.cross_validate` gives its error too.
        """
        if y is None and is_reports(X):
            from tacit.mine.accuracy import disguised_accuracy

            return disguised_accuracy(self, X).accuracy
        check_is_fitted(self)
        if self._coding is not None:
            return float(super().score(X, y, sample_weight))
        # Codes are compared, so that True and 1.0 are the answers 'true' and '1'; and scikit-learn's score would first load all
        # of its metrics.
        is_right = self.predicted_codes(self._records(X)) == self._classes(X if y is None else {self.target_.name: y})
        return float(np.average(is_right, weights=sample_weight))

    def _classes(self, data: Any) -> NDArray[Any]:
        """The codes of the true classes in a table."""
        table = true_table(data)
        coded = encode(data, Schema((self.target_,)), drop_others=True) if table is None else table
        return coded[self.target_.name]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def true_table(data: Any) -> Table | None:
    """The coded table of whatever holds true records; None for anything else."""
    if isinstance(data, Table):
        return data
    table = getattr(data, "table", None)
    return table if isinstance(table, Table) and not isinstance(data, Reports) else None


def is_reports(X: Any) -> bool:
    """Whether this is something to be counted, not a plain array."""
    if isinstance(X, Reports | Stored):
        return True
    return isinstance(X, list | tuple) and bool(X) and all(isinstance(source, Reports | Stored) for source in X)


def _has_reports(X: Any) -> bool:
    return isinstance(X, list | tuple) and any(isinstance(source, Reports | Stored) for source in X)


def checked_target(schema: Schema, target: str) -> Attribute:
    attribute = schema[target]
    if len(schema) < 2:
        raise InvalidInput(f"There is nothing but the class {target!r} to learn from. Add attributes.")
    return attribute


def checked_class_shares(shares: Sequence[float] | Mapping[str, float] | None, target: Attribute) -> Array | None:
    """A known distribution of the classes, in the order of the answers."""
    if shares is None:
        return None
    if isinstance(shares, Mapping):
        missing = [answer for answer in target.answers if answer not in shares]
        for answer in shares:
            target.encode(answer)
        if missing:
            raise InvalidInput(f"The known class shares say nothing of {missing[0]!r}. Give one for each answer.")
        shares = [shares[answer] for answer in target.answers]
    values = np.asarray(shares, dtype=np.float64)
    if values.shape != (target.size,) or not np.isfinite(values).all() or (values < 0).any():
        raise InvalidInput(
            f"The known class shares must be {target.size} numbers from 0 to 1, one for each of "
            f"{', '.join(map(repr, target.answers))}, not {list(shares)}."
        )
    if abs(float(values.sum()) - 1) > 1e-6:
        raise InvalidInput(f"The known class shares sum to {values.sum():g}; they must sum to 1.")
    return values / values.sum()
