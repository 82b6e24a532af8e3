"""Shares and open parameters from the reports of one group of people, with their joint errors.

An estimate knows the number that each report adds to it, so that complex samples, groups and differences all come from
the same linear parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc, chdtrc

from tacit.channel.base import Array
from tacit.channel.device_parameters import exact_chance
from tacit.channel.devices import DeviceDesign
from tacit.errors import InvalidInput, NotEstimable
from tacit.estimation.complex_samples import SampleDesign
from tacit.estimation.sample_laws import SampleLaws, estimate_shares_of
from tacit.estimation.simplex import floor_shares

Codes = NDArray[np.intp]
ROUNDING = 1e-9
INATTENTIVE = "inattentive"


@dataclass(frozen=True, eq=False)
class SampleCounts:
    """The weighted shares of the reports of each sample, among the rows of one group of people."""

    codes: Codes  # report of each row
    samples: Codes  # sample of each row
    rows: NDArray[np.bool_]  # which rows count
    weights: Array
    n_reports: int  # different reports

    @cached_property
    def sizes(self) -> Array:
        """Rows of each sample."""
        return np.bincount(self.samples[self.rows], minlength=self.n_samples).astype(np.float64)

    @property
    def n_samples(self) -> int:
        return int(self.samples.max()) + 1 if len(self.samples) else 0

    @property
    def n(self) -> int:
        return int(self.rows.sum())

    @cached_property
    def _sums(self) -> Array:
        cells = self.samples[self.rows] * self.n_reports + self.codes[self.rows]
        size = self.n_samples * self.n_reports
        sums: Array = np.bincount(cells, self.weights[self.rows], size).astype(np.float64)
        return sums.reshape(self.n_samples, self.n_reports)

    @cached_property
    def totals(self) -> Array:
        """Sum of the weights of each sample."""
        return self._sums.sum(axis=1)

    @property
    def frequencies(self) -> list[Array]:
        return list(self._sums / self.totals[:, None])

    def contributions(self, weights: Sequence[Array]) -> Array:
        """What each row adds to ``sum_j W_j q_j``, centred: rows x estimates, zero where a row does not count."""
        values = np.zeros((len(self.codes), len(weights[0])))
        for sample, (weight, seen) in enumerate(zip(weights, self.frequencies, strict=True)):
            here = np.flatnonzero(self.rows & (self.samples == sample))
            deviations = weight[:, self.codes[here]] - (weight @ seen)[:, None]
            values[here] = (deviations * self.weights[here] / self.totals[sample]).T
        return values


@dataclass(frozen=True, eq=False)
class DeviceEstimate:
    """Shares, then open parameters, of one group: values, gradients on reports, and the model's own covariance."""

    names: tuple[str, ...]
    n_answers: int
    values: Array  # shares, open parameters
    constrained: Array
    weights: list[Array]  # per sample: estimates x reports
    laws: SampleLaws
    classes: Array  # a proper distribution of the classes, for variances
    shares: Array  # estimates x classes: who is counted; not a number where an estimate is no share of people
    counted: SampleCounts
    is_inside: bool
    added: Array | None = None  # what the control item adds to each row's contributions
    has_law = True

    @cached_property
    def covariance(self) -> Array:
        """Covariance by the law of the device at the estimated classes: the inverse information of these estimates."""
        return self.laws.covariance(self.weights, self.classes) / self.counted.n

    @cached_property
    def contributions(self) -> Array:
        values = self.counted.contributions(self.weights)
        return values if self.added is None else values + self.added

    def noise(self, design: SampleDesign) -> Array:
        """The covariance that the device's chance alone adds in each stratum."""
        per_report = self.laws.device_covariance(self.weights, self.classes)
        total = np.zeros((design.n_strata, *per_report[0].shape))
        counted = self.counted
        for sample, noise in enumerate(per_report):
            here = counted.rows & (counted.samples == sample)
            squares = (counted.weights[here] / counted.totals[sample]) ** 2
            by_stratum = np.bincount(design.strata[here], squares, design.n_strata)
            total += by_stratum[:, None, None] * noise
        return total

    @cached_property
    def impossibility(self) -> float:
        """How many standard errors the reports lie from anything the device can send; 0 up to three of them."""
        if self.is_inside or self.added is not None:
            return 0.0
        return distance_from_possible(self.laws, self.counted.frequencies, self.counted.sizes)

    def exact_p(self, share: float) -> float | None:
        """The exact binomial p of a share of yes; None where reports are not of one sample, unweighted, and two."""
        counted = self.counted
        if len(counted.sizes) > 1 or self.laws.laws[0].shape != (2, 2) or self.added is not None:
            return None
        n, law = counted.n, self.laws.laws[0]
        yes = round(float(counted.frequencies[0][1]) * n)
        chance = float(law[1] @ [1 - share, share])
        tails = float(bdtr(yes, n, chance)), float(bdtrc(yes - 1, n, chance)) if yes else 1.0
        return min(1.0, 2 * min(tails))

    def is_share(self, at: int) -> bool:
        """Whether an estimate is the share of some classes of people."""
        return at < len(self.shares) and bool(np.isfinite(self.shares[at]).all())

    def variance_law(self, at: int) -> tuple[float, float, float]:
        """Variance of a share as a function of it, ``constant + slope p - curvature p**2``.

        All else stays in proportion. Where the device leaves something open, that would be known too well where chance has
        brought the estimate far from the share: all else is then as likely as it can be at the share. The law holds at
        both ends and at the estimate.
        """
        middle = self._middle(at)
        low, between, high = (self._variance_at(at, share) for share in (0.0, middle, 1.0))
        bent = (between - low - (high - low) * middle) / (middle * (1 - middle))
        curvature = max(bent, 1e-15)
        return low, high - low + curvature, curvature

    def _middle(self, at: int) -> float:
        return min(max(float(self.constrained[at]), 0.25), 0.75) if self._leaves_open else 0.5

    @property
    def _leaves_open(self) -> bool:
        return len(self.classes) > self.n_answers

    def _variance_at(self, at: int, share: float) -> float:
        row = self.shares[at]
        inside, outside = self.classes * row, self.classes * (1 - row)
        classes = share * _even(inside, row) + (1 - share) * _even(outside, 1 - row)
        if self._leaves_open:
            classes = self._classes_with(row, share)
        variances = self.laws.covariance([weight[[at]] for weight in self.weights], classes)
        return float(variances[0, 0]) / self.counted.n

    def _classes_with(self, members: Array, share: float) -> Array:
        """The most likely classes of which the members have this share; those of no and yes are the same."""
        if members[0]:
            members, share = 1 - members, 1 - share
        key = (members.tobytes(), share)
        if key not in self._moments_by_key:
            self._moments_by_key[key] = self.laws.most_likely_with(self.counted.frequencies, members, share)
        return self._moments_by_key[key]

    @cached_property
    def _moments_by_key(self) -> dict[tuple[bytes, float], Array]:
        return {}


MOST_ERRORS = 3.0


def distance_from_possible(laws: SampleLaws, seen: Sequence[Array], sizes: Array) -> float:
    """How many standard errors reports lie from the nearest thing that can be sent; 0 where that may be chance.

    The errors are those of the boundary, where everybody or nobody carries the trait.
    """
    classes = laws.most_likely(seen)
    total, reports = 0.0, 0
    for law, shares, people in zip(laws.laws, seen, sizes, strict=False):
        expected = law @ classes
        if (shares[expected <= ROUNDING] > ROUNDING).any():
            return np.inf
        possible = expected > ROUNDING
        total += float(people * ((shares - expected)[possible] ** 2 / expected[possible]).sum())
        reports += int(possible.sum()) - 1
    freedom = max(reports - laws.n_classes + 1, 1)
    return float(np.sqrt(total)) if chdtrc(freedom, total) < chdtrc(1, MOST_ERRORS**2) else 0.0


def impossible_reports(distance: float) -> str:
    """What is said of reports that the device cannot have sent."""
    far = "some reports are impossible" if np.isinf(distance) else f"by {distance:.1f} standard errors"
    return (
        f"These reports lie outside of what the device can send, {far}: the chances are wrong, yes and no are coded the other "
        "way, or the instructions were not followed. No interval and no number of respondents can be given; check "
        "--parameters and --yes."
    )


def _even(shares: Array, members: Array) -> Array:
    """The shares as a distribution; an even one over the members if all shares are 0."""
    return shares / shares.sum() if shares.sum() > 0 else members / members.sum()


def estimate_device(device: DeviceDesign, counted: SampleCounts) -> DeviceEstimate:
    """The estimate from the reports of the device's samples."""
    empty = np.flatnonzero(counted.sizes[: len(device.samples)] == 0)
    if len(empty) or counted.n_samples < len(device.samples):
        missing = device.samples[int(empty[0]) if len(empty) else counted.n_samples].name
        where = "" if missing is None else f" in the sample {missing!r}"
        raise InvalidInput(f"There are no reports{where}, so nothing can be estimated.")
    laws = SampleLaws(tuple(sample.matrix for sample in device.samples), counted.sizes / counted.n)
    seen = counted.frequencies
    guess = laws.first_guess(seen)
    wanted = np.concatenate([device.shares, *([pair[0], pair[1]] for pair in device.opens.values())])
    linear = laws.weights(wanted, guess)
    by_device = estimate_shares_of(linear, seen)
    n_answers = len(device.answers)
    ratios, gradient = _ratios(by_device, n_answers, len(device.opens))
    is_inside = bool(((ratios > -ROUNDING) & (ratios < 1 + ROUNDING)).all())
    classes = _classes(laws, seen, guess, is_inside=is_inside)
    return DeviceEstimate(
        names=(*device.answers, *device.opens),
        n_answers=n_answers,
        values=ratios,
        constrained=np.clip(ratios, 0, 1) if is_inside else _constrained_shares(device, classes),
        weights=[gradient @ weight for weight in linear],
        laws=laws,
        classes=floor_shares(classes),
        shares=np.concatenate([device.shares, *(_members(*pair)[None, :] for pair in device.opens.values())]),
        counted=counted,
        is_inside=is_inside,
    )


def _members(top: Array, bottom: Array) -> Array:
    """The classes that an open parameter counts among all people; not a number where it is a share of some of them."""
    return top if (bottom == 1).all() else np.full_like(top, np.nan)


def _ratios(linear: Array, n_answers: int, n_open: int) -> tuple[Array, Array]:
    """Shares and ratios from linear estimates, and how they change with these."""
    values, gradient = [*linear[:n_answers]], np.zeros((n_answers + n_open, len(linear)))
    gradient[:n_answers, :n_answers] = np.eye(n_answers)
    for number in range(n_open):
        top, bottom = n_answers + 2 * number, n_answers + 2 * number + 1
        # Without carriers there is nobody whose honesty could be told.
        below = linear[bottom] if abs(linear[bottom]) > ROUNDING else np.nan
        ratio = linear[top] / below
        values.append(ratio)
        gradient[n_answers + number, [top, bottom]] = np.nan_to_num([1 / below, -ratio / below])
    return np.array(values), gradient


def _classes(laws: SampleLaws, seen: Sequence[Array], guess: Array, *, is_inside: bool) -> Array:
    """The classes of people: the unbiased estimate where it is a distribution, else the most likely one."""
    raw = estimate_shares_of(laws.weights(np.eye(laws.n_classes), guess), seen)
    return raw if is_inside and (raw >= 0).all() else laws.most_likely(seen)


def _constrained_shares(device: DeviceDesign, classes: Array) -> Array:
    opens = [_ratio(float(top @ classes), float(bottom @ classes)) for top, bottom in device.opens.values()]
    shares = np.array([*(device.shares @ classes), *opens])
    # The iteration comes as near to an end as it is asked to; it means the end.
    return np.where(shares < ROUNDING, 0.0, np.where(shares > 1 - ROUNDING, 1.0, shares))


def _ratio(top: float, bottom: float) -> float:
    return top / bottom if bottom > 0 else np.nan


def with_control(by_device: DeviceEstimate, device: DeviceDesign, control: Codes, share: float) -> DeviceEstimate:
    """The estimate among attentive respondents, inattention being told by a control item of known prevalence.

    A share w answers at random: reports have the law ``(1-w) A c + w / m``. The control item, asked with the same
    device, has ``(1-w) A s + w / m`` with s known, which tells w.
    """
    counted = by_device.counted
    rows = counted.rows & (control >= 0)
    checked = SampleCounts(control, counted.samples, rows, counted.weights, counted.n_reports)
    control_laws = [
        np.column_stack([law @ _control_classes(device, share), _random(law)]) for law in by_device.laws.laws
    ]
    if any(np.allclose(law[:, 0], law[:, 1]) for law in control_laws):
        raise NotEstimable(
            f"With a prevalence of {share:g} the control item is answered as by chance, so it tells nothing about "
            "attention. Use a control item that nobody, or everybody, carries."
        )
    laws = SampleLaws(tuple(control_laws), checked.sizes / checked.n)
    weights = laws.weights(np.array([[0.0, 1.0]]), np.array([0.9, 0.1]))
    w = float(estimate_shares_of(weights, checked.frequencies)[0])
    if w >= 1 - ROUNDING:
        raise NotEstimable("The control item looks as if everybody answered at random, so nothing can be estimated.")
    # m = W (q - w u), value = m / (1 - w): the derivative in w is (value - W u) / (1 - w).
    random = estimate_shares_of(by_device.weights, [_random(law) for law in by_device.laws.laws])
    values = (by_device.values - w * random) / (1 - w)
    held = min(max(w, 0.0), 1.0)
    at_edge = (by_device.values - held * random) / (1 - held)
    of_control = checked.contributions(weights)
    added = of_control * (values - random) / (1 - w)
    return DeviceEstimate(
        names=(*by_device.names, INATTENTIVE),
        n_answers=by_device.n_answers,
        values=np.append(values, w),
        constrained=np.append(np.clip(at_edge, 0, 1), held),
        weights=[np.vstack([weight / (1 - w), np.zeros(weight.shape[1])]) for weight in by_device.weights],
        laws=by_device.laws,
        classes=by_device.classes,
        shares=by_device.shares,
        counted=counted,
        is_inside=bool(((values >= 0) & (values <= 1)).all() and w >= 0),
        added=np.column_stack([added, of_control]),
    )


def _random(law: Array) -> Array:
    return np.full(len(law), 1 / len(law))


def _control_classes(device: DeviceDesign, share: float) -> Array:
    classes = np.zeros(len(device.classes))
    for row, answer_share in zip(device.shares, (1 - share, share), strict=True):
        classes[int(np.argmax(row))] += answer_share
    return classes


def read_control(control: str | tuple[str, float] | None) -> tuple[str, float] | None:
    """A control item and its known prevalence, from ``"column=0"``."""
    if control is None:
        return None
    name, share = control.rpartition("=")[::2] if isinstance(control, str) else control
    if not name:
        raise InvalidInput(f"A control item is a column with its known prevalence, such as column=0, not {control!r}.")
    return str(name), float(exact_chance("The prevalence of the control item", share))
