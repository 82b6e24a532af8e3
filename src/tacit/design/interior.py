"""A-optimal design over given posteriors by a primal-dual interior-point method made for its structure.

Minimise ``log trace J(q)^-1``, ``J(q) = sum_k q_k x_k x_k^T``, over q >= 0 with the prior as mean posterior and, under a
budget, ``sum_k q_k max(w_k) <= budget``. The x are ``w / prior`` in coordinates in which the aim is the plain trace. The
logarithm is convex too, and nearer to its quadratic model where little information is allowed: there the trace is many
times that of the start. In the eigenbasis of J the Hessian of the objective with respect to J is diagonal but for a term of
rank one, which adds ``J J^T / 2`` (J as a vector) to its inverse. So a Newton step costs one Cholesky factor of the size of
J's triangle, not one of the number of posteriors; a general semidefinite solver takes many times as long for the same
problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.design.certificate import Aim, Dual
from tacit.extras import require

Matrix = NDArray[np.float64]

MOST_STEPS = 150
EXHAUSTED = 1e-14  # products of weight and cost below this are rounding: costs are shares of the trace
SHORT_OF_BOUNDARY = 0.99
MOST_MISSED = 10.0  # of the worths, in multiples of what is left to gain
SHORTEST = 1e-9  # a step cut down to less is rounding


@dataclass(frozen=True, eq=False)
class Design:
    """Weights of the posteriors, and the dual that says how good they are."""

    weights: Matrix
    dual: Dual
    gap: float  # of the trace, relative, over the posteriors given


def solve_design(posteriors: Matrix, aim: Aim, budget: float | None, tolerance: float = 1e-9) -> Design:
    """The weights of least ``trace(V J^-1)``; stops at the relative gap `tolerance` or where rounding ends progress."""
    search = _WeightSearch(posteriors, aim, budget)
    best = search.design()
    for _ in range(MOST_STEPS):
        try:
            search.step()
        except np.linalg.LinAlgError:  # the equations have become singular to working precision
            break
        best = min(best, search.design(), key=lambda design: design.gap)
        if best.gap <= tolerance or search.is_exhausted:
            break
    return best


class _WeightSearch:
    """The iterate: weights, their reduced costs and the multipliers of the equations ``equations @ weights == right``."""

    def __init__(self, posteriors: Matrix, aim: Aim, budget: float | None) -> None:
        prior = aim.prior
        self.posteriors, self.aim, self.prior, self.budget = posteriors, aim, prior, budget
        root, self.unscaled = aim.scaling
        self.scaled_aim = Aim(prior, root)
        likelihoods = (posteriors / prior) @ self.unscaled
        self.equations = np.ascontiguousarray(posteriors.T)
        self.right = prior
        if budget is not None:  # one more column: what is left of the budget
            likelihoods = np.vstack([likelihoods, np.zeros(len(prior))])
            guessed = np.append(posteriors.max(axis=1), 1.0)
            self.equations = np.vstack([np.hstack([self.equations, np.zeros((len(prior), 1))]), guessed])
            self.right = np.append(prior, budget)
        self.likelihoods = likelihoods
        self.rows, self.columns = np.triu_indices(len(prior))
        n_weights = len(likelihoods)
        self.weights = np.full(n_weights, 1 / n_weights)
        self._decompose()
        # Multipliers large enough to price every posterior above its worth: a start that is feasible for the dual.
        self.multipliers = np.full(len(self.right), 1.1 * self.worth.max())
        self.costs = self.multipliers @ self.equations - self.worth

    def _decompose(self) -> None:
        """Information of the weights, in its eigenbasis, and the worth ``|J^-1 x|^2 / trace`` of more of each posterior."""
        information = (self.likelihoods.T * self.weights) @ self.likelihoods
        self.eigenvalues, self.basis = np.linalg.eigh(information)
        self.rotated = self.likelihoods @ self.basis
        self.trace = float((1 / self.eigenvalues).sum())
        self.worth = ((self.rotated / self.eigenvalues) ** 2).sum(axis=1) / self.trace

    def design(self) -> Design:
        n = len(self.prior)
        inverse = self.unscaled @ ((self.basis / self.eigenvalues) @ self.basis.T) @ self.unscaled
        price = self.trace * self.multipliers
        budget_price = float(price[n]) if self.budget is not None else 0.0
        # The gap is that of the aim that is solved; the proof that is handed on is that of the aim itself.
        solved = self.scaled_aim.dual(inverse, price[:n], budget_price).repair(self.posteriors)
        bound = solved.least_trace(self.prior, self.budget if self.budget is not None else 0.0)
        missed = float(np.abs(self.equations @ self.weights - self.right).max())
        gap = max((self.trace - bound) / self.trace, missed)
        dual = self.aim.dual(inverse, price[:n], budget_price).repair(self.posteriors)
        return Design(self.weights[: len(self.posteriors)], dual, gap)

    @property
    def is_exhausted(self) -> bool:
        return float(self.weights @ self.costs) <= EXHAUSTED

    def step(self) -> None:
        """One predictor-corrector step (Mehrotra) towards the optimum."""
        solve = self._newton()
        complementarity = self.weights * self.costs
        d_weights, d_costs, _ = solve(-complementarity)
        length = _longest(self.weights, d_weights, self.costs, d_costs)
        predicted = (self.weights + length * d_weights) @ (self.costs + length * d_costs) / len(self.weights)
        mean = complementarity.mean()
        target = mean * min(1.0, max(0.0, predicted / mean)) ** 3
        d_weights, d_costs, d_multipliers = solve(target - complementarity - d_weights * d_costs)
        length = min(1.0, SHORT_OF_BOUNDARY * _longest(self.weights, d_weights, self.costs, d_costs))
        self._move(length, d_weights, d_costs, d_multipliers)

    def _move(self, length: float, d_weights: Matrix, d_costs: Matrix, d_multipliers: Matrix) -> None:
        """Go along the step as far as its linear model of the worths holds.

        Worths grow without bound where the information vanishes. Beyond the model the costs fall to zero while they
        still miss the worths by far, and from there no step leads back.
        """
        weights, costs, multipliers = self.weights, self.costs, self.multipliers
        missed = float(weights @ np.abs(self._dual_residual()))
        while length >= SHORTEST:
            self.weights = weights + length * d_weights
            self.costs = costs + length * d_costs
            self.multipliers = multipliers + length * d_multipliers
            self._decompose()
            allowed = max((1 - length / 2) * missed, MOST_MISSED * float(self.weights @ self.costs))
            if float(weights @ np.abs(self._dual_residual())) <= allowed:
                return
            length /= 2
        raise np.linalg.LinAlgError("No step is short enough.")

    def _dual_residual(self) -> Matrix:
        """By how much the costs miss what the multipliers and the worths make them."""
        return self.multipliers @ self.equations - self.worth - self.costs

    def _newton(self) -> Callable[[Matrix], tuple[Matrix, Matrix, Matrix]]:
        """Solver of the linearised optimality conditions for a wanted change of the products weight x cost."""
        from scipy.linalg import cho_factor, cho_solve

        e = self.eigenvalues
        double = np.where(self.rows == self.columns, 1.0, np.sqrt(2.0))
        triangle = (self.rotated[:, self.rows] * self.rotated[:, self.columns] * double).T
        curvature = (e[self.rows] + e[self.columns]) / (e[self.rows] * e[self.columns]) ** 2
        stacked = np.vstack([triangle, self.equations])
        inverse_diagonal = self.weights / self.costs
        normal = (stacked * inverse_diagonal) @ stacked.T
        size = len(triangle)
        normal[np.arange(size), np.arange(size)] += self.trace / curvature
        identity = np.where(self.rows == self.columns, e[self.rows], 0.0)  # the triangle of J itself
        normal[:size, :size] += np.outer(identity, identity) / 2
        scale = 1 / np.sqrt(np.diag(normal))
        normal = normal * scale * scale[:, None]
        normal[np.diag_indices_from(normal)] += 1e-14
        factor = cho_factor(normal)
        dual_residual = self._dual_residual()
        primal_residual = self.equations @ self.weights - self.right

        def solve(products: Matrix) -> tuple[Matrix, Matrix, Matrix]:
            wanted = products / self.weights - dual_residual
            right = stacked @ (inverse_diagonal * wanted)
            right[size:] += primal_residual
            solution = cho_solve(factor, right * scale) * scale
            d_weights = inverse_diagonal * (wanted - stacked.T @ solution)
            d_costs = (products - self.costs * d_weights) / self.weights
            return d_weights, d_costs, solution[size:]

        return solve


def _longest(weights: Matrix, d_weights: Matrix, costs: Matrix, d_costs: Matrix) -> float:
    """The longest step, at most one, that keeps weights and costs from falling below zero."""
    shrinking = max(float((-d_weights / weights).max()), float((-d_costs / costs).max()))
    return min(1.0, 1 / shrinking) if shrinking > 0 else 1.0


@contextmanager
def single_thread() -> Iterator[None]:
    """Keep BLAS to one thread within the block: on small matrices several only wait for each other."""
    require("design")
    import scipy.linalg  # noqa: F401  its own BLAS must be loaded to be limited
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield
