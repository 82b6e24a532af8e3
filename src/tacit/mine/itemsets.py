"""Frequent itemsets from disguised reports (FRAPP, Agrawal and Haritsa 2005), under any scheme."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, Literal, Self

from sklearn.base import BaseEstimator

from tacit.count.sources import ReportSource, sources
from tacit.errors import InvalidInput, UnknownName
from tacit.estimation.closed_supports import supports_from
from tacit.estimation.supports import Supports, most_likely_supports
from tacit.mine.apriori import Search, Threshold, search
from tacit.mine.certainty import certain, checked_certainty, in_order, noise_in_words, noisy_lengths
from tacit.mine.itemset_result import Itemsets

METHODS = ("inversion", "likelihood")


class FrequentItemsets(BaseEstimator):
    """Every combination of answers that at least `min_support` of the people give, found level by level.

    A combination is looked at if all its parts are frequent, or lie at most `slack` standard errors below the
    threshold: estimates scatter, and a part that seems rare by chance would otherwise hide all that it is part of.
    An itemset is listed if it is frequent with the `certainty` that is asked for, false discoveries controlled over all
    that were looked at; supports are then shown within [0, 1] and never above those of their parts, and lengths whose
    errors exceed the threshold are left out, with a note (``itemsets_.notes``) of how many respondents they would take.
    With a certainty of 0 or None whatever is estimated above the threshold is listed, as published. Reports that
    disguise nothing are counted, not estimated, so all their itemsets are certain.

    With the method "likelihood" supports come from the most likely joint distribution (after at most 60 accelerated
    steps), which is never negative; the errors shown remain those of the unbiased estimates.

    Parameters
    ----------
    min_support : float
        Least share of people.
    max_length : int, optional
        Most answers of an itemset.
    slack : float
        Standard errors below the threshold at which an itemset is still extended.
    method : {"inversion", "likelihood"}
        How supports are estimated.
    certainty : float or None
        With which certainty an itemset must be frequent to be listed.

    Examples
    --------
    >>> import tacit
    >>> truth = tacit.Dataset.from_arrow({"smokes": ["no"] * 7 + ["yes"] * 3, "drinks": ["no"] * 6 + ["yes"] * 4})
    >>> miner = FrequentItemsets(min_support=0.5).fit(tacit.Reports.from_truth(truth))
    >>> [round(itemset.support, 2) for itemset in miner.itemsets_]
    [0.7, 0.6, 0.6]
    """

    itemsets_: Itemsets

    def __init__(
        self,
        min_support: float = 0.02,
        max_length: int | None = None,
        slack: float = 0.0,
        method: Literal["inversion", "likelihood"] = "inversion",
        certainty: float | None = 0.95,
    ) -> None:
        self.min_support = min_support
        self.max_length = max_length
        self.slack = slack
        self.method = method
        self.certainty = certainty

    def fit(self, X: ReportSource | Sequence[ReportSource], y: Any = None) -> Self:
        """Find the itemsets in reports; several sets of reports are pooled."""
        threshold = Threshold(checked_support(self.min_support), _checked_slack(self.slack))
        length = _checked_length(self.max_length)
        certainty = checked_certainty(self.certainty)
        supports = self._supports(X)
        searched = search(supports, threshold, length)
        self.n_reports_ = supports.n_reports
        self.itemsets_ = _list_itemsets(searched, supports, threshold.min_support, None if _is_clear(X) else certainty)
        return self

    def _supports(self, reports: ReportSource | Sequence[ReportSource]) -> Supports:
        if self.method not in METHODS:
            raise UnknownName("Method", str(self.method), METHODS)
        unbiased = supports_from(reports)
        if self.method == "inversion":
            return unbiased

        return most_likely_supports(reports, unbiased)


def _is_clear(reports: ReportSource | Sequence[ReportSource]) -> bool:
    """Whether nothing was disguised."""
    return not any(source.questionnaire.groups for source in sources(reports))


def _list_itemsets(searched: Search, supports: Supports, min_support: float, certainty: float | None) -> Itemsets:
    n_reports = supports.n_reports
    if certainty is None:
        return Itemsets(searched.frequent, supports, min_support, n_reports, searched.unknown)
    noisy = noisy_lengths(searched.tried, min_support, n_reports, certainty)
    listed = [
        candidates
        for candidates in certain(searched.tried, min_support, certainty)
        if len(candidates.names) not in noisy
    ]
    notes = tuple(noise_in_words(noisy, min_support))
    judged = [candidates for candidates in searched.tried if len(candidates.names) not in noisy]
    n_splits = sum(len(candidates.codes) * (2 ** len(candidates.names) - 2) for candidates in judged)
    return Itemsets(in_order(listed), supports, min_support, n_reports, searched.unknown, certainty, notes, n_splits)


def checked_support(min_support: float) -> float:
    if not (isinstance(min_support, Real) and 0 < min_support <= 1):
        raise InvalidInput(
            f"min_support, the least share of people, must lie above 0 and at most at 1, not {min_support!r}. "
            "For two in a hundred say 0.02."
        )
    return float(min_support)


def _checked_slack(slack: float) -> float:
    if not (isinstance(slack, Real) and 0 <= slack < float("inf")):
        raise InvalidInput(f"slack counts standard errors and must be a number of at least 0, not {slack!r}.")
    return float(slack)


def _checked_length(max_length: int | None) -> int | None:
    if max_length is not None and not (isinstance(max_length, int) and max_length >= 1):
        raise InvalidInput(f"max_length must be a whole number of at least 1, or None for any, not {max_length!r}.")
    return max_length
