"""What may be called found: supports and rules whose errors leave no doubt, false discoveries controlled over all tried."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from tacit.channel.base import Array
from tacit.errors import InvalidInput
from tacit.mine.apriori import Candidates

# Rounds over all pairs of an itemset and its sub-itemsets; each round brings every pair in order once.
ORDERING_ROUNDS = 50


def checked_certainty(certainty: float | None) -> float | None:
    """A chance between one half and 1, or None where everything estimated above the threshold counts."""
    if certainty is None or certainty == 0:
        return None
    if not (isinstance(certainty, int | float) and 0.5 <= certainty < 1):
        raise InvalidInput(
            f"certainty is the wanted chance of being right and must lie from 0.5 to below 1, or be 0 to list whatever is "
            f"estimated above the threshold; it is {certainty!r}."
        )
    return float(certainty)


def above(excess: Array, errors: Array) -> Array:
    """The chance of an excess at least this large if there were none; what has no error is certain either way."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.where(errors > 0, excess / errors, np.where(excess >= 0, np.inf, -np.inf))
    return ndtr(-scores)


def discoveries(p_values: Array, certainty: float, tried: int | None = None) -> NDArray[np.bool_]:
    """Which of all hypotheses tried are refuted, with an expected share of false ones of at most ``1 - certainty``.

    Benjamini and Yekutieli (2001): it holds however the tests depend on each other, and supports of itemsets that share
    answers do. Where the hypotheses were chosen by the same reports from among more, `tried` is the number of all of them;
    the others count as not refuted.
    """
    tried = len(p_values) if tried is None else tried
    order = np.argsort(p_values, kind="stable")
    ranks = np.arange(1, tried + 1)
    within = p_values[order] <= ranks[: len(order)] * (1 - certainty) / (tried * np.sum(1 / ranks))
    last = int(np.flatnonzero(within)[-1]) + 1 if within.any() else 0
    discovered = np.zeros(len(order), dtype=np.bool_)
    discovered[order[:last]] = True
    return discovered


def certain(tried: Sequence[Candidates], min_support: float, certainty: float) -> tuple[Candidates, ...]:
    """The itemsets that are frequent with this certainty, over all that were looked at."""
    if not tried:
        return ()
    supports, errors = (np.concatenate(each) for each in zip(*((p.supports, p.errors) for p in tried), strict=True))
    p_values = above(supports - min_support, errors)
    discovered = np.split(discoveries(p_values, certainty), np.cumsum([len(itemsets.codes) for itemsets in tried])[:-1])
    return tuple(itemsets.rows(which) for itemsets, which in zip(tried, discovered, strict=True) if which.any())


def noisy_lengths(tried: Sequence[Candidates], min_support: float, n_reports: int, certainty: float) -> dict[int, int]:
    """Lengths whose errors exceed the threshold, with the respondents from which on they would tell something.

    So many are needed that a support of twice the threshold stands out from it with the wanted certainty.
    """
    needed = {}
    for length in sorted({len(itemsets.names) for itemsets in tried}):
        error = float(
            np.median(np.concatenate([itemsets.errors for itemsets in tried if len(itemsets.names) == length]))
        )
        if error > min_support:
            needed[length] = math.ceil(n_reports * (ndtri(certainty) * error / min_support) ** 2)
    return needed


def noise_in_words(noisy: dict[int, int], min_support: float) -> list[str]:
    return [
        f"Itemsets of {length} answer{'s' if length > 1 else ''} are not listed: their standard errors exceed the least "
        f"support of {min_support:g}. It would take about {respondents:,} respondents."
        for length, respondents in noisy.items()
    ]


def in_order(candidates: Sequence[Candidates]) -> tuple[Candidates, ...]:
    """Supports within [0, 1], and none above that of a part of its itemset, where both are listed.

    A pair in the wrong order is set to its mean, the more precise of the two counting more; what rounding leaves is cut.
    """
    if not candidates:
        return ()
    shares = np.concatenate([np.clip(itemsets.supports, 0, 1) for itemsets in candidates])
    weights = np.concatenate([1 / np.maximum(itemsets.errors, 1e-12) ** 2 for itemsets in candidates])
    pairs = _nested_places(candidates)  # by length, so that parts are settled before what they are parts of
    smaller, larger = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
    for _ in range(ORDERING_ROUNDS):
        wrong = np.flatnonzero(shares[smaller] < shares[larger])
        if not len(wrong):
            break
        for subset, superset in zip(smaller[wrong], larger[wrong], strict=True):
            if shares[subset] < shares[superset]:
                total = shares[subset] * weights[subset] + shares[superset] * weights[superset]
                shares[subset] = shares[superset] = total / (weights[subset] + weights[superset])
    for of_length in pairs:
        np.minimum.at(shares, of_length[1], shares[of_length[0]])
    ends = np.cumsum([len(itemsets.codes) for itemsets in candidates])[:-1]
    return tuple(
        replace(itemsets, shares=ordered) for itemsets, ordered in zip(candidates, np.split(shares, ends), strict=True)
    )


_Places = NDArray[np.int64]


def _nested_places(candidates: Sequence[Candidates]) -> list[tuple[_Places, _Places]]:
    """Places of itemsets one answer shorter and of those they are parts of, for each length, the shortest first."""
    none = np.zeros(0, dtype=np.int64)
    pairs, (below, places_below) = [(none, none)], (np.zeros((0, 0), dtype=np.int64), none)
    for length in sorted({len(itemsets.names) for itemsets in candidates}):
        items, places = _stack_itemsets(candidates, length)
        if below.shape[1] == length - 1 and len(below):
            without = np.concatenate([np.delete(items, at, axis=1) for at in range(length)])
            numbers = _row_numbers(np.concatenate([below, without]))
            listed = np.full(int(numbers.max()) + 1, -1)
            listed[numbers[: len(below)]] = places_below
            shorter = listed[numbers[len(below) :]].reshape(length, -1).T
            longer = np.broadcast_to(places[:, None], shorter.shape)
            pairs.append((shorter[shorter >= 0], longer[shorter >= 0]))
        below, places_below = items, places
    return pairs


def _stack_itemsets(candidates: Sequence[Candidates], length: int) -> tuple[_Places, _Places]:
    """The itemsets of a length as rows of answers, each answer a number of its own, and their places among all."""
    names = list(dict.fromkeys(name for itemsets in candidates for name in itemsets.names))
    number = {name: place for place, name in enumerate(names)}
    sizes = np.array([len(itemsets.codes) for itemsets in candidates])
    is_here = np.array([len(itemsets.names) == length for itemsets in candidates])
    parts = [itemsets for itemsets in candidates if len(itemsets.names) == length]
    attributes = np.array([[number[name] for name in itemsets.names] for itemsets in parts])
    items = np.concatenate([itemsets.codes for itemsets in parts]) * len(names) + np.repeat(
        attributes, sizes[is_here], axis=0
    )
    return items, np.flatnonzero(np.repeat(is_here, sizes))


def _row_numbers(rows: _Places) -> _Places:
    """One number for each different row."""
    numbers, size = np.zeros(len(rows), dtype=np.int64), int(rows.max(initial=0)) + 1
    for column in rows.T:
        numbers = np.unique(numbers * size + column, return_inverse=True)[1].reshape(-1)
    return numbers
