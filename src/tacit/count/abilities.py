"""What only some engines can do beyond the two questions, as abilities that an engine declares.

An engine that holds the coded rows declares them as ``rows``; one that lets them out part by part has ``coded_parts``;
one whose rows are counted by the machines that hold them has ``counted_there``; one that can list different rows with
their counts, sets and bits included, has ``distinct``. Whoever writes an engine of their own may leave all out: then what
can be answered with the two questions is, and the rest is refused in one sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.count.protocol import CountEngine
from tacit.count.sparse import occurring
from tacit.errors import NotEstimable
from tacit.schema import Schema
from tacit.table import Table
from tacit.table.coded import code_type

if TYPE_CHECKING:
    from tacit.count.partitions import Kind, Question


def held_rows(engine: CountEngine) -> Table | None:
    """The coded rows, one for each report, where the engine holds them in memory."""
    rows: Table | None = getattr(engine, "rows", None)
    return rows


def coded_parts(engine: CountEngine, columns: Sequence[str]) -> Iterator[Table] | None:
    """The coded rows of some columns in one go, part by part, where the engine lets them out."""
    rows = held_rows(engine)
    if rows is not None:
        return iter([rows])
    parts: Iterator[Table] | None = engine.coded_parts(columns) if hasattr(engine, "coded_parts") else None
    return parts


def counted_there(engine: CountEngine, columns: Sequence[str], question: Question[Kind]) -> Kind | None:
    """A counter filled by the machines that hold the rows, where there are such (`tacit.count.partitions`)."""
    counter: Kind | None = engine.counted_there(columns, question) if hasattr(engine, "counted_there") else None
    return counter


def distinct_rows(engine: CountEngine, columns: Sequence[str]) -> tuple[Table, NDArray[np.int64]]:
    """The different rows of some columns, and how many reports show each."""
    if hasattr(engine, "distinct"):
        table, counts = engine.distinct(columns)
        return table, counts
    set_columns = [name for name in columns if engine.schema[name].shows != "one"]
    if set_columns:
        raise NotEstimable(
            f"Reports of {', '.join(set_columns)} show sets, and where they are stored whole reports cannot be listed. Read them "
            "into memory first (Reports.read), or use the inversion method."
        )
    tally = engine.sparse_tally(columns)
    return coded_rows(engine.schema.select(columns), tally.codes), tally.counts


def distinct_in_memory(
    table: Table, counts: NDArray[np.int64] | None, columns: Sequence[str]
) -> tuple[Table, NDArray[np.int64]]:
    """The different rows of a coded table; `counts` says how many reports each given row stands for."""
    chosen = table.select(columns)
    if all(chosen.schema[name].shows == "one" for name in columns):
        codes, counted = occurring([chosen[name] for name in columns], chosen.schema.shape(columns), counts)
        return coded_rows(chosen.schema, codes), counted
    wide = [chosen[name] if chosen[name].ndim == 2 else chosen[name][:, None] for name in columns]
    flat = np.concatenate([column.astype(np.uint32) for column in wide], axis=1)
    _, first, inverse = np.unique(flat, axis=0, return_index=True, return_inverse=True)
    summed = np.zeros(len(first), dtype=np.int64)
    np.add.at(summed, inverse.reshape(-1), 1 if counts is None else counts)
    return chosen.rows(first), summed


def coded_rows(schema: Schema, codes: NDArray[np.int64]) -> Table:
    """The table whose rows are listed as ``codes[row, column]``."""
    types = [code_type(attribute.size) for attribute in schema]
    return Table(schema, {name: codes[:, at].astype(types[at]) for at, name in enumerate(schema.names)})
