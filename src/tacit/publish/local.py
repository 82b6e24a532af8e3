"""Local recoding: rows generalized differently where that loses less; boxes never overlap unless they are peeled."""

from __future__ import annotations

import heapq
import math
from array import array
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.publish._local_kernels import Rows, Scratch, Sides, best_cut, best_trim, part
from tacit.publish.combinations import sums_by_code
from tacit.publish.peeling import peeled_classes
from tacit.publish.problem import Problem
from tacit.publish.running_tally import code_type
from tacit.publish.watch import Progress

Codes = NDArray[np.int64]
Numbers = NDArray[np.int32]  # of combinations, boxes or answers: as many as there are combinations, so they are small
SMALL_TABLE = 100_000  # combinations, up to which every box is judged alike
MOST_PILOTS, FEWEST_PILOTS = 12, 4  # cuts of a box that are judged by cutting on to the end; fewer in large tables
PILOTED_ROWS = 6_400_000  # combinations of a large table times cuts that are judged
PILOTED = 400_000  # combinations of a small table that are cut on in all to judge the cuts of one box
PILOTED_BOXES = 640_000_000  # of a large table, times its own: its large boxes are cut greedily, its small ones judged
FEWEST_PILOTED = 400
ROWS_AT_ONCE = 1 << 18


@dataclass(frozen=True, eq=False)
class LocalClasses:
    """The class of every combination of the tally; -1 where it is left out."""

    classes: Numbers
    complete: bool  # False when interrupted


def recode_locally(problem: Problem, *, pilots: int | None = None, progress: Progress | None = None) -> LocalClasses:
    """Boxes cut until no cut is possible; along hierarchies what is peeled off them, where that loses less.

    ``pilots=1`` cuts greedily. An interruption (Ctrl-C) leaves the boxes as they are: each of them may be published.
    """
    rows, scratch = _rows(problem), _scratch(problem)
    peeled = peeled_classes(problem)
    boxes = _Boxes(np.arange(len(rows.codes), dtype=np.int32))
    if peeled is None:
        boxes.cut(problem, rows, scratch, pilots, math.inf, progress)
        return LocalClasses(
            _without_strangers(problem, _finished_classes(problem, rows, scratch, boxes)), boxes.complete
        )
    peeled = trim_classes(problem, peeled, rows, scratch)
    least = _penalty(rows, peeled)
    # Boxes that lose more before their edges are suppressed may lose less afterwards.
    most = math.inf if problem.demand.limit else least
    boxes.cut(problem, rows, scratch, pilots, most, progress)
    if boxes.lost < most and _penalty(rows, cut := _finished_classes(problem, rows, scratch, boxes)) < least:
        return LocalClasses(cut, boxes.complete)
    return LocalClasses(peeled, boxes.complete)


class _Boxes:
    """Boxes on the way from one of everything to those that cannot be cut; at any time all of them may be published."""

    def __init__(self, everything: Numbers) -> None:
        self.everything = everything  # boxes are parts of it, in their order
        self.lost = 0.0  # by those that are done
        self.complete = True  # False when interrupted
        self._open = [(everything, math.inf)]
        self._finished_classes = array("q")  # their lengths, the last part first

    def cut(
        self,
        problem: Problem,
        rows: Rows,
        scratch: Scratch,
        pilots: int | None,
        most: float,
        progress: Progress | None,
    ) -> None:
        """Cut every box that can be, until they lose as much as is given."""
        effort = _piloting(len(self.everything)) if pilots is None else _Piloting(pilots, PILOTED)
        settled, sides = 0, _sides(problem)
        try:
            while self._open and self.lost < most:
                # Taken off only with its successors at hand, so that an interruption loses no rows.
                box, known = self._open[-1]
                if progress:
                    progress(settled / len(self.everything), "recoding")
                tried = max(1, min(effort.cuts, effort.combinations // len(box)))
                cut, below, above, lost = best_cut(rows, box, problem.demand, scratch, sides, tried, known)
                if cut >= 0:
                    middle = part(rows, box, cut)
                    self._open[-1:] = [(box[:middle], below), (box[middle:], above)]
                    continue
                self._finished_classes.append(len(box))
                self._open.pop()
                self.lost += lost
                settled += len(box)
        except KeyboardInterrupt:
            self.complete = False

    @property
    def lengths(self) -> Codes:
        lengths = np.array([*(len(box) for box, _ in self._open), *self._finished_classes[::-1]], np.int64)
        if int(lengths.sum()) > len(self.everything):  # interrupted after a box was done and before it was taken off
            lengths = np.delete(lengths, len(self._open))
        return lengths

    @property
    def classes(self) -> Numbers:
        """The box of every combination."""
        classes, lengths = np.empty(len(self.everything), np.int32), self.lengths
        classes[self.everything] = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        return classes


def _finished_classes(problem: Problem, rows: Rows, scratch: Scratch, boxes: _Boxes) -> Numbers:
    return trim_classes(problem, boxes.classes, rows, scratch) if boxes.complete else boxes.classes


def trim_classes(
    problem: Problem, classes: Numbers, rows: Rows | None = None, scratch: Scratch | None = None
) -> Numbers:
    """The classes without edges, where rows may be left out."""
    if problem.demand.limit == 0:
        return classes
    rows, scratch = rows or _rows(problem), scratch or _scratch(problem)
    order = np.argsort(classes, kind="stable").astype(np.int32)
    members = np.split(order, np.cumsum(np.bincount(classes))[:-1])
    return _class_numbers(_trimmed_boxes(problem, rows, scratch, members), len(classes))


def _penalty(rows: Rows, classes: Numbers) -> float:
    """What all rows lose; those that are left out lose everything."""
    low, high = tight_boxes(rows.codes, classes)
    sizes = sums_by_code(classes + np.int32(1), rows.counts, len(low) + 1)
    lost = np.zeros(len(low))
    for j, first in enumerate(rows.first_span.tolist()):
        answers, span = int(rows.first_value[j + 1] - rows.first_value[j]), high[:, j] - low[:, j]
        lost += rows.scale[j] * (
            span if first < 0 else rows.spans[first + low[:, j] * answers + high[:, j]] * (span > 0)
        )
    return float(lost @ sizes[1:] + sizes[0])


@dataclass(frozen=True)
class _Piloting:
    """How many cuts of a box are judged by cutting on to the end."""

    cuts: int
    combinations: int  # that are cut on for one box, at most


def _piloting(combinations: int) -> _Piloting:
    """What a table of so many combinations is worth.

    Judging a large box takes longest: on 840,000 combinations, 8 cuts of boxes of up to 800 took 27 CPU seconds, and 4 cuts of
    every box 64.
    """
    if combinations <= SMALL_TABLE:
        return _Piloting(MOST_PILOTS, PILOTED)
    cuts = max(FEWEST_PILOTS, min(MOST_PILOTS, PILOTED_ROWS // combinations))
    return _Piloting(cuts, max(FEWEST_PILOTED, PILOTED_BOXES // combinations))


def _trimmed_boxes(problem: Problem, rows: Rows, scratch: Scratch, boxes: list[Numbers]) -> list[Numbers]:
    """The boxes without the edges whose suppression gains most per row, while rows may be left out.

    t and beta compare with the rows that stay, so with them nothing is left out here: a class that keeps them now might not
    once others lose rows.
    """
    demand, left = problem.demand, problem.demand.limit
    if left == 0 or min(demand.closeness, demand.likeness) < math.inf:
        return boxes
    waiting: list[tuple[float, int, int, bool]] = []
    boxes = list(boxes)

    def judge(number: int) -> None:
        gain, cut, from_above = best_trim(rows, boxes[number], demand, scratch, left)
        if cut >= 0:
            gone = _side(rows, boxes[number], cut, above=from_above)
            heapq.heappush(waiting, (-gain / int(rows.counts[gone].sum()), number, int(cut), from_above))

    for number in range(len(boxes)):
        judge(number)
    while waiting and left > 0:
        _, number, cut, from_above = heapq.heappop(waiting)
        gone = _side(rows, boxes[number], cut, above=from_above)
        if (lost := int(rows.counts[gone].sum())) <= left:
            boxes[number] = _side(rows, boxes[number], cut, above=not from_above)
            left -= lost
        judge(number)  # what is left of it, or what fewer rows still allow
    return boxes


def _side(rows: Rows, box: Numbers, cut: int, *, above: bool) -> Numbers:
    """The combinations of a box on one side of a cut."""
    j = int(np.searchsorted(rows.first_value, cut, side="right")) - 1
    return box[(rows.codes[box, j] >= cut - rows.first_value[j]) == above]


def _without_strangers(problem: Problem, classes: Numbers) -> Numbers:
    """The classes without combinations that only people of the population show, where their rows' own boxes hold people enough.

    Boxes are cut so that rows and strangers together show what is asked of people; most need no strangers at their edges.
    """
    tally, demand = problem.tally, problem.demand
    if tally.people is None or demand.people < 0 or demand.least_presence > 0 or (problem.space.levels >= 0).any():
        return classes  # a group of a hierarchy stands for its people wherever they are
    released = (tally.counts > 0) & (classes >= 0)
    low, high = tight_boxes(tally.codes[released], classes[released])
    inside = (classes >= 0) & ((tally.codes >= low[classes]) & (tally.codes <= high[classes])).all(axis=1)
    people = np.bincount(classes[inside], tally.people[inside], len(low))
    rows = np.bincount(classes[released], tally.counts[released])
    enough = (people >= demand.k_map) & (rows <= demand.most_presence * people)
    return np.where(enough[classes] & ~inside, np.int32(-1), classes)


def _rows(problem: Problem) -> Rows:
    """The combinations; answers with a hierarchy in an order in which its groups stand together."""
    tally, starts = problem.tally, problem.space.first_value
    scale = problem.weights / np.maximum(1, tally.sizes - 1)
    nobody = np.empty(0, np.int64)
    codes, spans, first_span = tally.codes, [np.empty(0)], np.full(len(scale), -1, np.int64)
    if (problem.space.levels >= 0).any():
        codes = codes.copy()
    for j, order in enumerate(cutting_orders(problem)):
        if order.spans is not None:
            codes[:, j] = order.places[codes[:, j]]
            first_span[j] = sum(map(len, spans))
            spans.append(order.spans.ravel())
    return Rows(
        np.ascontiguousarray(codes, dtype=code_type(tally.sizes.tolist())),
        tally.counts,
        np.ascontiguousarray(tally.sensitive_codes),
        nobody if tally.people is None or problem.demand.people < 0 else tally.people,
        starts,
        scale,
        np.concatenate(spans),
        first_span,
    )


@dataclass(frozen=True, eq=False)
class CuttingOrder:
    """How the answers of an attribute stand when boxes are cut; groups of a hierarchy stand together."""

    places: Codes  # of each answer
    spans: NDArray[np.float64] | None  # [lowest place, highest place]: answers merged beyond one, by the hierarchy


def cutting_orders(problem: Problem) -> list[CuttingOrder]:
    """The order of each attribute."""
    starts, orders = problem.space.first_value, []
    for j, size in enumerate(problem.tally.sizes):
        levels = problem.space.levels[:, starts[j] : starts[j + 1]]
        steps = levels[levels[:, 0] >= 0]
        if len(steps):
            order = hierarchical_order(steps, problem.tally.marginal(j))
            orders.append(CuttingOrder(np.argsort(order), _spans(steps[:, order])))
        else:
            orders.append(CuttingOrder(np.arange(size), None))
    return orders


def hierarchical_order(levels: Codes, rows: NDArray[np.float64]) -> Codes:
    """Answers in an order in which every group of every level stands together; levels are given coarsest first.

    Within a group the parts with most rows come first. A cut gains nothing while two parts of a wide group are left on either
    side, so a part must stand at an end to be cut off, and those with most rows are most often worth it.
    """
    keys: list[NDArray[np.float64]] = []
    for level in levels[::-1]:
        keys += [level.astype(np.float64), -np.bincount(level, rows)[level]]
    return np.lexsort(keys)


def _spans(levels: Codes) -> NDArray[np.float64]:
    """For every pair of answers, how many are merged beyond one in the finest group that holds both."""
    size = levels.shape[1]
    spans = np.full((size, size), float(size - 1))
    for level in levels:  # coarsest first, so that finer groups overwrite
        same = level[:, None] == level[None, :]
        spans[same] = np.broadcast_to((np.bincount(level)[level] - 1.0)[:, None], same.shape)[same]
    return spans


def _scratch(problem: Problem) -> Scratch:
    most, attributes = int(problem.tally.sizes.max()), len(problem.weights)
    return Scratch(
        np.empty((most, attributes), np.int32),
        np.empty((most, attributes), np.int32),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty((most, int(problem.demand.first_sensitive[-1])), np.int64),
        np.empty(most),
    )


def _sides(problem: Problem) -> Sides | None:
    """Room for what both sides of a cut show, where more is asked of them than their size."""
    answers = int(problem.demand.first_sensitive[-1])
    return Sides(*(np.empty(answers, np.int64) for _ in range(3))) if answers else None


def _class_numbers(boxes: list[Numbers], combinations: int) -> Numbers:
    """The number of every combination's box, -1 where it is in none."""
    classes = np.full(combinations, -1, np.int32)
    for number, box in enumerate(box for box in boxes if len(box)):
        classes[box] = number
    return classes


def tight_boxes(codes: NDArray[Any], classes: NDArray[Any]) -> tuple[Numbers, Numbers]:
    """Least and greatest code of every attribute in each class; of one without members, more than any and -1. -1 is no class."""
    low = np.full((codes.shape[1], classes.max() + 1), np.iinfo(np.int32).max, np.int32)
    high = np.full_like(low, -1)
    for start in range(0, len(codes), ROWS_AT_ONCE):
        numbers = classes[start : start + ROWS_AT_ONCE]
        chunk, inside = codes[start : start + ROWS_AT_ONCE], numbers >= 0
        for j, column in enumerate(chunk[inside].astype(np.int32, copy=False).T):
            np.minimum.at(low[j], numbers[inside], column)
            np.maximum.at(high[j], numbers[inside], column)
    return low.T, high.T
