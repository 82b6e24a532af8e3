"""The people of a node as cells of one joint estimate: what they number is a sum over cells, and so is its error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.channel.protocol import Array
from tacit.count.protocol import Source
from tacit.estimate.conditioned import ConditionedTables
from tacit.estimate.inversion import inverted
from tacit.estimate.likelihood import most_likely
from tacit.estimate.parts import Part
from tacit.estimate.squares import CellSquares, has_disjoint_cells, is_clear
from tacit.mine import _tree_kernels as kernels
from tacit.mine.people import Codes, DisguiseVariances, NodeShares, Path, allowed_codes, narrowed
from tacit.schema import Attribute, Schema
from tacit.table.coded import code_type


@dataclass(frozen=True, eq=False)
class JointTables:
    """One source whose joint table fits memory: every share is a sum over one estimate of all attributes.

    `estimates` are those of inversion, or the most likely ones; errors are those of inversion all the same.
    """

    source: Source
    schema: Schema
    squares: CellSquares
    cells: NDArray[np.int64]
    estimates: Array

    @classmethod
    def of(cls, source: Source, schema: Schema, *, likelihood: bool = False) -> JointTables:
        squares = CellSquares(inverted(source, schema.names))
        if likelihood:
            fit = most_likely([source], schema.names, lambda name: schema[name].size)
            return cls(source, schema, squares, squares.cells, fit.distribution.reshape(-1)[squares.cells])
        return cls(source, schema, squares, squares.cells, squares.estimates)

    @property
    def n_reports(self) -> int:
        return self.source.engine.n_rows

    @cached_property
    def codes(self) -> NDArray[Any]:
        """``[cell, attribute]``."""
        shape = self.schema.shape()
        columns = np.unravel_index(self.cells, shape)
        return np.stack(columns, axis=1).astype(code_type(max(shape)))

    @cached_property
    def conditioned(self) -> ConditionedTables:
        """For conditions whose errors are no sums over cells."""
        return ConditionedTables(self.source)

    @cached_property
    def parts(self) -> dict[str, int]:
        return {name: self.squares.part_of(name) for name in self.schema.names}

    def part(self, name: str) -> Part:
        """The group of an attribute."""
        return self.squares.joint.parts[self.parts[name]]

    @cached_property
    def places(self) -> dict[str, int]:
        """The position of every attribute in the schema."""
        return {name: place for place, name in enumerate(self.schema.names)}

    @cached_property
    def disjoint(self) -> frozenset[int]:
        """The groups whose mean squares are sums over cells, if conditions on them name single answers."""
        parts = enumerate(self.squares.joint.parts)
        return frozenset(position for position, part in parts if has_disjoint_cells(part))

    @cached_property
    def is_clear(self) -> bool:
        return all(is_clear(part) for part in self.squares.joint.parts)

    def people(self, target: str) -> CellPeople:
        return CellPeople(self, target, {}, np.arange(len(self.cells)))


@dataclass(frozen=True, eq=False)
class CellPeople:
    """People within a path: the positions of their cells among those of the joint estimate."""

    tables: JointTables
    target: str
    path: Path
    cells: NDArray[np.int64]

    @cached_property
    def _target(self) -> int:
        return self.tables.places[self.target]

    @property
    def _classes(self) -> NDArray[Any]:
        return self.tables.codes[:, self._target]

    @property
    def _n_classes(self) -> int:
        return self.tables.schema.attributes[self._target].size

    def _touched(self, *names: str) -> frozenset[int]:
        return frozenset(self.tables.parts[name] for name in (*self.path, *names))

    @cached_property
    def _names_single_answers(self) -> bool:
        return all(mask.sum() == 1 or is_clear(self.tables.part(name)) for name, mask in self.path.items())

    def _sums_hold(self, touched: frozenset[int]) -> bool:
        """Whether mean squares are sums over cells: no disguised group has a condition on several answers at once."""
        return touched <= self.tables.disjoint and self._names_single_answers

    def _by_class(self, values: Array) -> Array:
        return kernels.class_sums(self.cells, self._classes, values, self._n_classes)

    def shares(self) -> NodeShares:
        tables, rows = self.tables, self.tables.n_reports
        classes = self._by_class(tables.estimates)
        size = float(classes.sum())
        if self._sums_hold(self._touched(self.target)):
            squares = self._by_class(tables.squares.squares(self._touched(self.target)))
            size_square = float(tables.squares.squares(self._touched())[self.cells].sum()) if self.path else 1.0
        else:
            squares = tables.conditioned.table(self.path, [self.target]).mean_squares
            size_square = float(tables.conditioned.table(self.path, []).mean_squares) if self.path else 1.0
        return NodeShares(size, _population(size_square, size, rows), classes, _population(squares, classes, rows))

    def by_answer(self) -> list[tuple[Attribute, Array, Codes]]:
        attributes = self.tables.schema.attributes
        left = {place: allowed_codes(self.path, a) for place, a in enumerate(attributes) if place != self._target}
        free = [place for place, codes in left.items() if len(codes) > 1]
        widest = max((attributes[place].size for place in free), default=1)
        sums = kernels.all_answer_sums(
            self.cells, self.tables.codes, self._classes, self.tables.estimates,
            np.array(free, dtype=np.int64), (widest, self._n_classes),
        )  # fmt: skip
        return [
            (attributes[place], table[: attributes[place].size], left[place])
            for place, table in zip(free, sums, strict=True)
        ]

    def disguise_variances(self, attribute: Attribute, branches: Sequence[Codes]) -> DisguiseVariances:
        tables = self.tables
        if tables.is_clear:
            return DisguiseVariances(np.zeros((len(branches), self._n_classes)), np.zeros(len(branches)))
        single = all(len(codes) == 1 for codes in branches) or is_clear(tables.part(attribute.name))
        if single and self._sums_hold(self._touched(attribute.name, self.target)):
            classes = self._excess(attribute, branches, self._touched(attribute.name, self.target))
            totals = self._excess(attribute, branches, self._touched(attribute.name)).sum(axis=1)
            return DisguiseVariances(
                np.maximum(classes, 0) / tables.n_reports, np.maximum(totals, 0) / tables.n_reports
            )
        asked = [[self.target], []]
        found = [tables.conditioned.tables(narrowed(self.path, attribute, codes), asked) for codes in branches]
        return DisguiseVariances(
            np.stack([by_class.respondents_variance for by_class, _ in found]),
            np.stack([whole.respondents_variance for _, whole in found]),
        )

    def _excess(self, attribute: Attribute, branches: Sequence[Codes], touched: frozenset[int]) -> Array:
        """Mean squares less shares, ``[branch, class]``: both run over the same cells, so clear data give exact zeros."""
        tables = self.tables
        excess = tables.squares.squares(touched) - tables.squares.estimates
        column = tables.codes[:, tables.places[attribute.name]]
        shape = (attribute.size, self._n_classes)
        by_answer = kernels.answer_sums(self.cells, column, self._classes, excess, shape)
        return np.stack([by_answer[list(codes)].sum(axis=0) for codes in branches])

    def within(self, attribute: Attribute, codes: Codes) -> Self:
        path = narrowed(self.path, attribute, codes)
        column = self.tables.codes[:, self.tables.places[attribute.name]]
        cells = kernels.chosen_cells(self.cells, column, path[attribute.name])
        return type(self)(self.tables, self.target, path, cells)


def _population(squares: Any, shares: Any, rows: int) -> Any:
    return np.maximum(squares - shares**2, 0) / max(rows - 1, 1)
