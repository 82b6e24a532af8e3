"""How well a release meets the publisher's preferences: one number from loss and bias (Dewri et al. 2009)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

EPSILON = 1e-9


@dataclass(frozen=True)
class Preference:
    """The loss (NWP) and the bias (NECD) the publisher would be content with, each between 0 and 1.

    >>> Preference(loss=0.2, bias=1).share_of_loss
    0.8333333...
    """

    loss: float = 0.2
    bias: float = 1.0

    @property
    def share_of_loss(self) -> float:
        """Weight of the loss against the bias: the dearer, the less of it is preferred."""
        loss, bias = 1 / (self.loss + EPSILON), 1 / (self.bias + EPSILON)
        return loss / (loss + bias)

    def achievement(self, nwp: NDArray[np.float64], necd: NDArray[np.float64]) -> NDArray[np.float64]:
        """The greater of weighted loss and weighted bias; its minimum is weakly Pareto-optimal."""
        w = self.share_of_loss
        return np.maximum(w * (nwp + EPSILON), (1 - w) * (necd + EPSILON))
