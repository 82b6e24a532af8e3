"""Plots that several reports share. Figures are made without pyplot, so nothing global is touched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tacit.channel.base import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREY = "#0b5394", "#c9510c", "#8c959f"


def new_figure(width: float = 7.0, height: float = 3.6) -> tuple[Figure, Axes]:
    """A figure with one plain pair of axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", color="#d0d7de", linewidth=0.6)
    axes.set_axisbelow(True)
    return figure, axes


def estimates_beside_truth(
    labels: Sequence[str],
    estimate: Array,
    low: Array,
    high: Array,
    truth: Array | None = None,
    *,
    reported: Array | None = None,
) -> Figure:
    """Estimated shares with their intervals, and where it is known the truth beside them."""
    figure, axes = new_figure(height=0.9 + 0.32 * len(labels))
    rows = np.arange(len(labels))[::-1]
    # Not error bars: an unbiased estimate may lie outside its interval, which keeps within [0, 1].
    axes.hlines(rows, low, high, color=BLUE)
    axes.plot(low, rows, "|", high, rows, "|", color=BLUE)
    axes.plot(estimate, rows, "o", color=BLUE, label="estimate, 95% interval")
    if reported is not None:
        axes.plot(reported, rows, "x", color=GREY, label="share among the disguised reports")
    if truth is not None:
        axes.plot(truth, rows, "D", color=ORANGE, markersize=5, label="truth")
    axes.set_yticks(rows, labels)
    axes.set_xlabel("share")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False, fontsize=8)
    return figure
