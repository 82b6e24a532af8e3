"""Correlations of answers that were disguised, or not, with errors that know of the disguise.

A pair's joint distribution is estimated; its correlation is a smooth function of the cells, so its error follows from their
covariance by the delta method. With x and y the standardised values of two answers and r their correlation, the derivative by
the share of the cell is x y - r (x^2 + y^2) / 2.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tacit.channel.base import Array
from tacit.count.sources import ReportSource
from tacit.count.weighted import SampleColumns
from tacit.errors import InvalidInput
from tacit.estimation import estimate
from tacit.estimation.correlation_result import Correlation, Correlations, correlation_of
from tacit.estimation.frame_correlations import frame_correlations
from tacit.estimation.intervals import checked_level
from tacit.estimation.result import TableEstimate
from tacit.schema import Attribute
from tacit.table.study_columns import StudyReading


def correlations(
    reports: ReportSource | Sequence[ReportSource] | Any,
    attributes: Sequence[str],
    *,
    values: Mapping[str, Sequence[float]] | None = None,
    level: float = 0.95,
    devices: Mapping[str, Any] | None = None,
    sample: str | None = None,
    weights: str | None = None,
    strata: str | None = None,
    clusters: str | None = None,
    missing_marks: Sequence[str] = (),
    sheet: str | None = None,
    skip_rows: int = 0,
) -> Correlations:
    """Estimate the correlations of every two attributes, disguised or not.

    Answers that are numbers count as these numbers, ordered answers as 1, 2, ..., two answers as 0 and 1. Other attributes
    need `values`.

    Parameters
    ----------
    reports : Reports, stored reports, tallies, or several of them; with `devices` a file or a data frame
        As for `estimate`, or as for `prevalence`.
    attributes : sequence of str
        At least two.
    values : mapping, optional
        What the answers of an attribute count as, in their order.
    level : float
        Confidence level of the intervals.
    devices : mapping, optional
        For a file or a data frame: the device of each column that was asked with one, as for `regress`; the other columns
        are clear numbers, or two values.
    sample : str, optional
        The column that tells the samples of a device apart.
    weights, strata, clusters : str, optional
        Columns of a complex sample, for a file or a data frame.
    missing_marks, sheet, skip_rows
        How a file is read, as for `prevalence`.

    Returns
    -------
    Correlations

    Raises
    ------
    InvalidInput
        Where an attribute has answers without an order and no `values`.

    Examples
    --------
    >>> import tacit
    >>> reports = tacit.Reports.from_truth({"a": ["no", "yes"] * 50, "b": ["no", "yes", "no", "no"] * 25})
    >>> pair = tacit.correlations(reports, ["a", "b"]).pairs[0]
    >>> round(pair.estimate, 3)
    0.577
    >>> people = {"copied": [1, 0, 1, 0, 0] * 40, "age": [20, 31, 25, 22, 24] * 40}
    >>> asked = tacit.correlations(people, ["copied", "age"], devices={"copied": "warner p=.9"})
    >>> round(asked.pairs[0].estimate, 2)
    -0.53
    """
    checked_level(level)
    names = list(dict.fromkeys(attributes))
    if len(names) < 2:
        raise InvalidInput("A correlation needs two attributes at least.")
    if devices is not None:
        columns = SampleColumns(weights, strata, clusters)
        reading = StudyReading(tuple(missing_marks), sheet, skip_rows)
        return frame_correlations(
            reports, names, devices, values or {}, columns, sample=sample, level=level, reading=reading
        )
    if sample is not None or weights is not None or strata is not None or clusters is not None:
        raise InvalidInput(
            "Samples, weights, strata and clusters are columns of a file or frame; name its devices too."
        )
    tables = estimate(reports, list(itertools.combinations(names, 2)))
    counted = {a.name: _values(a, (values or {}).get(a.name)) for table in tables for a in table.attributes}
    pairs = tuple(_correlation(table, counted, level) for table in tables)
    return Correlations(tuple(names), counted, pairs, tables[0].n_reports, level)


def _values(attribute: Attribute, given: Sequence[float] | None) -> tuple[float, ...]:
    if given is not None:
        chosen = tuple(float(value) for value in given)
        if len(chosen) != len(attribute.answers) or len(set(chosen)) < 2 or not np.isfinite(chosen).all():
            raise InvalidInput(
                f"{attribute.name!r} has {len(attribute.answers)} answers and needs as many numbers, not all alike: "
                f"{list(attribute.answers)}."
            )
        return chosen
    try:
        return tuple(float(answer) for answer in attribute.answers)
    except ValueError:
        pass
    if attribute.ordered or len(attribute.answers) == 2:
        start = 0 if len(attribute.answers) == 2 else 1
        return tuple(float(code) for code in range(start, start + len(attribute.answers)))
    raise InvalidInput(
        f"The answers of {attribute.name!r} have no order, so they have no correlation. Say what each counts as: "
        f"values={{{attribute.name!r}: [...]}}, or look at its table with estimate and independence."
    )


def _correlation(table: TableEstimate, values: Mapping[str, tuple[float, ...]], level: float) -> Correlation:
    first, second = table.names
    u, v = np.array(values[first]), np.array(values[second])
    cells, covariance = table.unbiased, table.covariance
    rows, columns = cells.sum(axis=1), cells.sum(axis=0)
    x, y = u - rows @ u, v - columns @ v
    shape = (len(x), len(y))
    products = np.outer(x, y).reshape(-1)
    squares = [np.broadcast_to(each, shape).reshape(-1) for each in (x[:, None] ** 2, y[None, :] ** 2)]
    variances = [float(cells.reshape(-1) @ square) for square in squares]
    errors = [math.sqrt(max(float(square @ covariance @ square), 0.0)) for square in squares]
    ratio = math.sqrt(max(variances[1], 1e-300) / max(variances[0], 1e-300))
    bent = (ratio * squares[0] + squares[1] / ratio) / 2
    constant, mixed, square = (
        float(left @ covariance @ right) for left, right in ((products, products), (products, bent), (bent, bent))
    )

    def spread(r: Array) -> Array:
        return constant - 2 * r * mixed + r * r * square

    return correlation_of((first, second), float(x @ cells @ y), variances, errors, spread, level)
