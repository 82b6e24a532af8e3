"""The distribution of the truth that makes the counted reports most likely.

Stays a distribution where inversion may not, at the price of bias near the faces of the simplex. A mixture has a closed
form; everything else is iterated until a bound on what is still to be gained is met, under flips orbit by orbit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tacit.channel.kinds.mixture import MixtureLaw
from tacit.channel.protocol import Array
from tacit.count.protocol import DENSE_CELLS, Source
from tacit.errors import InvalidInput
from tacit.estimation.evidence import Evidence, Tallied, gathered
from tacit.estimation.expectation import Fit, accelerated, expectation_step
from tacit.estimation.orbits import flip_fit

__all__ = ["Fit", "accelerated", "most_likely"]

TOLERANCE = 1e-9  # of the log-likelihood per report
MAX_STEPS = 50_000


def most_likely(
    sources: Sequence[Source],
    names: Sequence[str],
    sizes: Callable[[str], int],
    *,
    tolerance: float = TOLERANCE,
    max_steps: int = MAX_STEPS,
) -> Fit:
    """The most likely joint distribution of `names`, given the reports of sources that all ask some of them."""
    covered, evidence = gathered(sources, names)
    shape = tuple(sizes(name) for name in covered)
    _checked_cells(covered, shape)
    start = np.full(shape, 1 / np.prod(shape))
    _checked_possible(evidence, start)
    fit = (
        mixture_fit(evidence, shape)
        or flip_fit(evidence, shape, tolerance, max_steps)
        or accelerated(start, expectation_step(evidence), tolerance, max_steps)
    )
    others = tuple(axis for axis, name in enumerate(covered) if name not in names)
    return Fit(fit.distribution.sum(axis=others), fit.steps, fit.converged)


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


def mixture_fit(evidence: Sequence[Evidence], shape: tuple[int, ...]) -> Fit | None:
    """The closed form for one mixture over the whole table; None where it does not apply."""
    if len(evidence) != 1 or not isinstance(only := evidence[0], Tallied) or len(only.parts) != 1:
        return None
    channel = only.parts[0].channel
    if not isinstance(channel, MixtureLaw) or channel.keep <= 0:
        return None
    frequencies = (only.counts / only.counts.sum()).reshape(-1)
    noise = ((1 - channel.keep) / channel.keep * channel.personal_distribution).reshape(-1)
    truth = above_water(frequencies, noise).reshape(channel.shape)
    return Fit(only.place.lift(truth, len(shape)), 0, converged=True)


def above_water(frequencies: Array, noise: Array) -> Array:
    """Maximises ``sum f log(p + noise)`` over distributions: ``p = max(f * scale - noise, 0)``.

    A truth is possible where ``f / noise`` exceeds ``1 / scale``; adding truths in the order of that ratio, the scale
    that makes p sum to one is the least.
    """
    ratio = np.divide(frequencies, noise, out=np.full_like(noise, np.inf), where=noise > 0)
    order = np.argsort(-np.where(frequencies > 0, ratio, 0.0), kind="stable")
    f, b = frequencies[order], noise[order]
    scales = (1 + np.cumsum(b)) / np.cumsum(f)  # the first f is positive: some report was seen
    count = int(np.count_nonzero(f * scales > b))
    return np.maximum(frequencies * scales[count - 1] - noise, 0)
