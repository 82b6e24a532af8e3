"""Whether reports look like the page's own, and how far false ones could reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.scheme import Group
from tacit.count.sources import ReportSource, sources
from tacit.errors import NotEstimable
from tacit.schema import Attribute

# Below this a survey's reports are called suspicious; about one honest group in a thousand would be, too.
SUSPICIOUS = 1e-3


@dataclass(frozen=True)
class Fit:
    """Whether a group's channel could have produced its reports; the p-value is a lower bound of the exact one's use.

    The statistic is the likelihood ratio between any distribution of reports and the best one the channel can make.
    Its law depends on which truths are absent; the chi-square with one degree less than there are reports is never
    smaller, so an honest survey is called suspicious at most as often as `SUSPICIOUS` says.
    """

    names: tuple[str, ...]
    p_value: float | None
    statistic: float

    @property
    def verdict(self) -> str:
        if self.p_value is None:
            return "not tested: reports are sets"
        if self.p_value < SUSPICIOUS:
            return "suspicious: the page's channel does not produce such reports"
        return "nothing suspicious"


def fit_of(reports: ReportSource, group: Group) -> Fit:
    from scipy.stats import chi2

    from tacit.estimate import estimate

    if any(column.shows != "one" for column in group.report_attributes):
        return Fit(group.names, None, 0.0)
    (source,) = sources(reports)
    counts = source.engine.tally([column.name for column in group.report_attributes]).astype(np.float64)
    try:
        truth = estimate(reports, group.names, method="likelihood").probabilities
    except NotEstimable:
        return Fit(group.names, None, 0.0)
    expected = group.channel.apply(truth) * counts.sum()
    seen = counts > 0
    statistic = 2 * float((counts[seen] * np.log(counts[seen] / expected[seen])).sum())
    return Fit(group.names, float(chi2.sf(max(statistic, 0.0), counts.size - 1)), statistic)


def largest_shift(group: Group, attribute: str, code: int, share: float, n_reports: int, fakes: int) -> float:
    """How far `fakes` added reports, chosen at will, could move the estimated share of one answer."""
    weights = report_weights(group, attribute, code)
    return fakes / (n_reports + fakes) * max(float(weights.max()) - share, share - float(weights.min()))


def report_weights(group: Group, attribute: str, code: int) -> NDArray[np.float64]:
    """What each possible report adds to the estimate of one answer: the estimate is the mean of these."""
    axis = group.names.index(attribute)
    wanted = np.zeros(group.channel.shape)
    wanted[(slice(None),) * axis + (code,)] = 1
    table = group.channel.solve_adjoint(wanted)
    columns = zip(group.channel.reports(), group.report_attributes, strict=True)
    shown = [_slots(codes, column) for codes, column in columns]
    totals = np.broadcast_to(table, (len(shown[0]), *table.shape))
    for column in shown:
        totals = np.einsum("rs...,rs->r...", totals, column)
    return totals


def _slots(codes: NDArray[Any], attribute: Attribute) -> NDArray[np.float64]:
    """Which slots of a tally each report adds to: its answer, or its members and the slot that counts every report."""
    indicators = np.zeros((len(codes), attribute.tally_size))
    if attribute.shows == "one":
        indicators[np.arange(len(codes)), codes] = 1
        return indicators
    indicators[:, -1] = 1
    if attribute.shows == "bits":
        indicators[:, :-1] = codes
    else:
        np.put_along_axis(indicators, codes.astype(np.intp), 1, axis=1)
    return indicators
