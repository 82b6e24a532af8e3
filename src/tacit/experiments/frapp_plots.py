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


def bar_plot(data: str, measure: str, lines: Mapping[str, Sequence[float]]) -> StudyPlot:
    """A measure by itemset length, one line per mechanism, on a logarithmic scale as published."""
    figure, axes = _axes("itemset length", measure)
    for name, values in lines.items():
        there = [(at, value) for at, value in enumerate(values, start=1) if np.isfinite(value)]
        axes.plot([at for at, _ in there], [value for _, value in there], marker="o", label=name)
    axes.set_yscale("symlog", linthresh=1)
    axes.legend(fontsize="small")
    name = f"{data}-{measure.split(' %')[0]}".lower().replace(" ", "-")
    return StudyPlot(name, f"{data}: {measure} by itemset length", figure)


def condition_plot(field: Sequence[Contestant]) -> StudyPlot:
    figure, axes = _axes("itemset length", "condition number")
    for contestant in field:
        if contestant.is_published and contestant.name != "RAN-GD":
            channel = contestant.scheme.groups[0].channel
            numbers = condition_numbers(channel)
            there = [(at, number) for at, number in enumerate(numbers, start=1) if np.isfinite(number)]
            axes.plot([at for at, _ in there], [number for _, number in there], marker="o", label=contestant.name)
    axes.set_yscale("log")
    axes.legend()
    return StudyPlot("condition-numbers", "Condition numbers by itemset length", figure)


def sweep_plot(rows: Sequence[tuple[float, float, float, float]]) -> StudyPlot:
    """RAN-GD's range of posteriors and its support error at length 4, as the randomization grows."""
    figure, axes = _axes("alpha / (gamma x)", "posterior of a 5% property")
    shares = [row[0] for row in rows]
    axes.fill_between(shares, [row[1] for row in rows], [row[2] for row in rows], alpha=0.3, label="of one draw")
    axes.axhline(0.5, linestyle="--", label="of the reports")
    right = axes.twinx()
    right.plot(shares, [row[3] for row in rows], color="tab:red", marker="o")
    right.set_ylabel("support error % at length 4", color="tab:red")
    right.set_ylim(bottom=0)
    axes.legend()
    return StudyPlot("ran-gd", "RAN-GD: the range of posteriors grows, the error does not", figure)
