"""Errors of sums over cells: the mean square of one report's contribution, kept cell by cell.

The estimate of a condition is a sum of cells of the joint estimate. Its mean square is a sum of cells as well, as long as
no report contributes to two of them: so it is under a flip, where a report speaks of a record and its opposite only,
and in a group of one attribute whose condition names one answer. A group without a condition contributes its estimate
itself, which sums to one for every report.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.estimation.group_parts import Part
from tacit.estimation.inversion import Inverted

# Arrays of squares that are kept; a tree asks for few different sets of groups again and again.
KEPT_ARRAYS = 64


def has_disjoint_cells(part: Part) -> bool:
    """Whether no report contributes to two cells that meet a condition on single answers of the group."""
    return len(part.attributes) == 1 or part.channel.keeps_cells_apart or part.channel.is_clear


def shows_truths(part: Part) -> bool:
    """Whether the reports of a group look like its truths, so that both have the same cells."""
    return part.shows_one and part.estimator.tally_shape == part.estimator.shape


@dataclass(frozen=True, eq=False)
class CellSquares:
    """The cells of a joint estimate that any report speaks of: their estimates, and their mean squares."""

    joint: Inverted
    _kept: dict[tuple[frozenset[int], frozenset[int]], Array] = field(default_factory=dict, repr=False)

    def part_of(self, name: str) -> int:
        """The position of the group that an attribute belongs to."""
        return next(position for position, part in enumerate(self.joint.parts) if name in part.attributes)

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """Positions of the cells in the raveled estimate; all others are zero in every array."""
        return np.flatnonzero(self._computed(None, frozenset()))

    @property
    def estimates(self) -> Array:
        return self.squares(frozenset())

    def squares(self, conditioned: frozenset[int], raw: frozenset[int] = frozenset()) -> Array:
        """Mean squares where these groups (by position) have a condition and the others have none.

        The cells of `raw` groups stand for reports, not for truths: how often they are shown.
        """
        clear = frozenset(position for position, part in enumerate(self.joint.parts) if part.channel.is_clear)
        key = (conditioned - clear, raw - clear)
        if key not in self._kept:
            if len(self._kept) >= KEPT_ARRAYS:
                self._kept.pop(next(iter(self._kept)))
            self._kept[key] = self._computed(*key)[self.cells]
        return self._kept[key]

    def _computed(self, conditioned: frozenset[int] | None, raw: frozenset[int]) -> Array:
        """All cells, raveled; without `conditioned` something positive wherever any of the arrays may be."""
        cells = self.joint.frequencies
        for position, part in enumerate(self.joint.parts):
            if conditioned is None:
                solved = part.estimator.solve_squares(cells, part.guess)
                solved = solved + cells if shows_truths(part) else solved
            elif position in raw:
                solved = cells
            else:
                solve = part.estimator.solve_squares if position in conditioned else part.estimator.solve
                solved = solve(cells, part.guess)
            axes = len(part.attributes)
            cells = np.moveaxis(solved, range(axes), range(-axes, 0))
        there = [name for part in self.joint.parts for name in part.attributes]
        return cells.transpose([there.index(name) for name in self.joint.names]).reshape(-1)
