"""Several sources as one mean: questionnaires of a split survey, schemes side by side, clear and disguised records.

A table over attributes L is the sum of its interactions: for every set S of attributes the part of the S-marginal that
its own margins do not explain. Each source estimates the interactions of what it asks; for every S the sources' estimates
are averaged with weights that are proportional to their information about it. The weights are computed
for a uniform truth, not from the data, so the pooled estimate stays unbiased. So pooling is a linear map in front of each
source's contributions.

By inclusion and exclusion the summed square of one report's contributions to an interaction is a signed sum of its summed
squares on the margins of S, which every channel has in closed form: that is its information.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.channel.scheme import Questionnaire
from tacit.errors import InvalidInput, NotEstimable
from tacit.estimation.contributions import COVARIANCE_CELLS, Contributions
from tacit.estimation.group_parts import Part, parts_for
from tacit.estimation.intervals import TINY
from tacit.estimation.uncertainty import Contributed, Moments

MOST_POOLED = 12  # attributes: 2**12 interactions
POOLED_CELLS = 1 << 14  # of one source's table; the work grows with its square
BLOCK_ENTRIES = 1 << 22  # of a weighing matrix at a time: 32 MB

Names = tuple[str, ...]


@dataclass(frozen=True)
class CellMoments:
    """Mean squares and means of what one source's reports add to each cell.

    `spread` is their least variance for anybody not of it, `public` the share of people who give its public answers.
    """

    squares: Contributed
    means: Contributed
    spread: Array
    public: Array

    def reshape(self, shape: tuple[int, ...]) -> CellMoments:
        spread, public = self.spread.reshape(shape), self.public.reshape(shape)
        return CellMoments(self.squares.reshape(shape), self.means.reshape(shape), spread, public)


@dataclass(frozen=True, eq=False)
class Truths:
    """Mean squares and means of what people of some truths contribute to some cells, ``[cell, truth]``."""

    squares: Array
    means: Array
    is_cell: NDArray[np.bool_]  # the truth that is the cell
    others: NDArray[np.bool_]
    mistaken: NDArray[np.bool_]  # others whose public answers are those of the cell
    shares: Array  # of people with these truths

    def cell_moments(self, *, asks_all: bool) -> CellMoments:
        others, mistaken = (self.others, self.mistaken) if asks_all else (self.others | self.is_cell, self.is_cell)
        # A table of one cell has no others.
        others, mistaken = (them | (self.is_cell & ~them.any(axis=1, keepdims=True)) for them in (others, mistaken))
        cell = np.argmax(self.is_cell, axis=1)
        nearest = np.argmax(np.where(mistaken, self.squares, -1.0), axis=1)
        people = np.where(mistaken, self.shares, 0.0)
        squares, means = (_ranges(each, cell, others, nearest, people) for each in (self.squares, self.means))
        spread = np.min(self.squares - self.means**2, axis=1, where=others, initial=np.inf)
        return CellMoments(squares, means, spread, np.where(mistaken | self.is_cell, self.shares, 0.0).sum(axis=1))


def _ranges(
    of: Array, cell: NDArray[np.intp], others: NDArray[np.bool_], nearest: NDArray[np.intp], people: Array
) -> Contributed:
    rows = np.arange(len(of))
    least = np.min(of, axis=1, where=others, initial=np.inf)
    most = np.max(of, axis=1, where=others, initial=-np.inf)
    mistaken, total = of[rows, nearest], people.sum(axis=1)
    usual = np.divide((of * people).sum(axis=1), total, out=mistaken.copy(), where=total > 0)
    return Contributed(of[rows, cell], least, most, mistaken, usual)


def _join_cells(blocks: Sequence[CellMoments], shape: tuple[int, ...]) -> CellMoments:
    """One table of consecutive cells."""
    squares, means = _whole([cells.squares for cells in blocks]), _whole([cells.means for cells in blocks])
    spread, public = np.concatenate([[cells.spread, cells.public] for cells in blocks], axis=1)
    return CellMoments(squares, means, spread, public).reshape(shape)


def _whole(blocks: Sequence[Contributed]) -> Contributed:
    parts = zip(*((of.inside, of.least, of.most, of.mistaken, of.usual) for of in blocks), strict=True)
    return Contributed(*(np.concatenate(group) for group in parts))


@dataclass(frozen=True, eq=False)
class PooledContributions:
    """What one source adds to a pooled table: its weighted interactions.

    They are a linear map of its own table whose entry for two cells depends only on the attributes in which the cells
    agree; `by_agreement` has an axis of length 2 per attribute, 1 standing for "agree".
    """

    table: Contributions
    by_agreement: Array

    @classmethod
    def of(cls, table: Contributions, weights: dict[Names, float], others: int) -> PooledContributions:
        """`others` is the number of joint answers of the wanted attributes that the source does not ask."""
        values = np.zeros((2,) * len(table.names))
        for interaction, weight in weights.items():
            values[tuple(int(name in interaction) for name in table.names)] = weight
        for axis, size in enumerate(table.mean.shape):
            # Outside the interaction an even spread; inside, the deviation from the mean along this axis.
            step = np.array([[1 / size, -1 / size], [1 / size, 1 - 1 / size]])
            values = np.moveaxis(np.tensordot(step, values, axes=(1, axis)), 0, axis)
        return cls(table, values / others)

    def _blocks(self) -> Iterator[Array]:
        """Consecutive rows of the map."""
        size = self.table.mean.size
        width = max(1, BLOCK_ENTRIES // size)
        for start in range(0, size, width):
            yield self._rows(np.arange(start, min(start + width, size)))

    def _rows(self, cells: NDArray[np.intp]) -> Array:
        """The rows of the map for some cells."""
        agreement = np.zeros((len(cells), self.table.mean.size), dtype=np.uint16)
        for column in self._codes:
            agreement <<= 1
            agreement |= column[cells, None] == column[None, :]
        return self.by_agreement.reshape(-1)[agreement]

    @cached_property
    def _codes(self) -> tuple[NDArray[np.intp], ...]:
        """The answer to each attribute in each cell."""
        shape = self.table.mean.shape
        return np.unravel_index(np.arange(math.prod(shape)), shape)

    def matrix(self) -> Array:
        """The map as a matrix, ``[cell, own cell]``."""
        return np.concatenate(list(self._blocks()))

    def _squares(self, rows: Array) -> Array:
        """Mean squares of one report's contributions to the cells of these rows of the map."""
        if self.table.shows_one:
            return self.table.combined_squares(rows)
        return np.einsum("sc,sc->s", rows @ self.table.products, rows)

    @cached_property
    def mean(self) -> Array:
        """Mean of one report's contributions to each cell, as counted."""
        p = self.table.mean
        return np.concatenate([rows @ p.reshape(-1) for rows in self._blocks()]).reshape(p.shape)

    @cached_property
    def moments(self) -> Moments:
        """Means and mean squares of one report's contributions to each cell, as counted."""
        squares = np.concatenate([self._squares(rows) for rows in self._blocks()])
        return Moments(self.mean, squares.reshape(self.mean.shape), self.table.n_reports)

    def at(self, distribution: Array) -> PooledContributions:
        """Had the reports been just as this distribution of the source's own attributes makes one expect."""
        return replace(self, table=self.table.at(distribution))

    def covariance(self) -> Array:
        """Covariance of the contributions to every two cells, as counted."""
        rows = self.matrix()
        means = self.mean.reshape(-1)
        products = rows @ self.table.products @ rows.T
        return (products - np.multiply.outer(means, means)) / self.table.n_reports

    def cell_moments(self, *, asks_all: bool) -> CellMoments:
        """What people of each cell contribute to it, and what all others do.

        If the source does not ask everything that is wanted, others may give the very answers of the cell that it asks.
        """
        truths = self._truths() if self.table.shows_one else iter([self._truths_that_miss()])
        cells = _join_cells([each.cell_moments(asks_all=asks_all) for each in truths], self.table.mean.shape)
        if not asks_all or any(not group.channel.is_clear for group in self.table.parts):
            return cells
        # Nobody is mistaken for anybody: whoever is not of the cell is anyone else.
        p = self.table.mean
        square = (self.moments.square - p * cells.squares.inside) / np.maximum(1 - p, TINY)
        mean = (self.mean - p * cells.means.inside) / np.maximum(1 - p, TINY)
        squares = replace(cells.squares, mistaken=square, usual=square)
        return replace(cells, squares=squares, means=replace(cells.means, mistaken=mean, usual=mean))

    def _truths(self) -> Iterator[Truths]:
        """All truths, for consecutive cells."""
        start, size = 0, self.table.mean.size
        clear = [column for name, column in zip(self.table.names, self._codes, strict=True) if name in self._clear]
        possible, shares = self.table.possible.reshape(-1), self.table.mean.reshape(-1)
        for rows in self._blocks():
            cells = np.arange(start, start + len(rows))
            is_cell = cells[:, None] == np.arange(size)
            mistaken = functools.reduce(np.logical_and, [column[cells, None] == column for column in clear], possible)
            yield Truths(
                self.table.squares_given(rows), rows, is_cell, possible & ~is_cell, mistaken & ~is_cell, shares
            )
            start += len(rows)

    @cached_property
    def _clear(self) -> set[str]:
        """The attributes that are reported as they are."""
        return {name for group in self.table.parts if group.channel.is_clear for name in group.attributes}

    def _truths_that_miss(self) -> Truths:
        """A truth that misses each set of a cell's answers: products for all truths would be too costly."""
        names, shape, size = self.table.names, self.table.mean.shape, self.table.mean.size
        many = [axis for axis, answers in enumerate(shape) if answers > 1]
        missing = [missed for count in range(len(many) + 1) for missed in itertools.combinations(many, count)]
        # First see whether the channel treats the cells alike.
        probed = {truth: self._squares_of(truth, missing) for truth in {0, size // 2, size - 1}}
        if not np.allclose(list(probed.values()), probed[0], rtol=1e-7, atol=0):
            probed = {truth: self._squares_of(truth, missing) for truth in range(size)}
        squares = np.empty((size, len(missing)))
        for pattern, missed in enumerate(missing):
            squares[self._missed_cells(np.arange(size), missed), pattern] = [
                probed.get(u, probed[0])[pattern] for u in range(size)
            ]
        means = [self.by_agreement[tuple(int(axis not in missed) for axis in range(len(shape)))] for missed in missing]
        is_cell = np.array([not missed for missed in missing])
        mistaken = ~is_cell & [not any(names[axis] in self._clear for axis in missed) for missed in missing]
        shares = np.stack([self._share_missing(missed) for missed in missing], axis=1)
        every = (np.array(means), is_cell, ~is_cell, mistaken, shares)
        return Truths(squares, *(np.broadcast_to(each, squares.shape) for each in every))

    def _share_missing(self, missing: tuple[int, ...]) -> Array:
        """The share of people who miss each cell in these attributes only."""
        shares = self.table.mean
        for axis in missing:
            shares = shares.sum(axis=axis, keepdims=True) - shares
        return shares.reshape(-1)

    def _missed_cells(self, truths: NDArray[np.intp], missing: tuple[int, ...]) -> NDArray[np.intp]:
        """Cells that truths miss in these attributes only."""
        shape = self.table.mean.shape
        codes = [(column[truths] + (axis in missing)) % shape[axis] for axis, column in enumerate(self._codes)]
        return np.ravel_multi_index(codes, shape)

    def _squares_of(self, truth: int, missing: Sequence[tuple[int, ...]]) -> Array:
        """Mean squares of what people of one truth contribute to the cells that they miss so."""
        shape = self.table.mean.shape
        certain = np.zeros(shape)
        certain.flat[truth] = 1.0
        cells = np.concatenate([self._missed_cells(np.array([truth]), missed) for missed in missing])
        return self.at(certain)._squares(self._rows(cells))


def interactions(names: Sequence[str]) -> Iterator[Names]:
    """Every non-empty set of attributes, small ones first."""
    return itertools.chain.from_iterable(itertools.combinations(names, size) for size in range(1, len(names) + 1))


def information(parts: Sequence[Part], names: Names) -> dict[Names, float]:
    """For each interaction of `names` one over the mean variance of one report's contributions, for a uniform truth."""
    scatters = [_scatter(group) for group in parts]
    sizes = {name: size for group in parts for name, size in zip(group.attributes, group.estimator.shape, strict=True)}
    named = {}
    for interaction in interactions(names):
        # Groups are disguised independently, so the trace of their product is the product of their traces.
        trace = math.prod(
            float(scatter[tuple(int(name in interaction) for name in group.attributes)])
            for group, scatter in zip(parts, scatters, strict=True)
        )
        named[interaction] = math.prod(sizes[name] - 1 for name in interaction) / trace
    return named


def _scatter(group: Part) -> Array:
    """For each set of a part's attributes the summed square of one report's contributions to its interaction.

    There is an axis of length 2 per attribute, 1 standing for "in the set".
    """
    squares = np.empty((2,) * len(group.attributes))
    for members in np.ndindex(squares.shape):
        margin = [name for name, inside in zip(group.attributes, members, strict=True) if inside]
        squares[members] = group.channel.summed_squares([group.covered.index(name) for name in margin])
    for axis, size in enumerate(group.estimator.shape):
        view = np.moveaxis(squares, axis, 0)
        view[1] -= view[0] / size
    return squares


@dataclass(frozen=True, eq=False)
class AskedTable:
    """A questionnaire, how many answered it, and its own estimate of any of its attributes."""

    questionnaire: Questionnaire
    reports: int
    table: Callable[[Names], Contributions]


def pooled_contributions(
    asked: Sequence[AskedTable], names: Sequence[str], shape: tuple[int, ...]
) -> tuple[PooledContributions, ...]:
    """What each questionnaire that tells of some of the attributes adds to their table."""
    wanted = tuple(names)
    if len(wanted) > MOST_POOLED:
        raise InvalidInput(f"At most {MOST_POOLED} attributes can be pooled at once, not {len(wanted)}. Ask for fewer.")
    estimable = [_estimable(asked_table.questionnaire, wanted) for asked_table in asked]
    contributions = []
    for asked_table, mine, weights in zip(asked, estimable, _shares(asked, estimable, wanted), strict=True):
        if weights:
            table = _checked_size(asked_table.table(mine))
            others = math.prod(size for name, size in zip(wanted, shape, strict=True) if name not in mine)
            contributions.append(PooledContributions.of(table, weights, others))
    return tuple(contributions)


def _estimable(questionnaire: Questionnaire, wanted: Names) -> Names:
    """The wanted attributes that a questionnaire asks through channels which tell of them."""
    asked = [name for name in wanted if name in questionnaire.attributes]
    telling = [group for group in parts_for(questionnaire, asked) if group.estimator.is_invertible()]
    return tuple(name for name in asked if any(name in group.attributes for group in telling))


def _shares(asked: Sequence[AskedTable], estimable: Sequence[Names], wanted: Names) -> list[dict[Names, float]]:
    """Each questionnaire's weight for each interaction it tells of; over all of them they sum to one."""
    information_by_arm: list[dict[Names, float]] = []
    for asked_table, mine in zip(asked, estimable, strict=True):
        amounts = information(parts_for(asked_table.questionnaire, mine), mine)
        information_by_arm.append({names: asked_table.reports * amount for names, amount in amounts.items()})
    shares: list[dict[Names, float]] = [{} for _ in asked]
    for interaction in interactions(wanted):
        total = sum(amounts.get(interaction, 0.0) for amounts in information_by_arm)
        if not total:
            _refuse(asked, interaction, wanted)
        for share, amounts in zip(shares, information_by_arm, strict=True):
            if interaction in amounts:
                share[interaction] = amounts[interaction] / total
    return shares


def _refuse(asked: Sequence[AskedTable], interaction: Names, wanted: Names) -> None:
    for asked_table in asked:
        there = asked_table.questionnaire.attributes
        if set(interaction) <= set(there):  # asked, so it is the channel that does not tell: it says why
            _ = asked_table.table(tuple(name for name in wanted if name in there)).mean
    raise NotEstimable(never_together(interaction))


def never_together(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"No reports ask for {names[0]!r}, so nothing can be estimated of it."
    return (
        f"{', '.join(map(repr, names))} are never asked together, so their joint distribution cannot be estimated. "
        "Ask for them one by one, or deal a questionnaire that holds them all."
    )


def _checked_size(table: Contributions) -> Contributions:
    cells = table.mean.size
    most = POOLED_CELLS if table.shows_one else COVARIANCE_CELLS
    if cells > most:
        raise InvalidInput(
            f"A table of {cells:,} cells is too large to be pooled; at most {most:,} are possible"
            f"{'' if table.shows_one else ' where reports show sets or bits'}. Ask for fewer attributes at once, or for "
            "single combinations of answers."
        )
    return table
