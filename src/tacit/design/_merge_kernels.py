"""Reports merged one pair at a time until as many are left as there are answers, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.design._matrix_kernels import invert

Array = NDArray[np.float64]


@njit(cache=True)
def _trace_with(
    information: Array, first: Array, second: Array, prior: Array, candidate: Array, inverse: Array, work: Array
) -> float:
    """Trace of the inverse information once two reports (rows of the joint distribution) are told as one."""
    n = prior.shape[0]
    chance_first, chance_second = first.sum(), second.sum()
    together = chance_first + chance_second
    for i in range(n):
        for j in range(n):
            both = (first[i] + second[i]) * (first[j] + second[j]) / together
            apart = first[i] * first[j] / chance_first + second[i] * second[j] / chance_second
            candidate[i, j] = information[i, j] + (both - apart) / (prior[i] * prior[j])
    if not invert(candidate, inverse, work):
        return np.inf
    total = 0.0
    for i in range(n):
        total += inverse[i, i]
    return total


@njit(cache=True)
def merge_reports(
    joint: Array, prior: Array, size: int, budget_price: float, noise: float, rng: np.random.Generator
) -> Array:
    """Merge rows of ``joint[report, truth]`` until `size` remain, each time the pair that costs least.

    The cost of a merge is the trace it adds less the worth of the right guesses it prevents. Merging breaks no bound:
    posteriors are averaged and the best guesser gains nothing. `noise` stretches each cost at random, for other choices.
    """
    joint = joint.copy()
    count, n = joint.shape
    candidate, inverse, work = np.empty((n, n)), np.empty((n, n)), np.empty((n, n))
    while count > size:
        information = np.zeros((n, n))
        for v in range(count):
            chance = joint[v].sum()
            for i in range(n):
                for j in range(n):
                    information[i, j] += joint[v, i] * joint[v, j] / (chance * prior[i] * prior[j])
        before = 0.0
        if invert(information, inverse, work):
            before = np.trace(inverse)
        best, one, other = np.inf, 0, 1
        for a in range(count):
            for b in range(a):
                prevented = joint[a].max() + joint[b].max() - (joint[a] + joint[b]).max()
                cost = _trace_with(information, joint[a], joint[b], prior, candidate, inverse, work)
                cost = (cost - before - budget_price * prevented) * (1.0 + noise * rng.random())
                if cost < best:
                    best, one, other = cost, a, b
        joint[other] += joint[one]
        joint[one] = joint[count - 1]
        count -= 1
    return joint[:size]
