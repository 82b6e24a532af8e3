"""The sub-itemsets of an itemset, numbered by bits: bit j of the number says whether its j-th answer is in.

Sub-itemset 0 is empty and holds of everyone; the last is the itemset itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.count.shown_counts import Codes as Codes
from tacit.count.shown_counts import Names as Names
from tacit.errors import InvalidInput

# An itemset of this length has 4096 sub-itemsets.
LONGEST = 12


def checked_length(length: int) -> None:
    if length > LONGEST:
        raise InvalidInput(
            f"Errors of itemsets of {length} disguised answers would need all their {2**length:,} sub-itemsets. "
            f"Set max_length to at most {LONGEST}."
        )


@cache
def members(length: int) -> NDArray[np.bool_]:
    """``members[sub, j]``: whether the j-th answer is in each sub-itemset."""
    return _shared((np.arange(1 << length)[:, None] >> np.arange(length)) % 2 == 1)


@cache
def contained(length: int) -> NDArray[np.bool_]:
    """``contained[a, b]``: whether sub-itemset a lies within b."""
    numbers = np.arange(1 << length)
    return _shared((numbers[:, None] & ~numbers[None, :]) == 0)


def _shared(table: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """A table that all callers look at, so that none may change it."""
    table.flags.writeable = False
    return table


def picked(positions: Sequence[int], length: int) -> NDArray[np.int64]:
    """For each sub-itemset its number when only these positions are looked at."""
    inside = members(length)[:, list(positions)]
    return inside @ (1 << np.arange(len(positions)))


def exactly(at_least: Array) -> Array:
    """From the shares that show at least each sub-itemset (last axis) to those that show it and nothing more of it."""
    shares = at_least.copy()
    cells = shares.shape[-1]
    for bit in range(cells.bit_length() - 1):
        split = shares.reshape(-1, cells >> (bit + 1), 2, 1 << bit)
        split[:, :, 0] -= split[:, :, 1]
    return shares


def keys(codes: Codes, sizes: Sequence[int]) -> NDArray[np.int64]:
    """One number per itemset over attributes of these sizes."""
    if float(np.prod(np.array(sizes, dtype=np.float64))) > 2**62:
        raise InvalidInput(
            f"Itemsets of {len(sizes)} such attributes are too many to number. Set a smaller max_length."
        )
    numbers = np.zeros(len(codes), dtype=np.int64)
    for column, size in enumerate(sizes):
        numbers *= size
        numbers += codes[:, column]
    return numbers
