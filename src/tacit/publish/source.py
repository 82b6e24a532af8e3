"""From whatever a user hands in to a table that can be tallied and published."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.count.connections import is_address, opened
from tacit.count.inferred import inferred_schema
from tacit.dataset import Dataset
from tacit.errors import InvalidInput
from tacit.publish.held import Fingerprint, Held, HeldTable
from tacit.publish.stored import StoredTable
from tacit.publish.tally import QuasiTally
from tacit.schema import Schema
from tacit.table import Missing, Table, as_arrow, encode, infer_schema, read_batches, read_table

if TYPE_CHECKING:
    from tacit.table.discretize import CutRule
    from tacit.table.infer import MissingPolicy

SLICE_ROWS = 1 << 20
ENGINES = ("duckdb", "sqlite", "postgres")


def hold(
    data: Any,
    schema: Schema | None = None,
    *,
    missing: MissingPolicy = "refuse",
    marks: tuple[str, ...] = (),
    cuts: dict[str, CutRule] | None = None,
) -> Held:
    """Anything that can be published: a file, a Dataset, a data frame, the address of a database table, an ibis table.

    A database table stays in its database. With a schema a file is never read whole; without one it is, to see what its
    columns hold. Rows with missing values are dropped under ``missing="drop"``, and missing values are an answer of their
    own under ``missing="answer"``.
    """
    if is_stored(data):
        if marks:
            raise InvalidInput("In a database only null and blank texts are missing. Turn other marks into null first.")
        table = stored_table(data, writable=True)
        refuse_engine(table.get_backend().name)
        known = schema or inferred(table, missing=missing, cuts=cuts)
        return StoredTable(table, known, drop_missing=missing == "drop")
    if isinstance(data, str | Path):
        return _hold_file(data, schema, missing, marks, cuts)
    if not isinstance(data, Dataset | Table):
        table = as_arrow(data)
        known = schema or inferred(table, missing=missing, marks=marks, cuts=cuts)
        policy = Missing(marks, drop=missing == "drop")
        data = encode(table, known, missing=policy, drop_others=True)
    coded = data.table if isinstance(data, Dataset) else data
    if not len(coded):
        raise InvalidInput("The table has no rows: there is nothing to publish.")
    return HeldTable(coded.schema, lambda: _slices(coded), Fingerprint(_hash_of_answers(coded), "answers"))


def _hash_of_answers(coded: Table) -> str:
    """A hash of the answers in every row, whatever order the schema gives them."""
    digest = hashlib.sha256()
    for attribute in coded.schema:
        order = sorted(range(attribute.size), key=attribute.answers.__getitem__)
        place = np.empty(attribute.size, "<u4")
        place[order] = np.arange(attribute.size)
        digest.update(json.dumps([attribute.name, *sorted(attribute.answers)]).encode())
        digest.update(place[coded[attribute.name]].tobytes())
    return digest.hexdigest()


def inferred(
    data: Any,
    *,
    missing: MissingPolicy = "refuse",
    marks: tuple[str, ...] = (),
    cuts: dict[str, CutRule] | None = None,
) -> Schema:
    """The schema that data without one are published under."""
    if is_stored(data):
        return inferred_schema(stored_table(data), missing=missing, cuts=cuts)
    table = read_table(data) if isinstance(data, str | Path) else data
    return infer_schema(table, missing=missing, marks=marks, cuts=cuts)


def is_stored(data: Any) -> bool:
    """Whether data are a table of a database: its address, or an ibis table."""
    if isinstance(data, str | Path):
        return is_address(data)
    types = sys.modules.get("ibis.expr.types")  # nobody hands in an ibis table without having imported it
    return types is not None and isinstance(data, types.Table)


def stored_table(data: Any, *, writable: bool = False) -> Any:
    """The ibis table behind an address; an ibis table as it is."""
    return opened(data, writable=writable) if isinstance(data, str | Path) else data


def refuse_engine(name: str) -> None:
    """Refuse a database that was never seen to publish what memory publishes."""
    if name not in ENGINES:
        raise InvalidInput(
            f"Tables of {name} are not published where they are, only those of {', '.join(ENGINES)}. Write it to a Parquet "
            "file and publish that."
        )


def _slices(coded: Table) -> Iterator[Table]:
    """Parts of a table in memory, so that its published labels never exist as text all at once."""
    for start in range(0, len(coded), SLICE_ROWS):
        yield coded.rows(slice(start, start + SLICE_ROWS))


def _hold_file(
    path: str | Path,
    schema: Schema | None,
    missing: MissingPolicy,
    marks: tuple[str, ...],
    cuts: dict[str, CutRule] | None,
) -> HeldTable:
    known = schema or inferred(path, missing=missing, marks=marks, cuts=cuts)
    policy = Missing(marks, drop=missing == "drop")

    def batches() -> Iterator[Table]:
        for batch in read_batches(path, known.names):
            yield encode(batch, known, missing=policy, drop_others=True)

    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return HeldTable(known, batches, Fingerprint(digest.hexdigest(), "file"))


def tally(held: Held, sets: Sequence[Sequence[str]], sensitive: Sequence[str]) -> QuasiTally:
    """The tally of all quasi-identifiers in `sets`, with the sensitive attributes beside them."""
    names = tuple(dict.fromkeys(name for members in sets for name in members))
    found = held.sparse_tally([*names, *sensitive])
    sizes = [held.schema[name].size for name in sensitive]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64) if sizes else np.empty(0, np.int64)
    return QuasiTally(
        tuple(held.schema[name] for name in names),
        np.ascontiguousarray(found.codes[:, : len(names)], dtype=np.int64),
        found.counts.astype(np.int64),
        tuple(tuple(names.index(name) for name in members) for members in sets),
        tuple(held.schema[name] for name in sensitive),
        np.ascontiguousarray(found.codes[:, len(names) :] + starts, dtype=np.int64),
    )
