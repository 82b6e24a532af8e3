"""Shares of single answers and tables of pairs, estimated from reports: where fits start, and what they must agree with."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.channel.codes import Array
from tacit.count.memory import MemoryEngine
from tacit.count.protocol import Source
from tacit.errors import TacitError
from tacit.estimation import TableEstimate, estimate, project_on_simplex
from tacit.joint.evidence import WholeReports
from tacit.schema import Schema

# A standard error of this size makes an estimate worth as much as no estimate.
HALF_TRUSTED = 0.1
# No answer starts as impossible: what has chance zero stays there.
UNIFORM_PART = 0.05
# Pairs beyond these attributes are not estimated one by one.
MOST_PAIRED = 48
# Larger tables of pairs hold more noise than information, and take long.
MOST_PAIR_CELLS = 1 << 16
# A share below this would make its information infinitely noisy.
LEAST_SHARE = 1e-3


@dataclass(frozen=True, eq=False)
class PairSources:
    """Whole reports as sources that can be counted, so that the estimators take them."""

    parts: tuple[Source, ...]

    @classmethod
    def of(cls, parts: Sequence[WholeReports]) -> PairSources:
        sources = []
        for reports in parts:
            times = reports.counts.astype(np.int64)
            if times.sum():
                rows = np.repeat(np.arange(reports.n_rows), times)
                sources.append(Source(reports.questionnaire, MemoryEngine(reports.table.rows(rows))))
        return cls(tuple(sources))

    def sources(self) -> tuple[Source, ...]:
        return self.parts


def starting_shares(counted: PairSources, schema: Schema) -> list[Array]:
    """For each attribute its estimated distribution, drawn towards uniform where it is uncertain."""
    return [_shares(counted, attribute.name, attribute.size) for attribute in schema]


def _shares(counted: PairSources, name: str, size: int) -> Array:
    uniform = np.full(size, 1 / size)
    estimated = _estimate_pair(counted, [name])
    if estimated is None:
        return uniform
    trust = 1 / (1 + (estimated.standard_errors.max() / HALF_TRUSTED) ** 2)
    trust *= 1 - UNIFORM_PART
    return trust * project_on_simplex(estimated.probabilities) + (1 - trust) * uniform


def pair_tables(counted: PairSources, schema: Schema) -> dict[tuple[int, int], TableEstimate]:
    """The table of every pair of attributes that can be estimated."""
    if len(schema) > MOST_PAIRED:
        return {}
    named = {}
    for i, j in small_pairs(schema):
        table = _estimate_pair(counted, [schema.names[i], schema.names[j]])
        if table is not None:
            named[i, j] = table
    return named


def small_pairs(schema: Schema) -> list[tuple[int, int]]:
    """Pairs of attributes whose table is small enough to look at."""
    sizes = schema.shape()
    pairs = itertools.combinations(range(len(sizes)), 2)
    return [(i, j) for i, j in pairs if sizes[i] * sizes[j] <= MOST_PAIR_CELLS]


def _estimate_pair(counted: PairSources, names: list[str]) -> TableEstimate | None:
    try:
        return estimate(counted, names)
    except TacitError:  # nothing can be estimated, at theta = 1/2 say; the fit goes on all the same
        return None


def information(pair: Array, errors: Array) -> float:
    """Mutual information of two attributes, less what the errors of their table alone would show."""
    rows, columns = (np.maximum(pair.sum(axis=axis), LEAST_SHARE) for axis in (1, 0))
    expected = np.outer(rows, columns)
    seen = pair > 0
    observed = float((pair[seen] * np.log(pair[seen] / expected[seen])).sum())
    return observed - 0.5 * float((errors**2 / expected).sum())
