"""The two questions that are ever asked of stored reports.

**Tally:** how many reports show each combination of these columns? **Total:** what is the sum, and the sum of squares,
over reports of a product of one small weight table per group? Everything that is estimated or mined is computed from
their answers, so Tacit scales as far as they do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.channel.scheme import Questionnaire
from tacit.errors import InvalidInput
from tacit.schema import Schema

# A dense tally beyond this does not pay: most of its cells would be empty.
DENSE_CELLS = 1 << 24

# One weight table per group: the columns it looks at, and an array over their slots. A column that shows one answer is
# looked up; a set gives the sum of its members' weights and of the last slot, which counts every report.
Weight = tuple[tuple[str, ...], NDArray[np.float64]]
Product = Sequence[Weight]


@dataclass(frozen=True, eq=False)
class SparseTally:
    """The combinations that occur: ``codes[cell, column]`` and how many rows show each, in ascending order."""

    columns: tuple[str, ...]
    codes: NDArray[np.int64]
    counts: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Totals:
    """For each product of weights: its sum over the reports, and the sum of its squares."""

    sums: NDArray[np.float64]
    squares: NDArray[np.float64]


class CountEngine(Protocol):
    """Answers the two questions about one table of reports."""

    @property
    def schema(self) -> Schema:
        """The columns of the table."""

    @property
    def n_rows(self) -> int: ...

    def tally(self, columns: Sequence[str]) -> NDArray[np.int64]:
        """Counts with one axis per column; a set has a slot per member and a last one that counts every row."""

    def tallies(self, column_sets: Sequence[Sequence[str]]) -> list[NDArray[np.int64]]:
        """Several tallies, in as few passes as possible."""

    def sparse_tally(self, columns: Sequence[str]) -> SparseTally:
        """The occurring combinations of columns that show one answer each, however large their joint domain."""

    def totals(self, products: Sequence[Product]) -> Totals:
        """Sums and sums of squares of products of weights, all in one pass."""


@dataclass(frozen=True, eq=False)
class Source:
    """Reports of one questionnaire, wherever they are stored."""

    questionnaire: Questionnaire
    engine: CountEngine
    prior: Mapping[str, tuple[float, ...]] | None = None  # what the scheme's design assumed, by attribute or group


def checked_cells(schema: Schema, columns: Sequence[str]) -> tuple[int, ...]:
    """The shape of a tally, refused where it would be too large to hold or names a column twice."""
    repeated = next((name for name in columns if list(columns).count(name) > 1), None)
    if repeated is not None:
        raise InvalidInput(f"A tally names the column {repeated!r} twice. Name each column once.")
    shape = tuple(schema[name].tally_size for name in columns)
    cells = float(np.prod(np.array(shape, dtype=np.float64)))
    if cells > DENSE_CELLS:
        raise InvalidInput(
            f"A table over {', '.join(columns)} has {cells:.3g} cells, too many to hold. Ask for fewer attributes at "
            "once, or for single combinations of answers."
        )
    return shape


def checked_single(schema: Schema, columns: Sequence[str]) -> None:
    """Refuse a sparse tally of columns that do not show one answer a row, or of no columns."""
    if not columns:
        raise InvalidInput("A sparse tally needs at least one column.")
    for name in columns:
        if schema[name].shows != "one":
            raise InvalidInput(f"{name!r} shows a set; only columns with one answer have a sparse tally.")
