"""What the local search minimises, compiled: the error's logarithm and the bounds' augmented Lagrangian.

Minimise the logarithm of ``trace J^-1`` over matrices with columns on the simplex, subject to a bound on what the best
guesser gains and on every posterior. For fixed best guesses all bounds are linear in the matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.design._matrix_kernels import invert
from tacit.design.problem import Posed
from tacit.kernels import inner_kernel, kernel

Array = NDArray[np.float64]
Codes = NDArray[np.intp]

WORTH_CHANGING = 1.02  # how much other guesses must outweigh the price of right guesses
USED_MATRICES = 6  # of the room `work`


class Lagrangian(NamedTuple):
    """What is bounded while one descends: what the reports' best guesses may gain together, and every posterior."""

    guesses: Codes  # of each report
    budget: float
    multipliers: Array  # [0]: another guess must not gain more; [1]: the posteriors; [2, 0, 0]: the budget
    penalty: float


@kernel
def log_trace(matrix: Array, prior: Array, gradient: Array, work: Array, order: Codes) -> float:
    """Logarithm of the inverse information's trace; fills its gradient ``G[v, v] p[u] - 2 (B^T J^-1)[v, u]``.

    `B` is the matrix's inverse, ``G = B^T B``, and ``J^-1 = B diag(A p) B^T``. All loops run along rows, so that they
    are compiled to vector instructions.
    """
    n = matrix.shape[0]
    inverse, transposed, covariance = work[0], work[1], work[2]
    if not invert(matrix, inverse, order):
        return np.inf
    total = _fill_covariance(matrix, prior, inverse, transposed, covariance)
    for v in range(n):
        squared = 0.0
        for u in range(n):
            squared += transposed[v, u] * transposed[v, u]
        for u in range(n):
            gradient[v, u] = squared / total * prior[u]
        for w in range(n):
            scale = 2.0 / total * transposed[v, w]
            for u in range(n):
                gradient[v, u] -= scale * covariance[w, u]
    return np.log(total)


@inner_kernel
def _fill_covariance(matrix: Array, prior: Array, inverse: Array, transposed: Array, covariance: Array) -> float:
    """Fill the inverse's transpose and the inverse information; returns the trace of the latter."""
    n = matrix.shape[0]
    for v in range(n):
        for u in range(n):
            transposed[v, u] = inverse[u, v]
            covariance[v, u] = 0.0
    for v in range(n):
        expected = 0.0
        for u in range(n):
            expected += matrix[v, u] * prior[u]
        for i in range(n):
            scale = expected * transposed[v, i]
            for j in range(n):
                covariance[i, j] += scale * transposed[v, j]
    total = 0.0
    for i in range(n):
        total += covariance[i, i]
    return total


@inner_kernel
def fill_gains(matrix: Array, posed: Posed, joint: Array, gains: Array) -> None:
    """For every report the chance of it together with each truth, and what each guess gains."""
    n = matrix.shape[0]
    for v in range(n):
        for u in range(n):
            joint[v, u] = matrix[v, u] * posed.prior[u]
            gains[v, u] = joint[v, u]
        if not posed.is_exact:
            for x in range(n):
                gains[v, x] = 0.0
                for u in range(n):
                    gains[v, x] += posed.accuracy[x, u] * joint[v, u]


@kernel
def add_bounds(matrix: Array, posed: Posed, lagrangian: Lagrangian, gradient: Array, work: Array) -> float:
    """Value of the bounds' augmented Lagrangian; adds its gradient."""
    n, prior = matrix.shape[0], posed.prior
    guesses, multipliers, penalty = lagrangian.guesses, lagrangian.multipliers, lagrangian.penalty
    joint, gains, forces = work[3], work[4], work[5, 0]
    fill_gains(matrix, posed, joint, gains)
    gained = 0.0
    for v in range(n):
        gained += gains[v, guesses[v]]
    spent = max(0.0, penalty * (gained - lagrangian.budget) + multipliers[2, 0, 0])
    value = spent * spent
    for v in range(n):
        allowed = gains[v, guesses[v]]
        left = spent
        for x in range(n):
            force = max(0.0, penalty * (gains[v, x] - allowed) + multipliers[0, v, x])
            forces[x] = force
            value += force * force
            left -= force
        forces[guesses[v]] = left
        if posed.is_exact:
            for u in range(n):
                gradient[v, u] += forces[u] * prior[u]
        else:
            for x in range(n):
                for u in range(n):
                    gradient[v, u] += forces[x] * posed.accuracy[x, u] * prior[u]
        if posed.delta < 1.0:
            value += _cap_posteriors(joint[v], prior, posed.delta, multipliers[1, v], penalty, gradient[v], forces)
    return value / (2.0 * penalty)


@inner_kernel
def _cap_posteriors(
    joint: Array, prior: Array, delta: float, multipliers: Array, penalty: float, gradient: Array, forces: Array
) -> float:
    """Squared forces of one report's posterior bounds; adds what they do to the gradient."""
    n = joint.shape[0]
    cap = delta * joint.sum()
    value = 0.0
    shared = 0.0
    for u in range(n):
        force = max(0.0, penalty * (joint[u] - cap) + multipliers[u])
        forces[u] = force
        value += force * force
        shared += force
    for u in range(n):
        gradient[u] += (forces[u] - delta * shared) * prior[u]
    return value


@inner_kernel
def update_multipliers(matrix: Array, posed: Posed, lagrangian: Lagrangian, work: Array) -> float:
    """First-order update of the multipliers; returns the largest violation."""
    n = matrix.shape[0]
    guesses, multipliers, penalty = lagrangian.guesses, lagrangian.multipliers, lagrangian.penalty
    joint, gains = work[3], work[4]
    fill_gains(matrix, posed, joint, gains)
    gained = 0.0
    worst = 0.0
    for v in range(n):
        allowed = gains[v, guesses[v]]
        gained += allowed
        cap = posed.delta * joint[v].sum()
        for u in range(n):
            over, above = gains[v, u] - allowed, joint[v, u] - cap
            worst = max(worst, over, above)
            multipliers[0, v, u] = max(0.0, multipliers[0, v, u] + penalty * over) if u != guesses[v] else 0.0
            multipliers[1, v, u] = max(0.0, multipliers[1, v, u] + penalty * above)
    multipliers[2, 0, 0] = max(0.0, multipliers[2, 0, 0] + penalty * (gained - lagrangian.budget))
    return max(worst, gained - lagrangian.budget)


@kernel
def change_guesses(guesses: Codes, multipliers: Array) -> int:
    """Let another guess be the best one where that lowers the error; returns for how many reports.

    What all guesses may gain is one convex lagrangian, the sum over reports of the largest gain. A point that is optimal
    for fixed guesses is optimal for that bound too unless some report's multipliers exceed the budget's price: then
    the fixed guess would rather gain less than the others.
    """
    changed = 0
    for v in range(len(guesses)):
        if multipliers[0, v].sum() > WORTH_CHANGING * multipliers[2, 0, 0] + 1e-9:
            guesses[v] = np.argmax(multipliers[0, v])
            multipliers[0, v, guesses[v]] = 0.0
            changed += 1
    return changed
