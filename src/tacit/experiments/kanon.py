"""k-anonymity with preferences (Dewri et al. 2009) run again: the wanted k, the population, the weights, the bias.

The publication shows its results in figures only; its settings are adult.data without rows with missing values, nine
attributes, 50,000 evaluations, crossover 0.8, mutation 0.001. Beside the published search stands the same budget with
ruin and recreate. The weight vectors are ours: the published ones cannot be read off their figure.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
EVALUATIONS, QUICK_EVALUATIONS = 50_000, 3_000


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
    for done, study in enumerate((_wanted_k, _populations, _weightings, _biases)):
        studies.append(list(study(counted, evaluations, seed)))
        progress((done + 1) / 4)
    wanted, populations, weightings, biases = studies
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
            "k",
            "What the wanted k costs, by the published search and with ruin and recreate",
            loss_by_k(WANTED_K, _losses(wanted[::2]), _losses(wanted[1::2])),
        ),
        StudyPlot("population", "Loss and bias by the size of the population", _by_population(populations)),
        StudyPlot("weights", "Blocks that each attribute keeps under each weighting", _by_weights(weightings, counted)),
        StudyPlot("bias", "Loss and bias as the preferred bias falls", _by_bias(biases)),
    )
    settings = (
        f"Adult, nine attributes, {counted.rows:,} complete rows; one search of {evaluations:,} evaluations for each setting, "
        f"seed {seed}. The publication shows its results in figures."
    )
    return StudyResult("kanon", TITLE, tuple(_comparisons(wanted, biases, evaluations)), tables, plots, settings)


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
        yield _search_run(label, counted, 5, Preference(0.2, 0.1), EvolutionSettings(evaluations), seed, weights)


def _biases(counted: QuasiTally, evaluations: int, seed: int) -> Iterator[Run]:
    weights = weight_vectors(counted.names, counted.sizes)["country"]
    for bias in BIASES:
        label = f"preferred bias {bias:g}"
        yield _search_run(label, counted, 5, Preference(0.2, bias), EvolutionSettings(evaluations), seed, weights)


def _block_rows(runs: Sequence[Run]) -> tuple[tuple[object, ...], ...]:
    return tuple((each.label, *each.blocks()) for each in runs)


def _comparisons(wanted: Sequence[Run], biases: Sequence[Run], evaluations: int) -> Iterator[PublishedComparison]:
    published, polished = wanted[::2], wanted[1::2]
    yield PublishedComparison(
        f"time of a search of {evaluations:,} evaluations",
        "about 15 minutes for 50,000, in 2009",
        f"{np.mean([each.seconds for each in published]):.1f} CPU seconds",
    )
    losses = [each.best[NWP] for each in polished]
    yield PublishedComparison(
        "loss as the wanted k grows from 2 to 100",
        None,
        " ".join(f"{loss:.3f}" for loss in losses),
    )
    spread = [1 - polished[i].best[NWP] / published[i].best[NWP] for i in range(len(polished))]
    yield PublishedComparison(
        "what ruin and recreate saves of the loss",
        None,
        f"{min(spread):.1%} to {max(spread):.1%}",
    )
    yield PublishedComparison(
        "bias (NECD) as the preferred bias falls from 1 to 0.02",
        None,
        " ".join(f"{each.best[NECD]:.3f}" for each in biases),
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
