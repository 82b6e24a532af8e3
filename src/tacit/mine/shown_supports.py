"""Supports where reports show answers: mixtures, flips, bits and public attributes, in any grouping.

What one report adds to the estimate of an itemset's support then depends only on which of its answers the report shows. So
the counts of reports by that (2**length numbers) give the supports of all its sub-itemsets and, exactly, the covariances of
these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.channel.scheme import Group
from tacit.count.protocol import Source
from tacit.errors import NotEstimable
from tacit.estimation.uncertainty import Moments, counted_covariance
from tacit.mine.shown_counts import Level, Levels, ShownCounts, shown_counts
from tacit.mine.sub_itemsets import Codes, Names, checked_length, contained, exactly, members, picked
from tacit.mine.supports import asked_schema
from tacit.schema import Schema

# Covariances of so many pairs of sub-itemsets are computed at a time: 32 MB.
PAIRS_AT_ONCE = 1 << 22


def shows_answers(source: Source) -> bool:
    """Whether every group's reports count for an itemset by which of its answers they show."""
    return all(group.channel.counts_by_shown for group in source.questionnaire.groups)


@dataclass(eq=False)
class ShownSupports:
    """Supports from one table of reports."""

    source: Source
    _counts: ShownCounts = field(init=False)

    def __post_init__(self) -> None:
        self._counts = Levels(self.source.engine)

    @cached_property
    def schema(self) -> Schema:
        return asked_schema([self.source])

    @property
    def n_reports(self) -> int:
        return self.source.engine.n_rows

    @cached_property
    def _group_at(self) -> dict[str, int]:
        groups = self.source.questionnaire.groups
        return {name: place for place, group in enumerate(groups) for name in group.names}

    def why_not(self, names: Names) -> str | None:
        for group, positions in self._private(names):
            channel = group.channel.margin(sorted(group.names.index(names[at]) for at in positions))
            try:
                if not channel.is_invertible():
                    channel.solve(np.zeros(channel.tally_shape))  # refuses with the channel's own reason
            except NotEstimable as error:
                return str(error)
        return None

    def keep(self, answers: Mapping[str, NDArray[np.int64]]) -> None:
        self._counts = shown_counts(self.source.engine, answers)
        self._counts.prepare({(name,): codes[:, None] for name, codes in answers.items()})

    def prepare(self, level: Level) -> None:
        self._counts.prepare(level)

    def estimates(self, names: Names, codes: Codes) -> tuple[Array, Array]:
        # Reports that lack a public answer contribute nothing, so only the private ones are looked at in all ways.
        private = sorted(at for _, positions in self._private(names) for at in positions)
        checked_length(len(private))
        shares = exactly(self._counts.at_least(names, codes, private) / self.n_reports)
        looked = tuple(names[at] for at in private)
        whole = np.array([(1 << len(private)) - 1])
        weights = self._contributions(looked, codes[:, private], whole)[:, 0]
        means, squares = (weights * shares).sum(axis=1), (weights**2 * shares).sum(axis=1)
        return means, np.sqrt(Moments.counted(means, squares, self.n_reports).variance())

    def covariances(self, names: Names, codes: Codes) -> Array:
        checked_length(len(names))
        every = range(len(names))
        shares = exactly(self._counts.at_least(names, codes, every) / self.n_reports)
        subs = np.arange(1 << len(names))
        step = max(1, PAIRS_AT_ONCE >> (2 * len(names)))
        blocks = []
        for start in range(0, len(codes), step):
            here = slice(start, start + step)
            weights = self._contributions(names, codes[here], subs)
            means = np.einsum("mab,mb->ma", weights, shares[here])
            products = (weights * shares[here, None, :]) @ weights.transpose(0, 2, 1)
            blocks.append(counted_covariance(products, means, self.n_reports))
        return np.concatenate(blocks)

    def _private(self, names: Names) -> list[tuple[Group, list[int]]]:
        """Each group that disguises some of the attributes, and their positions."""
        made: dict[int, list[int]] = {}
        for at, name in enumerate(names):
            if name in self._group_at:
                made.setdefault(self._group_at[name], []).append(at)
        return [(self.source.questionnaire.groups[place], positions) for place, positions in made.items()]

    def _contributions(self, names: Names, codes: Codes, subs: NDArray[np.int64]) -> Array:
        """``[itemset, sub-itemset, shown]``: what a report that shows just these answers adds to the sub-itemset's support."""
        length = len(names)
        product = np.ones((len(codes), len(subs), 1 << length))
        private = self._private(names)
        for group, positions in private:
            pick = picked(positions, length)
            table = _group_contributions(group, tuple(names[at] for at in positions), codes[:, positions], pick[subs])
            product *= table[:, :, pick]
        public = sorted(set(range(length)) - {at for _, positions in private for at in positions})
        if public:
            pick = picked(public, length)
            product *= contained(len(public))[pick[subs][:, None], pick[None, :]]
        return product


def _group_contributions(group: Group, names: Names, codes: Codes, subs: NDArray[np.int64]) -> Array:
    """``[itemset, sub-itemset, shown]`` for the answers of one group."""
    axes = [group.names.index(name) for name in names]
    inside = members(len(names))
    table = np.ones((len(codes), len(subs), len(inside)))
    for place, sub in enumerate(subs):
        if sub:  # an empty itemset is true of everyone
            named = np.flatnonzero(inside[sub])
            order = named[np.argsort([axes[at] for at in named])]
            channel = group.channel.marginal([axes[at] for at in order])
            table[:, place] = channel.shown_contributions(codes[:, order], inside[:, order])
    return table
