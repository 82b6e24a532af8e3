"""Supports from a split questionnaire: every interaction pooled once, every table assembled from the interactions.

For each set S of attributes the questionnaires that hold it give an estimate of its interaction, the part of
the S-marginal that no smaller set explains; these are averaged by their information. Errors are exact for the pooled
estimate, with the estimated tables in place of the true ones.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array, SetLaw
from tacit.count.abilities import held_rows
from tacit.count.protocol import Source
from tacit.count.shown_counts import Level
from tacit.count.sources import true_schema
from tacit.estimation.pooling import never_together
from tacit.estimation.result import ErrorRule
from tacit.estimation.sub_itemsets import Codes, Names, checked_length, exactly, members, picked
from tacit.estimation.uncertainty import Moments, counted_covariance
from tacit.schema import Schema


@dataclass(frozen=True, eq=False)
class SymmetricTable:
    """The reports of one questionnaire whose channel treats all records alike: gamma-diagonal or subset selection over all."""

    names: Names
    shape: tuple[int, ...]
    law: SetLaw
    truth: Array  # the unbiased estimate of its joint table
    n_reports: int

    @classmethod
    def of(cls, source: Source) -> SymmetricTable:
        (group,) = source.questionnaire.groups
        law = group.channel.set_law()
        assert law is not None, "the caller has checked that the channel is symmetric"
        truth = group.channel.solve(_tally(source, [column.name for column in group.report_attributes]))
        return cls(group.names, group.channel.shape, law, truth, source.engine.n_rows)

    @cached_property
    def cube(self) -> Array:
        """The estimated table with a last slot along each axis that holds everyone."""
        cube = self.truth
        for axis in range(cube.ndim):
            cube = np.concatenate([cube, cube.sum(axis=axis, keepdims=True)], axis=axis)
        return cube

    @property
    def weight(self) -> float:
        return self.n_reports * self.law.information

    def shares(self, names: Names, codes: Codes) -> Array:
        """Estimated shares of people who have just these of an itemset's answers: ``(itemsets, 2**length)``."""
        inside = members(len(names))
        index: list[Array] = []
        for name, size in zip(self.names, self.shape, strict=True):
            if name in names:
                at = names.index(name)
                index.append(np.where(inside[:, at], codes[:, at, None], size))
            else:
                index.append(np.array(size))
        return exactly(self.cube[tuple(index)])

    def records(self, names: Names) -> Array:
        """How many joint answers agree with an itemset in just these of its answers."""
        inside = members(len(names))
        sizes = np.array([self.shape[self.names.index(name)] for name in names])
        others = self.law.answers // math.prod(sizes.tolist())
        return np.where(inside, 1, sizes - 1).prod(axis=1) * float(others)

    def square_weights(self, shares: Array, records: Array) -> Array:
        """What the square of a contribution is weighed with, where contributions sum to zero over all records.

        The mean of ``(sum over members of K)**2`` is, with ``sum K = 0``, a sum of ``K**2`` over single records: pairs of
        different members add ``-without K**2`` each, and ``-2 (with_truth - without) K**2`` at the truth.
        """
        law = self.law
        even = law.background - law.without
        at_truth = law.contrast - 2 * (law.with_truth - law.without)
        return (even * records + at_truth * shares) / law.contrast**2


def _tally(source: Source, columns: list[str]) -> Array:
    """The tally over the number of reports; sets in memory are counted straight from their codes."""
    engine = source.engine
    rows = held_rows(engine)
    if len(columns) == 1 and rows is not None and engine.schema[columns[0]].shows == "set":
        members_shown = np.bincount(rows[columns[0]].reshape(-1), minlength=engine.schema[columns[0]].size)
        return np.append(members_shown, engine.n_rows) / engine.n_rows
    return engine.tally(columns) / engine.n_rows


def pooling_shares(tables: Sequence[SymmetricTable], interaction: Names) -> Mapping[int, float]:
    """Each table's share in the pooled estimate of an interaction: in proportion to its information."""
    asking = [at for at, table in enumerate(tables) if set(interaction) <= set(table.names)]
    total = sum(tables[at].weight for at in asking)
    return {at: tables[at].weight / total for at in asking}


def is_symmetric(source: Source) -> bool:
    """Whether a questionnaire asks through one channel that treats all records alike and tells of them."""
    groups = source.questionnaire.groups
    if len(groups) != 1 or source.questionnaire.public or not groups[0].channel.is_invertible():
        return False
    return groups[0].channel.set_law() is not None


@dataclass(frozen=True, eq=False)
class SplitSupports:
    """Supports pooled over questionnaires."""

    origins: tuple[Source, ...]
    _interactions: dict[Names, Array] = field(default_factory=dict)
    _shares: dict[Names, Mapping[int, float]] = field(default_factory=dict)
    _known_variances: dict[tuple[int, Names], Array] = field(default_factory=dict)

    @cached_property
    def schema(self) -> Schema:
        return true_schema(self.origins)

    @cached_property
    def tables(self) -> list[SymmetricTable]:
        return [SymmetricTable.of(source) for source in self.origins]

    @property
    def error_rule(self) -> ErrorRule:
        return "counted"

    @property
    def n_reports(self) -> int:
        return sum(source.engine.n_rows for source in self.origins)

    def known(self, level: Level) -> tuple[Level, list[str]]:
        told = {names: codes for names, codes in level.items() if self._is_asked(names)}
        return told, [never_together(names) for names in level if names not in told]

    def _is_asked(self, names: Names) -> bool:
        return any(set(names) <= set(table.names) for table in self.tables)

    def keep(self, answers: Mapping[str, NDArray[np.int64]]) -> None:
        """Tables are assembled whole."""

    def prepare(self, level: Level) -> None:
        """Interactions are pooled when they are first needed."""

    def estimates(self, names: Names, codes: Codes) -> tuple[Array, Array]:
        return self.table(names)[tuple(codes.T)], self._errors(names, codes)

    def level_estimates(self, level: Level) -> Mapping[Names, tuple[Array, Array]]:
        return {names: self.estimates(names, codes) for names, codes in level.items()}

    def table(self, names: Names) -> Array:
        """The pooled table over these attributes."""
        shape = self.schema.shape(names)
        table = np.full(shape, 1 / math.prod(shape))
        for size in range(1, len(names) + 1):
            for interaction in itertools.combinations(names, size):
                inside = [name in interaction for name in names]
                spread = tuple(d if here else 1 for d, here in zip(shape, inside, strict=True))
                others = math.prod(d for d, here in zip(shape, inside, strict=True) if not here)
                table += self._pooled(interaction).reshape(spread) / others
        return table

    def _pooled(self, interaction: Names) -> Array:
        if interaction not in self._interactions:
            total = np.zeros(self.schema.shape(interaction))
            for at, share in self._pooling(interaction).items():
                total += share * _interaction(self.tables[at], interaction)
            self._interactions[interaction] = total
        return self._interactions[interaction]

    def _pooling(self, interaction: Names) -> Mapping[int, float]:
        if interaction not in self._shares:
            self._shares[interaction] = pooling_shares(self.tables, interaction)
        return self._shares[interaction]

    def _errors(self, names: Names, codes: Codes) -> Array:
        variances = np.zeros(len(codes))
        for at, table in enumerate(self.tables):
            asked = [position for position, name in enumerate(names) if name in table.names]
            if asked:
                looked = tuple(names[position] for position in asked)
                variances += self._variances(at, looked)[tuple(codes[:, asked].T)] / self._others(at, names) ** 2
        return np.sqrt(np.maximum(variances, 0))

    def _variances(self, at: int, looked: Names) -> Array:
        """Variances of what one questionnaire adds to the support of each itemset over attributes it asks: one table for all."""
        if (at, looked) not in self._known_variances:
            table, shape = self.tables[at], self.schema.shape(looked)
            weights = self._weights(at, looked)
            shares = table.shares(looked, np.indices(shape).reshape(len(shape), -1).T)
            squares = table.square_weights(shares, table.records(looked)) @ weights**2
            variances = Moments(shares @ weights, squares, table.n_reports).variance()
            self._known_variances[at, looked] = variances.reshape(shape)
        return self._known_variances[at, looked]

    def covariances(self, names: Names, codes: Codes) -> Array:
        checked_length(len(names))
        inside = members(len(names))
        total = np.zeros((len(codes), len(inside), len(inside)))
        for at, table in enumerate(self.tables):
            asked = [position for position, name in enumerate(names) if name in table.names]
            if not asked:
                continue
            looked = tuple(names[position] for position in asked)
            weights = np.zeros((len(inside), 1 << len(asked)))
            for sub, chosen in enumerate(inside):
                mine = tuple(name for name, wanted in zip(names, chosen, strict=True) if wanted)
                kept = [place for place, name in enumerate(looked) if name in mine]
                if kept:
                    weights[sub] = self._contributions(at, mine)[picked(kept, len(looked))]
            shares = table.shares(looked, codes[:, asked])
            squares = table.square_weights(shares, table.records(looked))
            means = shares @ weights.T
            products = (weights * squares[:, None, :]) @ weights.T
            total += counted_covariance(products, means, table.n_reports)
        return total

    def _contributions(self, at: int, names: Names) -> Array:
        """What a record of one questionnaire adds to an itemset's support, by which of the answers asked there it has."""
        looked = tuple(name for name in names if name in self.tables[at].names)
        return self._weights(at, looked) / self._others(at, names)

    def _others(self, at: int, names: Names) -> int:
        """Joint answers to the questions that a questionnaire does not ask: its share is spread evenly over them."""
        return math.prod(self.schema.shape([name for name in names if name not in self.tables[at].names]))

    def _weights(self, at: int, looked: Names) -> Array:
        shares = [self._pooling(interaction)[at] for interaction in _interactions(looked)]
        return np.array(shares) @ _deviations(self.schema.shape(looked))


def _interactions(names: Names) -> list[Names]:
    return [
        tuple(name for name, wanted in zip(names, chosen, strict=True) if wanted) for chosen in members(len(names))[1:]
    ]


@cache
def _deviations(sizes: tuple[int, ...]) -> Array:
    """``[interaction, shown]``: what a record that has just these answers adds to an itemset through an interaction.

    Inside the interaction its deviation from the mean along the axis; outside an even spread.
    """
    has, d = members(len(sizes)), np.array(sizes, dtype=np.float64)
    table = np.where(has[1:, None, :], has - 1 / d, 1 / d).prod(axis=2)
    table.flags.writeable = False
    return table


def _interaction(table: SymmetricTable, interaction: Names) -> Array:
    """A table's marginal over some attributes, less its means along each of their axes."""
    summed = tuple(axis for axis, name in enumerate(table.names) if name not in interaction)
    kept = [name for name in table.names if name in interaction]
    marginal = table.truth.sum(axis=summed).transpose([kept.index(name) for name in interaction])
    for axis in range(marginal.ndim):
        marginal = marginal - marginal.mean(axis=axis, keepdims=True)
    return marginal
