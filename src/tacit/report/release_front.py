"""The alternatives to a release, drawn: what each effective k costs."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from tacit.publish.release import Release
from tacit.report.plots import BLUE, GREY, ORANGE, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GREEN, VIOLET = "#1a7f37", "#8250df"


def front_figure(release: Release) -> Figure:
    """Loss against effective k, a colour for each method; the bias of each alternative is the size of its dot."""
    figure, axes = new_figure()
    kinds = dict.fromkeys((entry.method, entry.suppress) for entry in release.front)
    for kind, color in zip(kinds, itertools.cycle((BLUE, GREEN, VIOLET)), strict=False):
        own = [entry for entry in release.front if (entry.method, entry.suppress) == kind]
        ks, losses = [entry.effective_k for entry in own], [entry.nwp for entry in own]
        named = f"{kind[0]}, up to {kind[1]:.0%} suppressed" if kind[1] else kind[0]
        axes.scatter(ks, losses, s=[8 + 120 * entry.necd for entry in own], color=color, alpha=0.6, label=named)
    axes.plot([release.effective_k], [release.nwp], "D", color=ORANGE, label="this release")
    if release.lower_bound is not None:
        axes.axhline(release.lower_bound, color=GREY, linestyle="--", label=f"no less is possible at k = {release.k}")
    axes.set_xscale("log")
    axes.set_xlabel("effective k (larger dots: less even protection)")
    axes.set_ylabel("share of detail lost (NWP)")
    axes.legend(frameon=False, fontsize=8)
    return figure
