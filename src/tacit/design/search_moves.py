"""Ways out of a local optimum: square channels near a good one, but in another valley of the error."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.design import _merge_kernels, _optrr_kernels

Matrix = NDArray[np.float64]

MIXED = 0.5  # share of the random matrix
EXCHANGED = 0.3  # how much of what is possible goes to the new report
SWAPS = 2
MERGE_NOISE = 0.3


def cross_channels(matrix: Matrix, other: Matrix, rng: np.random.Generator) -> Matrix:
    """The channel with some columns of another, after matching the reports of the two."""
    from scipy.optimize import linear_sum_assignment

    _, names = linear_sum_assignment(-(matrix @ other.T))
    taken = rng.random(len(matrix)) < 0.5
    return np.where(taken, other[names], matrix)


def exchange_report(matrix: Matrix, prior: Matrix, rng: np.random.Generator) -> Matrix:
    """A new report, "one of these answers", made room for by merging two of the old."""
    n = len(prior)
    named = rng.random(n) < 0.5
    named[rng.integers(n)] = True
    report = np.where(named, EXCHANGED * prior[named].min(), 0.0)
    joint = np.vstack([(matrix - report / prior * matrix) * prior, report])
    merged: Matrix = _merge_kernels.merge_reports(joint, prior, n, 0.0, MERGE_NOISE, rng) / prior
    return merged / merged.sum(axis=0)


def swap_chances(matrix: Matrix, rng: np.random.Generator) -> Matrix:
    """Two chances of an answer change places, for a few answers."""
    changed = matrix.copy()
    for _ in range(SWAPS):
        answer = rng.integers(len(matrix))
        pair = rng.choice(len(matrix), 2, replace=False)
        changed[pair, answer] = changed[pair[::-1], answer]
    return changed


def mix_with_random(matrix: Matrix, prior: Matrix, rng: np.random.Generator) -> Matrix:
    """The average of the channel and a random one."""
    other = np.empty((1, *matrix.shape))
    _optrr_kernels.first_population(other, prior, 1.0, rng)
    return (1 - MIXED) * matrix + MIXED * other[0]
