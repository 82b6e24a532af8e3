"""Local recoding: rows generalized differently where that loses less; classes are boxes that never overlap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.publish._local_kernels import best_cut, divide
from tacit.publish.problem import Problem
from tacit.publish.search import Progress

PILOTS = 4  # cuts of a box that are judged by cutting on to the end


@dataclass(frozen=True, eq=False)
class LocalClasses:
    """The class of every combination of the tally."""

    classes: NDArray[np.int64]
    complete: bool  # False when interrupted


def recode_locally(problem: Problem, *, pilots: int = PILOTS, progress: Progress | None = None) -> LocalClasses:
    """Boxes cut until no cut is possible; ``pilots=1`` cuts greedily.

    An interruption (Ctrl-C) leaves the boxes as they are: each of them may be published.
    """
    tally = problem.tally
    codes, sensitive = np.ascontiguousarray(tally.codes), np.ascontiguousarray(tally.sensitive_codes)
    first_value = problem.space.first_value
    scale = problem.weights / np.maximum(1, tally.sizes - 1)
    open_boxes, finished = [np.arange(len(codes))], []
    settled, complete = 0, True
    try:
        while open_boxes:
            box = open_boxes[-1]  # taken off only with its successors at hand, so that an interruption loses no rows
            cut = best_cut(codes, tally.counts, sensitive, box, first_value, scale, problem.demand, pilots)
            if cut >= 0:
                open_boxes[-1:] = divide(codes, box, first_value, cut)
                continue
            finished.append(box)
            open_boxes.pop()
            settled += len(box)
            if progress:
                progress(settled / len(codes), "recoding")
    except KeyboardInterrupt:
        complete = False
    return LocalClasses(_numbered([*finished, *open_boxes], len(codes)), complete)


def _numbered(boxes: list[NDArray[np.int64]], combinations: int) -> NDArray[np.int64]:
    """The number of every combination's box; a box that is listed twice counts once."""
    classes = np.empty(combinations, np.int64)
    for number, box in enumerate(boxes):
        classes[box] = number
    return np.unique(classes, return_inverse=True)[1].ravel().astype(np.int64)


def tight_boxes(codes: NDArray[np.int64], classes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Least and greatest code of every attribute in each class."""
    low = np.full((classes.max() + 1, codes.shape[1]), np.iinfo(np.int64).max)
    high = np.full_like(low, -1)
    np.minimum.at(low, classes, codes)
    np.maximum.at(high, classes, codes)
    return low, high
