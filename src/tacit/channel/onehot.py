"""Channels on one bit per answer: MASK and cut-and-paste.

Every report is a set of bits, several or none of an attribute included. Write b for the chance that an item foreign to
the record enters. Then for r items that all belong to the record the mean of ``prod (bit - b)`` is a constant c_r, and
zero as soon as one of them does not. MASK(p) has b = 1 - p and c_r = (2 p - 1)**r; cut-and-paste(K, rho) has b = rho and
c_r = (1 - rho)**r E[C(w, r)] / C(M, r) (FRAPP's lumped matrices, at record level).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.chances import numerator, ratio
from tacit.channel.protocol import Array, Codes, checked_axes, checked_matrix_size
from tacit.errors import InvalidInput, NotEstimable
from tacit.randomness import ONE, Randomness, coins, uniform_below
from tacit.schema import Attribute

Masks = Sequence[NDArray[np.bool_]]


class OneHotLaw:
    """The linear algebra shared by MASK, cut-and-paste and their marginals."""

    shape: tuple[int, ...]
    has_marginals = True
    has_choice = False

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

    def reports(self) -> tuple[Codes, ...]:
        n_bits = sum(self.shape)
        checked_matrix_size(1 << n_bits, math.prod(self.shape))
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
            z = _shifted(z, axis, self.background)
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
        size = math.prod(self.shape)
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


def _slots(array: Array, axis: int) -> tuple[Array, Array]:
    """The members along an axis, and the last slot, which counts every report."""
    members, everyone = np.split(array, [array.shape[axis] - 1], axis=axis)
    return members, everyone


def _shifted(z: Array, axis: int, amount: float) -> Array:
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


def one_hot(codes: Codes, size: int) -> NDArray[np.bool_]:
    return codes[:, None] == np.arange(size)


@dataclass(frozen=True, eq=False)
class MaskChannel(OneHotLaw):
    """Every bit of the one-hot record kept with chance p, reversed otherwise."""

    shape: tuple[int, ...]
    p: float  # as declared; `chance` is what is sampled

    kind = "mask"

    @property
    def parameters(self) -> dict[str, Any]:
        return {"p": self.p}

    @property
    def chance(self) -> float:
        return numerator(self.p) / ONE

    @property
    def background(self) -> float:
        return 1 - self.chance

    def contrast(self, items: int) -> float:
        return (2 * self.chance - 1) ** items

    @property
    def amplification(self) -> float:
        # Two truths differ in at most two bits of each attribute.
        kept = Fraction(numerator(self.p), ONE)
        low, high = sorted((kept, 1 - kept))
        differing = 2 * len(self.shape)
        return ratio(high**differing, low**differing)

    @property
    def matrix(self) -> Array:
        return self.likelihoods(self.reports())

    def likelihoods(self, reports: Sequence[Codes]) -> Array:
        """The chance of each of some reports, given each truth: ``(reports, truths)``."""
        law = np.ones((1, 1))
        for bits, size in zip(reports, self.shape, strict=True):
            agree = (bits[:, None, :] == np.eye(size, dtype=np.bool_)).sum(axis=2)
            part = self.chance**agree * (1 - self.chance) ** (size - agree)
            law = (law[:, :, None] * part[:, None, :]).reshape(len(part), -1)
        return law

    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        columns = []
        for truth, size in zip(truths, self.shape, strict=True):
            reversed_bits = ~coins(randomness, numerator(self.p), len(truth) * size).reshape(-1, size)
            columns.append(one_hot(truth, size) ^ reversed_bits)
        return tuple(columns)

    def margin(self, axes: Sequence[int]) -> MaskChannel:
        return self.marginal(axes)

    def marginal(self, axes: Sequence[int]) -> MaskChannel:
        return MaskChannel(tuple(self.shape[axis] for axis in checked_axes(axes, self.shape)), self.p)


@dataclass(frozen=True, eq=False)
class CutAndPasteChannel(OneHotLaw):
    """Keep up to K items of the record, and let every other item enter with chance rho.

    `whole` is the number of attributes of the record; a marginal looks at fewer of them.
    """

    shape: tuple[int, ...]
    K: int
    rho: float
    whole: int

    kind = "cut-and-paste"

    def __post_init__(self) -> None:
        if not (isinstance(self.K, int) and self.K >= 1):
            raise InvalidInput(
                f"K, the most items that are kept, must be a whole number of at least 1, not {self.K!r}."
            )

    @property
    def parameters(self) -> dict[str, Any]:
        return {"K": self.K, "rho": self.rho}

    @property
    def background(self) -> float:
        return numerator(self.rho) / ONE

    @cached_property
    def kept(self) -> Array:
        """Chance that w items of the record are kept for sure; what lies beyond the record falls on all of it."""
        law = np.zeros(self.whole + 1)
        for draw in range(self.K + 1):
            law[min(draw, self.whole)] += 1 / (self.K + 1)
        return law

    def contrast(self, items: int) -> float:
        pairs = sum(chance * math.comb(w, items) for w, chance in enumerate(self.kept))
        return float((1 - self.background) ** items * pairs / math.comb(self.whole, items))

    def _why_not(self) -> str:
        if self.background == 1:
            return "With rho = 1 every item is always reported, so nothing can be estimated. Choose a smaller rho."
        return (
            f"Cut-and-paste with K = {self.K} keeps at most {self.K} answers of a record, so the reports hold no "
            f"information about {len(self.shape)} attributes together. Ask for at most {self.K}, or choose a larger K."
        )

    @property
    def amplification(self) -> float:
        # A report with one item of every attribute is likeliest for the record of just these items, and least likely
        # for a record that shares none of them, to which all are foreign.
        if self.background == 1:
            return 1.0
        looked = len(self.shape)
        foreign = Fraction(numerator(self.rho), ONE) ** looked
        return ratio(self._entered(looked), self._entered(0) * foreign)

    def _entered(self, shown: int) -> Fraction:
        """Chance that these `shown` of the record's items enter, and that none of its others was kept for sure."""
        rho, looked = Fraction(numerator(self.rho), ONE), len(self.shape)
        total = Fraction(0)
        for draw in range(self.K + 1):
            w = min(draw, self.whole)
            for sure in range(min(w, shown) + 1):  # how many of the shown ones were kept for sure
                ways = math.comb(shown, sure) * math.comb(self.whole - looked, w - sure)
                total += rho ** (shown - sure) * ways / math.comb(self.whole, w)
        return total / (self.K + 1)

    def own_items(self, shown: int) -> float:
        """Chance that exactly these `shown` of the record's items (among those looked at) are in the report."""
        return float(self._entered(shown)) * (1 - self.background) ** (len(self.shape) - shown)

    @property
    def matrix(self) -> Array:
        return self.likelihoods(self.reports())

    def likelihoods(self, reports: Sequence[Codes]) -> Array:
        """The chance of each of some reports, given each truth: ``(reports, truths)``."""
        n_bits, looked = sum(self.shape), len(self.shape)
        shared = np.zeros((len(reports[0]), 1), dtype=np.intp)
        shown = np.zeros(len(reports[0]), dtype=np.intp)
        for bits in reports:
            shared = (shared[:, :, None] + bits[:, None, :]).reshape(len(bits), -1)
            shown += bits.sum(axis=1)
        own = np.array([self.own_items(count) for count in range(looked + 1)])
        foreign = shown[:, None] - shared
        rho = self.background
        return own[shared] * rho**foreign * (1 - rho) ** (n_bits - looked - foreign)

    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        rows = len(truths[0])
        kept = np.minimum(uniform_below(randomness, self.K + 1, rows), self.whole)
        # Which attributes are kept: the first w of a random order. A marginal is one part of a whole record.
        order = random_orders(rows, self.whole, randomness)
        columns = []
        for position, (truth, size) in enumerate(zip(truths, self.shape, strict=True)):
            entered = coins(randomness, numerator(self.rho), rows * size).reshape(-1, size)
            sure = order[:, position] < kept
            columns.append(entered | (one_hot(truth, size) & sure[:, None]))
        return tuple(columns)

    def margin(self, axes: Sequence[int]) -> CutAndPasteChannel:
        return self.marginal(axes)

    def marginal(self, axes: Sequence[int]) -> CutAndPasteChannel:
        shape = tuple(self.shape[axis] for axis in checked_axes(axes, self.shape))
        return CutAndPasteChannel(shape, self.K, self.rho, self.whole)


def random_orders(rows: int, items: int, randomness: Randomness) -> NDArray[np.int64]:
    """For each row a uniformly random permutation of ``range(items)``, by Fisher-Yates."""
    order = np.tile(np.arange(items), (rows, 1))
    every = np.arange(rows)
    for last in range(items - 1, 0, -1):
        other = uniform_below(randomness, last + 1, rows)
        order[every, other], order[:, last] = order[:, last].copy(), order[every, other].copy()
    return order
