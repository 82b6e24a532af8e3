"""Frequent itemsets, level by level (Agrawal and Srikant 1994), from estimated supports and with their errors in mind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.count.shown_counts import Level
from tacit.errors import NotEstimable
from tacit.estimation.supports import Codes, Names, Supports, keys

# Supports are sums of floats: one that equals the threshold must not fall below it by rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Candidates:
    """Itemsets over the same attributes that may still be frequent, with what is estimated of them."""

    names: Names
    codes: Codes
    supports: Array  # unbiased, so one may fall below 0 or exceed that of a part of its itemset
    errors: Array
    shares: Array | None = None  # the supports as they are shown: within [0, 1] and in order, where that was asked for

    def rows(self, which: NDArray[np.bool_]) -> Candidates:
        if which.all():
            return self
        shares = None if self.shares is None else self.shares[which]
        return Candidates(self.names, self.codes[which], self.supports[which], self.errors[which], shares)


@dataclass(frozen=True)
class Threshold:
    """From which support on an itemset is frequent, and how far below it may lie and still be extended."""

    min_support: float
    slack: float  # in standard errors

    def within_slack(self, candidates: Candidates) -> Candidates:
        """The candidates to extend: those that are frequent, or short of it by no more than the slack."""
        return candidates.rows(candidates.supports >= self.min_support - self.slack * candidates.errors - ROUNDING)

    def frequent(self, candidates: Candidates) -> Candidates:
        return candidates.rows(candidates.supports >= self.min_support - ROUNDING)


@dataclass(frozen=True, eq=False)
class Search:
    """What was found, all that was looked at, and why some attributes could not be looked at together."""

    frequent: tuple[Candidates, ...]
    tried: tuple[Candidates, ...]
    unknown: tuple[str, ...]


def search(supports: Supports, threshold: Threshold, max_length: int | None) -> Search:
    """Every frequent itemset of which all sub-itemsets are frequent or within the slack."""
    frequent: list[Candidates] = []
    tried: list[Candidates] = []
    unknown: list[str] = []
    level = _single_answers(supports, threshold, tried)
    length = 1
    while level:
        frequent.extend(threshold.frequent(candidates) for candidates in level.values())
        length += 1
        if max_length is not None and length > max_length:
            break
        level = _next_level(supports, threshold, level, tried, unknown)
    return Search(
        tuple(itemsets for itemsets in frequent if len(itemsets.codes)), tuple(tried), tuple(dict.fromkeys(unknown))
    )


def _single_answers(supports: Supports, threshold: Threshold, tried: list[Candidates]) -> dict[Names, Candidates]:
    every = {name: np.arange(supports.schema[name].size) for name in supports.schema.names}
    level, reasons = supports.estimable_itemsets({(name,): codes[:, None] for name, codes in every.items()})
    if reasons:
        raise NotEstimable(reasons[0])
    singles = _estimate_level(supports, level)
    tried.extend(singles.values())
    promising = {names: threshold.within_slack(candidates) for names, candidates in singles.items()}
    promising = {names: candidates for names, candidates in promising.items() if len(candidates.codes)}
    supports.keep({names[0]: candidates.codes[:, 0] for names, candidates in promising.items()})
    return promising


def _estimate_level(supports: Supports, level: Level) -> dict[Names, Candidates]:
    """Everything of one length, counted in one go."""
    supports.prepare(level)
    return {names: Candidates(names, level[names], *both) for names, both in supports.level_estimates(level).items()}


def _next_level(
    supports: Supports,
    threshold: Threshold,
    below: dict[Names, Candidates],
    tried: list[Candidates],
    unknown: list[str],
) -> dict[Names, Candidates]:
    wanted, reasons = supports.estimable_itemsets(dict(_longer_itemsets(supports, below)))
    unknown.extend(reasons)
    level = {}
    for names, candidates in _estimate_level(supports, wanted).items():
        tried.append(candidates)
        promising = threshold.within_slack(candidates)
        if len(promising.codes):
            level[names] = promising
    return level


def _longer_itemsets(supports: Supports, below: dict[Names, Candidates]) -> Iterator[tuple[Names, Codes]]:
    """Itemsets one answer longer, all of whose sub-itemsets are in the level below, by their attributes."""
    order = supports.schema.names
    keys_below = {names: np.sort(keys(below[names].codes, supports.schema.shape(names))) for names in below}
    last_answers = {names: np.unique(candidates.codes[:, -1]) for names, candidates in below.items()}
    for names, shorter in below.items():
        for last in order[order.index(names[-1]) + 1 :]:
            longer = (*names, last)
            parts = [longer[:at] + longer[at + 1 :] for at in range(len(longer))]
            if all(candidates in below for candidates in parts):
                codes = _cross_codes(shorter.codes, last_answers[parts[0]])
                # Any two frequent answers make a pair; of longer itemsets every sub-itemset must be in the level below.
                for at, candidates in enumerate(parts[:-1] if len(longer) > 2 else []):
                    others = [column for column in range(len(longer)) if column != at]
                    shorter_keys = keys(codes[:, others], supports.schema.shape(candidates))
                    codes = codes[_among(shorter_keys, keys_below[candidates])]
                if len(codes):
                    yield longer, codes


def _among(numbers: NDArray[np.int64], ascending: NDArray[np.int64]) -> NDArray[np.bool_]:
    places = np.searchsorted(ascending, numbers)
    return ascending[np.minimum(places, len(ascending) - 1)] == numbers


def _cross_codes(codes: Codes, answers: NDArray[np.int64]) -> Codes:
    crossed = np.empty((len(codes), len(answers), codes.shape[1] + 1), dtype=np.int64)
    crossed[:, :, :-1], crossed[:, :, -1] = codes[:, None], answers
    return crossed.reshape(-1, codes.shape[1] + 1)
