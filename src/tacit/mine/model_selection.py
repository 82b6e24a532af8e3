"""Choosing a model on disguised reports: cross-validation, and a choice that is not led by noise.

Every report is tested on once, by models that were fitted without it. The accuracy estimated from disguised tests is
unbiased, but its error may be larger than any difference between models. Two things help. Models are compared on the
same reports, so that much of the error cancels. And witnesses, models of whole records, say how often each candidate
should be right: steady, though only as right as their models are. The two are combined by their errors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special
from sklearn.base import clone

from tacit.channel.base import Array
from tacit.count.sources import ReportSource, true_schema
from tacit.errors import InvalidInput, NotEstimable, TacitError
from tacit.estimation import estimate
from tacit.estimation.comparison import independence
from tacit.mine.averaged import AveragedClassifier
from tacit.mine.baselines import MajorityClassifier
from tacit.mine.candidates import as_candidate, common_target, default_candidates, model_name
from tacit.mine.classifier import ReportClassifier
from tacit.mine.division import LoadedReports, loaded_reports
from tacit.mine.selection_result import CandidateScore, CrossValidation, FoldAccuracy, ModelChoice
from tacit.mine.trials import FoldTest, Trial, compare_trials, trials_of

FOLDS = 5
# Of so many reports two thirds teach a model almost what all do; of fewer, more parts leave it more to learn from.
MANY_REPORTS, FOLDS_OF_MANY = 2000, 3
# How far the witnesses' word on an accuracy is off, beside what it is off for all models alike. Chosen on other data
# than any result is reported on (docs/notes/classifiers-measured.md).
WITNESS_ERROR, COMMON_ERROR = 0.08, 0.3
# Chance that an answer or a model is taken to tell something of the class where none does.
FALSE_ALARM = 0.02
# The average: accuracy by which one that is behind counts 1/e as much, the least weight that is asked at all, and by how
# many errors a single model must lead it to be taken instead.
BEHIND, LEAST_WEIGHT, SURE = 0.05, 0.05, 2.5
AVERAGE = "average"
UNTOLD = "These reports do not tell for certain that any answer has to do with the class: the majority is answered."


def cross_validate(
    model: Any,
    reports: ReportSource | Sequence[ReportSource],
    *,
    target: str | None = None,
    folds: int = FOLDS,
    seed: int = 0,
) -> CrossValidation:
    """How often a model is right, from disguised reports alone: each part is tested on by a model fitted to the others.

    Parameters
    ----------
    model : classifier
        One of Tacit's, or one of scikit-learn's, which is then fitted to the reports as if they were true.
    reports : Reports, stored reports, a tally of whole reports, or a sequence of these
        What is learned from and tested on.
    target : str, optional
        Name of the class, where the model does not know it.
    folds : int
        Parts.
    seed : int
        Makes the division into parts repeatable.

    Returns
    -------
    CrossValidation
        The accuracy with its standard error, and those of every part.

    Raises
    ------
    InvalidInput
        If there are fewer reports than parts.
    NotEstimable
        If the model cannot be estimated from the reports, or its accuracy cannot.

    Examples
    --------
    >>> import tacit
    >>> from tacit.bundled import binary_votes
    >>> scheme = tacit.Scheme.of(binary_votes().schema, [(binary_votes().schema.names, tacit.channels.flip(0.9))])
    >>> reports = tacit.disguise(binary_votes(), scheme, seed=1)
    >>> found = tacit.cross_validate(tacit.NaiveBayesClassifier("Class"), reports)
    >>> abs(found.accuracy - 0.9) < 4 * found.standard_error
    True
    """
    candidate = as_candidate(model, target)
    loaded = _load_reports(reports, seed, common_target([candidate]))
    trials, _ = trials_of({model_name(candidate): candidate}, loaded, folds, seed, with_witnesses=False)
    (trial,) = trials
    if trial.problem is not None:
        raise NotEstimable(trial.problem)
    parts = tuple(
        FoldAccuracy(number, float(fold.mean), fold.error, fold.rows) for number, fold in enumerate(trial.parts, 1)
    )
    mean, covariance = compare_trials(trials)
    rows = sum(fold.n_reports for fold in parts)
    return CrossValidation(trial.name, float(mean[0]), math.sqrt(covariance[0, 0]), rows, parts)


def choose_model(
    models: Sequence[Any] | Mapping[str, Any] | None,
    reports: ReportSource | Sequence[ReportSource],
    *,
    target: str | None = None,
    folds: int | None = None,
    seed: int = 0,
) -> ModelChoice:
    """The model that is most often right, as far as disguised reports tell, fitted to all of them.

    Parameters
    ----------
    models : sequence of classifiers, mapping from names to classifiers, or None
        What to choose from; classifiers of scikit-learn's are fitted to the reports as if they were true. None means
        Tacit's tree, naive Bayes, logistic and joint-model classifiers, a tree grown on the joint model, trees and
        naive Bayes as if the reports were true, always answering the majority, and the average of all these, each
        counting the more the better it did.
    reports : Reports, stored reports, a tally of whole reports, or a sequence of these
        What is learned from and tested on.
    target : str, optional
        Name of the class, where the models do not know it.
    folds : int, optional
        Parts, each of which is tested on by models fitted to the others; 5, or 3 of 2,000 reports and more.
    seed : int
        Makes the division into parts repeatable.

    Returns
    -------
    ModelChoice
        The chosen model, and how every candidate did.

    Raises
    ------
    InvalidInput
        If there is nothing to choose from, or fewer reports than parts.
    NotEstimable
        If no candidate can be estimated from the reports.

    Examples
    --------
    >>> import tacit
    >>> from tacit.bundled import binary_votes
    >>> scheme = tacit.Scheme.of(binary_votes().schema, [(binary_votes().schema.names, tacit.channels.flip(0.9))])
    >>> reports = tacit.disguise(binary_votes(), scheme, seed=1)
    >>> candidates = [tacit.TreeClassifier("Class"), tacit.NaiveBayesClassifier("Class")]
    >>> choice = tacit.choose_model(candidates, reports)
    >>> choice.model.score(binary_votes()) > 0.85
    True
    """
    candidates = _candidates(models, target)
    loaded = _load_reports(reports, seed, common_target(candidates.values()))
    if folds is None:
        folds = usual_folds(loaded)
    trials, tests = trials_of(candidates, loaded, folds, seed, with_witnesses=True)
    tried = [trial for trial in trials if trial.problem is None]
    if not tried:
        raise NotEstimable(f"No model can be estimated from these reports. {trials[0].name}: {trials[0].problem}")
    verdict = judgement(tried, candidates, loaded)
    if models is None and not verdict.untold:
        tried, verdict, candidates = with_average(tried, verdict, candidates, tests)
    place, model = _refit_first([tried[place].name for place in verdict.order], candidates, loaded)
    best = verdict.order[place]
    scores = _score_candidates(tried, verdict, best)
    failed = [CandidateScore(trial.name, problem=trial.problem) for trial in trials if trial.problem is not None]
    ranked = sorted(scores, key=lambda score: (score.name != tried[best].name, -(score.judged or 0.0)))
    notes = (UNTOLD,) if verdict.untold else ()
    return ModelChoice(model, tried[best].name, (*ranked, *failed), loaded.n_reports, folds, notes)


def usual_folds(loaded: LoadedReports) -> int:
    """The number of parts where none is asked for."""
    return FOLDS if loaded.n_reports < MANY_REPORTS else FOLDS_OF_MANY


@dataclass(frozen=True, eq=False)
class Judgement:
    """What the trials say of the candidates: accuracies with the covariance of their errors, and the order they come in."""

    mean: Array
    covariance: Array
    judged: Array
    order: list[int]
    untold: bool  # whether the reports leave open that any answer has to do with the class


def judgement(tried: Sequence[Trial], candidates: Mapping[str, ReportClassifier], loaded: LoadedReports) -> Judgement:
    """The candidates, the best first; the majority before all where the reports do not tell anything for certain."""
    mean, covariance, judged = judged_accuracies(tried)
    order = [int(place) for place in np.argsort(-judged, kind="stable")]
    blind = [place for place, trial in enumerate(tried) if isinstance(candidates[trial.name], MajorityClassifier)]
    untold = bool(blind) and not is_told(loaded, common_target(candidates.values()), mean, covariance, blind[0])
    if untold:
        order = [blind[0], *(place for place in order if place != blind[0])]
    return Judgement(mean, covariance, judged, order, untold)


def judged_accuracies(tried: Sequence[Trial]) -> tuple[Array, Array, Array]:
    """The accuracies, the covariance of their errors, and the accuracies as the choice goes by them."""
    mean, covariance = compare_trials(tried)
    expected = np.array([np.nan if trial.expected_accuracy is None else trial.expected_accuracy for trial in tried])
    return mean, covariance, combine_accuracies(mean, covariance, expected)


def with_average(
    tried: Sequence[Trial], verdict: Judgement, candidates: Mapping[str, ReportClassifier], tests: Sequence[FoldTest]
) -> tuple[list[Trial], Judgement, dict[str, ReportClassifier]]:
    """What was tried, and the average of all but the majority, which comes first unless a candidate surely beats it.

    On each part the average is weighed by what the other parts say, so that its accuracy is as honest as the others'.
    """
    weights = average_weights(tried, verdict.judged, candidates)
    if len(weights) < 2:
        return list(tried), verdict, dict(candidates)
    results = []
    for fold, test in enumerate(tests):
        others = [trial.without(fold) for trial in tried]
        fold_weights = average_weights(tried, judged_accuracies(others)[2], candidates)
        fitted = {trial.name: trial.results[fold].fitted for trial in tried if trial.name in fold_weights}
        results.append(test.of(AveragedClassifier.of(fitted, fold_weights)))
    members = {name: candidates[name] for name in weights}
    average = AveragedClassifier(common_target(candidates.values()), members=members, weights=weights)
    every = [*tried, Trial(AVERAGE, tuple(results))]
    mean, covariance, judged = judged_accuracies(every)
    order = [int(place) for place in np.argsort(-judged, kind="stable")]
    last = len(tried)
    best = next(place for place in order if place != last)
    spread = covariance[best, best] + covariance[last, last] - 2 * covariance[best, last]
    if mean[best] - mean[last] <= SURE * math.sqrt(max(spread, 0.0)):
        order = [last, *(place for place in order if place != last)]
    return every, Judgement(mean, covariance, judged, order, untold=False), {**candidates, AVERAGE: average}


def average_weights(
    tried: Sequence[Trial], judged: Array, candidates: Mapping[str, ReportClassifier]
) -> dict[str, float]:
    """How much each candidate's word counts: less, the further it is behind the best; nothing where that is far."""
    asked = [not isinstance(candidates[trial.name], MajorityClassifier) for trial in tried]
    if not any(asked):
        return {}
    weights = np.where(asked, np.exp((judged - judged[asked].max()) / BEHIND), 0.0)
    return {trial.name: float(weight) for trial, weight in zip(tried, weights, strict=True) if weight >= LEAST_WEIGHT}


def _load_reports(reports: ReportSource | Sequence[ReportSource], seed: int, target: str) -> LoadedReports:
    """The reports, in which the class must be asked for; a name that is not there is refused with the closest."""
    loaded = loaded_reports(reports, seed)
    _ = true_schema(loaded.parts)[target]
    return loaded


def _candidates(models: Sequence[Any] | Mapping[str, Any] | None, target: str | None) -> dict[str, ReportClassifier]:
    if models is None:
        if target is None:
            raise InvalidInput("Say which attribute is the class: target='...'.")
        return default_candidates(target)
    if isinstance(models, Mapping):
        candidates = {str(name): as_candidate(model, target) for name, model in models.items()}
    else:
        candidates = {}
        for model in models:
            candidate = as_candidate(model, target)
            name = model_name(candidate)
            again = sum(other == name or other.startswith(f"{name} (") for other in candidates)
            candidates[f"{name} ({again + 1})" if again else name] = candidate
    if not candidates:
        raise InvalidInput("There is no model to choose from. Name at least one, or give None for the usual ones.")
    common_target(candidates.values())
    return candidates


def combine_accuracies(mean: Array, covariance: Array, expected: Array) -> Array:
    """The accuracies as judged from both: what was estimated from reports, and what the witnesses expect.

    Their word is taken as a normal prior, off by an error of its own for each model and by one that is common to all;
    without witnesses all are expected to be alike.
    """
    prior = expected
    if np.isnan(prior).any():
        prior = np.full(len(mean), float(np.clip(mean[np.argmin(np.diag(covariance))], 0, 1)))
    prior_covariance = WITNESS_ERROR**2 * np.eye(len(mean)) + COMMON_ERROR**2
    # Two models that are right on the same reports make the matrix singular: a small diagonal keeps it regular.
    posterior: Array = prior + prior_covariance @ np.linalg.solve(
        prior_covariance + covariance + 1e-12 * np.eye(len(mean)), mean - prior
    )
    return posterior


def is_told(loaded: LoadedReports, target: str, mean: Array, covariance: Array, blind: int) -> bool:
    """Whether the reports tell for certain that other answers have anything to do with the class.

    They do where some candidate is certain to beat the majority, or where some answer is certain to go with the class.
    False alarms are bounded over all candidates and answers together. Without this test a model of noise could be
    chosen where there is nothing but noise.
    """
    spread = np.diag(covariance) + covariance[blind, blind] - 2 * covariance[blind]
    leads = (mean - mean[blind]) / np.sqrt(np.maximum(spread, 1e-12))
    if 2 * len(mean) * float(special.ndtr(-leads.max())) < FALSE_ALARM:
        return True
    names = [name for name in true_schema(loaded.parts).names if name != target]
    return any(2 * len(names) * _chance(loaded, name, target) < FALSE_ALARM for name in names)


def _chance(loaded: LoadedReports, name: str, target: str) -> float:
    """The chance of so strong an association, were there none; 1 where it cannot be estimated."""
    try:
        return independence(estimate(loaded, [name, target]), name).p
    except NotEstimable:
        return 1.0


def _refit_first(
    names: Sequence[str], candidates: Mapping[str, ReportClassifier], loaded: LoadedReports
) -> tuple[int, ReportClassifier]:
    """The first that can be fitted to all reports."""
    problem: TacitError | None = None
    for place, name in enumerate(names):
        try:
            return place, clone(candidates[name]).fit(loaded)
        except TacitError as error:
            problem = error
    raise NotEstimable(f"No model can be estimated from all reports. {problem}")


def _score_candidates(tried: Sequence[Trial], verdict: Judgement, best: int) -> list[CandidateScore]:
    scores, mean, covariance = [], verdict.mean, verdict.covariance
    for place, trial in enumerate(tried):
        apart = covariance[place, place] + covariance[best, best] - 2 * covariance[place, best]
        scores.append(
            CandidateScore(
                trial.name,
                accuracy=float(mean[place]),
                standard_error=math.sqrt(max(covariance[place, place], 0.0)),
                behind=float(mean[best] - mean[place]),
                behind_error=math.sqrt(max(apart, 0.0)),
                expected=trial.expected_accuracy,
                judged=float(np.clip(verdict.judged[place], 0, 1)),
                n_reports=sum(fold.rows for fold in trial.parts),
            )
        )
    return scores
