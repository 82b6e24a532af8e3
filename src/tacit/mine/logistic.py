"""Logistic classifiers from disguised reports.

The score equations of a multinomial logit ask for two things: how often each answer goes with each class, and how
covariates are distributed. The first are tables of two attributes, estimated without bias by undoing the disguise; the
second is counted where covariates are public and taken from the joint model where they are not. So nothing but counts
is asked for, and the solution is unique: noise in a table shrinks its coefficients in proportion to its variance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.utils.validation import check_is_fitted

from tacit.channel.base import Array
from tacit.channel.codes import grid
from tacit.count.abilities import distinct_rows
from tacit.count.protocol import Source
from tacit.count.sources import ReportSource
from tacit.errors import InvalidInput, NotEstimable
from tacit.estimation.subgroups import ClassTable, ClassTables
from tacit.mine.classifier import ReportClassifier, checked_class_shares, checked_target
from tacit.mine.count_sources import ordered_sources
from tacit.mine.division import joint_model
from tacit.schema import Schema
from tacit.table import Table

# Records over which covariates are summed exactly; of more possible ones so many are drawn from the joint model.
MOST_RECORDS = 1 << 15
MOST_STEPS, ARRIVED = 300, 1e-6
# A constant that is common to all classes changes nothing; so small a penalty keeps it at 0.
UNMOVED = 1e-6


@dataclass(frozen=True, eq=False)
class Covariates:
    """How whole records of the covariates are distributed: one column of codes for each, and weights that sum to 1."""

    schema: Schema
    codes: tuple[NDArray[np.int64], ...]
    weights: Array

    @cached_property
    def indicators(self) -> Array:
        """``[record, answer]``: one column for each answer of each covariate, and a first one of ones."""
        columns = [np.eye(size)[code] for size, code in zip(self.schema.shape(), self.codes, strict=True)]
        return np.concatenate([np.ones((len(self.weights), 1)), *columns], axis=1)


class LogisticClassifier(ReportClassifier):
    """A multinomial logit of the class on all other answers, fitted to disguised reports.

    After fitting: `intercepts_` for each class and `coefficients_`, for each attribute a table ``[answer, class]``;
    `left_out_` lists attributes that no report asks for together with the class.

    Parameters
    ----------
    target : str
        Name of the class among the attributes of the reports.
    shrinkage : float
        How much the variance of an estimated table shrinks its coefficients: 0 not at all, as maximum likelihood on
        undisguised data; 1 as much as its noise warrants.
    class_shares : sequence or mapping, optional
        The distribution of the classes where it is known, as a list in the order of the answers or by answer.

    Examples
    --------
    >>> import tacit
    >>> from tacit.bundled import binary_votes
    >>> scheme = tacit.Scheme.of(binary_votes().schema, [(binary_votes().schema.names, tacit.channels.flip(0.9))])
    >>> model = tacit.LogisticClassifier(target="Class").fit(tacit.disguise(binary_votes(), scheme, seed=1))
    >>> model.score(binary_votes()) > 0.85
    True
    """

    def __init__(
        self,
        target: str | None = None,
        *,
        shrinkage: float = 1.0,
        class_shares: Sequence[float] | Mapping[str, float] | None = None,
    ) -> None:
        self.target = target
        self.shrinkage = shrinkage
        self.class_shares = class_shares

    def _learn(self, reports: ReportSource | Sequence[ReportSource], target: str) -> Self:
        if not (isinstance(self.shrinkage, int | float) and 0 <= self.shrinkage < math.inf):
            raise InvalidInput(f"shrinkage is a number of at least 0, not {self.shrinkage!r}.")
        origins, self.schema_ = ordered_sources(reports)
        self.n_reports_ = sum(source.engine.n_rows for source in origins)
        self.target_ = checked_target(self.schema_, target)
        class_shares = checked_class_shares(self.class_shares, self.target_)
        tables = ClassTables.of(origins, self.schema_, target)
        self.left_out_, asked = tables.left_out, dict(tables.asked_tables())
        if not asked:
            raise NotEstimable(
                f"No attribute is ever asked together with the class {target!r}, so nothing can be learned."
            )
        self.class_shares_ = _positive(tables.classes.shares) if class_shares is None else class_shares
        covariates = _covariates(reports, origins, self.schema_.select(asked))
        self.intercepts_, solved, self.converged_ = _solve_coefficients(
            covariates, self.class_shares_, list(asked.values()), float(self.shrinkage)
        )
        self.coefficients_ = dict(zip(asked, solved, strict=True))
        return self

    @property
    def needed_names_(self) -> tuple[str, ...]:
        """Names of the attributes that are asked together with the class."""
        return tuple(self.coefficients_)

    def _predict_table(self, table: Table) -> tuple[NDArray[np.int64], Array]:
        scores = np.tile(self.intercepts_, (table.n_rows, 1))
        for name, coefficients in self.coefficients_.items():
            scores += coefficients[table[name]]
        return scores.argmax(axis=1), _chances(scores)[0]

    def to_document(self) -> dict[str, Any]:
        """The scores for JSON: of the classes, and of every answer for each class."""
        check_is_fitted(self)
        classes = self.target_.answers
        return {
            "intercepts": dict(zip(classes, self.intercepts_.tolist(), strict=True)),
            "coefficients": {
                name: {
                    answer: dict(zip(classes, scores.tolist(), strict=True))
                    for answer, scores in zip(self.schema_[name].answers, table, strict=True)
                }
                for name, table in self.coefficients_.items()
            },
            "converged": self.converged_,
            "left_out": list(self.left_out_),
        }

    def to_text(self) -> str:
        """The scores of the classes, and of every answer for each class."""
        check_is_fitted(self)
        rows = [("(all)", self.intercepts_)]
        for name, table in self.coefficients_.items():
            rows.extend((f"{name} = {a}", scores) for a, scores in zip(self.schema_[name].answers, table, strict=True))
        width = max(len(label) for label, _ in rows)
        lines = [" " * width + "".join(f"  {answer:>12}" for answer in self.target_.answers)]
        lines.extend(f"{label:{width}}" + "".join(f"  {score:12.4f}" for score in scores) for label, scores in rows)
        return "\n".join(lines)


def _covariates(
    reports: ReportSource | Sequence[ReportSource], origins: Sequence[Source], schema: Schema
) -> Covariates:
    """Counted where all are public, else from the joint model: every possible record, or as many draws."""
    public = all(schema.names == tuple(n for n in schema.names if _is_public(source, n)) for source in origins)
    if public:
        parts = [distinct_rows(source.engine, schema.names) for source in origins]
        table, counts = Table.concatenate([rows for rows, _ in parts]), np.concatenate([c for _, c in parts])
        return _code_covariates(schema, table, counts / counts.sum())
    joint = joint_model(reports)
    if math.prod(float(size) for size in schema.shape()) <= MOST_RECORDS:
        places = [joint.schema.names.index(name) for name in schema.names]
        weights = joint.model.marginal(places).reshape(-1)
        return Covariates(schema, tuple(code.astype(np.int64) for code in grid(schema.shape())), weights)
    drawn = joint.sample(MOST_RECORDS, seed=0).table
    return _code_covariates(schema, drawn, np.full(MOST_RECORDS, 1 / MOST_RECORDS))


def _is_public(source: Source, name: str) -> bool:
    return any(attribute.name == name for attribute in source.questionnaire.public)


def _code_covariates(schema: Schema, table: Table, weights: Array) -> Covariates:
    return Covariates(schema, tuple(table[name].astype(np.int64) for name in schema.names), weights)


def _solve_coefficients(
    covariates: Covariates, classes: Array, tables: Sequence[ClassTable], shrinkage: float
) -> tuple[Array, list[Array], bool]:
    """Intercepts and coefficients at which the model's tables are the estimated ones, up to the shrinkage."""
    wanted = np.concatenate([classes[None, :], *(_within(table.shares, classes) for table in tables)])
    variances = np.concatenate([np.zeros((1, len(classes))), *(table.errors**2 for table in tables)])
    penalties = shrinkage * variances + UNMOVED

    def objective(flat: Array) -> tuple[float, Array]:
        coefficients = flat.reshape(wanted.shape)
        chances, logs = _chances(covariates.indicators @ coefficients)
        value = covariates.weights @ logs + (0.5 * penalties * coefficients**2 - wanted * coefficients).sum()
        modelled = covariates.indicators.T @ (chances * covariates.weights[:, None])
        return float(value), (modelled - wanted + penalties * coefficients).reshape(-1)

    start = np.zeros(wanted.shape)
    start[0] = np.log(np.maximum(classes, 1e-6))
    settings = {"maxiter": MOST_STEPS, "gtol": ARRIVED}
    solution = minimize(objective, start.reshape(-1), jac=True, method="L-BFGS-B", options=settings)
    fitted = solution.x.reshape(wanted.shape)
    cuts = np.cumsum([1, *(len(table.shares) for table in tables)])
    return fitted[0], np.split(fitted[1:], cuts[1:-1] - 1), bool(solution.success)


def _chances(scores: Array) -> tuple[Array, Array]:
    """The chance of each class, and the logarithm of the sum of exponentials."""
    most = scores.max(axis=1, keepdims=True)
    raised = np.exp(scores - most)
    sums = raised.sum(axis=1, keepdims=True)
    return raised / sums, (np.log(sums) + most)[:, 0]


def _within(shares: Array, classes: Array) -> Array:
    """The table of an answer and the class, within bounds and with the stated shares of the classes."""
    proper = np.maximum(shares, 0)
    totals = proper.sum(axis=0)
    even = np.full(len(shares), 1 / len(shares))[:, None]
    within: Array = np.where(totals > 0, proper / np.where(totals > 0, totals, 1), even)
    return within * classes


def _positive(shares: Array) -> Array:
    proper = np.maximum(shares, 0)
    return proper / proper.sum()
