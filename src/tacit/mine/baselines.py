"""Classifiers to compare with: any of scikit-learn's, learned from reports as if they were true, and the majority.

Where the disguise blurs all classes alike, the likeliest class of a report is the likeliest of the truth, and a model
that ignores the disguise may be the best there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import CategoricalNB
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from tacit.channel.base import Array
from tacit.count.abilities import held_rows
from tacit.count.sources import ReportSource
from tacit.errors import NotEstimable
from tacit.estimation import estimate, project_on_simplex
from tacit.mine.classifier import ReportClassifier, checked_target
from tacit.mine.count_sources import ordered_sources
from tacit.mine.division import loaded_reports
from tacit.table import Table

DENSE_NUMBERS = 1 << 25  # held while a model is fitted or asked; beyond, only the ones are


class AsIfTrueClassifier(ReportClassifier):
    """A classifier of scikit-learn's, learned from reports as if they were true records.

    Parameters
    ----------
    target : str
        Name of the class among the attributes of the reports.
    estimator : object
        Any classifier with `fit` and `predict_proba`; without one, a tree whose leaves are as large as is best on the
        reports themselves. `CategoricalNB` is given codes, all others one column for each answer.
    """

    def __init__(self, target: str | None = None, *, estimator: Any = None) -> None:
        self.target = target
        self.estimator = estimator

    def _learn(self, reports: ReportSource | Sequence[ReportSource], target: str) -> Self:
        _, self.schema_ = ordered_sources(reports)
        self.target_ = checked_target(self.schema_, target)
        table = self._looking_true(reports)
        self.n_reports_ = table.n_rows
        self.class_shares_ = class_shares(reports, target)
        self.estimator_ = clone(best_leaves() if self.estimator is None else self.estimator)
        if isinstance(self.estimator_, CategoricalNB):
            self.estimator_.set_params(min_categories=[attribute.size for attribute in self.inputs_])
        self.estimator_.fit(self._estimator_inputs(table), table[target].astype(np.int64))
        return self

    def _looking_true(self, reports: ReportSource | Sequence[ReportSource]) -> Table:
        """All reports in one table; refused where they do not look like records."""
        tables = []
        for source in loaded_reports(reports).parts:
            rows = held_rows(source.engine)
            answers_of = {} if rows is None else {a.name: a.answers for a in rows.schema if a.shows == "one"}
            for attribute in self.schema_:
                if answers_of.get(attribute.name) != attribute.answers:
                    raise NotEstimable(f"The reports do not show an answer to {attribute.name!r}, true or not.")
            assert rows is not None
            tables.append(rows.select(self.schema_.names))
        return Table.concatenate([Table(self.schema_, table.columns) for table in tables])

    def _estimator_inputs(self, table: Table) -> Any:
        codes = np.stack([table[name] for name in self.inputs_.names], axis=1).astype(np.int64)
        if isinstance(self.estimator_, CategoricalNB):
            return codes
        sizes = self.inputs_.shape()
        if table.n_rows * sum(sizes) <= DENSE_NUMBERS:  # trees take several times as long to grow on sparse columns
            columns = np.zeros((table.n_rows, sum(sizes)), dtype=np.float32)
            columns[np.arange(table.n_rows)[:, None], codes + np.cumsum([0, *sizes[:-1]])] = 1.0
            return columns
        categories = [np.arange(size) for size in sizes]
        return OneHotEncoder(categories=categories, dtype=np.float32).fit(codes[:1]).transform(codes)

    def _predict_table(self, table: Table) -> tuple[NDArray[np.int64], Array]:
        shares = np.zeros((table.n_rows, self.target_.size))
        shares[:, self.estimator_.classes_] = self.estimator_.predict_proba(self._estimator_inputs(table))
        return shares.argmax(axis=1), shares

    def to_text(self) -> str:
        """What was learned from what."""
        check_is_fitted(self)
        return f"{_estimator_name(self.estimator_)}, learned from {self.n_reports_:,} reports as if they were true."

    def to_document(self) -> dict[str, Any]:
        """What was fitted, for JSON."""
        check_is_fitted(self)
        return {"as_if_true": _estimator_name(self.estimator_), "n_reports": self.n_reports_}


class MajorityClassifier(ReportClassifier):
    """Always answers the class that is estimated to be the most frequent.

    Parameters
    ----------
    target : str
        Name of the class among the attributes of the reports.
    """

    def __init__(self, target: str | None = None) -> None:
        self.target = target

    def _learn(self, reports: ReportSource | Sequence[ReportSource], target: str) -> Self:
        origins, self.schema_ = ordered_sources(reports)
        self.n_reports_ = sum(source.engine.n_rows for source in origins)
        self.target_ = checked_target(self.schema_, target)
        self.class_shares_ = class_shares(reports, target)
        return self

    def _predict_table(self, table: Table) -> tuple[NDArray[np.int64], Array]:
        return np.full(table.n_rows, self.constant_code_), np.tile(self.class_shares_, (table.n_rows, 1))

    @property
    def constant_code_(self) -> int:
        """The code of the class that is always predicted."""
        return int(self.class_shares_.argmax())

    @property
    def needed_names_(self) -> tuple[str, ...]:
        """Nothing needs to be known."""
        return ()

    def to_text(self) -> str:
        """What is always answered."""
        check_is_fitted(self)
        return f"Always {self.target_.answers[self.constant_code_]}."

    def to_document(self) -> dict[str, Any]:
        """What is always answered, for JSON."""
        check_is_fitted(self)
        return {"always": self.target_.answers[self.constant_code_]}


def class_shares(reports: ReportSource | Sequence[ReportSource], target: str) -> Array:
    """The estimated distribution of the classes, nothing below 0."""
    return project_on_simplex(estimate(reports, [target]).probabilities)


def plain_tree(smallest_leaf: int = 5) -> DecisionTreeClassifier:
    """scikit-learn's tree, repeatable."""
    return DecisionTreeClassifier(min_samples_leaf=smallest_leaf, random_state=0)


def best_leaves() -> GridSearchCV:
    """A tree whose smallest leaf is chosen on the data it is given: what is noise there makes small leaves worse."""
    return GridSearchCV(plain_tree(), {"min_samples_leaf": [1, 3, 10, 30, 100]}, cv=3)


def _estimator_name(estimator: Any) -> str:
    best = getattr(estimator, "best_estimator_", estimator)
    return str(type(best).__name__)
