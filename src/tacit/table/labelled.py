"""Files of SPSS, Stata, SAS and Excel, with their value labels, as Arrow tables."""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from tacit.errors import InvalidInput, UnknownName
from tacit.extras import require
from tacit.table.columns import checked_names

READERS = {
    ".sav": ("read_sav", "SPSS"),
    ".zsav": ("read_sav", "SPSS"),
    ".por": ("read_por", "SPSS"),
    ".dta": ("read_dta", "Stata"),
    ".sas7bdat": ("read_sas7bdat", "SAS"),
    ".xpt": ("read_xport", "SAS"),
}
EXCEL = (".xlsx", ".xlsm")
OLD_EXCEL = (".xls", ".ods", ".xlsb")


def is_labelled(path: str | Path) -> bool:
    """Whether the name is that of a statistics package's or a spreadsheet's file."""
    suffix = Path(path).suffix.lower()
    if suffix in OLD_EXCEL:
        raise InvalidInput(f"{str(path)!r} is a spreadsheet that is not read here. Save it as .xlsx, or as CSV.")
    return suffix in READERS or suffix in EXCEL


def labelled_names(file: Path) -> list[str]:
    """The names of its columns."""
    if file.suffix.lower() in EXCEL:
        return _header(file, next(iter(_sheet(file)), []))
    return list(_read(file, metadataonly=True)[1].column_names)


def labelled_table(file: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Its rows; labelled values are their labels, numbers stay numbers."""
    if file.suffix.lower() in EXCEL:
        table = labelled_sheet(file)
        return table if columns is None else table.select([name for name in columns if name in table.column_names])
    names = labelled_names(file)
    wanted = None if columns is None else [name for name in columns if name in names]
    values, notes = _read(file, usecols=wanted)
    labels: Mapping[str, Mapping[Any, str]] = notes.variable_value_labels
    by_column = {name: _replace_by_labels(list(column), labels.get(name, {})) for name, column in values.items()}
    checked_names(list(by_column))
    return pa.table({name: _arrow(column) for name, column in by_column.items()})


def labelled_sheet(file: Path, sheet: str | None = None, skip_rows: int = 0) -> pa.Table:
    """A sheet of an Excel file, the first if none is named, below some rows that hold a title."""
    rows = _sheet(file, sheet)[skip_rows:]
    names = _header(file, rows[0] if rows else [])
    by_column = {name: [row[at] if at < len(row) else None for row in rows[1:]] for at, name in enumerate(names)}
    return pa.table({name: _arrow(column) for name, column in by_column.items()})


def _read(file: Path, **options: Any) -> tuple[dict[str, Any], Any]:
    require("files")
    import pyreadstat

    reader, program = READERS[file.suffix.lower()]
    try:
        return getattr(pyreadstat, reader)(str(file), output_format="dict", **options)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, UnicodeDecodeError, ValueError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        raise InvalidInput(
            f"{str(file)!r} cannot be read as a file of {program}: {reason}. Is it truncated, or of another format?"
        ) from None


def _replace_by_labels(values: list[Any], labels: Mapping[Any, str]) -> list[Any]:
    """Values with their labels, unless two values have one label: then the values themselves tell more."""
    if not labels or len(set(labels.values())) < len(labels):
        return values
    return [labels.get(value, value) if _hashable(value) else value for value in values]


def _hashable(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _arrow(values: list[Any]) -> pa.Array:
    """A column of numbers, or of text where there is anything else among them."""
    plain = [None if _is_missing(value) else value for value in values]
    if all(value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in plain):
        return pa.array(plain, pa.float64())
    return pa.array([None if value is None else _text(value) for value in plain], pa.string())


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value) or value == ""


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):  # Excel has no days, only their midnights
        return value.isoformat(" ").removesuffix(" 00:00:00")
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)


def _sheet(file: Path, name: str | None = None) -> list[list[Any]]:
    """The rows of a sheet, by its name or number (the first if neither is said), without empty ones at the end."""
    require("files")
    import openpyxl

    try:
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
    except (zipfile.BadZipFile, KeyError, ValueError, OSError):
        raise InvalidInput(
            f"{str(file)!r} cannot be read as an Excel file. Is it truncated, or of another format?"
        ) from None
    try:
        sheets = dict(zip(book.sheetnames, book.worksheets, strict=True))
        numbered = {str(number): sheet for number, sheet in enumerate(book.worksheets, 1)}
        chosen = book.worksheets[0] if name is None else sheets.get(name, numbered.get(name))
        if chosen is None:
            raise UnknownName("Sheet", str(name), list(sheets))
        rows = [list(row) for row in chosen.iter_rows(values_only=True)]
    finally:
        book.close()
    while rows and all(value is None for value in rows[-1]):
        rows.pop()
    return rows


def _header(file: Path, row: Sequence[Any]) -> list[str]:
    names = ["" if value is None else _text(value).strip() for value in row]
    while names and not names[-1]:
        names.pop()
    if not names:
        raise InvalidInput(f"The sheet of {str(file)!r} has no line of column names.")
    checked_names(names)
    return names
