"""Where to cut numbers: equal widths, quantiles, or the middle of their range."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput
from tacit.schema import Closed, Cut

Numbers = NDArray[np.float64]
CutRule = Callable[[Numbers], Cut]


def equal_width(intervals: int, *, closed: Closed = "right") -> CutRule:
    """Intervals of one width from the least to the greatest number."""
    _checked_intervals(intervals)

    def rule(numbers: Numbers) -> Cut:
        low, high = _checked_range(numbers)
        return Cut(tuple(np.linspace(low, high, intervals + 1)[1:-1].tolist()), closed)

    return rule


def quantiles(intervals: int, *, closed: Closed = "right") -> CutRule:
    """Intervals that hold equally many numbers, as far as ties allow."""
    _checked_intervals(intervals)

    def rule(numbers: Numbers) -> Cut:
        _checked_range(numbers)
        if closed == "right":
            return Cut(_right_closed_quantiles(numbers, intervals), closed)
        return Cut(tuple(-edge for edge in reversed(_right_closed_quantiles(-numbers, intervals))), closed)

    return rule


def _right_closed_quantiles(numbers: Numbers, intervals: int) -> tuple[float, ...]:
    edges = np.unique(np.quantile(numbers, np.arange(1, intervals) / intervals, method="inverted_cdf"))
    # An edge at the greatest number would leave nothing above it.
    below = numbers[numbers < numbers.max()].max()
    return tuple(np.unique(np.minimum(edges, below)).tolist())


def middle(*, closed: Closed = "right") -> CutRule:
    """Two intervals that meet in the middle of the range."""
    return equal_width(2, closed=closed)


def _checked_intervals(intervals: int) -> None:
    if not (isinstance(intervals, int) and intervals >= 2):
        raise InvalidInput(f"Numbers are cut into at least 2 intervals, not {intervals!r}.")


def _checked_range(numbers: Numbers) -> tuple[float, float]:
    if not len(numbers):
        raise InvalidInput("There are no numbers to find a cut from.")
    low, high = float(numbers.min()), float(numbers.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise InvalidInput("Numbers can only be cut where all of them are finite. Name what stands for missing values.")
    if low == high:
        raise InvalidInput(f"All numbers are {low:g}: there is nothing to cut. Leave the attribute out.")
    return low, high
