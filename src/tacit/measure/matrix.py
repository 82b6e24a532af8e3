"""Privacy and expected error of a channel given as a dense matrix ``matrix[report, truth]`` (FORMULAS 2 and 3).

These functions assume a validated channel: non-negative entries, columns that sum to one, a prior without zeros.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def amplification(matrix: Matrix) -> float:
    """Largest ratio of two chances of one report: e to the epsilon of local differential privacy."""
    possible = matrix[matrix.max(axis=1) > 0]
    lowest = possible.min(axis=1)
    if (lowest == 0).any():
        return float("inf")
    return float((possible.max(axis=1) / lowest).max())


def posteriors(matrix: Matrix, prior: Matrix) -> Matrix:
    """What each report says of the truth: ``[report, truth]``; a report that cannot occur keeps the prior."""
    joint = matrix * prior
    seen = joint.sum(axis=1, keepdims=True)
    return np.where(seen > 0, joint / np.where(seen > 0, seen, 1), prior)


def worst_posterior(matrix: Matrix, prior: Matrix) -> float:
    """The surest any report makes anyone of any answer (OptRR eq. 9)."""
    return float(posteriors(matrix, prior).max())


def map_privacy(matrix: Matrix, prior: Matrix, accuracy: Matrix | None = None) -> float:
    """How often the best guesser is wrong (OptRR eq. 8); with `accuracy[guess, truth]`, eq. 4 and 5."""
    joint = matrix * prior
    if accuracy is None:
        return float(1 - joint.max(axis=1).sum())
    return float(1 - (joint @ accuracy.T).max(axis=1).sum())


def prediction_entropy(matrix: Matrix, prior: Matrix) -> float:
    """Chance that a guess drawn from the posterior misses: PSE of the electronic surveys study, for any answers."""
    joint = matrix * prior
    seen = joint.sum(axis=1)
    return float(1 - (joint[seen > 0] ** 2 / seen[seen > 0, None]).sum())


def best_inverse(matrix: Matrix, prior: Matrix) -> Matrix:
    """The unbiased linear estimator with the least variance when `prior` is true: ``left @ matrix == identity``.

    With as many reports as truths this is the inverse, whatever the prior.
    """
    expected = matrix @ prior
    rows = matrix[expected > 0]
    weighted = rows / expected[expected > 0, None]
    left = np.zeros((matrix.shape[1], matrix.shape[0]))
    left[:, expected > 0] = np.linalg.solve(rows.T @ weighted, weighted.T)
    return left


def expected_mse(matrix: Matrix, prior: Matrix, records: int) -> float:
    """Mean squared error of the best unbiased estimate, averaged over the answers; infinite if there is none.

    ``(trace J^-1 - |p|^2) / (n N)`` with the information ``J = A^T diag(A p)^-1 A``; OptRR's theorem 6 for square A.
    """
    expected = matrix @ prior
    rows = matrix[expected > 0]
    information = rows.T @ (rows / expected[expected > 0, None])
    eigenvalues = np.linalg.eigvalsh(information)
    if eigenvalues[0] <= eigenvalues[-1] * len(prior) * np.finfo(np.float64).eps:
        return float("inf")
    return float(((1 / eigenvalues).sum() - prior @ prior) / (len(prior) * records))
