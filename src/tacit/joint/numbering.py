"""Codes of several columns as one number: distinct rows, and cells numbered through all columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tacit.channel.codes import Codes

# A joint code must stay within 64 bits; before it would not, the codes so far are numbered anew.
LARGEST_CODE = 1 << 62


def distinct(columns: Sequence[Codes]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Positions of one row of each kind, and for every row the number of its kind; columns may be sets or bits."""
    codes = np.zeros(len(columns[0]), dtype=np.int64)
    kinds = 1
    for column in columns:
        numbers, size = _number_entries(column)
        if kinds * size > LARGEST_CODE:
            codes = np.unique(codes, return_inverse=True)[1].reshape(-1)
            kinds = len(codes)
        codes, kinds = codes * size + numbers, kinds * size
    _, first, kind = np.unique(codes, return_index=True, return_inverse=True)
    return first, kind.reshape(-1)


def _number_entries(column: Codes) -> tuple[NDArray[np.int64], int]:
    """The kinds of one column's entries, numbered."""
    if column.ndim == 1:
        return column.astype(np.int64), int(column.max(initial=0)) + 1
    rows = np.ascontiguousarray(column)
    entries = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).reshape(-1)
    kinds, numbers = np.unique(entries, return_inverse=True)
    return numbers.reshape(-1).astype(np.int64), len(kinds)


def numbered_cells(columns: Sequence[Codes], sizes: Sequence[int]) -> NDArray[np.int32]:
    """Codes of several columns, (rows, columns), numbered through: the second column goes on where the first ends."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    cells = np.empty((len(columns[0]), len(columns)), dtype=np.int32)
    for position, (codes, start) in enumerate(zip(columns, starts, strict=True)):
        cells[:, position] = codes
        cells[:, position] += start
    return cells
