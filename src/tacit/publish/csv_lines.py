"""Released rows as lines of CSV: rows that are alike are spelled once and repeated.

Every text stands in quotes, as Arrow's own writer has it; a quote within a text is doubled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

LINES_AT_A_TIME = 1 << 13  # what stays in the processor's cache


class CSVLines:
    """A file that takes tables of texts, one after the other."""

    def __init__(self, file: Path, names: Sequence[str]) -> None:

        self._file = file.open("wb")
        header = pa.table({str(place): pa.array([name]) for place, name in enumerate(names)})
        self._file.writelines(_spelled_texts(header))

    def write_table(self, rows: pa.Table) -> None:
        """Write the rows in their order."""
        if rows.num_rows:
            self._file.writelines(_spelled_texts(rows))

    def close(self) -> None:
        self._file.close()


def _spelled_texts(rows: pa.Table) -> Iterator[Any]:
    """The lines of all rows, one after the other, as they lie in memory, some at a time."""
    columns = [_encoded_lines(column) for column in rows.columns]
    alike = _numbers_of_runs([column.indices.to_numpy() for column in columns])
    starts = np.flatnonzero(np.diff(alike, prepend=-1))
    # 64-bit offsets: a million long texts are more than 32 bits reach.
    fields = [_quoted_text(column.dictionary).take(column.indices.take(pa.array(starts))) for column in columns]
    ends = pa.scalar("\n", pa.large_string())
    lines = pc.binary_join_element_wise(pc.binary_join_element_wise(*fields, _large(",")), ends, _large(""))
    for start in range(0, len(alike), LINES_AT_A_TIME):
        taken = lines.take(pa.array(alike[start : start + LINES_AT_A_TIME]))
        _, offsets, texts = taken.buffers()
        # Only what the lines hold: a buffer may be larger, and what lies behind is no part of the release.
        yield texts.slice(0, int(np.frombuffer(offsets, np.int64)[len(taken)]))


def _encoded_lines(column: pa.ChunkedArray) -> Any:

    whole = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if pa.types.is_dictionary(whole.type) and not whole.null_count:
        return whole
    return whole.cast(pa.string()).dictionary_encode("encode")


def _numbers_of_runs(codes: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """Of each row: how often a row before it, or itself, was different from the one before."""
    differs = np.zeros(len(codes[0]), np.bool_)
    differs[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in codes])
    return np.cumsum(differs, dtype=np.int64)


def _quoted_text(texts: pa.Array) -> Any:
    """Texts in quotes; none at all where there is no text, so that it is told apart from an empty one."""
    doubled = pc.replace_substring(texts.cast(pa.large_string()), '"', '""')
    quoted = pc.binary_join_element_wise(_large('"'), doubled, _large('"'), _large(""))
    return pc.fill_null(quoted, _large(""))


def _large(text: str) -> Any:

    return pa.scalar(text, pa.large_string())
