"""OptRR (Huang and Du, ICDE 2008) run again: its fronts against Warner's, on made and on real distributions.

The publication prints no numbers but ranges of privacy, read off its figures, and sentences. Its settings: 10
categories, 10,000 records, 20,000 generations, Warner swept in 1001 steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.bundled import adult_attribute_priors
from tacit.design import Front, named_prior, optimal_front
from tacit.design.optrr import optrr_fronts
from tacit.design.priors import Distribution
from tacit.design.problem import DesignProblem
from tacit.design.settings import SearchEffort
from tacit.experiments.iterative import iterative_errors
from tacit.experiments.registry import Progress, PublishedComparison, StudyPlot, StudyResult, StudyTable
from tacit.report.plots import draw_fronts

Matrix = NDArray[np.float64]

RECORDS = 10_000
# Least privacy under each delta, read off the published figures: Warner's and OptRR's.
PUBLISHED_LEAST = {0.6: (0.6, 0.4), 0.7: (0.5, 0.3), 0.8: (0.4, 0.22), 0.9: (0.22, 0.17)}
OPERATORS, POLISHED = "published operators", "polished"
# Beyond this many answers the polish takes longer than the search itself.
POLISHED_ANSWERS = 12


@dataclass(frozen=True, eq=False)
class Panel:
    """One published figure: a distribution, a bound, Warner's front, that of the published operators, and the best of ours."""

    name: str
    title: str
    delta: float
    warner: Front
    optrr: Front  # polished, where it was
    operators: Front | None = None  # of the published operators alone, where that is another one

    @property
    def least(self) -> tuple[float, float]:
        return float(self.warner.privacies.min()), float(self.optrr.privacies.min())

    @property
    def ratios(self) -> list[float]:
        """OptRR's error over Warner's at each of Warner's privacies that OptRR reaches too, to a slot's width."""
        reached = [point for point in self.warner.points if point.privacy <= self.optrr.privacies.max()]
        return [_error_at(self.optrr, point.privacy) / point.mse for point in reached]

    @property
    def fronts(self) -> list[Front]:
        """Warner's, the operators' and the polished one, under the names they have in tables and pictures."""
        if self.operators is None:
            return [self.warner, replace(self.optrr, method=OPERATORS)]
        return [self.warner, replace(self.operators, method=OPERATORS), replace(self.optrr, method=POLISHED)]

    def plot(self) -> StudyPlot:
        bounded = self.optrr if any(point.lower_bound is not None for point in self.optrr.points) else None
        return StudyPlot(self.name, self.title, draw_fronts(self.fronts[::-1], self.title, bounded))


def run(quick: bool, seed: int, progress: Progress) -> StudyResult:
    """All panels, the Adult attributes, and the check by iterative estimation."""
    generations = 300 if quick else 20_000
    asked: list[tuple[Distribution, float]] = [("normal", delta) for delta in PUBLISHED_LEAST]
    asked += [("gamma", 0.75), ("uniform", 0.75)]
    panels: dict[tuple[str, float], Panel] = {}
    for done, (name, delta) in enumerate(asked):
        panels[name, delta] = _panel(name, named_prior(name), delta, generations, seed, polish=not quick)
        progress(0.6 * (done + 1) / len(asked))
    adult = _adult(quick, seed, lambda share: progress(0.6 + 0.3 * share))
    gamma = panels["gamma", 0.75]
    simulated = iterative_errors(gamma.warner, gamma.optrr, repetitions=20 if quick else 200, seed=seed)
    progress(1.0)
    comparisons = [*_privacy_ranges(panels), *_adult_comparison(adult), simulated.comparison]
    if quick:  # 300 generations without the polish say nothing of 20,000
        comparisons = [replace(row, is_small=row.holds is not None) for row in comparisons]
    tables = (_front_table(panels), _adult_table(adult), simulated.table)
    plots = tuple(panel.plot() for panel in (*panels.values(), *adult))
    title = "OptRR: optimizing randomized response schemes (Huang and Du 2008)"
    return StudyResult("optrr", title, tuple(comparisons), tables, plots)


def _panel(name: str, prior: Matrix, delta: float, generations: int, seed: int, *, polish: bool) -> Panel:
    title = f"{name}, {len(prior)} answers, delta {delta:.3g}, N {RECORDS:,}, seed {seed}, {generations:,} generations"
    warner = optimal_front(prior, records=RECORDS, delta=delta, method="warner")
    problem = DesignProblem.of(prior, RECORDS, delta=delta)
    fronts = optrr_fronts(problem, SearchEffort(generations=generations, polish=polish, seed=seed))
    return Panel(f"{name}-{delta:.3g}", title, delta, warner, fronts[-1], fronts[0] if polish else None)


def _adult(quick: bool, seed: int, progress: Progress) -> list[Panel]:
    """Every attribute of Adult; where one answer holds more than .75, delta is halfway from its share to one."""
    priors = adult_attribute_priors()
    panels = []
    for done, (name, prior) in enumerate(priors.items()):
        delta = 0.75 if prior.max() < 0.75 else float(1 + prior.max()) / 2
        few = len(prior) <= POLISHED_ANSWERS
        generations = (100 if quick else 5000) if few else (20 if quick else 500)
        panels.append(_panel(name, prior, delta, generations, seed, polish=few and not quick))
        progress((done + 1) / len(priors))
    return panels


def _privacy_ranges(panels: dict[tuple[str, float], Panel]) -> list[PublishedComparison]:
    rows = []
    for delta, (warner, optrr) in PUBLISHED_LEAST.items():
        panel = panels["normal", delta]
        holds = abs(panel.least[0] - warner) <= 0.03 and panel.least[1] <= optrr + 0.03
        what = f"least privacy on the normal distribution, delta {delta:g}"
        rows.append(
            PublishedComparison(what, f"Warner about {warner:g}, OptRR about {optrr:g}", _least_privacies(panel), holds)
        )
    worst = max(max(panel.ratios) for panel in panels.values())
    said = f"at most {worst:.3f} times Warner's error at any privacy both reach"
    rows.append(
        PublishedComparison("error at equal privacy", "OptRR is below Warner everywhere", said, worst <= 1 + 1e-9)
    )
    gamma, uniform = panels["gamma", 0.75], panels["uniform", 0.75]
    widths = [float(np.ptp(front.privacies)) for front in (gamma.optrr, gamma.warner)]
    said = f"{widths[0]:.3f} against {widths[1]:.3f}: {widths[0] / widths[1]:.2f} times"
    published = "OptRR covers about twice Warner's range of privacy"
    rows.append(PublishedComparison("range of privacy, gamma, delta .75", published, said, widths[0] > 1.5 * widths[1]))
    same = abs(uniform.least[0] - uniform.least[1]) <= 0.03
    rows.append(
        PublishedComparison("range of privacy, uniform, delta .75", "the same range", _both(uniform.least), same)
    )
    return rows


def _adult_comparison(panels: list[Panel]) -> list[PublishedComparison]:
    # Where one answer holds nearly all, Warner keeps the bound only with matrices that say next to nothing.
    ratios = [max(panel.ratios) for panel in panels if panel.ratios]
    wider = sum(panel.least[1] <= panel.least[0] + 1e-9 for panel in panels)
    said = f"below Warner at every shared privacy on {sum(ratio <= 1 + 1e-9 for ratio in ratios)} of {len(ratios)} "
    said += f"attributes that share any (largest ratio {max(ratios):.3f}); "
    said += f"reaches down as far or further on {wider} of {len(panels)}"
    return [PublishedComparison("Adult, each attribute", "OptRR is better than Warner", said, None)]


def _least_privacies(panel: Panel) -> str:
    """Which front reached what: the published operators alone do not reach the published figures everywhere."""
    reached = "; ".join(f"{front.method} {front.privacies.min():.3f}" for front in panel.fronts)
    return reached if panel.operators is not None else f"{reached} (not polished)"


def _both(least: tuple[float, float]) -> str:
    return f"Warner {least[0]:.3f}, OptRR {least[1]:.3f}"


def _error_at(front: Front, privacy: float) -> float:
    """Error of the front's cheapest channel of at least this privacy, to a thousandth (one slot)."""
    return float(front.errors[front.privacies >= privacy - 1e-3].min())


def _front_table(panels: dict[tuple[str, float], Panel]) -> StudyTable:
    rows = []
    for panel in panels.values():
        for front in panel.fronts:
            excess = [point.excess for point in front.points if point.excess is not None]
            rows.append(_row(panel, front, excess))
    columns = ("panel", "method", "channels", "least privacy", "most", "least excess", "median", "largest")
    return StudyTable("How far each front is from the least possible error", columns, tuple(rows))


def _row(panel: Panel, front: Front, excess: list[float]) -> tuple[object, ...]:
    spread = (f"{min(excess):.3f}", f"{np.median(excess):.3f}", f"{max(excess):.4g}") if excess else ("-", "-", "-")
    privacies = (f"{front.privacies.min():.3f}", f"{front.privacies.max():.3f}")
    return (panel.title, front.method, len(front.points), *privacies, *spread)


def _adult_table(panels: list[Panel]) -> StudyTable:
    rows = []
    for panel in panels:
        ratios = panel.ratios
        at = len(ratios) // 2
        middle = (f"{panel.warner.points[at].privacy:.3f}", f"{ratios[at]:.3f}") if ratios else ("none shared", "-")
        rows.append((panel.title, f"{panel.least[0]:.3f}", f"{panel.least[1]:.3f}", *middle))
    columns = ("attribute", "Warner's least privacy", "OptRR's", "at privacy", "OptRR's error / Warner's")
    return StudyTable("The attributes of Adult", columns, tuple(rows))
