"""Climbing a likelihood by expectation maximization, with SQUAREM's extrapolation (Varadhan and Roland 2008)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

import numpy as np

from tacit.channel.codes import Array
from tacit.estimation.expectation import leaps

# Gain of log-likelihood a report below which a fit has arrived.
ARRIVED = 1e-8
MOST_STEPS = 2000
# Gains are compared up to rounding.
ROUNDING = 1e-13


class Parameters(Protocol):
    """A model as arrays of distributions: each sums to one along its last axis."""

    @property
    def arrays(self) -> tuple[Array, ...]: ...

    def with_arrays(self, arrays: Sequence[Array]) -> Self: ...


Model = TypeVar("Model", bound=Parameters)


@dataclass(frozen=True, eq=False)
class Climb(Generic[Model]):
    """Where a climb ended: the model, its objective a report, and how it got there."""

    model: Model
    height: float
    steps: int
    converged: bool


def climb(
    start: Model,
    step: Callable[[Model], tuple[Model, float]],
    *,
    arrived: float = ARRIVED,
    most_steps: int = MOST_STEPS,
) -> Climb[Model]:
    """The model that no step improves by more than `arrived`.

    `step` gives the next model of EM and the objective at the one it was given. Two steps and the place they seem to
    lead to make a round; where that place is lower, the round ends with the second step.
    """
    model = start
    after, height = step(model)
    used = 1
    while used < most_steps:
        second, middle = step(after)
        jump = extrapolate(model, after, second)
        landed, top = step(jump)
        used += 2
        if not top >= middle - ROUNDING:
            jump, (landed, top) = second, step(second)
            used += 1
        gain, model, after, height = top - height, jump, landed, top
        if gain <= arrived:
            return Climb(model, height, used, converged=True)
    return Climb(model, height, used, converged=False)


def extrapolate(start: Model, first: Model, second: Model) -> Model:
    """Where two steps of EM seem to lead, every distribution inside its simplex."""
    jumps = leaps(start.arrays, first.arrays, second.arrays)
    return start.with_arrays([jump / jump.sum(axis=-1, keepdims=True) for jump in jumps])


def twice(distributions: Array, rng: np.random.Generator, apart: float) -> Array:
    """Every distribution (along the last axis) twice, a little apart, so that a climb may part the two."""
    tilt = np.exp(apart * rng.standard_normal(distributions.shape))
    pair = np.concatenate([distributions * tilt, distributions / tilt])
    return pair / pair.sum(axis=-1, keepdims=True)
