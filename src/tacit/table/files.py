"""Files: CSV and Parquet are read in batches, others whole; all are written whole or not at all."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

from tacit.errors import InvalidInput, UnknownName
from tacit.table import standard_input
from tacit.table.columns import as_arrow, checked_names, without_row_labels
from tacit.table.csv_format import is_packed
from tacit.table.heads import file_head, is_parquet, readable
from tacit.table.labelled import is_labelled, labelled_names, labelled_table
from tacit.table.object_stores import is_data_name, is_object, local_copy, objects
from tacit.table.outputs import NOTE, output_file, written_whole

BATCH_ROWS = 1 << 17
LONGEST_NOTE = 1 << 16  # bytes up to which it stays plain JSON
COMPRESSED = b"zlib:"
NOTE_FORMAT = "tacit-note/1"  # of the note beside a CSV file


def _no_file(path: str) -> str:
    if "://" in path or path.startswith("spark:"):
        return (
            f"{path!r} is an address of a table, and a file is read here: write the table to a CSV or Parquet file first. "
            "`tacit estimate`, `mine`, `tally` and `publish` read tables of databases."
        )
    return f"There is no file {path!r}."


def checked_file(path: str | Path) -> Path:
    """The file to open, ``-`` being standard input; refused where it cannot be read."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidInput(
            f"A file's name is wanted, not {type(path).__name__}. A data frame goes in by tacit.Dataset(frame)."
        )
    if is_object(path):
        path = local_copy(path)
    file = standard_input.standard_input() if str(path) == standard_input.NAME else Path(path)
    if not file.exists():
        raise InvalidInput(_no_file(str(path)))
    if file.is_dir():
        raise InvalidInput(f"{str(path)!r} is a folder, not a file.")
    if file.stat().st_size == 0:
        raise InvalidInput(f"{str(path)!r} is empty: not even a line of column names.")
    if not os.access(file, os.R_OK):
        raise InvalidInput(f"{str(path)!r} may not be read: permission denied.")
    return file


def read_batches(path: str | Path, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """The rows of a file, or of all files of a folder or pattern, in parts that fit memory.

    Values of a CSV file stay text, so that nothing is reinterpreted.
    """
    for file, folders in _alike(path):
        wanted = [name for name in folders if columns is None or name in columns]
        for batch in _file_batches(file, columns):
            yield with_partitions(batch, file, wanted)


def _file_batches(file: Path, columns: Sequence[str] | None) -> Iterator[pa.Table]:
    if is_labelled(file):
        yield labelled_table(file, columns)
        return
    with readable(file):
        yield from _parquet_batches(file, columns) if is_parquet(file) else _csv_batches(file, columns)


def data_places(place: str | Path) -> list[Path]:
    """The files that a place stands for: one file, a folder, a pattern, or what lies in an object store."""
    if is_object(place):
        return [local_copy(address) for address in objects(place)]
    return data_files(place) if isinstance(place, str | os.PathLike) and is_many(place) else [checked_file(place)]


def _alike(place: str | Path) -> list[tuple[Path, list[str]]]:
    """The files of a place with the columns that only their folders' names hold; several files must have the same ones."""
    files = data_places(place)
    if len(files) == 1:
        return [(files[0], partition_names(files[0], place))]
    named = [(file, partition_names(file, place)) for file in files]
    columns = set(_file_columns(*named[0]))
    for file, folders in named[1:]:
        other = columns ^ set(_file_columns(file, folders))
        if other:
            raise InvalidInput(
                f"{str(file)!r} and {str(files[0])!r} of {str(place)!r} differ in the column(s) "
                f"{', '.join(map(repr, sorted(other)[:8]))}. Put files of one table into a folder of their own."
            )
    return named


def partition_names(file: Path, place: str | Path) -> list[str]:
    """The columns that only the names of the folders below a place hold, as in ``day=2024-03-01/part.parquet``."""
    below = file.parts[:-1] if is_object(place) else _below(file, place)[:-1]
    pieces = (folder.partition("=") for folder in below)
    return list(dict.fromkeys(name for name, equals, _ in pieces if equals and name))


def _parquet_batches(file: Path, columns: Sequence[str] | None) -> Iterator[pa.Table]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as source:
        checked_names(source.schema_arrow.names)
        present = without_row_labels(source.schema_arrow.names)
        selected = present if columns is None else [name for name in columns if name in present]
        for batch in source.iter_batches(batch_size=BATCH_ROWS, columns=selected):
            yield pa.Table.from_batches([batch])
        if source.metadata.num_rows == 0:
            yield source.schema_arrow.empty_table().select(selected)


def _csv_batches(file: Path, columns: Sequence[str] | None) -> Iterator[pa.Table]:

    head = file_head(file)
    header, how = head.names, head.csv
    assert how is not None
    options = arrow_csv.ConvertOptions(
        column_types=dict.fromkeys(header, pa.string()),
        strings_can_be_null=False,
        include_columns=[name for name in columns if name in header] if columns is not None else None,
    )
    # In a file of one column an empty line is a missing value, in any other it is nothing.
    parse = arrow_csv.ParseOptions(delimiter=how.separator, newlines_in_values=True, ignore_empty_lines=len(header) > 1)
    read = arrow_csv.ReadOptions(encoding="utf8" if how.is_utf8 else how.encoding)
    try:
        reader = arrow_csv.open_csv(file, read_options=read, parse_options=parse, convert_options=options)
    except pa.ArrowInvalid as error:
        if "Empty CSV" in str(error):  # a header without an end of line, and nothing below it
            return
        raise
    with reader:
        for batch in reader:
            yield pa.Table.from_batches([batch])


def column_names(path: str | Path) -> list[str]:
    """The names of the columns of a file, a folder or a pattern, without reading rows."""
    return _file_columns(*_alike(path)[0])


def _file_columns(file: Path, folders: Sequence[str]) -> list[str]:
    held = _held_columns(file)
    return [*held, *(name for name in folders if name not in held)]


def _held_columns(file: Path) -> list[str]:
    if is_labelled(file):
        return labelled_names(file)
    names = list(file_head(file).names)
    return without_row_labels(names) if is_parquet(file) else names


def read_table(path: str | Path, columns: Sequence[str] | None = None) -> pa.Table:
    """A whole file as one Arrow table."""
    parts = list(read_batches(path, columns))
    if not parts:
        return pa.table({name: pa.array([], pa.string()) for name in column_names(path)})
    try:
        return pa.concat_tables(parts, promote_options="default")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InvalidInput(
            f"The files of {str(path)!r} hold values of different types: {str(error).splitlines()[0].rstrip('.')}. Write them "
            "all in one format."
        ) from None


def read_columns(data: Any, names: Sequence[str]) -> pa.Table:
    """The named columns of a file or a data frame, and no others; a name that is missing is refused with the closest."""
    frame = None if isinstance(data, str | Path) else as_arrow(data)
    present = column_names(data) if frame is None else frame.column_names
    for name in names:
        if name not in present:
            raise UnknownName("Column", name, present)
    wanted = list(dict.fromkeys(names))
    return read_table(data, wanted) if frame is None else frame.select(wanted)


def with_partitions(table: pa.Table, path: str | Path, wanted: Sequence[str]) -> pa.Table:
    """The table with the wanted columns that only the folders' names hold, as in ``day=2024-03-01/part.parquet``."""
    for folder in Path(path).parts[:-1]:
        name, equals, value = folder.partition("=")
        if equals and name in wanted and name not in table.column_names:
            table = table.append_column(name, pa.repeat(pa.scalar(value), table.num_rows))
    return table


def data_files(place: str | Path) -> list[Path]:
    """The files that a folder (with all folders in it) or a pattern such as ``reports/*.parquet`` stands for, in order."""
    text = str(place)
    if Path(text).is_dir():
        files = [file for file in Path(text).rglob("*") if is_data_name(file.name)]
        what = f"The folder {text!r}"
    else:
        base = Path(text).anchor or "."
        matching = Path(base).glob(text.removeprefix(base) if Path(text).anchor else text)
        files = [file for file in matching if file.is_file() and not _is_sidecar(file)]
        what = f"The pattern {text!r}"
    # What the place itself names is never hidden: '../days', '.cache/days', a folder below one that begins with a dot.
    visible = [file for file in files if not any(folder.startswith((".", "_")) for folder in _below(file, place))]
    if not visible:
        raise InvalidInput(f"{what} holds no Parquet or CSV file. Compare the name, or write the files there first.")
    return sorted(visible)


def _below(file: Path, place: str | Path) -> tuple[str, ...]:
    """The folders and the name of a file below what a folder or a pattern names without a wildcard."""
    above = re.split(r"[^/]*[*?[]", str(place))[0]
    return file.parts[len(Path(above).parts) :]


def _is_sidecar(file: Path) -> bool:
    """Whether a file is the note beside a CSV file."""
    return file.suffix == ".json" and file.with_suffix("").is_file()


def is_many(place: str | Path) -> bool:
    """Whether a place is a folder or a pattern and not one file."""
    text = str(place)
    return Path(text).is_dir() or (any(mark in text for mark in "*?[") and not Path(text).exists())


def n_cells(file: Path) -> int:
    """About how many cells a file holds, its rows times its columns, without reading it; 0 where it can only be read whole."""
    file = checked_file(file)
    return 0 if is_labelled(file) else file_head(file).n_cells


def sidecar(path: str | Path) -> Path:
    """The file beside a CSV file that says which scheme it belongs to."""
    return Path(f"{path}.json")


def read_metadata(path: str | Path) -> dict[str, Any] | None:
    """What was noted when a file was written; None where nothing was."""
    file = checked_file(path)
    if is_parquet(file):
        noted = file_head(file).note
        return None if noted is None else _note(noted, f"The note about its scheme in {str(path)!r}")
    beside = sidecar(file)
    return _note(beside.read_bytes(), repr(str(beside))) if beside.exists() else None


def packed_note(note: Mapping[str, Any]) -> bytes:
    """A note as Parquet's metadata hold it: JSON, compressed where it is long.

    The scheme of a question with a million answers takes fifteen megabytes as JSON, more than as many reports.
    """
    text = json.dumps(dict(note)).encode()
    return text if len(text) <= LONGEST_NOTE else COMPRESSED + base64.b64encode(zlib.compress(text))


def _note(content: bytes, where: str) -> dict[str, Any]:
    try:
        if content.startswith(COMPRESSED):
            content = zlib.decompress(base64.b64decode(content.removeprefix(COMPRESSED), validate=True))
        noted = json.loads(content)
    except (ValueError, zlib.error):
        noted = None
    if not isinstance(noted, dict):
        raise InvalidInput(f"{where} is not a JSON object. Restore it, or remove it to go on without its checks.")
    return noted


class TableWriter:
    """Writes Arrow tables to one file, batch by batch; Parquet keeps the metadata, CSV has it in a sidecar."""

    def __init__(self, path: Path, *, parquet: bool, metadata: Mapping[str, Any]) -> None:
        self._path, self._parquet, self._metadata = path, parquet, dict(metadata)
        self._writer: Any = None

    def write(self, table: pa.Table) -> None:
        if self._writer is None:
            self._open(table.schema)
        self._writer.write_table(table)

    def _open(self, schema: pa.Schema) -> None:
        if self._parquet:
            import pyarrow.parquet as pq

            self._writer = pq.ParquetWriter(self._path, schema, compression="zstd")
            # Not as metadata of the Arrow schema, which Parquet files hold a second time.
            self._writer.add_key_value_metadata({NOTE: packed_note(self._metadata)})
        else:
            from pyarrow import csv as arrow_csv

            self._writer = arrow_csv.CSVWriter(self._path, schema)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


@contextlib.contextmanager
def table_writer(path: str | Path, metadata: Mapping[str, Any]) -> Iterator[TableWriter]:
    """A writer for CSV or Parquet, by the file's name; nothing appears under that name before all is written."""
    if is_packed(Path(path)):
        raise InvalidInput(f"{str(path)!r}: tables are written as CSV or as Parquet, which is compressed. Name it so.")
    if not is_parquet(path):
        output_file(sidecar(path))
    with written_whole(path) as temporary:
        writer = TableWriter(temporary, parquet=is_parquet(path), metadata=metadata)
        try:
            yield writer
        finally:
            writer.close()
        if not is_parquet(path):
            # Before the file itself: reports beside the note of another scheme are refused, without a note they are not.
            with written_whole(sidecar(path)) as beside:
                note = {"format": NOTE_FORMAT, "bytes": temporary.stat().st_size} | dict(metadata)
                beside.write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")
