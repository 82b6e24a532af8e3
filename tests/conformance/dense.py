"""What a channel's dense law says, computed in the plainest way: the yardstick of the conformance suite."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Channel, Codes

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


def hashed_slots(column: Codes, channel: Channel) -> Array:
    """The same for reports of a bucket and a seed, one report and one answer after the other."""
    hashed = channel.program()["hash"]
    width, bits = hashed["width"], hashed["buckets"].bit_length() - 1
    tally = np.ones((len(column), channel.size + 1))
    for row, (bucket, factor, shift) in enumerate(column.tolist()):
        for answer in range(channel.size):
            tally[row, answer] = ((factor * answer + shift) % 2**width) >> (width - bits) == bucket
    return tally


def column_tallies(channel: Channel) -> list[Array]:
    if channel.shows == "hashed":
        return [hashed_slots(channel.reports()[0], channel)]
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


def report_keys(columns: Sequence[Codes]) -> NDArray[np.uint64]:
    """Each report as one number to look up: eight bits for every code in it."""
    wide = np.column_stack([column.reshape(len(column), -1) for column in columns]).astype(np.uint64)
    assert wide.shape[1] <= 8, "too many codes for a number of 64 bits"
    assert wide.max(initial=0) < 256, "a code needs more than eight bits"
    return (wide << (8 * np.arange(wide.shape[1], dtype=np.uint64))).sum(axis=1, dtype=np.uint64)


def report_rows(channel: Channel, columns: Sequence[Codes]) -> NDArray[np.intp]:
    """Which row of the channel's matrix each of these reports is; one that is not listed there is an error."""
    listed, wanted = report_keys(channel.reports()), report_keys(columns)
    order = np.argsort(listed)
    rows = order[np.searchsorted(listed[order], wanted).clip(max=len(listed) - 1)]
    unlisted = np.flatnonzero(listed[rows] != wanted)
    assert not len(unlisted), f"the channel does not list the report {[column[unlisted[0]] for column in columns]}"
    return rows


def report_counts(channel: Channel, columns: Sequence[Codes]) -> NDArray[np.int64]:
    """How often each possible report is among these."""
    return np.bincount(report_rows(channel, columns), minlength=len(channel.reports()[0]))


def summed_law(whole: Channel, axes: Sequence[int], marginal: Channel) -> Array:
    """Chances of the marginal's reports for every *whole* truth, by summing the dense law of the whole."""
    columns = whole.reports()
    law = np.zeros((len(marginal.reports()[0]), math.prod(whole.shape)))
    np.add.at(law, report_rows(marginal, [columns[axis] for axis in axes]), whole.matrix)
    return law
