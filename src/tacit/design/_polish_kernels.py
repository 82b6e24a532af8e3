"""Local search over square channels with exact derivatives, compiled.

Minimise the logarithm of ``trace J^-1`` over matrices with columns on the simplex, subject to a bound on what the best
guesser gains and on every posterior. For fixed best guesses all bounds are linear in the matrix; an augmented
Lagrangian carries them, and spectral projected gradients (Birgin, Martinez and Raydan) minimise it.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.design._matrix_kernels import invert

Array = NDArray[np.float64]
Codes = NDArray[np.intp]

WITHIN_BOUNDS = 1e-7
DESCENDED = 1e-6  # largest change of an entry by a unit step
ENOUGH = 1e-4  # share of the predicted decrease a step must bring (Armijo)
MEMORY = 8  # values the non-monotone line search looks back on


@njit(cache=True)
def simplex_shift(values: Array, ordered: Array) -> float:
    """What to take from every value, stopping at zero, to make them the nearest distribution (least squares)."""
    n = values.shape[0]
    for k in range(n):  # insertion sort, falling: the columns are short
        value = values[k]
        i = k
        while i > 0 and ordered[i - 1] < value:
            ordered[i] = ordered[i - 1]
            i -= 1
        ordered[i] = value
    total = 0.0
    shift = 0.0
    for k in range(n):
        total += ordered[k]
        candidate = (total - 1.0) / (k + 1)
        if ordered[k] > candidate:
            shift = candidate
    return shift


@njit(cache=True)
def projected_direction(
    matrix: Array, gradient: Array, length: float, direction: Array, values: Array, ordered: Array
) -> tuple[float, float]:
    """Fill the way to the projection of a gradient step; returns its slope and its largest entry."""
    n = matrix.shape[0]
    slope = 0.0
    largest = 0.0
    for u in range(n):
        for v in range(n):
            values[v] = matrix[v, u] - length * gradient[v, u]
        shift = simplex_shift(values, ordered)
        for v in range(n):
            direction[v, u] = max(values[v] - shift, 0.0) - matrix[v, u]
            slope += direction[v, u] * gradient[v, u]
            largest = max(largest, abs(direction[v, u]))
    return slope, largest


@njit(cache=True)
def log_trace(matrix: Array, prior: Array, gradient: Array, inverse: Array, work: Array) -> float:
    """Logarithm of the inverse information's trace; fills its gradient."""
    n = matrix.shape[0]
    if not invert(matrix, inverse, work):
        return np.inf
    expected = matrix @ prior
    gram = inverse.T @ inverse
    total = 0.0
    for v in range(n):
        total += expected[v] * gram[v, v]
    scaled = np.empty((n, n))
    for v in range(n):
        for u in range(n):
            scaled[v, u] = expected[v] * inverse[u, v]
    product = gram @ scaled
    for v in range(n):
        for u in range(n):
            gradient[v, u] = (gram[v, v] * prior[u] - 2.0 * product[v, u]) / total
    return np.log(total)


@njit(cache=True)
def add_bounds(
    matrix: Array,
    prior: Array,
    accuracy: Array,
    guesses: Codes,
    budget: float,
    delta: float,
    multipliers: Array,
    penalty: float,
    gradient: Array,
) -> float:
    """Value of the bounds' augmented Lagrangian; adds its gradient.

    ``multipliers[0]`` belong to the guesses (another guess must not gain more), ``[1]`` to the posteriors, and
    ``[2, 0, 0]`` to the budget.
    """
    n = matrix.shape[0]
    joint = matrix * prior
    gains = joint @ accuracy.T
    on_gain = np.zeros((n, n))
    value = 0.0
    gained = 0.0
    for v in range(n):
        gained += gains[v, guesses[v]]
    force = max(0.0, penalty * (gained - budget) + multipliers[2, 0, 0])
    value += force * force
    for v in range(n):
        on_gain[v, guesses[v]] += force
        seen = 0.0
        for u in range(n):
            seen += joint[v, u]
        shared = 0.0
        for u in range(n):
            other = max(0.0, penalty * (gains[v, u] - gains[v, guesses[v]]) + multipliers[0, v, u])
            if u != guesses[v] and other > 0.0:
                value += other * other
                on_gain[v, u] += other
                on_gain[v, guesses[v]] -= other
            capped = max(0.0, penalty * (joint[v, u] - delta * seen) + multipliers[1, v, u])
            if capped > 0.0:
                value += capped * capped
                gradient[v, u] += capped * prior[u]
                shared += capped * delta
        for u in range(n):
            gradient[v, u] -= shared * prior[u]
    on_joint = on_gain @ accuracy
    for v in range(n):
        for u in range(n):
            gradient[v, u] += on_joint[v, u] * prior[u]
    return value / (2.0 * penalty)


@njit(cache=True)
def update_multipliers(
    matrix: Array,
    prior: Array,
    accuracy: Array,
    guesses: Codes,
    budget: float,
    delta: float,
    multipliers: Array,
    penalty: float,
) -> float:
    """First-order update of the multipliers; returns the largest violation."""
    n = matrix.shape[0]
    joint = matrix * prior
    gains = joint @ accuracy.T
    gained = 0.0
    worst = 0.0
    for v in range(n):
        gained += gains[v, guesses[v]]
        seen = 0.0
        for u in range(n):
            seen += joint[v, u]
        for u in range(n):
            over = gains[v, u] - gains[v, guesses[v]]
            above = joint[v, u] - delta * seen
            worst = max(worst, over, above)
            multipliers[0, v, u] = max(0.0, multipliers[0, v, u] + penalty * over) if u != guesses[v] else 0.0
            multipliers[1, v, u] = max(0.0, multipliers[1, v, u] + penalty * above)
    worst = max(worst, gained - budget)
    multipliers[2, 0, 0] = max(0.0, multipliers[2, 0, 0] + penalty * (gained - budget))
    return worst


@njit(cache=True)
def descend(
    matrix: Array,
    prior: Array,
    accuracy: Array,
    guesses: Codes,
    budget: float,
    delta: float,
    multipliers: Array,
    penalty: float,
    steps: int,
) -> int:
    """Spectral projected gradient steps on the augmented Lagrangian, in place; returns the steps taken."""
    n = matrix.shape[0]
    inverse, work = np.empty((n, n)), np.empty((n, n))
    gradient, next_gradient = np.empty((n, n)), np.empty((n, n))
    trial, direction = np.empty((n, n)), np.empty((n, n))
    values, ordered = np.empty(n), np.empty(n)
    value = log_trace(matrix, prior, gradient, inverse, work)
    value += add_bounds(matrix, prior, accuracy, guesses, budget, delta, multipliers, penalty, gradient)
    recent = np.full(MEMORY, value)
    length = 1.0 / max(np.abs(gradient).max(), 1e-12)
    for step in range(steps):
        slope, largest = projected_direction(matrix, gradient, length, direction, values, ordered)
        if largest <= DESCENDED * min(1.0, length) or slope >= 0.0:
            return step
        share = 1.0
        while True:
            for v in range(n):
                for u in range(n):
                    trial[v, u] = matrix[v, u] + share * direction[v, u]
            value = log_trace(trial, prior, next_gradient, inverse, work)
            if value < np.inf:
                value += add_bounds(trial, prior, accuracy, guesses, budget, delta, multipliers, penalty, next_gradient)
            if value <= recent.max() + ENOUGH * share * slope:
                break
            share *= 0.3
            if share < 1e-10:
                return step
        length = spectral_length(matrix, gradient, trial, next_gradient)
        matrix[:] = trial
        gradient[:] = next_gradient
        recent[step % MEMORY] = value
    return steps


@njit(cache=True)
def spectral_length(matrix: Array, gradient: Array, trial: Array, next_gradient: Array) -> float:
    """Barzilai and Borwein's step length, from the last change of the matrix and of the gradient."""
    moved = 0.0
    curvature = 0.0
    n = matrix.shape[0]
    for v in range(n):
        for u in range(n):
            change = trial[v, u] - matrix[v, u]
            moved += change * change
            curvature += change * (next_gradient[v, u] - gradient[v, u])
    if curvature <= 0.0:
        return 1e3
    return min(max(moved / curvature, 1e-10), 1e6)


@njit(cache=True)
def polish(
    matrix: Array,
    prior: Array,
    accuracy: Array,
    budget: float,
    delta: float,
    multipliers: Array,
    penalty: float,
    rounds: int,
    steps: int,
) -> float:
    """Local optimum near `matrix` (in place) for its own best guesses; returns the largest violation left."""
    n = matrix.shape[0]
    gains = (matrix * prior) @ accuracy.T
    guesses = np.empty(n, dtype=np.int64)
    for v in range(n):
        guesses[v] = np.argmax(gains[v])
    before = np.inf
    worst = np.inf
    for _ in range(rounds):
        taken = descend(matrix, prior, accuracy, guesses, budget, delta, multipliers, penalty, steps)
        worst = update_multipliers(matrix, prior, accuracy, guesses, budget, delta, multipliers, penalty)
        if worst <= WITHIN_BOUNDS and taken < steps:
            break
        if worst > 0.3 * before:
            penalty = min(penalty * 3.0, 1e5)
        before = worst
    return worst
