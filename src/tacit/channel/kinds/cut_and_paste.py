"""Cut-and-paste: up to K answers of the record are kept, and any other item enters with chance rho.

In the terms of `tacit.channel.one_hot` b = rho and c_r = (1 - rho)**r E[C(w, r)] / C(M, r).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array, Channel, Codes
from tacit.channel.chances import checked_chance, numerator, numerator_below, ratio
from tacit.channel.codes import checked_axes
from tacit.channel.dense import condition, singular_extremes
from tacit.channel.one_hot import OneHotLaw, one_hot
from tacit.channel.recipe import Kind, Parameters, Recipe, Shape
from tacit.errors import InvalidInput
from tacit.randomness import ONE, Randomness, coins, uniform_below


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
    def coin(self) -> int:
        return numerator(self.rho)

    @property
    def background(self) -> float:
        return self.coin / ONE

    @cached_property
    def keep_chances(self) -> Array:
        """Chance that w items of the record are kept for sure; draws larger than the record keep all of it."""
        law = np.zeros(self.whole + 1)
        for draw in range(self.K + 1):
            law[min(draw, self.whole)] += 1 / (self.K + 1)
        return law

    def contrast(self, items: int) -> float:
        pairs = sum(chance * math.comb(w, items) for w, chance in enumerate(self.keep_chances))
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
        foreign = Fraction(self.coin, ONE) ** looked
        return ratio(self._entry_chance(looked), self._entry_chance(0) * foreign)

    def _entry_chance(self, shown: int) -> Fraction:
        """Chance that these `shown` of the record's items enter, and that none of its others was kept for sure."""
        rho, looked = Fraction(self.coin, ONE), len(self.shape)
        total = Fraction(0)
        for draw in range(self.K + 1):
            w = min(draw, self.whole)
            for sure in range(min(w, shown) + 1):  # how many of the shown ones were kept for sure
                ways = math.comb(shown, sure) * math.comb(self.whole - looked, w - sure)
                total += rho ** (shown - sure) * ways / math.comb(self.whole, w)
        return total / (self.K + 1)

    def own_items(self, shown: int) -> float:
        """Chance that exactly these `shown` of the record's items (among those looked at) are in the report."""
        return float(self._entry_chance(shown)) * (1 - self.background) ** (len(self.shape) - shown)

    def answer_amplification(self, axis: int) -> float:
        # Of two records that differ in one answer, one shares an item more with a report that shows just that one.
        chances = [self._entry_chance(n_shown) for n_shown in range(len(self.shape) + 1)]
        rho = Fraction(self.coin, ONE)
        if rho == 1:
            return 1.0
        return max(ratio(max(more, fewer * rho), min(more, fewer * rho)) for fewer, more in itertools.pairwise(chances))

    def program(self) -> dict[str, Any]:
        if self.whole != len(self.shape):
            raise InvalidInput(
                "Cut-and-paste disguises the attributes of a group together, so some of them have no program of their "
                "own. Ask the channel of the whole group for its program."
            )
        return {
            "some": self.K + 1,
            "kept": {"bits": [ONE, self.coin]},
            "others": {"bits": [self.coin, self.coin]},
        }

    def chances(self, columns: Sequence[Codes]) -> Array:
        n_bits, looked = sum(self.shape), len(self.shape)
        shared = np.zeros((len(columns[0]), 1), dtype=np.intp)
        n_shown = np.zeros((len(columns[0]), 1), dtype=np.intp)
        for bits in columns:
            shared = (shared[:, :, None] + bits[:, None, :]).reshape(len(bits), -1)
            n_shown += bits.sum(axis=1, keepdims=True)
        own_chances = np.array([self.own_items(count) for count in range(looked + 1)])
        foreign = n_shown - shared
        rho = self.background
        return np.asarray(own_chances[shared] * rho**foreign * (1 - rho) ** (n_bits - looked - foreign))

    def itemset_condition(self, length: int) -> float:
        if self.contrast(length) == 0:
            return math.inf
        return condition(singular_extremes(self.itemset_law(length)))

    def itemset_law(self, length: int) -> Array:
        """``[shown, held]``: chance that a report shows so many of an itemset's items if the record holds so many."""
        law = np.zeros((length + 1, length + 1))
        rho = self.background
        for held in range(length + 1):
            for w, chance in enumerate(self.keep_chances):
                for sure in range(min(held, w) + 1):
                    ways = math.comb(held, sure) * math.comb(self.whole - held, w - sure) / math.comb(self.whole, w)
                    free = length - sure
                    for entered in range(free + 1):
                        others = math.comb(free, entered) * rho**entered * (1 - rho) ** (free - entered)
                        law[sure + entered, held] += chance * ways * others
        return law

    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        rows = len(truths[0])
        n_kept = np.minimum(uniform_below(randomness, self.K + 1, rows), self.whole)
        # Which attributes are kept: the first w of a random order. A marginal is one part of a whole record.
        order = random_orders(rows, self.whole, randomness)
        columns = []
        for position, (truth, size) in enumerate(zip(truths, self.shape, strict=True)):
            entered = coins(randomness, self.coin, rows * size).reshape(-1, size)
            sure = order[:, position] < n_kept
            columns.append(entered | (one_hot(truth, size) & sure[:, None]))
        return tuple(columns)

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


def cut_and_paste(K: int, rho: float) -> Recipe:
    """Keep up to `K` answers of the record; any other item enters with chance `rho`.

    Parameters
    ----------
    K : int
        The most answers of the record that are kept.
    rho : float
        Chance that any other item enters.

    Returns
    -------
    Recipe
        What `Scheme.of` takes; ``build(shape)`` makes the channel.

    Raises
    ------
    InvalidInput
        When it is built with a parameter that cannot be kept.

    Examples
    --------
    >>> from tacit import channels
    >>> channels.cut_and_paste(2, 0.5).build((3, 3)).amplification
    7.0
    """
    return Recipe("cut-and-paste", {"K": K, "rho": rho})


def make_cut_and_paste(shape: Shape, parameters: Parameters) -> Channel:
    rho = checked_chance("rho, the chance that an item enters,", parameters["rho"])
    return CutAndPasteChannel(shape, parameters["K"], rho, len(shape))


def cut_and_paste_chance(gamma: float, K: int, attributes: int) -> float:
    """The least rho with which cut-and-paste on so many attributes keeps within the amplification gamma.

    >>> round(cut_and_paste_chance(19, 3, 6), 4)
    0.4514
    """
    longest = min(K, attributes)
    if gamma < K + 1:
        raise InvalidInput(
            f"Cut-and-paste with K = {K} has an amplification of at least {K + 1}, so {gamma:g} cannot be kept. "
            f"Allow at least {K + 1}, or choose a smaller K."
        )
    low, high = 0.0, 1.0
    for _ in range(60):  # bisection to the last bit: the amplification falls as rho rises
        rho = (low + high) / 2
        reached = sum(rho**-w for w in range(longest)) + (K + 1 - longest) * rho**-longest
        low, high = (rho, high) if reached > gamma else (low, rho)
    return high


def _cut_and_paste_for(shape: Shape, gamma: float, K: int | None = None) -> Parameters | None:
    """The least chance of foreign items, rounded up, so that the demand is met exactly.

    Without a `K`, that of the largest one that is useful: no report tells of more answers than K together. The
    publication uses rho = .494 for K = 3 and gamma = 19; the bound allows .4514, which tells more.
    """
    n_kept = min(len(shape), math.ceil(gamma) - 2) if K is None else K
    if n_kept < 1:
        return None
    least = cut_and_paste_chance(gamma, n_kept, len(shape))
    rho = -numerator_below(Fraction(-least)) / ONE
    return {"K": n_kept, "rho": rho} if rho < 1 else None  # with rho = 1 every item is always reported


def _useful_numbers_kept(shape: Shape, gamma: float) -> list[Parameters]:
    return [{"K": K} for K in range(1, min(math.ceil(gamma) - 2, 2 * len(shape)) + 1)]


KINDS = {
    "cut-and-paste": Kind(
        make_cut_and_paste, cut_and_paste, ("K", "rho"), _cut_and_paste_for, choices=_useful_numbers_kept
    ),
}
