"""Supports of itemsets by closed forms, where channels have them, and the door to all supports.

Where reports show answers (mixtures, flips, bits and public attributes, in any grouping), what one report adds to the
estimate of an itemset's support depends only on which of its answers the report shows. So the counts of reports by that
(2**length numbers) give the supports of all its sub-itemsets and, exactly, the covariances of these.

Of a split questionnaire every interaction is pooled once, and every table assembled from the interactions: for each set S
of attributes the questionnaires that hold it give an estimate of its interaction, the part of the S-marginal that no
smaller set explains; these are averaged by their information. Errors are exact for the pooled estimate, with the estimated
tables in place of the true ones.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array, SetLaw
from tacit.channel.scheme import Group
from tacit.count.abilities import held_rows
from tacit.count.protocol import Source
from tacit.count.shown_counts import Items, Level, Levels, Numbering, ShownCounts, cube_of
from tacit.count.sources import ReportSource, sources
from tacit.errors import InvalidInput, NotEstimable
from tacit.estimation.pooling import never_together
from tacit.estimation.sampled_sources import is_weighted
from tacit.estimation.supports import (
    Codes,
    Names,
    Supports,
    TableSupports,
    checked_length,
    containment,
    exactly,
    members,
    numbers_within,
)
from tacit.estimation.uncertainty import Moments, counted_covariance

# Covariances of so many pairs of sub-itemsets are computed at a time: 32 MB.
PAIRS_AT_ONCE = 1 << 22


def shows_answers(source: Source) -> bool:
    """Whether every group's reports count for an itemset by which of its answers they show."""
    return all(group.channel.counts_by_shown for group in source.questionnaire.groups)


@dataclass(eq=False)
class ShownSupports(Supports):
    """Supports from one table of reports."""

    source: Source
    _counts: ShownCounts = field(init=False)
    _reasons: dict[tuple[Names, tuple[int, ...]], str | None] = field(default_factory=dict)
    _singles: dict[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.origins = (self.source,)
        self._counts = Levels(self.source.engine)

    @cached_property
    def _group_at(self) -> dict[str, int]:
        groups = self.source.questionnaire.groups
        return {name: place for place, group in enumerate(groups) for name in group.names}

    @cached_property
    def _numbering(self) -> Numbering:
        return Numbering(self.source.engine.schema)

    def estimable_itemsets(self, level: Level) -> tuple[Level, list[str]]:
        reasons = {names: self._why_not(names) for names in level}
        estimable = {names: codes for names, codes in level.items() if reasons[names] is None}
        return estimable, [reason for reason in reasons.values() if reason is not None]

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
                weights = _shown_products(single, items[here][:, list(places)])
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
            pick = numbers_within(positions, length)
            table = _group_contributions(group, tuple(names[at] for at in positions), codes[:, positions], pick[subs])
            product *= table[:, :, pick]
        public = sorted(set(range(length)) - {at for _, positions in private for at in positions})
        if public:
            pick = numbers_within(public, length)
            product *= containment(len(public))[pick[subs][:, None], pick[None, :]]
        return product


def _shown_products(single: Array, items: Items) -> Array:
    """``[itemset, shown]``: products of what is added through each answer, by which of them are shown."""
    product = np.ones((len(items), 1))
    for place in range(items.shape[1]):
        factors = single[items[:, place]]
        product = np.concatenate([product * factors[:, :1], product * factors[:, 1:]], axis=1)
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
class SplitSupports(Supports):
    """Supports pooled over questionnaires."""

    origins: tuple[Source, ...]
    _interactions: dict[Names, Array] = field(default_factory=dict)
    _shares: dict[Names, Mapping[int, float]] = field(default_factory=dict)
    _known_variances: dict[tuple[int, Names], Array] = field(default_factory=dict)

    @cached_property
    def tables(self) -> list[SymmetricTable]:
        return [SymmetricTable.of(source) for source in self.origins]

    def estimable_itemsets(self, level: Level) -> tuple[Level, list[str]]:
        estimable = {names: codes for names, codes in level.items() if self._is_asked(names)}
        return estimable, [never_together(names) for names in level if names not in estimable]

    def _is_asked(self, names: Names) -> bool:
        return any(set(names) <= set(table.names) for table in self.tables)

    def estimates(self, names: Names, codes: Codes) -> tuple[Array, Array]:
        return self.table(names)[tuple(codes.T)], self._errors(names, codes)

    def table(self, names: Names) -> Array:
        """The pooled table over these attributes."""
        shape = self.schema.shape(names)
        table = np.full(shape, 1 / math.prod(shape))
        for size in range(1, len(names) + 1):
            for interaction in itertools.combinations(names, size):
                inside = [name in interaction for name in names]
                spread = tuple(d if here else 1 for d, here in zip(shape, inside, strict=True))
                others = math.prod(d for d, here in zip(shape, inside, strict=True) if not here)
                table += self._pooled_interaction(interaction).reshape(spread) / others
        return table

    def _pooled_interaction(self, interaction: Names) -> Array:
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
                positions_left = [place for place, name in enumerate(looked) if name in mine]
                if positions_left:
                    weights[sub] = self._contributions(at, mine)[numbers_within(positions_left, len(looked))]
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
    positions_left = [name for name in table.names if name in interaction]
    marginal = table.truth.sum(axis=summed).transpose([positions_left.index(name) for name in interaction])
    for axis in range(marginal.ndim):
        marginal = marginal - marginal.mean(axis=axis, keepdims=True)
    return marginal


def supports_from(reports: ReportSource | Sequence[ReportSource]) -> Supports:
    """The supports in reports, by closed forms where their channels have them."""
    origins = [source for source in sources(reports) if source.engine.n_rows]
    if not origins:
        raise InvalidInput("There are no reports to mine.")
    if is_weighted(origins):
        return TableSupports(tuple(origins))
    if len(origins) == 1 and shows_answers(origins[0]):
        return ShownSupports(origins[0])
    if all(is_symmetric(source) for source in origins):
        return SplitSupports(tuple(origins))
    return TableSupports(tuple(origins))
