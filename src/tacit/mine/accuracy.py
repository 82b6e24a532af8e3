"""How good a classifier is, from test reports that are themselves disguised.

Accuracy is the share of people for whom the prediction equals the class, and estimated like any other share: the
indicator of that event is mapped back through each group's inverse to weights of reports, whose mean is the accuracy and
whose spread its error (Zhan and Du for flips; the same estimator for the other channels).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.channel.base import Array
from tacit.count.protocol import Source
from tacit.count.sources import ReportSource, sources, true_schema
from tacit.display import Told, decimals, fixed_decimals, with_error
from tacit.errors import InvalidInput, NotEstimable, UnknownName
from tacit.estimation import estimate
from tacit.estimation.group_parts import parts_for
from tacit.estimation.intervals import share_interval
from tacit.estimation.mean import Wanted
from tacit.estimation.record_weights import RowContributions, row_contributions
from tacit.estimation.result import ErrorRule, Sampling
from tacit.estimation.sampled_sources import is_weighted, table_mean
from tacit.mine.predictions import Confusion, Predictor, predictor

# With a larger standard error than this an accuracy says nothing.
LARGEST_ERROR = 0.25


@dataclass(frozen=True, eq=False, repr=False)
class AccuracyEstimate(Told):
    """The estimated accuracy of a classifier, with its error.

    `confusion` holds unbiased estimates of the shares of people by ``[true class, predicted class]``; single entries may
    fall below 0. `accuracy` is the sum of its diagonal. `method` says how it was computed.
    """

    classes: tuple[str, ...]
    accuracy: float
    standard_error: float
    confusion: Array
    confusion_errors: Array
    balanced_accuracy: float
    balanced_error: float
    n_reports: int
    sampling: Sampling
    method: str
    error_rule: ErrorRule = "counted"

    @property
    def is_known(self) -> bool:
        """Whether the error is small enough for the accuracy to mean anything."""
        return self.standard_error <= LARGEST_ERROR

    @property
    def estimate(self) -> float | None:
        """The accuracy, or None where its standard error exceeds a quarter."""
        return self.accuracy if self.is_known else None

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Ends within [0, 1] that hold the true accuracy with the chance `level`."""
        return share_interval(self.accuracy, self.standard_error, self.n_reports, level)

    def to_document(self) -> dict[str, Any]:
        """What is known, for JSON; `warnings` says what is not."""
        balanced_known = self.balanced_error <= LARGEST_ERROR
        low, high = self.interval()
        return {
            "estimate": self.estimate,
            "standard_error": self.standard_error,
            "error_rule": self.error_rule,
            "low": low,
            "high": high,
            "balanced": self.balanced_accuracy if balanced_known else None,
            "balanced_error": self.balanced_error,
            "classes": list(self.classes),
            "confusion": self.confusion,
            "confusion_errors": self.confusion_errors,
            "n_reports": self.n_reports,
            "warnings": [] if self.is_known else [str(self)],
        }

    def __str__(self) -> str:
        if self.is_known:
            low, high = self.interval()
            places = decimals([self.standard_error])
            return (
                f"{with_error(self.accuracy, self.standard_error)} ({self.n_reports:,} disguised reports; ± one standard "
                f"error; 95% interval {fixed_decimals(low, places)} to {fixed_decimals(high, places)})"
            )
        return (
            f"unknown: its standard error would be {self.standard_error:.2g}, more than {LARGEST_ERROR:g}. These "
            f"{self.n_reports:,} reports are too few for their disguise, or the classifier looks at too many disguised "
            "groups at once. Use more test reports, or a classifier that needs fewer attributes."
        )


def disguised_accuracy(
    classifier: Any,
    reports: ReportSource | Sequence[ReportSource],
    *,
    target: str | None = None,
    attributes: Sequence[str] | None = None,
    sampling: Sampling = "population",
    draws: int = 8,
    seed: int = 0,
) -> AccuracyEstimate:
    """The accuracy of a classifier on people of whom only disguised reports are known.

    The classifier may be one of ours, any object whose `predict` takes an array of answers (a data frame, if it was
    fitted on one), or a function that takes a `Table` of true records; the last two return predicted answers and need
    `target`, the name of the class, and `attributes`, their inputs, where these are not all others in their order.

    Where all possible records can be gone through, nothing is left to further chance. Otherwise every report is turned
    back into truths with signed weights: exactly for flips, with `draws` draws from a generator seeded by `seed` for other
    channels. Either way the estimate is unbiased and its standard error tells of all chance there is.

    Parameters
    ----------
    classifier : object or function
        What predicts.
    reports : Reports, stored reports or a sequence of these
        Disguised test reports.
    target : str, optional
        Name of the class, where the classifier does not know it.
    attributes : sequence of str, optional
        Its inputs, in their order.
    sampling : {"population", "respondents"}
        What the error is for: a population, or just the people who answered.
    draws, seed : int
        Draws per report, and their seed, where not all records can be gone through.

    Returns
    -------
    AccuracyEstimate

    Raises
    ------
    InvalidInput
        Where the reports do not hold what the classifier needs.

    Examples
    --------
    >>> import tacit
    >>> from tacit.bundled import binary_votes
    >>> truth = binary_votes()
    >>> scheme = tacit.Scheme.of(truth.schema, [(truth.schema.names, tacit.channels.flip(0.8))])
    >>> tree = tacit.TreeClassifier(target="Class").fit(tacit.Reports.from_truth(truth))
    >>> found = tacit.disguised_accuracy(tree, tacit.disguise(truth, scheme, seed=1))
    >>> abs(found.accuracy - tree.score(truth)) < 5 * found.standard_error
    True
    """
    if sampling not in ("population", "respondents"):
        raise UnknownName("Sampling", str(sampling), ("population", "respondents"))
    if not (isinstance(draws, int) and draws >= 1):
        raise InvalidInput(f"`draws` must be a whole number of at least 1, not {draws!r}.")
    origins = sources(reports)
    asked = predictor(classifier, true_schema(origins), target, attributes)
    asking = _asking_all(origins, asked)
    if is_weighted(asking):
        return _weighted_accuracy(asking, Confusion(asked), sampling)
    by_source = [row_contributions(source, Confusion(asked), draws=draws, seed=seed) for source in asking]
    weights = np.array([source_weight(source, asked) if len(asking) > 1 else 1.0 for source in asking])
    return _pooled_accuracy(asked.target.answers, by_source, weights / weights.sum(), sampling)


def told_accuracy(
    reports: ReportSource | Sequence[ReportSource], attribute: str, right: str, *, sampling: Sampling = "population"
) -> AccuracyEstimate:
    """The accuracy as respondents report it themselves: each applies the classifier at home and reports right or wrong.

    `attribute` is that question and `right` its answer for a right prediction; it is disguised like any other.
    """
    share = estimate(reports, {attribute: right}, sampling=sampling)
    nothing = np.full((0, 0), np.nan)
    return AccuracyEstimate(
        (), share.probability, share.standard_error, nothing, nothing, math.nan, math.nan, share.n_reports, sampling, "told"
    )  # fmt: skip


def _asking_all(origins: Sequence[Source], asked: Predictor) -> list[Source]:
    names = {*asked.inputs.names, asked.target.name}
    asking = [source for source in origins if names <= set(source.questionnaire.attributes)]
    if not asking:
        raise NotEstimable(
            f"{', '.join(map(repr, [*asked.inputs.names, asked.target.name]))} are never asked together, so whether a "
            "prediction is right cannot be estimated. Test a classifier that needs fewer attributes."
        )
    empty = [source for source in asking if source.engine.n_rows == 0]
    if len(empty) == len(asking):
        raise InvalidInput("There are no test reports to estimate from.")
    return [source for source in asking if source.engine.n_rows]


def source_weight(source: Source, asked: Predictor) -> float:
    """What a source is weighed by: its reports over the spread of their weights, for a uniform truth."""
    spread = 1.0
    for group in parts_for(source.questionnaire, [*asked.inputs.names, asked.target.name]):
        uniform = np.full(group.channel.shape, 1 / math.prod(group.channel.shape))
        spread *= float(group.estimator.solve_squares(group.channel.apply(uniform)).sum())
    return source.engine.n_rows / spread


def _pooled_accuracy(
    classes: tuple[str, ...], by_source: Sequence[RowContributions], shares: Array, sampling: Sampling
) -> AccuracyEstimate:
    """The mean of the sources' accuracies, which are independent of each other."""
    mean = np.sum([share * rows.mean for share, rows in zip(shares, by_source, strict=True)], axis=0)
    spread = [share**2 * rows.covariance(sampling) for share, rows in zip(shares, by_source, strict=True)]
    n_reports = sum(rows.n_reports for rows in by_source)
    return _accuracy(classes, mean, np.sum(spread, axis=0), n_reports, sampling, by_source[0].method, "counted")


def _weighted_accuracy(asking: Sequence[Source], confusion: Confusion, sampling: Sampling) -> AccuracyEstimate:
    """From weighted tallies: the cells of the confusion are numbers that are wanted of one table."""
    if sampling != "population":
        raise InvalidInput("Weights are for the accuracy in a population: sampling 'population'.")
    inputs = true_schema(asking).shape(confusion.names)
    table = table_mean(asking, confusion.names, inputs)
    wanted = Wanted(confusion.names, confusion.table().reshape(-1, confusion.n_cells).T)
    classes, covariance = confusion.asked.target.answers, table.numbers_covariance(wanted)
    return _accuracy(classes, table.numbers(wanted), covariance, table.n_reports, sampling, "exact", table.rule)


def _accuracy(
    classes: tuple[str, ...],
    mean: Array,
    covariance: Array,
    rows: int,
    sampling: Sampling,
    method: str,
    rule: ErrorRule,
) -> AccuracyEstimate:
    size = (len(classes), len(classes))
    diagonal = np.eye(len(classes)).reshape(-1)
    balanced, gradient = _balanced_accuracy(mean.reshape(size))
    return AccuracyEstimate(
        classes,
        float(diagonal @ mean),
        _error(diagonal, covariance),
        mean.reshape(size),
        np.sqrt(np.maximum(np.diag(covariance), 0)).reshape(size),
        balanced,
        _error(gradient.reshape(-1), covariance),
        rows,
        sampling,
        method,
        rule,
    )


def _balanced_accuracy(confusion: Array) -> tuple[float, Array]:
    """The mean over classes of the share found of each, and its gradient in the cells; not a number without people."""
    people = confusion.sum(axis=1)
    if (people <= 0).any():
        return math.nan, np.full_like(confusion, np.nan)
    right = np.diag(confusion) / people
    gradient = (np.eye(len(people)) - right[:, None]) / people[:, None] / len(people)
    return float(right.mean()), gradient


def _error(direction: Array, covariance: Array) -> float:
    variance = float(direction @ covariance @ direction)
    return math.sqrt(max(variance, 0.0)) if not math.isnan(variance) else math.nan
