"""The tally of quasi-identifiers: how many rows show each combination; all that publishing needs of a table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.publish.combinations import Combinations, sums_by_code
from tacit.schema import Attribute


@dataclass(frozen=True, eq=False)
class QuasiTally:
    """Distinct combinations of quasi-identifiers (and sensitive answers) with their numbers of rows.

    `sets` holds the positions of the attributes that someone may know together; usually all of them.
    """

    attributes: tuple[Attribute, ...]
    codes: NDArray[Any]  # [combination, quasi-identifier], in two bytes where that is enough
    counts: NDArray[np.int64]
    sets: tuple[tuple[int, ...], ...]
    sensitive: tuple[Attribute, ...]
    sensitive_codes: NDArray[np.int64]  # [combination, sensitive attribute], on one common axis of answers
    people: NDArray[np.int64] | None = None  # of the population, beside the rows, where classes of it are asked for

    @property
    def rows(self) -> int:
        return int(self.counts.sum())

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.array([attribute.size for attribute in self.attributes], np.int64)

    @cached_property
    def combinations(self) -> Combinations:
        """The combinations of quasi-identifiers, whatever the sensitive answers."""
        return Combinations.of_rows(self.codes, self.sizes.tolist())

    def marginal(self, j: int) -> NDArray[np.float64]:
        """Rows with each answer of attribute `j`."""
        return sums_by_code(self.codes[:, j], self.counts, self.attributes[j].size).astype(np.float64)


def tally_rows(attributes: tuple[Attribute, ...], codes: NDArray[Any], counts: NDArray[np.int64]) -> QuasiTally:
    """A tally of one set of quasi-identifiers without sensitive attributes, from combinations that may repeat."""
    distinct, place = np.unique(codes, axis=0, return_inverse=True)
    totals = np.bincount(place.ravel(), counts).astype(np.int64)
    everything = (tuple(range(len(attributes))),)
    nothing = np.empty((len(distinct), 0), np.int64)
    return QuasiTally(attributes, distinct, totals, everything, (), nothing)
