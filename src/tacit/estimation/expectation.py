"""Expectation maximization on the simplex, accelerated, with a stopping rule that is a guarantee."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.channel.base import Array
from tacit.estimation.evidence import Evidence


@dataclass(frozen=True, eq=False)
class ExpectationFit:
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
    total = sum(float(group.counts.sum()) for group in evidence)

    def update(truth: Array) -> Step:
        gain, likelihood = np.zeros_like(truth), 0.0
        for group in evidence:
            expected = group.expected(truth)
            # A report nobody can send is expected 0 times and seen 0 times; it carries no weight.
            seen = group.counts > 0
            ratio = np.divide(group.counts, expected, out=np.zeros_like(expected), where=seen)
            gain += group.spread(ratio, truth.ndim)
            likelihood += float(group.counts[seen] @ np.log(expected[seen]))
        gain /= total
        # By concavity the gain in the direction of any other distribution is at most the steepest one.
        return Step(truth * gain, likelihood / total, float(gain.max() - 1))

    return update


def accelerate(
    start: Array, update: Callable[[Array], tuple[Array, float, float]], tolerance: float, max_steps: int
) -> ExpectationFit:
    """SQUAREM (Varadhan and Roland 2008); falls back to plain steps where the extrapolation loses likelihood.

    `update` gives what a `Step` holds.
    """
    truth, here = start, Step(*update(start))
    for step in range(max_steps):
        if here.remaining <= tolerance:
            return ExpectationFit(truth, step, converged=True)
        second = Step(*update(here.after)).after
        jump = extrapolate(truth, here.after, second)
        landed = Step(*update(jump))
        if landed.likelihood >= here.likelihood:
            truth, here = jump, landed
        else:
            truth, here = second, Step(*update(second))
    return ExpectationFit(truth, max_steps, converged=here.remaining <= tolerance)


def extrapolate(truth: Array, first: Array, second: Array) -> Array:
    """Where two steps of EM seem to lead, inside the simplex."""
    (jump,) = leaps([truth], [first], [second])
    return jump / jump.sum()


def leaps(starts: Sequence[Array], firsts: Sequence[Array], seconds: Sequence[Array]) -> list[Array]:
    """Where two steps of EM seem to lead the arrays of a model, one stride for all of them; not yet summing to one."""
    changes = [first - start for start, first in zip(starts, firsts, strict=True)]
    bends = [(second - first) - change for first, second, change in zip(firsts, seconds, changes, strict=True)]
    stride = stride_of(_length(changes), _length(bends))
    return [leap(*arrays, stride) for arrays in zip(starts, changes, bends, seconds, strict=True)]


# These two are SQUAREM's whole extrapolation; `_orbit_kernels` compiles them as they are.


def stride_of(changed: float, bent: float) -> float:
    """How many steps are taken at once: the more, the less the way bends."""
    return max(1.0, changed / bent) if bent > 0 else 1.0


def leap(start: Array, change: Array, bend: Array, second: Array, stride: float) -> Array:
    """Where the steps lead; staying inside keeps everything possible that EM still holds for possible."""
    jump = start + 2 * stride * change + stride**2 * bend
    return np.where(jump > 0, jump, second * 1e-3)


def _length(arrays: Sequence[Array]) -> float:
    return float(np.linalg.norm([np.linalg.norm(array) for array in arrays]))
