"""Estimated supports of itemsets, with errors: what the search for frequent itemsets asks for.

An itemset is one answer to each of some attributes; its support is the share of people to whom all of them apply. Here
supports are read off estimated tables, or off the most likely joint distribution, whose supports are never negative and agree
with each other. `closed_supports` has closed forms, and the door `supports_from`.

The sub-itemsets of an itemset are numbered by bits: bit j of the number says whether its j-th answer is in. Sub-itemset 0 is
empty and holds of everyone; the last is the itemset itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.count.protocol import Source
from tacit.count.remembered import Remembered, RememberingEngine
from tacit.count.shown_counts import Codes as Codes
from tacit.count.shown_counts import Level
from tacit.count.shown_counts import Names as Names
from tacit.count.sources import ReportSource, true_schema
from tacit.errors import InvalidInput, NotEstimable
from tacit.estimation import estimate
from tacit.estimation.contributions import tallied_columns
from tacit.estimation.result import ErrorRule, TableEstimate
from tacit.estimation.sampled_sources import is_weighted
from tacit.schema import Schema

# An itemset of this length has 4096 sub-itemsets.
LONGEST = 12


def checked_length(length: int) -> None:
    if length > LONGEST:
        raise InvalidInput(
            f"Errors of itemsets of {length} disguised answers would need all their {2**length:,} sub-itemsets. "
            f"Set max_length to at most {LONGEST}."
        )


@cache
def members(length: int) -> NDArray[np.bool_]:
    """``members[sub, j]``: whether the j-th answer is in each sub-itemset."""
    return _read_only((np.arange(1 << length)[:, None] >> np.arange(length)) % 2 == 1)


@cache
def containment(length: int) -> NDArray[np.bool_]:
    """``contained[a, b]``: whether sub-itemset a lies within b."""
    numbers = np.arange(1 << length)
    return _read_only((numbers[:, None] & ~numbers[None, :]) == 0)


def _read_only(table: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """A table that all callers look at, so that none may change it."""
    table.flags.writeable = False
    return table


def numbers_within(positions: Sequence[int], length: int) -> NDArray[np.int64]:
    """For each sub-itemset its number when only these positions are looked at."""
    inside = members(length)[:, list(positions)]
    return inside @ (1 << np.arange(len(positions)))


def exactly(at_least: Array) -> Array:
    """From the shares that show at least each sub-itemset (last axis) to those that show it and nothing more of it."""
    shares = at_least.copy()
    cells = shares.shape[-1]
    for bit in range(cells.bit_length() - 1):
        split = shares.reshape(-1, cells >> (bit + 1), 2, 1 << bit)
        split[:, :, 0] -= split[:, :, 1]
    return shares


def keys(codes: Codes, sizes: Sequence[int]) -> NDArray[np.int64]:
    """One number per itemset over attributes of these sizes."""
    if float(np.prod(np.array(sizes, dtype=np.float64))) > 2**62:
        raise InvalidInput(
            f"Itemsets of {len(sizes)} such attributes are too many to number. Set a smaller max_length."
        )
    numbers = np.zeros(len(codes), dtype=np.int64)
    for column, size in enumerate(sizes):
        numbers *= size
        numbers += codes[:, column]
    return numbers


class Supports:
    """Supports estimated from some reports; itemsets come grouped by their attributes, one row of codes each."""

    origins: tuple[Source, ...]  # the sources whose tables have the supports as cells; none where a model has them

    @cached_property
    def schema(self) -> Schema:
        """The attributes that are asked."""
        return true_schema(self.origins)

    @property
    def n_reports(self) -> int:
        return sum(source.engine.n_rows for source in self.origins)

    @property
    def error_rule(self) -> ErrorRule:
        """Which rule its errors follow."""
        return "counted"

    def estimable_itemsets(self, level: Level) -> tuple[Level, list[str]]:
        """The itemsets of one length that the reports hold information about, and why they hold none about the others."""
        raise NotImplementedError

    def keep(self, answers: Mapping[str, NDArray[np.int64]]) -> None:
        """Only these answers of each attribute will be asked for from now on; nothing changes where tables are whole."""

    def prepare(self, level: Level) -> None:
        """All itemsets of one length that will be asked for, after those of every shorter length."""

    def estimates(self, names: Names, codes: Codes) -> tuple[Array, Array]:
        """The unbiased estimate of each support and its standard error, for a population that was sampled at random."""
        raise NotImplementedError

    def level_estimates(self, level: Level) -> Mapping[Names, tuple[Array, Array]]:
        """`estimates` of all itemsets of one length, by their attributes."""
        return {names: self.estimates(names, codes) for names, codes in level.items()}

    def covariances(self, names: Names, codes: Codes) -> Array:
        """Covariances of the supports of all sub-itemsets of each: ``(itemsets, 2**length, 2**length)``."""
        raise NotImplementedError


@dataclass(eq=False)
class TableSupports(Supports):
    """Supports read off `tacit.estimate` tables; what those of a level need is counted in one go."""

    origins: tuple[Source, ...]
    _engines: list[RememberingEngine] = field(init=False)
    _tables: dict[Names, TableEstimate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Weighted tallies are counts already.
        self._engines = [] if is_weighted(self.origins) else [RememberingEngine.of(s.engine, []) for s in self.origins]

    @property
    def error_rule(self) -> ErrorRule:
        return "design" if is_weighted(self.origins) else "law"

    def _table(self, names: Names) -> TableEstimate:
        if names not in self._tables:
            counted = zip(self.origins, self._engines, strict=bool(self._engines))
            reports = Remembered(tuple(replace(source, engine=engine) for source, engine in counted) or self.origins)
            self._tables[names] = estimate(reports, names)
        return self._tables[names]

    def estimable_itemsets(self, level: Level) -> tuple[Level, list[str]]:
        self.prepare(level)
        estimable, reasons = {}, []
        for names, codes in level.items():
            try:
                self._table(names)
                estimable[names] = codes
            except NotEstimable as error:
                reasons.append(str(error))
        return estimable, reasons

    def prepare(self, level: Level) -> None:
        new = [names for names in level if names not in self._tables]
        counted = zip(self.origins, self._engines, strict=bool(self._engines))
        self._engines = [engine.with_tallies(tallied_columns(source, new)) for source, engine in counted]

    def estimates(self, names: Names, codes: Codes) -> tuple[Array, Array]:
        table, cells = self._table(names), tuple(codes.T)
        return table.unbiased[cells], table.standard_errors[cells]

    def covariances(self, names: Names, codes: Codes) -> Array:
        checked_length(len(names))
        table = self._table(names)
        cells = np.indices(table.unbiased.shape).reshape(len(names), -1)
        inside = members(len(names))
        matrices = []
        for row in codes:
            agrees = cells == row[:, None]
            # Sub-itemset by cell: the cells that a sub-itemset sums are those that agree with all of its answers.
            summed = (agrees[None] | ~inside[:, :, None]).all(axis=1).astype(np.float64)
            matrices.append(summed @ table.covariance @ summed.T)
        return np.array(matrices)


# The iteration goes through the whole joint domain many times.
JOINT_CELLS = 1 << 16
# Accelerated steps from an even start: about 5 CPU seconds on CENSUS split by questionnaires, where the iteration had not
# reached its tolerance after minutes; the supports of these steps are well ahead of the unbiased ones.
MOST_STEPS = 60


@dataclass(frozen=True, eq=False)
class LikelySupports(Supports):
    """The margins of one joint distribution; the errors given are those of the unbiased estimates."""

    unbiased: Supports
    joint: Array
    origins: tuple[Source, ...] = ()

    @cached_property
    def schema(self) -> Schema:
        return self.unbiased.schema

    @property
    def error_rule(self) -> ErrorRule:
        return self.unbiased.error_rule

    @property
    def n_reports(self) -> int:
        return self.unbiased.n_reports

    def estimable_itemsets(self, level: Level) -> tuple[Level, list[str]]:
        return self.unbiased.estimable_itemsets(level)

    def keep(self, answers: Mapping[str, NDArray[np.int64]]) -> None:
        self.unbiased.keep(answers)

    def prepare(self, level: Level) -> None:
        self.unbiased.prepare(level)

    def estimates(self, names: Names, codes: Codes) -> tuple[Array, Array]:
        others = tuple(axis for axis, name in enumerate(self.schema.names) if name not in names)
        return self.joint.sum(axis=others)[tuple(codes.T)], self.unbiased.estimates(names, codes)[1]

    def covariances(self, names: Names, codes: Codes) -> Array:
        return self.unbiased.covariances(names, codes)


def most_likely_supports(reports: ReportSource | Sequence[ReportSource], unbiased: Supports) -> LikelySupports:
    """Supports of the joint distribution of all attributes that makes the reports (nearly) most likely."""
    schema = unbiased.schema
    cells = math.prod(schema.shape())
    if cells > JOINT_CELLS:
        raise InvalidInput(
            f"The joint domain of {len(schema)} attributes has {cells:,} cells; the likelihood can be maximised over at "
            f"most {JOINT_CELLS:,}. Use method='inversion', or deal split questionnaires of fewer attributes each."
        )
    fit = estimate(reports, schema.names, method="likelihood", max_steps=MOST_STEPS)
    return LikelySupports(unbiased, fit.probabilities)
