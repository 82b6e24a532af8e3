"""Special uniques (SUDA): rows that few attributes already tell apart from all others.

A minimal sample unique is a set of attributes on which a row is unique and on no proper subset of it. The fewer attributes it
needs and the more of them a row has, the higher is the row's score (Elliot, Manning and Ford 2002).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.publish.combinations import Combinations

Codes = NDArray[np.int64]
MOST_COUNTED = 3e7  # combinations times sets of attributes that are counted unasked
SET_COST = 2000  # combinations that are counted while one set is prepared
WORST = 10  # rows that are shown


@dataclass(frozen=True, eq=False)
class SpecialUniques:
    """The score of every combination that a single row shows; 0 for all others."""

    largest_set: int  # sets of up to this many attributes were tried
    scores: NDArray[np.float64]  # [combination]
    by_size: dict[int, int]  # rows with a minimal unique set of this many attributes

    @property
    def rows(self) -> int:
        return int((self.scores > 0).sum())

    def worst(self) -> Codes:
        """The combinations with the highest scores, highest first."""
        order = np.argsort(-self.scores, kind="stable")[:WORST]
        return order[self.scores[order] > 0]

    def to_document(self) -> dict[str, Any]:
        return {
            "largest_set": self.largest_set,
            "rows": self.rows,
            "by_size": {str(size): rows for size, rows in self.by_size.items()},
            "highest_score": float(self.scores.max()),
        }


def affordable_set(combinations: int, attributes: int) -> int:
    """The most attributes in a set such that all sets of up to as many can be counted quickly."""
    largest, sets = 1, attributes
    while largest < attributes - 1:
        sets += math.comb(attributes, largest + 1)
        if (combinations + SET_COST) * sets > MOST_COUNTED:
            break
        largest += 1
    return largest


def special_uniques(codes: Codes, counts: Codes, largest: int | None = None) -> SpecialUniques:
    """The scores of distinct combinations `codes` that `counts` rows show, from sets of fewer attributes than there are."""
    n, attributes = codes.shape
    largest = affordable_set(n, attributes) if largest is None else min(largest, attributes - 1)
    scores, by_size = np.zeros(n), dict.fromkeys(range(1, largest + 1), 0)
    if not (counts == 1).any():  # whoever is unique on some attributes is unique on all
        return SpecialUniques(largest, scores, by_size)
    # Unique on a set: unique on all that contain it. So a set is minimal where no set smaller by one is unique.
    before: dict[tuple[int, ...], NDArray[np.bool_]] = {(): np.full(n, int(counts.sum()) == 1)}
    for size in range(1, largest + 1):
        weight = math.prod(attributes - i for i in range(size, largest + 1))
        unique, covered = {}, np.zeros(n, np.bool_)
        for members in itertools.combinations(range(attributes), size):
            unique[members] = _alone(codes, counts, members)
            smaller = [before[tuple(j for j in members if j != out)] for out in members]
            minimal = unique[members] & ~np.logical_or.reduce(smaller)
            scores += weight * minimal
            covered |= minimal
        by_size[size] = int(covered.sum())
        before = unique
    return SpecialUniques(largest, scores, by_size)


def _alone(codes: Codes, counts: Codes, members: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which combinations show, on these attributes, what a single row shows."""
    columns = [codes[:, j] for j in members]
    number = Combinations(columns, [int(column.max()) + 1 for column in columns]).number
    return np.bincount(number, counts)[number] == 1
