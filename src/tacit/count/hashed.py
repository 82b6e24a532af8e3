"""Counting reports that show a bucket of a hash: how many of them hold each answer.

A report names its set by a bucket and a seed (`tacit.table.hashed`), so every pair of a report and an answer is looked
at once: a compiled loop goes through some ten billion pairs a second, and no table of sets is ever written out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.schema import Schema
from tacit.table import Table
from tacit.table.hashed import Hashing

# From so many pairs of a report and an answer on the compiled loop earns its import.
COMPILED_PAIRS = 1 << 26
# Pairs that numpy looks at together.
BLOCK_PAIRS = 1 << 20


def hashed_column(schema: Schema, columns: Sequence[str]) -> str | None:
    """The one hashed column among columns that otherwise show one answer each; None for any other columns."""
    hashed = [name for name in columns if schema[name].shows == "hashed"]
    others = all(schema[name].shows == "one" for name in columns if name not in hashed)
    return hashed[0] if len(hashed) == 1 and others else None


def hashed_counts(table: Table, columns: Sequence[str], name: str) -> NDArray[np.int64]:
    """The tally over columns of which only `name` is hashed; the others show one answer each."""
    hashing = Hashing.of(table.schema[name])
    others = [other for other in columns if other != name]
    shape = table.schema.shape(others)
    counts = np.zeros((math.prod(shape), hashing.answers + 1), dtype=np.int64)
    for cell, digits in _by_cell(table, others, shape, name):
        counts[cell, :-1] = support(digits, hashing)
        counts[cell, -1] = len(digits)
    return np.moveaxis(counts.reshape(*shape, -1), -1, list(columns).index(name))


def _by_cell(table: Table, others: Sequence[str], shape: tuple[int, ...], name: str) -> Any:
    """The hashed reports of each combination of the other columns."""
    if not others:
        return [(0, table[name])]
    cells = np.ravel_multi_index([table[other].astype(np.intp) for other in others], shape)
    order = np.argsort(cells, kind="stable")
    ends = np.cumsum(np.bincount(cells, minlength=math.prod(shape)))
    reports_by_cell = np.split(table[name][order], ends[:-1])
    return ((cell, reports) for cell, reports in enumerate(reports_by_cell) if len(reports))


def support(digits: NDArray[np.uint32], hashing: Hashing) -> NDArray[np.int64]:
    """How many reports hold each answer."""
    if len(digits) * hashing.answers >= COMPILED_PAIRS:
        return _compiled_support(digits, hashing)
    counts = np.zeros(hashing.answers, dtype=np.int64)
    rows = max(1, BLOCK_PAIRS // hashing.answers)
    for start in range(0, len(digits), rows):
        counts += hashing.holding(digits[start : start + rows]).sum(axis=0)
    return counts


def support_of(digits: NDArray[np.uint32], hashing: Hashing, answers: NDArray[np.uint32]) -> NDArray[np.int64]:
    """How many reports hold each of some answers."""
    counts = np.zeros(len(answers), dtype=np.int64)
    if len(digits) * len(answers) >= COMPILED_PAIRS:
        from tacit.count._hashed_kernels import add_support_of

        add_support_of(answers.view(np.int32), *_bucket_bounds(digits, hashing), counts)
        return counts
    rows = max(1, BLOCK_PAIRS // max(len(answers), 1))
    for start in range(0, len(digits), rows):
        buckets, factors, shifts = digits[start : start + rows].T[:, :, None]
        counts += (hashing.bucket(answers, factors, shifts) == buckets).sum(axis=0)
    return counts


def _compiled_support(digits: NDArray[np.uint32], hashing: Hashing) -> NDArray[np.int64]:
    from tacit.count._hashed_kernels import add_support

    counts = np.zeros(hashing.answers, dtype=np.int64)
    add_support(*_bucket_bounds(digits, hashing), counts)
    return counts


def _bucket_bounds(
    digits: NDArray[np.uint32], hashing: Hashing
) -> tuple[NDArray[np.int32], NDArray[np.int32], np.int32]:
    """With the numbers moved to the top of a word, "in the reported bucket" is a single comparison."""
    up = np.uint32(32 - hashing.width)
    bucket = digits[:, 0] << np.uint32(32 - hashing.bucket_bits)
    # From the least signed word on: words compare as signed numbers on most machines.
    shifts = (digits[:, 2] << up) - bucket + np.uint32(1 << 31)
    limit = np.int32(-(1 << 31) + (1 << (32 - hashing.bucket_bits)))
    return (digits[:, 1] << up).view(np.int32), shifts.view(np.int32), limit


def held_weights(digits: NDArray[np.uint32], hashing: Hashing, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each report the sum of the weights of the answers it holds, and of the last slot, which counts every report."""
    answers = np.flatnonzero(weights[:-1])
    sums = np.full(len(digits), float(weights[-1]))
    rows = max(1, BLOCK_PAIRS // max(len(answers), 1))
    for start in range(0, len(digits), rows):
        buckets, factors, shifts = digits[start : start + rows].T[:, :, None]
        sums[start : start + rows] += (hashing.bucket(answers, factors, shifts) == buckets) @ weights[answers]
    return sums
