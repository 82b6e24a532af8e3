"""Channels that tell the truth with some chance, else a draw that says nothing of it: the linear algebra of mixtures.

``keep * I + (1 - keep) * personal 1^T``: inverse, marginals and errors have closed forms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array, Channel, Codes, Figures, Orbits, ProductTerm, SetLaw
from tacit.channel.chances import (
    ratio,
)
from tacit.channel.codes import (
    checked_matrix_size,
    flat,
    grid,
    joint_codes,
)
from tacit.channel.dense import UNKNOWN, mixture_matrix
from tacit.errors import NotEstimable


class MixtureLaw(Channel):
    """The linear algebra of ``keep * I + (1 - keep) * personal 1^T``; reports look like truths."""

    has_marginals = True
    counts_by_shown = True

    @property
    def exact_keep(self) -> Fraction:
        """Weight of the truth in the mixture; negative for Warner's channel with p below 1/n."""
        raise NotImplementedError

    @property
    def rarest(self) -> Fraction:
        """Least chance of any record under the alternative, without writing all of them out."""
        raise NotImplementedError

    @property
    def personal_factors(self) -> tuple[Array, ...] | None:
        """The law of the alternative as one distribution per attribute; None if they are not independent."""
        raise NotImplementedError

    @property
    def is_even(self) -> bool:
        """Whether the alternative is uniform."""
        raise NotImplementedError

    @property
    def personal_distribution(self) -> Array:
        """The law of the alternative over the joint domain, shaped like it."""
        raise NotImplementedError

    @cached_property
    def keep(self) -> float:
        """`exact_keep` as a float."""
        return float(self.exact_keep)

    @property
    def treats_answers_alike(self) -> bool:
        return self.is_even

    @property
    def is_clear(self) -> bool:
        return self.keep == 1

    @property
    def _noise(self) -> Array:
        return (1 - self.keep) * self.personal_distribution.reshape(-1)

    @property
    def amplification(self) -> float:
        # Where a record is rarest as a lie, being the truth matters most. In fractions: a demanded gamma is met exactly.
        as_lie = (1 - self.exact_keep) * self.rarest
        low, high = sorted((as_lie, as_lie + self.exact_keep))
        return ratio(high, low)

    @property
    def matrix(self) -> Array:
        checked_matrix_size(self.size, self.size)
        return mixture_matrix(self.keep, self.personal_distribution.reshape(-1))

    def apply(self, truth: Array) -> Array:
        x = flat(truth, len(self.shape))
        return (self.keep * x + self._noise[:, None] * x.sum(axis=0)).reshape(truth.shape)

    def adjoint(self, weights: Array) -> Array:
        y = flat(weights, len(self.shape))
        return (self.keep * y + self._noise @ y).reshape(weights.shape)

    def is_invertible(self) -> bool:
        return self.keep != 0

    def _checked_keep(self) -> float:
        if not self.is_invertible():
            raise NotEstimable(
                "The reports are independent of the truth (it is kept with chance 0), so nothing can be estimated "
                "from them. Choose a channel that keeps the truth more often."
            )
        return self.keep

    def solve(self, tally: Array, guess: Array | None = None) -> Array:
        keep = self._checked_keep()
        q = flat(tally, len(self.shape))
        return ((q - self._noise[:, None] * q.sum(axis=0)) / keep).reshape(tally.shape)

    def solve_adjoint(self, weights: Array, guess: Array | None = None) -> Array:
        keep = self._checked_keep()
        w = flat(weights, len(self.shape))
        return ((w - self._noise @ w) / keep).reshape(weights.shape)

    def solve_squares(self, tally: Array, guess: Array | None = None) -> Array:
        keep = self._checked_keep()
        q = flat(tally, len(self.shape))
        noise = self._noise[:, None]
        return ((q * (1 - 2 * noise) + noise**2 * q.sum(axis=0)) / keep**2).reshape(tally.shape)

    def solve_pairs(self, tally: Array, guess: Array | None = None) -> Array:
        keep = self._checked_keep()
        q = flat(tally, len(self.shape))
        crossed = self._noise[:, None, None] * q[None, :, :]
        pairs = np.multiply.outer(np.multiply.outer(self._noise, self._noise), q.sum(axis=0))
        pairs -= crossed
        pairs -= crossed.transpose(1, 0, 2)
        diagonal = np.arange(self.size)
        pairs[diagonal, diagonal] += q
        return (pairs / keep**2).reshape(self.size, self.size, *tally.shape[len(self.shape) :])

    def left_inverse(self, guess: Array | None = None) -> Array:
        return (np.eye(self.size) - self._noise[:, None]) / self._checked_keep()

    def _noise_of(self, columns: Sequence[Codes]) -> Array:
        """Chance of each report as a draw that says nothing of the truth, times the chance of such a draw."""
        factors = self.personal_factors
        if factors is None:
            return (1 - self.keep) * self.personal_distribution[tuple(columns)]
        chances = math.prod(factor[column] for factor, column in zip(factors, columns, strict=True))
        return (1 - self.keep) * np.asarray(chances, dtype=np.float64)

    def chances(self, columns: Sequence[Codes]) -> Array:
        law = np.repeat(self._noise_of(columns)[:, None], self.size, axis=1)
        law[np.arange(len(law)), joint_codes(columns, self.shape)] += self.keep
        return law

    def chance_terms(self, columns: Sequence[Codes]) -> tuple[ProductTerm, ...]:
        truth_term = ProductTerm(np.full(len(columns[0]), self.keep), tuple(columns))
        return truth_term, ProductTerm(self._noise_of(columns), (None,) * len(self.shape))

    def inverse(self, columns: Sequence[Codes], guess: Array | None = None) -> Array:
        keep = self._checked_keep()
        table = np.repeat(-self._noise[None, :] / keep, len(columns[0]), axis=0)
        table[np.arange(len(table)), joint_codes(columns, self.shape)] += 1 / keep
        return table

    def shown_contributions(self, codes: Codes, shown: NDArray[np.bool_]) -> Array:
        noise = self._noise_of([codes[:, axis] for axis in range(len(self.shape))])
        return np.asarray((shown.all(axis=1) - noise[:, None]) / self._checked_keep())

    def inverse_terms(self, columns: Sequence[Codes]) -> tuple[ProductTerm, ...] | None:
        keep, rows = self._checked_keep(), len(columns[0])
        truth_term = ProductTerm(np.full(rows, 1 / keep), tuple(columns))
        if keep == 1:
            return (truth_term,)
        factors = self.personal_factors
        if factors is None:
            return None
        every = tuple(np.broadcast_to(factor, (rows, len(factor))) for factor in factors)
        return truth_term, ProductTerm(np.full(rows, (keep - 1) / keep), every)

    def most_likely(self, frequencies: Array) -> Array | None:
        if self.keep <= 0:
            return None
        noise = self._noise / self.keep
        return above_water(frequencies.reshape(-1), noise).reshape(self.shape)

    def orbits(self) -> Orbits | None:
        return Orbits.of_single_records(self.size) if self.is_clear else None

    def set_law(self) -> SetLaw | None:
        if not self.is_even or self.is_clear:
            return None
        return SetLaw(self.size, 1, self.keep + (1 - self.keep) / self.size)

    def answer_amplification(self, axis: int) -> float:
        return self.amplification

    def figures(self, prior: Array) -> Figures:
        """In time linear in the records: a report v is either the truth v, or a draw that does not depend on the truth."""
        return self._figures_of(prior.reshape(-1), prior.reshape(-1), np.arange(self.size))

    def answer_figures(self, axis: int, prior: Array) -> Figures:
        others = tuple(other for other in range(len(self.shape)) if other != axis)
        return self._figures_of(prior.reshape(-1), prior.sum(axis=others), grid(self.shape)[axis])

    def _figures_of(self, reported: Array, p: Array, shown: Codes) -> Figures:
        """Figures of a property with the prior `p`, of which each report shows one value.

        Report v comes from the record v, of prior `reported`, or as a draw, which leaves the prior of the property.
        """
        noise, truthful = self._noise, self.keep * reported
        joint_chances = truthful + noise * p[shown]
        best = np.maximum(joint_chances, noise * _largest_other(p)[shown])
        seen = truthful + noise
        possible = seen > 0
        squares = (joint_chances**2 + noise**2 * (p @ p - p[shown] ** 2))[possible] / seen[possible]
        return Figures(
            map_privacy=float(1 - best.sum()),
            worst_posterior=float((best[possible] / seen[possible]).max()),
            pse=float(1 - squares.sum()),
        )

    def independent_figures(self, priors: Sequence[Array]) -> Figures:
        figures = super().independent_figures(priors)
        return self._even_figures(self.size, priors) if figures is UNKNOWN else figures

    def independent_answer_figures(self, axis: int, priors: Sequence[Array]) -> Figures:
        figures = super().independent_answer_figures(axis, priors)
        return self._even_figures(self.shape[axis], priors) if figures is UNKNOWN else figures

    def _even_figures(self, values: int, priors: Sequence[Array]) -> Figures:
        """Figures of a property with so many equally likely values, on a domain too large to write out."""
        if not self.is_even or any(np.ptp(prior) for prior in priors):
            return UNKNOWN
        other = (1 - self.keep) / values
        best = max(self.keep + other, other)
        return Figures(1 - best, best, 1 - (self.keep + other) ** 2 - (values - 1) * other**2)

    def accurate_map_privacy(self, prior: Array, accuracy: Array) -> float:
        p = prior.reshape(-1)
        worth = self.keep * accuracy * p + np.outer(accuracy @ p, self._noise)  # [guess, report]
        return float(1 - worth.max(axis=0).sum())

    def singular_extremes(self) -> tuple[float, float]:
        """All but two singular values are |keep|.

        The two have the product |keep|, as the columns sum to one, and their squares add up to what is left of the squared
        entries; so they enclose |keep|. With a uniform alternative they are 1 and |keep|.
        """
        keep = abs(self.keep)
        if self.is_even:  # of any size, so nothing is written out
            return 1.0, keep
        noise = self._noise
        squares = 2 * self.keep + len(noise) * float(noise @ noise)
        largest = math.sqrt((squares + math.sqrt(max(squares**2 - 4 * keep**2, 0.0))) / 2)
        return largest, keep / largest

    def itemset_condition(self, length: int) -> float:
        return 1 / abs(self.keep) if self.keep else math.inf


def _largest_other(p: Array) -> Array:
    """For each entry the largest of all the others."""
    second, first = np.partition(p, -2)[-2:]
    largest = np.full(len(p), first)
    largest[np.argmax(p)] = second
    return largest


def above_water(frequencies: Array, noise: Array) -> Array:
    """Maximises ``sum f log(p + noise)`` over distributions: ``p = max(f * scale - noise, 0)``.

    A truth is possible where ``f / noise`` exceeds ``1 / scale``; adding truths in the order of that ratio, the scale
    that makes p sum to one is the least.
    """
    ratio = np.divide(frequencies, noise, out=np.full_like(noise, np.inf), where=noise > 0)
    order = np.argsort(-np.where(frequencies > 0, ratio, 0.0), kind="stable")
    f, b = frequencies[order], noise[order]
    scales = (1 + np.cumsum(b)) / np.cumsum(f)  # the first f is positive: some report was seen
    count = int(np.count_nonzero(f * scales > b))
    return np.maximum(frequencies * scales[count - 1] - noise, 0)
