"""Proof that no channel does better: a bound that holds for every design, recomputed from any candidate dual."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

ROUNDING = 1e-13  # of the terms of the inequality, relative
# What is added to directions that no wanted number needs, so that every step can be solved (FORMULAS 16). It moves the least
# error by about its root; value and proof are taken without it.
UNWANTED = 1e-9


@dataclass(frozen=True, eq=False)
class Aim:
    """What a design minimises: ``trace(V J^-1)`` with ``V = factor factor^T``, where J is the information at `prior`.

    The identity as factor stands for the shares of all answers.
    """

    prior: Matrix
    factor: Matrix  # [answer, number], scaled so that V has the trace n

    @classmethod
    def of_shares(cls, prior: Matrix) -> Aim:
        return cls(prior, np.eye(len(prior)))

    @cached_property
    def is_singular(self) -> bool:
        """Whether some differences between answers are of no use for the wanted numbers."""
        return bool(self._eigen[0][0] < UNWANTED)

    @cached_property
    def constant(self) -> float:
        """What multiple of ``1 1^T`` is added to V: it adds itself to the aim of every channel, because J^-1 1 is the prior."""
        return 1 / len(self.prior) if np.abs(self.factor.T @ self.prior).max() < UNWANTED else 0.0

    @cached_property
    def _eigen(self) -> tuple[Matrix, Matrix]:
        values, basis = np.linalg.eigh(self.factor @ self.factor.T + self.constant)
        return values, basis

    @cached_property
    def scaling(self) -> tuple[Matrix, Matrix]:
        """A root of V, made invertible, and its inverse: in coordinates scaled by it the aim is the plain trace."""
        values, basis = self._eigen
        roots = np.sqrt(np.maximum(values, 0.0) + (UNWANTED if self.is_singular else 0.0))
        return (basis * roots) @ basis.T, (basis / roots) @ basis.T

    def information(self, posteriors: Matrix, chances: Matrix) -> Matrix:
        """``J = sum_v q_v x_v x_v^T`` with likelihoods ``x = w / prior``."""
        likelihoods = posteriors / self.prior
        return (likelihoods.T * chances) @ likelihoods

    def trace(self, posteriors: Matrix, chances: Matrix) -> float:
        """``trace(V J^-1)`` of a design."""
        return float(np.trace(self.factor.T @ np.linalg.solve(self.information(posteriors, chances), self.factor)))

    def dual(self, inverse: Matrix, price: Matrix, budget_price: float) -> Dual:
        """The dual of an inverse information and its prices."""
        moved = inverse @ self.factor
        return Dual(moved / self.prior[:, None], float((self.factor * moved).sum()), price, budget_price)


@dataclass(frozen=True, eq=False)
class Dual:
    """Multipliers that bound ``trace(V J^-1)`` of every channel from below.

    For any symmetric Z, ``trace(V J^-1) >= 2 trace(V Z) - trace(V Z J Z)``. If every vertex w, read as likelihoods
    x = w / p, satisfies ``x^T Z V Z x <= price . w + budget_price max(w)`` then ``trace(V Z J Z) <= price . p +
    budget_price b`` for every channel whose best guess is right at most with chance b, and choosing the best multiple of Z
    leaves ``trace(V Z)^2 / (price . p + budget_price b)``: valid at every b, whichever one the dual was made for.
    """

    root: Matrix  # ``diag(1/p) Z factor``: the left side of the inequality is the square of ``w @ root``
    value: float  # trace(V Z)
    price: Matrix  # one multiplier for every answer, for the mean of the posteriors
    budget_price: float  # for the chance that the best guess is right; never negative

    def violations(self, vertices: Matrix) -> Matrix:
        """How far each vertex exceeds the inequality above."""
        quadratic = ((vertices @ self.root) ** 2).sum(axis=1)
        return quadratic - vertices @ self.price - self.budget_price * vertices.max(axis=1)

    def repair(self, vertices: Matrix) -> Dual:
        """The dual shifted until no vertex violates it, with room for the rounding of that very check."""
        lawful = Dual(self.root, self.value, self.price, max(0.0, self.budget_price))
        return lawful.shift(float(lawful.violations(vertices).max()))

    def shift(self, excess: float) -> Dual:
        """The dual that holds where no vertex exceeds this one by more, with room for the rounding of that check."""
        largest = float((self.root**2).sum(axis=1).max())  # posteriors sum to one
        room = ROUNDING * (largest + float(np.abs(self.price).max()))
        return Dual(self.root, self.value, self.price + excess + room, self.budget_price)

    def least_trace(self, prior: Matrix, budget: float) -> float:
        """Lower bound on ``trace(V J^-1)`` of every channel within the budget; infinite if none is."""
        cost = float(self.price @ prior + self.budget_price * budget)
        return self.value**2 / cost if cost > 0 else float("inf")
