"""What the distinct reports of one group say about its answers: the chance of each report given each truth.

A law is either a short sum of products over the group's attributes, so that a group of any size is cheap, or a dense
matrix. It is asked for a *component*: a distribution under which the answers are independent of each other, given as one
array ``(components, answers)`` for each attribute of the group.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.codes import Array, Codes, grid, joint_codes

# One factor of a product: every answer alike (None), only this answer (codes), or a chance for each answer.
Factor = None | NDArray[np.int64] | Array

# Numbers in a matrix of distinct reports by joint answers.
MOST_CHANCES = 1 << 24
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class LawTerm:
    """``scale[report] * prod_j factors[j][report, answer_j]``."""

    scale: Array  # (reports,)
    factors: tuple[Factor, ...]

    def rows(self, which: NDArray[np.intp]) -> LawTerm:
        return LawTerm(self.scale[which], tuple(None if factor is None else factor[which] for factor in self.factors))

    def chance(self, record: Sequence[Codes]) -> Array:
        """The term's part of the chance of each report, given one record for each."""
        chance = self.scale.copy()
        for factor, codes in zip(self.factors, record, strict=True):
            if factor is not None:
                chance *= factor == codes if factor.ndim == 1 else factor[np.arange(len(codes)), codes]
        return chance

    def restrict_answers(self, position: int, codes: Codes) -> LawTerm:
        """The term for people whose answer at `position` is known."""
        factor, scale = self.factors[position], self.scale
        if factor is not None:
            scale = scale * (factor == codes if factor.ndim == 1 else factor[np.arange(len(codes)), codes])
        factors = list(self.factors)
        factors[position] = codes.astype(np.int64)
        return LawTerm(scale, tuple(factors))


class ReportLaw(ABC):
    """The law of one group's distinct reports."""

    shape: tuple[int, ...]

    @property
    @abstractmethod
    def n_reports(self) -> int: ...

    @abstractmethod
    def component_chances(self, factors: Sequence[Array]) -> Array:
        """Chance of each report in each component, ``(reports, components)``, up to a factor of the report."""

    @abstractmethod
    def offsets(self, factors: Sequence[Array]) -> Array | float:
        """Logarithm of that factor."""

    @abstractmethod
    def component_counts(self, factors: Sequence[Array], people: Array) -> list[Array]:
        """Expected people by answer, ``(components, answers)`` for each attribute; `people` are (reports, components)."""

    @abstractmethod
    def answers(self, factors: Sequence[Array], shares: Array) -> list[Array]:
        """Posterior of each answer, ``(reports, answers)``; `shares` is the posterior of the components."""

    @abstractmethod
    def component_records(self, factors: Sequence[Array]) -> list[Codes]:
        """A likely record in each component: codes ``(reports, components)`` for each attribute."""

    @abstractmethod
    def chance(self, record: Sequence[Codes]) -> Array:
        """Chance of each report, given one record for each."""

    @abstractmethod
    def rows(self, which: NDArray[np.intp]) -> ReportLaw: ...

    @abstractmethod
    def terms_of(self, limit: int) -> tuple[LawTerm, ...] | None:
        """The law as at most `limit` products; None where it takes more."""

    @abstractmethod
    def restrict_answers(self, known: dict[int, Codes]) -> ReportLaw:
        """The law for people whose answers at some positions of the group are known."""

    @abstractmethod
    def report_chances(self, truth: Array) -> Array:
        """Chance of each report; `truth` is a distribution over the joint answers and any further axis."""

    @abstractmethod
    def spread(self, weights: Array) -> Array:
        """Weights of reports as weights of the joint answers that give rise to them."""

    @abstractmethod
    def written_out(self) -> Array:
        """The matrix of reports by joint answers."""


class DenseLaw(ReportLaw):
    """A chance for every report and every joint answer."""

    def __init__(self, shape: tuple[int, ...], matrix: Array) -> None:
        self.shape, self.matrix = shape, matrix

    @property
    def n_reports(self) -> int:
        return len(self.matrix)

    @cached_property
    def _cells(self) -> tuple[Codes, ...]:
        return grid(self.shape)

    def _joint(self, factors: Sequence[Array]) -> Array:
        """The group's joint distribution in each component, (components, joint answers)."""
        joint = np.ones((len(factors[0]), 1))
        for factor in factors:
            joint = (joint[:, :, None] * factor[:, None, :]).reshape(len(factor), -1)
        return joint

    def component_chances(self, factors: Sequence[Array]) -> Array:
        return self.matrix @ self._joint(factors).T

    def offsets(self, factors: Sequence[Array]) -> float:
        return 0.0

    def component_counts(self, factors: Sequence[Array], people: Array) -> list[Array]:
        joint = self._joint(factors)
        reached = np.maximum(self.matrix @ joint.T, TINY)
        cells = (joint * ((people / reached).T @ self.matrix)).reshape(len(joint), *self.shape)
        return [_kept_axis(cells, axis) for axis in range(len(self.shape))]

    def answers(self, factors: Sequence[Array], shares: Array) -> list[Array]:
        joint = self._joint(factors)
        reached = np.maximum(self.matrix @ joint.T, TINY)
        cells = (self.matrix * ((shares / reached) @ joint)).reshape(len(shares), *self.shape)
        return [_kept_axis(cells, axis) for axis in range(len(self.shape))]

    def component_records(self, factors: Sequence[Array]) -> list[Codes]:
        best = np.stack([(self.matrix * joint).argmax(axis=1) for joint in self._joint(factors)], axis=1)
        return [codes[best] for codes in self._cells]

    def chance(self, record: Sequence[Codes]) -> Array:
        return self.matrix[np.arange(len(self.matrix)), joint_codes(record, self.shape)]

    def rows(self, which: NDArray[np.intp]) -> DenseLaw:
        return DenseLaw(self.shape, self.matrix[which])

    def terms_of(self, limit: int) -> tuple[LawTerm, ...] | None:
        if len(self.shape) == 1:
            return (LawTerm(np.ones(self.n_reports), (self.matrix,)),)
        if self.matrix.shape[1] > limit:
            return None
        records = np.stack(self._cells, axis=1).astype(np.int64)
        return tuple(
            LawTerm(column, tuple(np.full(self.n_reports, code) for code in record))
            for column, record in zip(self.matrix.T, records, strict=True)
        )

    def restrict_answers(self, known: dict[int, Codes]) -> DenseLaw:
        matrix = self.matrix
        for position, codes in known.items():
            matrix = matrix * (self._cells[position][None, :] == codes[:, None])
        return DenseLaw(self.shape, matrix)

    def report_chances(self, truth: Array) -> Array:
        return self.matrix @ truth

    def spread(self, weights: Array) -> Array:
        return self.matrix.T @ weights

    def written_out(self) -> Array:
        return self.matrix


def _kept_axis(cells: Array, axis: int) -> Array:
    """Sums over all joint answers but one attribute's, behind the first axis."""
    others = tuple(other + 1 for other in range(cells.ndim - 1) if other != axis)
    return cells.sum(axis=others)
