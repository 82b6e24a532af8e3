"""What a written release must show before it takes its name, and the sentence where it does not."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from tacit.errors import TacitError
from tacit.publish.anonymous_table import AnonymousTable
from tacit.publish.counted_rows import counted_stored
from tacit.publish.database_input import DatabaseInput
from tacit.publish.manifests import public_manifest
from tacit.publish.reading_back import PEOPLE, ROWS, BrokenPromise, ReadBack, judge

JOINED = "persons: the written rows joined to the ids that are held privately"


def judged_table(release: AnonymousTable, written: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The public manifest, and what was counted from a table that a database wrote; refused where it breaks a promise."""
    manifest = public_manifest(release)
    counted = counted_stored(written, manifest["columns"])
    with kept_promises(release):
        return manifest, verified_rows(release, _judge_rows(release, counted, manifest | all_labels(release)))


def all_labels(release: AnonymousTable) -> dict[str, Any]:
    """Every released label with all its answers: more than the public manifest tells, for judging what was written."""
    return {"labels": release.recoding.released_labels()}


def _judge_rows(release: AnonymousTable, counted: pa.Table, manifest: Mapping[str, Any]) -> ReadBack:
    return judge(counted.rename_columns([*manifest["columns"], ROWS]), manifest, people_of(release))


def people_of(release: AnonymousTable) -> pa.Table | None:
    """The answers of the population with their numbers, where something is promised of it."""
    population = release.publication.population
    if population is None or population.codes is None or release.publication.settings.protection.people_demand is None:
        return None
    columns = {
        attribute.name: pa.array([attribute.answers[code] for code in codes.tolist()], pa.string())
        for attribute, codes in zip(release.recoding.tally.attributes, population.codes.T, strict=True)
    }
    table = pa.table(columns | {PEOPLE: pa.array(population.counts)})
    # People with an answer that the table does not know are in no class.
    strange = {name: pa.nulls(1, pa.string()) for name in columns} | {PEOPLE: pa.array([population.outside])}
    return pa.concat_tables([table, pa.table(strange)]) if population.outside else table


@contextlib.contextmanager
def kept_promises(release: AnonymousTable) -> Iterator[None]:
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


def verified_rows(release: AnonymousTable, read_back: ReadBack) -> dict[str, Any]:
    """What the rows show; where persons have several, what they show of persons."""
    persons, protection = release.publication.persons, release.publication.settings.protection
    if persons is None:
        return read_back.to_document() | {"counted": "rows"}
    _refuse_other_rows(release, read_back.counted)
    sizes = persons.sizes_by_set(release.recoding)
    smallest = min(int(classes.min()) for classes in sizes)
    if smallest < release.k or not persons.keeps(release.recoding, protection):
        raise BrokenPromise(f"the written classes hold {smallest} persons where {release.k} were promised")
    if not release.publication.keeps_its_promise(release.recoding):
        raise BrokenPromise("the written classes do not hold the people of the population that were promised")
    checks = persons.checks(release.recoding, protection.tail)
    diversities = [check.entropy if protection.entropy else check.distinct for check in checks]
    return {
        "k": smallest,
        "l": min(diversities, default=None),
        "t": max((check.closeness for check in checks), default=None),
        **({"recursive": max(check.recursive for check in checks)} if protection.recursive is not None else {}),
        **({"beta": max(check.beta for check in checks)} if protection.beta is not None else {}),
        **({"k_map": release.risk.k_map, "presence": release.risk.presence} if protection.people_demand else {}),
        "rows": read_back.rows,
        "counted": JOINED,
    }


def _refuse_other_rows(release: AnonymousTable, counted: pa.Table) -> None:
    """Refuse written rows that are not those whose persons are known: each class must hold as many rows in both."""
    recoding = release.recoding
    names = list(recoding.tally.names)
    published = recoding.classes >= 0
    labels = {
        name: pa.array(
            [recoding.names[j][code] for code in recoding.shown[recoding.classes[published], j].tolist()], pa.string()
        )
        for j, name in enumerate(names)
    }
    expected = pa.table(labels | {ROWS: pa.array(recoding.counts[published])})
    if _rows_by_class(expected, names) != _rows_by_class(counted, names):
        raise BrokenPromise("the written rows are not those whose persons are known")


def _rows_by_class(table: pa.Table, names: list[str]) -> dict[tuple[str, ...], int]:
    sums = table.group_by(names).aggregate([(ROWS, "sum")])
    classes = zip(*(sums[name].to_pylist() for name in names), strict=True)
    return dict(zip(classes, sums[f"{ROWS}_sum"].to_pylist(), strict=True))
