"""Errors from repeats: everything is estimated again under other weights, and the spread of the estimates is the error.

The other weights came with the data (replicate weights: bootstrap, balanced, jackknife), or are drawn here by a bootstrap
of clusters within strata (Rao and Wu 1988, as rescaled weights).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.errors import InvalidInput

Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Repeats:
    """How often, and under which weights, everything is estimated again.

    `scale` times the sum of squared deviations from the estimate is the variance: 1/R for the bootstrap and balanced
    repeated replication, (R-1)/R for the jackknife, 1/(R (1-k)^2) for Fay's method.
    """

    n: int
    scale: float
    columns: Array | None = None  # [respondent, repeat], where they came with the data
    seed: int | None = None

    @classmethod
    def of(
        cls,
        n: int,
        *,
        bootstrap: int | None = None,
        replicates: Any = None,
        scale: float | None = None,
        seed: Any = None,
    ) -> Repeats | None:
        """The repeats that are asked for; None where errors are linearised."""
        if bootstrap is None and replicates is None:
            if scale is not None:
                raise InvalidInput(
                    "replicate_scale goes with replicate weights. Give them too (replicates), or leave the scale out."
                )
            return None
        if bootstrap is not None and replicates is not None:
            raise InvalidInput("Errors come from a bootstrap or from replicate weights. Give one of them.")
        if bootstrap is not None:
            if scale is not None:
                raise InvalidInput(
                    "replicate_scale goes with replicate weights, not with a bootstrap, whose scale is known. Leave it out."
                )
            return cls(checked_repeats(bootstrap), 1 / bootstrap, seed=seed)
        columns = _checked_columns(replicates, n)
        return cls(columns.shape[1], _checked_scale(scale, columns.shape[1]), columns)

    def covariance(self, values: Sequence[Array] | Array, estimate: Array) -> Array:
        """Covariance of the estimate, from the values under every repeat."""
        away = np.nan_to_num(np.asarray(values) - estimate)
        # Repeats that could not be estimated are made up for by the others.
        return away.T @ away * (self.scale * self.n / len(away))


def checked_repeats(repeats: int) -> int:
    if not (isinstance(repeats, int) and repeats >= 2):
        raise InvalidInput(f"A bootstrap needs at least two repeats, not {repeats!r}.")
    return repeats


def _checked_columns(replicates: Any, n: int) -> Array:
    try:
        columns = np.asarray(replicates, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput("Replicate weights must be numbers, one for each respondent and repeat.") from None
    if columns.ndim != 2 or len(columns) != n:
        raise InvalidInput(
            f"Replicate weights are a table of {n:,} respondents by repeats, not one of the shape {columns.shape}."
        )
    if columns.shape[1] < 2:
        raise InvalidInput("An error cannot be computed from one column of replicate weights. Name all of them.")
    for number, column in enumerate(columns.T):
        if n and not (np.isfinite(column).all() and (column >= 0).all() and column.any()):
            raise InvalidInput(f"The replicate weights {number + 1} must be numbers of at least 0, not all of them 0.")
    return columns


def _checked_scale(scale: float | None, repeats: int) -> float:
    if scale is None:
        return 1 / repeats
    if not (isinstance(scale, int | float) and 0 < scale < np.inf):
        raise InvalidInput(
            f"The scale of replicates must be above 0, not {scale!r}: (R-1)/R for a jackknife, for example."
        )
    return float(scale)


def redrawn(stratum_of: Codes, n_strata: int, repeats: int, seed: int | None) -> Iterator[Array]:
    """For each repeat the factor of every cluster: n-1 of the n clusters of a stratum are drawn, with replacement."""
    random = np.random.default_rng(seed)
    members = [np.flatnonzero(stratum_of == stratum) for stratum in range(n_strata)]
    for _ in range(repeats):
        factors = np.ones(len(stratum_of))
        for clusters in members:
            size = len(clusters)
            if size > 1:
                drawn = random.multinomial(size - 1, np.full(size, 1 / size))
                factors[clusters] = drawn * size / (size - 1)
        yield factors
