"""How a file of separated values is written: its separator and its encoding, recognised from its start."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from tacit.errors import InvalidInput
from tacit.table import standard_input

SEPARATORS = (",", ";", "\t", "|")
ROWS_LOOKED_AT = 20
# Byte order marks; the longer one of UTF-32 begins like that of UTF-16.
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
WESTERN = "cp1252"


class OtherEncoding(UserWarning):
    """A file is not UTF-8 and says nothing about its encoding, so that it had to be guessed."""


@dataclass(frozen=True)
class CsvFormat:
    """The separator of the columns and the encoding of the text."""

    separator: str
    encoding: str
    is_guessed: bool = False

    @property
    def is_utf8(self) -> bool:
        return self.encoding in ("utf-8", "utf-8-sig")


def is_packed(file: Path) -> bool:
    """Whether a file is compressed, by its name."""
    return file.suffix.lower() == ".gz"


def opened_csv(file: Path) -> BinaryIO:
    """The text of a file as bytes, unpacked where it is compressed."""
    return cast(BinaryIO, gzip.open(file)) if is_packed(file) else file.open("rb")


def recognise(file: Path, start: bytes, *, is_whole: bool) -> CsvFormat:
    """What the beginning of a file says.

    The separator is the one that splits the first rows into equally many columns, the most of them, and a comma where
    several do. Text that is not UTF-8 is read as Windows-1252, the encoding of Western European spreadsheets.
    """
    encoding, is_guessed = _encoding(file, start, is_whole=is_whole)
    text = start.decode(encoding, errors="replace").lstrip("\ufeff")
    return CsvFormat(max(SEPARATORS, key=lambda mark: _fit(text, mark)), encoding, is_guessed)


def first_row(start: bytes, written: CsvFormat) -> list[str]:
    """The names of the columns, from the beginning of a file."""
    encoding = "utf-8-sig" if written.is_utf8 else written.encoding
    text = codecs.getincrementaldecoder(encoding)().decode(start)
    return next(csv.reader(io.StringIO(text, newline=""), delimiter=written.separator), [])


def warn_of_guess(file: Path) -> None:
    """Say that a file's encoding had to be guessed."""
    warnings.warn(
        f"{standard_input.spoken_name(file)} is not UTF-8; it is read as Windows-1252. Save it as UTF-8 if names look wrong.",
        OtherEncoding,
        stacklevel=4,
    )


def _fit(text: str, separator: str) -> tuple[bool, int]:
    """Whether it splits the first rows alike, and into how many columns."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        sizes = [len(row) for row in itertools.islice(rows, ROWS_LOOKED_AT) if row]
    except csv.Error:
        sizes = []
    columns = sizes[0] if sizes else 0
    # The last row may be cut where looking ended.
    return columns > 1 and set(sizes[: max(len(sizes) - 1, 2)]) == {columns}, columns


def _encoding(file: Path, start: bytes, *, is_whole: bool) -> tuple[str, bool]:
    """The encoding, and whether it had to be guessed."""
    for mark, name in MARKS:
        if start.startswith(mark):
            return name, False
    if _decodes(start, "utf-8", is_whole=is_whole):
        return "utf-8", False
    if b"\x00" in start or not _decodes(start, WESTERN, is_whole=is_whole):
        raise InvalidInput(
            f"{standard_input.spoken_name(file)} is not UTF-8 text, nor in any encoding that is recognised. "
            "Save it as UTF-8, or as Parquet."
        )
    return WESTERN, True


def _decodes(start: bytes, encoding: str, *, is_whole: bool) -> bool:
    try:
        # The last character may be cut in the middle.
        codecs.getincrementaldecoder(encoding)().decode(start, final=is_whole)
    except UnicodeDecodeError:
        return False
    return True
