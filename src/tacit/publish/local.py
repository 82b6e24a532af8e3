"""Local recoding: rows generalized differently where that loses less; classes are boxes that never overlap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.publish._local_kernels import best_cut, divide
from tacit.publish.problem import Problem
from tacit.publish.search import Progress

PILOTS = 4  # cuts of a box that are judged by cutting on to the end


def recode_locally(problem: Problem, *, pilots: int = PILOTS, progress: Progress | None = None) -> NDArray[np.int64]:
    """The class of every combination of the tally; ``pilots=1`` cuts greedily."""
    tally = problem.tally
    codes, sensitive = np.ascontiguousarray(tally.codes), np.ascontiguousarray(tally.sensitive_codes)
    first_value = problem.space.first_value
    scale = problem.weights / np.maximum(1, tally.sizes - 1)
    classes = np.empty(len(codes), np.int64)
    boxes = [np.arange(len(codes))]
    made = settled = 0
    while boxes:
        box = boxes.pop()
        cut = best_cut(codes, tally.counts, sensitive, box, first_value, scale, problem.demand, pilots)
        if cut < 0:
            classes[box] = made
            made += 1
            settled += len(box)
            if progress:
                progress(settled / len(codes), "recoding")
        else:
            boxes.extend(divide(codes, box, first_value, cut))
    return classes


def tight_boxes(codes: NDArray[np.int64], classes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Least and greatest code of every attribute in each class."""
    low = np.full((classes.max() + 1, codes.shape[1]), np.iinfo(np.int64).max)
    high = np.full_like(low, -1)
    np.minimum.at(low, classes, codes)
    np.maximum.at(high, classes, codes)
    return low, high
