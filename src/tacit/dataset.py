"""A table of truths: only where someone already holds it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from tacit.display import AsFrame
from tacit.errors import InvalidInput, UnknownName
from tacit.reports import Reports
from tacit.schema import Schema
from tacit.table import Missing, Table, as_arrow, decode, encode, infer_schema, read_table
from tacit.table.columns import checked_columns
from tacit.table.files import column_names
from tacit.table.infer import MissingPolicy


@dataclass(frozen=True, eq=False, init=False)
class Dataset(AsFrame):
    """True records, coded; not what estimators and miners take (the explicit door is `Reports.from_truth`).

    Parameters
    ----------
    data : data frame, dict of lists, or Table
        The records: of pandas, polars, pyarrow, DuckDB, or coded already.
    schema : Schema, optional
        The attributes and their answers; without one the answers are those that occur.
    missing : {"refuse", "answer", "drop", "most-frequent"}
        What missing values mean. With a schema only "refuse" and "drop": which answer one is read as, the schema says.
    marks : tuple of str
        Texts that mean missing, such as "?".
    drop_others : bool
        Leave out columns that the schema does not name; they are refused otherwise.

    Examples
    --------
    >>> from tacit import Dataset
    >>> Dataset({"smokes": ["no", "yes", "no"]}).schema.names
    ('smokes',)
    """

    table: Table

    def __init__(
        self,
        data: Any,
        schema: Schema | None = None,
        *,
        missing: MissingPolicy = "refuse",
        marks: tuple[str, ...] = (),
        drop_others: bool = False,
    ) -> None:
        if isinstance(data, Reports):
            raise InvalidInput(
                "These are reports, not truths. What is true of the crowd, tacit.estimate(reports, ...) says."
            )
        coded = data.table if isinstance(data, Dataset) else data
        if not isinstance(coded, Table):
            coded = _code_table(data, schema, missing=missing, marks=marks, drop_others=drop_others)
        object.__setattr__(self, "table", coded)

    def __repr__(self) -> str:
        return f"<Dataset: {self.n_rows:,} records of {', '.join(self.schema.names)}>"

    @property
    def schema(self) -> Schema:
        return self.table.schema

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    def __len__(self) -> int:
        return self.n_rows

    @classmethod
    def from_arrow(
        cls,
        data: Any,
        schema: Schema | None = None,
        *,
        missing: MissingPolicy = "refuse",
        marks: tuple[str, ...] = (),
        drop_others: bool = False,
    ) -> Dataset:
        """The truths in any data frame: the same as ``Dataset(data, ...)``."""
        return cls(data, schema, missing=missing, marks=marks, drop_others=drop_others)

    @classmethod
    def read(
        cls,
        path: str | Path,
        schema: Schema | None = None,
        *,
        missing: MissingPolicy = "refuse",
        marks: tuple[str, ...] = (),
        drop_others: bool = False,
    ) -> Dataset:
        """The truths in a file: CSV, Parquet, and with the extra `files` SPSS, Stata, SAS and Excel."""
        if schema is not None:
            checked_columns(column_names(path), schema.names, drop_others=drop_others)
        columns = list(schema.names) if schema is not None else None
        return cls(read_table(path, columns), schema, missing=missing, marks=marks, drop_others=drop_others)

    def select(self, names: Iterable[str]) -> Dataset:
        """The records with only these attributes."""
        return Dataset(self.table.select(names))

    def to_arrow(self) -> Any:
        """An Arrow table of answers, which any data frame library takes."""
        return decode(self.table)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def _code_table(
    data: Any, schema: Schema | None, *, missing: MissingPolicy, marks: tuple[str, ...], drop_others: bool
) -> Table:
    if missing not in get_args(MissingPolicy):
        raise UnknownName("Way with missing values", str(missing), get_args(MissingPolicy))
    table = as_arrow(data)
    if table.num_rows == 0:
        raise InvalidInput("The table has no rows: there is nothing to disguise or to learn.")
    if schema is None:
        schema = infer_schema(table, missing=missing, marks=marks)
    coded = encode(table, schema, missing=Missing(marks, drop=missing == "drop"), drop_others=drop_others)
    if coded.n_rows == 0:
        raise InvalidInput("Every row has a missing value, so dropping them leaves nothing.")
    return coded
