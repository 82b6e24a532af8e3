"""Means from reports that are numbers: scrambled amounts, item sums, and the shares that list experiments tell.

Every estimate is a sum of what reports add to it, so groups, weights, strata, clusters and repeats follow as for shares. A list
experiment has its own checks: no count may lie above the number of items, the joint shares of the harmless count and the
sensitive answer may not be negative (Blair and Imai 2012), and counts of nothing or everything reveal the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from tacit.channel.base import Array
from tacit.channel.moment_devices import MomentDesign
from tacit.errors import InvalidInput
from tacit.estimation.complex_samples import SampleDesign

REVEALING = 0.05  # of a list's counts: from this share on it is said
SWAPPED = 1.96  # errors below 0


@dataclass(frozen=True, eq=False)
class Numbers:
    """Reports that are numbers, one column for each list, and the sample of each row; NaN if missing."""

    reports: Array  # row x list
    samples: NDArray[np.intp]
    admits: Array | None = None  # 1 where a direct question was answered with yes

    @property
    def is_answered(self) -> NDArray[np.bool_]:
        whole = np.asarray(~np.isnan(self.reports).any(axis=1))
        return whole if self.admits is None else whole & ~np.isnan(self.admits)


@dataclass(frozen=True, eq=False)
class CountedRows:
    """The rows that an estimate is made of."""

    rows: NDArray[np.bool_]

    @property
    def n(self) -> int:
        return int(self.rows.sum())


@dataclass(frozen=True, eq=False)
class MomentEstimate:
    """A mean, or the shares of no and yes, with what each row adds to them."""

    names: tuple[str, ...]
    values: Array
    contributions: Array  # row x estimate, centred
    counted: CountedRows
    has_law = False  # intervals and tests come from the spread of what reports add
    impossibility = 0.0

    @property
    def n_answers(self) -> int:
        return len(self.names)

    @property
    def added(self) -> Array:
        return self.contributions

    def is_share(self, at: int) -> bool:
        return self.n_answers == 2

    @property
    def constrained(self) -> Array:
        return np.clip(self.values, 0, 1) if self.n_answers == 2 else self.values

    @property
    def is_inside(self) -> bool:
        return bool((self.constrained == self.values).all())

    def noise(self, design: SampleDesign) -> Array:
        raise InvalidInput(
            "The law of numbers that were scrambled or counted is not known, so errors cannot make use of the sampled share. "
            "Leave out sampled."
        )


def estimate_moments(device: MomentDesign, numbers: Numbers, rows: NDArray[np.bool_], weights: Array) -> MomentEstimate:
    """The mean or the shares among some rows; two lists with the long one in turn are averaged.

    With a direct question to all: the share that admits it plus, of the others, the list's share among those.
    """
    values, contributions = _mean(device, numbers, rows, weights)
    if numbers.admits is not None:
        total = weights[rows].sum()
        admitted = float(weights[rows] @ numbers.admits[rows]) / total
        silent = rows & (numbers.admits == 0)
        _check_samples(device, numbers.samples[silent], "among those who do not admit it ")
        among, added = _mean(device, numbers, silent, weights)
        values = admitted + (1 - admitted) * among
        of_admitted = np.where(rows, weights * (np.nan_to_num(numbers.admits) - admitted), 0.0) / total
        contributions = (1 - among) * of_admitted + (1 - admitted) * added
    if device.is_list:
        both = np.array([1 - values, values]), np.column_stack([-contributions, contributions])
        return MomentEstimate(device.answers, *both, CountedRows(rows))
    return MomentEstimate(device.answers, np.array([values]), contributions[:, None], CountedRows(rows))


def _mean(device: MomentDesign, numbers: Numbers, rows: NDArray[np.bool_], weights: Array) -> tuple[float, Array]:
    value, contributions = 0.0, np.zeros(len(rows))
    n_lists = numbers.reports.shape[1]
    for column in range(n_lists):
        for place, sample in enumerate(device.samples):
            # In the second list of two, those have the long one who had the short one before.
            here = rows & (numbers.samples == (place + column) % len(device.samples))
            reports, share = numbers.reports[here, column], weights[here] / weights[here].sum()
            mean = float(share @ reports)
            value += sample.factor * (mean - sample.shift) / n_lists
            contributions[here] += sample.factor * share * (reports - mean) / n_lists
    return value, contributions


def _check_samples(device: MomentDesign, samples: NDArray[np.intp], where: str) -> None:
    for number, sample in enumerate(device.samples):
        if not (samples == number).any():
            raise InvalidInput(
                f"There are no reports {where}in the sample {sample.name!r}, so nothing can be estimated."
            )


def check_counts(device: MomentDesign, numbers: Numbers, names: Sequence[str]) -> None:
    """Refuse counts that the list of a sample cannot give."""
    _check_samples(device, numbers.samples[numbers.is_answered], "")
    if numbers.reports.shape[1] > (2 if device.is_list else 1):
        raise InvalidInput(
            f"The device {device.name!r} has one column of reports, a list experiment at most two lists."
        )
    for column, name in enumerate(names):
        for place, sample in enumerate(device.samples):
            here = numbers.samples == (place + column) % len(device.samples)
            reports = numbers.reports[:, column]
            if sample.most is None:
                continue
            wrong = here & ~np.isnan(reports) & ~((reports >= 0) & (reports <= sample.most) & (reports % 1 == 0))
            if wrong.any():
                row = int(np.argmax(wrong))
                owner = device.samples[int(numbers.samples[row])].name
                raise InvalidInput(
                    f"{name!r} holds {reports[row]:g} in row {row + 1:,}, but the list of the sample {owner!r} has {sample.most} "
                    "items. Are the samples swapped, or is the number of items wrong?"
                )


@dataclass(frozen=True)
class DesignEffect:
    """The test that the sensitive item changed no answers to the others, Bonferroni over all joint shares."""

    lowest: float  # of the joint shares
    p: float

    def to_document(self) -> dict[str, float]:
        return dict(vars(self))


def design_effect(
    device: MomentDesign, numbers: Numbers, rows: NDArray[np.bool_], sample: SampleDesign
) -> DesignEffect:
    """Whether a joint share of a harmless count and the sensitive answer is estimated below 0, which none can be."""
    long, short = device.samples
    assert long.most is not None and short.most is not None  # noqa: PT018
    values, added = [], []
    for y in range(short.most + 1):
        sums = []
        for number, limit in ((0, y), (1, y), (1, y - 1)):
            here = rows & (numbers.samples == number)
            share = np.where(here, sample.weights, 0.0) / sample.weights[here].sum()
            below = (numbers.reports[:, 0] <= limit).astype(np.float64)
            mean = float(share @ below)
            sums.append((mean, share * (below - mean)))
        (in_long, of_long), (in_short, of_short), (before, of_before) = sums
        if y < short.most:
            values.append(in_short - in_long)
            added.append(of_short - of_long)
        if y:
            values.append(in_long - before)
            added.append(of_long - of_before)
    errors = np.sqrt(np.maximum(np.diag(sample.covariance(np.array(added).T)), 1e-300))
    ps = ndtr(np.array(values) / errors)
    return DesignEffect(float(min(values)), float(min(1.0, len(values) * ps.min())))


def revealing_share(device: MomentDesign, numbers: Numbers, rows: NDArray[np.bool_]) -> float:
    """The share of those with the long list who counted nothing or everything, and so told their answer."""
    counts = numbers.reports[rows & (numbers.samples == 0), 0]
    return float(((counts == 0) | (counts == device.samples[0].most)).mean())
