"""Channels on one bit per answer: MASK and cut-and-paste.

Every report is a set of bits, several or none of an attribute included. Write b for the chance that an item foreign to
the record enters. Then for r items that all belong to the record the mean of ``prod (bit - b)`` is a constant c_r, and
zero as soon as one of them does not. MASK(p) has b = 1 - p and c_r = (2 p - 1)**r; cut-and-paste(K, rho) has b = rho and
c_r = (1 - rho)**r E[C(w, r)] / C(M, r) (FRAPP's lumped matrices, at record level).
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

from tacit.channel.base import Array, Channel, Codes, Figures, Masks, ProductTerm
from tacit.channel.chances import checked_chance, numerator, numerator_below, ratio
from tacit.channel.codes import checked_axes, checked_matrix_size
from tacit.channel.dense import condition, singular_extremes
from tacit.channel.recipe import Kind, Parameters, Recipe, Shape
from tacit.errors import InvalidInput, NotEstimable
from tacit.randomness import ONE, Randomness, coins, uniform_below
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
        own, falling = self._own, np.sort(p)[::-1]
        shown, hidden = self.background, 1 - self.background
        steps = np.arange(len(p) - 1)  # 0 for the second answer
        first, others = falling[0], falling[1:]
        first_shown = np.maximum(own * hidden * shown**steps * first, (1 - own) * shown ** (steps + 1) * others)
        first_hidden = np.maximum((1 - own) * shown * hidden**steps * first, own * hidden ** (steps + 1) * others)
        all_alike = (own * shown ** len(steps) + (1 - own) * hidden ** len(steps)) * first
        return float(first_shown.sum() + first_hidden.sum() + all_alike)

    def _worst_posterior(self, largest: float) -> float:
        """One answer shown and all others hidden, or the reverse; bits that are all alike leave the prior."""
        own, background = self._own, self.background
        for_shown, for_hidden = own * (1 - background), (1 - own) * background
        worst = largest
        for speaks, against in ((for_shown, for_hidden), (for_hidden, for_shown)):
            if speaks > 0:
                worst = max(worst, speaks * largest / (speaks * largest + against * (1 - largest)))
        return worst

    def _pse(self, p: Array) -> float | None:
        own, background = self._own, self.background
        if background in (0, 1):  # a bit that differs from all others tells the truth
            telling = own if background == 0 else 1 - own
            return float(1 - telling - (1 - telling) * (p @ p))
        shown, hidden = own / background, (1 - own) / (1 - background)
        if np.ptp(p) == 0:
            return _even_pse(shown, hidden, background, len(p))
        if len(p) > LISTED_BITS:
            return None
        chance, seen, squares = np.ones(1), np.zeros(1), np.zeros(1)
        for share in p:  # one more bit doubles the patterns
            chance = np.concatenate([chance * background, chance * (1 - background)])
            seen = np.concatenate([seen + shown * share, seen + hidden * share])
            squares = np.concatenate([squares + (shown * share) ** 2, squares + (hidden * share) ** 2])
        possible = seen > 0
        return float(1 - (chance * squares)[possible] @ (1 / seen[possible]))

    def singular_extremes(self) -> tuple[float, float] | None:
        """For one attribute from the two entries of ``A^T A``."""
        if len(self.shape) > 1:
            return super().singular_extremes()
        own, background, n = self._own, self.background, self.size
        others = (background**2 + (1 - background) ** 2) ** (n - 2)
        same = (own**2 + (1 - own) ** 2) * (background**2 + (1 - background) ** 2)
        different = (own * background + (1 - own) * (1 - background)) ** 2
        return math.sqrt((same + (n - 1) * different) * others), math.sqrt(max(same - different, 0.0) * others)


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
    def coin(self) -> int:
        return numerator(self.p)

    @property
    def chance(self) -> float:
        return self.coin / ONE

    @property
    def background(self) -> float:
        return 1 - self.chance

    def contrast(self, items: int) -> float:
        return (2 * self.chance - 1) ** items

    @property
    def amplification(self) -> float:
        # Two truths differ in at most two bits of each attribute.
        kept = Fraction(self.coin, ONE)
        low, high = sorted((kept, 1 - kept))
        differing = 2 * len(self.shape)
        return ratio(high**differing, low**differing)

    def answer_amplification(self, axis: int) -> float:
        return self.marginal([axis]).amplification

    def program(self) -> dict[str, Any]:
        return {"bits": [self.coin, ONE - self.coin]}

    def chance_terms(self, columns: Sequence[Codes]) -> tuple[ProductTerm, ...]:
        factors = []
        for bits, size in zip(columns, self.shape, strict=True):
            # All zeros agree but that of the truth itself, if it is one; and its bit, if it is shown.
            agree = size - bits.sum(axis=1, keepdims=True) - 1 + 2 * bits.astype(np.int64)
            factors.append(self.chance**agree * (1 - self.chance) ** (size - agree))
        return (ProductTerm(np.ones(len(columns[0])), tuple(factors)),)

    def chances(self, columns: Sequence[Codes]) -> Array:
        (term,) = self.chance_terms(columns)
        return term.written_out(self.shape)

    def independent_figures(self, priors: Sequence[Array]) -> Figures:
        """Attributes that are independent in truth and in disguise: being right multiplies."""
        parts = [self.independent_answer_figures(axis, priors) for axis in range(len(self.shape))]
        right = _product([None if part.map_privacy is None else 1 - part.map_privacy for part in parts])
        guessed = _product([None if part.pse is None else 1 - part.pse for part in parts])
        return Figures(
            None if right is None else 1 - right,
            _product([part.worst_posterior for part in parts]),
            None if guessed is None else 1 - guessed,
        )

    def independent_answer_figures(self, axis: int, priors: Sequence[Array]) -> Figures:
        # The other columns say nothing of an answer that does not depend on theirs.
        return self.marginal([axis]).figures(priors[axis])

    def singular_extremes(self) -> tuple[float, float] | None:
        if len(self.shape) == 1:
            return super().singular_extremes()
        parts = [self.marginal([axis]).singular_extremes() for axis in range(len(self.shape))]
        known = [part for part in parts if part is not None]
        return math.prod(part[0] for part in known), math.prod(part[1] for part in known)

    def itemset_condition(self, length: int) -> float:
        return abs(2 * self.chance - 1) ** -float(length) if self.is_invertible() else math.inf

    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        columns = []
        for truth, size in zip(truths, self.shape, strict=True):
            reversed_bits = ~coins(randomness, self.coin, len(truth) * size).reshape(-1, size)
            columns.append(one_hot(truth, size) ^ reversed_bits)
        return tuple(columns)

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
    def coin(self) -> int:
        return numerator(self.rho)

    @property
    def background(self) -> float:
        return self.coin / ONE

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
        foreign = Fraction(self.coin, ONE) ** looked
        return ratio(self._entered(looked), self._entered(0) * foreign)

    def _entered(self, shown: int) -> Fraction:
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
        return float(self._entered(shown)) * (1 - self.background) ** (len(self.shape) - shown)

    def answer_amplification(self, axis: int) -> float:
        # Of two records that differ in one answer, one shares an item more with a report that shows just that one.
        own, rho = [self._entered(shown) for shown in range(len(self.shape) + 1)], Fraction(self.coin, ONE)
        if rho == 1:
            return 1.0
        return max(ratio(max(more, fewer * rho), min(more, fewer * rho)) for fewer, more in itertools.pairwise(own))

    def program(self) -> dict[str, Any]:
        if self.whole != len(self.shape):
            raise InvalidInput(
                "Some attributes under cut-and-paste are never disguised alone: its program is that of the whole group."
            )
        return {
            "some": self.K + 1,
            "kept": {"bits": [ONE, self.coin]},
            "others": {"bits": [self.coin, self.coin]},
        }

    def chances(self, columns: Sequence[Codes]) -> Array:
        n_bits, looked = sum(self.shape), len(self.shape)
        shared = np.zeros((len(columns[0]), 1), dtype=np.intp)
        shown = np.zeros((len(columns[0]), 1), dtype=np.intp)
        for bits in columns:
            shared = (shared[:, :, None] + bits[:, None, :]).reshape(len(bits), -1)
            shown += bits.sum(axis=1, keepdims=True)
        own = np.array([self.own_items(count) for count in range(looked + 1)])
        foreign = shown - shared
        rho = self.background
        return np.asarray(own[shared] * rho**foreign * (1 - rho) ** (n_bits - looked - foreign))

    def itemset_condition(self, length: int) -> float:
        if self.contrast(length) == 0:
            return math.inf
        return condition(singular_extremes(self.lumped(length)))

    def lumped(self, length: int) -> Array:
        """``[shown, held]``: chance that a report shows so many of an itemset's items if the record holds so many."""
        law = np.zeros((length + 1, length + 1))
        rho = self.background
        for held in range(length + 1):
            for w, chance in enumerate(self.kept):
                for sure in range(min(held, w) + 1):
                    ways = math.comb(held, sure) * math.comb(self.whole - held, w - sure) / math.comb(self.whole, w)
                    free = length - sure
                    for entered in range(free + 1):
                        others = math.comb(free, entered) * rho**entered * (1 - rho) ** (free - entered)
                        law[sure + entered, held] += chance * ways * others
        return law

    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        rows = len(truths[0])
        kept = np.minimum(uniform_below(randomness, self.K + 1, rows), self.whole)
        # Which attributes are kept: the first w of a random order. A marginal is one part of a whole record.
        order = random_orders(rows, self.whole, randomness)
        columns = []
        for position, (truth, size) in enumerate(zip(truths, self.shape, strict=True)):
            entered = coins(randomness, self.coin, rows * size).reshape(-1, size)
            sure = order[:, position] < kept
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


def _product(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.prod(known) if len(known) == len(values) else None


def mask(p: float) -> Recipe:
    """One bit per answer, each kept with chance `p` (MASK)."""
    return Recipe("mask", {"p": p})


def make_mask(shape: Shape, parameters: Parameters) -> Channel:
    return MaskChannel(shape, checked_chance("p, the chance to keep a bit,", parameters["p"]))


def mask_chance(gamma: float, attributes: int) -> float:
    """The chance to keep a bit that gives MASK on so many attributes the amplification gamma.

    >>> round(mask_chance(19, 6), 4), round(mask_chance(19, 7), 4)
    (0.561, 0.5524)
    """
    odds = gamma ** (1 / (2 * attributes))
    return odds / (1 + odds)


def _mask_for(shape: Shape, gamma: float) -> Parameters:
    """The largest chance to keep a bit; rounded down, so that the demand is met exactly."""
    return {"p": numerator_below(Fraction(mask_chance(gamma, len(shape)))) / ONE}


def cut_and_paste(K: int, rho: float) -> Recipe:
    """Keep up to `K` answers of the record; any other item enters with chance `rho`."""
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
    kept = min(len(shape), math.ceil(gamma) - 2) if K is None else K
    if kept < 1:
        return None
    least = cut_and_paste_chance(gamma, kept, len(shape))
    rho = -numerator_below(Fraction(-least)) / ONE
    return {"K": kept, "rho": rho} if rho < 1 else None  # with rho = 1 every item is always reported


def _useful_numbers_kept(shape: Shape, gamma: float) -> list[Parameters]:
    return [{"K": K} for K in range(1, min(math.ceil(gamma) - 2, 2 * len(shape)) + 1)]


KINDS = {
    "mask": Kind(make_mask, mask, ("p",), _mask_for),
    "cut-and-paste": Kind(
        make_cut_and_paste, cut_and_paste, ("K", "rho"), _cut_and_paste_for, choices=_useful_numbers_kept
    ),
}
