"""The distribution of the truth that makes the counted reports most likely.

Stays a distribution where inversion may not, at the price of bias near the faces of the simplex. Some channels have a
closed form; everything else is iterated until a bound on what is still to be gained is met, orbit by orbit where records
fall into orbits that no report leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tacit.channel.base import Array
from tacit.count.protocol import DENSE_CELLS, Source
from tacit.errors import InvalidInput
from tacit.estimation.evidence import Evidence, Tallied, gathered
from tacit.estimation.expectation import ExpectationFit, accelerated, expectation_step
from tacit.estimation.orbits import orbit_fit

__all__ = ["ExpectationFit", "accelerated", "most_likely"]

TOLERANCE = 1e-9  # of the log-likelihood per report
MAX_STEPS = 50_000


def most_likely(
    sources: Sequence[Source],
    names: Sequence[str],
    sizes: Callable[[str], int],
    *,
    tolerance: float = TOLERANCE,
    max_steps: int = MAX_STEPS,
) -> ExpectationFit:
    """The most likely joint distribution of `names`, given the reports of sources that all ask some of them."""
    covered, evidence = gathered(sources, names)
    shape = tuple(sizes(name) for name in covered)
    _checked_cells(covered, shape)
    start = np.full(shape, 1 / np.prod(shape))
    _checked_possible(evidence, start)
    fit = (
        orbit_fit(evidence, shape, tolerance, max_steps)
        or closed_form(evidence, shape)
        or accelerated(start, expectation_step(evidence), tolerance, max_steps)
    )
    others = tuple(axis for axis, name in enumerate(covered) if name not in names)
    return ExpectationFit(fit.distribution.sum(axis=others), fit.steps, fit.converged)


def _checked_cells(covered: Sequence[str], shape: tuple[int, ...]) -> None:
    cells = float(np.prod(np.array(shape, dtype=np.float64)))
    if cells > DENSE_CELLS:
        raise InvalidInput(
            f"The likelihood needs the table of {', '.join(covered)} together ({cells:.3g} cells), because their groups' "
            "channels have no marginals; that is too many to hold. Use the inversion method."
        )


def _checked_possible(evidence: Sequence[Evidence], start: Array) -> None:
    impossible = sum(float(part.counts[part.expected(start) <= 0].sum()) for part in evidence)
    if impossible:
        raise InvalidInput(
            f"{impossible:,.0f} reports could not have been sent by anybody under the scheme (their chance is 0 whatever "
            "is true), so no distribution is likely. Was it another scheme?"
        )


def closed_form(evidence: Sequence[Evidence], shape: tuple[int, ...]) -> ExpectationFit | None:
    """The optimum of one channel over the whole table, where it has a closed form."""
    if len(evidence) != 1 or not isinstance(only := evidence[0], Tallied) or len(only.parts) != 1:
        return None
    truth = only.parts[0].channel.most_likely(only.counts / only.counts.sum())
    return None if truth is None else ExpectationFit(only.place.lift(truth, len(shape)), 0, converged=True)
