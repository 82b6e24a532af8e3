"""The power of devices and of direct questioning, as curves over the number of respondents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tacit.report.plots import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def power_plot(people: Sequence[int], curves: Mapping[str, Sequence[float]], title: str) -> Figure:
    """One line per device, and a broken one for asking directly."""
    figure, axes = new_figure(height=4.0)
    for name, power in curves.items():
        axes.plot(people, power, label=name, linestyle="--" if name == "direct" else "-")
    axes.set_xlabel("respondents")
    axes.set_ylabel("power")
    axes.set_ylim(0, 1.02)
    axes.set_title(title, fontsize=8)
    axes.legend(frameon=False)
    return figure
