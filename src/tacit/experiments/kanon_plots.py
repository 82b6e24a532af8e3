"""Pictures of the k-anonymity study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tacit.report.plots import BLUE, GREY, ORANGE, plain_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
