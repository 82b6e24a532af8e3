"""What local recoding has to lose, whatever its classes: nobody is published with others than the k - 1 nearest or farther ones.

A class that holds a row holds at least k, so one of them is at least as far from it as its (k-1)-th nearest other row. The label
of an attribute spans both, and a row's penalty is the weighted sum of these spans: at least the distance between the two, where
an attribute counts its weight times the answers between them over all answers but one. Suppressed rows cost 1, which no distance
exceeds. The mean of these distances over the rows is a bound for every local recoding (and so for every global one), also
with l, t or persons, which only ask for more. It is not a sharp one: all k rows of a class would have to be as near to each
other as each is to its own nearest.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from tacit.publish.combinations import Combinations
from tacit.publish.problem import Problem
from tacit.publish.tally import QuasiTally

Floats = NDArray[np.float64]
NEIGHBOURS_AT_A_TIME = 1 << 20
MOST_POINTS = 1_500_000  # combinations: beyond it the seconds would go into sorting them, and hundreds of megabytes


def least_local_loss(
    rows: QuasiTally, problem: Problem, k: int, seconds: float, nodes: int | None = None
) -> float | None:
    """A loss that no local recoding of `rows` with k in every class is below; None where several sets are hidden apart.

    None also where the table has too many combinations. Rows that are not reached within the CPU seconds or the number of
    `nodes` (combinations looked at) count as losing nothing.
    """
    if len(rows.sets) > 1 or seconds <= 0 or len(rows.counts) > MOST_POINTS:
        return None
    points, counts = _points(rows, problem)
    crowded = counts >= k  # they lose nothing by themselves
    lonely = np.flatnonzero(~crowded)
    if nodes is not None:
        lonely = lonely[:nodes]
    return float(_distances(points, counts, lonely, k, seconds) @ counts[lonely] / rows.rows)


def _points(rows: QuasiTally, problem: Problem) -> tuple[Floats, NDArray[np.int64]]:
    """Every combination as a point whose distances are penalties, and its rows.

    Attributes with a hierarchy are left out: their groups need not stand together in any order, and less is a bound too.
    """
    starts = problem.space.first_value[:-1]
    ordered = problem.space.levels[0, starts] < 0
    scale = np.where(ordered, problem.weights / np.maximum(1, rows.sizes - 1), 0.0)
    counted = np.flatnonzero(scale > 0)
    if not len(counted):
        return np.zeros((1, 0)), np.array([rows.rows])
    distinct = Combinations([rows.codes[:, j] for j in counted], rows.sizes[counted].tolist())
    counts = np.bincount(distinct.number, rows.counts, len(distinct)).astype(np.int64)
    return distinct.codes.astype(np.float64) * scale[counted], counts


def _distances(points: Floats, counts: NDArray[np.int64], wanted: NDArray[np.intp], k: int, seconds: float) -> Floats:
    """How far each wanted combination is from the nearest ones that make k rows with it; 0 once the seconds are spent."""
    from scipy.spatial import KDTree

    distances = np.zeros(len(wanted))
    if not points.shape[1]:
        return distances
    began, tree = time.process_time(), KDTree(points, leafsize=32)
    most = min(k, len(points))
    step = max(1, min(2_000, NEIGHBOURS_AT_A_TIME // most))
    for start in range(0, len(wanted), step):
        if time.process_time() - began > seconds:
            break
        chunk = wanted[start : start + step]
        far, near = tree.query(points[chunk], range(1, most + 1), p=1)
        together = np.cumsum(counts[near], axis=1)
        distances[start : start + step] = far[np.arange(len(chunk)), (together >= k).argmax(axis=1)]
    return distances
