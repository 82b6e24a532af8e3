"""The distribution of the truth that makes the counted reports most likely.

Stays a distribution where inversion may not, at the price of bias near the faces of the simplex. Some channels have a
closed form; everything else is iterated until a bound on what is still to be gained is met, orbit by orbit where records
fall into orbits that no report leaves. Under flips an orbit is a record itself and those with some of the groups reversed,
2^g of them; an answer that is told as it is is alone. What share of the people is in an orbit is counted without error, and
within each orbit the likelihood is a small problem of its own, which needs far fewer steps than all of them together.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array, Orbits
from tacit.count.protocol import DENSE_CELLS, Source
from tacit.errors import InvalidInput
from tacit.estimation.evidence import Evidence, Tallied, gather_evidence
from tacit.estimation.expectation import ExpectationFit, accelerate, expectation_step
from tacit.estimation.group_parts import Part

__all__ = ["ExpectationFit", "accelerate", "most_likely"]

TOLERANCE = 1e-9  # of the log-likelihood per report
MAX_STEPS = 50_000


def most_likely(
    sources: Sequence[Source],
    names: Sequence[str],
    sizes: Callable[[str], int],
    *,
    tolerance: float = TOLERANCE,
    max_steps: int = MAX_STEPS,
) -> ExpectationFit:
    """The most likely joint distribution of `names`, given the reports of sources that all ask some of them."""
    covered, evidence = gather_evidence(sources, names)
    shape = tuple(sizes(name) for name in covered)
    _checked_cells(covered, shape)
    start = np.full(shape, 1 / np.prod(shape))
    _checked_possible(evidence, start)
    fit = (
        orbit_fit(evidence, shape, tolerance, max_steps)
        or closed_form(evidence, shape)
        or accelerate(start, expectation_step(evidence), tolerance, max_steps)
    )
    others = tuple(axis for axis, name in enumerate(covered) if name not in names)
    return ExpectationFit(fit.distribution.sum(axis=others), fit.steps, fit.converged)


def _checked_cells(covered: Sequence[str], shape: tuple[int, ...]) -> None:
    cells = float(np.prod(np.array(shape, dtype=np.float64)))
    if cells > DENSE_CELLS:
        raise InvalidInput(
            f"The likelihood needs one table of {', '.join(covered)}, because they are disguised together; its {cells:.3g} "
            "cells are too many to hold. Use method 'inversion'."
        )


def _checked_possible(evidence: Sequence[Evidence], start: Array) -> None:
    impossible = sum(float(group.counts[group.expected(start) <= 0].sum()) for group in evidence)
    if impossible:
        raise InvalidInput(
            f"{impossible:,.0f} reports could not have been sent by anybody under the scheme (their chance is 0 whatever "
            "is true). Give the scheme that the reports were disguised with."
        )


def closed_form(evidence: Sequence[Evidence], shape: tuple[int, ...]) -> ExpectationFit | None:
    """The optimum of one channel over the whole table, where it has a closed form."""
    if len(evidence) != 1 or not isinstance(only := evidence[0], Tallied) or len(only.parts) != 1:
        return None
    truth = only.parts[0].channel.most_likely(only.counts / only.counts.sum())
    return None if truth is None else ExpectationFit(only.place.lift(truth, len(shape)), 0, converged=True)


# Beyond so many members an orbit is no longer small.
MOST_MEMBERS = 64


def orbit_fit(
    evidence: Sequence[Evidence], shape: tuple[int, ...], tolerance: float, max_steps: int
) -> ExpectationFit | None:
    """The most likely table where the records of every group fall into small orbits; None where that is not so."""
    if len(evidence) != 1 or not isinstance(only := evidence[0], Tallied):
        return None
    orbits = _orbits_of(only.parts)
    if orbits is None or importlib.util.find_spec("numba") is None:  # without it all orbits are iterated together
        return None
    from tacit.estimation._orbit_kernels import most_likely_rows

    law: Array = np.ones((1, 1))
    for group in orbits:
        law = np.kron(law, group.law).astype(np.float64)
    places = reduce(_joint_places, [group.places for group in orbits])
    counts = only.counts.reshape(-1)[places]
    shares, steps = most_likely_rows(counts, law, tolerance, max_steps)
    truth = np.zeros(only.counts.size)
    truth[places] = shares * counts.sum(axis=1, keepdims=True) / counts.sum()
    return ExpectationFit(
        only.place.lift(truth.reshape(only.counts.shape), len(shape)), steps, converged=steps <= max_steps
    )


def has_orbits(parts: Sequence[Part]) -> bool:
    """Whether the records of every group fall into small orbits, and not all are alone."""
    return _orbits_of(parts) is not None


def _orbits_of(parts: Sequence[Part]) -> list[Orbits] | None:
    every = [group.channel.orbits() for group in parts]
    tractable = [orbits for orbits in every if orbits is not None]
    members = math.prod(len(orbits.law) for orbits in tractable)
    return tractable if len(tractable) == len(parts) and 1 < members <= MOST_MEMBERS else None


def _joint_places(places: NDArray[np.int64], orbits: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions in the table of all groups so far and one more."""
    both = places[:, None, :, None] * orbits.size + orbits[None, :, None, :]
    return both.reshape(len(places) * len(orbits), -1)
