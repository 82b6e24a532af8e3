"""The least loss where every attribute has a hierarchy: its levels form a lattice, visited by rising loss."""

from __future__ import annotations

import heapq
import itertools
import math
import time

import numpy as np

from tacit.publish.problem import NWP, STRENGTH, Bits, Problem
from tacit.publish.proof import Proof

Levels = tuple[int, ...]  # fineness of each attribute


def prove_levels(problem: Problem, start: Bits, seconds: float, nodes: int | None = None) -> Proof:
    """The first publishable combination of levels in order of loss: coarser ones only lose more.

    Stops when the CPU seconds or the combinations are spent, or at Ctrl-C, with the bound reached until then.
    """
    lattice = _Lattice(problem, start)
    began, complete = time.process_time(), True
    try:
        while lattice.is_open and time.process_time() - began < seconds and (nodes is None or lattice.visited < nodes):
            lattice.step()
    except KeyboardInterrupt:
        complete = False
    seconds_taken = time.process_time() - began
    return Proof(lattice.best_bits, lattice.best, lattice.lower_bound, lattice.visited, seconds_taken, complete)


class _Lattice:
    def __init__(self, problem: Problem, start: Bits) -> None:
        self._problem = problem
        self.best_bits = start
        self.best = float(problem.measure(start[None])[0, NWP])
        self.visited = 0
        self._finest = tuple(np.diff(problem.space.first_bit).tolist())
        self._order = itertools.count()
        self._seen: set[Levels] = set()
        self._queue: list[tuple[float, int, Levels]] = []
        # Loss of the combination in hand: it is no longer in the queue, and an interruption must not forget it.
        self._in_hand = math.inf
        self._push(self._finest)

    @property
    def lower_bound(self) -> float:
        return min(self.best, self._in_hand, self._queue[0][0] if self._queue else math.inf)

    @property
    def is_open(self) -> bool:
        return self.lower_bound < self.best

    def step(self) -> None:
        """Take the combination that loses least: it settles the search, or its coarser neighbours are put aside."""
        self._in_hand, _, levels = heapq.heappop(self._queue)
        self.visited += 1
        bits = _bits(levels, self._finest)
        if self._problem.measure(bits[None])[0, STRENGTH] >= self._problem.k:
            self.best_bits, self.best = bits, self._in_hand
        else:
            for j, level in enumerate(levels):
                if level > 0:
                    self._push((*levels[:j], level - 1, *levels[j + 1 :]))
        self._in_hand = math.inf

    def _push(self, levels: Levels) -> None:
        if levels not in self._seen:
            loss = float(self._problem.measure(_bits(levels, self._finest)[None])[0, NWP])
            self._seen.add(levels)
            heapq.heappush(self._queue, (loss, next(self._order), levels))


def _bits(levels: Levels, finest: Levels) -> Bits:
    """The chromosome of a combination of levels: as many ones as the level is fine."""
    return np.concatenate([np.arange(size) < level for level, size in zip(levels, finest, strict=True)]).astype(
        np.uint8
    )
