"""A channel on legal records: it acts on the number of a record, and is read as a channel on the group's attributes.

Its tables have an axis for each attribute, as those of every group, with nothing where no record is legal. Its reports
need not tell all attributes together: where chance deals each respondent a filter and one follow-up, the shares of a
follow-up can be estimated and those of two follow-ups together cannot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array, Channel, Codes, Estimator, Margin
from tacit.channel.codes import checked_axes, flat, joint_codes, joint_name, outer
from tacit.channel.dense import UNKNOWN, Figures, dense_figures
from tacit.channel.routing import Records
from tacit.errors import InvalidInput, NotEstimable
from tacit.randomness import Randomness
from tacit.schema import Attribute, Shows

# Singular values below this share of the largest tell nothing.
NOTHING = 1e-10
# A wanted share whose distance from the row space of the law exceeds this is not identified by the reports.
UNTOLD = 1e-7


@dataclass(frozen=True, eq=False)
class RoutedChannel(Channel):
    """The channel `inner` on the numbers of `records`."""

    records: Records
    inner: Channel

    @classmethod
    def of(cls, records: Records, inner: Channel) -> RoutedChannel:
        return cls(records, inner)

    @property
    def kind(self) -> str:
        return self.inner.kind

    @property
    def parameters(self) -> dict[str, Any]:
        return self.inner.parameters

    @property
    def shows(self) -> Shows:
        return self.inner.shows

    @property
    def sums_to_one(self) -> bool:
        return self.inner.sums_to_one

    @property
    def shape(self) -> tuple[int, ...]:
        return self.records.shape

    @property
    def tally_shape(self) -> tuple[int, ...]:
        return self.inner.tally_shape

    @property
    def n_reports(self) -> int:
        return self.inner.n_reports

    @property
    def report_members(self) -> int:
        return self.inner.report_members

    @property
    def is_small(self) -> bool:
        return self.inner.is_small

    @property
    def has_choice(self) -> bool:
        return self.inner.has_choice or (self._is_dense and self.n_reports > self._rank)

    @cached_property
    def matrix(self) -> Array:
        whole = np.zeros((self.n_reports, self.size))
        whole[:, self.records.places] = self.inner.matrix
        return whole

    def reports(self) -> tuple[Codes, ...]:
        return self.inner.reports()

    def report_attributes(self, attributes: Sequence[Attribute]) -> tuple[Attribute, ...]:
        return self.inner.report_attributes((Attribute(joint_name(attributes), self.records.labels),))

    def program(self) -> dict[str, Any]:
        return self.inner.program()

    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        return self.inner.sample((self._numbers(truths),), randomness)

    def _numbers(self, truths: Sequence[Codes]) -> NDArray[np.int64]:
        """The number of each record; one that routing does not allow is refused."""
        order = np.argsort(self.records.places)
        places = self.records.places[order]
        codes = joint_codes(truths, self.shape)
        nearest = np.minimum(np.searchsorted(places, codes), len(places) - 1)
        wrong = np.flatnonzero(places[nearest] != codes)
        if len(wrong):
            answers = [
                attribute.answers[column[wrong[0]]]
                for attribute, column in zip(self.records.attributes, truths, strict=True)
            ]
            named = ", ".join(
                f"{attribute.name} = {answer}"
                for attribute, answer in zip(self.records.attributes, answers, strict=True)
            )
            raise InvalidInput(
                f"Row {wrong[0] + 1} holds {named}, which the routing of these questions does not allow. Correct the row; "
                "a question that was not asked is 'not asked'."
            )
        return order[nearest].astype(np.int64)

    def _legal_entries(self, table: Array) -> Array:
        """From a table over all combinations of answers to the legal records."""
        return flat(table, len(self.shape))[self.records.places].reshape(-1, *table.shape[len(self.shape) :])

    def _spread(self, listed: Array) -> Array:
        """From the legal records to a table over all combinations of answers."""
        table = np.zeros((self.size, *listed.shape[1:]))
        table[self.records.places] = listed
        return table.reshape(self.shape + listed.shape[1:])

    def apply(self, truth: Array) -> Array:
        return self.inner.apply(self._legal_entries(truth))

    def adjoint(self, weights: Array) -> Array:
        return self._spread(self.inner.adjoint(weights))

    def chances(self, columns: Sequence[Codes]) -> Array:
        whole = np.zeros((len(columns[0]), self.size))
        whole[:, self.records.places] = self.inner.chances(columns)
        return whole

    # The inverse. A law that is written out is inverted as far as it tells anything.

    @cached_property
    def _is_dense(self) -> bool:
        return self.inner.shows == "one" and self.inner.kind == "matrix"

    @cached_property
    def _factors(self) -> tuple[Array, Array, Array]:
        """Singular vectors and values of the law on legal records, without what tells nothing."""
        left, values, right = np.linalg.svd(self.inner.matrix, full_matrices=False)
        nonzero = values > values[0] * NOTHING
        return left[:, nonzero], values[nonzero], right[nonzero].T

    @property
    def _rank(self) -> int:
        return len(self._factors[1])

    def is_invertible(self) -> bool:
        return self.inner.is_invertible() if not self._is_dense else self._rank == len(self.records)

    def record_inverse(self, guess: Array | None = None) -> Array:
        """``L`` with ``L @ tally`` an estimate for each record, right in everything that the reports tell at all."""
        listed = None if guess is None else self._legal_entries(guess)
        if not self._is_dense:
            return self.inner.left_inverse(listed)
        left, values, right = self._factors
        truth = self.records.even() if listed is None else np.maximum(listed, 0)
        weighted = (left / np.maximum(self.inner.matrix @ truth, NOTHING)[:, None]).T
        return (right / values) @ np.linalg.solve(weighted @ left, weighted)

    def left_inverse(self, guess: Array | None = None) -> Array:
        return flat(self._spread(self.record_inverse(guess)), len(self.shape))

    def solve(self, tally: Array, guess: Array | None = None) -> Array:
        if not self._is_dense:
            return self._spread(self.inner.solve(tally, None if guess is None else self._legal_entries(guess)))
        solved = self.record_inverse(guess) @ flat(tally, len(self.tally_shape))
        if self._rank < len(self.records):  # what the reports do not identify is taken to be even
            _, _, right = self._factors
            even = self.records.even()
            solved = solved + (even - right @ (right.T @ even))[:, None]
        return self._spread(solved.reshape(len(self.records), *self._behind(tally)))

    def margin(self, axes: Sequence[int]) -> Estimator:
        return RoutedMargin(self, checked_axes(axes, self.shape))

    def summed_squares(self, axes: Sequence[int]) -> float:
        if not axes:
            return 1.0
        margin = self.margin(axes)
        if not margin.is_invertible():
            return float("inf")
        return float(margin.solve_squares(self.inner.apply(self.records.even())).sum())

    # Privacy, on the legal records alone.

    @property
    def amplification(self) -> float:
        return self.inner.amplification

    def answer_amplification(self, axis: int) -> float:
        return self.inner.amplification

    def figures(self, prior: Array) -> Figures:
        return self.inner.figures(self._legal_entries(prior))

    def answer_figures(self, axis: int, prior: Array) -> Figures:
        if not self.is_small:
            return UNKNOWN
        listed, codes = self._legal_entries(prior), self.records.codes[:, axis]
        answers = np.arange(self.shape[axis])
        shares = (codes == answers[:, None]) @ listed
        seen = (self.inner.matrix * listed) @ (codes[:, None] == answers)
        return dense_figures(seen / np.where(shares > 0, shares, 1), shares)

    def singular_extremes(self) -> tuple[float, float] | None:
        return self.inner.singular_extremes()

    def caveat(self) -> str | None:
        return self.inner.caveat()


@dataclass(frozen=True, eq=False)
class RoutedMargin(Margin):
    """The estimate of some attributes of a routed group: the records' estimates, summed."""

    channel: RoutedChannel

    @cached_property
    def _summing(self) -> Array:
        """``[cell, record]``: which records each cell sums."""
        codes = self.channel.records.codes[:, list(self.axes)]
        cells = np.ravel_multi_index(tuple(codes.T), self.shape)
        return (cells == np.arange(int(np.prod(self.shape)))[:, None]).astype(np.float64)

    @cached_property
    def _is_told(self) -> bool:
        if not self.channel._is_dense:
            return self.channel.is_invertible()
        _, _, right = self.channel._factors
        return bool(np.abs(self._summing @ right @ right.T - self._summing).max() < UNTOLD)

    def is_invertible(self) -> bool:
        return self._is_told

    def _check_told(self) -> None:
        if not self._is_told:
            names = [repr(self.channel.records.attributes[axis].name) for axis in self.axes]
            raise NotEstimable(
                f"{', '.join(names)} are never reported together, so their joint distribution cannot be estimated. "
                "Ask for them one by one, or state in the questionnaire that they are wanted together."
                if len(names) > 1
                else f"The reports do not tell the answers to {names[0]}."
            )

    def left_inverse(self, guess: Array | None = None) -> Array:
        self._check_told()
        return self._summing @ self.channel.record_inverse(guess)

    def solve(self, tally: Array, guess: Array | None = None) -> Array:
        if self.channel._is_dense:
            return super().solve(tally, guess)
        listed = self.channel._legal_entries(self.channel.solve(tally, guess))
        return np.tensordot(self._summing, listed, axes=1).reshape(self.shape + self._behind(tally))

    def solve_adjoint(self, weights: Array, guess: Array | None = None) -> Array:
        if self.channel._is_dense:
            return super().solve_adjoint(weights, guess)
        behind = weights.shape[len(self.shape) :]
        listed = self._summing.T @ flat(weights, len(self.shape))
        return self.channel.inner.solve_adjoint(listed.reshape(-1, *behind))

    def _reports_and_contributions(self, tally: Array, guess: Array | None) -> tuple[Array, Array]:
        return self.left_inverse(guess), flat(tally, len(self.tally_shape))

    def solve_squares(self, tally: Array, guess: Array | None = None) -> Array:
        if self.channel._is_dense:
            return super().solve_squares(tally, guess)
        pairs = self.solve_pairs(tally, guess)
        cells = np.arange(len(pairs))
        return pairs[cells, cells].reshape(self.shape + self._behind(tally))

    def solve_pairs(self, tally: Array, guess: Array | None = None) -> Array:
        if self.channel._is_dense:
            return super().solve_pairs(tally, guess)
        pairs = self.channel.inner.solve_pairs(tally)
        return np.einsum("au,uv...,bv->ab...", self._summing, pairs, self._summing, optimize=True)

    def conjunction(self, masks: Sequence[NDArray[np.bool_]]) -> list[tuple[tuple[int, ...], Array]]:
        return [(tuple(range(len(self.tally_shape))), self.solve_adjoint(outer(masks)))]
