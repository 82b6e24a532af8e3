"""Steps of numbers found from the data: of equal width, of equally many rows, or those that lose least.

Written as ``--granularity income=quantile:20``. However wide a step is, merging it with a neighbour counts as one step of loss.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput, UnknownName
from tacit.schema import Attribute, numeric

BinRule = Literal["equal", "quantile", "optimal"]
MOST_BINS = 250
MOST_EDGES = 400  # candidates for the edges of the best steps
Floats = NDArray[np.float64]


def bin_rule(name: str, text: str) -> tuple[BinRule, int]:
    """``quantile:20`` as a rule and a number of steps."""
    rule, colon, number = text.partition(":")
    if rule not in get_args(BinRule):
        raise UnknownName(f"Rule for the steps of {name!r}", rule, get_args(BinRule))
    if not colon or not number.strip().isdigit() or not 2 <= int(number) <= MOST_BINS:
        raise InvalidInput(
            f"{text!r} for {name!r} needs a number of steps from 2 to {MOST_BINS}, such as {rule}:20. Give one."
        )
    return rule, int(number)  # type: ignore[return-value]


def binned_attribute(name: str, numbers: Floats, rule: BinRule, steps: int) -> Attribute:
    """An attribute whose answers are steps found from the data."""
    if not np.isfinite(numbers).all():
        raise InvalidInput(f"{name!r} holds numbers that are not finite. Name what stands for missing values.")
    low, high = float(numbers.min()), float(numbers.max())
    if low == high:
        raise InvalidInput(f"All numbers of {name!r} are {low:g}: there is nothing to cut. Leave it out.")
    if rule == "equal":
        edges = _equal_edges(low, high, steps)
    elif rule == "quantile":
        edges = np.quantile(numbers, np.linspace(0, 1, steps + 1)[1:-1], method="inverted_cdf")
    else:
        edges = _best_edges(numbers, steps)
    whole = bool((numbers == np.floor(numbers)).all())
    edges = np.unique(np.ceil(edges) if whole else edges)
    edges = edges[(edges > low) & (edges <= high)]
    if not len(edges):
        raise InvalidInput(f"{name!r} has too few different numbers for {rule}:{steps}. Give fewer steps, or none.")
    return numeric(name, edges.tolist(), closed="left", labels=_labels(edges, whole=whole))


def _equal_edges(low: float, high: float, steps: int) -> Floats:
    """Edges of at most so many steps, all of one width of two digits and multiples of it.

    Were the range divided as it is, the edges would tell the least and the greatest number of the table.
    """
    width = _two_digits((high - low) / steps)
    while math.floor(high / width) - math.floor(low / width) >= steps:
        width = _two_digits(width * 1.001)
    return np.arange(math.floor(low / width) + 1, math.floor(high / width) + 1, dtype=np.float64) * width


def _two_digits(number: float) -> float:
    """The smallest number of two digits, and zeros, that is at least as large."""
    unit = 10.0 ** (math.floor(math.log10(number)) - 1)
    return math.ceil(number / unit - 1e-9) * unit


def _labels(edges: Floats, *, whole: bool) -> list[str]:
    """The steps in words; the outer ones are open, because their ends would be the values of two people."""
    starts, ends = edges[:-1].tolist(), ((edges - 1) if whole else edges)[1:].tolist()
    between = " to " if whole else " up to "
    inner = [f"{a:.10g}{between}{b:.10g}" if a != b else f"{a:.10g}" for a, b in zip(starts, ends, strict=True)]
    return [f"below {edges[0]:.10g}", *inner, f"{edges[-1]:.10g} and more"]


def _best_edges(numbers: Floats, steps: int) -> Floats:
    """The edges that make the mean width of a row's step least (dynamic programming over quantiles as candidates)."""
    points = np.quantile(numbers, np.linspace(0, 1, MOST_EDGES + 1), method="inverted_cdf")
    points = np.unique(points)
    rows = np.searchsorted(np.sort(numbers), points, side="left").astype(np.float64)
    rows[-1] = len(numbers)
    # cost[a, b]: rows from point a up to b times the width of that step
    cost = (rows[None, :] - rows[:, None]) * (points[None, :] - points[:, None])
    cost[np.tril_indices(len(points))] = math.inf
    least, choices = cost[0].copy(), []
    for _ in range(min(steps, len(points) - 1) - 1):
        through = least[:, None] + cost
        choices.append(through.argmin(axis=0))
        least = through.min(axis=0)
    edges, at = [], len(points) - 1
    for choice in reversed(choices):
        at = int(choice[at])
        edges.append(points[at])
    return np.array(edges[::-1])
