"""Association rules from frequent itemsets, each number with its standard error.

Supports of an itemset and of its two halves are estimated from the same reports, so their errors go together; the delta
method takes their covariances into account.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from scipy.special import ndtri

from tacit.channel.base import Array
from tacit.display import Told, decimals, fixed_decimals, rounded_error, told_lines
from tacit.errors import InvalidInput, UnknownName
from tacit.estimation.intervals import share_intervals
from tacit.estimation.supports import Codes, Names, members
from tacit.mine.apriori import Candidates
from tacit.mine.certainty import above, discoveries
from tacit.mine.itemset_result import Itemsets

Metric = Literal["support", "confidence", "lift", "leverage", "conviction"]
METRICS: tuple[Metric, ...] = ("support", "confidence", "lift", "leverage", "conviction")
MEANS = "± one standard error, then the 95% interval"


@dataclass(frozen=True)
class Measured:
    """An estimate, its standard error and, for a confidence, its interval of 95% within [0, 1]."""

    value: float
    standard_error: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Rule:
    """Who gives these answers tends to give those.

    Supports and confidence are shown within [0, 1]; where an estimated confidence exceeds 1 by chance, conviction is infinite.
    """

    antecedents: tuple[tuple[str, str], ...]
    consequents: tuple[tuple[str, str], ...]
    antecedent_support: float
    consequent_support: float
    support: Measured
    confidence: Measured
    lift: Measured
    leverage: Measured
    conviction: Measured

    def to_document(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "if": dict(self.antecedents),
            "then": dict(self.consequents),
            "antecedent_support": self.antecedent_support,
            "consequent_support": self.consequent_support,
        }
        for metric in METRICS:
            measured: Measured = getattr(self, metric)
            document[metric] = measured.value
            document[f"{metric}_standard_error"] = measured.standard_error
        return document | {"confidence_low": self.confidence.low, "confidence_high": self.confidence.high}

    @property
    def line(self) -> str:
        """The rule, its confidence to as many digits as its error leaves, and the 95% interval."""
        if_part, then_part = (", ".join(labels(side)) for side in (self.antecedents, self.consequents))
        confidence, places = self.confidence, confidence_decimals([self])
        error = rounded_error(confidence.standard_error, places)
        rule = f"{if_part} -> {then_part}: {fixed_decimals(confidence.value, places)} ± {error}"
        if confidence.low is None:
            return rule
        return f"{rule}, {fixed_decimals(confidence.low, places)} to {fixed_decimals(confidence.high, places)}"

    def __str__(self) -> str:
        return f"{self.line} ({MEANS})"


def confidence_decimals(rules: Sequence[Rule]) -> int:
    """How many decimals the errors of the confidences leave; where one is 0, its interval says how sure it is."""
    spreads = []
    for confidence in (rule.confidence for rule in rules):
        width = 0.0 if confidence.low is None or confidence.high is None else confidence.high - confidence.low
        spreads.append(confidence.standard_error or width / 4)
    return decimals(spreads)


def labels(items: tuple[tuple[str, str], ...]) -> list[str]:
    return [f"{attribute}={answer}" for attribute, answer in items]


@dataclass(frozen=True, eq=False, repr=False)
class Rules(Told):
    """Rules by falling value of the metric they were chosen by."""

    rules: tuple[Rule, ...]
    metric: Metric
    min_threshold: float
    certainty: float | None = None

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def to_document(self) -> list[dict[str, Any]]:
        return [rule.to_document() for rule in self.rules]

    def to_arrow(self) -> Any:
        """The columns of mlxtend's rules that have an error here, and beside each its ``... error``."""
        sides = pa.list_(pa.string())
        columns: dict[str, Any] = {
            "antecedents": pa.array([labels(rule.antecedents) for rule in self.rules], sides),
            "consequents": pa.array([labels(rule.consequents) for rule in self.rules], sides),
            "antecedent support": pa.array([rule.antecedent_support for rule in self.rules], pa.float64()),
            "consequent support": pa.array([rule.consequent_support for rule in self.rules], pa.float64()),
        }
        for metric in METRICS:
            columns[metric] = pa.array([getattr(rule, metric).value for rule in self.rules], pa.float64())
        for metric in METRICS:
            errors = [getattr(rule, metric).standard_error for rule in self.rules]
            columns[f"{metric} error"] = pa.array(errors, pa.float64())
        return pa.table(columns)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """The columns of `to_arrow` as a pandas frame, the two sides of a rule as frozen sets."""
        frame = self.to_arrow().to_pandas()
        for side in ("antecedents", "consequents"):
            frame[side] = frame[side].map(frozenset)
        return frame

    @property
    def none(self) -> str:
        """What is said where no rule is listed, and what to do about it."""
        if self.certainty is None:
            return f"No rule has a {self.metric} of at least {self.min_threshold:g}. Lower the threshold."
        return (
            f"No rule has a {self.metric} of at least {self.min_threshold:g} with {self.certainty:.0%} certainty. Lower the "
            "threshold, ask more people, or see every estimate, however rough, with a certainty of 0."
        )

    def __str__(self) -> str:
        return told_lines([rule.line for rule in self.rules], f"({MEANS})") if self.rules else self.none

    def __repr__(self) -> str:
        return f"<Rules: {len(self):,} by {self.metric} of at least {self.min_threshold:g}>"


def association_rules(itemsets: Itemsets, metric: Metric = "confidence", min_threshold: float = 0.8) -> Rules:
    """Every way to split a frequent itemset in two whose `metric` reaches the threshold.

    Where the itemsets were found with a certainty, a rule is listed if it reaches the threshold with that certainty,
    false discoveries controlled over the splits of all itemsets that were looked at: those that seem frequent by chance
    seem to go together by the same chance.

    Parameters
    ----------
    itemsets : Itemsets
        The ``itemsets_`` of a fitted `FrequentItemsets`.
    metric : {"support", "confidence", "lift", "leverage", "conviction"}
        What rules are chosen and ordered by.
    min_threshold : float
        Its least value.

    Returns
    -------
    Rules
        By falling value of the metric.

    Raises
    ------
    InvalidInput
        Where `itemsets` is something else, or the metric or the threshold does not exist.

    Examples
    --------
    >>> import tacit
    >>> truth = tacit.Dataset.from_arrow({"smokes": ["no"] * 7 + ["yes"] * 3, "drinks": ["no"] * 6 + ["yes"] * 4})
    >>> from tacit.mine import FrequentItemsets
    >>> miner = FrequentItemsets(min_support=0.5).fit(tacit.Reports.from_truth(truth))
    >>> print(next(iter(association_rules(miner.itemsets_))))
    drinks=no -> smokes=no: 1.000 ± 0.000, 0.607 to 1.000 (± one standard error, then the 95% interval)
    """
    if not isinstance(itemsets, Itemsets):
        raise InvalidInput(f"Rules are made from the itemsets_ of a fitted FrequentItemsets, not from {itemsets!r}.")
    if metric not in METRICS:
        raise UnknownName("Metric", str(metric), METRICS)
    if not isinstance(min_threshold, numbers.Real) or not np.isfinite(float(min_threshold)):
        raise InvalidInput(f"min_threshold must be a finite number, not {min_threshold!r}.")
    tried = [
        split
        for candidates in itemsets.found
        if len(candidates.names) > 1
        for split in _splits_over(itemsets, candidates, metric, float(min_threshold))
    ]
    splits = tried if itemsets.certainty is None else _certain(tried, itemsets.certainty, itemsets.n_splits)
    rules = sorted((split.rule for split in splits), key=lambda rule: -getattr(rule, metric).value)
    return Rules(tuple(rules), metric, float(min_threshold), itemsets.certainty)


@dataclass(frozen=True)
class _Split:
    """A rule that was looked at, and the chance of an estimate so large if it were at the threshold."""

    rule: Rule
    p_value: float


def _certain(judged: Sequence[_Split], certainty: float, n_splits: int) -> list[_Split]:
    if not judged:
        return []
    are_discoveries = discoveries(np.array([split.p_value for split in judged]), certainty, n_splits)
    return [split for split, is_found in zip(judged, are_discoveries, strict=True) if is_found]


def _splits_over(itemsets: Itemsets, candidates: Candidates, metric: Metric, least: float) -> Iterator[_Split]:
    """The rules among itemsets over the same attributes: those above the threshold, or all where noise is judged."""
    supports = _sub_supports(itemsets, candidates.names, candidates.codes)
    whole = supports.shape[1] - 1
    covariances: Array | None = None
    for antecedent in range(1, whole):
        sides = (whole, antecedent, whole - antecedent)
        values = _metrics(*(supports[:, side] for side in sides))
        reached = values[metric] >= least - 1e-12 if itemsets.certainty is None else np.isfinite(values["confidence"])
        chosen = np.flatnonzero(reached & (supports[:, sides[1:]] > 0).all(axis=1))
        if not len(chosen):
            continue
        if covariances is None:
            covariances = itemsets.supports.covariances(candidates.names, candidates.codes)
        three, spread = supports[chosen][:, sides], covariances[chosen][:, sides][:, :, sides]
        errors = _metric_errors(three, spread)
        lows, highs = confidence_intervals(three, spread, errors["confidence"], itemsets.n_reports)
        p_values = _p_values(values[metric][chosen], errors[metric], three, spread, metric, least)
        for place, row in enumerate(chosen):
            measured = {name: Measured(float(values[name][row]), float(errors[name][place])) for name in METRICS}
            measured["support"] = _bound_share(measured["support"])
            measured["confidence"] = _bound_share(measured["confidence"], float(lows[place]), float(highs[place]))
            left, right = _sides(itemsets, candidates, candidates.codes[row], antecedent)
            if_share, then_share = np.clip(supports[row, sides[1:]], 0, 1).tolist()
            rule = Rule(left, right, if_share, then_share, **measured)
            yield _Split(rule, float(p_values[place]))


def _bound_share(share: Measured, low: float | None = None, high: float | None = None) -> Measured:
    """A metric as it is shown: no share lies below 0 or above 1."""
    return Measured(min(max(share.value, 0.0), 1.0), share.standard_error, low, high)


def _p_values(values: Array, errors: Array, supports: Array, covariances: Array, metric: Metric, least: float) -> Array:
    """P-values of "the metric is below the threshold"; a confidence is judged by ``both - least * left``."""
    if metric != "confidence":
        return above(values - least, np.nan_to_num(errors, nan=np.inf))
    slope = np.array([1.0, -least, 0.0])
    variances = np.einsum("a,mab,b->m", slope, covariances, slope)
    return above(supports @ slope + 1e-12, np.sqrt(np.maximum(variances, 0)))


def confidence_intervals(supports: Array, covariances: Array, errors: Array, n_reports: int) -> tuple[Array, Array]:
    """Intervals of confidences within [0, 1], never of width 0.

    At the edge the two estimates may go so much together that they refute everything else, or everything within [0, 1]:
    there the interval is joined with that of a share among as many people as the antecedent has.
    """
    low, high = ratio_intervals(supports, covariances)
    confidence = supports[:, 0] / supports[:, 1]
    people = np.maximum(np.clip(supports[:, 1], 0, 1) * n_reports, 1.0)
    ends = share_intervals(confidence, np.nan_to_num(errors), people)
    edge = (confidence <= 0) | (confidence >= 1 - 1e-12) | (high - low < 1e-12)
    return np.where(edge, np.minimum(low, ends.low), low), np.where(edge, np.maximum(high, ends.high), high)


def ratio_intervals(supports: Array, covariances: Array, level: float = 0.95) -> tuple[Array, Array]:
    """Intervals of ``both / antecedent`` within [0, 1] (Fieller 1954): all ratios that the two estimates do not refute.

    Where the antecedent's support cannot be told from 0, nothing is refuted, and the interval is all of [0, 1].
    """
    both, left = supports[:, 0], supports[:, 1]
    squared = float(ndtri((1 + level) / 2)) ** 2
    a = left**2 - squared * covariances[:, 1, 1]
    b = both * left - squared * covariances[:, 0, 1]
    c = both**2 - squared * covariances[:, 0, 0]
    root = np.sqrt(np.maximum(b**2 - a * c, 0))
    bounded = a > 0
    safe = np.where(bounded, a, 1.0)
    low = np.where(bounded, (b - root) / safe, 0.0)
    high = np.where(bounded, (b + root) / safe, 1.0)
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def _sub_supports(itemsets: Itemsets, names: Names, codes: Codes) -> Array:
    """Supports of all sub-itemsets of each: ``(itemsets, 2**length)``."""
    columns = [np.ones(len(codes))]
    for chosen in members(len(names))[1:]:
        places = np.flatnonzero(chosen)
        columns.append(itemsets.supports.estimates(tuple(names[at] for at in places), codes[:, places])[0])
    return np.column_stack(columns)


def _metrics(both: Array, antecedent: Array, consequent: Array) -> dict[Metric, Array]:
    with np.errstate(divide="ignore", invalid="ignore"):
        confidence = both / antecedent
        failing = 1 - confidence
        conviction = np.where(failing > 1e-12, (1 - consequent) / failing, np.inf)
        return {
            "support": both,
            "confidence": confidence,
            "lift": confidence / consequent,
            "leverage": both - antecedent * consequent,
            "conviction": conviction,
        }


def _metric_errors(supports: Array, covariances: Array) -> dict[Metric, Array]:
    """Standard errors by the delta method; the axes hold both sides together, the antecedent, the consequent."""
    s, x, y = supports.T
    zero, unit = np.zeros_like(s), np.ones_like(s)
    failing = x - s
    with np.errstate(divide="ignore", invalid="ignore"):
        gradients: dict[Metric, list[Array]] = {
            "support": [unit, zero, zero],
            "confidence": [1 / x, -s / x**2, zero],
            "lift": [1 / (x * y), -s / (x**2 * y), -s / (x * y**2)],
            "leverage": [unit, -y, -x],
            "conviction": [(1 - y) * x / failing**2, -(1 - y) * s / failing**2, -x / failing],
        }
        errors = {}
        for metric, parts in gradients.items():
            slope = np.column_stack(parts)
            errors[metric] = np.sqrt(np.maximum(np.einsum("ma,mab,mb->m", slope, covariances, slope), 0))
    errors["conviction"] = np.where(failing > 1e-12, errors["conviction"], np.nan)
    return errors


def _sides(
    itemsets: Itemsets, candidates: Candidates, row: Array, antecedent: int
) -> list[tuple[tuple[str, str], ...]]:
    attributes = [itemsets.supports.schema[name] for name in candidates.names]
    items = [(a.name, a.answers[code]) for a, code in zip(attributes, row, strict=True)]
    left = [antecedent >> at & 1 for at in range(len(items))]
    return [tuple(item for item, inside in zip(items, left, strict=True) if inside == side) for side in (1, 0)]
