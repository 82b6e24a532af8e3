"""The channel of least error under an amplification bound, among rows that show every record at one of two chances.

A row of a channel with amplification gamma that is not wasted holds two values, x and gamma x; so a channel is a choice
of how much weight each such pattern gets. The information that reports carry is linear in these weights, and the error
of any wanted shares is convex in the information: a barrier method with Newton steps finds the best weights.

Patterns may come in parts. A part sees the records only in classes (a filter and one follow-up, say), is dealt with a
chance that is chosen as well, and is a channel of its own on its classes.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Classes = NDArray[np.int64]

# So many patterns are tried in all; a part with more classes than that allows is given runs of classes only.
MOST_PATTERNS = 600
BARRIER_START, BARRIER_END, BARRIER_STEP = 1e-1, 1e-9, 0.1
NEWTON_STEPS = 60
CENTRED = 1e-4  # of the barrier's own size: the next, smaller barrier starts from here anyway
# Patterns that carry less than this share of the heaviest one's weight are left out.
NEGLIGIBLE = 1e-5
DECIMALS = 7


@dataclass(frozen=True, eq=False)
class Staircase:
    """A channel of least error: ``chances[report, record]``, and for each report its part and the classes it favours."""

    chances: Array
    parts: NDArray[np.int64]
    favoured: tuple[frozenset[int], ...]


def staircase(parts: Sequence[Classes], gamma: float, prior: Array, wanted: Array) -> Staircase:
    """The best channel for estimating ``wanted @ distribution`` where the distribution is `prior`.

    Each part gives the class of every record; `wanted` has a row for each share, scaled by the root of its importance.
    """
    places, patterns = [], []
    for place, classes in enumerate(parts):
        for chosen in _patterns(int(classes.max()) + 1, MOST_PATTERNS // len(parts)):
            places.append(place)
            patterns.append(chosen)
    rows = np.array(
        [
            np.where(np.isin(parts[place], list(chosen)), gamma, 1.0)
            for place, chosen in zip(places, patterns, strict=True)
        ]
    )
    part_of = np.array(places)
    weights = _best_weights(rows, part_of, [int(classes.max()) + 1 for classes in parts], parts, prior, wanted)
    is_used = weights > NEGLIGIBLE * weights.max()
    # Rounded, so that another machine's last digits give the same channel and a questionnaire the same fingerprint.
    weights = weights.round(DECIMALS)
    chances = weights[is_used, None] * rows[is_used]
    chances /= chances.sum(axis=0)
    return Staircase(chances, part_of[is_used], tuple(itertools.compress(patterns, is_used)))


def _patterns(classes: int, most: int) -> list[frozenset[int]]:
    """Sets of classes that a report may favour: all of them while they are few, else runs around a circle."""
    if 2**classes - 2 <= most:
        sizes = range(1, classes)
        return [frozenset(members) for size in sizes for members in itertools.combinations(range(classes), size)]
    return [
        frozenset((start + step) % classes for step in range(length))
        for length in range(1, classes)
        for start in range(classes)
    ]


def _best_weights(
    rows: Array, part_of: NDArray[np.int64], sizes: Sequence[int], parts: Sequence[Classes], prior: Array, wanted: Array
) -> Array:
    """Weights of the rows, and as last entries the chances of the parts, by a barrier method from an even start."""
    n_parts, n_rows = len(parts), len(rows)
    equalities, values = _equalities(rows, part_of, sizes, parts)
    basis = _basis(rows)
    seen = (rows @ basis) / np.sqrt(rows @ prior)[:, None]
    aims = wanted @ basis
    weighing = aims.T @ aims
    start = np.empty(n_rows + n_parts)
    start[n_rows:] = 1 / n_parts
    for place in range(n_parts):
        mine = part_of == place
        start[:n_rows][mine] = 1 / n_parts / rows[mine][:, 0].sum()
    x = start
    scale = _error(seen, x[:n_rows], weighing)
    barrier = BARRIER_START
    while barrier > BARRIER_END:
        x = _barrier_minimum(x, barrier * scale / len(x), seen, weighing, equalities, values)
        barrier *= BARRIER_STEP
    return x[:n_rows]


def _equalities(
    rows: Array, part_of: NDArray[np.int64], sizes: Sequence[int], parts: Sequence[Classes]
) -> tuple[Array, Array]:
    """Every part is a channel on its classes, dealt with its chance; the chances sum to one."""
    lines = []
    for place, (size, classes) in enumerate(zip(sizes, parts, strict=True)):
        for number in range(size):
            record = int(np.flatnonzero(classes == number)[0])
            chance = np.zeros(len(parts))
            chance[place] = -1
            lines.append(np.concatenate([np.where(part_of == place, rows[:, record], 0.0), chance]))
    lines.append(np.concatenate([np.zeros(len(rows)), np.ones(len(parts))]))
    values = np.zeros(len(lines))
    values[-1] = 1
    return np.array(lines), values


def _basis(rows: Array) -> Array:
    """An orthonormal basis of what the rows can tell."""
    _, singular, right = np.linalg.svd(rows, full_matrices=False)
    return right[singular > singular[0] * 1e-10].T


def _error(seen: Array, weights: Array, weighing: Array) -> float:
    return float(np.trace(np.linalg.solve((seen.T * weights) @ seen, weighing)))


def _barrier_minimum(x: Array, barrier: float, seen: Array, weighing: Array, equalities: Array, values: Array) -> Array:
    """The minimum of the error less `barrier` times the summed logarithms, by Newton's method within the equalities."""
    n_rows, lines = len(seen), len(equalities)
    for _ in range(NEWTON_STEPS):
        inverse = np.linalg.inv((seen.T * x[:n_rows]) @ seen)
        near = seen @ inverse
        weighted = near @ weighing @ near.T
        gradient = -barrier / x
        gradient[:n_rows] -= np.diag(weighted)
        # In units of x itself, so that weights near zero do not spoil the system.
        hessian = np.diag(np.full(len(x), barrier))
        hessian[:n_rows, :n_rows] += 2 * (near @ seen.T) * weighted * np.outer(x[:n_rows], x[:n_rows])
        scaled = equalities * x
        system = np.block([[hessian, scaled.T], [scaled, np.zeros((lines, lines))]])
        right = np.concatenate([-gradient * x, values - equalities @ x])
        step = np.linalg.solve(system, right)[: len(x)] * x
        decrease = float(-gradient @ step)
        negative = step < 0
        longest = float((-x[negative] / step[negative]).min(initial=np.inf))
        length = min(1.0, 0.95 * longest)

        def value(at: Array) -> float:
            return _error(seen, at[:n_rows], weighing) - barrier * float(np.log(at).sum())

        here = value(x)
        while length > 1e-12 and value(x + length * step) > here - 1e-4 * length * max(decrease, 0.0) + 1e-12 * abs(
            here
        ):
            length /= 2
        x = x + length * step
        if decrease < CENTRED * barrier * len(x) or length < 1e-9:
            break
    return x
