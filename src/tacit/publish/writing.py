"""Releases written whole or not at all: k is counted from what was written before it takes its name."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.count.backend import asking, command, dropped, has_table
from tacit.errors import InvalidInput, TacitError
from tacit.publish.check import counted_batches, counted_stored, measured
from tacit.publish.release import Release, as_text_columns
from tacit.publish.stored import StoredTable
from tacit.table.files import is_parquet, written_whole

if TYPE_CHECKING:
    import pyarrow as pa


def manifest_path(path: str | Path) -> Path:
    return Path(f"{path}.manifest.json")


def write_file(release: Release, path: Path) -> Path:
    parquet = is_parquet(path)
    with written_whole(path) as temporary, written_whole(manifest_path(path)) as manifest:
        _write_batches(temporary, release.batches(), parquet=parquet)
        verified = _verified_k(release, lambda names: counted_batches(_read_batches(temporary, parquet=parquet), names))
        manifest.write_text(_manifest(release, verified) + "\n", "utf-8")
    return path


def write_table(release: Release, name: str) -> str:
    held = release.held
    if not isinstance(held, StoredTable):
        raise InvalidInput(
            "Only what is in a database can be published into a table beside it. Give the name of a file instead."
        )
    connection = held.table.get_backend()
    _refuse_taken(connection, name)
    part = f"tacit_{secrets.token_hex(8)}"
    with held.release(release.recoding, release.others) as rows, asking(f"Writing the table {name!r}"):
        try:
            written = connection.create_table(part, rows)
            verified = _verified_k(release, lambda names: counted_stored(written, names))
            _create_manifest(connection, manifest_table(name), _manifest(release, verified))
            command(connection, f'ALTER TABLE "{part}" RENAME TO "{name}"')
        except BaseException:
            for leftover in (part, manifest_table(name)):
                dropped(connection, leftover)
            raise
    return name


def manifest_table(name: str) -> str:
    return f"{name}_manifest"


def _refuse_taken(connection: Any, name: str) -> None:
    if not name or "." in name or '"' in name:
        raise InvalidInput(f"{name!r} is no plain name of a table. Leave out dots and quotes.")
    for wanted in (name, manifest_table(name)):
        if has_table(connection, wanted):
            raise InvalidInput(f"There is a table {wanted!r} already. Drop it first, or give another name.")


def _create_manifest(connection: Any, name: str, manifest: str) -> None:
    import ibis

    connection.create_table(name, ibis.memtable({"manifest": [manifest]}))


def _manifest(release: Release, verified_k: int) -> str:
    return json.dumps(release.manifest() | {"verified_k": verified_k}, indent=1)


def _verified_k(release: Release, counted: Callable[[Sequence[str]], pa.Table]) -> int:
    """The k of what was written; refused where it breaks the promise."""
    tally = release.recoding.tally
    sets = [tuple(tally.names[j] for j in members) for members in tally.sets]
    checks = [measured(counted(names), names, ()) for names in sets]
    smallest = min(check.k for check in checks)
    wanted = release.rows - release.suppressed
    if checks[0].rows != wanted and isinstance(release.held, StoredTable):
        raise TacitError(
            f"{checks[0].rows:,} rows were written where {wanted:,} were counted, so they were not kept. Did the table change "
            "in between? Publish it again, from a copy or while nobody writes to it."
        )
    if smallest < release.k or checks[0].rows != wanted:
        raise TacitError(
            f"The written release shows classes of {smallest} rows where {release.k} were promised, so it was not kept. "
            "This is a mistake in Tacit: please report it with the manifest of a smaller table."
        )
    return smallest


def _write_batches(file: Path, batches: Iterator[pa.Table], *, parquet: bool) -> None:
    import pyarrow.parquet as pq
    from pyarrow import csv as arrow_csv

    writer: Any = None
    try:
        for batch in batches:
            if writer is None:
                plain = as_text_columns(batch.slice(0, 0)).schema
                writer = pq.ParquetWriter(file, batch.schema) if parquet else arrow_csv.CSVWriter(file, plain)
            writer.write_table(batch if parquet else as_text_columns(batch))
    finally:
        if writer is not None:
            writer.close()


def _read_batches(file: Path, *, parquet: bool) -> Iterator[pa.Table]:
    """The rows of a file that does not have its final name yet, so its kind must be said."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import csv as arrow_csv

    if parquet:
        with pq.ParquetFile(file) as source:
            yield from (pa.Table.from_batches([batch]) for batch in source.iter_batches())
        return
    with file.open("rb") as lines:
        header = arrow_csv.open_csv(lines, parse_options=arrow_csv.ParseOptions(newlines_in_values=True)).schema.names
    types = arrow_csv.ConvertOptions(column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False)
    with arrow_csv.open_csv(
        file, convert_options=types, parse_options=arrow_csv.ParseOptions(newlines_in_values=True)
    ) as reader:
        yield from (pa.Table.from_batches([batch]) for batch in reader)
