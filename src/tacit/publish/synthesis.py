"""Synthetic rows that promise epsilon instead of k: drawn from a tree-structured model of noisy tables alone.

Everything after the noise works on the noisy tables and the schema, so it costs no privacy: which pairs of attributes the tree
joins, the shares that the tables agree on, and the rows that are drawn.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tacit.dataset import Dataset
from tacit.errors import InvalidInput
from tacit.publish.anonymous_table import as_text_columns
from tacit.publish.noisy_tables import Budget, NoisyTables, measure_tables, named_tables
from tacit.publish.opening import Wanted, open_input
from tacit.publish.released_rows import ReleasedColumns
from tacit.publish.writing import write_synthetic
from tacit.schema import Schema
from tacit.table import as_arrow, read_table

if TYPE_CHECKING:
    from tacit.publish.release_input import ReleaseInput
    from tacit.table.infer import MissingPolicy

Floats = NDArray[np.float64]
Edge = tuple[str, str]
ROUNDS = 100  # of fitting a pair's shares to those of its two attributes


@dataclass(frozen=True, eq=False)
class TreeModel:
    """A distribution of whole records: the attributes in an order in which each depends on at most one before it."""

    schema: Schema
    names: tuple[str, ...]
    parents: tuple[str | None, ...]
    shares: tuple[Floats, ...]  # of a root: [answer]; of others: [answer of the parent, answer]
    rows: int

    @property
    def edges(self) -> list[Edge]:
        return [(parent, name) for name, parent in zip(self.names, self.parents, strict=True) if parent is not None]

    def draw(self, rows: int, rng: np.random.Generator) -> dict[str, NDArray[np.int64]]:
        """Records as codes."""
        codes: dict[str, NDArray[np.int64]] = {}
        for name, parent, shares in zip(self.names, self.parents, self.shares, strict=True):
            steps = np.cumsum(np.atleast_2d(shares), axis=1)
            steps[:, -1] = np.inf  # sums that rounding left below 1
            row = np.zeros(rows, np.int64) if parent is None else codes[parent]
            draws, codes[name] = rng.random(rows), np.empty(rows, np.int64)
            for answer in np.unique(row):
                here = row == answer
                codes[name][here] = np.searchsorted(steps[answer], draws[here], side="right")
        return codes


@dataclass(frozen=True, eq=False)
class SyntheticRelease:
    """Synthetic rows with what they promise; `losses` is for the publisher's eyes, since it was measured on the real rows."""

    noisy: NoisyTables
    model: TreeModel
    rows: dict[str, NDArray[np.int64]]
    losses: dict[tuple[str, ...], float]  # of each table: total variation between the real rows and the synthetic ones
    dropped_rows: int  # beyond the rows that a person may have
    warnings: tuple[str, ...]

    @property
    def mean_loss(self) -> float:
        return float(np.mean(list(self.losses.values())))

    def batches(self) -> Iterator[pa.Table]:
        """The synthetic rows, sorted by their texts."""
        schema = self.model.schema
        names = [name for name in schema.names if name in self.rows]
        columns = ReleasedColumns({name: schema[name].answers for name in names})
        return columns.in_order([{name: self.rows[name] for name in names}])

    def to_arrow(self) -> pa.Table:
        """The synthetic rows as an Arrow table."""
        return pa.concat_tables(map(as_text_columns, self.batches()))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def write(self, path: str | Path) -> Path:
        """Write the rows, and ``PATH.manifest.json`` with the promise and the noisy tables."""
        return write_synthetic(self, Path(path))

    def public_manifest(self) -> dict[str, Any]:
        """What a reader needs; all of it follows from the noisy tables and the schema."""
        from tacit import __version__

        budget = self.noisy.budget
        return {
            "format": "tacit-synthetic/1",
            "tacit": __version__,
            "epsilon": budget.epsilon,
            "delta": budget.delta,
            "noise": budget.noise,
            "scale": self.noisy.scale,
            "rows_per_person": budget.rows_per_person,
            "columns": [name for name in self.model.schema.names if name in self.rows],
            "released": self.model.rows,
            "tree": [list(edge) for edge in self.model.edges],
            "tables": [
                {"attributes": list(table.attributes), "counts": table.counts.tolist()} for table in self.noisy.tables
            ],
        }

    def to_document(self) -> dict[str, Any]:
        """The answer as JSON, for the publisher; `loss` must not be published."""
        public = self.public_manifest()
        tables = [
            {"attributes": list(names), "total_variation": loss, "scale": self.noisy.scale}
            for names, loss in self.losses.items()
        ]
        kept = ("epsilon", "delta", "noise", "scale", "rows_per_person", "tree")
        return (
            {"method": "private"}
            | {name: public[name] for name in kept}
            | {
                "rows": self.model.rows,
                "spent": self.noisy.spent,
                "tables": tables,
                "loss": {"mean": self.mean_loss, "not_to_be_published": True},
                "dropped_rows": self.dropped_rows,
                "warnings": list(self.warnings),
            }
        )

    def describe(self) -> str:
        """The release in words."""
        budget = self.noisy.budget
        whom = "a person's row" if budget.rows_per_person == 1 else f"up to {budget.rows_per_person} rows of a person"
        promise = f"epsilon = {budget.epsilon:g}" + (f" and delta = {budget.delta:g}" if budget.delta else "")
        joined = ", ".join(f"{a} and {b}" for a, b in self.model.edges) or "nothing"
        lines = [
            f"{self.model.rows:,} synthetic rows with {promise} for {whom}; k is not promised, and not needed.",
            f"{len(self.noisy.tables)} tables were counted with {budget.noise} noise of scale {self.noisy.scale:.3g} per cell.",
            f"The tree joins {joined}.",
            f"For your eyes only, since it was measured on the real rows: tables are off by {self.mean_loss:.1%} of the rows on "
            "average.",
        ]
        return "\n".join([*lines, *(f"Note: {warning}" for warning in self.warnings)])


def synthesize(
    data: Any,
    epsilon: float,
    schema: Schema,
    tables: Sequence[Sequence[str]] | None = None,
    *,
    delta: float = 0.0,
    person: str | None = None,
    rows_per_person: int = 1,
    missing: MissingPolicy = "refuse",
) -> SyntheticRelease:
    """Synthetic rows under differential privacy: noisy tables, and a tree-structured model of them that rows are drawn from.

    Parameters
    ----------
    data
        A file, a data frame, a Dataset or a database table.
    epsilon, delta
        The promise for all rows of a person together. With a delta above 0 the noise is Gaussian instead of Laplace's.
    schema
        The attributes and their answers, fixed before anybody looked at the data.
    tables
        The tables that are counted with noise; by default all pairs of attributes. Attributes in no table are not released.
    person, rows_per_person
        The column that says whose row it is, and how many rows of each person are used, drawn at random. Without the column
        nobody may have more rows than that.
    missing
        What empty values are: refused, or a reason to drop the row.

    Returns
    -------
    SyntheticRelease
        The rows, the model, the noisy tables, and the measured loss, which is not for publication.

    Raises
    ------
    InvalidInput
        Where the settings contradict each other or the table does not fit the schema.

    Examples
    --------
    >>> from tacit.publish import synthesize
    >>> from tacit.schema import Attribute, Schema
    >>> schema = Schema((Attribute("smokes", ("no", "yes")), Attribute("coughs", ("no", "yes"))))
    >>> people = {"smokes": ["no", "yes"] * 500, "coughs": ["no", "yes"] * 500}
    >>> sorted(synthesize(people, 1.0, schema).to_arrow().column_names)
    ['coughs', 'smokes']
    """
    budget = Budget(epsilon, delta, rows_per_person)
    chosen = named_tables(schema if person is None else _without(schema, person), tables)
    used = schema.select([name for name in schema.names if any(name in table for table in chosen)])
    source, dropped = _bounded_input(data, used, person, rows_per_person, missing)
    true = source.tallies(chosen)
    noisy = measure_tables(source, chosen, budget, true)
    model = fitted_tree(noisy)
    rows = model.draw(model.rows, np.random.default_rng())  # seeded by the operating system
    losses = {names: _distance(counts, rows, names) for names, counts in zip(chosen, true, strict=True)}
    return SyntheticRelease(noisy, model, rows, losses, dropped, tuple(_warnings(schema, used, noisy, model, person)))


def _without(schema: Schema, person: str) -> Schema:
    return schema.select([name for name in schema.names if name != person])


def _bounded_input(
    data: Any, schema: Schema, person: str | None, rows_per_person: int, missing: MissingPolicy
) -> tuple[ReleaseInput, int]:
    """The rows that are counted: of each person no more than are allowed, drawn at random; and how many that left out."""
    if isinstance(data, Dataset):
        data = as_arrow(data)  # its own schema may have been found from the data
    if person is None:
        return open_input(data, schema, missing=missing, wanted=Wanted(tuple(schema.names))), 0
    table = read_table(data, [*schema.names, person]) if isinstance(data, str | Path) else as_arrow(data)
    if person not in table.column_names:
        raise InvalidInput(
            f"There is no column {person!r} that could say whose row it is. Name one of the table's columns."
        )
    ids = table.column(person).combine_chunks().dictionary_encode(null_encoding="encode").indices.to_numpy()
    order = np.lexsort((np.random.default_rng().random(len(ids)), ids))
    first = np.flatnonzero(np.concatenate([[True], np.diff(ids[order]) > 0]))
    rank = np.arange(len(ids)) - np.repeat(first, np.diff(np.append(first, len(ids))))
    used = np.sort(order[rank < rows_per_person])
    return open_input(table.take(used), schema, missing=missing), len(ids) - len(used)


def fitted_tree(noisy: NoisyTables) -> TreeModel:
    """The tree-structured distribution nearest to the noisy tables."""
    schema = noisy.schema
    pairs = _pairs(noisy)
    total = max(1.0, float(np.mean([table.counts.sum() for table in noisy.tables])))
    ones = {name: _shares_of(noisy, name) for name in schema.names}
    edges = _spanning(schema, pairs, ones, total, noisy.deviation)
    names, parents = _oriented_edges(schema, edges)
    tables = []
    for name, parent in zip(names, parents, strict=True):
        if parent is None:
            tables.append(ones[name])
            continue
        pair = pairs[(parent, name)] if (parent, name) in pairs else pairs[(name, parent)].T
        joint = _agreeing(projected_counts(pair / total), ones[parent], ones[name])
        sums = joint.sum(axis=1, keepdims=True)
        tables.append(np.divide(joint, sums, out=np.tile(ones[name], (len(sums), 1)), where=sums > 0))
    return TreeModel(schema, tuple(names), tuple(parents), tuple(tables), max(1, round(total)))


def _pairs(noisy: NoisyTables) -> dict[Edge, Floats]:
    """Counts of every pair of attributes that some table holds; of several tables the one that sums fewest cells."""
    pairs: dict[Edge, Floats] = {}
    for table in sorted(noisy.tables, key=lambda own: own.counts.size):
        for edge in itertools.combinations(table.attributes, 2):
            if edge not in pairs and edge[::-1] not in pairs:
                pairs[edge] = table.marginal(edge)
    return pairs


def _shares_of(noisy: NoisyTables, name: str) -> Floats:
    """The shares of one attribute: the mean over the tables that hold it, each weighted by the noise that its cells sum."""
    parts = [table for table in noisy.tables if name in table.attributes]
    weights = [noisy.schema[name].size / table.counts.size for table in parts]
    counts = np.average([table.marginal([name]) for table in parts], axis=0, weights=weights)
    return projected_counts(counts / max(1.0, float(counts.sum())))


def projected_counts(shares: Floats) -> Floats:
    """The nearest distribution, by squared distance: everything lowered by the same amount and cut off at 0."""
    flat = np.sort(shares.ravel())[::-1]
    excess = (np.cumsum(flat) - 1) / np.arange(1, flat.size + 1)
    lowered = excess[np.flatnonzero(flat - excess > 0)[-1]]
    return np.maximum(shares - lowered, 0.0)


def _spanning(
    schema: Schema, pairs: dict[Edge, Floats], ones: dict[str, Floats], total: float, deviation: float
) -> list[Edge]:
    """The edges of a tree, strongest dependence first; a dependence that noise alone would show joins nothing."""
    strength = {}
    for (a, b), counts in pairs.items():
        apart = np.abs(counts / total - np.outer(ones[a], ones[b])).sum() / 2
        strength[(a, b)] = float(apart - counts.size * deviation / total / 2)
    group = {name: name for name in schema.names}
    edges = []
    for edge in sorted(strength, key=lambda each: -strength[each]):
        a, b = (group[name] for name in edge)
        if strength[edge] > 0 and a != b:
            edges.append(edge)
            group = {name: a if group_name == b else group_name for name, group_name in group.items()}
    return edges


def _oriented_edges(schema: Schema, edges: list[Edge]) -> tuple[list[str], list[str | None]]:
    """The attributes, each after the one it depends on."""
    names: list[str] = []
    parents: list[str | None] = []
    for root in schema.names:
        waiting: list[tuple[str, str | None]] = [] if root in names else [(root, None)]
        while waiting:
            name, parent = waiting.pop()
            names.append(name)
            parents.append(parent)
            near = [b if a == name else a for a, b in edges if name in (a, b)]
            waiting += [(other, name) for other in near if other != parent]
    return names, parents


def _agreeing(joint: Floats, rows: Floats, columns: Floats) -> Floats:
    """A pair's shares scaled until they sum to those of both attributes (iterative proportional fitting)."""
    floor = joint + 1e-9 * np.outer(rows, columns)  # a margin that the noise left empty can still be filled
    for _ in range(ROUNDS):
        floor *= np.divide(rows, floor.sum(axis=1), out=np.zeros_like(rows), where=floor.sum(axis=1) > 0)[:, None]
        sums = floor.sum(axis=0)
        floor *= np.divide(columns, sums, out=np.zeros_like(columns), where=sums > 0)
    return floor


def _distance(counts: NDArray[np.int64], rows: dict[str, NDArray[np.int64]], names: tuple[str, ...]) -> float:
    """Total variation between a true table and that of the synthetic rows."""
    cells = np.ravel_multi_index([rows[name] for name in names], counts.shape)
    drawn = np.bincount(cells, minlength=counts.size) / len(cells)
    return float(np.abs(drawn - counts.ravel() / max(1, counts.sum())).sum() / 2)


def _warnings(schema: Schema, used: Schema, noisy: NoisyTables, model: TreeModel, person: str | None) -> Iterator[str]:
    left_out = [name for name in schema.names if name not in used.names and name != person]
    if left_out:
        yield f"{', '.join(left_out)} are in no table and are not released."
    if person is None and noisy.budget.rows_per_person == 1:
        yield "Each row is taken for another person's. If somebody has several, name the column (--person) or --rows-per-person."
    if person is None and noisy.budget.rows_per_person > 1:
        most = noisy.budget.rows_per_person
        yield f"That nobody has more than {most} rows was taken on trust. Name the column (--person) to see to it."
    cell = noisy.deviation / model.rows
    if cell > 0.01:
        yield f"The noise of a cell is about {cell:.1%} of all rows. Name fewer tables, or allow a larger epsilon."
