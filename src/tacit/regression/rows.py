"""What is fitted, row by row: people who are alike in everything that counts are one row that stands for all of them.

A regression on categories has few different rows however many people there are, so after one pass its cost does not depend on
their number. Reports that are stored, or tallies of them, are never laid out: the engine counts the different rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacit.count.abilities import distinct_rows
from tacit.count.protocol import Source
from tacit.count.sources import Stored
from tacit.count.weighted import SampleColumns
from tacit.count.weighted_rows import weighted_rows
from tacit.errors import InvalidInput, UnknownName
from tacit.estimation.group_parts import columns_of, parts_for
from tacit.estimation.kept_samples import KeptRows
from tacit.reports import Reports
from tacit.schema import RESERVED
from tacit.table import decode
from tacit.table.columns import plain
from tacit.table.study_columns import StudyReading

Codes = NDArray[np.intp]
# Below so many rows nothing is gained by looking for rows that are alike.
FEWEST_ROWS = 2_000
# Of the first rows at most so many may differ: else every row is as good as its own.
LOOKED_AT, MOST_DIFFERENT = 10_000, 2_000


@dataclass(frozen=True, eq=False)
class AlikeRows:
    """Different rows, how many people each stands for, and the row of every person where people are listed."""

    table: pa.Table
    counts: NDArray[np.float64]
    people: Codes | None = None
    kept_sums: KeptRows | None = None  # where people were counted with their weights
    notes: tuple[str, ...] = ()  # what was not read as it stands

    def keep_rows(self, which: NDArray[np.bool_]) -> AlikeRows:
        """Without the rows that lack something."""
        people = self.people
        if people is not None:
            place = np.cumsum(which) - 1
            people = place[people[which[people]]]
        sums = None if self.kept_sums is None else self.kept_sums.some(which)
        return AlikeRows(self.table.filter(pa.array(which)), self.counts[which], people, sums)


def as_listed(table: pa.Table) -> AlikeRows:
    """Every person by themselves."""
    return AlikeRows(table, np.ones(table.num_rows))


def alike_together(table: pa.Table) -> AlikeRows:
    """People who are alike as one row, where that saves work."""
    n = table.num_rows
    if n < FEWEST_ROWS or not table.num_columns:
        return as_listed(table)
    if (few := _joint_codes(table.slice(0, LOOKED_AT))) is None or len(np.unique(few)) > MOST_DIFFERENT:
        return as_listed(table)
    codes = _joint_codes(table)
    if codes is None:
        return as_listed(table)
    _, first, people, counts = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    if 2 * len(first) > n:
        return as_listed(table)
    return AlikeRows(table.take(first), counts.astype(np.float64), people.reshape(-1).astype(np.intp))


def _joint_codes(table: pa.Table) -> NDArray[np.int64] | None:
    """A number for each row, the same where all values are; None where values cannot be numbered or are too many."""
    codes, size = np.zeros(table.num_rows, dtype=np.int64), 1
    for column in table.columns:
        if pa.types.is_nested(column.type):
            return None
        encoded = column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)
        whole = encoded.unify_dictionaries().combine_chunks()
        chunk = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
        different = len(chunk.dictionary) + 1
        size *= different
        if size > 1 << 62:
            return None
        indices = pc.fill_null(chunk.indices.cast(pa.int64()), different - 1)
        codes = codes * different + indices.to_numpy(zero_copy_only=False)
    return codes


def stored_rows(data: Any, names: Sequence[str], sample: SampleColumns | None) -> AlikeRows | None:
    """The different rows of stored reports or of a tally, as far as the scheme's variables `names` need; None for others."""
    if isinstance(data, Reports) or not isinstance(data, Stored):
        return None

    asked_names = [name for source in data.sources() for name in source.questionnaire.attributes]
    for name in names:
        if name not in asked_names:
            raise UnknownName("Attribute", name, list(dict.fromkeys(asked_names)))
    parts = [
        _counted_rows(source, names, sample)
        for source in data.sources()
        if set(names) <= set(source.questionnaire.attributes) and source.engine.n_rows
    ]
    if not parts:
        raise InvalidInput(f"No reports ask for all of {', '.join(names)}, so nothing can be fitted.")
    table = pa.concat_tables([piece.table for piece in parts], promote_options="permissive")
    sums = [piece.kept_sums for piece in parts if piece.kept_sums is not None]
    return AlikeRows(
        table, np.concatenate([piece.counts for piece in parts]), kept_sums=_join_sums(sums) if sums else None
    )


def _counted_rows(source: Source, names: Sequence[str], sample: SampleColumns | None) -> AlikeRows:
    """The different rows of one questionnaire."""
    columns, sums = columns_of(parts_for(source.questionnaire, names)), None
    weighted = weighted_rows(source.engine, columns, sample)
    if weighted is None:
        rows, many = distinct_rows(source.engine, columns)
    else:
        rows, many = weighted.table, weighted.counts
        clusters = None if weighted.sample.clusters is None else weighted.clusters.tolist()
        sums = KeptRows(weighted.strata.tolist(), clusters, many.astype(np.float64), weighted.sums, weighted.squares)
    arrow = decode(rows)
    values = {name: plain(column) for name, column in zip(arrow.column_names, arrow.columns, strict=True)}
    dealt = pa.repeat(pa.scalar(source.questionnaire.name), len(many))
    return AlikeRows(pa.table({**values, RESERVED: dealt}), many.astype(np.float64), kept_sums=sums)


def _join_sums(parts: Sequence[KeptRows]) -> KeptRows:
    """Of several questionnaires: a cluster's people may have answered different ones."""
    strata = [name for piece in parts for name in piece.strata]
    named = [piece.clusters for piece in parts]
    clusters = None if any(piece is None for piece in named) else [name for piece in named for name in piece or ()]
    counts, sums, squares = (
        np.concatenate([getattr(piece, each) for piece in parts]) for each in ("counts", "sums", "squares")
    )
    return KeptRows(strata, clusters, counts, sums, squares)


def rows_of(
    data: Any,
    wanted: Sequence[str],
    names: Sequence[str],
    sample: SampleColumns,
    reading: StudyReading,
    *,
    listed: bool,
) -> AlikeRows:
    """The rows to fit: of a file, a frame, reports, or what is stored; `listed` where every person counts alone."""
    counted = stored_rows(data, names, sample if sample.column_names or sample.sampled is not None else None)
    if counted is not None:
        if listed and counted.kept_sums is None:
            raise InvalidInput(
                "A bootstrap draws respondents again, and stored reports and tallies do not list them one by one. Name "
                "clusters, which are drawn instead, or give the path of the report file."
            )
        return counted
    if isinstance(data, Reports):
        data = data.to_arrow()
    table, notes = reading.read(data, [*wanted, *sample.column_names])
    if table.num_rows == 0:
        raise InvalidInput("There are no rows, so nothing can be fitted.")
    return replace(as_listed(table) if listed else alike_together(table), notes=tuple(notes))
