"""Reports merged one pair at a time until as many are left as there are answers, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.design._matrix_kernels import invert
from tacit.kernels import kernel

Array = NDArray[np.float64]

SINGULAR = 1e-12  # share of the information in one direction below which nothing is known about it


@kernel
def added_traces(joint: Array, prior: Array) -> Array:
    """For every pair of reports (rows of the joint distribution) what telling them as one adds to ``trace J^-1``.

    Merging takes ``c d d^T`` from the information, with `d` the difference of the two likelihoods, so Sherman and
    Morrison's formula gives all pairs from one inverse.
    """
    count, n = joint.shape
    chances = joint.sum(axis=1)
    likelihoods = np.empty((count, n))
    for v in range(count):
        for u in range(n):
            likelihoods[v, u] = joint[v, u] / (chances[v] * prior[u])
    information = (likelihoods.T * chances) @ likelihoods
    inverse, order = np.empty((n, n)), np.empty(n, dtype=np.intp)
    added = np.full((count, count), np.inf)
    if not invert(information, inverse, order):
        return added
    solved = likelihoods @ inverse
    once, twice = solved @ likelihoods.T, solved @ solved.T
    for a in range(count):
        for b in range(a):
            weight = chances[a] * chances[b] / (chances[a] + chances[b])
            left = 1.0 - weight * (once[a, a] - 2.0 * once[a, b] + once[b, b])
            if left > SINGULAR:
                added[a, b] = weight * (twice[a, a] - 2.0 * twice[a, b] + twice[b, b]) / left
    return added


@kernel
def merge_reports(
    joint: Array, prior: Array, size: int, budget_price: float, noise: float, rng: np.random.Generator
) -> Array:
    """Merge rows of ``joint[report, truth]`` until `size` remain, each time the pair that costs least.

    The cost of a merge is the trace it adds less the worth of the right guesses it prevents. Merging breaks no bound:
    posteriors are averaged and the best guesser gains nothing. `noise` stretches each cost at random, for other choices.
    """
    joint = joint.copy()
    count = joint.shape[0]
    while count > size:
        added = added_traces(joint[:count], prior)
        best, merged, target = np.inf, 1, 0
        for a in range(count):
            for b in range(a):
                prevented = joint[a].max() + joint[b].max() - (joint[a] + joint[b]).max()
                cost = (added[a, b] - budget_price * prevented) * (1.0 + noise * rng.random())
                if cost < best:
                    best, merged, target = cost, a, b
        joint[target] += joint[merged]
        joint[merged] = joint[count - 1]
        count -= 1
    return joint[:size]
