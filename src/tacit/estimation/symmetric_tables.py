"""One questionnaire whose channel treats all records alike: gamma-diagonal, or subset selection, over all it asks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.channel.base import Array, SetLaw
from tacit.count.abilities import held_rows
from tacit.count.protocol import Source
from tacit.estimation.sub_itemsets import Codes, Names, exactly, members


@dataclass(frozen=True, eq=False)
class SymmetricTable:
    """The reports of one such questionnaire."""

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
