"""k-anonymity with preferences (Dewri et al. 2009) run again: the wanted k, the population, the weights, the bias.

The publication shows its results in figures and says what they show; its settings are adult.data without rows with missing
values, nine attributes, 50,000 evaluations, crossover 0.8, mutation 0.001. Every study uses the published search; beside the
wanted k stands the same budget with ruin and recreate. The weight vectors are ours: the published ones cannot be read off
their figure.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit import bundled
from tacit.experiments.registry import Progress, PublishedComparison, StudyPlot, StudyResult, StudyTable
from tacit.publish.achievement import Preference
from tacit.publish.opening import open_input, tally
from tacit.publish.problem import NECD, NWP, SMALLEST, Bits, Problem, pose
from tacit.publish.search import EvolutionSettings, SearchOutcome, search
from tacit.publish.tally import QuasiTally
from tacit.report.plots import BLUE, GREY, ORANGE, plain_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "k-anonymization with preferences on loss and bias (Dewri et al. 2009)"
WANTED_K = (2, 5, 10, 25, 50, 100)
POPULATIONS = (100, 250, 500)
BIASES = (1.0, 0.1, 0.05, 0.02)
SEEDS = 3
CLOSE = 0.2  # an effective k within a fifth of the wanted one is close to it
LITTLE = 0.1  # losses within a tenth of each other differ little
EVALUATIONS, QUICK_EVALUATIONS = 50_000, 3_000
PUBLISHED = partial(EvolutionSettings, polish=False)


@dataclass(frozen=True, eq=False)
class Run:
    """One search, with what it is called in the tables."""

    label: str
    problem: Problem
    outcome: SearchOutcome
    seconds: float

    @property
    def best(self) -> NDArray[np.float64]:
        return self.outcome.measures[0]

    @property
    def effective_k(self) -> int:
        return int(self.best[SMALLEST])

    def is_single_minimum(self) -> bool:
        """Whether all solutions of least achievement lose alike, and none found is better in loss and bias."""
        measures = self.outcome.measures[:, [NWP, NECD]]
        least = self.outcome.achievement <= self.outcome.achievement[0] + 1e-12
        is_better = (measures < measures[0] - 1e-12).all(axis=1)
        return bool(np.ptp(measures[least], axis=0).max() < 1e-9 and not is_better.any())

    def blocks(self) -> tuple[int, ...]:
        """Blocks of each attribute in the chosen generalization."""
        bits: Bits = self.outcome.chromosome(0, self.problem.n_bits)
        first = self.problem.space.first_bit
        return tuple(1 + int(bits[a:b].sum()) for a, b in itertools.pairwise(first))

    def row(self) -> tuple[object, ...]:
        nwp, necd, k = self.best[NWP], self.best[NECD], int(self.best[SMALLEST])
        return (self.label, f"{nwp:.4f}", f"{necd:.4f}", k, len(self.outcome.front()))


def run(quick: bool, seed: int, progress: Progress = lambda share: None) -> StudyResult:
    """The four studies; `quick` spends a few thousand evaluations on each search."""
    source = open_input(bundled.adult_nine())
    counted = tally(source, [source.schema.names], ())
    evaluations = QUICK_EVALUATIONS if quick else EVALUATIONS
    studies = []
    for done, study in enumerate((_wanted_k, _populations, _weightings, _biases, _seeds)):
        studies.append(list(study(counted, evaluations, seed)))
        progress((done + 1) / 5)
    wanted, populations, weightings, biases, seeds = studies
    columns = ("search", "NWP", "NECD", "effective k", "solutions not dominated")
    tables = (
        StudyTable("Wanted k, preference (0.2, 1)", columns, tuple(each.row() for each in wanted)),
        StudyTable("Population, k = 5", columns, tuple(each.row() for each in populations)),
        StudyTable("Weights (our vectors), preference (0.2, 0.1), k = 5", columns, tuple(w.row() for w in weightings)),
        StudyTable("Blocks per attribute under each weighting", ("weights", *counted.names), _block_rows(weightings)),
        StudyTable("Preferred bias, weights heavy on the country", columns, tuple(each.row() for each in biases)),
    )
    plots = (
        StudyPlot(
            "fronts",
            "All non-dominated releases for each wanted k, and the one reported (figure 1)",
            _fronts(wanted[::2]),
        ),
        StudyPlot(
            "k",
            "What the wanted k costs, by the published search and with ruin and recreate",
            loss_by_k(WANTED_K, _losses(wanted[::2]), _losses(wanted[1::2])),
        ),
        StudyPlot("population", "Loss and bias by the size of the population (figure 2)", _by_population(populations)),
        StudyPlot(
            "weights",
            "Blocks that each attribute keeps under each weighting (figure 3)",
            _by_weights(weightings, counted),
        ),
        StudyPlot("bias", "Loss and bias as the preferred bias falls (figure 4)", _by_bias(biases)),
    )
    settings = (
        f"Adult, nine attributes, {counted.rows:,} complete rows; one search of {evaluations:,} evaluations for each setting, "
        f"seed {seed}. The publication shows its results in figures; its sentences about them are quoted."
    )
    claims = [
        *_claims_on_k(wanted[::2]),
        *_claims_on_populations(populations),
        *_claims_on_weights(weightings),
        _claim_on_bias(biases),
        _claim_on_seeds(seeds),
        *_time_and_savings(wanted[::2], wanted[1::2], evaluations),
    ]
    if quick:
        claims = [replace(claim, is_small=claim.published is not None) for claim in claims]
    return StudyResult("kanon", TITLE, tuple(claims), tables, plots, settings)


def _search_run(
    label: str,
    counted: QuasiTally,
    k: int,
    preference: Preference,
    settings: EvolutionSettings,
    seed: int,
    weights: object = None,
) -> Run:
    equal = np.full(len(counted.names), 1 / len(counted.names))
    problem = pose(counted, k, equal if weights is None else np.asarray(weights, np.float64))
    began = time.process_time()
    searched = search(problem, preference, settings, np.random.default_rng(seed))
    return Run(label, problem, searched, time.process_time() - began)


def _wanted_k(counted: QuasiTally, evaluations: int, seed: int) -> Iterator[Run]:
    for k in WANTED_K:
        for polish in (False, True):
            label = f"k = {k}, {'with ruin and recreate' if polish else 'published search'}"
            settings = EvolutionSettings(evaluations, polish=polish)
            yield _search_run(label, counted, k, Preference(0.2, 1.0), settings, seed)


def _populations(counted: QuasiTally, evaluations: int, seed: int) -> Iterator[Run]:
    for size in POPULATIONS:
        settings = EvolutionSettings(evaluations, size, polish=False)
        yield _search_run(f"population {size}", counted, 5, Preference(0.2, 1.0), settings, seed)


def weight_vectors(names: Sequence[str], sizes: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
    """Our five ways of weighing the nine attributes."""
    return {
        "equal": _heavy(names, {}),
        "country": _heavy(names, {"native-country": 0.6}),
        "age and education": _heavy(names, {"age": 0.35, "education": 0.35}),
        "occupation": _heavy(names, {"occupation": 0.6}),
        "domain size": sizes / sizes.sum(),
    }


def _heavy(names: Sequence[str], heavy: dict[str, float]) -> NDArray[np.float64]:
    """The given weights, and what is left shared equally by the others."""
    rest = (1 - sum(heavy.values())) / (len(names) - len(heavy))
    return np.array([heavy.get(name, rest) for name in names])


def _weightings(counted: QuasiTally, evaluations: int, seed: int) -> Iterator[Run]:
    for label, weights in weight_vectors(counted.names, counted.sizes).items():
        yield _search_run(label, counted, 5, Preference(0.2, 0.1), PUBLISHED(evaluations), seed, weights)


def _biases(counted: QuasiTally, evaluations: int, seed: int) -> Iterator[Run]:
    weights = weight_vectors(counted.names, counted.sizes)["country"]
    for bias in BIASES:
        label = f"preferred bias {bias:g}"
        yield _search_run(label, counted, 5, Preference(0.2, bias), PUBLISHED(evaluations), seed, weights)


def _seeds(counted: QuasiTally, evaluations: int, seed: int) -> Iterator[Run]:
    for further in range(SEEDS):
        label = f"seed {seed + further}"
        yield _search_run(label, counted, 5, Preference(0.2, 1.0), PUBLISHED(evaluations), seed + further)


def _block_rows(runs: Sequence[Run]) -> tuple[tuple[object, ...], ...]:
    return tuple((each.label, *each.blocks()) for each in runs)


def _claims_on_k(runs: Sequence[Run]) -> Iterator[PublishedComparison]:
    """What the publication says of its first figure."""
    effective = dict(zip(WANTED_K, (each.effective_k for each in runs), strict=True))
    said = ", ".join(f"{k}: {reached}" for k, reached in effective.items())
    yield PublishedComparison(
        "effective k for k = 2, 5, 10",
        "close to the wanted k",
        said,
        all(effective[k] <= (1 + CLOSE) * k for k in (2, 5, 10)),
        "a release of less loss had larger classes than were asked for",
    )
    yield PublishedComparison(
        "effective k for k = 25, 50, 100",
        "above the wanted k",
        said,
        all(effective[k] > k for k in (25, 50, 100)),
        "some searches ended at a release whose smallest class has just the wanted rows",
    )
    feasible = [len(each.outcome.achievement) for each in runs]
    yield PublishedComparison(
        "feasible solutions as k grows",
        "fewer",
        " ".join(f"{number:,}" for number in feasible),
        feasible[0] > feasible[-1] and sorted(feasible, reverse=True)[:1] == feasible[:1],
        "the search met more publishable releases at a larger k",
    )
    losses = _losses(runs)
    yield PublishedComparison(
        "loss as k grows",
        "more",
        " ".join(f"{loss:.3f}" for loss in losses),
        bool((np.diff(losses) > -LITTLE * np.array(losses[:-1])).all() and losses[-1] > losses[0]),
        "a search at a larger k ended with less loss",
    )
    single = sum(each.is_single_minimum() for each in runs)
    yield PublishedComparison(
        "minimum of the achievement function",
        "a single feasible one, efficient among those found",
        f"single and efficient for {single} of {len(runs)} wanted k",
        single == len(runs),
        "releases of the same loss, and so of the same achievement, differ in bias",
    )
    larger = {int(k) for k in runs[0].outcome.measures[runs[0].outcome.front(), SMALLEST] if k > WANTED_K[0]}
    yield PublishedComparison(
        "non-dominated solutions of larger effective k, k = 2",
        "exist (k = 3)",
        f"k = {', '.join(map(str, sorted(larger)[:5]))}" if larger else "none",
        bool(larger),
        "every non-dominated release that was met has classes of two",
    )


def _claims_on_populations(runs: Sequence[Run]) -> Iterator[PublishedComparison]:
    """What the publication says of its second figure."""
    reached = [float(each.outcome.achievement[0]) for each in runs]
    said = " ".join(f"{value:.4f}" for value in reached)
    yield PublishedComparison(
        "populations of 100, 250, 500",
        "differ little",
        f"achievement {said}",
        max(reached) <= (1 + LITTLE) * min(reached),
        "the population matters by more than a tenth of the achievement",
    )
    yield PublishedComparison(
        "larger populations",
        "slightly worse in preference deviation",
        f"achievement {said}",
        reached[0] <= reached[1] <= reached[2],
        "at 50,000 evaluations a larger population is not worse here",
    )
    distinct = [len(each.outcome.front()) for each in runs]
    yield PublishedComparison(
        "distinct solutions not dominated, by population",
        "about as many",
        " ".join(map(str, distinct)),
        max(distinct) <= 1.5 * min(distinct),
        "their number differs by more than a half",
    )


def _claims_on_weights(runs: Sequence[Run]) -> Iterator[PublishedComparison]:
    """What the publication says of its third figure, of weight vectors of ours."""
    equal, *others = runs
    losses, biases = _losses(runs), _unevenness(runs)
    yield PublishedComparison(
        "equal weights against others",
        "lose more and are more uneven",
        f"loss {losses[0]:.3f} against {min(losses[1:]):.3f} to {max(losses[1:]):.3f}; bias {biases[0]:.3f} against "
        f"{min(biases[1:]):.3f} to {max(biases[1:]):.3f}",
        losses[0] >= max(losses[1:]) and biases[0] >= max(biases[1:]),
        "not against each of our vectors; the published ones cannot be read off the figure",
    )
    kept = [
        (each.blocks()[place], equal.blocks()[place])
        for each in others
        for place in np.flatnonzero(each.problem.weights > 1.5 * equal.problem.weights)
    ]
    yield PublishedComparison(
        "attributes of more weight",
        "keep more groups",
        f"as many groups or more than under equal weights in {sum(mine >= even for mine, even in kept)} of {len(kept)} cases",
        all(mine >= even for mine, even in kept),
        "an attribute's groups also depend on how many rows its answers part",
    )
    effective = [each.effective_k for each in runs]
    yield PublishedComparison(
        "effective k by weights, k = 5",
        "8 for one vector",
        " ".join(map(str, effective)),
        max(effective) > 5,
        "all of our vectors end at the wanted k",
    )
    ages = [each.blocks()[0] for each in runs]
    yield PublishedComparison(
        "age",
        "generalised little under most vectors",
        f"{' '.join(map(str, ages))} groups of {runs[0].problem.tally.sizes[0]}",
        sum(2 * age >= int(runs[0].problem.tally.sizes[0]) for age in ages) > len(ages) / 2,
        "under our vectors age keeps fewer than half of its groups",
    )


def _claim_on_bias(runs: Sequence[Run]) -> PublishedComparison:
    effective, losses = [each.effective_k for each in runs], _losses(runs)
    return PublishedComparison(
        "effective k as the preferred bias falls from 1 to 0.02",
        "5, 6, 7, within a loss of 0.2",
        f"{' '.join(map(str, effective))}; loss at most {max(losses):.3f}",
        effective == sorted(effective) and effective[-1] > effective[0] and max(losses) <= 0.2,
        "a smaller bias was reached by other classes, or with more loss",
    )


def _claim_on_seeds(runs: Sequence[Run]) -> PublishedComparison:
    losses = _losses(runs)
    return PublishedComparison(
        f"{len(runs)} seeds, k = 5",
        "no difference",
        f"loss {min(losses):.4f} to {max(losses):.4f}",
        max(losses) <= (1 + LITTLE) * min(losses),
        "the published search ends at releases of different loss",
    )


def _time_and_savings(
    published: Sequence[Run], polished: Sequence[Run], evaluations: int
) -> Iterator[PublishedComparison]:
    seconds = np.mean([each.seconds for each in published]) * EVALUATIONS / evaluations
    yield PublishedComparison(
        "time of a search of 50,000 evaluations",
        "about 15 minutes, in 2009",
        f"{seconds:.1f} CPU seconds",
        bool(seconds < 900),
    )
    spread = [1 - polished[i].best[NWP] / published[i].best[NWP] for i in range(len(polished))]
    yield PublishedComparison(
        "what ruin and recreate saves of the loss, by wanted k", None, f"{min(spread):.1%} to {max(spread):.1%}"
    )


def _losses(runs: Sequence[Run]) -> list[float]:
    return [float(each.best[NWP]) for each in runs]


def _unevenness(runs: Sequence[Run]) -> list[float]:
    return [float(each.best[NECD]) for each in runs]


def _by_population(runs: Sequence[Run]) -> Figure:
    return loss_and_bias("population", POPULATIONS, _losses(runs), _unevenness(runs))


def _by_bias(runs: Sequence[Run]) -> Figure:
    return loss_and_bias("preferred bias", BIASES, _losses(runs), _unevenness(runs))


def _by_weights(runs: Sequence[Run], counted: QuasiTally) -> Figure:
    return blocks_kept([each.label for each in runs], counted.names, [each.blocks() for each in runs])


def _fronts(runs: Sequence[Run]) -> Figure:
    """Non-dominated releases in loss and bias, a panel for each wanted k."""
    figure, first = plain_figure(height=5)
    first.remove()
    for place, (k, each) in enumerate(zip(WANTED_K, runs, strict=True)):
        axes = figure.add_subplot(2, 3, place + 1)
        measures = each.outcome.measures[each.outcome.front()]
        axes.plot(measures[:, NWP], measures[:, NECD], ".", color=GREY)
        axes.plot(each.best[NWP], each.best[NECD], "o", color=BLUE)
        axes.set_title(f"k = {k}, reported: k = {each.effective_k}", fontsize="medium")
        axes.set_xlabel("loss (NWP)")
        axes.set_ylabel("bias (NECD)")
    return figure


def loss_by_k(wanted: Sequence[int], published: Sequence[float], polished: Sequence[float]) -> Figure:
    """What each wanted k costs."""
    figure, axes = plain_figure()
    axes.plot(wanted, published, "o-", color=GREY, label="published search")
    axes.plot(wanted, polished, "o-", color=BLUE, label="with ruin and recreate")
    _set_log_axis(axes, "wanted k", wanted)
    axes.set_ylabel("share of detail lost (NWP)")
    axes.legend(frameon=False)
    return figure


def loss_and_bias(what: str, values: Sequence[float], losses: Sequence[float], biases: Sequence[float]) -> Figure:
    """Both objectives over one setting."""
    figure, axes = plain_figure()
    axes.plot(values, losses, "o-", color=BLUE, label="loss (NWP)")
    axes.plot(values, biases, "s-", color=ORANGE, label="bias (NECD)")
    _set_log_axis(axes, what, values)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("share")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    return figure


def blocks_kept(weightings: Sequence[str], names: Sequence[str], blocks: Sequence[Sequence[int]]) -> Figure:
    """How many blocks each attribute keeps; darker is more detail."""
    figure, axes = plain_figure(height=3.2)
    axes.grid(visible=False)
    axes.imshow(blocks, cmap="Blues", aspect="auto")
    most = max(map(max, blocks))
    for row, counts in enumerate(blocks):
        for column, count in enumerate(counts):
            color = "white" if count > most / 2 else "black"
            axes.text(column, row, str(count), ha="center", va="center", color=color)
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right")
    axes.set_yticks(range(len(weightings)), weightings)
    axes.set_ylabel("weights")
    return figure


def _set_log_axis(axes: Axes, what: str, values: Sequence[float]) -> None:
    """A logarithmic axis named at the values that were tried, not at powers of ten."""
    axes.set_xscale("log")
    axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(what)
