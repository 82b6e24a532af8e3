"""Tables of counts under differential privacy: discrete noise of OpenDP on domains that a schema fixes beforehand.

Two inputs are neighbours if one person's rows are in one of them only. A person has at most `rows_per_person` rows, each of which
adds one to one cell of every table; so all tables together change by that many times their number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput, UnknownName
from tacit.extras import require
from tacit.schema import Schema

if TYPE_CHECKING:
    from tacit.publish.release_input import ReleaseInput

MOST_CELLS = 1_000_000
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Budget:
    """What is promised of every person: (epsilon, delta) for all of the person's rows together."""

    epsilon: float
    delta: float = 0.0  # above 0: Gaussian noise in place of Laplace's
    rows_per_person: int = 1

    def __post_init__(self) -> None:
        if not (isinstance(self.epsilon, int | float) and 0 < self.epsilon < math.inf):
            raise InvalidInput(f"epsilon must be a number above 0, not {self.epsilon!r}.")
        if not (isinstance(self.delta, int | float) and 0 <= self.delta < 1):
            raise InvalidInput(f"delta must be a number from 0 and below 1, not {self.delta!r}.")
        rows = self.rows_per_person
        if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
            raise InvalidInput(f"rows_per_person must be a whole number of at least 1, not {rows!r}.")

    @property
    def noise(self) -> str:
        return "discrete Gaussian" if self.delta else "discrete Laplace"


@dataclass(frozen=True, eq=False)
class NoisyTable:
    """Counts of one table with noise; cells may be below 0."""

    attributes: tuple[str, ...]
    counts: NDArray[np.int64]  # one axis per attribute

    def marginal(self, names: Sequence[str]) -> Floats:
        """The counts of some of its attributes, in their order."""
        out = tuple(axis for axis, name in enumerate(self.attributes) if name not in names)
        left = [name for name in self.attributes if name in names]
        return self.counts.sum(axis=out).transpose([left.index(name) for name in names]).astype(np.float64)


@dataclass(frozen=True, eq=False)
class NoisyTables:
    """All that is known of a table from here on."""

    schema: Schema
    tables: tuple[NoisyTable, ...]
    budget: Budget
    scale: float  # of the noise of every cell
    spent: float  # epsilon as OpenDP accounts for it

    @property
    def deviation(self) -> float:
        """The expected absolute noise of a cell."""
        return self.scale * (math.sqrt(2 / math.pi) if self.budget.delta else 1.0)


def named_tables(schema: Schema, tables: Sequence[Sequence[str]] | None) -> tuple[tuple[str, ...], ...]:
    """The tables to be counted: the named ones, or all pairs of the schema's attributes."""
    names = schema.names
    if tables is None:
        if len(names) == 1:
            return ((names[0],),)
        return tuple((a, b) for i, a in enumerate(names) for b in names[i + 1 :])
    chosen = tuple(tuple(table) for table in tables if table)
    for name in (name for table in chosen for name in table):
        if name not in names:
            raise UnknownName("Attribute of the schema", name, names)
    for table in chosen:
        if len(set(table)) < len(table):
            raise InvalidInput(f"The table {','.join(table)!r} names an attribute twice. Name each once.")
    if not chosen:
        raise InvalidInput("Name at least one table, such as 'age,sex;town'.")
    return tuple(dict.fromkeys(chosen))


def measure_tables(
    source: ReleaseInput, tables: Sequence[Sequence[str]], budget: Budget, true_counts: Sequence[NDArray[np.int64]]
) -> NoisyTables:
    """The tables with noise that keeps the budget for all of them together."""
    shapes = [source.schema.shape(table) for table in tables]
    cells = sum(math.prod(shape) for shape in shapes)
    if cells > MOST_CELLS:
        raise InvalidInput(
            f"{len(tables)} tables have {cells:,} cells, more than {MOST_CELLS:,}: nearly all would hold noise alone. Name fewer "
            "or smaller tables, or use coarser answers in the schema."
        )
    vector = np.concatenate([counts.ravel() for counts in true_counts]).astype(np.int64)
    noisy, scale, spent = _with_noise(vector, len(tables), budget)
    ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1]
    parts = [part.reshape(shape) for part, shape in zip(np.split(noisy, ends), shapes, strict=True)]
    return NoisyTables(
        source.schema,
        tuple(NoisyTable(tuple(names), part) for names, part in zip(tables, parts, strict=True)),
        budget,
        scale,
        spent,
    )


def _with_noise(counts: NDArray[np.int64], tables: int, budget: Budget) -> tuple[NDArray[np.int64], float, float]:
    """The counts with OpenDP's noise, its scale, and the epsilon that OpenDP states for it."""
    require("private")
    import opendp.prelude as dp

    dp.enable_features("contrib")
    whole = dp.vector_domain(dp.atom_domain(T="i64"))
    if budget.delta:
        change: Any = budget.rows_per_person * math.sqrt(tables)

        def made(scale: float) -> Any:
            gaussian = dp.m.make_gaussian(whole, dp.l2_distance(T="f64"), scale=scale)
            return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(gaussian), delta=budget.delta)

        wanted: Any = (float(budget.epsilon), budget.delta)
    else:
        change = budget.rows_per_person * tables

        def made(scale: float) -> Any:
            return dp.m.make_laplace(whole, dp.l1_distance(T="i64"), scale=scale)

        wanted = float(budget.epsilon)
    scale = float(dp.binary_search_param(made, d_in=change, d_out=wanted))
    measurement = made(scale)
    spent = measurement.map(change)
    noisy = np.array(measurement(counts.tolist()), np.int64)
    return noisy, scale, float(spent[0] if budget.delta else spent)
