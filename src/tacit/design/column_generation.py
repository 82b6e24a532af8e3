"""The certified design over many vertices: those the dual asks for are generated, and what is not needed is pruned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.design.certificate import Dual
from tacit.design.interior import solve_design

Matrix = NDArray[np.float64]

CERTIFIED_GAP = 1e-6
# Below this all vertices are used at once; above, those the dual asks for are added round by round.
FEW_VERTICES = 1500
ADDED_PER_ROUND = 400
MOST_ROUNDS = 60
# Chances below this are what an interior point leaves on posteriors that are not used.
NEGLIGIBLE = 1e-9


@dataclass(frozen=True, eq=False)
class CertifiedDesign:
    """The posteriors used, their chances, and a dual that holds for every vertex there is."""

    posteriors: Matrix
    chances: Matrix
    dual: Dual

    def trace(self, prior: Matrix) -> float:
        """``trace J^-1`` of the design."""
        return float((1 / np.linalg.eigvalsh(information(self.posteriors, self.chances, prior))).sum())


def information(posteriors: Matrix, chances: Matrix, prior: Matrix) -> Matrix:
    """``J = sum_v q_v x_v x_v^T`` with likelihoods ``x = w / prior``."""
    likelihoods = posteriors / prior
    return (likelihoods.T * chances) @ likelihoods


def certified_design(vertices: Matrix, prior: Matrix, budget: float | None) -> CertifiedDesign:
    """The design of least ``trace J^-1`` over all `vertices` within the budget."""
    if len(vertices) <= FEW_VERTICES:
        design = solve_design(vertices, prior, budget)
        return CertifiedDesign(vertices, design.weights, design.dual)
    rng = np.random.default_rng(0)  # the choice of the first vertices moves the work, not the answer
    used = rng.choice(len(vertices), size=FEW_VERTICES, replace=False)
    for _ in range(MOST_ROUNDS):
        # The prior itself is a permitted posterior (a report that says nothing) and makes every round feasible.
        posteriors = np.vstack([prior, vertices[used]])
        design = solve_design(posteriors, prior, budget)
        found = CertifiedDesign(posteriors, design.weights, design.dual.repaired(vertices, prior))
        if relative_gap(found, prior, budget) <= CERTIFIED_GAP / 10:
            break
        violations = design.dual.violations(vertices, prior)
        asked_for = np.argpartition(-violations, ADDED_PER_ROUND)[:ADDED_PER_ROUND]
        # Posteriors that got no chance stay: the dual is not unique, and they keep it from swinging back.
        used = np.union1d(used, asked_for[violations[asked_for] > 0])
    return found


def relative_gap(design: CertifiedDesign, prior: Matrix, budget: float | None) -> float:
    """How far the design may be above the least trace, as a share of it."""
    bound = design.dual.least_trace(prior, 0.0 if budget is None else budget)
    return design.trace(prior) / bound - 1


def pruned(design: CertifiedDesign, prior: Matrix, budget: float | None) -> CertifiedDesign:
    """The same information from at most n(n+1)/2 + 1 posteriors (a basic solution of the linear program).

    The mean posterior is a linear function of the information, so the equations are those of its triangle, and the
    chance of a right guess is minimised: one more.
    """
    from scipy.optimize import linprog

    kept = design.chances > NEGLIGIBLE
    posteriors, chances = design.posteriors[kept], design.chances[kept]
    root = np.linalg.cholesky(np.linalg.inv(information(posteriors, chances, prior)))
    white = (posteriors / prior) @ root  # in these coordinates the information is the identity
    rows, columns = np.triu_indices(len(prior))
    products = (white[:, rows] * white[:, columns]).T
    solution = linprog(posteriors.max(axis=1), A_eq=products, b_eq=products @ chances, method="highs-ds")
    if solution.x is None:
        return design
    basic = solution.x > NEGLIGIBLE
    refined = solve_design(posteriors[basic], prior, budget)
    return CertifiedDesign(posteriors[basic], refined.weights, design.dual)
