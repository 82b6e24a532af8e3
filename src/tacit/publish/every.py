"""K over every m of the quasi-identifiers: whoever knows any m of a person's attributes, though not more, finds k rows.

With 20 or 40 attributes hardly anybody looks like anybody else in all of them, so that hiding everyone in all of them together
loses nearly everything. Few people know more than two or three. Each table of m attributes is then a set of quasi-identifiers of
its own. There may be thousands of these sets, all of them small, so they are counted in their own way.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput
from tacit.publish._every_kernels import Tables, recreate
from tacit.publish.problem import Bits, Problem
from tacit.publish.search import ruin
from tacit.publish.tally import QuasiTally
from tacit.publish.watch import Progress

Codes = NDArray[np.int64]
MOST_TABLES = 20_000
MOST_CELLS = 40_000_000  # of all tables together: they are held in memory
COUNTED_CELLS = 3_000_000_000  # that a search counts, at most
DENSE_TABLE = 1 << 22
TOLERANCE = 0.05  # how much worse than the best a followed generalization may be


@dataclass(frozen=True, eq=False)
class EverySearch:
    """The best cuts known under which every table of m attributes is full enough."""

    bits: Bits
    nwp: float
    rounds: int
    complete: bool  # False when interrupted


def every_set(names: Sequence[str], m: int) -> tuple[tuple[str, ...], ...]:
    """All sets of m names; refused where there are too many to be counted."""
    if isinstance(m, bool) or not isinstance(m, int | np.integer) or not 1 <= m <= len(names):
        raise InvalidInput(
            f"every is a number of quasi-identifiers from 1 to {len(names)}, as many as somebody knows at once; not {m!r}."
        )
    number = math.comb(len(names), int(m))
    if number > MOST_TABLES:
        raise InvalidInput(
            f"{len(names)} quasi-identifiers have {number:,} sets of {m}, more than the {MOST_TABLES:,} that can be counted. Ask "
            "for a smaller m, or for fewer quasi-identifiers."
        )
    return tuple(itertools.combinations(names, int(m)))


def search_every(
    problem: Problem, rng: np.random.Generator, rounds: int, progress: Progress | None = None
) -> EverySearch:
    """Cuts set greedily, then ruin and recreate for some rounds; an interruption (Ctrl-C) leaves the best until then."""
    tables = _tables(problem.tally)
    bits = np.zeros(problem.n_bits, np.uint8)
    value, counted = recreate(bits, tables, problem.space, problem.k, np.ones(problem.n_bits))
    best, least, done, complete = bits.copy(), value, 1, True
    try:
        while done < rounds and least > 1e-12 and counted < COUNTED_CELLS:
            trial, noise = ruin(bits, problem.space, rng)
            reached, cells = recreate(trial, tables, problem.space, problem.k, noise)
            if reached <= max(value, least * (1 + TOLERANCE * rng.random())):
                bits, value = trial, reached
            if reached < least - 1e-12:
                best, least = trial, reached
            counted, done = counted + cells, done + 1
            if progress:
                progress(max(done / rounds, counted / COUNTED_CELLS), "searching")
    except KeyboardInterrupt:
        complete = False
    return EverySearch(best, float(least), done, complete)


def _tables(tally: QuasiTally) -> Tables:
    """The cells of every table, in the finest answers."""
    columns = np.array(tally.sets, np.int64)
    cells, counts, first = [], [], [0]
    for members in tally.sets:
        answers, rows = _cells(tally, members)
        cells.append(answers)
        counts.append(rows)
        first.append(first[-1] + len(rows))
        if first[-1] > MOST_CELLS:
            raise InvalidInput(
                f"The tables of every {columns.shape[1]} quasi-identifiers have more than {MOST_CELLS:,} cells together. Ask for "
                "a smaller m, or give numbers and dates a coarser granularity."
            )
    with_attribute = [np.flatnonzero((columns == j).any(axis=1)) for j in range(len(tally.attributes))]
    return Tables(
        columns,
        np.array(first, np.int64),
        np.concatenate(cells).astype(np.int32),
        np.concatenate(counts),
        np.concatenate(with_attribute).astype(np.int64),
        np.cumsum([0, *map(len, with_attribute)]).astype(np.int64),
    )


def _cells(tally: QuasiTally, members: Sequence[int]) -> tuple[Codes, Codes]:
    """The answers that occur together in these attributes, and how many rows show them."""
    sizes = [int(tally.sizes[j]) for j in members]
    keys = np.ravel_multi_index(tuple(tally.codes[:, j] for j in members), sizes)
    if math.prod(sizes) <= DENSE_TABLE:
        dense = np.bincount(keys, tally.counts, math.prod(sizes))
        distinct = np.flatnonzero(dense)
        counts = dense[distinct]
    else:
        distinct, place = np.unique(keys, return_inverse=True)
        counts = np.bincount(place.ravel(), tally.counts)
    return np.stack(np.unravel_index(distinct, sizes), axis=1).astype(np.int64), counts.astype(np.int64)
