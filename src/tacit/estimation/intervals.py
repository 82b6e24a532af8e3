"""Intervals that can be believed: inside [0, 1], never empty, with the variance that the channel itself has.

The estimate of a share is a mean of one number per report. As people move into a share p from among those who are mistaken
for it, the variance of that mean is a quadratic in p, and every such quadratic is that of a share asked
through a two-way channel: each of so many people reports "yes" with chance ``background + contrast * p``. So one exact
recipe serves every channel: the mid-p interval of that binomial share (Lancaster 1961), undone. For a mixture, a single
flip or one answer of subset selection it is the very law of the reports; elsewhere mean and variance agree with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, gammaln, ndtri

from tacit.channel.base import Array
from tacit.errors import InvalidInput

NEAREST = 0.5**50  # shares closer together than this are one
CLOSE = 1e-9  # standard errors by which the end of an interval may be off
MOST_STEPS = 60
IMPLAUSIBLE = 5.0  # standard errors: no interval in use reaches as far
LEAST_TOP = 1e-9  # of the shares that are plausible: where nothing is left to chance, they are one point
ALIKE_FROM = 1 << 10  # cells from which on it pays to look for cells that are alike
ALIKE = 1e-10  # cells whose variances differ by so little, and their estimates by so few standard errors, are alike
TINY = float(np.finfo(np.float64).tiny)
ROUNDING = 1e-12  # how far an estimate may lie outside [0, 1], or a variance above 0, and mean nothing by it


def checked_level(level: float) -> float:
    """The normal quantile of a two-sided confidence level."""
    if not (isinstance(level, int | float) and 0 < level < 1):
        raise InvalidInput(f"A confidence level lies between 0 and 1, such as 0.95; it cannot be {level!r}.")
    return NormalDist().inv_cdf((1 + level) / 2)


@dataclass(frozen=True, eq=False)
class Interval:
    """Lower and upper ends that hold the truth with the chance `level`, cell by cell."""

    low: Array
    high: Array
    level: float


@dataclass(frozen=True, eq=False)
class ShareLaw:
    """How the variance of estimated shares depends on the shares: ``constant + slope * p - curvature * p**2``.

    `respondents` says that the people are fixed, so that the variance is the disguise's alone; the three numbers are
    those of people sampled from a population all the same.
    """

    constant: Array
    slope: Array
    curvature: Array
    respondents: bool = False

    @classmethod
    def of(cls, inside: Array, outside: Array, n: float, *, respondents: bool = False) -> ShareLaw:
        """The law from the mean square of one report's number where a share's condition is true of a person, and where not."""
        outside = np.maximum(outside, 0.0)
        return cls(outside / n, (inside - outside) / n, np.full(np.shape(inside), 1 / n), respondents)

    def transpose(self, order: Sequence[int]) -> ShareLaw:
        """The law of the same cells with the axes of their table in this order."""
        constant, slope, curvature = (of.transpose(order) for of in (self.constant, self.slope, self.curvature))
        return ShareLaw(constant, slope, curvature, self.respondents)

    def of_cell(self, cell: tuple[int, ...]) -> ShareLaw:
        """The law of one cell."""
        constant, slope, curvature = (np.array(of[cell]) for of in (self.constant, self.slope, self.curvature))
        return ShareLaw(constant, slope, curvature, self.respondents)

    def variance(self, p: Array) -> Array:
        sampled = self.curvature if self.respondents else self.curvature * p
        return np.maximum(self.constant + (self.slope - sampled) * p, 0.0)

    @cached_property
    def _people(self) -> Array:
        return 1 / self.curvature

    @cached_property
    def _is_impossible(self) -> NDArray[np.bool_]:
        """Cells that routing rules out: no report contributes to them."""
        return (self.slope == 0) & (self.constant == 0)

    @cached_property
    def _contrast(self) -> Array:
        squared = (self.slope * self._people) ** 2 + 4 * self.constant * self._people
        return 1 / np.sqrt(np.where(self._is_impossible, 1.0, squared))

    @cached_property
    def _background(self) -> Array:
        return np.maximum((1 - self.slope * self._people * self._contrast) / 2, 0.0)

    def interval(self, estimate: Array, level: float = 0.95) -> Interval:
        """Interval of each share, cut to [0, 1]; where its estimate lies outside, joined with what is likely from the edge."""
        z = checked_level(level)
        if np.size(estimate) >= ALIKE_FROM:
            return self._interval_of_many(estimate, level)
        low, high = self._root(estimate, -z), self._root(estimate, z)
        near = np.clip(estimate, 0, 1)
        beyond = np.abs(estimate - near) > ROUNDING
        from_edge = self._score(estimate, z**2 + np.where(beyond, self._distance(estimate, near), 0.0))
        low = np.where(beyond, np.minimum(low, from_edge[0]), low)
        high = np.where(beyond, np.maximum(high, from_edge[1]), high)
        is_certain = self.variance(near) <= ROUNDING**2  # just the respondents, undisguised: nothing is left to chance
        exact = (is_certain & self.respondents) | self._is_impossible
        return Interval(np.where(exact, near, low), np.where(exact, near, high), level)

    def highest_plausible(self, estimate: Array) -> Array:
        """The highest share from which the estimate is not `IMPLAUSIBLE` standard errors of a population's sample away."""
        law = replace(self, respondents=False)
        return np.maximum(law._score(np.clip(estimate, 0, 1), np.array(IMPLAUSIBLE**2))[1], LEAST_TOP)

    def _distance(self, estimate: Array, p: Array) -> Array:
        """Squared distance of the estimates from the shares p, in standard errors."""
        return (estimate - p) ** 2 / np.maximum(self.variance(p), ROUNDING**2)

    def _score(self, estimate: Array, bound: Array) -> tuple[Array, Array]:
        """The shares whose squared distance from the estimate is at most `bound`, cut to [0, 1]: roots of a quadratic."""
        curvature = 0.0 if self.respondents else self.curvature
        slope = self.slope - self.curvature if self.respondents else self.slope
        square, linear = 1 + bound * curvature, 2 * estimate + bound * slope
        spread = np.sqrt(np.maximum(linear**2 - 4 * square * (estimate**2 - bound * self.constant), 0.0))
        return np.clip((linear - spread) / (2 * square), 0, 1), np.clip((linear + spread) / (2 * square), 0, 1)

    def _interval_of_many(self, estimate: Array, level: float) -> Interval:
        """The intervals of very many cells, most of which are alike: each different one is worked out once."""
        shape = np.shape(estimate)
        numbers = [_flat(values, shape) for values in (estimate, self.constant, self.slope, self.curvature)]
        spread = self.variance(np.clip(estimate, 0, 1))
        least = float(np.sqrt(np.min(spread, where=spread > 0, initial=1.0)))
        steps = [least, *(float(np.max(np.abs(numbers[1:]))),) * 3]
        rounded = [np.rint(values / (ALIKE * max(step, TINY))) for values, step in zip(numbers, steps, strict=True)]
        order = np.lexsort(rounded)
        differs = np.any([np.diff(values[order]) != 0 for values in rounded], axis=0)
        is_first = np.concatenate([[True], differs])
        of_cell = np.empty(len(order), np.intp)
        of_cell[order] = np.cumsum(is_first) - 1
        different, low, high = order[is_first], [], []
        for start in range(0, len(different), ALIKE_FROM - 1):
            cells = different[start : start + ALIKE_FROM - 1]
            ends = self._of_cells(cells, shape).interval(numbers[0][cells], level)
            low.append(ends.low)
            high.append(ends.high)
        lows, highs = (np.concatenate(values)[of_cell].reshape(shape) for values in (low, high))
        return Interval(lows, highs, level)

    def _of_cells(self, cells: NDArray[np.intp], shape: tuple[int, ...]) -> ShareLaw:
        """The law of some cells of a table of this shape."""
        constant, slope, curvature = (_flat(term, shape)[cells] for term in (self.constant, self.slope, self.curvature))
        return ShareLaw(constant, slope, curvature, self.respondents)

    def _root(self, estimate: Array, target: float) -> Array:
        """The share at which the quantile of the chance of a larger estimate, or half of an equal one, is `target`.

        The quantile is all but linear in the share, so a secant is there after a few steps; a bracket that shrinks with
        every step keeps it inside.
        """
        if self.respondents:
            return self._root_by_bisection(estimate, target)
        shape, estimate = np.shape(estimate), _flat(estimate, np.shape(estimate))
        whole = self._of_cells(np.arange(len(estimate)), shape)
        root = np.where(whole._quantile(estimate, np.zeros_like(estimate)) >= target, 0.0, 1.0)
        cells = np.flatnonzero((root == 1) & (whole._quantile(estimate, np.ones_like(estimate)) >= target))
        low, high = np.zeros(len(cells)), np.ones(len(cells))
        error = np.maximum(np.sqrt(whole.variance(np.clip(estimate, 0, 1)))[cells], NEAREST)
        share, steepness = _within(low, estimate[cells] + target * error, high), 1 / error
        before, off_before = np.full((2, len(cells)), np.nan)
        for _ in range(MOST_STEPS):
            off = whole._of_cells(cells, estimate.shape)._quantile(estimate[cells], share) - target
            low, high = np.where(off < 0, share, low), np.where(off < 0, high, share)
            with np.errstate(invalid="ignore", divide="ignore"):
                secant = (off - off_before) / (share - before)
                steepness = np.where((secant > 0) & (secant < np.inf), secant, steepness)
                following = share - off / steepness
            root[cells] = np.clip(np.where(np.isfinite(following), following, share), low, high)
            after = _within(low, following, high)
            going = (np.abs(off) > CLOSE) & (high - low > NEAREST)
            if not going.any():
                break
            cells, low, high, steepness = cells[going], low[going], high[going], steepness[going]
            before, off_before, share = share[going], off[going], after[going]
        return root.reshape(shape)

    def _root_by_bisection(self, estimate: Array, target: float) -> Array:
        """`_root` by bisection, where the chance is put together from two approximations and may jump between them."""
        low, high = np.zeros(np.shape(estimate)), np.ones(np.shape(estimate))
        while np.max(high - low, initial=0.0) > NEAREST:
            middle = (low + high) / 2
            below = self._quantile(estimate, middle) < target
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        root = low if target < 0 else high
        return np.where(root <= NEAREST, 0.0, np.where(root >= 1 - NEAREST, 1.0, root))

    def _quantile(self, estimate: Array, p: Array) -> Array:
        """The chance of an estimate that is larger, or half that of an equal one, at a share p, as a normal quantile."""
        yes = np.clip(self._people * (self._background + self._contrast * estimate), 0, self._people)
        return np.asarray(ndtri(self._exceeding(yes, p)))

    def _exceeding(self, yes: Array, p: Array) -> Array:
        """The chance of more than `yes` reports, and half that of as many, at a share p."""
        chance = np.clip(self._background + self._contrast * p, 0, 1)
        if not self.respondents:
            return _mid_p(yes, self._people, chance)
        # Fixed people give a sum of two binomials; a binomial of the same mean and variance, counting what is rarer.
        swapped = chance > 0.5
        mean = self._people * np.where(swapped, 1 - chance, chance)
        count = np.where(swapped, self._people - yes, yes)
        variance = np.minimum((self._people * self._contrast) ** 2 * self.variance(p), mean * (1 - ROUNDING))
        mean = np.maximum(mean, TINY)
        tail = _mid_p(count, np.maximum(mean**2 / (mean - variance), count), 1 - variance / mean)
        return np.where(swapped, 1 - tail, tail)


def combined_law(laws: Sequence[ShareLaw], weights: Array) -> ShareLaw:
    """The law of a weighted sum of independent estimates of the same shares."""
    pairs = list(zip(laws, weights**2, strict=True))
    return ShareLaw(
        sum((weight * law.constant for law, weight in pairs), np.zeros(())),
        sum((weight * law.slope for law, weight in pairs), np.zeros(())),
        sum((weight * law.curvature for law, weight in pairs), np.zeros(())),
    )


def _mid_p(count: Array, people: Array, chance: Array) -> Array:
    """The chance that a binomial number exceeds `count`, and half the chance that it equals it; counts may be fractions."""
    at_least = betainc(np.maximum(count, TINY), people - count + 1, chance)
    ways = gammaln(people + 1) - gammaln(count + 1) - gammaln(people - count + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_successes = np.where(count > 0, count * np.log(chance), 0.0)
        log_failures = np.where(count < people, (people - count) * np.log1p(-chance), 0.0)
    equal = np.exp(ways + log_successes + log_failures)
    return np.clip(np.where(count > 0, at_least, 1.0) - equal / 2, 0.0, 1.0)


def _flat(numbers: Array, shape: tuple[int, ...]) -> Array:
    """Numbers of the cells of a table of this shape, in a row; what is the same for all cells is repeated."""
    return np.ascontiguousarray(np.broadcast_to(numbers, shape), dtype=np.float64).reshape(-1)


def _within(low: Array, wanted: Array, high: Array) -> Array:
    """What is wanted where it lies between the two, else their middle."""
    return np.where((low < wanted) & (wanted < high), wanted, (low + high) / 2)


# How far two estimates may deviate together is looked up at so many levels, and in so many directions around the circle.
DEVIATION_STEPS = 8
DIRECTIONS = 180


def difference_interval(
    first: Callable[[float], Interval], second: Callable[[float], Interval], correlation: Array, level: float
) -> Interval:
    """The interval of ``second - first``, two estimated shares whose errors have this correlation.

    It holds every difference of two shares whose deviations, each measured by the level at which its own interval ends
    there, lie together within the ellipse of the normal quantile. Where ends grow in proportion to that quantile this is the
    method of Newcombe (1998) and Zou (2007). Unlike it, it also holds at the corners, where both shares lie at an end and
    nothing beyond is possible: there the ellipse is that of `corner_quantile`.
    """
    z, corner = checked_level(level), corner_quantile(level)
    quantiles = np.linspace(0, corner, DEVIATION_STEPS + 1)
    levels = [max(math.erf(float(quantile) / math.sqrt(2)), NEAREST) for quantile in quantiles]
    ends = [[share(each) for each in levels] for share in (first, second)]
    # One row for each signed deviation, from the farthest below to the farthest above: lower ends backwards, then upper ends.
    reach = [np.stack([*(end.low for end in reversed(of)), *(end.high for end in of[1:])]) for of in ends]
    usual, far = (_farthest_differences(reach, correlation, radius) for radius in (z / corner, 1.0))
    (lowest, highest), (other_lowest, other_highest) = ((of[-1].low, of[-1].high) for of in ends)
    low = np.where((other_lowest <= 0) & (highest >= 1), far[0], usual[0])
    high = np.where((other_highest >= 1) & (lowest <= 0), far[1], usual[1])
    return Interval(low, high, level)


def corner_quantile(level: float) -> float:
    """Where the distance of two deviations ends with the chance `level` if neither can fall below 0: z**2 of a chi-bar-square."""
    low, high = checked_level(level), 40.0
    for _ in range(MOST_STEPS):
        middle = (low + high) / 2
        beyond = 0.25 * math.exp(-(middle**2) / 2) + 0.5 * math.erfc(middle / math.sqrt(2))
        low, high = (middle, high) if beyond > 1 - level else (low, middle)
    return high


def _farthest_differences(reach: Sequence[Array], correlation: Array, radius: float) -> tuple[Array, Array]:
    """The least and the greatest difference of two shares whose deviations lie on an ellipse of this radius."""
    angles = np.linspace(0, 2 * math.pi, DIRECTIONS, endpoint=False).reshape(-1, *[1] * correlation.ndim)
    first = radius * np.sin(angles)
    second = correlation * first + radius * np.sqrt(1 - correlation**2) * np.cos(angles)
    differences = _between(reach[1], second) - _between(reach[0], first)
    return differences.min(axis=0), differences.max(axis=0)


def _between(reach: Array, deviations: Array) -> Array:
    """Shares at these deviations, from -1 to 1, read off between the rows of `reach`, which cover them evenly."""
    place = (np.broadcast_to(deviations, (len(deviations), *reach.shape[1:])) + 1) / 2 * (len(reach) - 1)
    below = np.clip(np.floor(place).astype(np.intp), 0, len(reach) - 2)
    lower, upper = np.take_along_axis(reach, below, axis=0), np.take_along_axis(reach, below + 1, axis=0)
    return lower + (place - below) * (upper - lower)


def share_interval(estimate: float, standard_error: float, n: int, level: float = 0.95) -> tuple[float, float]:
    """The interval of any estimated share of which only the standard error for a population is known.

    Accuracies, supports and the like: the disguise's part of the variance is taken to be the same whatever the share,
    and the sampling of `n` people adds the binomial's.
    """
    ends = share_intervals(np.array(estimate), np.array(standard_error), np.array(float(n)), level)
    return float(ends.low), float(ends.high)


def share_intervals(estimates: Array, standard_errors: Array, people: Array, level: float = 0.95) -> Interval:
    """`share_interval` for many shares at once."""
    return law_of_error(estimates, standard_errors**2, people).interval(estimates, level)


def law_of_error(estimates: Array, variances: Array, people: Array | float) -> ShareLaw:
    """The law of shares of which only the variance for a population is known: the disguise's part is the same everywhere."""
    p = np.clip(estimates, 0.0, 1.0)
    people = np.asarray(people, dtype=np.float64)
    return ShareLaw(np.maximum(variances - p * (1 - p) / people, 0.0), 1 / people, 1 / people)


def interval_within(estimate: float, standard_error: float, quantile: float) -> tuple[float, float]:
    """The interval of a parameter in [0, 1] with one error wherever it is; from the nearer end where its estimate is outside."""
    beyond = estimate - min(max(estimate, 0.0), 1.0)
    margin = math.hypot(quantile * standard_error, beyond)
    return min(max(estimate - margin, 0.0), 1.0), min(max(estimate + margin, 0.0), 1.0)
