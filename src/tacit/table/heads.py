"""What a file says before its rows are read: format, names of columns, about how many rows, the note of its writer.

A file's head is read once. It is kept under everything that tells a file from another and from itself after a change (place,
device, number, size and both times), for as long as the system's clock can tell two changes apart.
"""

from __future__ import annotations

import contextlib
import csv
import math
import time
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from tacit.errors import InvalidInput
from tacit.table import standard_input
from tacit.table.columns import checked_names
from tacit.table.csv_format import CsvFormat, first_row, is_packed, opened_csv, recognise, warn_of_guess
from tacit.table.outputs import NOTE

LOOKED_AT = 1 << 20  # bytes at the beginning of a CSV file
SAMPLED_BYTES = 1 << 18  # of these, to tell how long its rows are
PARQUET_SUFFIXES = (".parquet", ".pq")
CLOCK_TICK = 12_000_000  # nanoseconds: times of files are no finer than a tick of the kernel, 10 ms at most
MOST_HEADS = 64

_heads: OrderedDict[tuple[object, ...], FileHead] = OrderedDict()


@dataclass(frozen=True)
class FileHead:
    """What stands before the rows of a CSV or Parquet file."""

    names: tuple[str, ...]
    n_rows: int  # in CSV about so many, by the length of those at the beginning
    csv: CsvFormat | None = None  # None for Parquet
    note: bytes | None = None  # of Parquet, where our own files say what they hold

    @property
    def n_cells(self) -> int:
        return self.n_rows * len(self.names)


def is_parquet(path: str | Path) -> bool:
    """Whether a file is Parquet: by its name, or standard input by its first bytes."""
    if str(path) == standard_input.NAME:
        return standard_input.holds_parquet(standard_input.standard_input())
    if Path(path).suffix.lower() in PARQUET_SUFFIXES:
        return True
    read = standard_input.standard_input
    return read.cache_info().currsize > 0 and Path(path) == read() and standard_input.holds_parquet(read())


def file_head(file: Path) -> FileHead:
    """The head of a CSV or Parquet file, read at most once while the file stays as it is."""
    noted = file.stat()
    key = (str(file.absolute()), noted.st_dev, noted.st_ino, noted.st_size, noted.st_mtime_ns, noted.st_ctime_ns)
    head = _heads.get(key)
    if head is None:
        with readable(file):
            head = _parquet_head(file) if is_parquet(file) else _csv_head(file)
        # A file that changes again within this tick would keep its time: such a head is not kept.
        if not 0 <= time.time_ns() - max(noted.st_mtime_ns, noted.st_ctime_ns) < CLOCK_TICK:
            _heads[key] = head
        while len(_heads) > MOST_HEADS:
            _heads.popitem(last=False)
    if head.csv is not None and head.csv.is_guessed:
        warn_of_guess(file)
    return head


@contextlib.contextmanager
def readable(path: str | Path) -> Iterator[None]:
    """Arrow's complaints about a file, in one sentence."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{standard_input.spoken_name(path)} is not UTF-8 text ({error.reason}). Save it as UTF-8, or as Parquet."
        ) from None
    except (pa.ArrowInvalid, csv.Error, OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or (str(error) or type(error).__name__).splitlines()[0]
        kind = "Parquet" if is_parquet(path) else "CSV"
        raise InvalidInput(
            f"{standard_input.spoken_name(path)} cannot be read as {kind}: {reason.rstrip('.')}. "
            "Is the file truncated, ragged, or of another format?"
        ) from None


def _parquet_head(file: Path) -> FileHead:
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as source:
        noted = source.metadata
        return FileHead(tuple(source.schema_arrow.names), noted.num_rows, note=(noted.metadata or {}).get(NOTE))


def _csv_head(file: Path) -> FileHead:
    with opened_csv(file) as content:
        start = content.read(LOOKED_AT)
        written = recognise(file, start, is_whole=len(start) < LOOKED_AT)
        if b"\n" not in start:  # a line of names of more than a megabyte
            start += content.read()
    names = first_row(start, written)
    if not any(names):
        raise InvalidInput(f"{standard_input.spoken_name(file)} has no line of column names.")
    checked_names(names)
    line_end = start.find(b"\n") + 1 or len(start)
    return FileHead(tuple(names), _estimated_rows(file, line_end, start[line_end : line_end + SAMPLED_BYTES]), written)


def _estimated_rows(file: Path, beginning: int, sample: bytes) -> int:
    """About how many rows a CSV file has, by the length of those at its beginning."""
    packing = len(sample) / len(zlib.compress(sample)) if is_packed(file) and sample else 1.0
    rows = sample.count(b"\n")
    mean = (sample.rfind(b"\n") + 1) / rows if rows else max(len(sample), 1)
    return max(math.ceil((file.stat().st_size * packing - beginning) / mean), rows)
