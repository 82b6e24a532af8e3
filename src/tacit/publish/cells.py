"""Cells suppressed instead of rows: a row that is too rare in its class often only has one or two rare answers.

Where rows may be left out, those of classes that are too small are looked at again. With one attribute hidden (shown as "*") some
of them are alike and enough; then with two, and so on, patterns that cost least first. A row published so loses the weight of its
hidden attributes and keeps the rest, where a suppressed row loses everything. Labels do not overlap otherwise, and a class is
still all rows that show the same labels, "*" being one of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.publish._cell_kernels import suppress_cells
from tacit.publish._demand_kernels import Demand
from tacit.publish._space_kernels import savings
from tacit.publish.combinations import Combinations
from tacit.publish.problem import Bits, Problem

Codes = NDArray[np.int64]
Numbers = NDArray[np.int32]
MOST_PATTERNS = 1_000
LARGEST_KEY = 2**63
CUTS_TRIED = 120  # further cuts that are tried once cells may go in place of rows; fewer in large tables
FEWEST_TRIED = 8
RECODED = 8_000_000  # combinations that are recoded in all to try them


@dataclass(frozen=True, eq=False)
class HiddenCells:
    """Rows of the tally with their classes, and those of them that have a class because cells of theirs are hidden."""

    classes: Numbers  # -1 where the row is left out all the same
    rows: Codes
    hidden: NDArray[np.bool_]  # [of those rows, attribute]


def can_hide_cells(demand: Demand) -> bool:
    """Whether classes of rows with hidden cells can be judged one by one: t, beta and people of the population forbid it."""
    return demand.limit > 0 and min(demand.closeness, demand.likeness) == math.inf and demand.people < 0


def hide_cells(problem: Problem, numbered: Combinations, classes: Numbers) -> HiddenCells:
    """Give the rows without a class (-1) one of their own, with as few hidden cells as can be; `numbered` holds their labels."""
    tally, weak = problem.tally, np.flatnonzero(classes < 0)
    blocks = numbered.codes.max(axis=0).astype(np.int64) + 1
    if not len(weak) or math.prod(blocks.tolist()) >= LARGEST_KEY:
        return HiddenCells(classes, weak[:0], np.zeros((0, len(blocks)), np.bool_))
    patterns = _patterns(problem.weights, blocks > 1)
    strides = np.concatenate([[1], np.cumprod(blocks[:-1])]).astype(np.uint64)
    class_of, pattern_of = np.empty(len(weak), np.int64), np.empty(len(weak), np.int64)
    suppress_cells(
        numbered.codes[numbered.number[weak]].astype(np.int64),
        tally.counts[weak],
        np.ascontiguousarray(tally.sensitive_codes[weak]),
        strides,
        patterns,
        problem.demand,
        class_of,
        pattern_of,
    )
    served = class_of >= 0
    last, classes = classes.max(), classes.copy()
    classes[weak[served]] = class_of[served] + last + 1
    return HiddenCells(classes, weak[served], patterns[pattern_of[served]])


def _patterns(weights: NDArray[np.float64], several: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The sets of attributes that may be hidden, cheapest first; never all, which would be a suppressed row."""
    usable = np.flatnonzero(several).tolist()
    sets: list[tuple[int, ...]] = []
    for size in range(1, len(usable)):
        if len(sets) + math.comb(len(usable), size) > MOST_PATTERNS:
            break
        sets += itertools.combinations(usable, size)
    sets.sort(key=lambda chosen: (sum(weights[list(chosen)]), len(chosen)))
    patterns = np.zeros((len(sets), len(weights)), np.bool_)
    for row, chosen in enumerate(sets):
        patterns[row, list(chosen)] = True
    return patterns


def recodings_worth(combinations: int) -> int:
    """How many recodings with hidden cells a table of so many combinations is worth."""
    return max(FEWEST_TRIED, min(CUTS_TRIED, RECODED // max(1, combinations)))


def refine(bits: Bits, problem: Problem, loss_of: Callable[[Bits], float]) -> Bits:
    """Further cuts, those that save most first, while the loss with hidden cells falls.

    The search counts every rare row as lost, so it stops cutting too early for rows that only lose a cell.
    """
    best, least, tried = bits.copy(), loss_of(bits), np.zeros(len(bits), np.bool_)
    for _ in range(recodings_worth(len(problem.tally.counts))):
        waiting = [bit for bit in _dearest_cuts(best, problem).tolist() if not tried[bit]]
        if not waiting:
            break
        trial = best.copy()
        trial[waiting[0]], tried[waiting[0]] = 1, True
        if (loss := loss_of(trial)) < least - 1e-12:
            best, least = trial, loss
    return best


def _dearest_cuts(bits: Bits, problem: Problem) -> Codes:
    """Cuts that are not made, by what making them would save of the penalty."""
    saving = np.zeros(len(bits))
    block = np.empty(int(problem.space.first_value[-1]), np.int64)
    for j in range(len(problem.weights)):
        savings(bits.copy(), j, problem.space, block, np.ones(len(bits)), bits == 0, saving)
    order = np.argsort(-saving, kind="stable")
    return order[saving[order] > 1e-12].astype(np.int64)
