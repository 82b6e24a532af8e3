"""A regression as a result: coefficients with errors, tests, predictions and effects."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtr, ndtri, stdtr, stdtrit

from tacit.display import new_figure
from tacit.errors import InvalidInput, UnknownName
from tacit.estimation.intervals import interval_within

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
# Designs of other people: data in, rows of the design out.
Rows = Callable[[Any], Array]
# Chances of the answers (or the mean) for rows of the design, with derivatives by the coefficients.
Predicts = Callable[[Array, Array], tuple[Array, Array]]


@dataclass(frozen=True)
class Coefficient:
    """One term's estimate, with its error, test and interval."""

    term: str
    estimate: float
    standard_error: float
    z: float
    p: float
    low: float
    high: float

    def to_document(self) -> dict[str, Any]:
        return {
            "term": self.term,
            "estimate": self.estimate,
            "standard_error": self.standard_error,
            "z": self.z,
            "p": self.p,
            "low": self.low,
            "high": self.high,
        }


@dataclass(frozen=True)
class LikelihoodRatio:
    """A test of the terms that a smaller model lacks."""

    statistic: float
    degrees_of_freedom: int
    p: float

    def __str__(self) -> str:
        return f"chi-square {self.statistic:.3f} on {self.degrees_of_freedom} degrees of freedom, p = {self.p:.3g}"


@dataclass(frozen=True, eq=False)
class Prediction:
    """Predicted chances of an answer (or means), with their band."""

    answer: str
    estimate: Array
    standard_error: Array
    low: Array
    high: Array


@dataclass(frozen=True, eq=False)
class Regression:
    """A fitted regression. Its errors are those that were asked for; intervals use the normal or Student's quantile.

    After ``print``: the table that users of statsmodels know. `parameters` holds what the device leaves open.
    """

    formula: str
    family: str
    method: str  # "likelihood" or "corrected scores"
    errors: str
    terms: tuple[str, ...]
    estimates: Array
    covariance: Array
    log_likelihood: float
    n_reports: int
    n_missing: int
    level: float
    degrees_of_freedom: int | None  # of Student's quantile, with strata and clusters
    answers: tuple[str, ...]
    open_parameters: Mapping[str, tuple[float, float | None]]
    converged: bool
    warnings: tuple[str, ...]
    design: Array = field(repr=False)
    weights: Array = field(repr=False)
    rows: Rows = field(repr=False)
    predicts: Predicts = field(repr=False)
    people: NDArray[np.intp] | None = field(default=None, repr=False)  # the row of each, where those alike share one

    @property
    def standard_errors(self) -> Array:
        return np.sqrt(np.maximum(np.diag(self.covariance), 0))

    def _quantile(self) -> float:
        if self.degrees_of_freedom is None:
            return float(ndtri((1 + self.level) / 2))
        return float(stdtrit(self.degrees_of_freedom, (1 + self.level) / 2))

    def _p(self, z: float) -> float:
        tail = ndtr(-abs(z)) if self.degrees_of_freedom is None else stdtr(self.degrees_of_freedom, -abs(z))
        return float(2 * tail)

    @property
    def coefficients(self) -> tuple[Coefficient, ...]:
        """The coefficients in the order of the formula, the intercept first."""
        coefficients = []
        for term, value, error in zip(self.terms, self.estimates, self.standard_errors, strict=True):
            z = float(value / error) if error > 0 else math.inf
            margin = self._quantile() * float(error)
            coefficients.append(
                Coefficient(
                    term, float(value), float(error), z, self._p(z), float(value) - margin, float(value) + margin
                )
            )
        return tuple(coefficients)

    def __getitem__(self, term: str) -> Coefficient:
        for coefficient in self.coefficients:
            if coefficient.term == term:
                return coefficient

        raise UnknownName("Term", term, self.terms)

    @property
    def parameters(self) -> dict[str, dict[str, float | None]]:
        """What the device leaves open: honesty, cheaters, the share of the harmless yes."""
        return {name: self._open(value, error) for name, (value, error) in self.open_parameters.items()}

    def _open(self, value: float, error: float | None) -> dict[str, float | None]:
        low, high = (None, None) if error is None else interval_within(value, error, self._quantile())
        return {"estimate": value, "standard_error": error, "low": low, "high": high}

    @property
    def n_parameters(self) -> int:
        return len(self.terms) + len(self.open_parameters)

    @property
    def aic(self) -> float:
        """Akaike's criterion."""
        return 2 * self.n_parameters - 2 * self.log_likelihood

    @property
    def odds_ratios(self) -> dict[str, tuple[float, float, float]]:
        """For each term the factor on the odds, with the ends of its interval."""
        if self.family not in ("logit", "multinomial", "ordered"):
            raise InvalidInput(f"Odds ratios belong to logit, multinomial and ordered models, not to {self.family!r}.")
        return {c.term: (math.exp(c.estimate), math.exp(c.low), math.exp(c.high)) for c in self.coefficients}

    def likelihood_ratio(self, smaller: Regression) -> LikelihoodRatio:
        """The test of what this model has beyond a smaller one of the same people.

        Parameters
        ----------
        smaller : Regression
            A model with fewer terms, fitted to the same reports.

        Returns
        -------
        LikelihoodRatio
        """
        if self.method != "likelihood" or smaller.method != "likelihood":
            raise InvalidInput(
                "A likelihood ratio compares two models that were fitted by likelihood. One of these has disguised "
                "covariates and was fitted by corrected scores, which have no likelihood. Compare coefficients with their "
                "errors instead."
            )
        if smaller.n_reports != self.n_reports or not set(smaller.terms) <= set(self.terms):
            raise InvalidInput(
                "The smaller model must be fitted to the same respondents, with some of this model's terms and no others. "
                "Fit it again on the same data with fewer covariates."
            )
        freedom = self.n_parameters - smaller.n_parameters
        if freedom < 1:
            raise InvalidInput("Both models have the same number of terms, so there is nothing to test.")
        statistic = max(2 * (self.log_likelihood - smaller.log_likelihood), 0.0)
        return LikelihoodRatio(statistic, freedom, float(chdtrc(freedom, statistic)))

    def wald(self, terms: Sequence[str]) -> LikelihoodRatio:
        """A joint test that all of these terms are 0."""
        at = [self.terms.index(self[term].term) for term in terms]
        chosen = self.estimates[at]
        statistic = float(chosen @ np.linalg.solve(self.covariance[np.ix_(at, at)], chosen))
        return LikelihoodRatio(statistic, len(at), float(chdtrc(len(at), statistic)))

    def predict(self, data: Any = None) -> list[Prediction]:
        """Chances of every answer (of yes alone for two; the mean for numbers), with bands by the delta method.

        Parameters
        ----------
        data : data frame, optional
            The covariates of those to predict; the respondents' own without it.

        Returns
        -------
        list of Prediction
            One for each answer.
        """
        own = self.design if self.people is None else self.design[self.people]
        x = own if data is None else self.rows(data)
        values, slopes = self.predicts(x, self.estimates)
        errors = np.sqrt(np.maximum(np.einsum("nyq,qr,nyr->ny", slopes, self.covariance, slopes), 0))
        bounded = self.family not in ("linear", "poisson")
        predictions = []
        for at, answer in self._predicted_answers():
            low, high = (values[:, at] + sign * self._quantile() * errors[:, at] for sign in (-1, 1))
            if bounded:
                low, high = np.clip(low, 0, 1), np.clip(high, 0, 1)
            predictions.append(Prediction(answer, values[:, at], errors[:, at], low, high))
        return predictions

    def _predicted_answers(self) -> list[tuple[int, str]]:
        if self.family in ("linear", "poisson"):
            return [(0, "mean")]
        return [(1, self.answers[1])] if len(self.answers) == 2 else list(enumerate(self.answers))

    def marginal_effects(self) -> tuple[Coefficient, ...]:
        """Average marginal effects: how much the chance of the last answer changes per unit of each column of the design."""
        answer = self._predicted_answers()[-1][0]
        share = self.weights / self.weights.sum()
        coefficients = []
        for at, term in enumerate(self.terms[: self.design.shape[1]]):
            if term == "Intercept":
                continue
            effect, slope = self._average_effect(at, answer, share)
            error = math.sqrt(max(float(slope @ self.covariance @ slope), 0))
            z = effect / error if error else math.inf
            margin = self._quantile() * error
            coefficients.append(Coefficient(term, effect, error, z, self._p(z), effect - margin, effect + margin))
        return tuple(coefficients)

    def _average_effect(self, at: int, answer: int, share: Array) -> tuple[float, Array]:
        """The effect by differences: a column of zeros and ones is switched, any other moved a little."""
        column = self.design[:, at]
        switched = bool(np.isin(column, (0.0, 1.0)).all())
        low, high = self.design.copy(), self.design.copy()
        width = 1.0 if switched else max(float(column.std()), 1e-6) * 1e-4
        low[:, at] = 0.0 if switched else column - width / 2
        high[:, at] = 1.0 if switched else column + width / 2
        above, slope_above = self.predicts(high, self.estimates)
        below, slope_below = self.predicts(low, self.estimates)
        effect = float(share @ (above[:, answer] - below[:, answer])) / width
        return effect, share @ (slope_above[:, answer] - slope_below[:, answer]) / width

    def summary(self) -> str:
        """The table of coefficients, with what was fitted and whom the errors are for."""
        head = (
            f"{self.formula}   ({self.family}, by {self.method})\n"
            f"{self.n_reports:,} reports; log-likelihood {self.log_likelihood:.4f}; AIC {self.aic:.2f}; "
            f"errors: {self.errors}"
        )
        width = max([len(term) for term in self.terms] + [9])
        lines = [head, f"{'term':{width}}{'estimate':>12}{'std. error':>12}{'z':>9}{'p':>11}{'from':>11}{'to':>11}"]
        for c in self.coefficients:
            lines.append(
                f"{c.term:{width}}{c.estimate:12.4f}{c.standard_error:12.4f}{c.z:9.2f}{c.p:11.3g}{c.low:11.4f}{c.high:11.4f}"
            )
        for name, own in self.parameters.items():
            known = own["standard_error"] is not None
            shown = f"{own['standard_error']:12.4f}{'':18}{own['low']:11.4f}{own['high']:11.4f}" if known else ""
            lines.append(f"{name:{width}}{own['estimate']:12.4f}{shown}")
        return "\n".join([*lines, *(f"! {warning}" for warning in self.warnings)])

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"Regression({self.formula!r}, {self.family}, {self.n_reports:,} reports)"

    def _repr_html_(self) -> str:

        cells = "".join(
            f"<tr><th>{escape(c.term)}</th><td>{c.estimate:.4f}</td><td>{c.standard_error:.4f}</td><td>{c.z:.2f}</td>"
            f"<td>{c.p:.3g}</td><td>{c.low:.4f}</td><td>{c.high:.4f}</td></tr>"
            for c in self.coefficients
        )
        names = "".join(f"<th>{name}</th>" for name in ("", "estimate", "std. error", "z", "p", "from", "to"))
        return f"<table><caption>{escape(self.formula)}</caption><tr>{names}</tr>{cells}</table>"

    def to_document(self) -> dict[str, Any]:
        """The result for JSON."""
        return {
            "formula": self.formula,
            "family": self.family,
            "method": self.method,
            "errors": self.errors,
            "n_reports": self.n_reports,
            "n_missing": self.n_missing,
            "log_likelihood": self.log_likelihood,
            "aic": self.aic,
            "coefficients": [coefficient.to_document() for coefficient in self.coefficients],
            "parameters": self.parameters,
            "converged": self.converged,
            "warnings": list(self.warnings),
        }

    def plot(self, term: str) -> Figure:
        """The predicted chance of the last answer along one column of the design, all else at its mean, with its band."""
        at = self.terms.index(self[term].term)
        values = np.linspace(self.design[:, at].min(), self.design[:, at].max(), 60)
        x = np.tile(self.design.mean(axis=0), (len(values), 1))
        x[:, at] = values
        answer = self._predicted_answers()[-1][0]
        chances, slopes = self.predicts(x, self.estimates)
        error = np.sqrt(np.maximum(np.einsum("nq,qr,nr->n", slopes[:, answer], self.covariance, slopes[:, answer]), 0))
        margin = self._quantile() * error
        figure, axes = new_figure(6, 4)
        axes.plot(values, chances[:, answer])
        axes.fill_between(values, chances[:, answer] - margin, chances[:, answer] + margin, alpha=0.25)
        axes.set(xlabel=term, ylabel=f"chance of {self.answers[-1]}" if self.answers else "mean")
        return figure
