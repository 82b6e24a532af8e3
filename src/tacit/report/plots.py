"""Plots: estimates, fronts, power, alternatives to a release. Made without pyplot, so nothing global is touched."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tacit.display import new_figure
from tacit.publish.release import Release

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tacit.design import Front


BLUE, ORANGE, GREY = "#0b5394", "#c9510c", "#8c959f"


def plain_figure(width: float = 7.0, height: float = 3.6) -> tuple[Figure, Axes]:
    """A figure with one plain pair of axes."""
    figure, axes = new_figure(width, height)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", color="#d0d7de", linewidth=0.6)
    axes.set_axisbelow(True)
    return figure, axes


CROPPED_AT = 1000


def draw_fronts(fronts: Sequence[Front], title: str = "", bound: Front | None = None, *, width: float = 7.0) -> Figure:
    """Error against privacy of several fronts; the exact one, or the lower bounds of `bound`, are a line none can cross."""
    figure, axes = plain_figure(width, 0.6 * width)
    for front in fronts:
        front.plot(axes)
    if bound is not None:
        bounds = [(point.privacy, point.lower_bound) for point in bound.points if point.lower_bound is not None]
        axes.plot(*np.array(bounds).T, color="black", linewidth=1, label="least possible error")
    errors = np.concatenate([front.errors for front in fronts])
    # Close to the largest privacy every error grows without limit; a thousand times the least is all there is to see.
    axes.set_ylim(0.7 * errors.min(), min(1.3 * errors.max(), CROPPED_AT * errors.min()))
    axes.set_title(title, loc="left", fontsize=10)
    axes.ticklabel_format(axis="x", useOffset=False)
    axes.legend(frameon=False, fontsize=8, markerscale=2)
    return figure


GREEN, VIOLET = "#1a7f37", "#8250df"


def front_figure(release: Release) -> Figure:
    """Loss against effective k, a colour for each method; the bias of each alternative is the size of its dot."""
    figure, axes = plain_figure()
    ways = dict.fromkeys(entry.way for entry in release.front)
    for way, color in zip(ways, itertools.cycle((BLUE, GREEN, VIOLET)), strict=False):
        entries = [entry for entry in release.front if entry.way == way]
        ks, losses = [entry.effective_k for entry in entries], [entry.nwp for entry in entries]
        axes.scatter(ks, losses, s=[8 + 120 * entry.necd for entry in entries], color=color, alpha=0.6)
        axes.scatter([], [], s=25, color=color, alpha=0.6, label=way)  # dots of one size in the key
    axes.plot([release.effective_k], [release.nwp], "D", color=ORANGE, label="this release")
    if release.lower_bound is not None:
        axes.axhline(release.lower_bound, color=GREY, linestyle="--", label=f"no less is possible at k = {release.k}")
    axes.set_xscale("log")
    axes.set_xlabel("effective k (larger dots: less even protection)")
    axes.set_ylabel("share of detail lost (NWP)")
    axes.legend(frameon=False, fontsize=8)
    return figure
