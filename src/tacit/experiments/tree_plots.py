"""Pictures of the classifier studies: accuracy curves with their spread, and surfaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tacit.channel.base import Array
from tacit.report.plots import BLUE, GREY, ORANGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Curves = Mapping[str, tuple[Array, Array]]  # for each rule the means and the standard deviations
COLOURS = (ORANGE, BLUE)
DASHES = ("--", ":")


def accuracy_plot(
    thetas: Sequence[float], curves: Mapping[int, Curves], lines: Mapping[str, float], title: str
) -> Figure:
    """One panel for each number of groups."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.8), layout="constrained")
    panels = figure.subplots(1, len(curves), sharey=True)
    for axes, (groups, of_rules) in zip(panels, curves.items(), strict=True):
        draw_curves(axes, thetas, of_rules, lines)
        axes.set_title(f"{groups} group{'s' if groups > 1 else ''}", fontsize=10)
        axes.set_xlabel("theta, the chance to tell the truth")
    panels[0].set_ylabel("accuracy on true test records")
    figure.suptitle(title)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return figure


def draw_curves(axes: Axes, xs: Sequence[float], curves: Curves, lines: Mapping[str, float]) -> None:
    """Means with bars of one standard deviation each way, and levels to compare them with."""
    axes.spines[["top", "right"]].set_visible(False)
    for (name, (means, deviations)), colour in zip(curves.items(), COLOURS, strict=False):
        low, high = np.clip([means - deviations, means + deviations], 0, 1)  # no accuracy lies beyond
        axes.errorbar(xs, means, yerr=[means - low, high - means], fmt="o-", color=colour, markersize=3.5, linewidth=1.4,
                      elinewidth=0.9, capsize=2, label=name)  # fmt: skip
    for (name, level), dashes in zip(lines.items(), DASHES, strict=False):
        axes.axhline(level, color=GREY, linestyle=dashes, linewidth=1.2, label=f"{name} ({level:.3f})")


def surface_plot(thetas: Sequence[float], groups: Sequence[int], heights: Array, title: str, majority: float) -> Figure:
    """Accuracy over theta and number of groups, each value written in its place."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 1.4 + 0.5 * len(groups)), layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(heights, aspect="auto", cmap="viridis", vmin=min(majority, heights.min()), vmax=heights.max())
    middle = (heights.min() + heights.max()) / 2
    for row, column in np.ndindex(heights.shape):
        colour = "black" if heights[row, column] > middle else "white"
        axes.text(column, row, f"{heights[row, column]:.2f}", ha="center", va="center", fontsize=8, color=colour)
    axes.set_xticks(range(len(thetas)), [f"{theta:g}" for theta in thetas])
    axes.set_yticks(range(len(groups)), [str(number) for number in groups])
    axes.set_xlabel("theta, the chance to tell the truth")
    axes.set_ylabel("groups")
    axes.set_title(f"{title} (majority class {majority:.3f})", fontsize=10)
    figure.colorbar(image, ax=axes, label="accuracy", fraction=0.03)
    return figure
