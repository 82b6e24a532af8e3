"""Correlations in data as they lie: columns asked with devices, and clear columns of numbers.

Undoing a device gives each report numbers whose means are the mean and the mean square of the truth; of two variables whose
devices are independent, the products of such numbers have the mean of the product. A correlation is a smooth function of
five means, so its error follows from their covariance, in a complex sample as well.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tacit.channel.base import Array
from tacit.channel.devices import DeviceDesign, given_design
from tacit.count.weighted import SampleColumns
from tacit.errors import InvalidInput
from tacit.estimation import device_reports
from tacit.estimation.complex_samples import SampleDesign
from tacit.estimation.correlation_result import LEAST_CERTAIN_VARIANCE, Correlation, Correlations, correlation_of
from tacit.estimation.device_reports import DIRECT, MISSING
from tacit.estimation.sample_columns import design_of
from tacit.estimation.sample_laws import SampleLaws
from tacit.table.files import read_columns


@dataclass(frozen=True, eq=False)
class _Variable:
    """For each row the numbers that have the mean, and the mean square, of the truth; NaN where it is missing."""

    means: Array
    squares: Array
    values: tuple[float, ...]  # of the answers, where it was asked with a device


def frame_correlations(
    data: Any,
    names: Sequence[str],
    devices: Mapping[str, Any],
    values: Mapping[str, Sequence[float]],
    columns: SampleColumns,
    *,
    sample: str | None,
    level: float,
) -> Correlations:
    """The correlations of every two columns, some of them asked with a device."""
    for name in devices:
        if name not in names:
            raise InvalidInput(f"The device of {name!r} belongs to none of the variables {', '.join(names)}.")
    table = read_columns(data, [*names, *columns.named, *([] if sample is None else [sample])])
    made = {name: given_design(spec) for name, spec in devices.items()}
    read = {
        name: _asked(table, name, made[name], values.get(name), sample) if name in made else _clear(table, name)
        for name in names
    }
    kept = ~np.isnan([one.means for one in read.values()]).any(axis=0)
    if kept.sum() < 3:
        raise InvalidInput("Fewer than three rows have all of the variables, so nothing can be correlated.")

    design = design_of(table.filter(pa.array(kept)), columns) or SampleDesign.of(int(kept.sum()))
    pairs = tuple(
        _pair((one, other), (read[one], read[other]), kept, design, level)
        for one, other in itertools.combinations(names, 2)
    )
    return Correlations(tuple(names), {name: one.values for name, one in read.items()}, pairs, int(kept.sum()), level)


def _asked(
    table: pa.Table, name: str, device: DeviceDesign, values: Sequence[float] | None, sample: str | None
) -> _Variable:
    """A column of reports: what each stands for, on average."""
    if device.opens:
        raise InvalidInput(
            f"The device {device.name!r} of {name!r} leaves {next(iter(device.opens))} open, so single reports cannot be "
            "undone. Give a device that leaves nothing open."
        )
    counts = np.arange(len(device.answers), dtype=np.float64) if values is None else np.asarray(values, np.float64)
    if len(counts) != len(device.answers) or len(set(counts)) < 2:
        raise InvalidInput(f"{name!r} has the answers {list(device.answers)}; give as many numbers, not all alike.")
    codes = device_reports.understood(table, name, device.reports).codes
    is_split = device.direct is not None or device.samples[0].name is not None
    which = device_reports.samples(table, sample if is_split else None, device)
    means, squares = np.full(len(codes), np.nan), np.full(len(codes), np.nan)
    laws = [each.matrix for each in device.samples] + [np.eye(len(device.answers))]
    for number, law in enumerate(laws):
        here = (codes != MISSING) & (which == (DIRECT if number == len(device.samples) else number))
        if here.any():
            even = np.full(law.shape[1], 1 / law.shape[1])
            undone = SampleLaws.even([law]).weights(np.stack([counts, counts**2]), even)[0]
            means[here], squares[here] = undone[:, codes[here]]
    return _Variable(means, squares, tuple(float(value) for value in counts))


def _clear(table: pa.Table, name: str) -> _Variable:
    """Numbers, or two values that count as 0 and 1 in their order."""
    positions, values = device_reports.values_of(device_reports.column(table, name))
    try:
        numbers = np.array([float(value) for value in values])
    except ValueError:
        if len(values) != 2:
            raise InvalidInput(
                f"{name!r} holds text with {len(values)} different values, which has no correlation. Turn it into numbers."
            ) from None
        numbers = np.array([float(value == max(values)) for value in values])
    means = np.where(positions == MISSING, np.nan, numbers[positions])
    return _Variable(means, means**2, ())


def _pair(
    names: tuple[str, str], pair: tuple[_Variable, _Variable], kept: Any, design: SampleDesign, level: float
) -> Correlation:
    one, other = pair
    rows = np.stack([one.means, other.means, one.squares, other.squares, one.means * other.means], axis=1)[kept]
    share = design.weights / design.weights.sum()
    a, b, aa, bb, ab = means = share @ rows
    if design.repeats is not None:
        again = [weights / weights.sum() @ rows for weights in design.weighings()]
        covariance = design.repeats.covariance(again, means)
    else:
        covariance = design.covariance(share[:, None] * (rows - means))
    variances = np.array([aa - a * a, bb - b * b])
    slopes = np.array([[-2 * a, 0, 1, 0, 0], [0, -2 * b, 0, 1, 0]])
    errors = np.sqrt(np.maximum(np.diag(slopes @ covariance @ slopes.T), 0))
    if not ((variances > 0) & (variances > LEAST_CERTAIN_VARIANCE * errors)).all():
        return Correlation(*names, None, None, -1.0, 1.0, None)
    scale = math.sqrt(float(variances.prod()))
    r = float((ab - a * b) / scale)
    parts = np.array([-b / scale, -a / scale, 0, 0, 1 / scale])
    slope = parts - r / 2 * (slopes / variances[:, None]).sum(axis=0)
    return correlation_of(names, r, math.sqrt(max(float(slope @ covariance @ slope), 0.0)), level)
