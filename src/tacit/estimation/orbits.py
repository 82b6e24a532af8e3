"""The likelihood of records that fall into orbits: those that a report can come from never leave its own.

Under flips these are the record itself and those with some of the groups reversed, 2^g of them; an answer that is told as
it is is alone. What share of the people is in an orbit is counted without error, and within each orbit the likelihood is a
small problem of its own, which needs far fewer steps than all of them together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array, Orbits
from tacit.estimation.evidence import Evidence, Tallied
from tacit.estimation.expectation import ExpectationFit
from tacit.estimation.group_parts import Part

# Beyond so many members an orbit is no longer small.
MOST_MEMBERS = 64


def orbit_fit(
    evidence: Sequence[Evidence], shape: tuple[int, ...], tolerance: float, max_steps: int
) -> ExpectationFit | None:
    """The most likely table where the records of every group fall into small orbits; None where that is not so."""
    if len(evidence) != 1 or not isinstance(only := evidence[0], Tallied):
        return None
    orbits = _orbits_of(only.parts)
    if orbits is None:
        return None
    from tacit.estimation._orbit_kernels import most_likely_rows

    law: Array = np.ones((1, 1))
    for part in orbits:
        law = np.kron(law, part.law).astype(np.float64)
    places = reduce(_crossed, [part.places for part in orbits])
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
    every = [part.channel.orbits() for part in parts]
    known = [orbits for orbits in every if orbits is not None]
    members = math.prod(len(orbits.law) for orbits in known)
    return known if len(known) == len(parts) and 1 < members <= MOST_MEMBERS else None


def _crossed(places: NDArray[np.int64], orbits: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions in the table of all groups so far and one more."""
    both = places[:, None, :, None] * orbits.size + orbits[None, :, None, :]
    return both.reshape(len(places) * len(orbits), -1)
