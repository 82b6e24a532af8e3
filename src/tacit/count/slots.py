"""Which cells of a tally each row adds to.

A column that shows one answer gives one slot a row; a set, listed or hashed, gives one per member, bits one per bit that
is set, and each of them a last one that counts every row. Over several columns a row adds to every combination of its slots.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.schema import Attribute
from tacit.table import Table
from tacit.table.hashed import Hashing

Values = NDArray[np.uint32]
Ends = NDArray[np.int64]
Cross = Callable[[Values, Ends, Values, Ends, np.uint32], tuple[Values, Ends]]


@dataclass(frozen=True, eq=False)
class Slots:
    """Slots of all rows, one row after the other; row i ends before ``ends[i]``. Without `ends` each row has one."""

    values: Values
    ends: Ends | None = None

    def row_ends(self) -> Ends:
        return np.arange(1, len(self.values) + 1) if self.ends is None else self.ends


def column_slots(codes: NDArray[Any], attribute: Attribute) -> Slots:
    """The slots of one column."""
    if attribute.shows == "one":
        return Slots(codes.astype(np.uint32))
    if attribute.shows in ("bits", "hashed"):
        codes = Hashing.of(attribute).holding(codes) if attribute.shows == "hashed" else codes
        bits = np.concatenate([codes, np.ones((len(codes), 1), dtype=np.bool_)], axis=1)
        return Slots(np.nonzero(bits)[1].astype(np.uint32), np.cumsum(bits.sum(axis=1)))
    width = codes.shape[1] + 1
    values = np.empty((len(codes), width), dtype=np.uint32)
    values[:, :-1], values[:, -1] = codes, attribute.size
    return Slots(values.reshape(-1), np.arange(1, len(codes) + 1) * width)


def cross_slots(values: Values, ends: Ends, others: Values, other_ends: Ends, size: np.uint32) -> tuple[Values, Ends]:
    """Every pair of a row's slots in two ragged columns, as one joint slot."""
    many, other_many = np.diff(ends, prepend=0), np.diff(other_ends, prepend=0)
    pairs = many * other_many
    out_ends = np.cumsum(pairs)
    within = np.arange(out_ends[-1] if len(out_ends) else 0) - np.repeat(out_ends - pairs, pairs)
    first, second = np.divmod(within, np.repeat(other_many, pairs))
    first += np.repeat(ends - many, pairs)
    second += np.repeat(other_ends - other_many, pairs)
    return values[first] * size + others[second], out_ends


def joint_slots(table: Table, columns: Sequence[str], cross: Cross = cross_slots) -> Slots:
    """Slots of a table's rows in the tally over several columns, the last column fastest."""
    joint = Slots(np.zeros(table.n_rows, dtype=np.uint32))
    for name in columns:
        attribute = table.schema[name]
        size = np.uint32(attribute.tally_size)
        if joint.ends is None and attribute.shows == "one":
            joint = Slots(joint.values * size + table[name].astype(np.uint32))
            continue
        more = column_slots(table[name], attribute)
        joint = Slots(*cross(joint.values, joint.row_ends(), more.values, more.row_ends(), size))
    return joint


def widest(table: Table, columns: Sequence[str]) -> int:
    """The most slots that one row can have over these columns."""
    return math.prod(_most_slots(table, name) for name in columns)


def _most_slots(table: Table, name: str) -> int:
    if table.schema[name].shows == "hashed":
        return table.schema[name].size + 1
    return 1 if table[name].ndim == 1 else table[name].shape[1] + 1
