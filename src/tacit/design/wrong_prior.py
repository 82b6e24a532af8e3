"""What a design is worth where the prior it was made for is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.dense import map_privacy, worst_posterior
from tacit.design.front import Front, FrontPoint

Matrix = NDArray[np.float64]

# Priors near the design's own: as uncertain as shares counted on this many people.
COUNTED_ON = 100
NEAR_PRIORS = 200
LEAST_SHARE = 1e-3


@dataclass(frozen=True)
class UnderPrior:
    """The measures of one channel where another prior is true."""

    prior: str
    privacy: float
    worst_posterior: float
    mse: float


@dataclass(frozen=True)
class Robustness:
    """A channel's measures under its own prior and under others that are plausible."""

    rows: tuple[UnderPrior, ...]

    def to_document(self) -> list[dict[str, Any]]:
        return [vars(row) for row in self.rows]

    def __str__(self) -> str:
        lines = [f"{'if the truth is':34}{'privacy':>9}{'worst posterior':>17}{'MSE':>12}"]
        lines += [f"{row.prior:34}{row.privacy:9.4f}{row.worst_posterior:17.4f}{row.mse:12.4g}" for row in self.rows]
        return "\n".join(lines)


def robustness(front: Front, point: FrontPoint, seed: int = 0) -> Robustness:
    """The point's measures under its own prior, a uniform one, the reversed one, and the worst of many near its own.

    The last row takes each measure's worst value separately over priors drawn as if the design's own had been counted
    on a hundred people.
    """
    uniform = np.full(len(front.prior), 1 / len(front.prior))
    reversed_ranks = np.empty_like(front.prior)
    reversed_ranks[np.argsort(front.prior)] = np.sort(front.prior)[::-1]
    named = {
        "the design's prior": front.prior,
        "halfway to uniform": (front.prior + uniform) / 2,
        "uniform": uniform,
        "frequent answers rare, rare frequent": reversed_ranks,
    }
    rows = [_under(name, prior, point, front) for name, prior in named.items()]
    rng = np.random.default_rng(seed)
    near = np.maximum(rng.dirichlet(COUNTED_ON * front.prior, NEAR_PRIORS), LEAST_SHARE / len(front.prior))
    drawn = [_under("", prior / prior.sum(), point, front) for prior in near]
    worst = UnderPrior(
        prior="the worst of 200 near the design's",
        privacy=min(row.privacy for row in drawn),
        worst_posterior=max(row.worst_posterior for row in drawn),
        mse=max(row.mse for row in drawn),
    )
    return Robustness((*rows, worst))


def _under(name: str, prior: Matrix, point: FrontPoint, front: Front) -> UnderPrior:
    return UnderPrior(
        prior=name,
        privacy=map_privacy(point.matrix, prior),
        worst_posterior=worst_posterior(point.matrix, prior),
        mse=front.problem(prior).mse_of(point.matrix),
    )
