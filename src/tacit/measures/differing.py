"""Amplification without any prior: of one answer, and of any two records that are possible in one situation."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from tacit.channel.routing import MOST_COMPARED, Mask
from tacit.channel.scheme import Group

Array = NDArray[np.float64]

# Ratios of so many pairs are formed at a time: 32 MB.
RATIOS = 1 << 22


def answer_amplification(group: Group, axis: int, situations: Iterable[Mask]) -> float:
    """The largest ratio of two chances of one report, for records that differ in one answer and what routing forces.

    Where a law is too large to list, any two records count: never less than the truth.
    """
    if not group.channel.is_small:
        return group.channel.amplification
    if not group.is_routed:
        return group.channel.answer_amplification(axis)
    if len(group.legal) > MOST_COMPARED:
        return group.channel.amplification
    law = group.law
    return max((_between(law, *group.legal.differing(axis, possible)) for possible in situations), default=1.0)


def amplification_among(group: Group, possible: Mask) -> float:
    """The largest ratio of two chances of one report, among the records that are possible."""
    if possible.all():
        return group.channel.amplification
    columns = group.law[:, possible]
    return _largest(columns.max(axis=1), columns.min(axis=1)) if columns.shape[1] else 1.0


def _between(law: Array, first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    step = max(1, RATIOS // len(law))
    starts = range(0, len(first), step)
    return max((_largest(law[:, first[at : at + step]], law[:, second[at : at + step]]) for at in starts), default=1.0)


def _largest(high: Array, low: Array) -> float:
    if ((high > 0) & (low == 0)).any():
        return math.inf
    return float((high[low > 0] / low[low > 0]).max(initial=1.0))
