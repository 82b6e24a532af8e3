"""Releases written whole or not at all: what was written is read back and judged before it takes its name."""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.count.backend import asking, command, dropped, has_table
from tacit.count.connections import SPARK
from tacit.errors import InvalidInput, TacitError
from tacit.publish.counted_rows import counted_stored
from tacit.publish.csv_lines import CSVLines
from tacit.publish.database_input import DatabaseInput
from tacit.publish.earlier_releases import earlier_releases, k_together, refuse_second_release
from tacit.publish.manifests import private_manifest, private_path, public_manifest, public_path
from tacit.publish.reading_back import PEOPLE, ROWS, BrokenPromise, ReadBack, count_synthetic, judge, read_back
from tacit.publish.release import Release
from tacit.table.files import is_parquet, written_whole

if TYPE_CHECKING:
    import pyarrow as pa

    from tacit.publish.synthesis import SyntheticRelease

ROWS_AT_A_TIME = 1 << 18  # for which a file's statistics are brought up to date
JOINED = "persons: the written rows joined to the ids that are held privately"


@dataclass(frozen=True)
class Written:
    """A release as it lies there."""

    path: Path
    verified: dict[str, Any]  # k, l, t and rows, counted from what was written
    k_together: int | None  # of this and the earlier releases of the same input
    earlier: tuple[str, ...]  # their private manifests

    @property
    def warnings(self) -> tuple[str, ...]:
        if not self.earlier:
            return ()
        remains = (
            "cannot be told, because their rows cannot be put side by side"
            if self.k_together is None
            else f"is {self.k_together}"
        )
        return (f"The same input was released before ({', '.join(self.earlier)}): the k of all together {remains}.",)


def write_file(release: Release, path: Path, *, again: bool = False) -> Written:
    earlier = earlier_releases(release.publication, path)
    if not again:
        refuse_second_release(earlier, path)
    together = k_together(release, earlier) if earlier else None
    parquet = is_parquet(path)
    with (
        written_whole(path) as temporary,
        written_whole(public_path(path)) as public,
        written_whole(private_path(path), private=True) as private,
    ):
        _write_batches(temporary, release.batches(), parquet=parquet)
        manifest = public_manifest(release)
        with _promises(release):
            verified = _verified(release, read_back(temporary, manifest, parquet=parquet, people=_people(release)))
        _write_document(public, manifest | {"verified": verified})
        _write_document(private, private_manifest(release))
    return Written(path, verified, together, tuple(entry.path.name for entry in earlier))


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
        _write_document(public, manifest)
    return path


def write_table(release: Release, name: str) -> dict[str, Any]:
    """Write a table beside the input; returns what was counted from it."""
    source = release.input
    if not isinstance(source, DatabaseInput):
        raise InvalidInput(
            "Only what is in a database can be published into a table beside it. Give the name of a file instead."
        )
    connection = source.table.get_backend()
    if connection.name == "pyspark":
        from tacit.publish.spark_release import write_on_spark

        return write_on_spark(release, name if name.startswith(SPARK) else f"{SPARK}{name}")
    _refuse_taken(connection, name)
    part = f"tacit_{secrets.token_hex(8)}"
    with source.release(release.recoding, release.others) as rows, asking(f"Writing the table {name!r}"):
        try:
            manifest, verified = judged_table(release, connection.create_table(part, rows))
            _create_manifest(connection, manifest_table(name), manifest | {"verified": verified})
            command(connection, f'ALTER TABLE "{part}" RENAME TO "{name}"')
        except BaseException:
            for leftover in (part, manifest_table(name)):
                dropped(connection, leftover)
            raise
    return verified


def judged_table(release: Release, written: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The public manifest, and what was counted from a table that a database wrote; refused where it breaks a promise."""
    manifest = public_manifest(release)
    counted = counted_stored(written, manifest["columns"])
    with _promises(release):
        return manifest, _verified(release, _judged(release, counted, manifest))


def _judged(release: Release, counted: pa.Table, manifest: Mapping[str, Any]) -> ReadBack:
    return judge(counted.rename_columns([*manifest["columns"], ROWS]), manifest, _people(release))


def _people(release: Release) -> pa.Table | None:
    """The answers of the population with their numbers, where something is promised of it."""
    import pyarrow as pa

    population = release.publication.population
    if population is None or population.codes is None or release.publication.settings.protection.people_demand is None:
        return None
    columns = {
        attribute.name: pa.array([attribute.answers[code] for code in codes.tolist()], pa.string())
        for attribute, codes in zip(release.recoding.tally.attributes, population.codes.T, strict=True)
    }
    known = pa.table(columns | {PEOPLE: pa.array(population.counts)})
    # People with an answer that the table does not know are in no class.
    strange = {name: pa.nulls(1, pa.string()) for name in columns} | {PEOPLE: pa.array([population.outside])}
    return pa.concat_tables([known, pa.table(strange)]) if population.outside else known


def write_private(release: Release, path: Path) -> Path:
    """The private manifest alone, for a release that became a table of a database."""
    with written_whole(path, private=True) as private:
        _write_document(private, private_manifest(release))
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


def _write_document(path: Path, document: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(document, indent=1) + "\n", "utf-8")


@contextlib.contextmanager
def _promises(release: Release) -> Iterator[None]:
    """What is wrong with a written release, in a sentence that says why it was not kept."""
    try:
        yield
    except BrokenPromise as error:
        if isinstance(release.input, DatabaseInput):
            raise TacitError(
                f"The release was not kept: {error}. Did the table change in between? Publish it again, from a copy or while "
                "nobody writes to it."
            ) from None
        raise TacitError(
            f"The release was not kept: {error}. This is a mistake in Tacit: please report it with the manifest of a smaller "
            "table."
        ) from None


def _verified(release: Release, read_back: ReadBack) -> dict[str, Any]:
    """What the rows show; where persons have several, what they show of persons."""
    persons, protection = release.publication.persons, release.publication.settings.protection
    if persons is None:
        return read_back.to_document() | {"counted": "rows"}
    _refuse_other_rows(release, read_back.counted)
    sizes = persons.sizes_by_set(release.recoding)
    smallest = min(int(own.min()) for own in sizes)
    if smallest < release.k or not persons.keeps(release.recoding, protection):
        raise BrokenPromise(f"the written classes hold {smallest} persons where {release.k} were promised")
    if not release.publication.keeps_its_promise(release.recoding):
        raise BrokenPromise("the written classes do not hold the people of the population that were promised")
    checks = persons.checks(release.recoding, protection.tail)
    shown = [check.entropy if protection.entropy else check.distinct for check in checks]
    return {
        "k": smallest,
        "l": min(shown, default=None),
        "t": max((check.closeness for check in checks), default=None),
        **({"recursive": max(check.recursive for check in checks)} if protection.recursive is not None else {}),
        **({"beta": max(check.beta for check in checks)} if protection.beta is not None else {}),
        **({"k_map": release.risk.k_map, "presence": release.risk.presence} if protection.people_demand else {}),
        "rows": read_back.rows,
        "counted": JOINED,
    }


def _refuse_other_rows(release: Release, counted: pa.Table) -> None:
    """Refuse written rows that are not those whose persons are known: each class must hold as many rows in both."""
    import pyarrow as pa

    recoding = release.recoding
    names = list(recoding.tally.names)
    kept = recoding.classes >= 0
    labels = {
        name: pa.array(
            [recoding.names[j][code] for code in recoding.shown[recoding.classes[kept], j].tolist()], pa.string()
        )
        for j, name in enumerate(names)
    }
    expected = pa.table(labels | {ROWS: pa.array(recoding.counts[kept])})
    if _rows_by_class(expected, names) != _rows_by_class(counted, names):
        raise BrokenPromise("the written rows are not those whose persons are known")


def _rows_by_class(table: pa.Table, names: list[str]) -> dict[tuple[str, ...], int]:
    sums = table.group_by(names).aggregate([(ROWS, "sum")])
    classes = zip(*(sums[name].to_pylist() for name in names), strict=True)
    return dict(zip(classes, sums[f"{ROWS}_sum"].to_pylist(), strict=True))


def _write_batches(file: Path, batches: Iterator[pa.Table], *, parquet: bool) -> None:
    import pyarrow.parquet as pq

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
