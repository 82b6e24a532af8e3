"""Every candidate fitted without each part of the reports in turn, and what that part then says of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from tacit.channel.base import Array
from tacit.errors import NotEstimable, TacitError
from tacit.mine.accuracy import source_weight
from tacit.mine.candidates import common_target
from tacit.mine.classifier import ReportClassifier
from tacit.mine.division import LoadedReports, folds
from tacit.mine.predictions import predictor, right_weights
from tacit.mine.witnesses import Witness, witnesses


@dataclass(frozen=True, eq=False)
class PartWeights:
    """What the reports of one part add to the accuracy: an array for each source, and what the source is weighed by."""

    weights: tuple[Array, ...]
    shares: Array

    @property
    def rows(self) -> int:
        return sum(len(weights) for weights in self.weights)

    @property
    def mean(self) -> float:
        return float(
            sum(share * weights.mean() for share, weights in zip(self.shares, self.weights, strict=True) if share)
        )

    @property
    def error(self) -> float:
        variances = [
            share**2 * weights.var(ddof=1) / len(weights) if len(weights) > 1 else 1.0
            for share, weights in zip(self.shares, self.weights, strict=True)
            if share
        ]
        return math.sqrt(sum(variances))


@dataclass(frozen=True, eq=False)
class FoldTest:
    """What the models that were fitted without a part are held against: its reports, and witnesses."""

    testing: LoadedReports
    witnesses: list[Witness]

    def of(self, fitted: ReportClassifier) -> FoldResult:
        weights = _test_fold(fitted, self.testing)
        return FoldResult(fitted, weights, [witness.accuracy(fitted) for witness in self.witnesses])


@dataclass(frozen=True, eq=False)
class FoldResult:
    """A model that was fitted without a part: what the part says of its accuracy, and what the witnesses do."""

    fitted: ReportClassifier
    weights: PartWeights
    expected: list[float]


@dataclass(frozen=True, eq=False)
class Trial:
    """A candidate, fitted without each part in turn."""

    name: str
    results: tuple[FoldResult, ...] = ()
    problem: str | None = None

    @property
    def parts(self) -> tuple[PartWeights, ...]:
        return tuple(result.weights for result in self.results)

    @property
    def expected_accuracy(self) -> float | None:
        """The mean accuracy that the witnesses expect of it; None without witnesses."""
        accuracies = [value for result in self.results for value in result.expected]
        return float(np.mean(accuracies)) if accuracies else None

    def without(self, fold: int) -> Trial:
        """The trial as if that part did not exist."""
        return Trial(self.name, (*self.results[:fold], *self.results[fold + 1 :]), self.problem)


def trials_of(
    candidates: Mapping[str, ReportClassifier], loaded: LoadedReports, number: int, seed: int, *, with_witnesses: bool
) -> tuple[list[Trial], list[FoldTest]]:
    """How every candidate did, and what it was held against."""
    problems: dict[str, str] = {}
    results: dict[str, list[FoldResult]] = {name: [] for name in candidates}
    target = common_target(candidates.values())
    tests = []
    for learning, testing in folds(loaded, number, seed):
        tests.append(FoldTest(testing, witnesses(learning, testing, target) if with_witnesses else []))
        for name, candidate in candidates.items():
            if name in problems:
                continue
            try:
                results[name].append(tests[-1].of(clone(candidate).fit(learning)))
            except TacitError as problem:
                problems[name] = str(problem)
    trials = [
        Trial(name, problem=problems[name]) if name in problems else Trial(name, tuple(results[name]))
        for name in candidates
    ]
    return trials, tests


def _test_fold(fitted: ReportClassifier, testing: LoadedReports) -> PartWeights:
    asked = predictor(fitted, fitted.schema_, None, None)
    names = {*asked.inputs.names, asked.target.name}
    weights, shares = [], []
    for source in testing.parts:
        asks = names <= set(source.questionnaire.attributes)
        weights.append(right_weights(source, asked) if asks else np.zeros(source.engine.n_rows))
        shares.append(source_weight(source, asked) if asks else 0.0)
    if not sum(shares):
        raise NotEstimable(
            f"{', '.join(sorted(names))} are never asked together, so whether a prediction is right cannot be estimated."
        )
    return PartWeights(tuple(weights), np.array(shares) / sum(shares))


def compare_trials(trials: Sequence[Trial]) -> tuple[Array, Array]:
    """The accuracies over all parts, and the covariance of their errors."""
    mean, covariance = np.zeros(len(trials)), np.zeros((len(trials), len(trials)))
    n_parts = len(trials[0].parts)
    sizes = np.array([trials[0].parts[fold].rows for fold in range(n_parts)], dtype=np.float64)
    for fold, size in enumerate(sizes / sizes.sum()):
        results = [trial.parts[fold] for trial in trials]
        for source in range(len(results[0].weights)):
            shares = size * np.array([tested.shares[source] for tested in results])
            values = np.stack([tested.weights[source] for tested in results])
            mean += shares * values.mean(axis=1)
            spread = np.atleast_2d(np.cov(values)) if values.shape[1] > 1 else np.eye(len(results))
            covariance += np.outer(shares, shares) * spread / values.shape[1]
    return mean, covariance
