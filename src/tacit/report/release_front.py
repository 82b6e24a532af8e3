"""The alternatives to a release, drawn: what each effective k costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.publish.release import Release
from tacit.report.plots import BLUE, GREY, ORANGE, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def front_figure(release: Release) -> Figure:
    """Loss against effective k; the bias of each alternative is the size of its dot."""
    figure, axes = new_figure()
    ks = [entry.effective_k for entry in release.front]
    losses = [entry.nwp for entry in release.front]
    axes.scatter(
        ks, losses, s=[8 + 120 * entry.necd for entry in release.front], color=BLUE, alpha=0.6, label="alternative"
    )
    axes.plot([release.effective_k], [release.nwp], "D", color=ORANGE, label="this release")
    if release.lower_bound is not None:
        axes.axhline(release.lower_bound, color=GREY, linestyle="--", label=f"no less is possible at k = {release.k}")
    axes.set_xscale("log")
    axes.set_xlabel("effective k (larger dots: less even protection)")
    axes.set_ylabel("share of detail lost (NWP)")
    axes.legend(frameon=False, fontsize=8)
    return figure
