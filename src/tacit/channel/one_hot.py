"""Channels on one bit per answer: the linear algebra that MASK and cut-and-paste share.

Every report is a set of bits, several or none of an attribute included. Write b for the chance that an item foreign to
the record enters. Then for r items that all belong to the record the mean of ``prod (bit - b)`` is a constant c_r, and
zero as soon as one of them does not (FRAPP's lumped matrices, at record level).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array, Channel, Codes, Figures, Masks, ProductTerm
from tacit.channel.codes import checked_matrix_size
from tacit.errors import NotEstimable
from tacit.schema import Attribute

# For uneven answers the average over all bit patterns has no closed form; 2**20 of them are a few milliseconds.
LISTED_BITS = 20


class OneHotLaw(Channel):
    """The linear algebra shared by MASK, cut-and-paste and their marginals."""

    shows = "bits"
    has_marginals = True
    treats_answers_alike = True
    sums_to_one = False
    counts_by_shown = True

    @property
    def background(self) -> float:
        """Chance that an item enters the report of a record it does not belong to."""
        raise NotImplementedError

    def contrast(self, items: int) -> float:
        """Mean of ``prod (bit - background)`` over that many items of the record."""
        raise NotImplementedError

    @property
    def tally_shape(self) -> tuple[int, ...]:
        return tuple(size + 1 for size in self.shape)

    def report_attributes(self, attributes: Sequence[Attribute]) -> tuple[Attribute, ...]:
        return tuple(Attribute(attribute.name, attribute.answers, shows="bits") for attribute in attributes)

    @property
    def n_reports(self) -> int:
        return 1 << sum(self.shape)

    @property
    def matrix(self) -> Array:
        return self.chances(self.reports())

    def reports(self) -> tuple[Codes, ...]:
        n_bits = sum(self.shape)
        checked_matrix_size(self.n_reports, self.size)
        patterns = (np.arange(1 << n_bits)[:, None] >> np.arange(n_bits)) & 1
        return tuple(np.split(patterns.astype(np.bool_), np.cumsum(self.shape)[:-1], axis=1))

    def is_invertible(self) -> bool:
        return self.contrast(len(self.shape)) != 0

    def apply(self, truth: Array) -> Array:
        z = truth
        for axis in range(len(self.shape)):
            z = np.concatenate([z, z.sum(axis=axis, keepdims=True)], axis=axis)
        z = z * self._contrasts(z.ndim)
        for axis in range(len(self.shape)):
            z = _shift_axis(z, axis, self.background)
        return z

    def adjoint(self, weights: Array) -> Array:
        y = weights
        for axis in range(len(self.shape)):
            y = _shifted_adjoint(y, axis, self.background)
        y = y * self._contrasts(y.ndim)
        for axis in range(len(self.shape)):
            members, everyone = _slots(y, axis)
            y = members + everyone
        return y

    def _contrasts(self, ndim: int) -> Array:
        """The constant c_r of every slot, r counting the axes on which it names an item."""
        named = [np.append(np.ones(size, dtype=np.intp), 0) for size in self.shape]
        counts = sum(np.ix_(*named), np.zeros((), dtype=np.intp))
        constants = np.array([self.contrast(items) for items in range(len(self.shape) + 1)])
        return constants[counts].reshape(self.tally_shape + (1,) * (ndim - len(self.shape)))

    def _checked_contrast(self) -> float:
        constant = self.contrast(len(self.shape))
        if constant == 0:
            raise NotEstimable(self._why_not())
        return constant

    def _check_invertible(self) -> None:
        self._checked_contrast()

    def _why_not(self) -> str:
        return "The bits are fair coins (p = 1/2), so nothing can be estimated. Choose another p."

    def solve(self, tally: Array, guess: Array | None = None) -> Array:
        return _over_members(tally, len(self.shape), 1, -self.background) / self._checked_contrast()

    def solve_squares(self, tally: Array, guess: Array | None = None) -> Array:
        b = self.background  # (bit - b)**2 = bit (1 - 2 b) + b**2, as a bit is its own square
        return _over_members(tally, len(self.shape), 1 - 2 * b, b * b) / self._checked_contrast() ** 2

    def solve_pairs(self, tally: Array, guess: Array | None = None) -> Array:
        # Two different cells differ in some attribute, and one of its two bits is then a foreign one whose factor
        # has mean zero whatever the others do: the contributions of different cells are uncorrelated.
        squares = self.solve_squares(tally)
        behind = squares.shape[len(self.shape) :]
        size = self.size
        pairs = np.zeros((size, size, *behind))
        cells = np.arange(size)
        pairs[cells, cells] = squares.reshape(size, *behind)
        return pairs

    def solve_adjoint(self, weights: Array, guess: Array | None = None) -> Array:
        y = weights / self._checked_contrast()
        for axis in range(len(self.shape)):
            y = np.concatenate([y, -self.background * y.sum(axis=axis, keepdims=True)], axis=axis)
        return y

    def conjunction(self, masks: Masks) -> list[tuple[tuple[int, ...], Array]]:
        tables = [np.append(mask.astype(np.float64), -self.background * mask.sum()) for mask in masks]
        tables[0] = tables[0] / self._checked_contrast()
        return [((column,), table) for column, table in enumerate(tables)]

    def left_inverse(self, guess: Array | None = None) -> Array:
        every = np.eye(self.size).reshape(*self.shape, self.size)
        return self.solve_adjoint(every).reshape(-1, self.size).T

    def inverse_terms(self, columns: Sequence[Codes]) -> tuple[ProductTerm, ...]:
        scale = np.full(len(columns[0]), 1 / self._checked_contrast())
        return (ProductTerm(scale, tuple(bits - self.background for bits in columns)),)

    def inverse(self, columns: Sequence[Codes], guess: Array | None = None) -> Array:
        (term,) = self.inverse_terms(columns)
        return term.written_out(self.shape)

    def shown_contributions(self, codes: Codes, shown: NDArray[np.bool_]) -> Array:
        each = (shown - self.background).prod(axis=1) / self._checked_contrast()
        return np.broadcast_to(each, (len(codes), len(each)))

    def summed_squares(self, axes: Sequence[int]) -> float:
        # Contributions to different cells are uncorrelated, so summing cells sums their squares.
        return super().summed_squares(range(len(self.shape)))

    # Given the truth its own bit is shown with chance `own`, every other with chance `background`, all independently of
    # each other where there is one attribute.

    @property
    def _own(self) -> float:
        return self.background + self.contrast(1)

    def figures(self, prior: Array) -> Figures:
        if len(self.shape) > 1:
            return super().figures(prior)
        p = prior.reshape(-1)
        return Figures(
            map_privacy=1 - self._guessed_right(p),
            worst_posterior=self._worst_posterior(float(p.max())),
            pse=self._pse(p),
        )

    def _guessed_right(self, p: Array) -> float:
        """Sum over the reports of the best guess among the answers shown and the best among those hidden.

        With the answers sorted, the likeliest one is shown, and the best hidden one is the first hidden; or the other way
        round. So the reports fall into 2 n classes; the bits behind the one that decides may be anything.
        """
        true_bit, falling = self._own, np.sort(p)[::-1]
        other_shown, other_hidden = self.background, 1 - self.background
        steps = np.arange(len(p) - 1)  # 0 for the second answer
        first, others = falling[0], falling[1:]
        first_shown = np.maximum(
            true_bit * other_hidden * other_shown**steps * first, (1 - true_bit) * other_shown ** (steps + 1) * others
        )
        first_hidden = np.maximum(
            (1 - true_bit) * other_shown * other_hidden**steps * first, true_bit * other_hidden ** (steps + 1) * others
        )
        all_alike = (true_bit * other_shown ** len(steps) + (1 - true_bit) * other_hidden ** len(steps)) * first
        return float(first_shown.sum() + first_hidden.sum() + all_alike)

    def _worst_posterior(self, largest: float) -> float:
        """One answer shown and all others hidden, or the reverse; bits that are all alike leave the prior."""
        true_bit, background = self._own, self.background
        for_shown, for_hidden = true_bit * (1 - background), (1 - true_bit) * background
        worst = largest
        for speaks, against in ((for_shown, for_hidden), (for_hidden, for_shown)):
            if speaks > 0:
                worst = max(worst, speaks * largest / (speaks * largest + against * (1 - largest)))
        return worst

    def _pse(self, p: Array) -> float | None:
        true_bit, background = self._own, self.background
        if background in (0, 1):  # a bit that differs from all others tells the truth
            telling = true_bit if background == 0 else 1 - true_bit
            return float(1 - telling - (1 - telling) * (p @ p))
        ratio_shown, ratio_hidden = true_bit / background, (1 - true_bit) / (1 - background)
        if np.ptp(p) == 0:
            return _even_pse(ratio_shown, ratio_hidden, background, len(p))
        if len(p) > LISTED_BITS:
            return None
        chance, seen, squares = np.ones(1), np.zeros(1), np.zeros(1)
        for share in p:  # one more bit doubles the patterns
            chance = np.concatenate([chance * background, chance * (1 - background)])
            seen = np.concatenate([seen + ratio_shown * share, seen + ratio_hidden * share])
            squares = np.concatenate([squares + (ratio_shown * share) ** 2, squares + (ratio_hidden * share) ** 2])
        possible = seen > 0
        return float(1 - (chance * squares)[possible] @ (1 / seen[possible]))

    def singular_extremes(self) -> tuple[float, float] | None:
        """For one attribute from the two entries of ``A^T A``."""
        if len(self.shape) > 1:
            return super().singular_extremes()
        true_bit, background, n = self._own, self.background, self.size
        others = (background**2 + (1 - background) ** 2) ** (n - 2)
        same = (true_bit**2 + (1 - true_bit) ** 2) * (background**2 + (1 - background) ** 2)
        different = (true_bit * background + (1 - true_bit) * (1 - background)) ** 2
        return math.sqrt((same + (n - 1) * different) * others), math.sqrt(max(same - different, 0.0) * others)


def _slots(array: Array, axis: int) -> tuple[Array, Array]:
    """The members along an axis, and the last slot, which counts every report."""
    members, everyone = np.split(array, [array.shape[axis] - 1], axis=axis)
    return members, everyone


def _shift_axis(z: Array, axis: int, amount: float) -> Array:
    members, everyone = _slots(z, axis)
    return np.concatenate([members + amount * everyone, everyone], axis=axis)


def _shifted_adjoint(y: Array, axis: int, amount: float) -> Array:
    members, everyone = _slots(y, axis)
    return np.concatenate([members, everyone + amount * members.sum(axis=axis, keepdims=True)], axis=axis)


def _over_members(tally: Array, axes: int, of_member: float, of_everyone: float) -> Array:
    for axis in range(axes):
        members, everyone = _slots(tally, axis)
        tally = of_member * members + of_everyone * everyone
    return tally


def _even_pse(shown: float, hidden: float, background: float, n: int) -> float:
    """Where all answers are equally likely, all that counts of a report is how many bits it shows."""
    bits = np.arange(n + 1)
    ways = math.lgamma(n + 1) - np.array([math.lgamma(k + 1) + math.lgamma(n - k + 1) for k in bits])
    chance = np.exp(ways + bits * math.log(background) + (n - bits) * math.log1p(-background))
    seen = (bits * shown + (n - bits) * hidden) / n
    squares = (bits * shown**2 + (n - bits) * hidden**2) / n**2
    possible = seen > 0
    return float(1 - (chance * squares)[possible] @ (1 / seen[possible]))


def one_hot(codes: Codes, size: int) -> NDArray[np.bool_]:
    return codes[:, None] == np.arange(size)
