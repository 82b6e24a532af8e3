"""Whether reports look like the page's own, and how far false ones could reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.codes import shown_slots
from tacit.channel.scheme import Group, Questionnaire
from tacit.count.protocol import Source
from tacit.count.sources import ReportSource, sources
from tacit.errors import NotEstimable, TacitError
from tacit.reports import Reports

Array = NDArray[np.float64]

# Below this a survey's reports are called suspicious; about one honest group in a thousand would be, too.
SUSPICIOUS = 1e-3


# Reports that would be rarer than this are compared together, so that the chi-square law holds.
LEAST_EXPECTED = 5.0
MOST_PATTERNS = 1 << 12
# The most likely truth behind the reports is looked for among so many answers.
MOST_ANSWERS = 1 << 10


@dataclass(frozen=True)
class FitTest:
    """Whether a group's channel could have produced its reports; the p-value is a lower bound of the exact one's use.

    The statistic is the likelihood ratio between any distribution of reports and the best one the channel can make.
    Its law depends on which truths are absent; the chi-square with one degree less than there are kinds of report is
    never smaller, so an honest survey is called suspicious at most as often as `SUSPICIOUS` says.
    """

    names: tuple[str, ...]
    p_value: float | None
    statistic: float
    untested: str = ""

    @property
    def verdict(self) -> str:
        if self.p_value is None:
            return f"not tested: {self.untested}"
        if self.p_value < SUSPICIOUS:
            return "suspicious: the page's channel does not produce such reports"
        return "nothing suspicious"


def fit_of(reports: ReportSource, group: Group) -> FitTest:
    """The test of one group, on the reports of every version of the questionnaire that has it."""
    from tacit.estimation.contributions import nonempty_sources
    from tacit.estimation.likelihood import most_likely

    sizes = dict(zip(group.names, group.shape, strict=True))
    if group.channel.size > MOST_ANSWERS:
        return FitTest(group.names, None, 0.0, f"there are {group.channel.size:,} answers, too many to compare each.")
    try:
        asking = nonempty_sources([source for source in sources(reports) if _has(source.questionnaire, group)])
        counts = _count_slots(reports, asking, group)
        truth = most_likely(asking, group.names, sizes.__getitem__).distribution
        expected = _law(group, truth) * counts.sum()
    except TacitError as error:
        return FitTest(group.names, None, 0.0, str(error))
    return _compare_slots(group.names, counts, expected)


def _has(questionnaire: Questionnaire, group: Group) -> bool:
    return any(one.to_document() == group.to_document() for one in questionnaire.groups)


def _count_slots(reports: ReportSource, asking: Sequence[Source], group: Group) -> Array:
    """How often each possible report of a group came, in the order of its channel."""
    columns = [column.name for column in group.report_attributes]
    if _shows_answers(group):
        return np.sum([source.engine.tally(columns).astype(np.float64).ravel() for source in asking], axis=0)
    if not isinstance(reports, Reports):
        raise NotEstimable("sets are compared only while the reports are few enough to be read.")
    possible = _rows(group.channel.reports())
    if len(possible) > MOST_PATTERNS:
        raise NotEstimable(f"there are {len(possible):,} possible reports, too many to compare each.")
    parts = [table for questionnaire, table in reports if _has(questionnaire, group)]
    came = np.vstack([_rows([table[name] for name in columns]) for table in parts])
    _, places = np.unique(np.vstack([possible, came]), axis=0, return_inverse=True)
    tally = np.bincount(places[len(possible) :], minlength=int(places.max()) + 1)
    return tally[places[: len(possible)]].astype(np.float64)


def _law(group: Group, truth: Array) -> Array:
    """The distribution of whole reports where the truth has this one."""
    if _shows_answers(group):
        return group.channel.apply(truth).ravel()
    return group.channel.matrix @ truth.ravel()


def _shows_answers(group: Group) -> bool:
    return all(column.shows == "one" for column in group.report_attributes)


def _rows(columns: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    return np.hstack([column.reshape(len(column), -1).astype(np.int64) for column in columns])


def _compare_slots(names: tuple[str, ...], counts: Array, expected: Array) -> FitTest:
    from scipy.stats import chi2

    is_common = expected >= LEAST_EXPECTED
    if not is_common.all():
        counts = np.append(counts[is_common], counts[~is_common].sum())
        expected = np.append(expected[is_common], expected[~is_common].sum())
    seen = counts > 0
    with np.errstate(divide="ignore"):  # a report that cannot occur, and did
        statistic = 2 * float((counts[seen] * np.log(counts[seen] / expected[seen])).sum())
    return FitTest(names, float(chi2.sf(max(statistic, 0.0), max(len(counts) - 1, 1))), statistic)


def largest_shift(group: Group, attribute: str, code: int, share: float, n_reports: int, fakes: int) -> float:
    """How far `fakes` added reports, chosen at will, could move the estimated share of one answer."""
    weights = report_weights(group, attribute, code)
    return fakes / (n_reports + fakes) * max(float(weights.max()) - share, share - float(weights.min()))


def report_weights(group: Group, attribute: str, code: int) -> NDArray[np.float64]:
    """What each possible report adds to the estimate of one answer: the estimate is the mean of these."""
    axis = group.names.index(attribute)
    if group.records is None:
        wanted = np.zeros(group.channel.shape)
        wanted[(slice(None),) * axis + (code,)] = 1
        table = group.channel.solve_adjoint(wanted)
    else:  # such a group may tell each answer and not all of them together
        table = group.channel.margin([axis]).solve_adjoint(np.eye(group.shape[axis])[code])
    if len(group.names) == 1 and group.channel.shows in ("set", "hashed"):
        # A set counts by whether it holds the answer; there may be more sets than could be listed.
        return np.array([table[code] + table[-1], table[-1]])
    if len(group.report_attributes) == 1 and group.channel.shows == "one":
        return np.asarray(table[group.channel.reports()[0]])
    columns = zip(group.channel.reports(), group.report_attributes, strict=True)
    slots = [shown_slots(codes, attribute) for codes, attribute in columns]
    totals = np.broadcast_to(table, (len(slots[0]), *table.shape))
    for column in slots:
        totals = np.einsum("rs...,rs->r...", totals, column)
    return totals
