"""How a regression is fitted: by likelihood where the outcome alone is disguised, else by corrected scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.count.weighted import SampleColumns
from tacit.errors import InvalidInput, NotEstimable
from tacit.estimation import device_reports
from tacit.estimation.complex_samples import Lonely, SampleDesign
from tacit.estimation.sample_columns import design_of
from tacit.regression.carrying import with_respondents
from tacit.regression.corrected import CorrectedFit, Expanded, solve_scores
from tacit.regression.corrected import device_noise as corrected_noise
from tacit.regression.data import Disguised
from tacit.regression.even_terms import EvenTerms
from tacit.regression.families import ClearScore, Family, FamilyName, family_for
from tacit.regression.formula import Design, Formula, design_matrix, repeat_rows
from tacit.regression.likelihood import (
    LikelihoodFit,
    LikelihoodProblem,
    OutcomeLikelihoods,
    Unbounded,
    checked_information,
    checked_rank,
    device_noise,
    fit_likelihood,
)
from tacit.regression.profile import Profile
from tacit.regression.result import FormulaPeople, Regression
from tacit.regression.rows import AlikeRows

Array = NDArray[np.float64]
Errors = Literal["observed", "opg", "robust"]
ERRORS: tuple[Errors, ...] = ("observed", "opg", "robust")
# Pairs of a report and a truth that are laid out at once.
MOST_EXPANDED = 1 << 26
# Of the repeats so many may fail: then those that do not are still a fair picture.
MOST_LOST = 0.05


@dataclass(frozen=True)
class Sampling:
    """What is said of the sample: its columns, and how errors are to be found."""

    columns: SampleColumns
    lonely: Lonely
    bootstrap: int | None
    seed: int | None

    def design(self, rows: AlikeRows, complete: NDArray[np.bool_]) -> SampleDesign | None:
        """The sample of those rows that are kept."""
        if rows.kept_sums is not None:
            return rows.kept_sums.some(complete).design(lonely=self.lonely, bootstrap=self.bootstrap, seed=self.seed)
        return design_of(rows.table, self.columns, self.lonely, bootstrap=self.bootstrap, seed=self.seed, rows=complete)


@dataclass(frozen=True, eq=False)
class FormulaData:
    """Disguised parts and clear variables, row by row."""

    formula: Formula
    parts: tuple[Disguised, ...]
    frame: Any
    yes: str | None = None  # the value that means yes
    is_amount: bool = False  # whether the outcome's numbers were scrambled, and are restored on average

    def complete(self) -> NDArray[np.bool_]:
        """Rows without a missing value."""
        complete = (
            ~self.frame.isna().any(axis=1).to_numpy() if self.frame.shape[1] else np.ones(len(self.frame), dtype=bool)
        )
        for variable in self.parts:
            law_rows = variable.chances if variable.inverse is None or not variable.why_not else variable.inverse
            complete &= ~np.isnan(law_rows).any(axis=1)
        return complete

    @property
    def is_outcome_alone(self) -> bool:
        """Whether the outcome is the one disguised variable."""
        return len(self.parts) == 1 and self.parts[0].names == (self.formula.outcome,)

    def design(self, frame: Any, people: Any, counts: Array, *, intercept: bool) -> Design:
        """The columns of the formula's right side; what its functions learn, they learn from `people`, so many of each."""
        learned_from = repeat_rows(people, counts) if self.formula.learns else None
        return design_matrix(self.formula, frame, intercept=intercept, learned_from=learned_from)

    def people(self, frame: Any, weights: Array) -> FormulaPeople:
        return FormulaPeople(frame[list(self.formula.names)], weights, self.formula.categories)

    def disguised_covariates(self) -> list[str]:
        return [name for variable in self.parts for name in variable.names if name != self.formula.outcome]


@dataclass(frozen=True, eq=False)
class Fitting:
    layout: FormulaData
    rows: AlikeRows
    formula: str
    sampling: Sampling
    wanted: FamilyName | None
    errors: Errors | None
    level: float

    def result(self) -> Regression:
        complete = self.layout.complete()
        if not complete.any():
            raise InvalidInput("Every row lacks a value of some variable, so nothing can be fitted.")
        rows = self.rows.keep_rows(complete)
        sample = self.sampling.design(self.rows, complete)
        weighing = Weighing(rows, sample)
        fit = (
            self._fit_by_likelihood
            if self.layout.is_outcome_alone and not self.layout.parts[0].why_not
            else self._fit_by_scores
        )
        return fit(complete, weighing)

    def _kind(self, answers: Sequence[str] | None) -> FamilyName:
        default: FamilyName = "linear" if answers is None else "logit" if len(answers) == 2 else "multinomial"
        kind = self.wanted or default
        if answers is None:
            return kind
        if len(answers) > 2 and kind in ("logit", "probit"):
            raise InvalidInput(
                f"{self.layout.formula.outcome!r} has {len(answers)} answers; a {kind} model is for two. Use multinomial, or "
                "ordered where they have an order."
            )
        return kind

    def _fit_by_likelihood(self, complete: NDArray[np.bool_], weighing: Weighing) -> Regression:
        variable = self.layout.parts[0]
        kind = self._kind(variable.answers[0])
        if kind in ("linear", "poisson"):
            raise InvalidInput(
                f"A {kind} model is for an outcome of numbers; {variable.names[0]!r} has answers. Use logit."
            )
        family = family_for(kind, variable.answers[0])
        frame = self.layout.frame[complete]
        design = self.layout.design(frame, frame, weighing.rows.counts, intercept=family.has_intercept)
        x, terms = design.values, design.names
        even = EvenTerms.of(x, has_thresholds=not family.has_intercept)
        checked_rank(even.x, terms)
        opened = None if variable.opened is None else variable.opened[complete]
        reports = OutcomeLikelihoods(np.ascontiguousarray(variable.chances[complete]), opened, variable.open_name)
        problem = LikelihoodProblem(family, even.x, reports, weighing.weights)
        try:
            fit = fit_likelihood(problem)
            checked_information(problem, fit)
            covariance, said, lost = _errors(fit, problem, weighing, self.errors, _Noise(variable, complete))
        except Unbounded as refusal:
            raise with_respondents(refusal, problem, variable.asked_by(complete)) from None
        n = len(family.parameters(terms))
        whole = family.restoring_map(even)
        restored = np.pad(whole, ((0, 0), (0, len(fit.theta) - n)))
        is_scaled = weighing.sample is not None or self.errors == "robust"
        profile = Profile(problem, fit, restored, _model_covariance(fit, problem), is_scaled)
        return Regression(
            **self._common(weighing),
            family=kind,
            method="likelihood",
            errors=said,
            terms=tuple(family.parameters(terms)),
            estimates=whole @ fit.theta[:n],
            covariance=whole @ covariance[:n, :n] @ whole.T,
            log_likelihood=fit.log_likelihood,
            answers=variable.answers[0],
            open_parameters=_open_parameters(fit, variable, covariance),
            converged=fit.converged,
            warnings=(*_fit_warnings(fit, variable), *lost),
            design=x,
            rows=design.rows,
            predicts=_chances(family),
            fitted_people=self.layout.people(frame, weighing.weights),
            profile=profile,
            readings=self.rows.notes,
        )

    def _fit_by_scores(self, complete: NDArray[np.bool_], weighing: Weighing) -> Regression:
        layout = self.layout
        outcome = next((variable for variable in layout.parts if layout.formula.outcome in variable.names), None)
        answers = None if outcome is None else outcome.answers[outcome.names.index(layout.formula.outcome)]
        if outcome is None and not layout.parts and not layout.is_amount:
            raise InvalidInput(
                "No variable of the formula is disguised. Name its device or the scheme, or use an ordinary regression."
            )
        clear = None if outcome is not None else ClearOutcome.read(layout, complete)
        kind = self._kind(answers if clear is None or layout.is_amount else clear.answers)
        if layout.is_amount and kind != "linear":
            raise InvalidInput(
                f"Scrambled amounts tell means, which a linear model is for; a {kind} model is not fitted."
            )
        if kind not in ("linear", "logit", "poisson") or (answers is not None and len(answers) != 2):
            raise InvalidInput(
                f"With disguised covariates ({', '.join(layout.disguised_covariates())}) the outcome may be numbers (linear, "
                f"poisson), or yes or no (logit); a {kind} model is not among these."
            )
        expanded, design, even, people = _expand_rows(layout, complete, weighing, kind, clear)
        score = ClearScore(kind)
        fit = solve_scores(expanded, score)
        covariance, said, lost = _sandwich(fit, expanded, score, weighing)
        warnings = () if fit.converged else ("The corrected scores were not solved: treat the coefficients as rough.",)
        x = np.einsum("nuq,nu->nq", expanded.x, expanded.inverse) @ np.linalg.inv(even.back)
        return Regression(
            **self._common(weighing),
            family=kind,
            method="corrected scores",
            errors=said,
            terms=tuple(design.names),
            estimates=even.back @ fit.beta,
            covariance=even.back @ covariance @ even.back.T,
            log_likelihood=fit.log_likelihood,
            answers=tuple(answers or ()) if clear is None or kind != "logit" else clear.answers or (),
            readings=self.rows.notes + (() if clear is None or kind != "logit" else clear.readings),
            open_parameters={},
            converged=fit.converged,
            warnings=(*warnings, *lost),
            design=x,
            rows=design.rows,
            predicts=_means(score),
            fitted_people=people,
        )

    def _common(self, weighing: Weighing) -> dict[str, Any]:
        """What a result says of its data, however it was fitted."""
        sample, rows = weighing.sample, weighing.rows
        return {
            "formula": self.formula,
            "n_reports": int(rows.counts.sum()),
            "n_missing": int(self.rows.counts.sum() - rows.counts.sum()),
            "level": self.level,
            "degrees_of_freedom": None if sample is None else sample.degrees_of_freedom,
            "weights": weighing.weights,
            "people": rows.people,
        }


@dataclass(frozen=True, eq=False)
class Weighing:
    """What every row counts: people who are alike, or the weight of one person in a complex sample."""

    rows: AlikeRows
    sample: SampleDesign | None

    @cached_property
    def weights(self) -> Array:
        return self.rows.counts if self.sample is None else self.sample.weights / self.sample.mean_weight

    def products(self, scores: Array) -> Array:
        """Sums over people of the products of their scores, which are given without weights."""
        return (scores * self.weights[:, None]).T @ scores

    def covariance_by_repeats(
        self, estimate: Array, again: Callable[[Array], Array]
    ) -> tuple[Array, str, list[str]] | None:
        """Covariance by fitting again under other weights; None where errors are not asked from repeats."""
        if self.sample is None or self.sample.repeats is None:
            return None
        values, lost = [], 0
        for weights in self.sample.weighings():
            try:
                values.append(again(weights / weights.mean()))
            except NotEstimable:
                lost += 1
        if lost > MOST_LOST * self.sample.repeats.n:
            raise NotEstimable(
                f"The model could not be fitted in {lost:,} of {self.sample.repeats.n:,} repeats, too many to compute "
                "errors from them. Leave out a covariate, merge rare categories, or leave out bootstrap and replicates: "
                "errors are then computed by formula."
            )
        said = [f"{lost:,} repeats could not be fitted; the errors come from the others."] if lost else []
        return self.sample.repeats.covariance(values, estimate), self.sample.in_words, said


@dataclass(frozen=True, eq=False)
class _Noise:
    """What the device's chance adds to the scores of each stratum, where everybody's truth stays as it is."""

    variable: Disguised
    complete: NDArray[np.bool_]

    def by_stratum(self, fit: LikelihoodFit, problem: LikelihoodProblem, sample: SampleDesign, weights: Array) -> Array:
        if self.variable.which is None or self.variable.laws is None:
            raise InvalidInput(
                "Where questionnaires are dealt by chance, errors cannot make use of the sampled share. Leave out sampled."
            )
        which = self.variable.which[self.complete]
        total = np.zeros((sample.n_strata, len(fit.theta), len(fit.theta)))
        for stratum in range(sample.n_strata):
            for number, law in enumerate(self.variable.laws()):
                here = (sample.strata == stratum) & (which == number)
                if here.any():
                    total[stratum] += device_noise(problem.some(here), fit.theta, *law, weights[here] ** 2)
        return total


def _errors(
    fit: LikelihoodFit, problem: LikelihoodProblem, weighing: Weighing, kind: Errors | None, noise: _Noise
) -> tuple[Array, str, list[str]]:
    """The covariance, what it is in words, and warnings."""
    if weighing.sample is not None and kind not in (None, "robust"):
        raise InvalidInput(f"With weights, strata or clusters errors are linearised; {kind!r} errors ignore them.")
    model = _model_covariance(fit, problem)
    size = len(fit.theta) - int(fit.at_edge)
    bread = model[:size, :size]
    again = weighing.covariance_by_repeats(
        fit.theta, lambda weights: fit_likelihood(replace(problem, weights=weights), fit.theta).theta
    )
    if again is not None:
        return again
    scores = fit.scores[:, :size]
    if weighing.sample is not None:
        sample, weights = weighing.sample, weighing.weights
        added = None
        if sample.sampled.any():
            added = bread @ noise.by_stratum(fit, problem, sample, weights)[:, :size, :size] @ bread
        covariance = sample.covariance(scores * weights[:, None] @ bread, added)
        said = "linearised, from the sample's strata and clusters"
    elif kind == "opg":
        covariance, said = _inverse(weighing.products(scores), problem), "outer products of the scores"
    elif kind == "robust":
        covariance, said = bread @ weighing.products(scores) @ bread, "robust (sandwich)"
    else:
        covariance, said = bread, "observed information"
    whole = np.zeros((len(fit.theta), len(fit.theta)))
    whole[:size, :size] = covariance
    return whole, said, []


def _model_covariance(fit: LikelihoodFit, problem: LikelihoodProblem) -> Array:
    """The inverse of the observed information; an open parameter at an end of [0, 1] is taken as known."""
    size = len(fit.theta) - int(fit.at_edge)
    whole = np.zeros((len(fit.theta), len(fit.theta)))
    whole[:size, :size] = _inverse(fit.information[:size, :size], problem)
    return whole


def _inverse(information: Array, problem: LikelihoodProblem) -> Array:
    values, vectors = np.linalg.eigh(information)
    if values[0] <= 1e-10 * max(values[-1], 1e-300):
        raise Unbounded(problem.reports)
    return (vectors / values) @ vectors.T


def _sandwich(
    fit: CorrectedFit, problem: Expanded, score: ClearScore, weighing: Weighing
) -> tuple[Array, str, list[str]]:
    again = weighing.covariance_by_repeats(
        fit.beta, lambda weights: solve_scores(replace(problem, counts=weights), score, fit.beta).beta
    )
    if again is not None:
        return again
    bread = np.linalg.inv(fit.information)
    if weighing.sample is not None:
        sample, weights = weighing.sample, weighing.weights
        added = None
        if sample.sampled.any():
            strata = [sample.strata == stratum for stratum in range(sample.n_strata)]
            noise = [corrected_noise(problem, score, fit, np.where(here, weights**2, 0.0)) for here in strata]
            added = bread @ np.array(noise) @ bread.T
        said = "linearised, from the sample's strata and clusters"
        return sample.covariance(fit.scores * weights[:, None] @ bread, added), said, []
    return bread @ weighing.products(fit.scores) @ bread.T, "robust (sandwich of the corrected scores)", []


def _open_parameters(
    fit: LikelihoodFit, variable: Disguised, covariance: Array
) -> dict[str, tuple[float, float | None]]:
    if variable.opened is None or variable.open_name is None:
        return {}
    error = None if fit.at_edge else math.sqrt(max(float(covariance[-1, -1]), 0.0))
    return {variable.open_name: (float(fit.theta[-1]), error)}


def _fit_warnings(fit: LikelihoodFit, variable: Disguised) -> list[str]:
    sentences = [] if fit.converged else ["The likelihood was not maximised to the last digit: treat the fit as rough."]
    if fit.at_edge:
        sentences.append(
            f"{variable.open_name} is at the edge of [0, 1] in the most likely fit; the other errors take it as known."
        )
    return sentences


def _chances(family: Family) -> Any:
    def predicts(x: Array, beta: Array) -> tuple[Array, Array]:
        chances = family.chances(family.predictors(x, beta))
        slopes = np.stack(
            [family.coefficient_slopes(x, chances.slopes[:, y]) for y in range(len(family.answers))], axis=1
        )
        return chances.values, slopes

    return predicts


def _means(score: ClearScore) -> Any:
    def predicts(x: Array, beta: Array) -> tuple[Array, Array]:
        u = x @ beta
        mean, slope = score.mean(u), score.slope(u)[:, None] * x
        if score.name == "logit":
            return np.stack([1 - mean, mean], axis=1), np.stack([-slope, slope], axis=1)
        return mean[:, None], slope[:, None, :]

    return predicts


def _expand_rows(
    layout: FormulaData, complete: NDArray[np.bool_], weighing: Weighing, kind: FamilyName, clear: ClearOutcome | None
) -> tuple[Expanded, Design, EvenTerms, FormulaPeople]:
    """Every kept row with every combination of the disguised variables' answers, weighed by the inverse."""
    import pandas as pd

    names = [name for variable in layout.parts for name in variable.names]
    levels = [answers for variable in layout.parts for answers in variable.answers]
    n_combinations = math.prod(map(len, levels))
    rows = int(complete.sum())
    if rows * n_combinations > MOST_EXPANDED:
        raise InvalidInput(
            f"{rows:,} respondents with {n_combinations:,} combinations of disguised answers are too many to lay out. "
            "Merge answers, or leave out a disguised covariate."
        )
    inverse = np.ones((rows, 1))
    for variable in layout.parts:
        if variable.inverse is None:
            raise InvalidInput(
                f"The device of {variable.names[0]!r} does not fix {variable.open_name}, so {variable.names[0]!r} cannot be a "
                "covariate. Give a device with all its chances known, or make it the outcome."
            )
        inverse = (inverse[:, :, None] * variable.inverse[complete][:, None, :]).reshape(rows, -1)
    frame = layout.frame.take(np.repeat(np.flatnonzero(complete), n_combinations)).reset_index(drop=True)
    for name, answers, codes in zip(names, levels, _combined_codes(levels), strict=True):
        frame[name] = pd.Categorical.from_codes(np.tile(codes, rows), categories=list(answers))
    outcome = layout.formula.outcome
    design = layout.design(frame, frame.iloc[::n_combinations], weighing.rows.counts, intercept=True)
    even = EvenTerms.of(design.values)
    checked_rank(even.x, design.names)
    shape = (rows, n_combinations)
    if clear is None:
        y = frame[outcome].cat.codes.to_numpy().astype(np.float64).reshape(shape)
    else:
        y = np.repeat(clear.numbers(kind)[:, None], n_combinations, axis=1)
    expanded = Expanded(even.x.reshape(*shape, -1), y, inverse, weighing.weights)
    return expanded, design, even, layout.people(frame, expanded.weights.reshape(-1))


def _combined_codes(levels: Sequence[Sequence[str]]) -> NDArray[np.intp]:
    """``codes[variable, combination]``, the last variable changing first."""
    sizes = [len(answers) for answers in levels]
    return np.indices(sizes, dtype=np.intp).reshape(len(sizes), math.prod(sizes))


@dataclass(frozen=True, eq=False)
class ClearOutcome:
    """An outcome that was not disguised: numbers, or two values, which mean no and yes."""

    name: str
    values: Any  # a pandas series
    answers: tuple[str, ...] | None  # no and yes, where it has two values
    readings: tuple[str, ...]

    @classmethod
    def read(cls, layout: FormulaData, complete: NDArray[np.bool_]) -> ClearOutcome:
        name = layout.formula.outcome
        values = layout.frame[name][complete]
        different = sorted(values.unique())
        if len(different) != 2:
            return cls(name, values, None, ())
        texts = [f"{value:g}" if isinstance(value, float) else str(value) for value in different]
        no, yes = device_reports.no_and_yes(name, texts, layout.yes)
        said = f"In {name}, {yes!r} counts as yes and {no!r} as no"
        return cls(name, values.map(dict(zip(different, texts, strict=True))), (no, yes), (said,))

    def numbers(self, kind: FamilyName) -> Array:
        """The outcome as numbers: 0 and 1 for no and yes."""
        if kind == "logit" or (self.answers is not None and self._is_text):
            if self.answers is None:
                raise InvalidInput(
                    f"{self.name!r} holds {self.values.nunique():,} different values, and a logit model is for two. Use linear "
                    "or poisson for numbers."
                )
            return (self.values == self.answers[1]).to_numpy().astype(np.float64)
        if self._is_text:
            raise InvalidInput(f"{self.name!r} holds text; a {kind} model needs numbers.")
        numbers = self.values.to_numpy().astype(np.float64)
        if kind == "poisson" and (numbers < 0).any():
            raise InvalidInput(f"{self.name!r} holds {numbers.min():g}; a Poisson model counts, from 0 on.")
        return numbers

    @property
    def _is_text(self) -> bool:
        try:
            self.values.astype(np.float64)
        except (ValueError, TypeError):
            return True
        return False
