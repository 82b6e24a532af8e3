"""Numbers in steps: the finest detail a release may show."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tacit.errors import InvalidInput
from tacit.schema import Cut

if TYPE_CHECKING:
    from tacit.table.discretize import CutRule, Numbers

MOST_STEPS = 500


def in_steps(width: float) -> CutRule:
    """Right-closed intervals of one `width` with edges at its multiples, such as (30,35] for 5."""
    if not (math.isfinite(width) and width > 0):
        raise InvalidInput(f"A granularity must be a number above 0, not {width!r}.")

    def rule(numbers: Numbers) -> Cut:
        low, high = math.ceil(float(numbers.min()) / width), math.ceil(float(numbers.max()) / width) - 1
        if high - low >= MOST_STEPS:
            raise InvalidInput(
                f"Steps of {width:g} make {high - low + 2:,} intervals, more than {MOST_STEPS}. Widen them."
            )
        edges = np.arange(low, high + 1) * width
        if not len(edges):
            raise InvalidInput(f"All numbers lie in one step of {width:g}. Give a finer granularity, or leave it out.")
        return Cut(tuple(edges.tolist()), "right")

    return rule
