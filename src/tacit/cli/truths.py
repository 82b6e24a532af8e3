"""Truths from a file that a command only counts: rows that lack a value are left out, and it is said how many."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tacit.cli.output import note
from tacit.dataset import Dataset
from tacit.schema import Schema
from tacit.table.columns import checked_columns
from tacit.table.files import column_names, read_table


def complete_truths(path: Path, schema: Schema | None = None, columns: Sequence[str] | None = None) -> Dataset:
    """The complete rows of a file, as a schema reads them, or with the answers that occur in its `columns`."""
    wanted = list(columns or ()) if schema is None else list(schema.names)
    checked_columns(column_names(path), wanted, drop_others=True)
    rows = read_table(path, wanted)
    truths = Dataset(rows, schema, missing="drop", drop_others=True)
    note_incomplete(rows.num_rows - truths.n_rows, rows.num_rows)
    return truths


def note_incomplete(left_out: int, rows: int, advice: str = "") -> None:
    if left_out:
        note(f"Left out: {left_out:,} of {rows:,} rows, which lack a value.{advice}")
