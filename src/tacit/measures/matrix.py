"""Privacy and expected error of a channel given as a dense matrix ``matrix[report, truth]`` (Huang and Du 2008).

These functions assume a validated channel: non-negative entries, columns that sum to one, a prior without zeros.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.channel.dense import best_inverse
from tacit.channel.dense import dense_amplification as amplification

Matrix = NDArray[np.float64]

__all__ = [
    "Matrix",
    "amplification",
    "best_inverse",
    "expected_mse",
    "map_privacy",
    "posteriors",
    "prediction_entropy",
    "worst_posterior",
]


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
