"""The distribution of the truth that makes the counted reports most likely.

Stays a distribution where inversion may not, at the price of bias near the faces of the simplex. A mixture has a closed
form; otherwise the EM update of Agrawal and Aggarwal (PODS 2001) is accelerated by SQUAREM (Varadhan and Roland 2008)
and stops by a bound on what is still to be gained.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.channel.mixture import MixtureLaw
from tacit.channel.protocol import Array
from tacit.count.protocol import Source
from tacit.errors import NotEstimable
from tacit.estimate.parts import Part, adjoint, apply, columns_of, parts_for


@dataclass(frozen=True, eq=False)
class Fit:
    """A distribution, and whether its log-likelihood per report is within the tolerance of the greatest."""

    distribution: Array
    steps: int
    converged: bool


@dataclass(frozen=True, eq=False)
class Counted:
    """The tally of one source, the law that made it, and where its axes lie in the whole table."""

    parts: tuple[Part, ...]
    counts: Array
    order: tuple[int, ...]  # position in the whole table of each axis that the parts cover

    def expected(self, truth: Array) -> Array:
        others = tuple(axis for axis in range(truth.ndim) if axis not in self.order)
        marginal = truth.sum(axis=others)
        kept = sorted(self.order)
        return apply(self.parts, marginal.transpose([kept.index(axis) for axis in self.order]))

    def spread(self, weights: Array, ndim: int) -> Array:
        """Weights of reports, as weights of the cells of the whole table that give rise to them."""
        cells = adjoint(self.parts, weights)
        kept = sorted(self.order)
        ordered = cells.transpose([self.order.index(axis) for axis in kept])
        return np.expand_dims(ordered, [axis for axis in range(ndim) if axis not in self.order])


def most_likely(
    sources: Sequence[Source],
    names: Sequence[str],
    sizes: Callable[[str], int],
    *,
    tolerance: float = 1e-9,
    max_steps: int = 50_000,
) -> Fit:
    """The most likely joint distribution of `names`, given the reports of all sources that ask any of them."""
    covered, counted = _counted(sources, names)
    shape = tuple(sizes(name) for name in covered)
    fit = _mixture_fit(counted, shape)
    if fit is None:
        fit = accelerated(np.full(shape, 1 / np.prod(shape)), _EMUpdate(counted), tolerance, max_steps)
    others = tuple(axis for axis, name in enumerate(covered) if name not in names)
    kept = [name for name in covered if name in names]
    table = fit.distribution.sum(axis=others).transpose([kept.index(name) for name in names])
    return Fit(table, fit.steps, fit.converged)


def _counted(sources: Sequence[Source], names: Sequence[str]) -> tuple[list[str], list[Counted]]:
    """The tallies, over the wanted attributes and whatever else their groups' channels cover."""
    found = []
    covered = list(names)
    for source in sources:
        asked = [name for name in names if name in source.questionnaire.attributes]
        if not asked or source.engine.n_rows == 0:
            continue
        parts = parts_for(source.questionnaire, asked)
        for part in parts:
            _checked_likelihood(part, source)
            covered.extend(name for name in part.covered if name not in covered)
        found.append((parts, source.engine.tally(columns_of(parts)).astype(np.float64)))
    counted = []
    for parts, counts in found:
        order = tuple(covered.index(name) for part in parts for name in part.covered)
        counted.append(Counted(tuple(parts), counts, order))
    return covered, counted


def _checked_likelihood(part: Part, source: Source) -> None:
    if not part.channel.is_invertible():
        part.channel.solve(np.zeros(part.channel.tally_shape))  # refuses with the channel's own reason
    if any(source.engine.schema[column].shows != "one" for column in part.columns):
        raise NotEstimable(
            f"Reports of {', '.join(part.attributes)} show sets, and a tally per member does not hold their likelihood. "
            "Use the inversion method; its projection onto the simplex is a proper distribution."
        )


@dataclass(frozen=True, eq=False)
class _EMUpdate:
    """One step of EM over all sources, and the bound on what is still to be gained."""

    counted: Sequence[Counted]

    def __call__(self, truth: Array) -> tuple[Array, float, float]:
        """The next distribution, the log-likelihood per report of this one, and a bound on the remaining gain."""
        gain, likelihood = np.zeros_like(truth), 0.0
        total = sum(float(part.counts.sum()) for part in self.counted)
        for part in self.counted:
            expected = part.expected(truth)
            # A report nobody can send is expected 0 times and seen 0 times; it carries no weight.
            ratio = np.divide(part.counts, expected, out=np.zeros_like(expected), where=expected > 0)
            gain += part.spread(ratio, truth.ndim)
            logarithms = np.log(expected, out=np.zeros_like(expected), where=expected > 0)
            likelihood += float((part.counts * logarithms).sum())
        gain /= total
        # By concavity no distribution is better by more than this, per report.
        return truth * gain, likelihood / total, float(gain.max() - 1)


def accelerated(
    start: Array, update: Callable[[Array], tuple[Array, float, float]], tolerance: float, max_steps: int
) -> Fit:
    """SQUAREM around an EM update; falls back to the plain step where the extrapolation loses likelihood."""
    truth = start
    for step in range(1, max_steps + 1):
        first, likelihood, remaining = update(truth)
        if remaining <= tolerance:
            return Fit(truth, step, converged=True)
        second, _, _ = update(first)
        jump = _extrapolated(truth, first, second)
        _, reached, _ = update(jump)
        truth = jump if reached >= likelihood else second
    return Fit(truth, max_steps, converged=False)


def _extrapolated(truth: Array, first: Array, second: Array) -> Array:
    change = first - truth
    curvature = (second - first) - change
    length = float(np.linalg.norm(curvature))
    if length == 0:
        return second
    step = max(1.0, float(np.linalg.norm(change)) / length)
    jump = truth + 2 * step * change + step**2 * curvature
    # Staying inside keeps every truth possible that EM still holds for possible.
    jump = np.where(jump > 0, jump, second * 1e-3)
    return jump / jump.sum()


def _mixture_fit(counted: Sequence[Counted], shape: tuple[int, ...]) -> Fit | None:
    """The closed form for one mixture over the whole table: the truths above a water level, found by sorting."""
    if len(counted) != 1 or len(counted[0].parts) != 1:
        return None
    channel, order = counted[0].parts[0].channel, counted[0].order
    if not isinstance(channel, MixtureLaw) or channel.keep <= 0 or len(order) != len(shape):
        return None
    frequencies = (counted[0].counts / counted[0].counts.sum()).reshape(-1)
    noise = ((1 - channel.keep) / channel.keep * channel.personal_distribution).reshape(-1)
    truth = _above_water(frequencies, noise)
    table = truth.reshape(channel.shape).transpose([order.index(axis) for axis in range(len(shape))])
    return Fit(table, 1, converged=True)


def _above_water(frequencies: Array, noise: Array) -> Array:
    """Maximises ``sum f log(p + noise)`` over distributions: ``p = max(f * scale - noise, 0)``.

    A truth is possible where ``f / noise`` exceeds ``1 / scale``; adding truths in the order of that ratio, the scale
    that makes p sum to one is the least.
    """
    ratio = np.divide(frequencies, noise, out=np.full_like(noise, np.inf), where=noise > 0)
    order = np.argsort(-ratio, kind="stable")
    f, b = frequencies[order], noise[order]
    mass = np.cumsum(f)
    scales = np.divide(1 + np.cumsum(b), mass, out=np.full_like(mass, np.inf), where=mass > 0)
    count = int(np.count_nonzero(f * scales > b))
    return np.maximum(frequencies * scales[max(count, 1) - 1] - noise, 0)
