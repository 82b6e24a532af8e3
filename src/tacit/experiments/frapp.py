"""FRAPP (Agrawal and Haritsa, ICDE 2005) run again, and better channels under the same guarantee beside it.

CENSUS at an amplification of 19 and a support of 2%: how far the estimated supports are off, which frequent itemsets are
missed and which are found by mistake, for the four published mechanisms, for subset selection and for split questionnaires.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tacit.bundled import census, health_table
from tacit.channel import randomized_gamma_diagonal
from tacit.channel.scheme import Scheme
from tacit.dataset import Dataset
from tacit.disguising import disguise
from tacit.estimation.closed_supports import supports_from
from tacit.estimation.supports import Supports, most_likely_supports
from tacit.experiments.frapp_bayes import bayes_gain
from tacit.experiments.itemset_accuracy import Accuracy, Truth, accuracy_of_all, accuracy_of_found
from tacit.experiments.itemset_schemes import Contestant, condition_numbers, contestants
from tacit.experiments.registry import Progress, PublishedComparison, StudyPlot, StudyResult, StudyTable
from tacit.measures.amplification import determinable_range
from tacit.mine.apriori import Threshold, search
from tacit.mine.itemset_result import Itemsets
from tacit.mine.itemsets import FrequentItemsets
from tacit.reports import Reports

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GAMMA = 19.0
MIN_SUPPORT = 0.02
PUBLISHED_COUNTS = (19, 102, 203, 165, 64, 10)
PUBLISHED_HEALTH_COUNTS = (23, 123, 292, 361, 250, 86, 12)
SLACK = 1.0
WHERE_HEALTH_IS = (
    "left out: no health table was given. The publication's own is not public; the person-years of the RAND Health Insurance "
    "Experiment have its shape: DoctorContacts of R's package Ecdat, as CSV or Parquet, given with --health FILE."
)


OTHER_HEALTH = "another table of that shape, shown below: its counts are its own"


@dataclass(frozen=True, eq=False)
class Outcome:
    """The accuracies of one contestant over all seeds: every itemset judged, searched, and searched with slack."""

    contestant: Contestant
    every: tuple[Accuracy, ...]
    searched: tuple[Accuracy, ...]
    with_slack: tuple[Accuracy, ...]


def run(quick: bool, seed: int, progress: Progress, health: Path | None = None) -> StudyResult:
    """The whole study; with a health table also on that."""
    seeds = range(seed, seed + (2 if quick else 20))
    data = census()
    truth = Truth.of(data, MIN_SUPPORT)
    field = contestants(data.schema, GAMMA, dict(zip(truth.lengths, truth.counts(), strict=True)))
    outcomes = []
    for done, contestant in enumerate(field):
        outcomes.append(outcome(data, truth, contestant, seeds))
        progress(0.6 * (done + 1) / len(field))
    sweep = alpha_sweep(data, truth, seeds)
    progress(0.7)
    likely = likelihood_gain(data, truth, field, seeds[:1] if quick else seeds[:5])
    progress(0.85)
    bayes = bayes_gain(GAMMA, seeds[:2] if quick else seeds[:5])
    tables = [*_tables(outcomes, "CENSUS"), _condition_table(field), sweep.table, likely, bayes.table]
    comparisons = [*_published_comparisons(truth, outcomes, field), *_found_here(outcomes), bayes.comparison]
    plots = _plots(outcomes, field, "CENSUS")
    if health is not None:
        more = _health(health, seeds)
        tables += _tables(more, "HEALTH")
        plots += _plots(more, field, "HEALTH")[:3]
    published = f"frequent itemsets by length {PUBLISHED_HEALTH_COUNTS}"
    comparisons.append(PublishedComparison("HEALTH", published, OTHER_HEALTH if health else WHERE_HEALTH_IS))
    progress(1.0)
    plots.append(sweep_plot(sweep.rows))
    title = "FRAPP: privacy-preserving mining of association rules (Agrawal and Haritsa 2005)"
    settings = (
        f"CENSUS: {data.n_rows:,} records, amplification {GAMMA:g}, least support {MIN_SUPPORT:.0%}; "
        f"seeds {seeds[0]} to {seeds[-1]}, one survey of everybody each (likelihood and naive Bayes: the first of them, at "
        "most five). Bars and (sd) are one standard deviation over the seeds."
    )
    return StudyResult("frapp", title, tuple(comparisons), tuple(tables), tuple(plots), settings)


def outcome(data: Dataset, truth: Truth, contestant: Contestant, seeds: Sequence[int]) -> Outcome:
    every: list[Accuracy] = []
    searched: list[Accuracy] = []
    loose: list[Accuracy] = []
    for seed in seeds:
        reports = disguise(data, contestant.scheme, seed=seed)
        every.append(accuracy_of_all(truth, supports_from(reports)))
        for slack, itemsets in ((0.0, searched), (SLACK, loose)):
            miner = FrequentItemsets(truth.min_support, slack=slack, certainty=None).fit(reports)
            itemsets.append(accuracy_of_found(truth, miner.itemsets_))
    return Outcome(contestant, tuple(every), tuple(searched), tuple(loose))


def _health(path: Path, seeds: Sequence[int]) -> list[Outcome]:
    data = health_table(path)
    truth = Truth.of(data, MIN_SUPPORT)
    counts = dict(zip(truth.lengths, truth.counts(), strict=True))
    return [outcome(data, truth, contestant, seeds) for contestant in contestants(data.schema, GAMMA, counts)]


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    """Over the seeds; not a number where nothing was found that could be averaged."""
    there = [value for value in values if np.isfinite(value)]
    return (float(np.mean(there)), float(np.std(there))) if there else (float("nan"), float("nan"))


def spread(values: Sequence[float]) -> str:
    """Mean and deviation over the seeds; where nothing was found there is nothing to average."""
    average, apart = mean_and_deviation(values)
    return f"{average:.1f} (sd {apart:.1f})" if np.isfinite(average) else "-"


def mean(accuracies: Sequence[Accuracy], measure: Callable[[Accuracy], float]) -> float:
    return mean_and_deviation(list(map(measure, accuracies)))[0]


def _tables(outcomes: Sequence[Outcome], data: str) -> list[StudyTable]:
    """All lengths together, each way; then each measure by length."""
    rows = []
    for outcome in outcomes:
        ways = (
            ("every itemset", outcome.every),
            ("searched", outcome.searched),
            (f"slack {SLACK:g}", outcome.with_slack),
        )
        for way, accuracies in ways:
            rows.append(
                (
                    outcome.contestant.name,
                    way,
                    spread([a.support_error() for a in accuracies]),
                    spread([a.published_support_error() for a in accuracies]),
                    spread([a.missed_percent() for a in accuracies]),
                    spread([a.false() for a in accuracies]),
                )
            )
    columns = (
        "mechanism",
        "judged",
        "support error %",
        "over all frequent %",
        "false negatives %",
        "false positives %",
    )
    tables = [StudyTable(f"{data}: all lengths together", columns, tuple(rows))]
    for title, measure in _MEASURES.items():
        tables.append(_by_length(outcomes, f"{data}: {title} by itemset length, searched", measure))
    return tables


_MEASURES: dict[str, Callable[[Accuracy, int], float]] = {
    "support error %": lambda accuracy, length: accuracy.support_error(length),
    "false negatives %": lambda accuracy, length: accuracy.missed_percent(length),
    "false positives %": lambda accuracy, length: accuracy.false(length),
}


def _by_length(outcomes: Sequence[Outcome], title: str, measure: Callable[[Accuracy, int], float]) -> StudyTable:
    lengths = range(1, len(outcomes[0].every[0].frequent) + 1)
    rows = [
        (outcome.contestant.name, *(spread([measure(a, length) for a in outcome.searched]) for length in lengths))
        for outcome in outcomes
    ]
    return StudyTable(title, ("mechanism", *map(str, lengths)), tuple(rows))


def _condition_table(field: Sequence[Contestant]) -> StudyTable:
    rows = []
    for contestant in field:
        numbers = [] if contestant.scheme.is_dealt else condition_numbers(contestant.scheme.groups[0].channel)
        if numbers:
            rows.append((contestant.name, *(f"{number:.3g}" for number in numbers)))
    return StudyTable("Condition numbers by itemset length", ("mechanism", *"123456"), tuple(rows))


@dataclass(frozen=True, eq=False)
class Sweep:
    """RAN-GD from no randomization to the most there can be."""

    table: StudyTable
    rows: tuple[tuple[float, ...], ...]  # share of the largest alpha, posteriors, support error and its deviation


def alpha_sweep(data: Dataset, truth: Truth, seeds: Sequence[int]) -> Sweep:

    n = int(np.prod(data.schema.shape()))
    largest = min(GAMMA, n - 1) / (GAMMA + n - 1)  # beyond, some chance would be negative
    numbers = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        alpha = share * largest
        scheme = Scheme.from_groups(data.schema, [(data.schema.names, randomized_gamma_diagonal(GAMMA, alpha))])
        accuracies = [accuracy_of_all(truth, supports_from(disguise(data, scheme, seed=seed))) for seed in seeds]
        posteriors = determinable_range(0.05, GAMMA, alpha, n)
        errors = [accuracy.support_error(4) for accuracy in accuracies]
        numbers.append((share, posteriors.low, posteriors.high, *mean_and_deviation(errors)))
    rows = tuple(
        (f"{s:g}", f"{low:.0%} to {high:.0%}", "50%", f"{error:.1f} (sd {apart:.1f})")
        for s, low, high, error, apart in numbers
    )
    columns = ("alpha / (gamma x)", "posterior of one draw", "posterior of the reports", "support error % at length 4")
    return Sweep(StudyTable("RAN-GD: more randomization", columns, rows), tuple(numbers))


def likelihood_gain(data: Dataset, truth: Truth, field: Sequence[Contestant], seeds: Sequence[int]) -> StudyTable:
    """What the most likely joint distribution, which is never negative, gains over unbiased estimates."""
    rows = []
    for contestant in field:
        if contestant.name not in ("DET-GD", "split, by itemset counts"):
            continue
        for method in ("inversion", "likelihood"):
            both = [_both_ways(truth, disguise(data, contestant.scheme, seed=seed), method) for seed in seeds]
            for way, accuracies in zip(("every itemset", f"slack {SLACK:g}"), zip(*both, strict=True), strict=True):
                numbers = [
                    spread([a.support_error() for a in accuracies]),
                    spread([a.missed_percent() for a in accuracies]),
                ]
                rows.append((contestant.name, method, way, *numbers, spread([a.false() for a in accuracies])))
    columns = ("mechanism", "method", "judged", "support error %", "false negatives %", "false positives %")
    return StudyTable("Likelihood and non-negativity", columns, tuple(rows))


def _both_ways(truth: Truth, reports: Reports, method: str) -> tuple[Accuracy, Accuracy]:
    """Every itemset judged by its own estimate, and what a search with slack finds, from one fit."""
    supports: Supports = supports_from(reports)
    if method == "likelihood":
        supports = most_likely_supports(reports, supports)
    every = accuracy_of_all(truth, supports)
    frequent = search(supports, Threshold(truth.min_support, SLACK), None).frequent
    return every, accuracy_of_found(truth, Itemsets(frequent, supports, truth.min_support, supports.n_reports))


def _plots(outcomes: Sequence[Outcome], field: Sequence[Contestant], data: str) -> list[StudyPlot]:
    plots = []
    for title, measure in _MEASURES.items():
        plots.append(
            length_plot(data, title, {outcome.contestant.name: _line(outcome, measure) for outcome in outcomes})
        )
    plots.append(condition_plot(field))
    return plots


def _line(outcome: Outcome, measure: Callable[[Accuracy, int], float]) -> list[tuple[float, float]]:
    """Mean and deviation at each length."""
    lengths = range(1, len(outcome.searched[0].frequent) + 1)
    return [mean_and_deviation([measure(accuracy, length) for accuracy in outcome.searched]) for length in lengths]


def _at(measure: Callable[[Accuracy, int], float], length: int, accuracy: Accuracy) -> float:
    return measure(accuracy, length)


def _published_comparisons(
    truth: Truth, outcomes: Sequence[Outcome], field: Sequence[Contestant]
) -> list[PublishedComparison]:
    by_name = {outcome.contestant.name: outcome for outcome in outcomes}
    channels = {contestant.name: contestant.scheme.groups[0].channel for contestant in field if contestant.is_published}
    counts = truth.counts()
    mask_numbers = condition_numbers(channels["MASK"])[: len(truth.lengths)]
    flat = condition_numbers(channels["DET-GD"])[: len(truth.lengths)]
    pasted = condition_numbers(channels["C&P"])[:3]
    least = determinable_range(0.05, GAMMA, GAMMA / (GAMMA + 1999) / 2, 2000)
    return [
        PublishedComparison(
            "frequent itemsets by length", str(PUBLISHED_COUNTS), str(tuple(counts)), tuple(counts) == PUBLISHED_COUNTS
        ),
        _nothing_beyond(by_name["MASK"], 4),
        _nothing_beyond(by_name["C&P"], 3),
        PublishedComparison(
            "condition numbers of gamma-diagonal", "flat", f"{flat[0]:.4g} at every length", len(set(flat)) == 1
        ),
        PublishedComparison(
            "condition numbers of MASK",
            "of order 1e5",
            f"{mask_numbers[-1]:.2g} at length {len(mask_numbers)}",
            1e5 <= mask_numbers[-1] < 1e6,
        ),
        PublishedComparison(
            "condition numbers of cut-and-paste",
            "of order 1e7",
            f"{pasted[-1]:.3g} at length 3, and beyond that the matrix has no inverse: K = 3 keeps three answers at most",
            False,
        ),
        PublishedComparison(
            "RAN-GD's posterior, alpha = gamma x / 2",
            "33% to 60%",
            f"{least.low:.0%} to {least.high:.0%} for one draw; but nobody knows another's draw, so reports follow DET-GD's "
            f"matrix and the posterior is {least.expected:.0%}; whoever drew the far end has amplification "
            f"{least.largest_gamma:.3g}",
            round(least.low, 2) == 0.33 and round(least.high, 2) == 0.6,
        ),
    ]


def _nothing_beyond(outcome: Outcome, length: int) -> PublishedComparison:
    """Whether a mechanism finds frequent itemsets longer than so many answers."""
    beyond = [sum(int(n) for n in accuracy.found[length:]) for accuracy in outcome.searched]
    frequent = int(outcome.searched[0].frequent[length:].sum())
    said = f"{np.mean(beyond):.1f} of {frequent} found on average"
    published = f"finds nothing beyond length {length}"
    return PublishedComparison(outcome.contestant.name, published, said, float(np.mean(beyond)) < 0.01 * frequent)


def _found_here(outcomes: Sequence[Outcome]) -> list[PublishedComparison]:
    """What the publication does not say."""
    by_name = {outcome.contestant.name: outcome for outcome in outcomes}
    det = by_name["DET-GD"].every
    error = _MEASURES["support error %"]
    short, long = (mean(det, partial(_at, error, length)) for length in (1, len(det[0].frequent)))
    rows = [
        PublishedComparison(
            "DET-GD, short itemsets",
            None,
            f"support error {short:.0f}% at length 1 and {long:.0f}% at length {len(det[0].frequent)}: whole records are "
            "kept so rarely that single answers are the worst",
        )
    ]
    for name in ("DET-GD", "subset selection", "split, by itemset counts", "split, lengths alike"):
        every, loose = by_name[name].every, by_name[name].with_slack
        measures = (Accuracy.support_error, Accuracy.missed_percent, Accuracy.false)
        said = ["/".join(f"{mean(way, measure):.1f}" for measure in measures) for way in (every, loose)]
        what = f"{name}: support error/false negatives/false positives %"
        rows.append(PublishedComparison(what, None, f"{said[0]} judging every itemset, {said[1]} searched with slack"))
    return rows


def _axes(across: str, up: str) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    return figure, axes


def length_plot(data: str, measure: str, lines: Mapping[str, Sequence[tuple[float, float]]]) -> StudyPlot:
    """A measure by itemset length, one line per mechanism with its deviations, on a logarithmic scale as published."""
    figure, axes = _axes("itemset length", measure)
    for place, (name, values) in enumerate(lines.items()):
        means, deviations = np.array(values).T
        there = np.isfinite(means)
        beside = np.arange(1, len(means) + 1) + 0.035 * (place - (len(lines) - 1) / 2)  # bars side by side
        below = np.minimum(means, deviations)  # no measure is below 0
        axes.errorbar(beside[there], means[there], yerr=[below[there], deviations[there]], marker="o", markersize=4,
                      linewidth=1.2, elinewidth=0.9, capsize=2, label=name, clip_on=False)  # fmt: skip
    axes.set_yscale("symlog", linthresh=1)
    axes.set_ylim(bottom=0)
    axes.set_xticks(range(1, 1 + max(map(len, lines.values()))))
    axes.legend(fontsize="small", frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    name = f"{data}-{measure.split(' %')[0]}".lower().replace(" ", "-")
    words = f"{data}: {measure} by itemset length, mean over the seeds; bars are one standard deviation each way"
    return StudyPlot(name, words, figure)


def condition_plot(field: Sequence[Contestant]) -> StudyPlot:
    figure, axes = _axes("itemset length", "condition number")
    longest = 1
    for contestant in field:
        if contestant.is_published and contestant.name != "RAN-GD":
            channel = contestant.scheme.groups[0].channel
            numbers = condition_numbers(channel)
            longest = max(longest, len(numbers))
            there = [(at, number) for at, number in enumerate(numbers, start=1) if np.isfinite(number)]
            axes.plot([at for at, _ in there], [number for _, number in there], marker="o", label=contestant.name)
    axes.set_yscale("log")
    axes.set_xticks(range(1, longest + 1))
    axes.legend()
    return StudyPlot("condition-numbers", "Condition numbers by itemset length", figure)


def sweep_plot(rows: Sequence[tuple[float, ...]]) -> StudyPlot:
    """RAN-GD's range of posteriors and its support error at length 4, as the randomization grows."""
    figure, axes = _axes("alpha / (gamma x)", "posterior of a 5% property")
    shares = [row[0] for row in rows]
    axes.fill_between(shares, [row[1] for row in rows], [row[2] for row in rows], alpha=0.3, label="of one draw")
    axes.axhline(0.5, linestyle="--", label="of the reports")
    right = axes.twinx()
    errors, deviations = ([row[place] for row in rows] for place in (3, 4))
    right.errorbar(shares, errors, yerr=deviations, color="tab:red", marker="o", capsize=2, elinewidth=0.9)
    right.set_ylabel("support error % at length 4", color="tab:red")
    right.set_ylim(bottom=0)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)  # clear of both curves
    return StudyPlot("ran-gd", "RAN-GD: the range of posteriors grows, the error does not", figure)
