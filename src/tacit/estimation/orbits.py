"""The likelihood of flipped records, orbit by orbit.

Under flips a report can only come from the record itself and those with some of the groups reversed: 2^g of them, an
orbit. What share of the people is in an orbit is counted without error, and within each orbit the likelihood is a small
problem of its own, which needs far fewer steps than all of them together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from tacit.channel.kinds.flip import FlipChannel
from tacit.channel.kinds.mixture import MixtureLaw
from tacit.channel.protocol import Array
from tacit.estimation.evidence import Evidence, Tallied
from tacit.estimation.expectation import Fit
from tacit.estimation.parts import Part

# Beyond so many groups an orbit is no longer small.
MOST_FLIPPED_GROUPS = 6


def flip_fit(evidence: Sequence[Evidence], shape: tuple[int, ...], tolerance: float, max_steps: int) -> Fit | None:
    """The most likely table where every group is flipped or told as it is; None where that is not so."""
    if len(evidence) != 1 or not isinstance(only := evidence[0], Tallied):
        return None
    if not has_orbits(only.parts):
        return None
    from tacit.estimation._orbit_kernels import most_likely_rows

    matrix = _within_orbits(only.parts)
    places = reduce(_crossed, map(_orbits, only.parts))
    counts = only.counts.reshape(-1)[places]
    found, steps = most_likely_rows(counts, matrix, tolerance, max_steps)
    truth = np.zeros(only.counts.size)
    truth[places] = found * counts.sum(axis=1, keepdims=True) / counts.sum()
    return Fit(only.place.lift(truth.reshape(only.counts.shape), len(shape)), steps, converged=steps <= max_steps)


def has_orbits(parts: Sequence[Part]) -> bool:
    """Whether every group is flipped or told as it is, and the flipped ones are few."""
    flipped = [isinstance(part.channel, FlipChannel) for part in parts]
    told = [isinstance(part.channel, MixtureLaw) and part.channel.keep == 1 for part in parts]
    return 0 < sum(flipped) <= MOST_FLIPPED_GROUPS and sum(flipped) + sum(told) == len(parts)


def _within_orbits(parts: Sequence[Part]) -> Array:
    matrix: Array = np.ones((1, 1))
    for part in parts:
        matrix = np.kron(matrix, _coin(part)).astype(np.float64)
    return matrix


def _coin(part: Part) -> Array:
    """The channel within one orbit."""
    if not isinstance(part.channel, FlipChannel):
        return np.ones((1, 1))
    told = part.channel.chance
    return np.array([[told, 1 - told], [1 - told, told]])


def _orbits(part: Part) -> NDArray[np.int64]:
    """Positions ``[orbit, member]`` of a record and its reverse, or of a record that is told as it is."""
    size = math.prod(part.channel.shape)
    if not isinstance(part.channel, FlipChannel):
        return np.arange(size)[:, None]
    here = np.arange(size // 2)
    return np.stack([here, size - 1 - here], axis=1)


def _crossed(places: NDArray[np.int64], orbits: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions in the table of all groups so far and one more."""
    both = places[:, None, :, None] * orbits.size + orbits[None, :, None, :]
    return both.reshape(len(places) * len(orbits), -1)
