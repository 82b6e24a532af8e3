"""Privacy/error fronts drawn together, as in the OptRR study's figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tacit.report.plots import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tacit.design import Front


def draw_fronts(fronts: Sequence[Front], title: str = "") -> Figure:
    """Error against privacy of several fronts; the exact one is the line none can cross."""
    figure, axes = new_figure(height=4.2)
    for front in fronts:
        front.plot(axes)
    axes.set_title(title, loc="left", fontsize=10)
    axes.legend(frameon=False, fontsize=8)
    return figure
