"""The combinations that occur, however large the joint domain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Joint codes are kept below this, so that they never overflow.
KEY_LIMIT = 1 << 63

Keys = NDArray[np.uint64]


def occurring(
    columns: Sequence[NDArray[Any]], sizes: Sequence[int], times: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct rows in ascending order, as ``codes[cell, column]``, and how often each occurs.

    `times` says how often each given row counts; without it, once.

    Columns join a mixed-radix key while it fits 64 bits. Before it would not, the key is replaced by its rank among the
    keys that occur: at most one rank per row, and in the same order.
    """
    keys: Keys = np.zeros(len(columns[0]), dtype=np.uint64)
    ranked: list[tuple[int, Keys]] = []  # how many columns each list of distinct keys stands for
    span = 1
    for position, (column, size) in enumerate(zip(columns, sizes, strict=True)):
        if span * size > KEY_LIMIT:
            distinct, inverse = np.unique(keys, return_inverse=True)
            ranked.append((position, distinct))
            keys, span = inverse.astype(np.uint64), len(distinct)
        keys = keys * np.uint64(size) + column.astype(np.uint64)
        span *= size
    if times is None:
        distinct, counts = np.unique(keys, return_counts=True)
    else:
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
        distinct, counts = keys[first], np.add.reduceat(times[order], first) if len(keys) else times
    return _digits(distinct, ranked, sizes), counts.astype(np.int64)


def _digits(keys: Keys, ranked: list[tuple[int, Keys]], sizes: Sequence[int]) -> NDArray[np.int64]:
    codes = np.empty((len(keys), len(sizes)), dtype=np.int64)
    for position in reversed(range(len(sizes))):
        keys, codes[:, position] = np.divmod(keys, np.uint64(sizes[position]))
        if ranked and ranked[-1][0] == position:
            keys = ranked.pop()[1][keys.astype(np.intp)]
    return codes
