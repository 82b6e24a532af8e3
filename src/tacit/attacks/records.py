"""Groups of several attributes whose reports are records: flips and mixtures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.attacks._cell_kernels import cell_sums, row_sums
from tacit.attacks.joint import Joint
from tacit.attacks.laws import Known, Law, Record, numbered_cells
from tacit.channel.protocol import Array, Codes


class LooksLikeTruth(Law):
    """Reports that are records: with `columns` the reported codes, and which records agree with what is known."""

    def __init__(
        self, attributes: tuple[int, ...], sizes: tuple[int, ...], columns: Sequence[Codes], known: Known
    ) -> None:
        self.attributes, self.sizes, self.columns = attributes, sizes, tuple(columns)
        self.known = {j: codes for j, codes in known.items() if j in attributes}

    @property
    def rows(self) -> int:
        return len(self.columns[0])

    @cached_property
    def cells(self) -> NDArray[np.int32]:
        """The reported answers, numbered through all attributes of the group."""
        return numbered_cells(self.columns, self.sizes)

    def sums(self, logs: Array) -> Array:
        """For every row and component the sum of the reported answers' logarithms, given as (components, answers)."""
        return row_sums(self.cells, np.ascontiguousarray(logs.T))

    def totals(self, weights: Array) -> Array:
        """Weight of the rows that report each answer, (components, answers)."""
        return cell_sums(self.cells, np.ascontiguousarray(weights), sum(self.sizes)).T

    def by_attribute(self, wide: Array) -> list[Array]:
        """Split the last axis, one answer after the other, into one array per attribute."""
        return np.split(wide, np.cumsum(self.sizes)[:-1], axis=-1)

    def agrees(self, columns: Sequence[Codes]) -> Array:
        """Logarithm of 1 where these records agree with what is known, of 0 elsewhere."""
        agrees = np.ones(self.rows, dtype=np.bool_)
        for j, codes in zip(self.attributes, columns, strict=True):
            if j in self.known:
                agrees &= codes == self.known[j]
        return np.where(agrees, 0.0, -np.inf)[:, None]

    def equals(self, record: Record) -> NDArray[np.bool_]:
        """Whether the report is this record."""
        pairs = zip(self.attributes, self.columns, strict=True)
        return np.logical_and.reduce([record[j] == codes for j, codes in pairs])

    @property
    def coin_groups(self) -> tuple[tuple[int, ...], ...]:
        return (self.attributes,)

    def shown(self, truth: Record) -> list[NDArray[np.bool_]]:
        return [self.equals(truth)]


class FlipReports(LooksLikeTruth):
    """The record, or its opposite (multi-group randomized response)."""

    def __init__(self, attributes: tuple[int, ...], columns: Sequence[Codes], theta: float, known: Known) -> None:
        super().__init__(attributes, (2,) * len(attributes), columns, known)
        self._opposite = tuple(1 - codes for codes in self.columns)
        with np.errstate(divide="ignore"):
            self._log_told, self._log_reversed = np.log(theta), np.log1p(-theta)
        self._agrees = self.agrees(self.columns), self.agrees(self._opposite)

    def _sides(self, joint: Joint) -> tuple[Array, Array]:
        """Logarithms of the chance that the report is the record, and that it is the opposite of it."""
        logs = joint.log_factors(self.attributes)
        reversed_logs = logs.reshape(len(logs), -1, 2)[:, :, ::-1].reshape(logs.shape)
        told = self._log_told + self.sums(logs) + self._agrees[0]
        return told, self._log_reversed + self.sums(reversed_logs) + self._agrees[1]

    def log_likelihood(self, joint: Joint) -> Array:
        return np.logaddexp(*self._sides(joint))

    def _told(self, joint: Joint) -> Array:
        """Posterior that the report is the record, given the component."""
        told, opposite = self._sides(joint)
        both = np.logaddexp(told, opposite)
        return np.exp(told - np.where(np.isfinite(both), both, 0.0))

    def counts(self, joint: Joint, weights: Array) -> list[Array]:
        told = self._told(joint)
        same = self.totals(weights * told)
        reverse = self.totals(weights * (1 - told))
        pairs = zip(self.by_attribute(same), self.by_attribute(reverse), strict=True)
        return [here + there[:, ::-1] for here, there in pairs]

    def answers(self, joint: Joint, shares: Array) -> list[Array]:
        told = self.coins(joint, shares)[0][:, None]
        return [told * np.eye(2)[codes] + (1 - told) * np.eye(2)[1 - codes] for codes in self.columns]

    def likeliest(self, joint: Joint) -> Record:
        told, opposite = self._sides(joint)
        first = told >= opposite
        pairs = zip(self.attributes, self.columns, self._opposite, strict=True)
        return {j: np.where(first, here[:, None], there[:, None]) for j, here, there in pairs}

    def log_chance(self, record: Record) -> Array:
        same = self.equals(record)
        pairs = zip(self.attributes, self._opposite, strict=True)
        opposite = np.logical_and.reduce([record[j] == codes for j, codes in pairs])
        return np.where(same, self._log_told, np.where(opposite, self._log_reversed, -np.inf))

    def coins(self, joint: Joint, shares: Array) -> list[Array]:
        return [(shares * self._told(joint)).sum(axis=1)]


class MixtureReports(LooksLikeTruth):
    """The record, or a draw that says nothing of it; a public attribute is the record for sure.

    The chance of a report v is ``keep f(v) + noise(v)``, also where `keep` is negative (Warner with p below 1/n).
    """

    def __init__(
        self,
        attributes: tuple[int, ...],
        sizes: tuple[int, ...],
        columns: Sequence[Codes],
        keep: float,
        noise: Array,
        known: Known,
    ) -> None:
        super().__init__(attributes, sizes, columns, known)
        self.keep, self.noise = keep, noise[:, None]
        self._agrees = self.agrees(self.columns)

    def _chance(self, joint: Joint) -> Array:
        """Chance that the reported record is the true one before anything is reported."""
        return np.exp(self.sums(joint.log_factors(self.attributes)) + self._agrees)

    def _of_known(self, joint: Joint) -> Array:
        """Chance of the answers that are known anyway."""
        chances = np.ones((self.rows, joint.components))
        for j, codes in self.known.items():
            chances *= joint.factors[j][:, codes].T
        return chances

    def _parts(self, joint: Joint) -> tuple[Array, Array, Array]:
        """The two ways to the report, and their sum, which is never zero."""
        kept, drawn = self.keep * self._chance(joint), self.noise * self._of_known(joint)
        return kept, drawn, np.maximum(kept + drawn, 1e-300)

    def log_likelihood(self, joint: Joint) -> Array:
        return np.log(self._parts(joint)[2])

    def counts(self, joint: Joint, weights: Array) -> list[Array]:
        kept, drawn, total = self._parts(joint)
        seen = self.by_attribute(self.totals(weights * kept / total))
        unseen = (weights * drawn / total).sum(axis=0)[:, None]
        return [part + unseen * joint.factors[j] for j, part in zip(self.attributes, seen, strict=True)]

    def answers(self, joint: Joint, shares: Array) -> list[Array]:
        kept, drawn, total = self._parts(joint)
        seen, unseen = (shares * kept / total).sum(axis=1)[:, None], shares * drawn / total
        found = []
        for j, size, codes in zip(self.attributes, self.sizes, self.columns, strict=True):
            prior = np.eye(size)[self.known[j]] * unseen.sum(axis=1)[:, None] if j in self.known else None
            found.append(seen * np.eye(size)[codes] + (unseen @ joint.factors[j] if prior is None else prior))
        return found

    def likeliest(self, joint: Joint) -> Record:
        modes = self._modes(joint)
        shown = (self.keep + self.noise) * self._chance(joint)
        other = self.noise * self._of_known(joint) * self._mode_chance(joint)
        first = shown >= other
        return {
            j: np.where(first, codes[:, None], modes[j]) for j, codes in zip(self.attributes, self.columns, strict=True)
        }

    def _modes(self, joint: Joint) -> Record:
        """The likeliest record that agrees with what is known, whatever was reported."""
        modes = {}
        for j in self.attributes:
            if j in self.known:
                modes[j] = np.repeat(self.known[j][:, None], joint.components, axis=1)
            else:
                modes[j] = np.broadcast_to(joint.factors[j].argmax(axis=1), (self.rows, joint.components))
        return modes

    def _mode_chance(self, joint: Joint) -> Array:
        free = [joint.factors[j].max(axis=1) for j in self.attributes if j not in self.known]
        return np.prod(free, axis=0) if free else np.ones(joint.components)

    def log_chance(self, record: Record) -> Array:
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(self.keep * self.equals(record) + self.noise[:, 0], 0.0))

    def coins(self, joint: Joint, shares: Array) -> list[Array]:
        _, _, total = self._parts(joint)
        return [(shares * (self.keep + self.noise) * self._chance(joint) / total).sum(axis=1)]
