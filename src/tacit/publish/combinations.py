"""The distinct combinations of quasi-identifiers, numbered in ascending order, and found again in other rows.

Columns join a mixed-radix key while it fits 63 bits; before it would not, the key is replaced by its place among the keys that
occur. So any number of attributes can be numbered.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacit.errors import InvalidInput, TacitError

Codes = NDArray[np.int64]
Numbers = NDArray[
    np.int32
]  # of combinations, classes, labels or answers: there is one for every combination, so they are small
LARGEST_KEY = 2**63
COUNTED_KEYS = 1 << 22  # possible keys up to which counting them is faster than sorting
SUMMED_AT_ONCE = 1 << 20


class Combinations:
    """Distinct rows of codes; number i stands for ``codes[i]``."""

    def __init__(self, columns: Sequence[NDArray[Any]], sizes: Sequence[int]) -> None:
        self._sizes = [int(size) for size in sizes]
        self._ranked: list[tuple[int, Codes]] = []  # before which column the key is replaced, and the keys until there
        self._columns = columns
        keys, span = self._joined_keys(columns)
        # Rows that are the combinations themselves, as a tally gives them, say their own keys and numbers.
        self.are_the_rows = bool((keys[1:] > keys[:-1]).all())  # each once and in order
        self._size = len(keys)
        if not self.are_the_rows:
            self._keys, self.number = _ranked_keys(keys, span)
            self._size = len(self._keys)

    @classmethod
    def of_rows(cls, codes: NDArray[Any], sizes: Sequence[int]) -> Combinations:
        """The combinations of a matrix of codes, which are kept as they are where no row repeats and all are in order."""
        combinations = cls(list(codes.T), sizes)
        if combinations.are_the_rows:
            combinations.codes = codes
        return combinations

    @cached_property
    def number(self) -> Numbers:
        """Of the given rows: their combinations."""
        return np.arange(self._size, dtype=np.int32)

    @cached_property
    def _keys(self) -> Codes:
        self._ranked = []
        return self._joined_keys(self._columns)[0]

    @cached_property
    def first(self) -> Codes | Numbers:
        """Of the given rows: the first with each combination."""
        return first_with(self.number, len(self))

    @cached_property
    def codes(self) -> NDArray[Any]:
        """The codes of every combination."""
        codes = np.empty((len(self), len(self._columns)), np.int32)
        for j, column in enumerate(self._columns):
            codes[:, j] = np.asarray(column)[self.first]
        return codes

    def __len__(self) -> int:
        return self._size

    def _joined_keys(self, columns: Sequence[NDArray[Any]]) -> tuple[Codes, int]:
        """The key of every row, and how many keys there could be."""
        keys, span = np.zeros(len(columns[0]), np.int64), 1
        for position, (column, size) in enumerate(zip(columns, self._sizes, strict=True)):
            if span * size >= LARGEST_KEY:
                distinct, keys = np.unique(keys, return_inverse=True)
                self._ranked.append((position, distinct))
                keys, span = keys.ravel().astype(np.int64), len(distinct)
            keys *= size
            keys += column
            span *= size
        return keys, span

    def places(self, columns: Sequence[NDArray[Any]]) -> Codes:
        """The number of every row's combination; refused where one never occurred."""
        keys, ranked = np.zeros(len(columns[0]), np.int64), dict(self._ranked)
        for position, (column, size) in enumerate(zip(columns, self._sizes, strict=True)):
            if position in ranked:
                keys = _places_of_keys(ranked[position], keys)
            keys = keys * size + column
        return _places_of_keys(self._keys, keys)

    def radix_keys(self) -> Codes:
        """One number for every combination, from its codes alone, as a database computes it."""
        if math.prod(self._sizes) >= LARGEST_KEY:
            raise InvalidInput(
                f"{len(self._sizes)} quasi-identifiers with {math.prod(map(float, self._sizes)):.0e} possible combinations are "
                "too many to be numbered in a database. Write the table to a Parquet file and publish that."
            )
        return self._keys


def first_with(number: NDArray[np.signedinteger[Any]], numbers: int) -> NDArray[np.signedinteger[Any]]:
    """Where each of the numbers 0, 1, ... stands first."""
    if len(number) == numbers and (number[1:] > number[:-1]).all():
        return number  # each once, in order
    first = np.empty(numbers, np.int64)
    first[number[::-1]] = np.arange(len(number) - 1, -1, -1)
    return first


def sums_by_code(numbers: NDArray[Any], counts: NDArray[Any], size: int) -> Codes:
    """The counts added up by number, exactly; in parts, because numpy makes wider copies of all that it adds up."""
    sums = np.zeros(size, np.int64)
    for start in range(0, len(numbers), SUMMED_AT_ONCE):
        chunk = slice(start, start + SUMMED_AT_ONCE)
        sums += np.bincount(numbers[chunk], counts[chunk], size).astype(np.int64)
    return sums


def _ranked_keys(keys: Codes, possible: int) -> tuple[Codes, Numbers]:
    """The distinct keys in ascending order, and the place of every key among them."""
    if possible <= min(COUNTED_KEYS, 8 * len(keys)):
        occurs = np.zeros(possible, np.bool_)
        occurs[keys] = True
        place = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
        return np.flatnonzero(occurs), place[keys]
    distinct, number = np.unique(keys, return_inverse=True)
    return distinct, number.ravel().astype(np.int32)


def _places_of_keys(known: Codes, keys: Codes) -> Codes:
    """Where the keys stand among the known ones, which Arrow hashes: several times faster than searching a sorted list."""
    places = pc.index_in(pa.array(keys), value_set=pa.array(known))
    if places.null_count:
        raise TacitError(
            "The table holds rows that it did not hold when it was counted. Publish it while nobody writes to it."
        )
    return np.asarray(places).astype(np.int64)
