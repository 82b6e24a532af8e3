"""How much one table of reports tells of each interaction of its attributes.

The interaction of a set S of attributes is the part of their joint distribution that no smaller set explains: their
table, less its means along every axis. By inclusion and exclusion the summed square of one report's contributions to it
is a signed sum of its summed squares on the margins of S, which every channel has in closed form.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from tacit.channel.base import Array
from tacit.estimation.group_parts import Part

Names = tuple[str, ...]


def interactions(names: Sequence[str]) -> Iterator[Names]:
    """Every non-empty set of attributes, small ones first."""
    return itertools.chain.from_iterable(itertools.combinations(names, size) for size in range(1, len(names) + 1))


def information(parts: Sequence[Part], names: Names) -> dict[Names, float]:
    """For each interaction of `names` one over the mean variance of one report's contributions, for a uniform truth."""
    scatters = [_scatter(part) for part in parts]
    sizes = {name: size for part in parts for name, size in zip(part.attributes, part.estimator.shape, strict=True)}
    named = {}
    for interaction in interactions(names):
        # Groups are disguised independently, so the trace of their product is the product of their traces.
        trace = math.prod(
            float(scatter[tuple(int(name in interaction) for name in part.attributes)])
            for part, scatter in zip(parts, scatters, strict=True)
        )
        named[interaction] = math.prod(sizes[name] - 1 for name in interaction) / trace
    return named


def _scatter(part: Part) -> Array:
    """For each set of a part's attributes the summed square of one report's contributions to its interaction.

    There is an axis of length 2 per attribute, 1 standing for "in the set".
    """
    squares = np.empty((2,) * len(part.attributes))
    for members in np.ndindex(squares.shape):
        margin = [name for name, inside in zip(part.attributes, members, strict=True) if inside]
        squares[members] = part.channel.summed_squares([part.covered.index(name) for name in margin])
    for axis, size in enumerate(part.estimator.shape):
        view = np.moveaxis(squares, axis, 0)
        view[1] -= view[0] / size
    return squares
