"""Releases written whole or not at all: what was written is read back and judged before it takes its name."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from tacit.count.backend import asking, command, drop_table, has_table
from tacit.count.connections import SPARK
from tacit.errors import InvalidInput, TacitError
from tacit.publish.anonymous_table import AnonymousTable
from tacit.publish.csv_lines import CSVLines
from tacit.publish.database_input import DatabaseInput
from tacit.publish.earlier_releases import earlier_releases, k_together, kindred_releases, refuse_second_release
from tacit.publish.manifests import private_manifest, private_path, public_manifest, public_path
from tacit.publish.promises import all_labels, judged_table, kept_promises, people_of, verified_rows
from tacit.publish.reading_back import BrokenPromise, count_synthetic, read_back
from tacit.publish.spark_release import write_on_spark
from tacit.table.heads import is_parquet
from tacit.table.outputs import written_whole

if TYPE_CHECKING:
    import pyarrow as pa

    from tacit.publish.synthesis import SyntheticRelease

ROWS_AT_A_TIME = 1 << 18  # for which a file's statistics are brought up to date


@dataclass(frozen=True)
class Written:
    """A release as it lies there."""

    path: Path
    verified: dict[str, Any]  # k, l, t and rows, counted from what was written
    k_together: int | None  # of this and the earlier releases of the same input
    earlier: tuple[str, ...]  # their private manifests
    kindred: tuple[str, ...] = ()  # private manifests of other inputs with some of the same quasi-identifiers

    @property
    def warnings(self) -> tuple[str, ...]:
        return (*self._same_input, *self._other_inputs)

    @property
    def _other_inputs(self) -> tuple[str, ...]:
        if not self.kindred:
            return ()
        return (
            f"Another table with some of these columns was released before ({', '.join(self.kindred)}). If it holds the same "
            "people (an update, another order or format), who has both releases intersects or subtracts them: a class that "
            "grew by one row tells whose it is. What k remains is not computed.",
        )

    @property
    def _same_input(self) -> tuple[str, ...]:
        if not self.earlier:
            return ()
        remains = (
            "cannot be told, because their rows cannot be put side by side"
            if self.k_together is None
            else f"is {self.k_together}"
        )
        return (f"The same input was released before ({', '.join(self.earlier)}): the k of all together {remains}.",)


def write_file(release: AnonymousTable, path: Path, *, again: bool = False) -> Written:
    earlier = earlier_releases(release.publication, path)
    if not again:
        refuse_second_release(earlier, path)
    together = k_together(release, earlier) if earlier else None
    kindred = tuple(kindred_releases(release.publication, path))
    parquet = is_parquet(path)
    with (
        written_whole(path) as temporary,
        written_whole(public_path(path)) as public,
        written_whole(private_path(path), private=True) as private,
    ):
        _write_batches(temporary, release.batches(), parquet=parquet)
        manifest = public_manifest(release)
        with kept_promises(release):
            verified = verified_rows(
                release,
                read_back(temporary, manifest | all_labels(release), parquet=parquet, people=people_of(release)),
            )
        write_document(public, manifest | {"verified": verified, "bytes": temporary.stat().st_size})
        write_document(private, private_manifest(release))
    return Written(path, verified, together, tuple(entry.path.name for entry in earlier), kindred)


def write_synthetic(release: SyntheticRelease, path: Path) -> Path:
    """Write synthetic rows and their public manifest; the rows are read back before they take their name."""
    parquet = is_parquet(path)
    with written_whole(path) as temporary, written_whole(public_path(path)) as public:
        _write_batches(temporary, release.batches(), parquet=parquet)
        manifest = release.public_manifest()
        try:
            count_synthetic(temporary, manifest, parquet=parquet)
        except BrokenPromise as error:
            raise TacitError(
                f"The release was not kept: {error}. This is a mistake in Tacit: please report it."
            ) from None
        write_document(public, manifest | {"bytes": temporary.stat().st_size})
    return path


def write_table(release: AnonymousTable, name: str) -> dict[str, Any]:
    """Write a table beside the input; returns what was counted from it."""
    source = release.input
    if not isinstance(source, DatabaseInput):
        raise InvalidInput(
            "Only what is in a database can be published into a table beside it. Give the name of a file instead."
        )
    connection = source.table.get_backend()
    if connection.name == "pyspark":
        return write_on_spark(release, name if name.startswith(SPARK) else f"{SPARK}{name}")
    _refuse_taken(connection, name)
    draft = f"tacit_{secrets.token_hex(8)}"
    with source.release(release.recoding, release.others) as rows, asking(f"Writing the table {name!r}"):
        try:
            manifest, verified = judged_table(release, connection.create_table(draft, rows))
            _create_manifest(connection, manifest_table(name), manifest | {"verified": verified})
            command(connection, f'ALTER TABLE "{draft}" RENAME TO "{name}"')
        except BaseException:
            for leftover in (draft, manifest_table(name)):
                drop_table(connection, leftover)
            raise
    return verified


def write_private(release: AnonymousTable, path: Path) -> Path:
    """The private manifest alone, for a release that became a table of a database."""
    with written_whole(path, private=True) as private:
        write_document(private, private_manifest(release))
    return path


def manifest_table(name: str) -> str:
    return f"{name}_manifest"


def _refuse_taken(connection: Any, name: str) -> None:
    if not name or "." in name or '"' in name:
        raise InvalidInput(f"{name!r} is no plain name of a table. Leave out dots and quotes.")
    for wanted in (name, manifest_table(name)):
        if has_table(connection, wanted):
            raise InvalidInput(f"There is a table {wanted!r} already. Drop it first, or give another name.")


def _create_manifest(connection: Any, name: str, manifest: Mapping[str, Any]) -> None:
    import ibis

    connection.create_table(name, ibis.memtable({"manifest": [json.dumps(manifest, indent=1)]}))


def write_document(path: Path, document: Mapping[str, Any]) -> None:
    """Write a document with one line for each of its keys."""
    lines = (f" {json.dumps(key)}: {json.dumps(value)}" for key, value in document.items())
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def _write_batches(file: Path, batches: Iterator[pa.Table], *, parquet: bool) -> None:

    writer: Any = None
    try:
        for batch in batches:
            if writer is None:
                writer = (
                    pq.ParquetWriter(file, batch.schema, write_batch_size=ROWS_AT_A_TIME)
                    if parquet
                    else CSVLines(file, batch.column_names)
                )
            writer.write_table(batch)
    finally:
        if writer is not None:
            writer.close()
