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

from tacit.channel.chances import numerator_below, ratio
from tacit.channel.protocol import (
    Array,
    Codes,
    checked_axes,
    checked_matrix_size,
    flat,
    joint_codes,
    joint_labels,
    joint_name,
    outer,
)
from tacit.channel.summed import SummedSubset
from tacit.errors import InvalidInput, NotEstimable
from tacit.randomness import ONE, Randomness, coins, uniform_below
from tacit.schema import Attribute
from tacit.table.coded import code_type

# Membership is marked in a table of rows by answers; this many cells stay in the cache.
MARKED_CELLS = 1 << 22
# From so many members on the compiled kernel earns its import.
COMPILED_MEMBERS = 1 << 22
WORDS_AT_ONCE = 1 << 16


@dataclass(frozen=True, eq=False)
class SubsetChannel:
    """One of the C(n, k) subsets of the joint domain; those that hold the truth weigh gamma, the others 1."""

    shape: tuple[int, ...]
    members: int
    gamma: float  # as demanded; the chances are rounded so that it is never exceeded

    kind = "subset"
    has_marginals = False
    has_choice = False

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
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def tally_shape(self) -> tuple[int, ...]:
        return (self.size + 1,)

    @property
    def coin(self) -> int:
        weight = Fraction(self.gamma) * self.members
        return numerator_below(weight / (weight + self.size - self.members))

    @property
    def holds(self) -> float:
        """Chance that the set holds the truth."""
        return self.coin / ONE

    @property
    def background(self) -> float:
        """Chance that the set holds a given other answer."""
        return (self.members - self.holds) / (self.size - 1)

    @property
    def amplification(self) -> float:
        holds = Fraction(self.coin, ONE)
        return ratio(holds * (self.size - self.members), (1 - holds) * self.members)

    def reports(self) -> tuple[Codes, ...]:
        checked_matrix_size(math.comb(self.size, self.members), self.size)
        sets = list(itertools.combinations(range(self.size), self.members))
        return (np.array(sets, dtype=code_type(self.size)),)

    @property
    def matrix(self) -> Array:
        return self.likelihoods(self.reports())

    def likelihoods(self, reports: Sequence[Codes]) -> Array:
        """The chance of each of some reports, given each truth: ``(reports, truths)``."""
        (sets,) = reports
        holding = np.zeros((len(sets), self.size), dtype=np.bool_)
        np.put_along_axis(holding, sets.astype(np.intp), True, axis=1)
        with_truth = self.holds / math.comb(self.size - 1, self.members - 1)
        without = (1 - self.holds) / math.comb(self.size - 1, self.members)
        return np.where(holding, with_truth, without)

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
        from tacit.channel import _subset_kernels as kernels

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
        """Mark one more of the others ``0 .. last``, or `last` itself where that one is marked already."""
        for bound in np.unique(last):
            at = rows[last == bound]
            drawn = uniform_below(randomness, int(bound) + 1, len(at))
            drawn += drawn >= truth[at]
            final = bound + (bound >= truth[at])
            chosen[at, np.where(chosen[at, drawn], final, drawn)] = True

    def apply(self, truth: Array) -> Array:
        x = flat(truth, len(self.shape))
        everyone = x.sum(axis=0, keepdims=True)
        members = self.background * everyone + (self.holds - self.background) * x
        behind = truth.shape[len(self.shape) :]
        return np.concatenate([members, everyone]).reshape(self.tally_shape + behind)

    def adjoint(self, weights: Array) -> Array:
        y = flat(weights, 1)
        members, everyone = y[:-1], y[-1:]
        x = (self.holds - self.background) * members + self.background * members.sum(axis=0) + everyone
        return x.reshape(self.shape + weights.shape[1:])

    def is_invertible(self) -> bool:
        return self.coin * self.size != self.members * ONE

    @property
    def contrast(self) -> float:
        if not self.is_invertible():
            raise NotEstimable(
                "With gamma = 1 the set says nothing of the truth, so nothing can be estimated. Choose a larger gamma."
            )
        return self.holds - self.background

    def solve(self, tally: Array, guess: Array | None = None) -> Array:
        q = flat(tally, 1)
        p = (q[:-1] - self.background * q[-1:]) / self.contrast
        return p.reshape(self.shape + tally.shape[1:])

    def solve_adjoint(self, weights: Array, guess: Array | None = None) -> Array:
        w = flat(weights, len(self.shape)) / self.contrast
        y = np.concatenate([w, -self.background * w.sum(axis=0, keepdims=True)])
        return y.reshape(self.tally_shape + weights.shape[len(self.shape) :])

    def solve_squares(self, tally: Array, guess: Array | None = None) -> Array:
        q, b = flat(tally, 1), self.background
        squares = (q[:-1] * (1 - 2 * b) + b * b * q[-1:]) / self.contrast**2
        return squares.reshape(self.shape + tally.shape[1:])

    def solve_pairs(self, tally: Array, guess: Array | None = None) -> Array:
        return SummedSubset(self, tuple(range(len(self.shape)))).solve_pairs(tally)

    @cached_property
    def _pair_chances(self) -> tuple[float, float]:
        """Chance that a set holds two given answers: if one of them is true, and if neither is."""
        n, k = self.size, self.members
        with_truth = self.holds * (k - 1) / (n - 1)
        hold_both = (k - 1) * (k - 2) / ((n - 1) * (n - 2)) if n > 2 else 0.0
        fill_both = k * (k - 1) / ((n - 1) * (n - 2)) if n > 2 else 0.0
        return with_truth, self.holds * hold_both + (1 - self.holds) * fill_both

    def pair_inclusion(self, truth: Array, size: int) -> Array:
        """Expected pairs of members, one from each of two different cells of `size` answers, if `truth` is true.

        A tally per member does not count pairs, but their chance is linear in the distribution of the truth.
        """
        with_truth, without = self._pair_chances
        everyone = truth.sum(axis=0)
        return without * size**2 * everyone + (with_truth - without) * size * (truth[:, None] + truth[None, :])

    def pair_inclusion_within(self, truth: Array, size: int) -> Array:
        """Expected ordered pairs of different members that both fall into one cell of `size` answers."""
        with_truth, without = self._pair_chances
        everyone = truth.sum(axis=0)
        return (size - 1) * (without * size * everyone + (with_truth - without) * 2 * truth)

    def conjunction(self, masks: Sequence[NDArray[np.bool_]]) -> list[tuple[tuple[int, ...], Array]]:
        return [((0,), self.solve_adjoint(outer(masks)))]

    def margin(self, axes: Sequence[int]) -> SubsetChannel | SummedSubset:
        kept = checked_axes(axes, self.shape)
        return self if len(kept) == len(self.shape) else SummedSubset(self, kept)

    def marginal(self, axes: Sequence[int]) -> SubsetChannel:
        if len(checked_axes(axes, self.shape)) < len(self.shape):
            raise InvalidInput("Subset selection has no marginal channel: estimate its whole group, then sum.")
        return self
