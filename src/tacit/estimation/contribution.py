"""What one source adds to a pooled table, and what people of each truth add to its cells."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.estimation.information import Names
from tacit.estimation.intervals import TINY
from tacit.estimation.inversion import Inverted
from tacit.estimation.uncertainty import Contributed, Moments

BLOCK_ENTRIES = 1 << 22  # of a weighing matrix at a time: 32 MB


@dataclass(frozen=True)
class CellMoments:
    """Mean squares and means of what one source's reports add to each cell.

    `spread` is their least variance for anybody not of it, `public` the share of people who give its public answers.
    """

    squares: Contributed
    means: Contributed
    spread: Array
    public: Array

    def reshaped(self, shape: tuple[int, ...]) -> CellMoments:
        spread, public = self.spread.reshape(shape), self.public.reshape(shape)
        return CellMoments(self.squares.reshaped(shape), self.means.reshaped(shape), spread, public)


@dataclass(frozen=True, eq=False)
class Truths:
    """Mean squares and means of what people of some truths contribute to some cells, ``[cell, truth]``."""

    squares: Array
    means: Array
    own: NDArray[np.bool_]  # the truth that is the cell
    others: NDArray[np.bool_]
    mistaken: NDArray[np.bool_]  # others whose public answers are those of the cell
    shares: Array  # of people with these truths

    def cell_moments(self, *, asks_all: bool) -> CellMoments:
        others, mistaken = (self.others, self.mistaken) if asks_all else (self.others | self.own, self.own)
        # A table of one cell has no others.
        others, mistaken = (them | (self.own & ~them.any(axis=1, keepdims=True)) for them in (others, mistaken))
        own = np.argmax(self.own, axis=1)
        nearest = np.argmax(np.where(mistaken, self.squares, -1.0), axis=1)
        people = np.where(mistaken, self.shares, 0.0)
        squares, means = (_ranges(each, own, others, nearest, people) for each in (self.squares, self.means))
        spread = np.min(self.squares - self.means**2, axis=1, where=others, initial=np.inf)
        return CellMoments(squares, means, spread, np.where(mistaken | self.own, self.shares, 0.0).sum(axis=1))


def _ranges(
    of: Array, own: NDArray[np.intp], others: NDArray[np.bool_], nearest: NDArray[np.intp], people: Array
) -> Contributed:
    rows = np.arange(len(of))
    least = np.min(of, axis=1, where=others, initial=np.inf)
    most = np.max(of, axis=1, where=others, initial=-np.inf)
    mistaken, total = of[rows, nearest], people.sum(axis=1)
    usual = np.divide((of * people).sum(axis=1), total, out=mistaken.copy(), where=total > 0)
    return Contributed(of[rows, own], least, most, mistaken, usual)


def _joined(blocks: Sequence[CellMoments], shape: tuple[int, ...]) -> CellMoments:
    """One table of consecutive cells."""
    squares, means = _whole([cells.squares for cells in blocks]), _whole([cells.means for cells in blocks])
    spread, public = np.concatenate([[cells.spread, cells.public] for cells in blocks], axis=1)
    return CellMoments(squares, means, spread, public).reshaped(shape)


def _whole(blocks: Sequence[Contributed]) -> Contributed:
    parts = zip(*((of.inside, of.least, of.most, of.mistaken, of.usual) for of in blocks), strict=True)
    return Contributed(*(np.concatenate(part) for part in parts))


@dataclass(frozen=True, eq=False)
class Contribution:
    """What one source adds to a pooled table: its weighted interactions.

    They are a linear map of its own table whose entry for two cells depends only on the attributes in which the cells
    agree; `by_agreement` has an axis of length 2 per attribute, 1 standing for "agree".
    """

    table: Inverted
    by_agreement: Array

    @classmethod
    def of(cls, table: Inverted, weights: dict[Names, float], others: int) -> Contribution:
        """`others` is the number of joint answers of the wanted attributes that the source does not ask."""
        values = np.zeros((2,) * len(table.names))
        for interaction, weight in weights.items():
            values[tuple(int(name in interaction) for name in table.names)] = weight
        for axis, size in enumerate(table.probabilities.shape):
            # Outside the interaction an even spread; inside, the deviation from the mean along this axis.
            step = np.array([[1 / size, -1 / size], [1 / size, 1 - 1 / size]])
            values = np.moveaxis(np.tensordot(step, values, axes=(1, axis)), 0, axis)
        return cls(table, values / others)

    def _blocks(self) -> Iterator[Array]:
        """Consecutive rows of the map."""
        size = self.table.probabilities.size
        width = max(1, BLOCK_ENTRIES // size)
        for start in range(0, size, width):
            yield self._rows(np.arange(start, min(start + width, size)))

    def _rows(self, cells: NDArray[np.intp]) -> Array:
        """The rows of the map for some cells."""
        agreement = np.zeros((len(cells), self.table.probabilities.size), dtype=np.uint16)
        for column in self._codes:
            agreement <<= 1
            agreement |= column[cells, None] == column[None, :]
        return self.by_agreement.reshape(-1)[agreement]

    @cached_property
    def _codes(self) -> tuple[NDArray[np.intp], ...]:
        """The answer to each attribute in each cell."""
        shape = self.table.probabilities.shape
        return np.unravel_index(np.arange(math.prod(shape)), shape)

    def matrix(self) -> Array:
        """The map as a matrix, ``[cell, own cell]``."""
        return np.concatenate(list(self._blocks()))

    def _squares(self, rows: Array) -> Array:
        """Mean squares of one report's contributions to the cells of these rows of the map."""
        if self.table.shows_one:
            return self.table.combined_squares(rows)
        return np.einsum("sc,sc->s", rows @ self._products, rows)

    @cached_property
    def _products(self) -> Array:
        return self.table.mean_products()

    @cached_property
    def means(self) -> Array:
        """Mean of one report's contributions to each cell, as counted."""
        p = self.table.probabilities
        return np.concatenate([rows @ p.reshape(-1) for rows in self._blocks()]).reshape(p.shape)

    @cached_property
    def moments(self) -> Moments:
        """Means and mean squares of one report's contributions to each cell, as counted."""
        squares = np.concatenate([self._squares(rows) for rows in self._blocks()])
        return Moments(self.means, squares.reshape(self.means.shape), self.table.n_reports)

    @property
    def covariance(self) -> Array:
        """Covariance of the contributions to every two cells, as counted."""
        rows = self.matrix()
        means = self.means.reshape(-1)
        products = rows @ self._products @ rows.T
        return (products - np.multiply.outer(means, means)) / self.table.n_reports

    def cell_moments(self, *, asks_all: bool) -> CellMoments:
        """What people of each cell contribute to it, and what all others do.

        If the source does not ask everything that is wanted, others may give the very answers of the cell that it asks.
        """
        truths = self._truths() if self.table.shows_one else iter([self._truths_that_miss()])
        cells = _joined([each.cell_moments(asks_all=asks_all) for each in truths], self.table.probabilities.shape)
        if not asks_all or any(not part.channel.is_clear for part in self.table.parts):
            return cells
        # Nobody is mistaken for anybody: whoever is not of the cell is anyone else.
        p = self.table.probabilities
        square = (self.moments.square - p * cells.squares.inside) / np.maximum(1 - p, TINY)
        mean = (self.means - p * cells.means.inside) / np.maximum(1 - p, TINY)
        squares = replace(cells.squares, mistaken=square, usual=square)
        return replace(cells, squares=squares, means=replace(cells.means, mistaken=mean, usual=mean))

    def _truths(self) -> Iterator[Truths]:
        """All truths, for consecutive cells."""
        start, size = 0, self.table.probabilities.size
        clear = [column for name, column in zip(self.table.names, self._codes, strict=True) if name in self._clear]
        possible, shares = self.table.possible.reshape(-1), self.table.probabilities.reshape(-1)
        for rows in self._blocks():
            cells = np.arange(start, start + len(rows))
            own = cells[:, None] == np.arange(size)
            mistaken = functools.reduce(np.logical_and, [column[cells, None] == column for column in clear], possible)
            yield Truths(self.table.squares_given(rows), rows, own, possible & ~own, mistaken & ~own, shares)
            start += len(rows)

    @cached_property
    def _clear(self) -> set[str]:
        """The attributes that are reported as they are."""
        return {name for part in self.table.parts if part.channel.is_clear for name in part.attributes}

    def _truths_that_miss(self) -> Truths:
        """A truth that misses each set of a cell's answers: products for all truths would be too costly."""
        names, shape, size = self.table.names, self.table.probabilities.shape, self.table.probabilities.size
        many = [axis for axis, answers in enumerate(shape) if answers > 1]
        missing = [missed for count in range(len(many) + 1) for missed in itertools.combinations(many, count)]
        # First see whether the channel treats the cells alike.
        probed = {truth: self._squares_of(truth, missing) for truth in {0, size // 2, size - 1}}
        if not np.allclose(list(probed.values()), probed[0], rtol=1e-7, atol=0):
            probed = {truth: self._squares_of(truth, missing) for truth in range(size)}
        squares = np.empty((size, len(missing)))
        for pattern, missed in enumerate(missing):
            squares[self._missed(np.arange(size), missed), pattern] = [
                probed.get(u, probed[0])[pattern] for u in range(size)
            ]
        means = [self.by_agreement[tuple(int(axis not in missed) for axis in range(len(shape)))] for missed in missing]
        own = np.array([not missed for missed in missing])
        mistaken = ~own & [not any(names[axis] in self._clear for axis in missed) for missed in missing]
        shares = np.stack([self._share_missing(missed) for missed in missing], axis=1)
        every = (np.array(means), own, ~own, mistaken, shares)
        return Truths(squares, *(np.broadcast_to(each, squares.shape) for each in every))

    def _share_missing(self, missing: tuple[int, ...]) -> Array:
        """The share of people who miss each cell in these attributes only."""
        shares = self.table.probabilities
        for axis in missing:
            shares = shares.sum(axis=axis, keepdims=True) - shares
        return shares.reshape(-1)

    def _missed(self, truths: NDArray[np.intp], missing: tuple[int, ...]) -> NDArray[np.intp]:
        """Cells that truths miss in these attributes only."""
        shape = self.table.probabilities.shape
        codes = [(column[truths] + (axis in missing)) % shape[axis] for axis, column in enumerate(self._codes)]
        return np.ravel_multi_index(codes, shape)

    def _squares_of(self, truth: int, missing: Sequence[tuple[int, ...]]) -> Array:
        """Mean squares of what people of one truth contribute to the cells that they miss so."""
        shape = self.table.probabilities.shape
        certain = np.zeros(shape)
        certain.flat[truth] = 1.0
        cells = np.concatenate([self._missed(np.array([truth]), missed) for missed in missing])
        return replace(self, table=self.table.at(certain))._squares(self._rows(cells))
