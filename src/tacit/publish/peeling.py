"""Local recoding along hierarchies by peeling: whatever may be published with fine labels is, and the rest with coarser ones."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from tacit.publish._peeling_kernels import LevelKeys, peel
from tacit.publish.problem import Problem

Levels = list[NDArray[np.int64]]  # of each attribute the blocks of its answers, [level, answer], finest first
Numbers = NDArray[np.int32]
MOST_LEVELS = 1_000_000  # combinations of levels that are put in order
MOST_TRIED = 30_000  # of them
MOST_LOOKS = 450_000_000  # combinations of levels that are tried times combinations of answers
LARGEST_KEY = 2**63


def peeled_classes(problem: Problem) -> Numbers | None:
    """The class of every combination of the tally; None where it cannot be peeled.

    Every attribute needs a hierarchy. People of a population are not counted: those who went with the parts of a group would be
    missing in what is left of it.
    """
    tally, levels = problem.tally, _levels(problem)
    if levels is None or tally.people is not None or math.prod(map(int, tally.sizes)) >= LARGEST_KEY:
        return None
    classes, tried = np.full(len(tally.counts), -1, np.int32), _levels_to_try(problem, levels)
    found = peel(
        tally.codes, tally.counts, tally.sensitive_codes, _keys(problem, levels), tried, problem.demand, classes
    )
    return classes if found else None


def _levels(problem: Problem) -> Levels | None:
    starts, levels = problem.space.first_value, []
    for a, b in itertools.pairwise(starts):
        blocks = problem.space.levels[:, a:b]
        levels.append(blocks[blocks[:, 0] >= 0][::-1])
    return levels if 0 < math.prod(map(len, levels)) <= MOST_LEVELS else None


def _levels_to_try(problem: Problem, levels: Levels) -> NDArray[np.int64]:
    """Combinations of levels, ``[combination, attribute]``, by what all rows would lose by them; the coarsest is the last one."""
    tally, losses = problem.tally, np.zeros(1)
    scale = problem.weights / np.maximum(1, tally.sizes - 1)
    for j, blocks_by_level in enumerate(levels):
        merged = [scale[j] * (np.bincount(blocks)[blocks] - 1) @ tally.marginal(j) for blocks in blocks_by_level]
        losses = np.add.outer(losses, merged).ravel()
    order = np.argsort(losses, kind="stable")
    step = math.ceil(len(order) / min(MOST_TRIED, MOST_LOOKS // len(tally.counts) + 1))
    coarsest = len(order) - 1  # in the order of the levels; where weights are 0 others lose as much
    chosen = np.append(order[::step], coarsest)
    return np.stack(np.unravel_index(chosen, [len(blocks_by_level) for blocks_by_level in levels]), axis=1)


def _keys(problem: Problem, levels: Levels) -> LevelKeys:
    """Keys of groups: numbers with a digit for every attribute."""
    added, first_key, radix = [], [0], 1
    for blocks, size in zip(levels, problem.tally.sizes.tolist(), strict=True):
        added.append(blocks.ravel().astype(np.uint64) * np.uint64(radix))
        first_key.append(first_key[-1] + blocks.size)
        radix *= size
    return LevelKeys(np.concatenate(added), np.array(first_key, np.int64), problem.tally.sizes)
