"""Supports where reports show answers: mixtures, flips, bits and public attributes, in any grouping.

What one report adds to the estimate of an itemset's support then depends only on which of its answers the report shows. So
the counts of reports by that (2**length numbers) give the supports of all its sub-itemsets and, exactly, the covariances of
these.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.channel.scheme import Group
from tacit.count.protocol import Source
from tacit.count.shown_counts import Items, Level, Levels, Numbering, ShownCounts, cube_of
from tacit.count.sources import true_schema
from tacit.errors import NotEstimable
from tacit.estimation.result import ErrorRule
from tacit.estimation.sub_itemsets import Codes, Names, checked_length, contained, exactly, members, picked
from tacit.estimation.uncertainty import Moments, counted_covariance
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
    _reasons: dict[tuple[Names, tuple[int, ...]], str | None] = field(default_factory=dict)
    _singles: dict[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._counts = Levels(self.source.engine)

    @cached_property
    def schema(self) -> Schema:
        return true_schema([self.source])

    @property
    def origins(self) -> tuple[Source, ...]:
        return (self.source,)

    @property
    def error_rule(self) -> ErrorRule:
        return "counted"

    @property
    def n_reports(self) -> int:
        return self.source.engine.n_rows

    @cached_property
    def _group_at(self) -> dict[str, int]:
        groups = self.source.questionnaire.groups
        return {name: place for place, group in enumerate(groups) for name in group.names}

    @cached_property
    def _numbering(self) -> Numbering:
        return Numbering(self.source.engine.schema)

    def known(self, level: Level) -> tuple[Level, list[str]]:
        reasons = {names: self._why_not(names) for names in level}
        told = {names: codes for names, codes in level.items() if reasons[names] is None}
        return told, [reason for reason in reasons.values() if reason is not None]

    def _why_not(self, names: Names) -> str | None:
        """Why the reports hold no information about these attributes together; None where they do."""
        for group, positions in self._private(names):
            reason = self._unknown_of(group, tuple(sorted(group.names.index(names[at]) for at in positions)))
            if reason is not None:
                return reason
        return None

    def _unknown_of(self, group: Group, axes: tuple[int, ...]) -> str | None:
        key = (group.names, axes)
        if key not in self._reasons:
            channel = group.channel.margin(axes)
            self._reasons[key] = None
            try:
                if not channel.is_invertible():
                    channel.solve(np.zeros(channel.tally_shape))  # refuses with the channel's own reason
            except NotEstimable as error:
                self._reasons[key] = str(error)
        return self._reasons[key]

    def keep(self, answers: Mapping[str, NDArray[np.int64]]) -> None:
        cube = cube_of(self.source.engine, answers)
        if cube is not None:
            self._counts = cube

    def prepare(self, level: Level) -> None:
        self._counts.prepare(level)

    def estimates(self, names: Names, codes: Codes) -> tuple[Array, Array]:
        return self.level_estimates({names: codes})[names]

    def level_estimates(self, level: Level) -> Mapping[Names, tuple[Array, Array]]:
        """Itemsets whose disguised answers are of different groups are looked at all together, whatever they are about."""
        stacks: dict[tuple[tuple[int, ...], Names], dict[Names, Codes]] = {}
        for names, codes in level.items():
            private = self._private(names)
            places = tuple(sorted(at for _, positions in private for at in positions))
            checked_length(len(places))
            is_apart = len(private) == len(places)
            stacks.setdefault((places, () if is_apart else names), {})[names] = codes
        made: dict[Names, tuple[Array, Array]] = {}
        for (places, together), stack in stacks.items():
            means, errors = self._stack_estimates(stack, places, is_apart=not together)
            ends = np.cumsum([len(codes) for codes in stack.values()])[:-1]
            made.update(zip(stack, zip(np.split(means, ends), np.split(errors, ends), strict=True), strict=True))
        return {names: made[names] for names in level}

    def _stack_estimates(self, stack: Level, places: tuple[int, ...], *, is_apart: bool) -> tuple[Array, Array]:
        """Estimates and errors of itemsets that have disguised answers at the same places, one after the other."""
        items = self._numbering.items(stack)
        means, squares = np.empty(len(items)), np.empty(len(items))
        single = self._single_contributions({name for names in stack for name in names}) if is_apart else None
        step = max(1, PAIRS_AT_ONCE >> len(places))
        for start in range(0, len(items), step):
            here = slice(start, start + step)
            # Reports that lack a public answer contribute nothing, so only the private ones are looked at in all ways.
            shares = exactly(self._counts.at_least(items[here], places) / self.n_reports)
            if single is not None:
                weights = _multiplied(single, items[here][:, list(places)])
            else:
                ((names, codes),) = stack.items()
                looked, whole = tuple(names[at] for at in places), np.array([(1 << len(places)) - 1])
                weights = self._contributions(looked, codes[here][:, list(places)], whole)[:, 0]
            means[here], squares[here] = (weights * shares).sum(axis=1), (weights**2 * shares).sum(axis=1)
        return means, np.sqrt(Moments(means, squares, self.n_reports).variance())

    def _single_contributions(self, names: Collection[str]) -> Array:
        """``[answer, shown]``: what a report adds to the share of one answer, if it does not show it and if it does."""
        table = np.zeros((self._numbering.size, 2))
        for name in names:
            if name in self._group_at:
                start, size = self._numbering.starts[name], self.schema[name].size
                table[start : start + size] = self._of_attribute(name)
        return table

    def _of_attribute(self, name: str) -> Array:
        if name not in self._singles:
            group = self.source.questionnaire.groups[self._group_at[name]]
            codes = np.arange(self.schema[name].size)[:, None]
            self._singles[name] = _group_contributions(group, (name,), codes, np.array([1]))[:, 0]
        return self._singles[name]

    def covariances(self, names: Names, codes: Codes) -> Array:
        checked_length(len(names))
        every = range(len(names))
        shares = exactly(self._counts.at_least(self._numbering.items({names: codes}), every) / self.n_reports)
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


def _multiplied(single: Array, items: Items) -> Array:
    """``[itemset, shown]``: products of what is added through each answer, by which of them are shown."""
    product = np.ones((len(items), 1))
    for place in range(items.shape[1]):
        own = single[items[:, place]]
        product = np.concatenate([product * own[:, :1], product * own[:, 1:]], axis=1)
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
