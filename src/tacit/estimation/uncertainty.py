"""Errors of means of what reports contribute: by the channels' law at a proper distribution, or as counted.

The observed spread says nothing where a cell was never reported, and too little where few reports came in. The channels'
law at a distribution near the estimate is never without spread where there is a disguise, so tables that are written out have
that. Sums over a domain too large to write out have the counted one. Both divide by the number of reports, so that they
are one number where the estimate is a proper distribution.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.channel.codes import outer_product
from tacit.estimation.group_parts import Part, attributes_of, solve_covered
from tacit.estimation.intervals import ROUNDING, ShareLaw
from tacit.estimation.simplex import floor_shares, project_on_simplex

if TYPE_CHECKING:
    from tacit.estimation.result import Sampling

BLOCK_ENTRIES = 1 << 22  # of truths that are gone through at a time: 32 MB
LEAST_SHARE = 1e-3  # cells nearer to 0 or 1 say nothing of how precise a table is
RANGED_ENTRIES = 1 << 20  # of chances that are written out to see how far the truths of a group differ
PROBED_CELLS = 64  # from here on it pays to ask first whether the channel treats all cells alike


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean and mean square of the numbers that `n` reports contribute to each estimate."""

    mean: Any
    square: Any
    n: float

    def variance(self, sampling: Sampling = "population") -> Any:
        """Variance of the mean: of people sampled from a population, or of the disguise alone for those who answered."""
        without_disguise = self.mean if sampling == "respondents" else self.mean**2
        return np.maximum(self.square - without_disguise, 0.0) / self.n


def counted_covariance(products: Array, means: Array, n: float, sampling: Sampling = "population") -> Array:
    """Covariance of means over `n` reports as they came, from mean products ``[..., one, other]`` of what each contributes."""
    if sampling == "respondents":
        return (products - np.eye(means.shape[-1]) * means[..., None]) / n
    return (products - means[..., :, None] * means[..., None, :]) / n


def open_answers(shares: Array, variances: Array) -> float:
    """How many people asked openly would tell as much of a table as estimates with these variances do."""
    p = np.clip(shares, LEAST_SHARE, 1 - LEAST_SHARE)
    return float(np.median(p * (1 - p) / np.maximum(variances, 1e-300)))


def covered_truth(parts: Sequence[Part], frequencies: Array, asked: Array) -> Array:
    """A distribution of all that the parts' channels cover, whose asked table (axes in the parts' order) is `asked`.

    What the table leaves open is taken from the groups' own estimates.
    """
    if all(group.covered == group.attributes for group in parts):
        return asked
    whole = floor_shares(project_on_simplex(solve_covered(parts, frequencies)))
    covered = [name for group in parts for name in group.covered]
    asked_names = set(attributes_of(parts))
    others = tuple(axis for axis, name in enumerate(covered) if name not in asked_names)
    there = whole.sum(axis=others, keepdims=True)
    # Within a part the asked attributes keep the group's order, so only axes of length one are missing.
    return whole / there * asked.reshape(there.shape)


@dataclass(frozen=True)
class PartSquares:
    """Mean square of one group's contribution to its cells: of those of whom a cell is true, and the range of all others."""

    inside: Array
    least: Array
    most: Array
    is_clear: bool  # whether the group's answers are reported as they are


@dataclass(frozen=True)
class Contributed:
    """What a report adds to each cell on average: of those it is true of, and of all others (a range).

    Of those with the public answers of the cell, who can be mistaken for its people: those who add most, and the usual ones.
    """

    inside: Array
    least: Array
    most: Array
    mistaken: Array
    usual: Array

    def reshape(self, shape: tuple[int, ...]) -> Contributed:
        each = (self.inside, self.least, self.most, self.mistaken, self.usual)
        return Contributed(*(of.reshape(shape) for of in each))

    def line(self, share: Array, counted: Array, top: Array, public: Array) -> tuple[Array, Array]:
        """The average if the cell is true of nobody, and by how much it grows with the share, up to the share `top`.

        People come into the cell from among those who give its public answers, a share `public` of all. If that is beyond the
        top, the usual ones come, and the line goes through what was counted. If it is not, noise may have put all of them
        into the cell, and the estimate does not tell who was mistaken for it: those who add most. Then
        more people than were seen may give the public answers: at the top the line is within what the channels allow.
        """
        others = np.where(top < (1 - ROUNDING) * public, self.usual, self.mistaken)
        nobody = np.clip(counted - (self.inside - others) * share, self.least, self.most)
        least, most = (top * self.inside + (1 - top) * of for of in (self.least, self.most))
        there = np.clip(nobody + (self.inside - others) * top, least, most)
        return nobody, (there - nobody) / top


def law_near(estimate: Array, law_up_to: Callable[[Array], ShareLaw]) -> ShareLaw:
    """The law that holds up to the highest share that the estimate leaves plausible.

    Which shares those are is judged by the law that holds up to 1, whose variances are the largest.
    """
    return law_up_to(law_up_to(np.ones(np.shape(estimate))).highest_plausible(estimate))


@dataclass(frozen=True)
class Expected:
    """Shares of cells, mean squares of contributions to them, and shares of all who give their public answers."""

    share: Array
    square: Array
    public: Array


def share_law(
    parts: Sequence[PartSquares], mean: Array, square: Array, n: float, near: Expected, *, respondents: bool
) -> ShareLaw:
    """How the variance of each cell depends on its share, judged by the mean square of what `n` reports contributed.

    `near` is what a distribution near the estimate makes one expect.
    """
    of = _cell_squares(parts)
    least, _ = _mistaken(parts)
    others = near.public - near.share
    # Whoever does not give the public answers contributes nothing.
    usual = np.divide(near.square - near.share * of.inside, others, out=np.array(of.mistaken), where=others > 0)
    squares = replace(of, usual=np.clip(usual, np.minimum(least, of.mistaken), of.mistaken))

    def up_to(top: Array) -> ShareLaw:
        nobody, growth = squares.line(mean, square, top, near.public)
        return ShareLaw.of(nobody + growth, nobody, n, respondents=respondents)

    return law_near(mean, up_to)


def hinges_on_public(parts: Sequence[PartSquares]) -> bool:
    """Whether the law depends on how many people give the public answers of a cell.

    It does where those who give them and are not of the cell contribute differently, as they may miss one group or another.
    """
    least, most = _mistaken(parts)
    return bool((least < (1 - ROUNDING) * most).any())


def _mistaken(parts: Sequence[PartSquares]) -> tuple[Array, Array]:
    """The least and the most that those contribute who give the public answers of a cell and are not of it."""
    least = _extreme_when_missed(parts, [None if group.is_clear else group.least for group in parts], np.minimum)
    return least, _extreme_when_missed(parts, [None if group.is_clear else group.most for group in parts], np.maximum)


def possible_square(parts: Sequence[PartSquares], share: Array, square: Array) -> Array:
    """The counted mean square of a contribution, within what the channels allow at this share.

    Few reports, or reports that are all alike, do not make it vanish.
    """
    of = _cell_squares(parts)
    return np.clip(square, share * of.inside + (1 - share) * of.least, share * of.inside + (1 - share) * of.most)


def _cell_squares(parts: Sequence[PartSquares]) -> Contributed:
    """Squares of contributions to the cells of a table, from those of its groups."""
    least = _extreme_when_missed(parts, [group.least for group in parts], np.minimum)
    most = _extreme_when_missed(parts, [group.most for group in parts], np.maximum)
    _, mistaken = _mistaken(parts)
    return Contributed(outer_product([group.inside for group in parts]), least, most, mistaken, mistaken)


def _extreme_when_missed(
    parts: Sequence[PartSquares], missing: Sequence[Array | None], best: Callable[[Array, Array], Array]
) -> Array:
    """The least or most of all products of one number a group, met or missed, in which some group misses.

    None stands for a group that nobody misses.
    """
    met: Array = np.ones(())
    missed: Array | None = None
    for group, extreme in zip(parts, missing, strict=True):
        products = [] if extreme is None else [np.multiply.outer(met, extreme)]
        if missed is not None:
            products += [np.multiply.outer(missed, other) for other in (group.inside, extreme) if other is not None]
        met = np.multiply.outer(met, group.inside)
        missed = functools.reduce(best, products) if products else None
    return np.zeros(met.shape) if missed is None else missed


def part_squares(parts: Sequence[Part], truth: Array) -> list[PartSquares]:
    """Of each part, in its own cells.

    `truth` is over all that the channels cover; it matters only where a channel has no marginals.
    """
    each, start = [], 0
    for group in parts:
        axes = range(start, start + len(group.covered))
        others = tuple(axis for axis in range(truth.ndim) if axis not in axes)
        each.append(_part_squares(group, truth.sum(axis=others)))
        start += len(group.covered)
    return each


def _part_squares(group: Part, truth: Array) -> PartSquares:
    inside = _own_squares(group, truth)
    cells, size = math.prod(group.estimator.shape), math.prod(group.channel.shape)
    if cells * max(size, math.prod(group.channel.tally_shape)) <= RANGED_ENTRIES:
        given = _mean_squares(group, np.eye(size).reshape(*group.channel.shape, size)).reshape(cells, size)
        possible = (
            group.channel.adjoint(np.ones(group.channel.tally_shape)).reshape(-1) > 0
        )  # not what routing rules out
        others = (_cell_codes(group) != np.arange(cells)[:, None]) & possible
        least = np.min(given, axis=1, where=others, initial=np.inf)
        most = np.max(given, axis=1, where=others, initial=0.0)
        least = np.minimum(least, most)
    else:
        asked = [group.covered.index(name) for name in group.attributes]
        shares = truth.sum(axis=tuple(axis for axis in range(truth.ndim) if axis not in asked))
        least = most = np.maximum(_mean_squares(group, truth) - shares * inside, 0.0) / (1 - shares)
    return PartSquares(inside, least.reshape(inside.shape), most.reshape(inside.shape), group.channel.is_clear)


def _cell_codes(group: Part) -> NDArray[np.intp]:
    """The cell of each truth that the part's channel covers."""
    asked = [group.covered.index(name) for name in group.attributes]
    axes = np.indices(group.channel.shape)
    return np.ravel_multi_index([axes[axis] for axis in asked], group.estimator.shape).reshape(-1)


def _own_squares(group: Part, truth: Array) -> Array:
    cells = math.prod(group.estimator.shape)
    if cells >= PROBED_CELLS and (alike := _alike(group)) is not None:
        return alike
    # Truths as columns, one for each cell: how the group's other attributes go with it.
    codes = _cell_codes(group)
    shares = np.bincount(codes, truth.reshape(-1), cells)[codes]
    # A cell that routing rules out has no share, and no report contributes to it.
    within = np.divide(truth.reshape(-1), shares, out=np.zeros(truth.size), where=shares > 0)
    diagonal, width = np.empty(cells), max(1, BLOCK_ENTRIES // truth.size)
    for first in range(0, cells, width):
        block = np.arange(first, min(first + width, cells))
        given = np.where(codes[:, None] == block, within[:, None], 0.0)
        squares = _mean_squares(group, given.reshape(*truth.shape, -1)).reshape(cells, -1)
        diagonal[block] = squares[block, np.arange(len(block))]
    return diagonal.reshape(group.estimator.shape)


def _mean_squares(group: Part, truth: Array) -> Array:
    return group.estimator.solve_squares(group.channel.apply(truth), group.guess)


def _alike(group: Part) -> Array | None:
    """`_own_squares` without going through the cells, where it depends on a cell's own share only; None elsewhere.

    Two distributions give its constant and its slope; a third, drawn at random like them, would not agree by chance.
    """
    draws = np.random.default_rng(0).dirichlet(np.ones(math.prod(group.channel.shape)), size=3)
    asked = [group.covered.index(name) for name in group.attributes]
    others = tuple(axis for axis in range(len(group.covered)) if axis not in asked)
    shares = [draw.reshape(group.channel.shape).sum(axis=others) for draw in draws]
    squares = [_mean_squares(group, draw.reshape(group.channel.shape)) for draw in draws]
    if group.channel.treats_answers_alike and (alike := _one_line(squares, shares)) is not None:
        return np.full(squares[0].shape, alike)
    slope = (squares[1] - squares[0]) / (shares[1] - shares[0])
    constant = squares[0] - slope * shares[0]
    agrees = np.allclose(squares[2], constant + slope * shares[2], rtol=1e-7, atol=0)
    return constant + slope if agrees else None


def _one_line(squares: Sequence[Array], shares: Sequence[Array]) -> float | None:
    """The mean square at a share of one, if one line over the shares holds for all cells; None where it does not.

    Cell by cell the slope would lose its digits: among a million cells some differ in hardly any share.
    """
    within = [(cells - cells.mean(), share - share.mean()) for cells, share in zip(squares, shares, strict=True)]
    slope = sum(float((y * x).sum()) for y, x in within) / sum(float((x * x).sum()) for _, x in within)
    means = [cells.mean() - slope * share.mean() for cells, share in zip(squares, shares, strict=True)]
    constant = float(np.mean(means))
    lines = [constant + slope * share for share in shares]
    return constant + slope if np.allclose(squares, lines, rtol=1e-7, atol=0) else None
