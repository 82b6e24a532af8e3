"""Distributions from estimates that need not be one."""

from __future__ import annotations

import numpy as np

from tacit.channel.base import Array


def project_on_simplex(estimate: Array, total: float = 1.0) -> Array:
    """The nearest distribution, in least squares (Held, Wolfe and Crowder 1974)."""
    values = np.sort(estimate, axis=None)[::-1]
    excess = np.cumsum(values) - total
    n_positive = int(np.count_nonzero(values - excess / np.arange(1, len(values) + 1) > 0))
    return np.maximum(estimate - excess[n_positive - 1] / n_positive, 0)


def floor_shares(distribution: Array) -> Array:
    """`distribution` with every entry at least a thousandth of an even share, so that no report gets weight without end."""
    raised = np.maximum(distribution, 0.001 / distribution.size)
    return raised / raised.sum()
