"""Formulas of a channel that is written out as a matrix ``matrix[report, truth]`` (Huang and Du 2008).

They assume a valid channel: no negative entries, columns that sum to one; a prior is a distribution over the truths.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.channel.codes import Array

Matrix = NDArray[np.float64]
Number = TypeVar("Number", float, Fraction)

IDENTIFIED = 1e-7  # of a wanted number, relative: less than this outside of what reports tell is rounding


@dataclass(frozen=True)
class Figures:
    """MAP privacy, worst posterior and PSE under one prior, all three chances; a figure that cannot be computed is None."""

    map_privacy: float | None
    worst_posterior: float | None
    pse: float | None

    def __post_init__(self) -> None:
        # Sums of many chances may end a hair below 0 or above 1.
        for name in ("map_privacy", "worst_posterior", "pse"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, min(max(float(value), 0.0), 1.0))


UNKNOWN = Figures(None, None, None)


def dense_figures(matrix: Matrix, prior: Array) -> Figures:
    return Figures(
        map_privacy(matrix, prior),
        worst_posterior(matrix, prior),
        prediction_entropy(matrix, prior),
    )


def mixture_matrix(keep: float, personal: Array) -> Matrix:
    """The truth with chance `keep`, else a draw from `personal`; other answers than the truth where `keep` is negative."""
    return keep * np.eye(len(personal)) + (1 - keep) * personal[:, None]


def even_mixture(n_answers: int, keep: float) -> Matrix:
    """The truth with chance `keep`, else any answer: the one family that Warner's and FRAPP's names are parameters of."""
    return np.maximum(mixture_matrix(keep, np.full(n_answers, 1 / n_answers)), 0.0)  # rounding may leave less than 0


def warner_keep(n_answers: int, p: Number) -> Number:
    """The `keep` of the mixture that tells the truth with chance `p`, else any *other* answer (Warner 1965)."""
    return (n_answers * p - 1) / (n_answers - 1)


def gamma_diagonal_keep(n_answers: int, gamma: Number) -> Number:
    """The `keep` of the mixture whose true answer is `gamma` times as likely as any other (FRAPP's DET-GD)."""
    return (gamma - 1) / (gamma + n_answers - 1)


def amplification(matrix: Matrix) -> float:
    """Largest ratio of two chances of one report: e to the epsilon of local differential privacy."""
    possible = matrix[matrix.max(axis=1) > 0]
    lowest = possible.min(axis=1)
    return float((possible.max(axis=1) / lowest).max()) if lowest.all() else math.inf


def posteriors(matrix: Matrix, prior: Array) -> Array:
    """What each report says of the truth: ``[report, truth]``; a report that cannot occur keeps the prior."""
    joint = matrix * prior
    seen = joint.sum(axis=1, keepdims=True)
    return np.where(seen > 0, joint / np.where(seen > 0, seen, 1), prior)


def worst_posterior(matrix: Matrix, prior: Array) -> float:
    """The surest any report makes anyone of any answer (OptRR eq. 9)."""
    return float(posteriors(matrix, prior).max())


def map_privacy(matrix: Matrix, prior: Array, accuracy: Array | None = None) -> float:
    """How often the best guesser is wrong (OptRR eq. 8); with `accuracy[guess, truth]`, eq. 4 and 5."""
    joint = matrix * prior
    if accuracy is None:
        return float(1 - joint.max(axis=1).sum())
    return float(1 - (joint @ accuracy.T).max(axis=1).sum())


def prediction_entropy(matrix: Matrix, prior: Array) -> float:
    """Chance that a guess drawn from the posterior misses: PSE of the electronic surveys study, for any answers."""
    joint = matrix * prior
    seen = joint.sum(axis=1)
    return float(1 - (joint[seen > 0] ** 2 / seen[seen > 0, None]).sum())


def wanted_variances(matrix: Matrix, prior: Array, weights: Array) -> Array:
    """Variance of one report's contribution to each number ``weights @ shares``, by the best unbiased estimate at `prior`.

    ``v' J^+ v - (v . p)^2`` with the information ``J = A' diag(A p)^-1 A`` (FORMULAS 15; OptRR's theorem 6 for square A and
    shares); infinite where the reports do not identify v.
    """
    expected = matrix @ prior
    rows = matrix[expected > 0] / np.sqrt(expected[expected > 0, None])
    # Singular values of the rows are roots of the information's eigenvalues: squaring would lose half of the digits.
    _, singular, right = np.linalg.svd(rows, full_matrices=False)
    nonzero = singular > singular[0] * max(rows.shape) * np.finfo(np.float64).eps
    components = weights @ right[nonzero].T
    missed = np.abs(weights - components @ right[nonzero]).max(axis=1)
    variances = ((components / singular[nonzero]) ** 2).sum(axis=1) - (weights @ prior) ** 2
    return np.where(missed <= IDENTIFIED * np.abs(weights).max(axis=1), variances, np.inf)


def expected_mse(matrix: Matrix, prior: Array, records: int) -> float:
    """Mean squared error of the best unbiased estimate, averaged over the answers; infinite if there is none."""
    n = len(prior)
    return float(np.full(n, 1 / n) @ wanted_variances(matrix, prior, np.eye(n))) / records


def best_inverse(matrix: Matrix, truth: Array) -> Array:
    """The unbiased linear estimator with the least variance when `truth` is true: ``left @ matrix == identity``.

    ``(A^T D^-1 A)^-1 A^T D^-1`` with ``D = diag(A truth)``; with as many reports as truths it is the inverse, whatever
    the truth.
    """
    expected = matrix @ truth
    possible = expected > 0
    weighted = matrix[possible] / expected[possible, None]
    left = np.zeros((matrix.shape[1], matrix.shape[0]))
    left[:, possible] = np.linalg.solve(matrix[possible].T @ weighted, weighted.T)
    return left


def singular_extremes(matrix: Matrix) -> tuple[float, float]:
    """The largest and the smallest singular value; what rounding leaves of a zero is zero."""
    singular = np.linalg.svd(matrix, compute_uv=False)
    largest, smallest = float(singular[0]), float(singular[-1])
    if len(matrix) < matrix.shape[1] or smallest <= largest * max(matrix.shape) * np.finfo(np.float64).eps:
        smallest = 0.0
    return largest, smallest


def condition(extremes: tuple[float, float]) -> float:
    """How much inverting may magnify noise, from the extreme singular values."""
    largest, smallest = extremes
    return largest / smallest if smallest else math.inf


def attribute_law(matrix: Matrix, shape: tuple[int, ...], axis: int, prior: Array) -> Array:
    """Chance of each whole report given one attribute's answer, the others distributed as in the prior."""
    joint = (matrix * prior.reshape(-1)).reshape(-1, *shape)
    others = tuple(other + 1 for other in range(len(shape)) if other != axis)
    shares = joint.sum(axis=others)
    total = shares.sum(axis=0)
    # An answer nobody gives has no law; it carries no weight in any figure.
    return np.asarray(shares / np.where(total > 0, total, 1))
