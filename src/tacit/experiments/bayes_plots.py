"""Pictures of the naive Bayes study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tacit.channel.base import Array
from tacit.experiments.tree_plots import draw_curves
from tacit.report.plots import BLUE, GREY, plain_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
