"""The columns of a study's file as people keep them: marks of missing answers, decimal commas, title rows, several sheets."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacit.errors import InvalidInput
from tacit.table.columns import as_text, is_text, missing_values, plain
from tacit.table.files import checked_file, read_columns
from tacit.table.labelled import EXCEL, labelled_sheet

# What R, Stata, SPSS, Excel and pandas write for no answer, in small letters.
NO_ANSWER = ("na", "n/a", "#n/a", "nan", "<na>", "null", ".")
# Codes that surveys give to no answer; they are missing only where every other value of the column is at least 0.
CODES = ("-9", "-99", "-98", "-97", "-999", "-998", "-997")
# Answers that usually mean none: proposed, and never taken as missing unasked.
LABELS = (
    *(
        "refused",
        "refusal",
        "don't know",
        "dont know",
        "do not know",
        "dk",
        "no answer",
        "no response",
        "not applicable",
    ),
    *("prefer not to say", "prefer not to answer", "not asked", "missing"),
)
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")


@dataclass(frozen=True)
class StudyReading:
    """How the columns of a study are read.

    Without `missing_marks` the usual marks of missing answers are recognised, with a note; with them these alone are missing.
    """

    missing_marks: tuple[str, ...] = ()
    sheet: str | None = None  # of an Excel file, by name or number
    skip_rows: int = 0  # above the line of column names

    def read(self, data: Any, names: Sequence[str]) -> tuple[pa.Table, list[str]]:
        """The named columns with nulls for missing answers, and a sentence about everything that was not read as it stands."""
        table = self._table(data, names)
        notes: list[str] = []
        for at, name in enumerate(table.column_names):
            table = table.set_column(at, name, self._without_marks(name, table.column(name), notes))
        return table, notes

    def _table(self, data: Any, names: Sequence[str]) -> pa.Table:
        if self.sheet is None and not self.skip_rows:
            return read_columns(data, names)
        if self.skip_rows < 0:
            raise InvalidInput(f"The number of rows to skip is at least 0, not {self.skip_rows}.")
        if not isinstance(data, str | Path):
            raise InvalidInput("sheet and skip_rows are for files. A data frame is read as it is.")
        file = checked_file(data)
        if file.suffix.lower() in EXCEL:
            return read_columns(labelled_sheet(file, self.sheet, self.skip_rows), names)
        if self.sheet is not None or file.suffix.lower() not in (".csv", ".tsv", ".txt"):
            raise InvalidInput(
                f"{str(data)!r} has no sheets and no title rows: --sheet is for Excel files, --skip-rows for those and CSV files."
            )
        with tempfile.TemporaryDirectory() as folder:
            rest = Path(folder) / file.name
            rest.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[self.skip_rows :]))
            return read_columns(rest, names)

    def _without_marks(self, name: str, column: pa.ChunkedArray, notes: list[str]) -> pa.ChunkedArray:
        column = plain(column)
        if pa.types.is_nested(column.type) or pa.types.is_boolean(column.type):
            return column
        texts = pc.utf8_trim_whitespace(as_text(column))
        values = [value for value in pc.unique(texts).to_pylist() if value]
        marks = [value for value in values if self._is_mark(value)]
        marks += self._codes([value for value in values if value not in marks])
        if is_text(column.type):
            labels = (
                [] if self.missing_marks else [value for value in values if value.lower().replace("’", "'") in LABELS]
            )
            if labels:
                asked = " ".join(f"--missing-mark {label!r}" for label in labels)
                notes.append(f"{name} holds {', '.join(map(repr, labels))}; if they mean no answer, add {asked}")
        if not marks:
            return column
        is_marked = pc.is_in(texts, value_set=pa.array(marks))
        numbers = Counter(texts.filter(is_marked).to_pylist())
        if not self.missing_marks:
            listed = ", ".join(f"{value!r} ({numbers[value]:,})" for value in marks)
            notes.append(f"{name}: {listed} is read as missing; --missing-mark says otherwise")
        return pc.if_else(is_marked, pa.scalar(None, column.type), column)

    def _is_mark(self, value: str) -> bool:
        if not self.missing_marks:
            return value.lower() in NO_ANSWER
        return value in self.missing_marks or _number(value) in {_number(mark) for mark in self.missing_marks} - {None}

    def _codes(self, values: Sequence[str]) -> list[str]:
        """Codes of missing answers among numbers that are all at least 0."""
        if self.missing_marks:
            return []
        codes = [value for value in values if _number(value) in {float(code) for code in CODES}]
        others = [_number(value) for value in values if value not in codes]
        return codes if codes and others and all(number is not None and number >= 0 for number in others) else []


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def numbers_of(name: str, column: pa.ChunkedArray) -> NDArray[np.float64] | None:
    """A column as numbers, NaN for missing values; a decimal comma is understood. None if it holds anything else."""
    absent = missing_values(column)
    if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
        return np.where(absent, np.nan, column.to_numpy().astype(np.float64))
    texts = pc.if_else(pa.array(absent), pa.scalar(None, pa.string()), pc.utf8_trim_whitespace(as_text(column)))
    commas = [text for text in pc.unique(texts).to_pylist() if text is not None and "," in text]
    if commas and all(_DECIMAL_COMMA.fullmatch(text) or _THOUSANDS.fullmatch(text) for text in commas):
        if all(_THOUSANDS.fullmatch(text) for text in commas):
            raise InvalidInput(
                f"{name!r} holds {commas[0]!r}: its comma may mark decimals or thousands. Write the numbers with a point or "
                "without commas."
            )
        texts = pc.replace_substring(texts, pattern=",", replacement=".")
    try:
        return np.asarray(texts.cast(pa.float64()).to_numpy(), dtype=np.float64)
    except pa.ArrowInvalid:
        return None
