"""Report a set of answers of which the true one is more likely to be a member than the others.

The optimum under a pure amplification bound for uniform priors (Ye and Barg 2018).
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

from tacit.channel.base import Array, Channel, Codes, Figures, SetLaw, Summed
from tacit.channel.chances import checked_gamma, numerator_below, ratio
from tacit.channel.codes import checked_axes, checked_matrix_size, flat, joint_codes, joint_labels, joint_name
from tacit.channel.dense import condition, prediction_entropy
from tacit.channel.holding import HoldingLaw
from tacit.channel.recipe import Kind, Parameters, Recipe, Shape
from tacit.channel.symmetry import best_members
from tacit.errors import InvalidInput, NotEstimable
from tacit.randomness import ONE, Randomness, coins, uniform_below
from tacit.schema import Attribute
from tacit.table.coded import code_type

# Membership is marked in a table of rows by answers; this many cells stay in the cache.
MARKED_CELLS = 1 << 22
# From so many members on the compiled kernel earns its import.
COMPILED_MEMBERS = 1 << 22
WORDS_AT_ONCE = 1 << 16
# Listing sets for an average over them is left to few of them.
LISTED_ENTRIES = 1 << 20
LARGEST_COUNT = 10**250


@dataclass(frozen=True, eq=False)
class SubsetChannel(HoldingLaw):
    """One of the C(n, k) subsets of the joint domain; those that hold the truth weigh gamma, the others 1."""

    shape: tuple[int, ...]
    members: int
    gamma: float  # as demanded; the chances are rounded so that it is never exceeded

    kind = "subset"
    shows = "set"
    treats_answers_alike = True

    def __post_init__(self) -> None:
        if not (isinstance(self.members, int) and 1 <= self.members < self.size):
            raise InvalidInput(
                f"The size of a subset must be a whole number from 1 to {self.size - 1} (the group has {self.size} joint "
                f"answers), not {self.members!r}."
            )
        if self.coin * self.size < self.members * ONE:
            raise InvalidInput(
                f"gamma = {self.gamma!r} is too close to 1: with chances in steps of 2**-32 the truth would be less likely "
                "to be in the set than another answer. Choose a larger gamma."
            )

    @property
    def parameters(self) -> dict[str, Any]:
        return {"size": self.members, "gamma": self.gamma}

    @property
    def coin(self) -> int:
        weight = Fraction(self.gamma) * self.members
        return numerator_below(weight / (weight + self.size - self.members))

    @property
    def holds(self) -> float:
        """Chance that the set holds the truth."""
        return self.coin / ONE

    @cached_property
    def _law(self) -> SetLaw:
        return SetLaw(self.size, self.members, self.holds)

    def set_law(self) -> SetLaw:
        return self._law

    @property
    def background(self) -> float:
        """Chance that the set holds a given other answer."""
        return self._law.background

    @property
    def n_reports(self) -> int:
        return math.comb(self.size, self.members)

    @property
    def report_members(self) -> int:
        return self.members

    def program(self) -> dict[str, Any]:
        return {
            "toss": self.coin,
            "heads": {"subset": [self.members, 1]},
            "tails": {"subset": [self.members, 0]},
        }

    @property
    def amplification(self) -> float:
        holds = Fraction(self.coin, ONE)
        return ratio(holds * (self.size - self.members), (1 - holds) * self.members)

    def reports(self) -> tuple[Codes, ...]:
        checked_matrix_size(self.n_reports, self.size)
        sets = list(itertools.combinations(range(self.size), self.members))
        return (np.array(sets, dtype=code_type(self.size)),)

    @property
    def matrix(self) -> Array:
        return self.chances(self.reports())

    def holding(self, columns: Sequence[Codes]) -> NDArray[np.bool_]:
        (sets,) = columns
        holding = np.zeros((len(sets), self.size), dtype=np.bool_)
        np.put_along_axis(holding, sets.astype(np.intp), True, axis=1)
        return holding

    def chances(self, columns: Sequence[Codes]) -> Array:
        holding = self.holding(columns)
        inside, outside = self._weights
        # If there are more sets than a float can count, the chances are given up to a common factor.
        sets = math.comb(self.size - 1, self.members - 1)
        scale = 1.0 if sets > LARGEST_COUNT else 1 / sets
        return np.where(holding, inside * scale, outside * scale)

    def report_attributes(self, attributes: Sequence[Attribute]) -> tuple[Attribute, ...]:
        return (Attribute(joint_name(attributes), joint_labels(attributes), shows="set"),)

    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        truth = joint_codes(truths, self.shape)
        out = np.empty((len(truth), self.members), dtype=code_type(self.size))
        # Among fewer than half of the answers a member that was drawn before is rare enough to draw another.
        if out.size >= COMPILED_MEMBERS and 2 * self.members <= self.size:
            self._sample_compiled(truth, randomness, out)
            return (out,)
        rows = max(1, MARKED_CELLS // self.size)
        for start in range(0, len(truth), rows):
            out[start : start + rows] = self._sample_rows(truth[start : start + rows], randomness)
        return (out,)

    def _sample_compiled(self, truth: NDArray[np.int64], randomness: Randomness, out: Codes) -> None:
        from tacit.channel.kinds import _subset_kernels as kernels

        state = np.array([0, kernels.NOT_BEGUN])
        marked = np.zeros(-(-self.size // 64), dtype=np.uint64)
        while state[kernels.ROW] < len(truth):
            left = (len(truth) - int(state[kernels.ROW])) * (self.members + 1)
            words = randomness.words(min(WORDS_AT_ONCE, left))
            kernels.draw_sets(truth, words, np.uint64(self.coin), np.uint64(self.size), state, marked, out)

    def _sample_rows(self, truth: NDArray[np.int64], randomness: Randomness) -> NDArray[np.int64]:
        """Sets in ascending order, so that the order of the members says nothing."""
        every = np.arange(len(truth))
        holds = coins(randomness, self.coin, len(truth))
        chosen = np.zeros((len(truth), self.size), dtype=np.bool_)
        chosen[every, truth] = holds
        # Floyd's sampling without replacement among the n - 1 others; who holds the truth needs one member fewer.
        for step in range(self.members):
            needed = np.flatnonzero(~holds) if step == self.members - 1 else every
            last = self.size - 1 - (self.members - np.where(holds[needed], 1, 0)) + step
            self._add_other(chosen, truth, needed, last, randomness)
        return np.nonzero(chosen)[1].reshape(len(truth), self.members)

    def _add_other(
        self,
        chosen: NDArray[np.bool_],
        truth: NDArray[np.int64],
        rows: NDArray[np.int64],
        last: NDArray[np.int64],
        randomness: Randomness,
    ) -> None:
        """Mark one more of the other answers ``0 .. last``, or `last` itself if the drawn one is marked already."""
        for bound in np.unique(last):
            at = rows[last == bound]
            drawn = uniform_below(randomness, int(bound) + 1, len(at))
            drawn += drawn >= truth[at]
            final = bound + (bound >= truth[at])
            chosen[at, np.where(chosen[at, drawn], final, drawn)] = True

    def is_invertible(self) -> bool:
        return self.coin * self.size != self.members * ONE

    def _check_invertible(self) -> None:
        if not self.is_invertible():
            raise NotEstimable(
                "With gamma = 1 the set says nothing of the truth, so nothing can be estimated. Choose a larger gamma."
            )

    def solve_pairs(self, tally: Array, guess: Array | None = None) -> Array:
        return SummedSubset(self, tuple(range(len(self.shape)))).solve_pairs(tally)

    def pair_inclusion(self, truth: Array, size: int) -> Array:
        """Expected pairs of members, one from each of two different cells of `size` answers, if `truth` is true.

        A tally per member does not count pairs, but their chance is linear in the distribution of the truth.
        """
        with_truth, without = self._law.with_truth, self._law.without
        everyone = truth.sum(axis=0)
        return without * size**2 * everyone + (with_truth - without) * size * (truth[:, None] + truth[None, :])

    def pair_inclusion_within(self, truth: Array, size: int) -> Array:
        """Expected ordered pairs of different members that both fall into one cell of `size` answers."""
        with_truth, without = self._law.with_truth, self._law.without
        everyone = truth.sum(axis=0)
        return (size - 1) * (without * size * everyone + (with_truth - without) * 2 * truth)

    def margin(self, axes: Sequence[int]) -> SubsetChannel | SummedSubset:
        positions = checked_axes(axes, self.shape)
        return self if len(positions) == len(self.shape) else SummedSubset(self, positions)

    def answer_amplification(self, axis: int) -> float:
        return self.amplification

    # In units in which the C(n-1, k-1) sets that hold a truth have the chance `inside` together, every set has the weight
    # `inside` for the truths it holds and `outside` for the others.

    @property
    def _weights(self) -> tuple[float, float]:
        return self.holds, (1 - self.holds) * self.members / (self.size - self.members)

    def figures(self, prior: Array) -> Figures:
        p = prior.reshape(-1)
        return Figures(1 - self._guessed_right(p), self._worst_posterior(p), self._pse(p))

    def _guessed_right(self, p: Array) -> float:
        """Sum over the sets of the likelier of the best guess within and the best guess without.

        With the answers sorted, the likeliest one is either in the set, and then the best one outside is the first that is
        missing; or it is not, and then the best one inside is the first member. So the sets fall into n classes.
        """
        n, k = self.size, self.members
        inside, outside = self._weights
        falling = np.sort(p)[::-1]
        # Shares of the sets whose first missing answer is the j-th, j = 2 .. k+1, and whose first member is the i-th.
        missing = np.cumprod(np.r_[(n - k) / (n - 1), (k - np.arange(2.0, k + 1) + 1) / (n - np.arange(2.0, k + 1))])
        member = np.cumprod(
            np.r_[(n - k) / (n - 1), (n - np.arange(2.0, n - k + 1) - k + 1) / (n - np.arange(2.0, n - k + 1))]
        )
        with_first = missing @ np.maximum(inside * falling[0], outside * falling[1 : k + 1])
        without = member @ np.maximum(inside * falling[1 : n - k + 1], outside * falling[0])
        return float(with_first + without)

    def _worst_posterior(self, p: Array) -> float:
        """The likeliest answer in a set beside the answers that add least; a set that lacks it only lowers its chance."""
        inside, outside = self._weights
        rising = np.sort(p)
        held = rising[-1] + rising[: self.members - 1].sum()
        return float(inside * rising[-1] / (outside + (inside - outside) * held))

    def _pse(self, p: Array) -> float | None:
        n, k = self.size, self.members
        if np.ptp(p) == 0:
            inside, outside = self._weights
            seen = (inside * k + outside * (n - k)) / n
            squares = (inside**2 * k + outside**2 * (n - k)) / n**2
            return 1 - n / k * squares / seen
        if self.n_reports * n > LISTED_ENTRIES:
            return None
        return prediction_entropy(self.matrix, p)

    def _squared_extremes(self) -> tuple[float, float]:
        """The extreme eigenvalues of ``A^T A``, times C(n-1, k-1): from its two different entries."""
        n, k = self.size, self.members
        inside, outside = self._weights
        same = inside**2 + outside**2 * (n - k) / k
        different = (inside**2 * (k - 1) + 2 * inside * outside * (n - k) + outside**2 * (n - k) * (n - k - 1) / k) / (
            n - 1
        )
        return same + (n - 1) * different, max(same - different, 0.0)

    def singular_extremes(self) -> tuple[float, float]:
        sets = math.comb(self.size - 1, self.members - 1)
        largest, smallest = (math.sqrt(Fraction(square) / sets) for square in self._squared_extremes())
        return largest, smallest

    def condition_number(self) -> float:
        # Of any size: the number of sets, which no float may hold, cancels.
        return math.sqrt(condition(self._squared_extremes()))


@dataclass(frozen=True, eq=False)
class SummedSubset(Summed):
    """The estimate under subset selection, summed: what counts is how many members of the set fall into a cell."""

    channel: SubsetChannel

    @property
    def _per_cell(self) -> int:
        """How many joint answers of the group each cell sums."""
        return self.channel.size // math.prod(self.shape)

    def solve_pairs(self, tally: Array, guess: Array | None = None) -> Array:
        q, size = flat(tally, 1), self._per_cell
        everyone, members = q[-1:], self._sum_over_others(q[:-1])
        truth = self._sum_over_others(flat(self.channel.solve(tally), len(self.channel.shape)))
        pairs = self.channel.pair_inclusion(truth, size)
        cells = np.arange(len(members))
        # Within a cell the ordered pairs of different members, and each member with itself.
        pairs[cells, cells] = self.channel.pair_inclusion_within(truth, size) + members
        b = self.channel.background * size
        pairs = pairs - b * (members[:, None] + members[None, :]) + b * b * everyone
        return (pairs / self.channel.contrast**2).reshape(len(members), len(members), *tally.shape[1:])

    def solve_squares(self, tally: Array, guess: Array | None = None) -> Array:
        q, size = flat(tally, 1), self._per_cell
        members = self._sum_over_others(q[:-1])
        truth = self._sum_over_others(flat(self.channel.solve(tally), len(self.channel.shape)))
        b = self.channel.background * size
        squares = self.channel.pair_inclusion_within(truth, size) + members * (1 - 2 * b) + b * b * q[-1:]
        return (squares / self.channel.contrast**2).reshape(self.shape + tally.shape[1:])


def subset(size: int, gamma: float) -> Recipe:
    """A set of `size` answers; the sets that hold the truth are `gamma` times as likely as the others.

    Parameters
    ----------
    size : int
        How many answers a report shows.
    gamma : float
        The largest amplification: how much likelier one truth may make a report than another.

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
    >>> round(channels.subset(2, 3).build((5,)).amplification, 6)
    3.0
    """
    return Recipe("subset", {"size": size, "gamma": gamma})


def make_subset(shape: Shape, parameters: Parameters) -> Channel:
    return SubsetChannel(shape, parameters["size"], checked_gamma(parameters["gamma"]))


def _for_amplification(shape: Shape, gamma: float) -> Parameters:
    return {"size": best_members(gamma, math.prod(shape)), "gamma": gamma}


KINDS = {"subset": Kind(make_subset, subset, ("size", "gamma"), _for_amplification)}
