"""Does a front that is better under inversion stay better under the iterative (likelihood) estimate? By simulation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.design import Front, FrontPoint
from tacit.estimation.likelihood import accelerate
from tacit.experiments.registry import PublishedComparison, StudyTable

Matrix = NDArray[np.float64]

LEVELS = 8
TOLERANCE = 1e-8  # of the log-likelihood per report


@dataclass(frozen=True)
class IterativeCheck:
    """Simulated errors of both fronts at equal privacies."""

    table: StudyTable
    comparison: PublishedComparison


def iterative_errors(warner: Front, optrr: Front, *, repetitions: int, seed: int) -> IterativeCheck:
    """Mean squared error of the likelihood estimate over simulated surveys, for the same matrices as the fronts'."""
    rng = np.random.default_rng(seed)
    shared = np.linspace(
        max(warner.privacies.min(), optrr.privacies.min()),
        min(warner.privacies.max(), optrr.privacies.max()),
        LEVELS + 2,
    )[1:-1]
    rows, better = [], 0
    for privacy in shared:
        errors = [_simulated_mse(_at(front, privacy), front, repetitions, rng) for front in (warner, optrr)]
        better += errors[1] < errors[0]
        rows.append((f"{privacy:.3f}", f"{errors[0]:.3e}", f"{errors[1]:.3e}", f"{errors[1] / errors[0]:.3f}"))
    columns = ("privacy", "Warner", "OptRR", "OptRR / Warner")
    table = StudyTable(f"Error of the iterative estimate, {repetitions} simulated surveys each", columns, tuple(rows))
    said = f"OptRR's is smaller at {better} of {LEVELS} privacies"
    published = "OptRR's matrices beat Warner's under iterative estimation too"
    return IterativeCheck(
        table, PublishedComparison("iterative estimation, gamma, delta .75", published, said, better == LEVELS)
    )


def _at(front: Front, privacy: float) -> FrontPoint:
    return min((point for point in front.points if point.privacy >= privacy), key=lambda point: point.mse)


def _simulated_mse(point: FrontPoint, front: Front, repetitions: int, rng: np.random.Generator) -> float:
    """Mean over surveys and answers of the squared error of the likelihood estimate."""
    reported = rng.multinomial(front.records, point.matrix @ front.prior, size=repetitions)
    errors = [most_likely(point.matrix, counts / front.records) - front.prior for counts in reported]
    return float((np.array(errors) ** 2).mean())


def most_likely(matrix: Matrix, shares: Matrix) -> Matrix:
    """The distribution of the truth that makes the reported shares likeliest (OptRR eq. 3)."""

    def update(truth: Matrix) -> tuple[Matrix, float, float]:
        expected = matrix @ truth
        seen = shares > 0
        gain = matrix[seen].T @ (shares[seen] / expected[seen])
        return truth * gain, float(shares[seen] @ np.log(expected[seen])), float(gain.max() - 1)

    n_answers = matrix.shape[1]
    return accelerate(np.full(n_answers, 1 / n_answers), update, TOLERANCE, 5000).distribution
