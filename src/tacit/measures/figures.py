"""Three figures of what a report reveals under a prior; None where one cannot be computed for the size."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figures:
    """MAP privacy, worst posterior and PSE of one channel under one prior: all three are chances."""

    map_privacy: float | None
    worst_posterior: float | None
    pse: float | None

    def __post_init__(self) -> None:
        # Sums of many chances may end a hair below 0 or above 1.
        for name in ("map_privacy", "worst_posterior", "pse"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, min(max(value, 0.0), 1.0))


UNKNOWN = Figures(None, None, None)
