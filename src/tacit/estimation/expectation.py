"""Expectation maximization on the simplex, accelerated, with a stopping rule that is a guarantee."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.channel.protocol import Array
from tacit.estimation.evidence import Evidence


@dataclass(frozen=True, eq=False)
class Fit:
    """A distribution, and whether its log-likelihood per report is within the tolerance of the greatest."""

    distribution: Array
    steps: int
    converged: bool


class Step(NamedTuple):
    """What one update of EM finds at a distribution."""

    after: Array  # the next distribution
    likelihood: float  # logarithm, per report
    remaining: float  # no distribution has a likelihood greater by more than this


def expectation_step(evidence: Sequence[Evidence]) -> Callable[[Array], Step]:
    """The EM update of Agrawal and Aggarwal (PODS 2001) over all the evidence."""
    total = sum(float(part.counts.sum()) for part in evidence)

    def update(truth: Array) -> Step:
        gain, likelihood = np.zeros_like(truth), 0.0
        for part in evidence:
            expected = part.expected(truth)
            # A report nobody can send is expected 0 times and seen 0 times; it carries no weight.
            seen = part.counts > 0
            ratio = np.divide(part.counts, expected, out=np.zeros_like(expected), where=seen)
            gain += part.spread(ratio, truth.ndim)
            likelihood += float(part.counts[seen] @ np.log(expected[seen]))
        gain /= total
        # By concavity the gain in the direction of any other distribution is at most the steepest one.
        return Step(truth * gain, likelihood / total, float(gain.max() - 1))

    return update


def accelerated(
    start: Array, update: Callable[[Array], tuple[Array, float, float]], tolerance: float, max_steps: int
) -> Fit:
    """SQUAREM (Varadhan and Roland 2008); falls back to plain steps where the extrapolation loses likelihood.

    `update` gives what a `Step` holds.
    """
    truth, here = start, Step(*update(start))
    for step in range(max_steps):
        if here.remaining <= tolerance:
            return Fit(truth, step, converged=True)
        second = Step(*update(here.after)).after
        jump = extrapolated(truth, here.after, second)
        landed = Step(*update(jump))
        if landed.likelihood >= here.likelihood:
            truth, here = jump, landed
        else:
            truth, here = second, Step(*update(second))
    return Fit(truth, max_steps, converged=here.remaining <= tolerance)


def extrapolated(truth: Array, first: Array, second: Array) -> Array:
    """Where two steps of EM seem to lead, inside the simplex."""
    change = first - truth
    curvature = (second - first) - change
    length = float(np.linalg.norm(curvature))
    if length == 0:
        return second
    step = max(1.0, float(np.linalg.norm(change)) / length)
    jump = truth + 2 * step * change + step**2 * curvature
    # Staying inside keeps every truth possible that EM still holds for possible.
    jump = np.where(jump > 0, jump, second * 1e-3)
    return jump / jump.sum()
