"""A table of truths: only where someone already holds it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from tacit.errors import InvalidInput, UnknownName
from tacit.schema import Schema
from tacit.table import Missing, Table, as_arrow, decode, encode, infer_schema, read_table
from tacit.table.columns import checked_columns
from tacit.table.files import column_names
from tacit.table.infer import MissingPolicy


@dataclass(frozen=True, eq=False)
class Dataset:
    """True records, coded; not what estimators and miners take (the explicit door is `Reports.from_truth`).

    Parameters
    ----------
    table : Table
        The coded records; `from_arrow` and `read` make it.

    Examples
    --------
    >>> from tacit import Dataset
    >>> Dataset.from_arrow({"smokes": ["no", "yes", "no"]}).schema.names
    ('smokes',)
    """

    table: Table

    def __post_init__(self) -> None:
        if not isinstance(self.table, Table):
            raise InvalidInput(
                f"A Dataset holds coded records, not {type(self.table).__name__}: Dataset.from_arrow(frame) reads a data frame "
                "and Dataset.read(path) a file."
            )

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
        """The truths in any data frame; without a schema it is inferred.

        With a schema, `missing` may be "refuse" or "drop": which answer a missing value is read as, the schema says.
        """
        if missing not in get_args(MissingPolicy):
            raise UnknownName("Way with missing values", str(missing), get_args(MissingPolicy))
        table = as_arrow(data)
        if table.num_rows == 0:
            raise InvalidInput("The table has no rows: there is nothing to disguise or to learn.")
        if schema is None:
            schema = infer_schema(table, missing=missing, marks=marks)
        policy = Missing(marks, drop=missing == "drop")
        coded = encode(table, schema, missing=policy, drop_others=drop_others)
        if coded.n_rows == 0:
            raise InvalidInput("Every row has a missing value, so dropping them leaves nothing.")
        return cls(coded)

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
        """The truths in a CSV or Parquet file."""
        if schema is not None:
            checked_columns(column_names(path), schema.names, drop_others=drop_others)
        columns = list(schema.names) if schema is not None else None
        return cls.from_arrow(read_table(path, columns), schema, missing=missing, marks=marks, drop_others=drop_others)

    def select(self, names: Iterable[str]) -> Dataset:
        """The records with only these attributes."""
        return Dataset(self.table.select(names))

    def to_arrow(self) -> Any:
        """An Arrow table of answers, which any data frame library takes."""
        return decode(self.table)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)
