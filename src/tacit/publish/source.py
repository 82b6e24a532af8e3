"""The table to be published, wherever it is: read in batches, tallied, and read again when the release is written."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.count import MemoryEngine
from tacit.dataset import Dataset
from tacit.errors import InvalidInput
from tacit.publish.tally import QuasiTally
from tacit.schema import Schema
from tacit.table import Missing, Table, as_arrow, encode, infer_schema, read_batches, read_table

if TYPE_CHECKING:
    from tacit.table.discretize import CutRule
    from tacit.table.infer import MissingPolicy

SLICE_ROWS = 1 << 20


@dataclass(frozen=True, eq=False)
class HeldTable:
    """Truths that can be read as often as needed, batch by batch."""

    schema: Schema
    batches: Callable[[], Iterator[Table]]
    digest: str  # SHA-256 of the input: of the file, or of the codes in memory


def hold(
    data: Any,
    schema: Schema | None = None,
    *,
    missing: MissingPolicy = "refuse",
    marks: tuple[str, ...] = (),
    cuts: dict[str, CutRule] | None = None,
) -> HeldTable:
    """Anything that can be published: a file, a Dataset, a data frame.

    With a schema a file is never read whole; without one it is, to see what its columns hold. Rows with missing values
    are dropped under ``missing="drop"``, and missing values are an answer of their own under ``missing="answer"``.
    """
    if isinstance(data, str | Path):
        return _hold_file(data, schema, missing, marks, cuts)
    if not isinstance(data, Dataset | Table):
        table = as_arrow(data)
        known = schema or infer_schema(table, missing=missing, marks=marks, cuts=cuts)
        policy = Missing(marks, drop=missing == "drop")
        data = encode(table, known, missing=policy, drop_others=True)
    coded = data.table if isinstance(data, Dataset) else data
    if not len(coded):
        raise InvalidInput("The table has no rows: there is nothing to publish.")
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(coded[name]).tobytes() for name in coded.schema.names))
    return HeldTable(coded.schema, lambda: _slices(coded), digest.hexdigest())


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
    known = schema or infer_schema(read_table(path), missing=missing, marks=marks, cuts=cuts)
    policy = Missing(marks, drop=missing == "drop")

    def batches() -> Iterator[Table]:
        for batch in read_batches(path, known.names):
            yield encode(batch, known, missing=policy, drop_others=True)

    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return HeldTable(known, batches, digest.hexdigest())


def tally(held: HeldTable, sets: Sequence[Sequence[str]], sensitive: Sequence[str]) -> QuasiTally:
    """The tally of all quasi-identifiers in `sets`, with the sensitive attributes beside them."""
    names = tuple(dict.fromkeys(name for members in sets for name in members))
    columns = [*names, *sensitive]
    parts = [MemoryEngine(batch).sparse_tally(columns) for batch in held.batches() if len(batch)]
    if not parts:
        raise InvalidInput("The table has no rows: there is nothing to publish.")
    codes, counts = parts[0].codes, parts[0].counts
    if len(parts) > 1:
        codes, place = np.unique(np.concatenate([part.codes for part in parts]), axis=0, return_inverse=True)
        counts = np.bincount(place.ravel(), np.concatenate([part.counts for part in parts])).astype(np.int64)
    sizes = [held.schema[name].size for name in sensitive]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64) if sizes else np.empty(0, np.int64)
    return QuasiTally(
        tuple(held.schema[name] for name in names),
        np.ascontiguousarray(codes[:, : len(names)], dtype=np.int64),
        counts.astype(np.int64),
        tuple(tuple(names.index(name) for name in members) for members in sets),
        tuple(held.schema[name] for name in sensitive),
        np.ascontiguousarray(codes[:, len(names) :] + starts, dtype=np.int64),
    )
