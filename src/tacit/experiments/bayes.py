"""Naive Bayes from electronic surveys with unrelated questions (Zhan and Matwin) run again.

All of Adult and Breast Cancer with two answers per attribute. One group holds all attributes and the class: with chance q
the record is reported, otherwise a fair bit for every question. Every fifth row is kept for testing. The publication
repeats each setting 1000 times; so do we, on sampled tallies (`tacit.experiments.sampled`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tacit.bundled import binary_adult, binary_breast_cancer
from tacit.channel.base import Array
from tacit.disguising import disguise_table
from tacit.errors import NotEstimable
from tacit.experiments.registry import Progress, PublishedComparison, StudyPlot, StudyResult, StudyTable
from tacit.experiments.sampled import TrueRecords, unrelated_question
from tacit.experiments.tree_plots import draw_curves
from tacit.measures.amplification import binary_pse
from tacit.mine.accuracy import disguised_accuracy
from tacit.mine.naive_bayes import NaiveBayesClassifier
from tacit.randomness import SeededRandomness
from tacit.report.plots import BLUE, GREY, plain_figure
from tacit.reports import Reports
from tacit.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Naive Bayes from electronic surveys with unrelated questions (Zhan and Matwin)"
KEEPS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # and 0, which is refused
FOLDS = 5
REPEATS, QUICK_REPEATS = 1000, 20
TESTED_REPEATS, QUICK_TESTED_REPEATS = 25, 2
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5)
PSE_KEEPS = tuple(step / 10 for step in range(11))
FAIR = 0.5


@dataclass(frozen=True, eq=False)
class Fold:
    """Records to learn from, and to test on."""

    learning: TrueRecords
    testing: TrueRecords

    def accuracy(self, model: NaiveBayesClassifier) -> float:
        """Share of right predictions on the true test records."""
        right = model.predicted_codes(self.testing.kinds) == self.testing.kinds[self.testing.target]
        return float(self.testing.counts @ right / self.testing.counts.sum())


@dataclass(frozen=True, eq=False)
class BayesMaterial:
    """One of the data sets; rows ``index % 5 == fold`` are for testing."""

    name: str
    target: str
    table: Table

    @cached_property
    def folds(self) -> tuple[Fold, ...]:
        number = np.arange(self.table.n_rows) % FOLDS
        made = []
        for fold in range(FOLDS):
            parts = (self.table.rows(number != fold), self.table.rows(number == fold))
            made.append(Fold(*(TrueRecords(records, self.target) for records in parts)))
        return tuple(made)

    def model(self) -> NaiveBayesClassifier:
        return NaiveBayesClassifier(target=self.target)

    @cached_property
    def clear(self) -> float:
        """Accuracy of the classifier learned from the records as they are."""
        learned = [(fold, self.model().fit(Reports.from_truth(fold.learning.table))) for fold in self.folds]
        return float(np.mean([fold.accuracy(model) for fold, model in learned]))

    @cached_property
    def majority(self) -> float:
        rights = []
        for fold in self.folds:
            answer = np.bincount(fold.learning.table[self.target]).argmax()
            rights.append(float((fold.testing.table[self.target] == answer).mean()))
        return float(np.mean(rights))


@dataclass(frozen=True, eq=False)
class Tested:
    """The accuracy of one model: counted on true test records, and estimated from disguised ones."""

    counted: float
    estimated: float
    standard_error: float

    @property
    def holds(self) -> bool:
        """Whether the 95% interval of the estimate holds the accuracy that was counted on the same people."""
        return abs(self.estimated - self.counted) <= 1.96 * self.standard_error + 1e-12


@dataclass(frozen=True, eq=False)
class KeepSweep:
    """Everything about one data set, by the chance to keep."""

    material: BayesMaterial
    accuracies: dict[float, Array]
    tested: dict[float, tuple[Tested, ...]]
    refusal: str  # what is said at q = 0


def materials() -> tuple[BayesMaterial, ...]:
    return (
        BayesMaterial("Adult", "income", binary_adult("all").table),
        BayesMaterial("Breast Cancer", "Class", binary_breast_cancer().table),
    )


def run(quick: bool, seed: int, progress: Progress) -> StudyResult:
    """All chances and repeats of both data sets, the test on disguised data, and the PSE curves."""
    repeats = QUICK_REPEATS if quick else REPEATS
    tests = QUICK_TESTED_REPEATS if quick else TESTED_REPEATS
    made = []
    sets = materials()
    for number, material in enumerate(sets):
        accuracies, tested = {}, {}
        for step, keep in enumerate(KEEPS):
            seeds = np.random.SeedSequence([seed, number, step])
            accuracies[keep] = repeated_accuracies(material, keep, repeats, np.random.default_rng(seeds))
            tested[keep] = tuple(_test_models(material, keep, tests, seeds))
            progress((number + (step + 1) / len(KEEPS)) / len(sets))
        made.append(KeepSweep(material, accuracies, tested, _refusal(material)))
    comparisons = [row for sweep in made for row in comparisons_of(sweep)] + [_pse_comparison()]
    tables = [_table(sweep) for sweep in made] + [_pse_table()]
    plots = [plot for sweep in made for plot in _plots(sweep)] + [_pse_plot()]
    rows = ", ".join(f"{material.name} {material.table.n_rows:,}" for material in sets)
    settings = (
        f"Records: {rows}; every fifth is tested on. {repeats:,} repeats at each q ({FOLDS} at q = 1, where nothing is drawn), "
        f"{tests} with disguised tests; seed {seed}."
    )
    return StudyResult("bayes", TITLE, tuple(comparisons), tuple(tables), tuple(plots), settings)


def repeated_accuracies(material: BayesMaterial, keep: float, repeats: int, rng: np.random.Generator) -> Array:
    """Accuracies on true test records of classifiers learned from as many disguises."""
    # At q = 1 nothing is drawn: only the fold can make a difference.
    drawn = min(repeats, FOLDS) if keep == 1 else repeats
    scheme = unrelated_question(material.table.schema, keep)
    values = np.empty(drawn)
    for repeat in range(drawn):
        fold = material.folds[repeat % FOLDS]
        values[repeat] = fold.accuracy(material.model().fit(fold.learning.sample_reports(scheme, rng)))
    return values


def _test_models(material: BayesMaterial, keep: float, repeats: int, seeds: np.random.SeedSequence) -> Iterator[Tested]:
    scheme = unrelated_question(material.table.schema, keep)
    for repeat, seed in enumerate(seeds.spawn(repeats)):
        fold = material.folds[repeat % FOLDS]
        words = SeededRandomness(seed)
        model = material.model().fit(disguise_table(fold.learning.table, scheme, words))
        reports = disguise_table(fold.testing.table, scheme, words)
        estimate = disguised_accuracy(model, reports, sampling="respondents")
        yield Tested(fold.accuracy(model), estimate.accuracy, estimate.standard_error)


def _refusal(material: BayesMaterial) -> str:
    """What the classifier says where nothing is kept."""
    records = material.folds[0].learning
    try:
        material.model().fit(
            records.sample_reports(unrelated_question(material.table.schema, 0.0), np.random.default_rng(0))
        )
    except NotEstimable as refusal:
        return str(refusal)
    return "an estimate, which is wrong"


def comparisons_of(outcome: KeepSweep) -> Iterator[PublishedComparison]:
    """What the publication says of this data set, and what comes out."""
    name, clear = outcome.material.name, outcome.material.clear
    yield PublishedComparison(
        f"{name}: q = 0", "nothing can be learned", outcome.refusal, outcome.refusal.startswith("The reports")
    )
    whole = outcome.accuracies[1.0]
    same = None if len(whole) < FOLDS else bool(np.isclose(whole.mean(), clear, atol=1e-12))
    yield PublishedComparison(
        f"{name}: q = 1", "as from the original data", f"{whole.mean():.4f}, clear data {clear:.4f}", same
    )
    means = np.array([outcome.accuracies[keep].mean() for keep in KEEPS])
    yield PublishedComparison(
        f"{name}: growing q",
        "accuracy grows with q, and its variance falls",
        f"{means[0]:.3f} at q = {KEEPS[0]:g}, {means[-1]:.3f} at q = 1; standard deviation "
        f"{outcome.accuracies[KEEPS[0]].std():.4f} and {outcome.accuracies[0.9].std():.4f} (q = .9)",
        bool(means[0] <= means[-1]),
    )
    worst = max(clear - outcome.accuracies[keep].mean() for keep in KEEPS if keep >= FAIR)
    yield PublishedComparison(
        f"{name}: q from .5 up",
        "close to the accuracy on the original data",
        f"at most {worst:.4f} below the classifier learned from clear data",
        bool(worst <= 0.01) if name == "Adult" else None,
    )
    tests = [test for each in outcome.tested.values() for test in each if np.isfinite(test.estimated)]
    yield PublishedComparison(
        f"{name}: accuracy from disguised test data",
        None,
        f"mean difference {np.mean([test.estimated - test.counted for test in tests]):+.4f}; the 95% interval holds the "
        f"true one in {sum(test.holds for test in tests)} of {len(tests)} tests",
        None,
    )


def _table(outcome: KeepSweep) -> StudyTable:
    material = outcome.material
    rows: list[tuple[object, ...]] = [("0", "no estimate", "-", "-", "-")]
    for keep in KEEPS:
        values, tests = outcome.accuracies[keep], outcome.tested[keep]
        apart = np.mean([test.estimated - test.counted for test in tests])
        error = np.mean([test.standard_error for test in tests])
        rows.append((f"{keep:g}", f"{values.mean():.4f}", f"{values.var():.2e}", f"{apart:+.4f}", f"{error:.4f}"))
    title = f"{material.name}: accuracy (clear data {material.clear:.4f}, majority {material.majority:.4f})"
    columns = ("q", "mean accuracy", "variance", "estimated - true, disguised tests", "its standard error")
    return StudyTable(title, columns, tuple(rows))


def _plots(outcome: KeepSweep) -> Iterator[StudyPlot]:
    material, name = outcome.material, outcome.material.name.lower().replace(" ", "-")
    means = np.array([outcome.accuracies[keep].mean() for keep in KEEPS])
    deviations = np.array([outcome.accuracies[keep].std() for keep in KEEPS])
    lines = {"clear data": material.clear, "majority class": material.majority}
    title = f"{material.name}: naive Bayes from unrelated questions"
    repeats = len(outcome.accuracies[KEEPS[0]])
    words = (
        f"{material.name}, {material.table.n_rows:,} records: mean accuracy by q over {repeats:,} repeats; "
        "bars are one standard deviation of the repeats each way; none at q = 0."
    )
    yield StudyPlot(name, words, accuracy_by_keep(KEEPS, means, deviations, lines, title))
    points = [
        (keep, test.estimated - test.counted, test.standard_error)
        for keep, tests in outcome.tested.items()
        for test in tests
    ]
    words = f"{material.name}: accuracy estimated from disguised test records less the true one, with 95% intervals."
    figure = estimated_less_true(np.array(points), f"{material.name}: tested on disguised records")
    yield StudyPlot(f"{name}-tested", words, figure)


def pse_values() -> Array:
    """``[share, keep]``: PSE of a yes/no entry whose personal question is fair."""
    return np.array([[binary_pse(keep, share, FAIR) for keep in PSE_KEEPS] for share in SHARES])


def _pse_comparison() -> PublishedComparison:
    values = pse_values()
    falls = bool((np.diff(values, axis=1) <= 1e-12).all() and np.allclose(values[:, -1], 0))
    ours = f"from {values[0, 0]:.2f} to {values[-1, 0]:.2f} at q = 0 down to {abs(values[:, -1]).max():.2f} at q = 1"
    return PublishedComparison(
        "PSE, W_y = .5", "privacy falls as q grows, to 0 at q = 1; most for even answers", ours, falls
    )


def _pse_table() -> StudyTable:
    rows = tuple(
        (f"{keep:g}", *(f"{value:.4f}" for value in column))
        for keep, column in zip(PSE_KEEPS, pse_values().T, strict=True)
    )
    return StudyTable("PSE by q, W_y = .5", ("q", *(f"W_a = {share:g}" for share in SHARES)), rows)


def _pse_plot() -> StudyPlot:
    words = "PSE of a yes/no answer by q, for true shares of .1 to .5 and a fair personal question."
    return StudyPlot("pse", words, pse_curves(PSE_KEEPS, SHARES, pse_values()))


def accuracy_by_keep(
    keeps: Sequence[float], means: Array, deviations: Array, lines: Mapping[str, float], title: str
) -> Figure:
    """Accuracy over the chance to keep the record; where it is 0 the plot says that there is no estimate."""
    figure, axes = plain_figure(height=4.0)
    draw_curves(axes, keeps, {"from disguised reports": (means, deviations)}, lines)
    low = axes.get_ylim()[0]
    axes.plot([0], [low], "x", color=GREY, markersize=8, clip_on=False)
    # Upright, so that it stays clear of the bars of the smallest q.
    axes.annotate("q = 0: no estimate", (0, low), xytext=(0, 8), textcoords="offset points", fontsize=8, color=GREY,
                  rotation=90, ha="center", va="bottom")  # fmt: skip
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel("q, the chance to report the record")
    axes.set_ylabel("accuracy on true test records")
    axes.set_title(title, fontsize=10)
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    return figure


def estimated_less_true(points: Array, title: str) -> Figure:
    """How far estimates lie from what was counted, with 95% intervals; rows are (q, difference, standard error)."""
    figure, axes = plain_figure(height=4.0)
    keeps, differences, errors = points[np.isfinite(points).all(axis=1)].T
    # Repeats of one q stand side by side.
    order = np.concatenate([np.arange(count) - (count - 1) / 2 for count in np.unique(keeps, return_counts=True)[1]])
    beside = keeps + 0.03 * order / max(float(np.abs(order).max()), 1.0)
    axes.errorbar(
        beside, differences, yerr=1.96 * errors, fmt="o", color=BLUE, markersize=2.5, linewidth=0.7, alpha=0.6
    )
    axes.axhline(0, color=GREY, linestyle="--", linewidth=1.2)
    axes.set_xlabel("q, the chance to report the record")
    axes.set_ylabel("estimated less true accuracy")
    axes.set_title(title, fontsize=10)
    return figure


def pse_curves(keeps: Sequence[float], shares: Sequence[float], values: Array) -> Figure:
    """One curve for each true share."""
    from matplotlib import colormaps

    figure, axes = plain_figure(height=4.0)
    for position, (share, row) in enumerate(zip(shares, values, strict=True)):
        axes.plot(
            keeps,
            row,
            "o-",
            color=colormaps["viridis"](position / len(shares)),
            markersize=3.5,
            label=f"W_a = {share:g}",
        )
    axes.set_xlabel("q, the chance to report the record")
    axes.set_ylabel("PSE")
    axes.set_title("Privacy of one answer, fair personal question (W_y = .5)", fontsize=10)
    axes.legend(frameon=False, fontsize=8)
    return figure
