"""A regression as a result: coefficients with errors, tests, predictions and effects."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, fdtrc, ndtr, ndtri, stdtr, stdtrit

from tacit.display import Shown, new_figure
from tacit.errors import InvalidInput, UnknownName
from tacit.estimation.intervals import interval_within
from tacit.estimation.study_record import StudyRecord
from tacit.regression.profile import Profile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
# Designs of other people: data in, rows of the design out.
Rows = Callable[[Any], Array]
# Chances of the answers (or the mean) for rows of the design, with derivatives by the coefficients.
Predicts = Callable[[Array, Array], tuple[Array, Array]]
# A number is moved by so much of its standard deviation to get a derivative: the errors of rounding and of curvature are
# both near 1e-11 there.
STEP = 6e-6
DRAWN_VALUES = 40  # of a number along which predictions are drawn


@dataclass(frozen=True)
class Coefficient:
    """A term's estimate and error; its test and interval, and beside them those of Wald (estimate over error)."""

    term: str
    estimate: float
    standard_error: float
    z: float
    p: float
    low: float
    high: float
    p_wald: float
    low_wald: float
    high_wald: float

    def to_document(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass(frozen=True)
class LikelihoodRatio:
    """A test of the terms that a smaller model lacks.

    With weights or clusters it is Rao and Scott's: the statistic is divided by the mean effect of the design and held against
    an F distribution.
    """

    statistic: float
    degrees_of_freedom: float
    p: float
    design_degrees_of_freedom: float | None = None

    def __str__(self) -> str:
        if self.design_degrees_of_freedom is None:
            return (
                f"chi-square {self.statistic:.3f} on {self.degrees_of_freedom:g} degrees of freedom, p = {self.p:.3g}"
            )
        return (
            f"F {self.statistic:.3f} on {self.degrees_of_freedom:.4g} and {self.design_degrees_of_freedom:.4g} degrees of "
            f"freedom, p = {self.p:.3g}"
        )


@dataclass(frozen=True, eq=False)
class Prediction:
    """Predicted chances of an answer (or means), with their band."""

    answer: str
    estimate: Array
    standard_error: Array
    low: Array
    high: Array


@dataclass(frozen=True, eq=False)
class FormulaPeople:
    """The covariates of those who were fitted, one row for each kind of person, and what each row counts."""

    frame: Any  # a pandas frame with a column for each covariate
    weights: Array  # negative ones undo a device
    categories: frozenset[str]  # numbers that the formula takes as categories, by C(...)

    def changes(self, name: str, terms: Sequence[str]) -> Iterator[tuple[str, Any, Any]]:
        """For each effect of a covariate its name, and the covariate's values before and after the change."""
        column = self.frame[name]
        if not self.is_number(name):
            levels = self.levels(name)
            named = [level for level in levels if any(term.endswith(f"[T.{level}]") and name in term for term in terms)]
            base = next((level for level in levels if level not in named), levels[0])
            for level in levels:
                if level != base:
                    yield f"{name}[T.{level}]", self.set_to(name, base), self.set_to(name, level)
            return
        values = column.to_numpy(dtype=np.float64)
        if np.isin(values, (0.0, 1.0)).all():
            yield name, np.zeros_like(values), np.ones_like(values)
            return
        step = STEP * (float(values.std()) or 1.0)
        # Nobody is moved beyond the data: splines end there.
        yield name, np.maximum(values - step, values.min()), np.minimum(values + step, values.max())

    def is_number(self, name: str) -> bool:
        return self.frame[name].dtype.kind in "fiub" and name not in self.categories

    def levels(self, name: str) -> list[Any]:
        column = self.frame[name]
        return list(column.cat.categories) if str(column.dtype) == "category" else sorted(column.unique())

    def set_to(self, name: str, value: Any) -> Any:
        """A column in which everybody has one value."""
        import pandas as pd

        column = self.frame[name]
        if str(column.dtype) == "category":
            code = list(column.cat.categories).index(value)
            return pd.Categorical.from_codes(np.full(len(column), code), dtype=column.dtype)
        return np.full(len(column), value, dtype=column.to_numpy().dtype)


@dataclass(frozen=True, eq=False, repr=False)
class Regression(Shown):
    """A fitted regression. Its errors are those that were asked for.

    The p of a coefficient is that of its likelihood ratio, its interval the profile of the likelihood, both scaled by the
    effect of the design where there is one (`tests` says which); Wald's stand beside them. With disguised covariates there
    is no likelihood, and all are Wald's. `parameters` holds what the device leaves open. The names of statsmodels
    (`params`, `bse`, `pvalues`, `conf_int()`, `cov_params()`) are understood too.
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
    fitted_people: FormulaPeople = field(repr=False)
    people: NDArray[np.intp] | None = field(default=None, repr=False)  # the row of each, where those alike share one
    profile: Profile | None = field(default=None, repr=False)
    readings: tuple[str, ...] = ()
    study: StudyRecord = field(default_factory=StudyRecord, repr=False)

    plotted = "estimate"

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
    def tests(self) -> str:
        """Where the p and the interval of a coefficient come from."""
        if self.profile is None or self.profile.is_costly:
            return "Wald"
        return "likelihood ratio" if self.degrees_of_freedom is None else "likelihood ratio (Rao-Scott)"

    def _wald(self, term: str, value: float, error: float) -> Coefficient:
        z = value / error if error > 0 else math.inf
        ends = value - self._quantile() * error, value + self._quantile() * error
        return Coefficient(term, value, error, z, self._p(z), *ends, self._p(z), *ends)

    @cached_property
    def coefficients(self) -> tuple[Coefficient, ...]:
        """The coefficients in the order of the formula, the intercept first."""
        by_wald = [
            self._wald(term, float(value), float(error))
            for term, value, error in zip(self.terms, self.estimates, self.standard_errors, strict=True)
        ]
        if self.profile is None or self.profile.is_costly:
            return tuple(by_wald)
        return tuple(self._profile_coefficient(at, wald, self.profile) for at, wald in enumerate(by_wald))

    def _profile_coefficient(self, at: int, wald: Coefficient, profile: Profile) -> Coefficient:
        """The coefficient with the test and the interval of its likelihood, divided by the effect of the design."""
        scale = wald.standard_error / math.sqrt(profile.covariance[at, at])
        if not (scale > 0 and math.isfinite(scale)):
            return wald
        scale = scale if profile.is_scaled else 1.0
        p = self._p(profile.root(at, 0.0) / scale)
        low, high = (profile.end(at, side * self._quantile() * scale) for side in (-1, 1))
        return Coefficient(
            wald.term, wald.estimate, wald.standard_error, wald.z, p, low, high, wald.p, wald.low, wald.high
        )

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
        with np.errstate(over="ignore"):
            return {
                c.term: (float(np.exp(c.estimate)), float(np.exp(c.low)), float(np.exp(c.high)))
                for c in self.coefficients
            }

    def _series(self, values: Sequence[float]) -> Any:
        import pandas as pd

        return pd.Series(list(values), index=list(self.terms))

    @property
    def params(self) -> Any:
        """The estimates as a pandas series, as statsmodels calls them."""
        return self._series(self.estimates.tolist())

    @property
    def bse(self) -> Any:
        """The standard errors as a pandas series."""
        return self._series(self.standard_errors.tolist())

    @property
    def pvalues(self) -> Any:
        """The p of each term as a pandas series."""
        return self._series([c.p for c in self.coefficients])

    def conf_int(self) -> Any:
        """The ends of the intervals as a pandas frame with the columns 0 and 1."""
        import pandas as pd

        return pd.DataFrame([(c.low, c.high) for c in self.coefficients], index=list(self.terms))

    def cov_params(self) -> Any:
        """The covariance of the estimates as a pandas frame."""
        import pandas as pd

        return pd.DataFrame(self.covariance, index=list(self.terms), columns=list(self.terms))

    def likelihood_ratio(self, smaller: Regression) -> LikelihoodRatio:
        """The test of what this model has beyond a smaller one of the same people; with a design Rao and Scott's.

        Parameters
        ----------
        smaller : Regression
            A model with fewer terms, fitted to the same reports.

        Returns
        -------
        LikelihoodRatio
        """
        if self.profile is None or smaller.profile is None:
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
        tested = [at for at, term in enumerate(self.terms) if term not in smaller.terms]
        if not self.profile.is_scaled or not tested:
            return LikelihoodRatio(statistic, freedom, float(chdtrc(freedom, statistic)))
        block = np.ix_(tested, tested)
        effects = np.linalg.eigvals(np.linalg.solve(self.profile.covariance[block], self.covariance[block])).real
        mean = float(effects.mean())
        apart = float(effects.var()) / mean**2  # Satterthwaite: how far the effects of the design differ
        first = freedom / (1 + apart)
        f = statistic / freedom / mean
        if self.degrees_of_freedom is None:
            return LikelihoodRatio(f * first, first, float(chdtrc(first, f * first)))
        second = first * self.degrees_of_freedom
        return LikelihoodRatio(f, first, float(fdtrc(first, second, f)), second)

    def wald(self, terms: Sequence[str]) -> LikelihoodRatio:
        """A joint test that all of these terms are 0."""
        at = [self.terms.index(self[term].term) for term in terms]
        chosen = self.estimates[at]
        statistic = float(chosen @ np.linalg.solve(self.covariance[np.ix_(at, at)], chosen))
        if self.degrees_of_freedom is None:
            return LikelihoodRatio(statistic, len(at), float(chdtrc(len(at), statistic)))
        f, second = statistic / len(at), float(self.degrees_of_freedom)
        return LikelihoodRatio(f, len(at), float(fdtrc(len(at), second, f)), second)

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
        design = self.design if self.people is None else self.design[self.people]
        values, slopes = self.predicts(design if data is None else self.rows(data), self.estimates)
        return [self._prediction(answer, values[:, at], slopes[:, at]) for at, answer in self._predicted_answers()]

    def _prediction(self, answer: str, values: Array, slopes: Array) -> Prediction:
        """Predictions with their bands, from how they change with the coefficients."""
        errors = np.sqrt(np.maximum(np.einsum("nq,qr,nr->n", slopes, self.covariance, slopes), 0))
        low, high = (values + sign * self._quantile() * errors for sign in (-1, 1))
        if self.family not in ("linear", "poisson"):
            low, high = np.clip(low, 0, 1), np.clip(high, 0, 1)
        return Prediction(answer, values, errors, low, high)

    def _predicted_answers(self) -> list[tuple[int, str]]:
        if self.family in ("linear", "poisson"):
            return [(0, "mean")]
        return [(1, self.answers[1])] if len(self.answers) == 2 else list(enumerate(self.answers))

    def _predict_changed(self, **changed: Any) -> tuple[Array, Array]:
        """For each person the chance of the last answer if covariates had other values, and its slopes."""
        frame = self.fitted_people.frame.assign(**changed)
        values, slopes = self.predicts(self.rows(frame), self.estimates)
        answer = self._predicted_answers()[-1][0]
        return values[:, answer], slopes[:, answer]

    def marginal_effects(self) -> tuple[Coefficient, ...]:
        """Average marginal effects on the chance of the last answer (or the mean).

        The data are changed, the design is made anew, and predictions are averaged: a category and a 0/1 covariate is set for
        everybody to each level and to the base level, a number is moved by a small step.
        """
        people = self.fitted_people
        share = people.weights / people.weights.sum()
        effects = []
        for name in people.frame.columns:
            for term, before, after in people.changes(name, self.terms):
                above, slopes_above = self._predict_changed(**{name: after})
                below, slopes_below = self._predict_changed(**{name: before})
                width = after - before if term == name else np.ones(len(share))
                effect = float(share @ ((above - below) / width))
                slope = share @ ((slopes_above - slopes_below) / width[:, None])
                effects.append(self._wald(term, effect, math.sqrt(max(float(slope @ self.covariance @ slope), 0))))
        return tuple(effects)

    def headline(self) -> str:
        return f"{self.formula} ({self.family}, by {self.method}), {self.n_reports:,} reports; errors: {self.errors}"

    def shown_rows(self) -> list[dict[str, Any]]:
        """Every coefficient, then what the device leaves open."""
        names = ("term", "estimate", "standard_error", "z", "p", "low", "high", "p_wald", "low_wald", "high_wald")
        rows = [coefficient.to_document() for coefficient in self.coefficients]
        return rows + [dict.fromkeys(names) | {"term": name} | values for name, values in self.parameters.items()]

    def methods_text(self) -> str:
        """The paragraph for a methods section, from what was really used."""
        fitted = (
            "by maximum likelihood of the reports, given their law"
            if self.method == "likelihood"
            else "by solving the scores of the clear data with the weights that undo the disguise (corrected scores)"
        )
        estimator = f"The {self.family} model {self.formula} was fitted {fitted}"
        return self.study.methods(estimator, self.errors, self.tests, self.level, (self.n_reports, self.n_missing))

    def summary(self) -> str:
        """The table of coefficients, with what was fitted and whom the errors are for."""
        head = (
            f"{self.formula}   ({self.family}, by {self.method})\n"
            f"{self.n_reports:,} reports; log-likelihood {self.log_likelihood:.4f}; AIC {self.aic:.2f}; "
            f"errors: {self.errors}; tests: {self.tests}"
        )
        names = ("term", "estimate", "std. error", "z", "p", "from", "to")
        lines = [names, *self.text_rows()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = [
            "  ".join([line[0].ljust(widths[0]), *(t.rjust(w) for t, w in zip(line[1:], widths[1:], strict=True))])
            for line in lines
        ]
        return "\n".join([head, *(line.rstrip() for line in table), *(f"! {warning}" for warning in self.warnings)])

    def text_rows(self) -> list[tuple[str, ...]]:
        """Term, estimate, error, z, p and interval as texts; each row has four decimals, or two digits of its error."""
        return [_texts(row) for row in self.shown_rows()]

    def __repr__(self) -> str:
        return f"Regression({self.formula!r}, {self.family}, {self.n_reports:,} reports)"

    def to_document(self) -> dict[str, Any]:
        """The result for JSON."""
        return {
            "formula": self.formula,
            "family": self.family,
            "method": self.method,
            "errors": self.errors,
            "tests": self.tests,
            "n_reports": self.n_reports,
            "n_missing": self.n_missing,
            "log_likelihood": self.log_likelihood,
            "aic": self.aic,
            "level": self.level,
            "degrees_of_freedom": self.degrees_of_freedom,
            "coefficients": [coefficient.to_document() for coefficient in self.coefficients],
            "parameters": self.parameters,
            "converged": self.converged,
            "study": self.study.to_document(),
            "readings": list(self.readings),
            "warnings": list(self.warnings),
        }

    def plot(self, term: str | None = None, ax: Axes | None = None) -> Axes:  # type: ignore[override]
        """The coefficients with their intervals; of a covariate, the average prediction if everybody had each of its values.

        Parameters
        ----------
        term : str, optional
            A covariate, or a term that holds it.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not said.
        """
        if term is None:
            return super().plot(ax)
        people = self.fitted_people
        names = [name for name in people.frame.columns if name == term] or [
            name for name in people.frame.columns if name in self[term].term
        ]
        if not names:
            raise InvalidInput(f"The term {term!r} holds no covariate, so there is nothing to draw it along.")
        name = names[0]
        values = people.levels(name) if not people.is_number(name) else self._grid(name)
        share = people.weights / people.weights.sum()
        chances, slopes = zip(
            *(self._predict_changed(**{name: people.set_to(name, value)}) for value in values), strict=True
        )
        answer = self._predicted_answers()[-1][1]
        drawn = self._prediction(answer, np.array(chances) @ share, np.einsum("vnq,n->vq", np.array(slopes), share))
        axes = new_figure(6, 4)[1] if ax is None else ax
        if people.is_number(name):
            axes.plot(values, drawn.estimate)
            axes.fill_between(values, drawn.low, drawn.high, alpha=0.25)
        else:
            axes.errorbar(
                range(len(values)), drawn.estimate, [drawn.estimate - drawn.low, drawn.high - drawn.estimate], fmt="o"
            )
            axes.set_xticks(range(len(values)), [str(value) for value in values])
        axes.set(xlabel=name, ylabel=f"chance of {answer}" if self.answers else "mean")
        return axes

    def draw(self, term: str | None) -> Figure:
        """The plot of a term as a figure of its own, to be written to a file."""
        figure, axes = new_figure(6, 4)
        self.plot(term, axes)
        return figure

    def _grid(self, name: str) -> list[float]:
        values = self.fitted_people.frame[name]
        return np.linspace(values.min(), values.max(), DRAWN_VALUES).tolist()


def _texts(row: Mapping[str, Any]) -> tuple[str, ...]:
    error = row["standard_error"]
    places = 4 if not error else min(max(4, 1 - math.floor(math.log10(error))), 12)
    numbers = {name: "-" if row[name] is None else f"{row[name]:.{places}f}" for name in ("estimate", "low", "high")}
    z, p = (("" if row[name] is None else form.format(row[name])) for name, form in (("z", "{:.2f}"), ("p", "{:.3g}")))
    return (
        row["term"],
        numbers["estimate"],
        "-" if error is None else f"{error:.{places}f}",
        z,
        p,
        numbers["low"],
        numbers["high"],
    )
