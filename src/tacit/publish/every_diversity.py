"""L, t and beta in every table of m quasi-identifiers: cuts are taken back where a class shows too little, cheapest first.

Merging classes that keep l, t or beta keeps them, so taking cuts back never spoils another table, and with none left the whole
table is one class, which was seen to keep them before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from tacit.publish._demand_kernels import strengths
from tacit.publish._space_kernels import decode, price_blocks
from tacit.publish.combinations import Combinations
from tacit.publish.problem import Bits, Problem

Codes = NDArray[np.int64]
MOST_TRIED_AGAIN = 200  # cuts that were taken back and are tried once more when all tables keep what is asked


def kept_diverse(problem: Problem, bits: Bits) -> Bits:
    """The cuts without those that leave a class of some table too little diverse."""
    bits, taken = bits.copy(), []
    for members in problem.tally.sets:
        while (weak := _weak_class(problem, bits, members)) is not None:
            cut = min(_cuts_around(problem, bits, weak), key=lambda place: _loss_without(problem, bits, place))
            bits[cut] = 0
            taken.append(cut)
    return _with_cuts_back(problem, bits, taken)


def _with_cuts_back(problem: Problem, bits: Bits, taken: Sequence[int]) -> Bits:
    """The cuts with those that other cuts, taken back later, made possible again."""
    whose = np.searchsorted(problem.space.first_bit, taken, side="right") - 1
    for cut, j in list(zip(taken, whose.tolist(), strict=True))[:MOST_TRIED_AGAIN]:
        trial = bits.copy()
        trial[cut] = 1
        if all(_weak_class(problem, trial, members) is None for members in problem.tally.sets if j in members):
            bits = trial
    return bits


def _blocks(problem: Problem, bits: Bits) -> Codes:
    block = np.empty(int(problem.space.first_value[-1]), np.int64)
    decode(bits, problem.space, block)
    return block


def _weak_class(problem: Problem, bits: Bits, members: Sequence[int]) -> dict[int, Codes] | None:
    """The answers of each attribute in the weakest class of a table; None where all classes are strong enough."""
    tally, demand, starts = problem.tally, problem.demand, problem.space.first_value
    block = _blocks(problem, bits)
    columns = [block[starts[j] + tally.codes[:, j]] for j in members]
    classes = Combinations(columns, [int(tally.sizes[j]) for j in members])
    sizes = np.bincount(classes.number, tally.counts).astype(np.uint32)
    answers = np.zeros((len(sizes), int(demand.first_sensitive[-1])), np.uint32)
    for column in tally.sensitive_codes.T:
        np.add.at(answers, (classes.number, column), tally.counts.astype(np.uint32))
    strength = strengths(sizes, answers, demand).astype(np.int64)
    worst = int(strength.argmin())
    if strength[worst] >= demand.k:
        return None
    row = classes.first[worst]
    return {
        j: np.flatnonzero(block[starts[j] : starts[j + 1]] == column[row])
        for j, column in zip(members, columns, strict=True)
    }


def _cuts_around(problem: Problem, bits: Bits, weak: dict[int, Codes]) -> Iterator[int]:
    """The cuts beside the blocks of a class; of a hierarchy, one of those that make its level."""
    space = problem.space
    for j, answers in weak.items():
        first, last = int(space.first_bit[j]), int(space.first_bit[j + 1])
        if space.levels[0, space.first_value[j]] >= 0:
            yield from (first + int(place) for place in np.flatnonzero(bits[first:last])[-1:])
            continue
        if answers[0] > 0:
            yield first + int(answers[0]) - 1
        if first + int(answers[-1]) < last:
            yield first + int(answers[-1])


def _loss_without(problem: Problem, bits: Bits, cut: int) -> float:
    trial = bits.copy()
    trial[cut] = 0
    return float(price_blocks(_blocks(problem, trial), problem.space, np.empty(int(problem.space.first_value[-1]))))
