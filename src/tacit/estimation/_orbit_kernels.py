"""Compiled likelihood of many small tables that share one channel. The arguments are assumed to be valid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.estimation import expectation
from tacit.kernels import inner_kernel, kernel

Floats = NDArray[np.float64]

_stride_of = kernel(expectation.stride_of)
_leap = kernel(expectation.leap)


@kernel
def most_likely_rows(counts: Floats, matrix: Floats, tolerance: float, max_steps: int) -> tuple[Floats, int]:
    """For each row of counted reports the most likely distribution of its truths, and the most steps that one took.

    A row stops when no distribution has a log-likelihood per report greater by more than `tolerance`.
    """
    rows, size = counts.shape
    truths = np.zeros((rows, size))
    most = 0
    for row in range(rows):
        if counts[row].sum() > 0:
            steps = _most_likely(counts[row] / counts[row].sum(), matrix, tolerance, max_steps, truths[row])
            most = max(most, steps)
    return truths, most


@inner_kernel
def _most_likely(shares: Floats, matrix: Floats, tolerance: float, max_steps: int, truth: Floats) -> int:
    """Leaves the most likely distribution in `truth`, by SQUAREM (Varadhan and Roland 2008), and counts its steps."""
    size = len(shares)
    first, second, third, jump = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    truth[:] = 1 / size
    likelihood, remaining = _expectation_step(shares, matrix, truth, first)
    for step in range(max_steps):
        if remaining <= tolerance:
            return step
        _expectation_step(shares, matrix, first, second)
        _extrapolate(truth, first, second, jump)
        landed, left = _expectation_step(shares, matrix, jump, third)
        if landed >= likelihood:
            truth[:], first[:], likelihood, remaining = jump, third, landed, left
        else:
            truth[:] = second
            likelihood, remaining = _expectation_step(shares, matrix, truth, first)
    return max_steps + (remaining > tolerance)


@inner_kernel
def _expectation_step(shares: Floats, matrix: Floats, truth: Floats, after: Floats) -> tuple[float, float]:
    """Leaves the next distribution in `after`; the log-likelihood, and a bound on what is still to be gained."""
    likelihood, steepest = 0.0, 0.0
    after[:] = 0
    for report in range(len(shares)):
        if shares[report] > 0:
            expected = 0.0
            for cell in range(len(truth)):
                expected += matrix[report, cell] * truth[cell]
            likelihood += shares[report] * np.log(expected)
            for cell in range(len(truth)):
                after[cell] += shares[report] / expected * matrix[report, cell]
    for cell in range(len(truth)):
        steepest = max(steepest, after[cell])
        after[cell] *= truth[cell]
    return likelihood, steepest - 1


@inner_kernel
def _extrapolate(truth: Floats, first: Floats, second: Floats, jump: Floats) -> None:
    """Leaves in `jump` where two steps of EM seem to lead, inside the simplex."""
    length, bend = 0.0, 0.0
    for cell in range(len(truth)):
        length += (first[cell] - truth[cell]) ** 2
        bend += (second[cell] - 2 * first[cell] + truth[cell]) ** 2
    change = first - truth
    jump[:] = _leap(truth, change, (second - first) - change, second, _stride_of(np.sqrt(length), np.sqrt(bend)))
    jump /= jump.sum()
