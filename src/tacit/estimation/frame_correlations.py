"""Correlations in data as they lie: columns asked with devices, and clear columns of numbers.

Undoing a device gives each report numbers whose means are the mean and the mean square of the truth; of two variables whose
devices are independent, the products of such numbers have the mean of the product. How far a covariance may lie from that of a
correlation r is computed at the law with the estimated margins and correlation r, ``p(x) q(y) (1 + r x y)`` in standardised
values: with 0/1 it is the only one, and every mean that is needed is a product of two plus r times a product of two others.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.channel.devices import DeviceDesign, given_design
from tacit.count.weighted import SampleColumns
from tacit.errors import InvalidInput
from tacit.estimation import device_reports
from tacit.estimation.complex_samples import SampleDesign
from tacit.estimation.correlation_result import Correlation, Correlations, correlation_of
from tacit.estimation.device_reports import DIRECT, MISSING
from tacit.estimation.sample_columns import design_of
from tacit.estimation.sample_laws import SampleLaws
from tacit.estimation.simplex import floor_shares
from tacit.estimation.study_record import StudyRecord
from tacit.table.study_columns import StudyReading, numbers_of


@dataclass(frozen=True, eq=False)
class _Variable:
    """For each row the numbers that have the mean, and the mean square, of the truth; NaN where it is missing."""

    means: Array
    squares: Array
    values: tuple[float, ...]  # of the answers, where it was asked with a device
    device: DeviceDesign | None = None
    codes: NDArray[np.intp] | None = None  # of the reports
    samples: NDArray[np.intp] | None = None

    def law(self, complete: NDArray[np.bool_], share: Array) -> tuple[Array, Array]:
        """Means and tilts of five functions of the report, at a proper distribution of the truth.

        With A and B the deviations that stand for the value and for its square, they are A^2, AB, B^2, A and B; a tilt is the
        mean of the function times the standardised truth.
        """
        chances, truth, mean, square = self._atoms(complete, share)
        middle = float(chances @ truth)
        variance = max(float(chances @ (truth - middle) ** 2), 1e-300)
        first = mean - middle
        second = square - 2 * middle * mean + middle**2 - variance
        functions = np.array([first**2, first * second, second**2, first, second])
        return functions @ chances, functions @ (chances * (truth - middle)) / math.sqrt(variance)

    def _atoms(self, complete: NDArray[np.bool_], share: Array) -> tuple[Array, Array, Array, Array]:
        """Every pair of a truth and a report: its chance, the truth, and what the report stands for."""
        means, squares = self.means[complete], self.squares[complete]
        if self.device is None or self.codes is None or self.samples is None:
            return share, means, means, squares
        codes, samples = self.codes[complete], self.samples[complete]
        laws = {number: sample.matrix for number, sample in enumerate(self.device.samples)}
        laws[DIRECT] = np.eye(len(self.device.answers))
        present = [number for number in laws if (samples == number).any()]
        sizes = np.array([share[samples == number].sum() for number in present])
        seen = [
            np.bincount(codes[samples == number], share[samples == number], len(laws[number])) / size
            for number, size in zip(present, sizes, strict=True)
        ]
        margin = floor_shares(SampleLaws(tuple(laws[number] for number in present), sizes).most_likely(seen))
        atoms = []
        for number, size in zip(present, sizes, strict=True):
            here = samples == number
            stands = np.zeros((2, len(laws[number])))
            stands[:, codes[here]] = means[here], squares[here]
            for answer, value in enumerate(self.values):
                for report, chance in enumerate(laws[number][:, answer]):
                    atoms.append((size * margin[answer] * chance, value, *stands[:, report]))
        chances, truth, mean, square = np.array(atoms).T
        return chances, truth, mean, square


def frame_correlations(
    data: Any,
    names: Sequence[str],
    devices: Mapping[str, Any],
    values: Mapping[str, Sequence[float]],
    columns: SampleColumns,
    *,
    sample: str | None,
    level: float,
    reading: StudyReading,
) -> Correlations:
    """The correlations of every two columns, some of them asked with a device."""
    for name in devices:
        if name not in names:
            raise InvalidInput(f"The device of {name!r} belongs to none of the variables {', '.join(names)}.")
    table, notes = reading.read(data, [*names, *columns.column_names, *([] if sample is None else [sample])])
    made = {name: given_design(spec) for name, spec in devices.items()}
    read = {
        name: _report_variable(table, name, made[name], values.get(name), sample)
        if name in made
        else _clear(table, name)
        for name in names
    }
    complete = np.asarray(~np.isnan([variable.means for variable in read.values()]).any(axis=0))
    if complete.sum() < 3:
        raise InvalidInput("Fewer than three rows have all of the variables, so nothing can be correlated.")

    design = design_of(table, columns, rows=complete)
    pairs = tuple(
        _pair((first, second), (read[first], read[second]), complete, design, level)
        for first, second in itertools.combinations(names, 2)
    )
    values_of = {name: variable.values for name, variable in read.items()}
    return Correlations(
        tuple(names), values_of, pairs, int(complete.sum()), level, tuple(notes), StudyRecord(made, columns)
    )


def _report_variable(
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
    codes = device_reports.understand_reports(table, name, device.reports).codes
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
    return _Variable(means, squares, tuple(float(value) for value in counts), device, codes, which)


def _clear(table: pa.Table, name: str) -> _Variable:
    """Numbers, or two values that count as 0 and 1 in their order."""
    column = device_reports.column(table, name)
    means = numbers_of(name, column)
    if means is None:
        positions, values = device_reports.values_of(column)
        present = sorted({values[at] for at in positions if at != MISSING})
        if len(present) != 2:
            raise InvalidInput(
                f"{name!r} holds text with {len(present)} different values, which has no correlation. Turn it into numbers."
            )
        numbers = np.array([float(value == present[1]) for value in values])
        means = np.where(positions == MISSING, np.nan, numbers[positions])
    return _Variable(means, means**2, ())


def _pair(
    names: tuple[str, str],
    pair: tuple[_Variable, _Variable],
    complete: NDArray[np.bool_],
    design: SampleDesign | None,
    level: float,
) -> Correlation:
    first, second = pair
    moments = (first.means, second.means, first.squares, second.squares, first.means * second.means)
    rows = np.stack(moments, axis=1)[complete]
    sample = design or SampleDesign.of(len(rows))
    share = sample.weights / sample.weights.sum()
    a, b, aa, bb, ab = means = share @ rows
    if sample.repeats is not None:
        again = [weights / weights.sum() @ rows for weights in sample.weighings()]
        errors_of = sample.repeats.covariance(again, means)
    else:
        errors_of = sample.covariance(share[:, None] * (rows - means))
    slopes = np.array([[-2 * a, 0, 1, 0, 0], [0, -2 * b, 0, 1, 0], [-b, -a, 0, 0, 1]])
    *errors, error = np.sqrt(np.maximum(np.diag(slopes @ errors_of @ slopes.T), 0)).tolist()
    variances, covariance = [float(aa - a * a), float(bb - b * b)], float(ab - a * b)
    moved = (rows[:, 0] - a) * (rows[:, 1] - b) - covariance
    # What the sample's design does to the error of the covariance, it is taken to do whatever the correlation is.
    effect = 1.0 if design is None else error**2 / max(float(share @ moved**2) / len(rows), 1e-300)
    (m, t), (n, u) = first.law(complete, share), second.law(complete, share)
    ratio = math.sqrt(max(variances[1], 1e-300) / max(variances[0], 1e-300))

    def spread(r: Array) -> Array:
        def mean(f: int, g: int) -> Array:
            return m[f] * n[g] + r * t[f] * u[g]

        bent = ratio**2 * m[2] + 2 * mean(4, 4) + n[2] / ratio**2
        mixed = ratio * mean(1, 3) + mean(3, 1) / ratio
        return np.asarray((mean(0, 0) - r * mixed + r * r / 4 * bent) * effect / len(rows))

    return correlation_of(names, covariance, variances, errors, spread, level, design)
