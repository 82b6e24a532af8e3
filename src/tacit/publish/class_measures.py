"""The sizes of classes, and what their sensitive answers show: k, l and t as they are defined, of rows or of persons.

Memory grows with the combinations that occur, not with classes times answers, so a sensitive attribute may have any number
of answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SensitiveCheck:
    """How a sensitive attribute is spread within the classes, at worst."""

    attribute: str
    distinct: int  # l: fewest answers in a class; of persons, answers shown by as many different ones
    entropy: float  # l of the entropy kind: e to the least entropy
    closeness: float  # t: greatest distance from all rows; along the order where there is one


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of a sensitive attribute, entry by entry; codes of an ordered one ascend with the answers."""

    name: str
    codes: Codes
    ordered: bool


def class_sizes(classes: Codes, counts: Codes, persons: Codes | None = None) -> Codes:
    """Rows in each class, or different persons."""
    if persons is None:
        return np.bincount(classes, counts).astype(np.int64)
    return np.bincount(np.unique(np.stack([classes, persons]), axis=1)[0]).astype(np.int64)


def sensitive_check(classes: Codes, answers: Answers, counts: Codes, persons: Codes | None = None) -> SensitiveCheck:
    """L and t of the worst classes; with `persons`, each weighs 1 in a class, spread evenly over the person's rows there."""
    _, codes = np.unique(answers.codes, return_inverse=True)
    codes = codes.ravel().astype(np.int64)
    whole = _shares(np.zeros_like(classes), codes, counts, persons)
    parts = _shares(classes, codes, counts, persons)
    entropy = np.bincount(parts.classes, -parts.shares * np.log(parts.shares)).min()
    distances = _carried(parts, whole.shares) if answers.ordered else _differences(parts, whole.shares)
    distinct = np.bincount(parts.classes) if persons is None else _matched(classes, codes, persons)
    return SensitiveCheck(answers.name, int(distinct.min()), math.exp(max(0.0, entropy)), float(distances.max()))


@dataclass(frozen=True, eq=False)
class ClassOfPersons:
    """The sensitive answers of one class in which persons may have several rows."""

    codes: Codes
    shares: Floats  # of the answers that occur
    distinct: int
    entropy: float

    def distance(self, whole: Floats, *, ordered: bool) -> float:
        """The t of this class against the shares of all answers."""
        parts = _Parts(np.zeros_like(self.codes), self.codes, self.shares)
        return float((_carried(parts, whole) if ordered else _differences(parts, whole))[0])


def class_of_persons(codes: Codes, counts: Codes, persons: Codes) -> ClassOfPersons:
    """One class: its answers, each person weighing 1."""
    alone = np.zeros_like(codes)
    parts = _shares(alone, codes, counts, persons)
    entropy = float(-(parts.shares * np.log(parts.shares)).sum())
    return ClassOfPersons(
        parts.codes, parts.shares, int(_matched(alone, codes, persons)[0]), math.exp(max(0.0, entropy))
    )


@dataclass(frozen=True, eq=False)
class _Parts:
    """Shares of the answers that occur in each class, sorted by class and answer."""

    classes: Codes
    codes: Codes
    shares: Floats


def _shares(classes: Codes, codes: Codes, counts: Codes, persons: Codes | None) -> _Parts:
    weights = counts.astype(np.float64)
    if persons is not None:
        _, pair = np.unique(np.stack([classes, persons]), axis=1, return_inverse=True)
        weights = weights / np.bincount(pair.ravel(), weights)[pair.ravel()]
    cells, place = np.unique(np.stack([classes, codes]), axis=1, return_inverse=True)
    sums = np.bincount(place.ravel(), weights)
    return _Parts(cells[0], cells[1], sums / np.bincount(cells[0], sums)[cells[0]])


def _differences(parts: _Parts, whole: Floats) -> Floats:
    """Half the absolute differences of shares; answers that a class does not show differ by their whole share."""
    own = whole[parts.codes]
    shown = np.bincount(parts.classes, np.abs(parts.shares - own) - own)
    return (shown + 1) / 2


def _carried(parts: _Parts, whole: Floats) -> Floats:
    """The earth mover's distance along the order: what is carried over each of the m - 1 steps, each 1/(m-1) long.

    Between two answers of a class its cumulated share stays the same while that of the whole ascends; so each stretch
    is a sum of differences of one sign up to where the whole overtakes, and of the other sign after it.
    """
    cumulated = np.cumsum(whole)
    sums = np.concatenate([[0.0], np.cumsum(cumulated)])
    last = np.append(np.flatnonzero(np.diff(parts.classes)), len(parts.classes) - 1)
    stop = np.append(parts.codes[1:], len(whole))
    stop[last] = len(whole)
    own = np.cumsum(parts.shares)
    own -= np.repeat(np.concatenate([[0.0], own[last][:-1]]), np.diff(np.concatenate([[-1], last])))
    start = parts.codes
    turn = np.clip(np.searchsorted(cumulated, own), start, stop)
    carried = own * (turn - start) - (sums[turn] - sums[start]) + (sums[stop] - sums[turn]) - own * (stop - turn)
    first = np.concatenate([[0], last[:-1] + 1])
    before = sums[parts.codes[first]]  # below its first answer a class has carried nothing yet
    return (np.bincount(parts.classes, carried) + before) / max(1, len(whole) - 1)


def _matched(classes: Codes, codes: Codes, persons: Codes) -> Codes:
    """In each class the most answers that as many different persons show, one each: a matching."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    holders, holder = np.unique(np.stack([classes, persons]), axis=1, return_inverse=True)
    cells, cell = np.unique(np.stack([classes, codes]), axis=1, return_inverse=True)
    edges = csr_array(
        (np.ones(len(classes), np.int32), (cell.ravel(), holder.ravel())), shape=(cells.shape[1], holders.shape[1])
    )
    matched = maximum_bipartite_matching(edges, perm_type="column") >= 0
    return np.bincount(cells[0], matched, int(classes.max()) + 1).astype(np.int64)
