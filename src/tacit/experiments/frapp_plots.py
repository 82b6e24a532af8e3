"""Pictures of the itemset study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tacit.experiments.itemset_schemes import Contestant, condition_numbers
from tacit.experiments.registry import StudyPlot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
