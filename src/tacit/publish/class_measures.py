"""The sizes of classes, and what their sensitive answers show: k, l and t as they are defined, of rows or of persons.

Memory grows with the combinations that occur, not with classes times answers, so a sensitive attribute may have any number
of answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.publish.problem import Diversity

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

ORDERED_DISTANCE = "along the order"
NOMINAL_DISTANCE = "without an order"


@dataclass(frozen=True)
class SensitiveCheck:
    """How a sensitive attribute is spread within the classes, at worst."""

    attribute: str
    distinct: int  # l: fewest answers in a class; of persons, answers shown by as many different ones
    entropy: float  # l of the entropy kind: e to the least entropy
    closeness: float  # t: greatest distance from all rows; along the order where there is one
    tail: int  # l of recursive (c, l)
    recursive: float  # the greatest r_1 / (r_l + r_(l+1) + ...): (c, l) holds for every c above it
    beta: float  # greatest (q - p)/p over answers more frequent in a class (q) than in all rows (p)
    is_enhanced: bool  # whether no such gain is above -ln p, as enhanced beta-likeness asks besides
    one_answer: int  # classes that show one answer, and so tell it of everybody in them
    ordered: bool  # whether t is the distance along the order of the answers

    @property
    def distance(self) -> str:
        """The distance that t is, in words."""
        return ORDERED_DISTANCE if self.ordered else NOMINAL_DISTANCE

    def keeps(self, diversity: Diversity) -> bool:
        """Whether the classes show what is demanded; `recursive` was measured at the demanded l."""
        wanted, tolerance = diversity.l or 0.0, 1e-9
        if diversity.recursive is not None:
            is_diverse = self.recursive < diversity.recursive
        else:
            is_diverse = (self.entropy if diversity.entropy else self.distinct) >= wanted - tolerance
        is_close = diversity.t is None or self.closeness <= diversity.t + tolerance
        return is_diverse and is_close and (diversity.beta is None or self.beta <= diversity.beta + tolerance)


@dataclass(frozen=True, eq=False)
class SensitiveAnswers:
    """The answers of a sensitive attribute, entry by entry; codes of an ordered one ascend with the answers."""

    name: str
    codes: Codes
    ordered: bool


def class_sizes(classes: NDArray[Any], counts: Codes, persons: Codes | None = None) -> Codes:
    """Rows in each class, or different persons."""
    if persons is None:
        return np.bincount(classes, counts).astype(np.int64)
    (of_class, _), _ = _pairs(classes, persons)
    return np.bincount(of_class).astype(np.int64)


def sensitive_check(
    classes: Codes, answers: SensitiveAnswers, counts: Codes, persons: Codes | None = None, tail: int | None = None
) -> SensitiveCheck:
    """L, t and beta of the worst classes; with `persons`, each weighs 1 in a class, spread evenly over the person's rows there.

    Recursive (c, l) is measured for l = `tail`, by default for the l that all classes show.
    """
    _, codes = np.unique(answers.codes, return_inverse=True)
    codes = codes.ravel().astype(np.int64)
    whole = _shares(np.zeros_like(classes), codes, counts, persons)
    parts = _shares(classes, codes, counts, persons)
    entropy = np.bincount(parts.classes, -parts.shares * np.log(parts.shares)).min()
    distances = _ordered_distances(parts, whole.shares) if answers.ordered else _nominal_distances(parts, whole.shares)
    distinct = np.bincount(parts.classes) if persons is None else _matching_sizes(classes, codes, persons)
    tail = int(distinct.min()) if tail is None else tail
    gains = _gains(parts, whole.shares)
    return SensitiveCheck(
        answers.name,
        int(distinct.min()),
        math.exp(max(0.0, entropy)),
        float(distances.max()),
        tail,
        float(_recursive(parts, tail).max()),
        float(max(0.0, gains.max())),
        bool((gains <= -np.log(whole.shares[parts.codes]) + 1e-9).all()),
        int((np.bincount(parts.classes) == 1).sum()),
        answers.ordered,
    )


def shares_of_persons(codes: Codes, counts: Codes, persons: Codes) -> Floats:
    """The share of every answer among all rows, each person weighing 1."""
    return _shares(np.zeros_like(codes), codes, counts, persons).shares


def class_of_persons(
    answers: SensitiveAnswers, counts: Codes, persons: Codes, whole: Floats, tail: int
) -> SensitiveCheck:
    """One class in which persons may have several rows, against the shares of all answers."""
    alone = np.zeros_like(answers.codes)
    parts = _shares(alone, answers.codes, counts, persons)
    entropy = float(-(parts.shares * np.log(parts.shares)).sum())
    distances = _ordered_distances(parts, whole) if answers.ordered else _nominal_distances(parts, whole)
    gains = _gains(parts, whole)
    return SensitiveCheck(
        answers.name,
        int(_matching_sizes(alone, answers.codes, persons)[0]),
        math.exp(max(0.0, entropy)),
        float(distances[0]),
        tail,
        float(_recursive(parts, tail)[0]),
        float(max(0.0, gains.max())),
        bool((gains <= -np.log(whole[parts.codes]) + 1e-9).all()),
        int(len(parts.codes) == 1),
        answers.ordered,
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
        _, pair = _pairs(classes, persons)
        weights = weights / np.bincount(pair, weights)[pair]
    cells, place = _pairs(classes, codes)
    sums = np.bincount(place, weights)
    return _Parts(cells[0], cells[1], sums / np.bincount(cells[0], sums)[cells[0]])


def _pairs(first: NDArray[Any], second: Codes) -> tuple[tuple[Codes, Codes], Codes]:
    """The pairs that occur, in ascending order, and the place of every row's pair among them."""
    width = int(second.max()) + 1
    keys, place = np.unique(first.astype(np.int64) * width + second, return_inverse=True)
    return np.divmod(keys, width), place.ravel()


def _gains(parts: _Parts, whole: Floats) -> Floats:
    """How much more frequent each answer is in its class than in all rows, as a share of the latter."""
    expected = whole[parts.codes]
    return (parts.shares - expected) / expected


def _recursive(parts: _Parts, tail: int) -> Floats:
    """In each class the most frequent answer's share over that of the `tail`-th most frequent answer and all after it."""
    order = np.lexsort((-parts.shares, parts.classes))
    classes, shares = parts.classes[order], parts.shares[order]
    first = np.flatnonzero(np.concatenate([[True], np.diff(classes) > 0]))
    rank = np.arange(len(classes)) - np.repeat(first, np.diff(np.append(first, len(classes))))
    rest = np.bincount(classes, np.where(rank >= tail - 1, shares, 0.0))
    with np.errstate(divide="ignore"):
        return shares[first] / np.where(rest > 1e-12, rest, 0.0)


def _nominal_distances(parts: _Parts, whole: Floats) -> Floats:
    """Half the absolute differences of shares; answers that a class does not show differ by their whole share."""
    expected = whole[parts.codes]
    gaps = np.bincount(parts.classes, np.abs(parts.shares - expected) - expected)
    return (gaps + 1) / 2


def _ordered_distances(parts: _Parts, whole: Floats) -> Floats:
    """The earth mover's distance along the order: what is carried over each of the m - 1 steps, each 1/(m-1) long.

    Between two answers of a class its cumulated share stays the same while that of the whole ascends; so each stretch
    is a sum of differences of one sign up to where the whole overtakes, and of the other sign after it.
    """
    cumulated = np.cumsum(whole)
    sums = np.concatenate([[0.0], np.cumsum(cumulated)])
    last = np.append(np.flatnonzero(np.diff(parts.classes)), len(parts.classes) - 1)
    stop = np.append(parts.codes[1:], len(whole))
    stop[last] = len(whole)
    reached = np.cumsum(parts.shares)
    reached -= np.repeat(np.concatenate([[0.0], reached[last][:-1]]), np.diff(np.concatenate([[-1], last])))
    start = parts.codes
    turn = np.clip(np.searchsorted(cumulated, reached), start, stop)
    carried = (
        reached * (turn - start) - (sums[turn] - sums[start]) + (sums[stop] - sums[turn]) - reached * (stop - turn)
    )
    first = np.concatenate([[0], last[:-1] + 1])
    before = sums[parts.codes[first]]  # below its first answer a class has carried nothing yet
    return (np.bincount(parts.classes, carried) + before) / max(1, len(whole) - 1)


def _matching_sizes(classes: Codes, codes: Codes, persons: Codes) -> Codes:
    """In each class the most answers that as many different persons show, one each: a matching."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    (holders, _), holder = _pairs(classes, persons)
    cells, cell = _pairs(classes, codes)
    edges = csr_array((np.ones(len(classes), np.int32), (cell, holder)), shape=(len(cells[0]), len(holders)))
    matched = maximum_bipartite_matching(edges, perm_type="column") >= 0
    return np.bincount(cells[0], matched, int(classes.max()) + 1).astype(np.int64)
