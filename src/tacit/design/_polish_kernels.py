"""Local search over square channels with exact derivatives, compiled.

An augmented Lagrangian carries the bounds, and spectral projected gradients (Birgin, Martinez and Raydan) minimise it
over matrices with columns on the simplex. Where the multipliers say that another guess should be the best one, the
guesses change.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.design._lagrangian_kernels import (
    USED_MATRICES,
    Lagrangian,
    add_bounds,
    change_guesses,
    fill_gains,
    log_trace,
    update_multipliers,
)
from tacit.design.problem import Posed
from tacit.kernels import inner_kernel, kernel

Array = NDArray[np.float64]
Codes = NDArray[np.intp]

WITHIN_BOUNDS = 1e-6
DESCENDED = 1e-6  # largest change of an entry by a unit step
ENOUGH = 1e-4  # share of the predicted decrease a step must bring (Armijo)
MEMORY = 8  # values the non-monotone line search looks back on
NEARLY_WITHIN = 1e-4  # violation below which multipliers are good enough to choose guesses by
MOST_PENALTY = 1e5
FIRST_ROUNDS = 3  # rounds in which the bounds are too loose for the value to be judged


class Aim(NamedTuple):
    """Where a descent is to end."""

    budget: float  # what the best guesser may gain
    price: float  # a first guess at what the budget is worth
    penalty: float  # of a broken bound, at first
    hopeless: float  # it gives up where the logarithm of the trace would stay above this


@kernel
def simplex_shift(values: Array) -> float:
    """What to take from every value, stopping at zero, to make them the nearest distribution (Michelot)."""
    top = values.max()  # measured from here the largest value stays above every shift, however large they all are
    n_positive = values.shape[0]
    shift = ((values - top).sum() - 1.0) / n_positive
    while True:
        above, total = 0, 0.0
        for value in values:
            if value - top > shift:
                above += 1
                total += value - top
        if above == n_positive:
            return top + shift
        n_positive = above
        shift = (total - 1.0) / n_positive


@inner_kernel
def projected_direction(
    matrix: Array, gradient: Array, length: float, direction: Array, values: Array
) -> tuple[float, float]:
    """Fill the way to the projection of a gradient step; returns its slope and its largest entry."""
    n = matrix.shape[0]
    slope = 0.0
    largest = 0.0
    for u in range(n):
        for v in range(n):
            values[v] = matrix[v, u] - length * gradient[v, u]
        shift = simplex_shift(values)
        for v in range(n):
            way = max(values[v] - shift, 0.0) - matrix[v, u]
            direction[v, u] = way
            slope += way * gradient[v, u]
            largest = max(largest, abs(way))
    return slope, largest


@inner_kernel
def descend(matrix: Array, posed: Posed, lagrangian: Lagrangian, steps: int, work: Array) -> tuple[int, float]:
    """Spectral projected gradient steps on the augmented Lagrangian, in place; returns the steps taken and its value."""
    n = matrix.shape[0]
    order = np.empty(n, dtype=np.intp)
    # Taken one by one they are known to lie in rows; unpacked at once they would be compiled for any strides, and slower.
    gradient, next_gradient = work[USED_MATRICES], work[USED_MATRICES + 1]
    trial, direction = work[USED_MATRICES + 2], work[USED_MATRICES + 3]
    values = np.empty(n)
    value = log_trace(matrix, posed.prior, gradient, work, order)
    value += add_bounds(matrix, posed, lagrangian, gradient, work)
    recent = np.full(MEMORY, value)
    length = 1.0 / max(np.abs(gradient).max(), 1e-12)
    for step in range(steps):
        slope, largest = projected_direction(matrix, gradient, length, direction, values)
        if largest <= DESCENDED * min(1.0, length) or slope >= 0.0:
            return step, value
        share, highest = 1.0, recent.max()
        while True:
            for v in range(n):
                for u in range(n):
                    trial[v, u] = matrix[v, u] + share * direction[v, u]
            value = log_trace(trial, posed.prior, next_gradient, work, order)
            if value < np.inf:
                value += add_bounds(trial, posed, lagrangian, next_gradient, work)
            if value <= highest + ENOUGH * share * slope:
                break
            share *= 0.3
            if share < 1e-10:
                return step, value
        length = move(matrix, gradient, trial, next_gradient)
        recent[step % MEMORY] = value
    return steps, value


@inner_kernel
def move(matrix: Array, gradient: Array, trial: Array, next_gradient: Array) -> float:
    """Take the trial as the new matrix; returns Barzilai and Borwein's step length, from what has changed."""
    moved = 0.0
    curvature = 0.0
    n = matrix.shape[0]
    for v in range(n):
        for u in range(n):
            change = trial[v, u] - matrix[v, u]
            moved += change * change
            curvature += change * (next_gradient[v, u] - gradient[v, u])
            matrix[v, u] = trial[v, u]
            gradient[v, u] = next_gradient[v, u]
    if curvature <= 0.0:
        return 1e3
    return min(max(moved / curvature, 1e-10), 1e6)


@kernel
def polish(matrix: Array, posed: Posed, aim: Aim, rounds: int, steps: int) -> float:
    """Local optimum near `matrix` (in place), by so many rounds of so many steps; returns the largest violation left."""
    n, penalty = matrix.shape[0], aim.penalty
    work = np.empty((USED_MATRICES + 4, n, n))
    multipliers = np.zeros((3, n, n))
    multipliers[2, 0, 0] = aim.price
    guesses = np.empty(n, dtype=np.intp)
    fill_gains(matrix, posed, work[3], work[4])
    for v in range(n):
        guesses[v] = np.argmax(work[4, v])
    before, value_before = np.inf, np.inf
    worst = np.inf
    for turn in range(rounds):
        lagrangian = Lagrangian(guesses, aim.budget, multipliers, penalty)
        taken, value = descend(matrix, posed, lagrangian, steps, work)
        worst = update_multipliers(matrix, posed, lagrangian, work)
        # Steps bring less and less, so what would stay too high even at this round's pace is given up.
        falling = max(0.0, value_before - value)
        if turn >= FIRST_ROUNDS and value - falling * (rounds - turn) > aim.hopeless:
            break
        value_before = value
        changed = change_guesses(guesses, multipliers) if worst < NEARLY_WITHIN and 2 * turn < rounds else 0
        if worst <= WITHIN_BOUNDS and taken < steps and changed == 0:
            break
        if worst > 0.3 * before:
            penalty = min(penalty * 3.0, MOST_PENALTY)
        before = worst
    return worst
