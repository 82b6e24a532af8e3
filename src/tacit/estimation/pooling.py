"""One estimate from several tables: questionnaires of a split survey, schemes side by side, clear and disguised records.

A table over attributes L is the sum of its interactions: for every set S of attributes the part of the S-marginal that
its own margins do not explain. Each source estimates the interactions of what it asks; for every S the sources' estimates
are averaged with weights that are proportional to their information about it. The weights are computed
for a uniform truth, not from the data, so the pooled estimate stays unbiased.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tacit.channel.base import Array
from tacit.channel.scheme import Questionnaire
from tacit.count.protocol import Source
from tacit.errors import InvalidInput, NotEstimable
from tacit.estimation.contribution import CellMoments, Contribution
from tacit.estimation.group_parts import parts_for
from tacit.estimation.information import Names, information, interactions
from tacit.estimation.intervals import TINY, ShareLaw
from tacit.estimation.inversion import COVARIANCE_CELLS, Inverted, checked_covariance, filled, inverted
from tacit.estimation.result import Sampling
from tacit.estimation.simplex import floored, projected
from tacit.estimation.uncertainty import law_near

MOST_POOLED = 12  # attributes: 2**12 interactions
POOLED_CELLS = 1 << 14  # of one source's table; the work grows with its square


@dataclass(frozen=True, eq=False)
class Pooled:
    """The pooled estimate; the sources are independent, and their errors mean sampling from a population."""

    names: Names
    shape: tuple[int, ...]
    contributions: tuple[Contribution, ...]

    @property
    def n_reports(self) -> int:
        return sum(contribution.table.n_reports for contribution in self.contributions)

    def _spread(self, contribution: Contribution) -> tuple[int, ...]:
        """The wanted shape, with 1 for what the source does not ask."""
        asked = contribution.table.names
        return tuple(size if name in asked else 1 for name, size in zip(self.names, self.shape, strict=True))

    def _summed(self, of: Callable[[Contribution], Array]) -> Array:
        """What the contributions add up to, spread over the answers that each does not ask."""
        table = np.zeros(self.shape)
        for contribution in self.contributions:
            table += of(contribution).reshape(self._spread(contribution))
        return table

    @cached_property
    def probabilities(self) -> Array:
        return 1 / math.prod(self.shape) + self._summed(lambda contribution: contribution.means)

    def at(self, distribution: Array) -> Pooled:
        """The same tables, had the reports been just as this distribution makes one expect."""
        return replace(self, contributions=tuple(self._at(part, distribution) for part in self.contributions))

    def _at(self, contribution: Contribution, distribution: Array) -> Contribution:
        asked = contribution.table.names
        others = tuple(axis for axis, name in enumerate(self.names) if name not in asked)
        kept = [name for name in self.names if name in asked]
        margin = distribution.sum(axis=others).transpose([kept.index(name) for name in asked])
        return replace(contribution, table=contribution.table.at(margin))

    @cached_property
    def proper(self) -> Pooled:
        """The tables at a proper distribution near the estimate: errors are those of the channels there."""
        return self.at(floored(projected(self.probabilities)))

    @property
    def counted_variances(self) -> Array:
        """Variances of the cells, from the reports as they were counted or as a distribution makes one expect them."""
        return self._summed(lambda contribution: contribution.moments.variance())

    def variances(self, sampling: Sampling = "population") -> Array:
        """Variances for a sample from a population, whatever is asked for: who is in which of the tables is chance too."""
        return self._variances

    @cached_property
    def _variances(self) -> Array:
        return self.proper.counted_variances

    def law(self, sampling: Sampling = "population") -> ShareLaw:
        """How the variance of each cell depends on its share, judged by what the reports of each source contributed."""
        cells = [self._cell_moments(proper) for proper in self.proper.contributions]

        def up_to(top: Array) -> ShareLaw:
            constant, slope, curvature = np.zeros(self.shape), np.zeros(self.shape), np.zeros(self.shape)
            for counted, its in zip(self.contributions, cells, strict=True):
                for total, own in zip((constant, slope, curvature), self._law_of(counted, its, top), strict=True):
                    total += own
            return ShareLaw(constant, slope, curvature)

        return law_near(self.probabilities, up_to)

    def _asks_all(self, contribution: Contribution) -> bool:
        return len(contribution.table.names) == len(self.names)

    def _cell_moments(self, proper: Contribution) -> CellMoments:
        """What one source's reports add to the cells, spread over the answers that it does not ask."""
        asks_all = self._asks_all(proper)
        cells = proper.cell_moments(asks_all=asks_all).reshaped(self._spread(proper))
        if asks_all:
            return cells
        # Whoever comes into the cell is anyone else.
        p = self.proper.probabilities
        square, mean = (
            (of.reshape(self._spread(proper)) - p * inside) / np.maximum(1 - p, TINY)
            for of, inside in ((proper.moments.square, cells.squares.inside), (proper.means, cells.means.inside))
        )
        squares, means = replace(cells.squares, usual=square), replace(cells.means, usual=mean)
        return replace(cells, squares=squares, means=means, public=np.ones(self.shape))

    def _law_of(self, counted: Contribution, cells: CellMoments, top: Array) -> tuple[Array, Array, Array]:
        """What one source adds to the law: constant, slope and curvature."""
        asks_all, moments, shape = self._asks_all(counted), counted.moments, self._spread(counted)
        share = counted.table.probabilities.reshape(shape) if asks_all else self.probabilities
        square, growth = cells.squares.line(share, moments.square.reshape(shape), top, cells.public)
        mean, further = cells.means.line(share, moments.mean.reshape(shape), top, cells.public)
        constant = np.maximum(square - mean**2, cells.spread)
        slope, curvature = growth - 2 * mean * further, further**2
        if not asks_all:
            # People may be of the cell and give this source the same answers as before.
            slope, curvature = np.maximum(slope, 0.0), np.where(slope < 0, 0.0, curvature)
        return constant / moments.n, slope / moments.n, curvature / moments.n

    def covariance(self, sampling: Sampling = "population", distribution: Array | None = None) -> Array:
        """Covariance of the cells, at a proper distribution near the estimate or at a given one."""
        at = self.proper if distribution is None else self.at(distribution)
        cells = math.prod(self.shape)
        checked_covariance(cells)
        table = np.zeros(self.shape + self.shape)
        for contribution in at.contributions:
            table += contribution.covariance.reshape(self._spread(contribution) * 2)
        return table.reshape(cells, cells)


@dataclass(frozen=True, eq=False)
class AskedTable:
    """A questionnaire, how many answered it, and its own estimate of any of its attributes."""

    questionnaire: Questionnaire
    reports: int
    table: Callable[[Names], Inverted]


EstimatedTable = Inverted | Pooled  # what each can be asked for is the same


def is_pooled(asking: Sequence[Source], names: Sequence[str]) -> bool:
    """Whether no single source asks the whole table."""
    return len(asking) != 1 or not set(names) <= set(asking[0].questionnaire.attributes)


def estimated_table(asking: Sequence[Source], names: Sequence[str], shape: tuple[int, ...]) -> EstimatedTable:
    """The unbiased estimate of a table: from the one source that asks all of it, else pooled."""
    return pooled(asking, names, shape) if is_pooled(asking, names) else inverted(asking[0], names)


def pooled(sources: Sequence[Source], names: Sequence[str], shape: tuple[int, ...]) -> Pooled:
    """The estimate of a table from every source that asks some of its attributes."""
    return combined([_counted(source) for source in filled(sources)], names, shape)


def _counted(source: Source) -> AskedTable:
    return AskedTable(source.questionnaire, source.engine.n_rows, lambda mine: inverted(source, mine))


def combined(asked: Sequence[AskedTable], names: Sequence[str], shape: tuple[int, ...]) -> Pooled:
    """One table from the tables of several questionnaires: what estimates are pooled by, and errors foreseen by."""
    wanted = tuple(names)
    if len(wanted) > MOST_POOLED:
        raise InvalidInput(f"At most {MOST_POOLED} attributes can be pooled at once, not {len(wanted)}. Ask for fewer.")
    estimable = [_estimable(one.questionnaire, wanted) for one in asked]
    contributions = []
    for one, mine, weights in zip(asked, estimable, _shares(asked, estimable, wanted), strict=True):
        if weights:
            table = _checked_size(one.table(mine))
            others = math.prod(size for name, size in zip(wanted, shape, strict=True) if name not in mine)
            contributions.append(Contribution.of(table, weights, others))
    return Pooled(wanted, shape, tuple(contributions))


def _estimable(questionnaire: Questionnaire, wanted: Names) -> Names:
    """The wanted attributes that a questionnaire asks through channels which tell of them."""
    asked = [name for name in wanted if name in questionnaire.attributes]
    telling = [part for part in parts_for(questionnaire, asked) if part.estimator.is_invertible()]
    return tuple(name for name in asked if any(name in part.attributes for part in telling))


def _shares(asked: Sequence[AskedTable], estimable: Sequence[Names], wanted: Names) -> list[dict[Names, float]]:
    """Each questionnaire's weight for each interaction it tells of; over all of them they sum to one."""
    known: list[dict[Names, float]] = []
    for one, mine in zip(asked, estimable, strict=True):
        amounts = information(parts_for(one.questionnaire, mine), mine)
        known.append({interaction: one.reports * amount for interaction, amount in amounts.items()})
    shares: list[dict[Names, float]] = [{} for _ in asked]
    for interaction in interactions(wanted):
        total = sum(amounts.get(interaction, 0.0) for amounts in known)
        if not total:
            _refuse(asked, interaction, wanted)
        for share, amounts in zip(shares, known, strict=True):
            if interaction in amounts:
                share[interaction] = amounts[interaction] / total
    return shares


def _refuse(asked: Sequence[AskedTable], interaction: Names, wanted: Names) -> None:
    for one in asked:
        there = one.questionnaire.attributes
        if set(interaction) <= set(there):  # asked, so it is the channel that does not tell: it says why
            _ = one.table(tuple(name for name in wanted if name in there)).probabilities
    raise NotEstimable(never_together(interaction))


def never_together(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"No reports ask for {names[0]!r}, so nothing can be estimated of it."
    return (
        f"{', '.join(map(repr, names))} are never asked together, so their joint distribution cannot be estimated. "
        "Ask for them one by one, or deal a questionnaire that holds them all."
    )


def _checked_size(table: Inverted) -> Inverted:
    cells = table.probabilities.size
    most = POOLED_CELLS if table.shows_one else COVARIANCE_CELLS
    if cells > most:
        raise InvalidInput(
            f"A table of {cells:,} cells is too large to be pooled; at most {most:,} are possible"
            f"{'' if table.shows_one else ' where reports show sets or bits'}. Ask for fewer attributes at once, or for "
            "single combinations of answers."
        )
    return table
