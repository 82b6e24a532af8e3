"""What is estimated of a subgroup of people: its size and classes, and its tables of every attribute with the target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.channel.base import Array
from tacit.schema import Attribute

Codes = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class ClassShares:
    """Estimated shares of all people: of a whole subgroup, and of each class of the target within it.

    Variances and covariances are those of people sampled from a population; `disguise` is the covariance of the classes,
    `size_disguise` the variance of the size, for just the people who answered.
    """

    size: float
    size_variance: float
    size_disguise: float
    classes: Array
    covariance: Array
    disguise: Array


@dataclass(frozen=True, eq=False)
class AnswerTable:
    """Shares ``[answer, class]`` of all people, and the answers that the conditions leave."""

    attribute: Attribute
    shares: Array
    codes: Codes


# An attribute, and the answers of it that the conditions leave.
Choice = tuple[Attribute, Codes]


@dataclass(frozen=True, eq=False)
class AnswerBreakdown:
    """The tables with the target of all attributes that leave a choice, one behind the other.

    ``shares[attribute, answer, class]`` are zero beyond the answers of an attribute.
    """

    choices: tuple[Choice, ...]
    shares: Array

    @classmethod
    def of(cls, tables: Sequence[AnswerTable]) -> AnswerBreakdown:
        shape = [max((table.shares.shape[axis] for table in tables), default=0) for axis in (0, 1)]
        shares = np.zeros((len(tables), *shape))
        for own, table in zip(shares, tables, strict=True):
            own[: len(table.shares)] = table.shares
        return cls(tuple((table.attribute, table.codes) for table in tables), shares)

    def __len__(self) -> int:
        return len(self.choices)

    def __iter__(self) -> Iterator[AnswerTable]:
        return map(self.table, range(len(self)))

    def table(self, place: int) -> AnswerTable:
        attribute, codes = self.choices[place]
        return AnswerTable(attribute, self.shares[place, : attribute.size], codes)
