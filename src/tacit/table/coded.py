"""The table itself: one array of codes per attribute."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput
from tacit.schema import Attribute, Schema


@dataclass(frozen=True, eq=False)
class Table:
    """Rows as codes: column by column, in the smallest unsigned type.

    A column that shows one answer is a vector; one that shows a set holds the member codes of each row (rows x members);
    one that shows bits holds a truth value per answer (rows x answers).
    """

    schema: Schema
    columns: Mapping[str, NDArray[Any]]

    def __post_init__(self) -> None:
        lengths = {name: len(self.columns[name]) for name in self.schema.names if name in self.columns}
        missing = [name for name in self.schema.names if name not in self.columns]
        if missing:
            raise InvalidInput(f"The column {missing[0]!r} is missing from the table.")
        if len(set(lengths.values())) > 1:
            raise InvalidInput(f"The columns of a table must have one length, not {lengths}.")

    @property
    def n_rows(self) -> int:
        return len(self.columns[self.schema.names[0]]) if len(self.schema) else 0

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[self.schema[name].name]

    def select(self, names: Iterable[str]) -> Table:
        """The table with only these attributes, in this order."""
        schema = self.schema.select(names)
        return Table(schema, {name: self.columns[name] for name in schema.names})

    def rows(self, which: NDArray[Any] | slice) -> Table:
        """The rows of a mask, of an array of positions, or of a slice."""
        return Table(self.schema, {name: self.columns[name][which] for name in self.schema.names})

    @staticmethod
    def concatenate(tables: Sequence[Table]) -> Table:
        """Tables with one schema, one after the other."""
        if not tables:
            raise InvalidInput("There are no tables to put one after the other.")
        if any(table.schema != tables[0].schema for table in tables):
            raise InvalidInput("Only tables with the same schema can be put one after the other.")
        names = tables[0].schema.names
        return Table(
            tables[0].schema, {name: np.concatenate([table.columns[name] for table in tables]) for name in names}
        )

    @classmethod
    def from_codes(cls, schema: Schema, columns: Mapping[str, Any]) -> Table:
        """A table of codes that are checked to lie within their attributes."""
        checked = {}
        for attribute in schema:
            if attribute.name not in columns:
                raise InvalidInput(f"The column {attribute.name!r} is missing from the table.")
            checked[attribute.name] = checked_codes(attribute, np.asarray(columns[attribute.name]))
        return cls(schema, checked)


# A column of a table with some rows is an id where its values are nearly as many.
FEW_ROWS, APART = 20, 0.9


def tells_rows_apart(table: Table, name: str) -> bool:
    """Whether a column, such as an id, is different for nearly everyone, so that it has no share to estimate."""
    return len(table) >= FEW_ROWS and table.schema[name].size > APART * len(table)


def code_type(size: int) -> type[np.uint8] | type[np.uint16] | type[np.uint32]:
    """The smallest type that holds codes below `size`."""
    return np.uint8 if size <= 1 << 8 else np.uint16 if size <= 1 << 16 else np.uint32


def checked_codes(attribute: Attribute, codes: NDArray[Any]) -> NDArray[Any]:
    """The codes of one column in their smallest type, refused where they do not fit the attribute."""
    name, size = attribute.name, attribute.size
    if codes.ndim != (1 if attribute.shows == "one" else 2):
        raise InvalidInput(
            f"The codes of {name!r} have {codes.ndim} dimension(s); a column showing {attribute.shows} "
            f"needs {1 if attribute.shows == 'one' else 2}."
        )
    if codes.dtype.kind not in "iub":
        raise InvalidInput(f"The codes of {name!r} must be whole numbers, not {codes.dtype}.")
    if attribute.shows == "hashed":
        return _checked_hashed(attribute, codes)
    bound = 2 if attribute.shows == "bits" else size
    if codes.size and not (codes.min() >= 0 and codes.max() < bound):
        bad = codes[(codes < 0) | (codes >= bound)].flat[0]
        raise InvalidInput(f"{name!r} has the codes 0 to {bound - 1}, not {bad}.")
    return codes.astype(np.bool_ if attribute.shows == "bits" else code_type(size))


def _checked_hashed(attribute: Attribute, codes: NDArray[Any]) -> NDArray[np.uint32]:
    from tacit.table.hashed import Hashing

    hashing = Hashing.of(attribute)
    bounds = (hashing.buckets, 1 << hashing.width, 1 << hashing.width)
    if codes.shape[1] != 3 or (codes < 0).any() or (codes >= bounds).any():
        raise InvalidInput(
            f"Each row of {attribute.name!r} needs a bucket below {bounds[0]:,}, a factor and a shift below {bounds[1]:,}."
        )
    return codes.astype(np.uint32)
