"""The least loss where every attribute has a hierarchy: its levels form a lattice, visited by rising loss."""

from __future__ import annotations

import heapq
import itertools
import time

import numpy as np

from tacit.publish.problem import NWP, STRENGTH, Bits, Problem
from tacit.publish.proof import Proof


def prove_levels(problem: Problem, start: Bits, seconds: float) -> Proof:
    """The first publishable combination of levels in order of loss: coarser ones only lose more."""
    best, best_bits = float(problem.measure(start[None])[0, NWP]), start
    began = time.monotonic()
    finest = tuple(np.diff(problem.space.first_bit).tolist())
    order = itertools.count()
    queue = [(float(problem.measure(_bits(finest, finest)[None])[0, NWP]), next(order), finest)]
    seen = {finest}
    visited = 0
    while queue and queue[0][0] < best and time.monotonic() - began < seconds:
        loss, _, levels = heapq.heappop(queue)
        visited += 1
        if problem.measure(_bits(levels, finest)[None])[0, STRENGTH] >= problem.k:
            best, best_bits = loss, _bits(levels, finest)
            break
        for j, level in enumerate(levels):
            coarser = (*levels[:j], level - 1, *levels[j + 1 :])
            if level > 0 and coarser not in seen:
                seen.add(coarser)
                measured = problem.measure(_bits(coarser, finest)[None])
                heapq.heappush(queue, (float(measured[0, NWP]), next(order), coarser))
    lower = best if not queue else min(best, queue[0][0])
    return Proof(best_bits, best, lower, visited, time.monotonic() - began)


def _bits(levels: tuple[int, ...], finest: tuple[int, ...]) -> Bits:
    """The chromosome of a combination of levels: as many ones as the level is fine."""
    return np.concatenate([np.arange(size) < level for level, size in zip(levels, finest, strict=True)]).astype(
        np.uint8
    )
