"""Terms of one size, so that no fit depends on the units of its covariates: a year of birth, an income."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ROUNDING = 1e-12  # of a column's size: what is left of a constant after its mean is taken off


@dataclass(frozen=True, eq=False)
class EvenTerms:
    """Columns ``x @ back + shift`` of mean 0 and mean square 1; a constant stays as it is, and without one nothing is moved.

    Coefficients of `x` are ``back`` times those of the even columns; what `shift` moves, thresholds take up.
    """

    x: Array
    back: Array
    shift: Array

    @classmethod
    def of(cls, x: Array, *, has_thresholds: bool = False) -> EvenTerms:
        size = x.shape[1]
        back, shift = np.eye(size), np.zeros(size)
        mean = x.mean(axis=0)
        constant = np.flatnonzero((np.ptp(x, axis=0) == 0) & (x[0] != 0))
        if has_thresholds:
            shift = -mean
        elif len(constant):
            first = int(constant[0])
            back[first] -= mean / x[0, first]
            back[first, first] = 1.0
        even = x @ back + shift
        scale = np.sqrt((even**2).mean(axis=0))
        is_nothing = scale <= ROUNDING * np.abs(x).max(axis=0, initial=0.0)
        even[:, is_nothing] = 0.0  # refused later, as a column that follows from others
        scale[is_nothing] = 1.0
        if not has_thresholds:
            scale[constant[:1]] = 1.0
        return cls(even / scale, back / scale, shift / scale)
