"""Errors of sums over cells: the mean square of one report's contribution, kept cell by cell.

The estimate of a condition is a sum of cells of the joint estimate. Its mean square is a sum of cells as well, as long as
no report contributes to two of them: so it is under a flip, where a report speaks of a record and its opposite only,
and in a group of one attribute whose condition names one answer. A group without a condition contributes its estimate
itself, which sums to one for every report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.flip import FlipChannel
from tacit.channel.mixture import MixtureLaw
from tacit.channel.protocol import Array
from tacit.estimate.inversion import Inverted
from tacit.estimate.parts import Part

# Arrays of squares that are kept; a tree asks for few different sets of groups again and again.
KEPT_ARRAYS = 64


def is_clear(part: Part) -> bool:
    """Whether the reports of a group are its truths."""
    return isinstance(part.channel, MixtureLaw) and part.channel.keep == 1


def has_disjoint_cells(part: Part) -> bool:
    """Whether no report contributes to two cells that meet a condition on single answers of the group."""
    return len(part.attributes) == 1 or isinstance(part.channel, FlipChannel) or is_clear(part)


@dataclass(frozen=True, eq=False)
class CellSquares:
    """The cells of a joint estimate that any report speaks of: their estimates, and their mean squares."""

    joint: Inverted
    _kept: dict[frozenset[int], Array] = field(default_factory=dict, repr=False)

    def part_of(self, name: str) -> int:
        """The position of the group that an attribute belongs to."""
        return next(position for position, part in enumerate(self.joint.parts) if name in part.attributes)

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """Positions of the cells in the raveled estimate; all others are zero in every array."""
        return np.flatnonzero(self._computed(frozenset(range(len(self.joint.parts)))))

    @property
    def estimates(self) -> Array:
        return self.squares(frozenset())

    def squares(self, conditioned: frozenset[int]) -> Array:
        """Mean squares where these groups (by position) have a condition and the others have none."""
        disguised = frozenset(part for part in conditioned if not is_clear(self.joint.parts[part]))
        if disguised not in self._kept:
            if len(self._kept) >= KEPT_ARRAYS:
                self._kept.pop(next(iter(self._kept)))
            self._kept[disguised] = self._computed(disguised)[self.cells]
        return self._kept[disguised]

    def _computed(self, conditioned: frozenset[int]) -> Array:
        cells = _solved(self.joint.parts, self.joint.frequencies, conditioned)
        there = [name for part in self.joint.parts for name in part.attributes]
        return cells.transpose([there.index(name) for name in self.joint.names]).reshape(-1)


def _solved(parts: Sequence[Part], tally: Array, squared: frozenset[int]) -> Array:
    for position, part in enumerate(parts):
        solve = part.estimator.solve_squares if position in squared else part.estimator.solve
        axes = len(part.attributes)
        tally = np.moveaxis(solve(tally, part.guess), range(axes), range(-axes, 0))
    return tally
