"""Attributes that are disguised one by one, or public: all their reports are weighed in one product of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.attacks._cell_kernels import cell_sums, row_sums
from tacit.attacks.cells import CellReports
from tacit.attacks.joint import Joint
from tacit.attacks.laws import Known, Law, Record, numbered_cells
from tacit.channel.protocol import Array, Codes


@dataclass(frozen=True, eq=False)
class Single:
    """The reports of one attribute, and the law ``matrix[report, truth]`` they follow."""

    attribute: int
    reports: Codes
    matrix: Array
    has_coin: bool  # whether a report may be the true answer, and may not

    def as_cells(self, known: Known) -> CellReports:
        shows = self.reports[:, None] == np.arange(self.matrix.shape[1]) if self.has_coin else None
        return CellReports((self.attribute,), (self.matrix.shape[1],), self.matrix[self.reports], known, shows)


class SingleAnswers(Law):
    """Attributes disguised independently of each other; nothing about them is known beforehand."""

    def __init__(self, singles: Sequence[Single], rows: int) -> None:
        self.singles, self._rows = tuple(singles), rows
        self.attributes = tuple(single.attribute for single in singles)

    @cached_property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(len(single.matrix) for single in self.singles)

    @cached_property
    def _cells(self) -> NDArray[np.int32]:
        """The reports, numbered through all attributes."""
        return numbered_cells([single.reports for single in self.singles], self._sizes)

    def _chances(self, joint: Joint, single: Single) -> Array:
        """Chance of each report of one attribute, (components, reports)."""
        return np.maximum(joint.factors[single.attribute] @ single.matrix.T, 1e-300)

    def _posteriors(self, joint: Joint, single: Single) -> Array:
        """Chance of each answer given the report, (components, reports, answers)."""
        together = single.matrix * joint.factors[single.attribute][:, None, :]
        return together / self._chances(joint, single)[:, :, None]

    def log_likelihood(self, joint: Joint) -> Array:
        logs = np.log(np.concatenate([self._chances(joint, single) for single in self.singles], axis=1))
        return row_sums(self._cells, np.ascontiguousarray(logs.T))

    def counts(self, joint: Joint, weights: Array) -> list[Array]:
        reported = cell_sums(self._cells, np.ascontiguousarray(weights), sum(self._sizes)).T
        split = np.split(reported, np.cumsum(self._sizes)[:-1], axis=1)
        pairs = zip(self.singles, split, strict=True)
        return [np.einsum("kv,kvu->ku", sent, self._posteriors(joint, single)) for single, sent in pairs]

    def _answers(self, joint: Joint, shares: Array, single: Single) -> Array:
        posteriors = self._posteriors(joint, single)
        found = np.zeros((self._rows, single.matrix.shape[1]))
        for share, of_component in zip(shares.T, posteriors, strict=True):
            found += share[:, None] * of_component[single.reports]
        return found

    def answers(self, joint: Joint, shares: Array) -> list[Array]:
        return [self._answers(joint, shares, single) for single in self.singles]

    def likeliest(self, joint: Joint) -> Record:
        best = {single.attribute: self._posteriors(joint, single).argmax(axis=2) for single in self.singles}
        return {single.attribute: best[single.attribute][:, single.reports].T for single in self.singles}

    def log_chance(self, record: Record) -> Array:
        logs = np.zeros(self._rows)
        with np.errstate(divide="ignore"):
            for single in self.singles:
                logs += np.log(single.matrix[single.reports, record[single.attribute]])
        return logs

    @property
    def coin_groups(self) -> tuple[tuple[int, ...], ...]:
        return tuple((single.attribute,) for single in self.singles if single.has_coin)

    def coins(self, joint: Joint, shares: Array) -> list[Array]:
        rows = np.arange(self._rows)
        with_coin = [single for single in self.singles if single.has_coin]
        return [self._answers(joint, shares, single)[rows, single.reports] for single in with_coin]

    def shown(self, truth: Record) -> list[NDArray[np.bool_]]:
        return [truth[single.attribute] == single.reports for single in self.singles if single.has_coin]
