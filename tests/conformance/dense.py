"""What a channel's dense law says, computed in the plainest way: the yardstick of the conformance suite."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tacit.channel.protocol import Channel, Codes

Array = NDArray[np.float64]


def slots(column: Codes, size: int) -> Array:
    """What each report adds to the slots of one tally axis."""
    tally = np.zeros((len(column), size))
    if column.ndim == 1:  # one answer
        tally[np.arange(len(column)), column] = 1
        return tally
    tally[:, -1] = 1  # the slot that counts every report
    if column.dtype == np.bool_:
        tally[:, :-1] = column
    else:
        np.put_along_axis(tally, column.astype(np.intp), 1, axis=1)
    return tally


def column_tallies(channel: Channel) -> list[Array]:
    return [slots(column, size) for column, size in zip(channel.reports(), channel.tally_shape, strict=True)]


def outer_rows(parts: Sequence[Array]) -> Array:
    """For each row the outer product of its parts: an array (rows, *sizes)."""
    joint = parts[0]
    for part in parts[1:]:
        joint = joint[..., None] * part.reshape(len(part), *(1,) * (joint.ndim - 1), -1)
    return joint


def report_tallies(channel: Channel) -> Array:
    """The tally of each possible report on its own: ``(reports, *tally_shape)``."""
    return outer_rows(column_tallies(channel))


def contributions(channel: Channel) -> Array:
    """What each possible report adds to the estimate: ``(truths, reports)``."""
    estimates = channel.solve(np.moveaxis(report_tallies(channel), 0, -1))
    return estimates.reshape(math.prod(channel.shape), -1)


def amplification(matrix: Array) -> float:
    possible = matrix[matrix.max(axis=1) > 0]
    return math.inf if (possible == 0).any() else float((possible.max(axis=1) / possible.min(axis=1)).max())


def report_keys(columns: Sequence[Codes]) -> list[bytes]:
    """Each report as something to look up."""
    wide = np.column_stack([column.reshape(len(column), -1).astype(np.int64) for column in columns])
    return [row.tobytes() for row in wide]


def report_counts(channel: Channel, columns: Sequence[Codes]) -> NDArray[np.int64]:
    """How often each report of `channel.reports` is among these; one that is not listed there is an error."""
    position = {key: row for row, key in enumerate(report_keys(channel.reports()))}
    keys = report_keys(columns)
    unlisted = [key for key in set(keys) if key not in position]
    assert not unlisted, f"the channel does not list the report {np.frombuffer(unlisted[0], dtype=np.int64)}"
    return np.bincount([position[key] for key in keys], minlength=len(position))


def summed_law(whole: Channel, axes: Sequence[int], marginal: Channel) -> Array:
    """Chances of the marginal's reports for every *whole* truth, by summing the dense law of the whole."""
    position = {key: row for row, key in enumerate(report_keys(marginal.reports()))}
    columns = whole.reports()
    rows = [position[key] for key in report_keys([columns[axis] for axis in axes])]
    law = np.zeros((len(position), math.prod(whole.shape)))
    np.add.at(law, rows, whole.matrix)
    return law
