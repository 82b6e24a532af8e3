"""Privacy/error fronts drawn together, as in the OptRR study's figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tacit.report.plots import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tacit.design import Front


CROPPED_AT = 1000


def draw_fronts(fronts: Sequence[Front], title: str = "") -> Figure:
    """Error against privacy of several fronts; the exact one is the line none can cross."""
    figure, axes = new_figure(height=4.2)
    for front in fronts:
        front.plot(axes)
    errors = np.concatenate([front.errors for front in fronts])
    # Close to the largest privacy every error grows without limit; a thousand times the least is all there is to see.
    axes.set_ylim(0.7 * errors.min(), min(1.3 * errors.max(), CROPPED_AT * errors.min()))
    axes.set_title(title, loc="left", fontsize=10)
    axes.ticklabel_format(axis="x", useOffset=False)
    axes.legend(frameon=False, fontsize=8, markerscale=2)
    return figure
