"""How the chances of the answers follow from covariates: one or several linear predictors, and their derivatives.

A family turns linear predictors ``u[row, predictor]`` into the chance of every answer, with first and second
derivatives; everything else (likelihood, gradient, information) is the same for all families.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from tacit.regression.even_terms import EvenTerms

Array = NDArray[np.float64]
FamilyName = Literal["logit", "probit", "multinomial", "ordered", "linear", "poisson"]
FAMILIES: tuple[FamilyName, ...] = ("logit", "probit", "multinomial", "ordered", "linear", "poisson")


class Chances(NamedTuple):
    """Of every answer ``[row, answer]``, with derivatives by the predictors ``[row, answer, p]`` and ``[..., p, q]``."""

    values: Array
    slopes: Array
    curvatures: Array


class Family(ABC):
    """The chances of answers given linear predictors."""

    has_intercept = True

    def __init__(self, answers: Sequence[str]) -> None:
        self.answers = tuple(answers)

    @property
    @abstractmethod
    def n_predictors(self) -> int: ...

    @abstractmethod
    def chances(self, u: Array) -> Chances: ...

    @abstractmethod
    def parameters(self, terms: Sequence[str]) -> list[str]:
        """Names of the coefficients, for a design with these terms."""

    @abstractmethod
    def predictors(self, x: Array, beta: Array) -> Array:
        """``u`` for rows of the design."""

    @abstractmethod
    def coefficient_slopes(self, x: Array, by_predictor: Array) -> Array:
        """``[row, coefficient]`` from ``[row, predictor]``: the derivatives by the coefficients."""

    @abstractmethod
    def cross_products(self, x: Array, weights: Array) -> Array:
        """``sum over rows of (du/dbeta)^T weights[row, p, q] (du/dbeta)``."""

    @abstractmethod
    def restoring_map(self, even: EvenTerms) -> Array:
        """The map from the coefficients of even terms to those of the terms themselves."""

    @abstractmethod
    def start(self, n_terms: int, shares: Array) -> Array:
        """Coefficients to begin with, given rough shares of the answers."""


class Binary(Family):
    """Yes or no with one predictor: logit or probit."""

    def __init__(self, answers: Sequence[str], link: Literal["logit", "probit"]) -> None:
        super().__init__(answers)
        self.link = link

    @property
    def n_predictors(self) -> int:
        return 1

    def yes(self, v: Array) -> tuple[Array, Array, Array]:
        """The chance of yes, with its first and second derivative."""
        if self.link == "logit":
            p = expit(v)
            slope = p * (1 - p)
            return p, slope, slope * (1 - 2 * p)
        slope = np.exp(-0.5 * v * v) / np.sqrt(2 * np.pi)
        return ndtr(v), slope, -v * slope

    def chances(self, u: Array) -> Chances:
        v = u[:, 0]
        p, slope, curve = self.yes(v)
        no = expit(-v) if self.link == "logit" else ndtr(-v)
        values = np.stack([no, p], axis=1)
        slopes = np.stack([-slope, slope], axis=1)[:, :, None]
        return Chances(values, slopes, np.stack([-curve, curve], axis=1)[:, :, None, None])

    def parameters(self, terms: Sequence[str]) -> list[str]:
        return list(terms)

    def predictors(self, x: Array, beta: Array) -> Array:
        return (x @ beta)[:, None]

    def coefficient_slopes(self, x: Array, by_predictor: Array) -> Array:
        return x * by_predictor

    def cross_products(self, x: Array, weights: Array) -> Array:
        return (x * weights[:, 0]).T @ x

    def restoring_map(self, even: EvenTerms) -> Array:
        return even.back

    def start(self, n_terms: int, shares: Array) -> Array:
        return np.zeros(n_terms)


class Multinomial(Family):
    """Any number of answers: a predictor for each but the first (multinomial logit)."""

    @property
    def n_predictors(self) -> int:
        return len(self.answers) - 1

    def chances(self, u: Array) -> Chances:
        full = np.concatenate([np.zeros((len(u), 1)), u], axis=1)
        full = np.exp(full - full.max(axis=1, keepdims=True))
        p = full / full.sum(axis=1, keepdims=True)
        inner = p[:, 1:]
        same = np.eye(len(self.answers))[:, 1:]  # [answer, predictor]
        off = same[None] - inner[:, None, :]
        slopes = p[:, :, None] * off
        spread = inner[:, :, None] * (np.eye(inner.shape[1]) - inner[:, None, :])
        curvatures = p[:, :, None, None] * (off[:, :, :, None] * off[:, :, None, :] - spread[:, None])
        return Chances(p, slopes, curvatures)

    def parameters(self, terms: Sequence[str]) -> list[str]:
        return [f"{answer}: {term}" for answer in self.answers[1:] for term in terms]

    def predictors(self, x: Array, beta: Array) -> Array:
        return x @ beta.reshape(self.n_predictors, -1).T

    def coefficient_slopes(self, x: Array, by_predictor: Array) -> Array:
        return (by_predictor[:, :, None] * x[:, None, :]).reshape(len(x), -1)

    def cross_products(self, x: Array, weights: Array) -> Array:
        k, q = self.n_predictors, x.shape[1]
        blocks = np.empty((k, q, k, q))
        for i in range(k):
            for j in range(k):
                blocks[i, :, j, :] = (x * weights[:, i, j, None]).T @ x
        return blocks.reshape(k * q, k * q)

    def restoring_map(self, even: EvenTerms) -> Array:
        return np.asarray(np.kron(np.eye(self.n_predictors), even.back), dtype=np.float64)

    def start(self, n_terms: int, shares: Array) -> Array:
        return np.zeros(self.n_predictors * n_terms)


class Ordered(Family):
    """Ordered answers: one line of covariates, and thresholds between neighbours (proportional odds).

    The predictors are ``threshold_c - x beta``; the thresholds take the intercept's place.
    """

    has_intercept = False

    @property
    def n_predictors(self) -> int:
        return len(self.answers) - 1

    def chances(self, u: Array) -> Chances:
        n, k = u.shape
        below = expit(u)
        slope = below * (1 - below)
        curve = slope * (1 - 2 * below)
        zero, ones = np.zeros((n, 1)), np.ones((n, 1))
        values = np.diff(np.concatenate([zero, below, ones], axis=1), axis=1)
        slopes, curvatures = np.zeros((n, k + 1, k)), np.zeros((n, k + 1, k, k))
        for c in range(k):
            slopes[:, c, c] += slope[:, c]
            slopes[:, c + 1, c] -= slope[:, c]
            curvatures[:, c, c, c] += curve[:, c]
            curvatures[:, c + 1, c, c] -= curve[:, c]
        return Chances(values, slopes, curvatures)

    def parameters(self, terms: Sequence[str]) -> list[str]:
        between = [f"{low}|{high}" for low, high in zip(self.answers, self.answers[1:], strict=False)]
        return [*terms, *between]

    def predictors(self, x: Array, beta: Array) -> Array:
        q = x.shape[1]
        return beta[None, q:] - (x @ beta[:q])[:, None]

    def coefficient_slopes(self, x: Array, by_predictor: Array) -> Array:
        return np.concatenate([-x * by_predictor.sum(axis=1, keepdims=True), by_predictor], axis=1)

    def cross_products(self, x: Array, weights: Array) -> Array:
        q, k = x.shape[1], self.n_predictors
        total = np.empty((q + k, q + k))
        by_row = weights.sum(axis=2)
        total[:q, :q] = (x * by_row.sum(axis=1, keepdims=True)).T @ x
        total[:q, q:] = -(x.T @ by_row)
        total[q:, :q] = total[:q, q:].T
        total[q:, q:] = weights.sum(axis=0)
        return total

    def restoring_map(self, even: EvenTerms) -> Array:
        lines, thresholds = len(even.shift), self.n_predictors
        whole = np.eye(lines + thresholds)
        whole[:lines, :lines] = even.back
        whole[lines:, :lines] = -even.shift
        return whole

    def start(self, n_terms: int, shares: Array) -> Array:
        cumulated = np.clip(np.cumsum(shares)[:-1], 0.02, 0.98)
        apart = np.maximum.accumulate(cumulated + 1e-3 * np.arange(len(cumulated)))
        return np.concatenate([np.zeros(n_terms), np.log(apart / (1 - apart))])


@dataclass(frozen=True)
class ClearScore:
    """The score of clear data: what is solved with possibly negative weights where covariates are disguised."""

    name: FamilyName

    def mean(self, u: Array) -> Array:
        if self.name == "linear":
            return u
        return expit(u) if self.name == "logit" else np.exp(np.minimum(u, 50))

    def slope(self, u: Array) -> Array:
        """Derivative of the mean by the predictor."""
        if self.name == "linear":
            return np.ones_like(u)
        mean = self.mean(u)
        return mean * (1 - mean) if self.name == "logit" else mean

    def log_likelihood(self, y: Array, u: Array) -> Array:
        """Up to what does not depend on the coefficients; for numbers the negative half square."""
        if self.name == "linear":
            return -0.5 * (y - u) ** 2
        if self.name == "poisson":
            return y * u - self.mean(u)
        return y * u - np.logaddexp(0, u)


def family_for(name: FamilyName, answers: Sequence[str]) -> Family:
    """The family of a disguised outcome with these answers."""
    if name == "multinomial":
        return Multinomial(answers)
    if name == "ordered":
        return Ordered(answers)
    return Binary(answers, "probit" if name == "probit" else "logit")
