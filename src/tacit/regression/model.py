"""From data as they lie to a fitted regression: which variables are disguised decides how it is fitted."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacit.channel.scheme import Scheme
from tacit.errors import InvalidInput, UnknownName
from tacit.estimation import device_reports
from tacit.estimation.complex_samples import Lonely, SampleDesign
from tacit.estimation.intervals import checked_level
from tacit.regression.corrected import Expanded, solved
from tacit.regression.data import (
    Disguised,
    Formula,
    by_device,
    by_scheme,
    clear_frame,
    design_matrix,
    given_devices,
    parsed,
)
from tacit.regression.families import FAMILIES, ClearScore, Family, FamilyName, family_for
from tacit.regression.likelihood import LikelihoodFit, LikelihoodProblem, OutcomeLikelihoods, checked_rank, fitted
from tacit.regression.result import Regression
from tacit.table.files import read_columns

if TYPE_CHECKING:
    import pyarrow as pa

Array = NDArray[np.float64]
Errors = Literal["observed", "opg", "robust"]
ERRORS: tuple[Errors, ...] = ("observed", "opg", "robust")
# Pairs of a report and a truth that are laid out at once.
MOST_EXPANDED = 1 << 26


def regress(
    data: Any,
    formula: str,
    *,
    devices: Mapping[str, Any] | Sequence[str] | None = None,
    scheme: Scheme | None = None,
    family: FamilyName | None = None,
    sample: str | None = None,
    yes: str | None = None,
    weights: str | None = None,
    strata: str | None = None,
    clusters: str | None = None,
    sampled: float | str | None = None,
    lonely: Lonely = "refuse",
    errors: Errors | None = None,
    level: float = 0.95,
) -> Regression:
    """Regress an outcome on covariates where some of them were disguised.

    A disguised outcome with clear covariates is fitted by likelihood (logit, probit, multinomial, ordered). Where
    covariates are disguised, the scores of the clear data are corrected (linear, logit, Poisson).

    Parameters
    ----------
    data : path or data frame
        A file (CSV, Parquet, SPSS, Stata, SAS, Excel) or anything that speaks Arrow. Only the named columns are read.
    formula : str
        Outcome and covariates as formulaic reads them; names with dots stand in backticks.
    devices : mapping or sequence, optional
        For each disguised variable its device: ``{"copied": "crosswise p=1/4"}``, or ``["copied: crosswise p=1/4"]``.
    scheme : Scheme, optional
        The scheme of disguised reports; columns it does not name are clear covariates.
    family : {"logit", "probit", "multinomial", "ordered", "linear", "poisson"}, optional
        Without it logit for two answers, multinomial for more, linear for a clear outcome of numbers.
    sample : str, optional
        The column that tells the samples of a device apart.
    yes : str, optional
        The value that means yes, where it is not 1, yes or true.
    weights, strata, clusters : str, optional
        Columns of a complex sample; errors are then linearised.
    sampled : float or str, optional
        The sampled share of a finite population.
    lonely : {"refuse", "centre"}
        What a stratum with a single cluster gets.
    errors : {"observed", "opg", "robust"}, optional
        From the observed information, the outer products of the scores, or both (the sandwich).
    level : float
        Confidence level of the intervals.

    Returns
    -------
    Regression

    Raises
    ------
    InvalidInput
        Where the formula, columns or devices do not fit.
    NotEstimable
        Where the data cannot carry the model.

    Examples
    --------
    >>> import tacit
    >>> people = {"used": [1] * 60 + [0] * 40 + [1] * 30 + [0] * 70, "city": ["a"] * 100 + ["b"] * 100}
    >>> found = tacit.regress(people, "used ~ city", devices={"used": "forced-response truth=2/3,yes=1/6"})
    >>> round(found["city[T.b]"].estimate, 2)
    -2.01
    """
    checked_level(level)
    if errors is not None and errors not in ERRORS:
        raise UnknownName("Kind of errors", str(errors), ERRORS)
    if family is not None and family not in FAMILIES:
        raise UnknownName("Family", str(family), FAMILIES)
    study = _read(data, parsed(formula), given_devices(devices), scheme, sample, yes)
    sampling = _Sampling(weights, strata, clusters, sampled, lonely)
    table = read_columns(data, [*study.columns, *sampling.columns])
    return _Fitting(study.laid_out(table), table, formula, sampling, family, errors, level).result()


@dataclass(frozen=True)
class _Sampling:
    weights: str | None
    strata: str | None
    clusters: str | None
    sampled: float | str | None
    lonely: Lonely

    @property
    def columns(self) -> list[str]:
        named = (self.weights, self.strata, self.clusters, self.sampled if isinstance(self.sampled, str) else None)
        return [name for name in named if name is not None]

    def design(self, table: pa.Table) -> SampleDesign | None:
        if self.weights is None and self.strata is None and self.clusters is None and self.sampled is None:
            return None
        return SampleDesign.of(
            table.num_rows,
            weights=None if self.weights is None else device_reports.numbers(table, self.weights),
            strata=None if self.strata is None else table.column(self.strata).to_pylist(),
            clusters=None if self.clusters is None else table.column(self.clusters).to_pylist(),
            sampled=device_reports.numbers(table, self.sampled) if isinstance(self.sampled, str) else self.sampled,
            lonely=self.lonely,
        )


@dataclass(frozen=True, eq=False)
class _Study:
    """The formula, and how each of its variables was asked."""

    formula: Formula
    devices: Mapping[str, Any]
    scheme: Scheme | None
    sample: str | None
    yes: str | None

    @property
    def names(self) -> tuple[str, ...]:
        return (self.formula.outcome, *self.formula.names)

    @property
    def disguised(self) -> set[str]:
        grouped = set() if self.scheme is None else {n for group in self.scheme.groups for n in group.names}
        return (set(self.devices) | grouped) & set(self.names)

    @property
    def columns(self) -> list[str]:
        """Everything that is read: clear variables, and the report columns of disguised ones."""
        wanted = [name for name in self.names if name not in self.disguised or name in self.devices]
        if self.scheme is not None:
            for group in self.scheme.groups:
                if set(group.names) & set(self.names):
                    from tacit.table.columns import file_columns

                    wanted += [column for attribute in group.report_attributes for column in file_columns(attribute)]
        return [*wanted, *([] if self.sample is None else [self.sample])]

    def laid_out(self, table: pa.Table) -> _Layout:
        if table.num_rows == 0:
            raise InvalidInput("There are no rows, so nothing can be fitted.")
        parts = [
            by_device(table, name, device, self.sample, self.yes)
            for name, device in self.devices.items()
            if name in self.names
        ]
        if self.scheme is not None:
            parts += by_scheme(table, self.scheme, self.names)
        clear = [name for name in self.names if name not in self.disguised]
        return _Layout(self.formula, tuple(parts), clear_frame(table, clear))


def _read(
    data: Any, formula: Formula, devices: Mapping[str, Any], scheme: Scheme | None, sample: str | None, yes: str | None
) -> _Study:
    study = _Study(formula, devices, scheme, sample, yes)
    others = [name for name in devices if name not in study.names]
    if others:
        raise InvalidInput(
            f"The device of {others[0]!r} belongs to no variable of the formula {formula.outcome} ~ {formula.right}. "
            f"Its variables: {', '.join(study.names)}."
        )
    return study


@dataclass(frozen=True, eq=False)
class _Layout:
    """Disguised parts and clear variables, row by row."""

    formula: Formula
    parts: tuple[Disguised, ...]
    frame: Any

    def complete(self) -> NDArray[np.bool_]:
        """Rows without a missing value."""
        kept = (
            ~self.frame.isna().any(axis=1).to_numpy() if self.frame.shape[1] else np.ones(len(self.frame), dtype=bool)
        )
        for part in self.parts:
            known = part.chances if part.inverse is None or not part.why_not else part.inverse
            kept &= ~np.isnan(known).any(axis=1)
        return kept

    @property
    def is_outcome_alone(self) -> bool:
        """Whether the outcome is the one disguised variable."""
        return len(self.parts) == 1 and self.parts[0].names == (self.formula.outcome,)

    def disguised_covariates(self) -> list[str]:
        return [name for part in self.parts for name in part.names if name != self.formula.outcome]


@dataclass(frozen=True, eq=False)
class _Fitting:
    layout: _Layout
    table: pa.Table
    formula: str
    sampling: _Sampling
    wanted: FamilyName | None
    errors: Errors | None
    level: float

    def result(self) -> Regression:
        kept = self.layout.complete()
        if not kept.any():
            raise InvalidInput("Every row lacks a value of some variable, so nothing can be fitted.")
        table = self.table.filter(_mask(kept))
        sample = self.sampling.design(table)
        weights = np.ones(int(kept.sum())) if sample is None else sample.weights / sample.weights.mean()
        fit = self._likelihood if self.layout.is_outcome_alone and not self.layout.parts[0].why_not else self._corrected
        return fit(kept, weights, sample)

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

    def _likelihood(self, kept: NDArray[np.bool_], weights: Array, sample: SampleDesign | None) -> Regression:
        part = self.layout.parts[0]
        kind = self._kind(part.answers[0])
        if kind in ("linear", "poisson"):
            raise InvalidInput(
                f"A {kind} model is for an outcome of numbers; {part.names[0]!r} has answers. Use logit."
            )
        family = family_for(kind, part.answers[0])
        x, terms, spec = design_matrix(self.layout.formula, self.layout.frame[kept], intercept=family.has_intercept)
        checked_rank(x, terms)
        opened = None if part.opened is None else part.opened[kept]
        reports = OutcomeLikelihoods(np.ascontiguousarray(part.chances[kept]), opened, part.open_name)
        fit = fitted(LikelihoodProblem(family, x, reports, weights))
        covariance, said = _errors(fit, weights, sample, self.errors)
        n = len(family.parameters(terms))
        return Regression(
            **self._common(kept, sample, weights),
            family=kind,
            method="likelihood",
            errors=said,
            terms=tuple(family.parameters(terms)),
            estimates=fit.theta[:n],
            covariance=covariance[:n, :n],
            log_likelihood=fit.log_likelihood,
            answers=part.answers[0],
            open_parameters=_opened(fit, part, covariance),
            converged=fit.converged,
            warnings=tuple(_warned(fit, part)),
            design=x,
            rows=_rows(spec, intercept=family.has_intercept),
            predicts=_chances(family),
        )

    def _corrected(self, kept: NDArray[np.bool_], weights: Array, sample: SampleDesign | None) -> Regression:
        layout = self.layout
        outcome = next((part for part in layout.parts if layout.formula.outcome in part.names), None)
        answers = None if outcome is None else outcome.answers[outcome.names.index(layout.formula.outcome)]
        if outcome is None and not layout.parts:
            raise InvalidInput(
                "No variable of the formula is disguised. Name its device or the scheme, or use an ordinary regression."
            )
        kind = self._kind(answers)
        if kind not in ("linear", "logit", "poisson") or (answers is not None and len(answers) != 2):
            raise InvalidInput(
                f"With disguised covariates ({', '.join(layout.disguised_covariates())}) the outcome may be numbers (linear, "
                f"poisson), or yes or no (logit); a {kind} model is not among these."
            )
        expanded, terms, spec = _expanded(layout, kept, weights, kind)
        score = ClearScore(kind)
        fit = solved(expanded, score)
        covariance, said = _sandwich(fit.information, fit.scores, sample)
        warnings = () if fit.converged else ("The corrected scores were not solved: treat the coefficients as rough.",)
        x = np.einsum("nuq,nu->nq", expanded.x, expanded.weights / weights[:, None])
        return Regression(
            **self._common(kept, sample, weights),
            family=kind,
            method="corrected scores",
            errors=said,
            terms=tuple(terms),
            estimates=fit.beta,
            covariance=covariance,
            log_likelihood=fit.log_likelihood,
            answers=tuple(answers or ()),
            open_parameters={},
            converged=fit.converged,
            warnings=warnings,
            design=x,
            rows=_rows(spec, intercept=True),
            predicts=_means(score),
        )

    def _common(self, kept: NDArray[np.bool_], sample: SampleDesign | None, weights: Array) -> dict[str, Any]:
        """What a result says of its data, however it was fitted."""
        return {
            "formula": self.formula,
            "n_reports": int(kept.sum()),
            "n_missing": int((~kept).sum()),
            "level": self.level,
            "degrees_of_freedom": None if sample is None else sample.degrees_of_freedom,
            "weights": weights,
        }


def _mask(kept: NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    return pa.array(kept)


def _errors(fit: LikelihoodFit, weights: Array, sample: SampleDesign | None, kind: Errors | None) -> tuple[Array, str]:
    size = len(fit.theta) - int(fit.at_edge)  # an open parameter at an end of [0, 1] is taken as known
    bread = _inverse(fit.information[:size, :size])
    scores = fit.scores[:, :size] * weights[:, None]
    if sample is not None:
        if kind not in (None, "robust"):
            raise InvalidInput(f"With weights, strata or clusters errors are linearised; {kind!r} errors ignore them.")
        covariance, said = sample.covariance(scores @ bread), "linearised, from the sample's strata and clusters"
    elif kind == "opg":
        covariance, said = _inverse(scores.T @ scores), "outer products of the scores"
    elif kind == "robust":
        covariance, said = bread @ (scores.T @ scores) @ bread, "robust (sandwich)"
    else:
        covariance, said = bread, "observed information"
    whole = np.zeros((len(fit.theta), len(fit.theta)))
    whole[:size, :size] = covariance
    return whole, said


def _inverse(information: Array) -> Array:
    from tacit.errors import NotEstimable

    values, vectors = np.linalg.eigh(information)
    if values[0] <= 1e-10 * max(values[-1], 1e-300):
        raise NotEstimable(
            "The data cannot carry this model: a coefficient has no most likely value. Some group's estimated share lies at or "
            "beyond 0 or 1 (see `tacit prevalence --by`), or there are too few reports for so many terms. Leave out a "
            "covariate, merge rare categories, or ask more people."
        )
    return (vectors / values) @ vectors.T


def _sandwich(information: Array, scores: Array, sample: SampleDesign | None) -> tuple[Array, str]:
    bread = np.linalg.inv(information)
    if sample is not None:
        return sample.covariance(scores @ bread), "linearised, from the sample's strata and clusters"
    return bread @ (scores.T @ scores) @ bread.T, "robust (sandwich of the corrected scores)"


def _opened(fit: LikelihoodFit, part: Disguised, covariance: Array) -> dict[str, tuple[float, float | None]]:
    if part.opened is None or part.open_name is None:
        return {}
    error = None if fit.at_edge else math.sqrt(max(float(covariance[-1, -1]), 0.0))
    return {part.open_name: (float(fit.theta[-1]), error)}


def _warned(fit: LikelihoodFit, part: Disguised) -> list[str]:
    sentences = [] if fit.converged else ["The likelihood was not maximised to the last digit: treat the fit as rough."]
    if fit.at_edge:
        sentences.append(
            f"{part.open_name} is at the edge of [0, 1] in the most likely fit; the other errors take it as known."
        )
    return sentences


def _rows(spec: Any, *, intercept: bool) -> Any:
    """Makes the design of other people, from a data frame of the covariates."""

    def rows(data: Any) -> Array:
        import pandas as pd

        frame = data if isinstance(data, pd.DataFrame) else pd.DataFrame(data)
        matrix = spec.get_model_matrix(frame)
        names = [str(name) for name in matrix.columns]
        kept = [at for at, name in enumerate(names) if intercept or name != "Intercept"]
        return np.asarray(matrix, dtype=np.float64)[:, kept]

    return rows


def _chances(family: Family) -> Any:
    def predicts(x: Array, beta: Array) -> tuple[Array, Array]:
        chances = family.chances(family.predictors(x, beta))
        slopes = np.stack([family.pulled(x, chances.slopes[:, y]) for y in range(len(family.answers))], axis=1)
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


def _expanded(
    layout: _Layout, kept: NDArray[np.bool_], weights: Array, kind: FamilyName
) -> tuple[Expanded, list[str], Any]:
    """Every kept row with every combination of the disguised variables' answers, weighed by the inverse."""
    import pandas as pd

    names = [name for part in layout.parts for name in part.names]
    levels = [answers for part in layout.parts for answers in part.answers]
    combinations = list(itertools.product(*levels))
    rows = int(kept.sum())
    if rows * len(combinations) > MOST_EXPANDED:
        raise InvalidInput(
            f"{rows:,} respondents with {len(combinations):,} combinations of disguised answers are too many to lay out. "
            "Merge answers, or leave out a disguised covariate."
        )
    inverse = np.ones((rows, 1))
    for part in layout.parts:
        if part.inverse is None:
            raise InvalidInput(
                f"{part.names[0]!r} was asked in two samples, which a disguised covariate cannot be. Give a device with one."
            )
        inverse = (inverse[:, :, None] * part.inverse[kept][:, None, :]).reshape(rows, -1)
    frame = layout.frame[kept].loc[lambda each: each.index.repeat(len(combinations))].reset_index(drop=True)
    for at, name in enumerate(names):
        values = [combination[at] for combination in combinations] * rows
        frame[name] = pd.Categorical(values, categories=list(levels[at]))
    outcome = layout.formula.outcome
    x, terms, spec = design_matrix(layout.formula, frame, intercept=True)
    y = _outcome(frame[outcome], outcome, kind)
    shape = (rows, len(combinations))
    expanded = Expanded(x.reshape(*shape, -1), y.reshape(shape), inverse * weights[:, None])
    return expanded, terms, spec


def _outcome(values: Any, name: str, kind: FamilyName) -> Array:
    """The outcome as numbers: 0 and 1 for yes or no."""
    if str(values.dtype) == "category":
        return values.cat.codes.to_numpy().astype(np.float64)
    if values.dtype == object:
        known = sorted(set(values))
        if kind != "logit" or len(known) != 2:
            raise InvalidInput(
                f"{name!r} holds text; a {kind} model needs {'two values' if kind == 'logit' else 'numbers'}."
            )
        return (values == known[1]).to_numpy().astype(np.float64)
    numbers = values.to_numpy().astype(np.float64)
    if kind == "logit" and not np.isin(numbers, (0.0, 1.0)).all():
        raise InvalidInput(
            f"{name!r} holds numbers other than 0 and 1, so a logit model does not fit. Use linear or poisson."
        )
    if kind == "poisson" and (numbers < 0).any():
        raise InvalidInput(f"{name!r} holds {numbers.min():g}; a Poisson model counts, from 0 on.")
    return numbers
