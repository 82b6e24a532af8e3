"""Proof that no channel does better: a bound that holds for every design, recomputed from any candidate dual."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

ROUNDING = 1e-13  # of the terms of the inequality, relative


@dataclass(frozen=True, eq=False)
class Dual:
    """Multipliers that bound the trace of every inverse information from below.

    For any symmetric Y, ``trace J^-1 >= 2 trace Y - trace(Y J Y)``. If every vertex w, read as likelihoods x = w / p,
    satisfies ``|Y x|^2 <= price . w + budget_price max(w)`` then ``trace(Y J Y) <= price . p + budget_price b`` for
    every channel whose best guess is right at most with chance b, and choosing the best multiple of Y leaves
    ``(trace Y)^2 / (price . p + budget_price b)``: valid at every b, whichever one the dual was found for.
    """

    root: Matrix  # Y, the inverse information at the optimum
    price: Matrix  # one multiplier for every answer, for the mean of the posteriors
    budget_price: float  # for the chance that the best guess is right; never negative

    def violations(self, vertices: Matrix, prior: Matrix) -> Matrix:
        """How far each vertex exceeds the inequality above."""
        quadratic = ((vertices / prior @ self.root) ** 2).sum(axis=1)
        return quadratic - vertices @ self.price - self.budget_price * vertices.max(axis=1)

    def repaired(self, vertices: Matrix, prior: Matrix) -> Dual:
        """The dual shifted until no vertex violates it, with room for the rounding of that very check."""
        lawful = Dual(self.root, self.price, max(0.0, self.budget_price))
        return lawful.shifted(float(lawful.violations(vertices, prior).max()), prior)

    def shifted(self, excess: float, prior: Matrix) -> Dual:
        """The dual that holds where no vertex exceeds this one by more, with room for the rounding of that check."""
        largest = float(np.abs(self.root @ self.root / np.outer(prior, prior)).max())  # posteriors sum to one
        return Dual(
            self.root,
            self.price + max(0.0, excess) + ROUNDING * (largest + np.abs(self.price).max()),
            self.budget_price,
        )

    def least_trace(self, prior: Matrix, budget: float) -> float:
        """Lower bound on ``trace J^-1`` of every channel within the budget; infinite if none is."""
        cost = float(self.price @ prior + self.budget_price * budget)
        return float(np.trace(self.root)) ** 2 / cost if cost > 0 else float("inf")
