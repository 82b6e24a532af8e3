"""What the report of one group says about the answers behind it, when these are independent of each other.

A law looks at the reports of one group, row by row, and answers for every component of a `Joint`: how likely is the
report, and which answers does it speak for? Arrays are (rows, components). `known` holds, for some attributes of the
group, the answers that the guesser knows already; records that contradict them are impossible.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tacit.attacks.joint import Joint
from tacit.channel.protocol import Array, Codes

Known = Mapping[int, Codes]  # position of an attribute in the schema -> true codes
Record = dict[int, Codes]  # the same for guessed codes, (rows,) or (rows, components)


class Law(ABC):
    """The likelihood of one group's reports, and the posterior of its answers."""

    attributes: tuple[int, ...]  # positions in the schema

    @abstractmethod
    def log_likelihood(self, joint: Joint) -> Array:
        """Logarithm of the chance of each row's report (and of what is known), given the component."""

    @abstractmethod
    def counts(self, joint: Joint, weights: Array) -> list[Array]:
        """Expected people per answer, ``(components, answers)`` for each attribute; `weights` are (rows, components)."""

    @abstractmethod
    def answers(self, joint: Joint, shares: Array) -> list[Array]:
        """Posterior of each single answer, ``(rows, answers)``; `shares` is the posterior of the components."""

    @abstractmethod
    def likeliest(self, joint: Joint) -> Record:
        """The likeliest record of the group given the component: codes (rows, components) for each attribute."""

    @abstractmethod
    def log_chance(self, record: Record) -> Array:
        """Logarithm of the chance that each row's report comes from this record."""

    @property
    def coin_groups(self) -> tuple[tuple[int, ...], ...]:
        """Groups of which a report may show the true record; none where reports do not look like records."""
        return ()

    def coins(self, joint: Joint, shares: Array) -> list[Array]:
        """For each of the `coin_groups` the posterior chance that the report shows the true record."""
        return []

    def shown(self, truth: Record) -> list[NDArray[np.bool_]]:
        """For each of the `coin_groups` whether the report does show it."""
        return []


class SaysNothing(Law):
    """No report: attributes that were not asked, or a guesser who has not looked."""

    def __init__(self, attribute: int, rows: int, known: Known) -> None:
        self.attributes, self._rows = (attribute,), rows
        self._known = known.get(attribute)

    def log_likelihood(self, joint: Joint) -> Array:
        if self._known is None:
            return np.zeros((self._rows, joint.components))
        return joint.log_factors(self.attributes)[:, self._known].T

    def counts(self, joint: Joint, weights: Array) -> list[Array]:
        factor = joint.factors[self.attributes[0]]
        return [weights.sum(axis=0)[:, None] * factor]

    def answers(self, joint: Joint, shares: Array) -> list[Array]:
        factor = joint.factors[self.attributes[0]]
        return [shares @ factor if self._known is None else np.eye(factor.shape[1])[self._known]]

    def likeliest(self, joint: Joint) -> Record:
        (attribute,) = self.attributes
        if self._known is not None:
            return {attribute: np.repeat(self._known[:, None], joint.components, axis=1)}
        best = joint.factors[attribute].argmax(axis=1)
        return {attribute: np.broadcast_to(best, (self._rows, joint.components))}

    def log_chance(self, record: Record) -> Array:
        return np.zeros(self._rows)


def numbered_cells(columns: Sequence[Codes], sizes: Sequence[int]) -> NDArray[np.int32]:
    """Codes of several columns, (rows, columns), numbered through: the second column goes on where the first ends."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return np.stack([codes + np.int32(start) for codes, start in zip(columns, starts, strict=True)], axis=1).astype(
        np.int32
    )
