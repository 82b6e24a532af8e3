"""Sets of answers that a report names by a bucket and a public seed, instead of listing them.

Every answer falls into one of g buckets; which one depends on the seed, which is drawn anew for each report. The report
is the number of a bucket and its seed, and stands for all answers of that bucket: a set of about n / g answers in a few
bytes. In memory a column of such reports has three numbers a row, ``(bucket, factor, shift)``; in a file it has two
columns, the bucket under the attribute's name and ``factor * 2**width + shift`` under ``name:seed``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacit.errors import InvalidInput
from tacit.schema import Attribute
from tacit.table.columns import as_numpy, as_text, file_columns, missing_values, plain

# Factor and shift are 32-bit words, and both together one whole number that every database holds.
WIDEST = 31

Digits = NDArray[np.uint32]


@dataclass(frozen=True)
class Hashing:
    """The bucket of every answer under a seed: the top bits of ``factor * answer + shift`` modulo ``2**width``.

    With `width` at least the bits of an answer plus those of a bucket less one, two different answers fall into any two
    buckets independently (Dietzfelbinger 1996): so a report says nothing of answers beside the true one.
    """

    answers: int
    buckets: int  # a power of two

    @property
    def bucket_bits(self) -> int:
        return self.buckets.bit_length() - 1

    @property
    def width(self) -> int:
        return max((self.answers - 1).bit_length() + self.bucket_bits - 1, self.bucket_bits)

    @classmethod
    def of(cls, attribute: Attribute) -> Hashing:
        return cls(attribute.size, attribute.buckets)

    def bucket(self, answers: Any, factors: Any, shifts: Any) -> NDArray[np.uint32]:
        """The bucket of each answer under each seed; arrays of 32-bit words, which may be broadcast."""
        # Words overflow modulo 2**32; the width is a part of that.
        hashed = np.asarray(factors, np.uint32) * np.asarray(answers, np.uint32) + np.asarray(shifts, np.uint32)
        mask = np.uint32((1 << self.width) - 1)
        return (hashed & mask) >> np.uint32(self.width - self.bucket_bits)

    def holding(self, digits: NDArray[Any]) -> NDArray[np.bool_]:
        """Which answers each report stands for: ``(rows, answers)``."""
        buckets, factors, shifts = digits.T[:, :, None]
        return self.bucket(np.arange(self.answers), factors, shifts) == buckets

    def seeds(self, digits: NDArray[Any]) -> NDArray[np.int64]:
        """The seed of each report as one number."""
        return (digits[:, 1].astype(np.int64) << self.width) | digits[:, 2].astype(np.int64)

    def digits(self, buckets: NDArray[np.int64], seeds: NDArray[np.int64]) -> Digits:
        """Reports from their two columns."""
        parts = [buckets, seeds >> self.width, seeds & ((1 << self.width) - 1)]
        return np.stack(parts, axis=1).astype(np.uint32)


def encode_hashed(table: pa.Table, attribute: Attribute) -> Digits:
    """Rows x (bucket, factor, shift) of the two columns of a file."""
    hashing = Hashing.of(attribute)
    bucket, seed = file_columns(attribute)
    return hashing.digits(
        whole_numbers(table.column(bucket), bucket, hashing.buckets),
        whole_numbers(table.column(seed), seed, 1 << 2 * hashing.width),
    )


def decode_hashed(digits: NDArray[Any], attribute: Attribute, *, text_only: bool) -> dict[str, Any]:
    """The two columns of a file."""
    bucket, seed = file_columns(attribute)
    columns = {
        bucket: pa.array(digits[:, 0].astype(np.int32)),
        seed: pa.array(Hashing.of(attribute).seeds(digits)),
    }
    return {name: column.cast(pa.string()) if text_only else column for name, column in columns.items()}


def whole_numbers(column: pa.ChunkedArray, name: str, bound: int) -> NDArray[np.int64]:
    """A column of numbers, or of their texts, from 0 to `bound` less one; anything else is refused."""
    column = plain(column)
    absent = int(missing_values(column).sum())
    if absent:
        raise InvalidInput(f"{name!r} has {absent:,} missing value(s); every report must show one.")
    try:
        numbers = as_numpy(column.cast(pa.int64()) if not pa.types.is_string(column.type) else _as_integers(column))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InvalidInput(
            f"{name!r} must hold whole numbers from 0 to {bound - 1:,}. Was it another scheme?"
        ) from None
    wrong = (numbers < 0) | (numbers >= bound)
    if wrong.any():
        bad = int(numbers[np.argmax(wrong)])
        raise InvalidInput(
            f"{name!r} must hold whole numbers from 0 to {bound - 1:,}, not {bad:,}. Was it another scheme?"
        )
    return numbers.astype(np.int64)


def _as_integers(column: pa.ChunkedArray) -> pa.ChunkedArray:

    return pc.utf8_trim_whitespace(as_text(column)).cast(pa.int64())
