"""The tally of a table that comes in batches, added up on the way: memory grows with the cells that occur, not with the rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.count.sparse import occurring
from tacit.errors import InvalidInput

Codes = NDArray[Any]  # of answers, in two bytes where that is enough: a large table has millions of combinations
Counts = NDArray[np.int64]
WAITING = 1 << 20  # rows or cells that are kept apart before those alike are added up
LARGEST_KEY = 2**63


@dataclass(frozen=True, eq=False)
class CountedCells:
    """The combinations that occur, ``codes[cell, column]``, in ascending order, and how many rows show each.

    As a sparse tally of reports, in a quarter of the bytes: a large table has millions of them.
    """

    columns: tuple[str, ...]
    codes: Codes
    counts: Counts


class RunningTally(Protocol):
    """Rows added batch by batch."""

    def add(self, columns: Sequence[NDArray[Any]]) -> None:
        """Count the rows of a batch, given as the codes of each column."""

    def counted(self) -> tuple[Codes, Counts]:
        """The different cells in ascending order, as ``codes[cell, column]``, and how many rows show each; ends the tally."""


def code_type(sizes: Sequence[int]) -> type[np.signedinteger[Any]]:
    """The type that holds the codes of columns with so many answers."""
    return np.int16 if max(map(int, sizes), default=0) <= 2**15 else np.int32


def running_tally(sizes: Sequence[int]) -> RunningTally:
    """A tally of columns with so many answers: by one number for every cell, where 64 bits hold it."""
    return _ByKeys(sizes) if math.prod(map(int, sizes)) < LARGEST_KEY else _ByCodes(sizes)


class _ByKeys:
    """Sorted keys with their rows; new ones are merged into them, so that nothing large is ever sorted."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = [int(size) for size in sizes]
        self._keys, self._counts = np.empty(0, np.int64), np.empty(0, np.int64)
        self._parts: list[Counts] = []
        self._waiting = 0

    def add(self, columns: Sequence[NDArray[Any]]) -> None:
        keys = np.zeros(len(columns[0]), np.int64)
        for column, size in zip(columns, self._sizes, strict=True):
            keys *= size
            keys += column
        self._parts.append(keys)
        self._waiting += len(keys)
        if self._waiting >= WAITING:
            self._merge()

    def _merge(self) -> None:
        keys, counts = np.unique(np.concatenate(self._parts), return_counts=True)
        self._parts, self._waiting = [], 0
        places = np.searchsorted(self._keys, keys)
        is_known = places < len(self._keys)
        is_known[is_known] = self._keys[places[is_known]] == keys[is_known]
        self._counts[places[is_known]] += counts[is_known]
        fresh = places[~is_known]
        self._keys = np.insert(self._keys, fresh, keys[~is_known])
        self._counts = np.insert(self._counts, fresh, counts[~is_known])

    def counted(self) -> tuple[Codes, Counts]:
        if self._parts:
            self._merge()
        _refuse_none(self._counts)
        keys, counts = self._keys, self._counts
        self._keys = self._counts = np.empty(0, np.int64)  # what is made of them takes several times as much
        codes = np.empty((len(keys), len(self._sizes)), code_type(self._sizes))
        for position in reversed(range(len(self._sizes))):
            np.remainder(keys, self._sizes[position], out=codes[:, position], casting="same_kind")
            keys //= self._sizes[position]
        return codes, counts


class _ByCodes:
    """Columns of codes in as few bytes as they take, sorted anew whenever as many wait as were different so far."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = sizes
        self._codes: list[list[NDArray[Any]]] = []  # of each part: its columns
        self._counts: list[Counts] = []
        self._waiting = self._different = 0

    def add(self, columns: Sequence[NDArray[Any]]) -> None:
        codes, counts = occurring(columns, self._sizes)
        self._keep(codes, counts)
        self._waiting += len(counts)
        if self._waiting > WAITING + self._different:
            self._keep(*self.counted())
            self._waiting, self._different = 0, len(self._counts[0])

    def _keep(self, codes: Codes, counts: Counts) -> None:
        self._codes.append([column.astype(np.min_scalar_type(int(column.max()))) for column in codes.T])
        self._counts.append(counts)

    def counted(self) -> tuple[Codes, Counts]:
        _refuse_none(self._counts)
        codes = [np.concatenate(pieces) for pieces in zip(*self._codes, strict=True)]
        counts = np.concatenate(self._counts)
        self._codes, self._counts = [], []
        distinct, totals = occurring(codes, self._sizes, counts)
        return distinct.astype(code_type(self._sizes)), totals


def _refuse_none(counts: Sequence[Any] | Counts) -> None:
    if not len(counts):
        raise InvalidInput("The table has no rows: there is nothing to publish.")
