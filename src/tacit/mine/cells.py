"""The people of a node as cells of one joint estimate: what they number is a sum over cells, and so is its error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tacit.channel.protocol import Array
from tacit.count.protocol import Source
from tacit.estimate.conditioned import ConditionedTable, ConditionedTables
from tacit.estimate.inversion import inverted
from tacit.estimate.likelihood import most_likely
from tacit.estimate.parts import Part
from tacit.estimate.squares import CellSquares, has_disjoint_cells, is_clear
from tacit.mine import _tree_kernels as kernels
from tacit.mine.people import Codes, DisguiseVariances, NodeShares, Path, allowed_codes, narrowed
from tacit.schema import Attribute, Schema
from tacit.table.coded import code_type

KEPT_STACKS = 16


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
    _stacks: dict[tuple[frozenset[int], ...], Array] = field(default_factory=dict, repr=False)

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

    def stacked(self, conditioned: tuple[frozenset[int], ...]) -> Array:
        """Mean squares for several sets of groups with a condition, one row each; a tree asks for the same again and again."""
        if conditioned not in self._stacks:
            if len(self._stacks) >= KEPT_STACKS:
                self._stacks.pop(next(iter(self._stacks)))
            self._stacks[conditioned] = np.stack([self.squares.squares(groups) for groups in conditioned])
        return self._stacks[conditioned]

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
        """The position of every attribute's group."""
        return {name: self.squares.part_of(name) for name in self.schema.names}

    @cached_property
    def groups(self) -> list[int]:
        """The same, in the order of the attributes."""
        return list(self.parts.values())

    def part(self, name: str) -> Part:
        """The group of an attribute."""
        return self.squares.joint.parts[self.parts[name]]

    @cached_property
    def places(self) -> dict[str, int]:
        """The position of every attribute in the schema."""
        return {name: place for place, name in enumerate(self.schema.names)}

    @cached_property
    def widest(self) -> int:
        """The largest number of answers."""
        return max(self.schema.shape())

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
    def _n_classes(self) -> int:
        return self.tables.schema.attributes[self._target].size

    @cached_property
    def _groups(self) -> frozenset[int]:
        """The groups that the path has a condition on."""
        return frozenset(self.tables.parts[name] for name in self.path)

    def _touched(self, *names: str) -> frozenset[int]:
        return self._groups.union([self.tables.parts[name] for name in names])

    @cached_property
    def _names_single_answers(self) -> bool:
        return all(mask.sum() == 1 or is_clear(self.tables.part(name)) for name, mask in self.path.items())

    def _sums_hold(self, touched: frozenset[int]) -> bool:
        """Whether mean squares are sums over cells: no disguised group has a condition on several answers at once."""
        return touched <= self.tables.disjoint and self._names_single_answers

    def shares(self) -> NodeShares:
        tables = self.tables
        (classes,) = self._by_class(tables.estimates[None])
        by_class, whole = self._counted()
        return NodeShares(
            float(classes.sum()) if self.path else 1.0,
            float(whole.population_variance) if self.path else 0.0,
            classes,
            by_class.population_variance,
            DisguiseVariances(by_class.respondents_variance, whole.respondents_variance),
        )

    def _by_class(self, values: Array) -> Array:
        return kernels.class_sums(self.cells, self.tables.codes, self._target, values, self._n_classes)

    def _counted(self) -> Sequence[ConditionedTable]:
        """The estimates by inversion with their mean squares: of each class, and of the whole node."""
        tables, rows = self.tables, self.tables.n_reports
        touched = self._touched(self.target)
        if not self._sums_hold(touched):
            return tables.conditioned.tables(self.path, [[self.target], []])
        shares, of_classes, of_path = self._by_class(tables.stacked((frozenset(), touched, self._touched())))
        return [
            ConditionedTable(shares, of_classes, rows),
            ConditionedTable(shares.sum(), of_path.sum(), rows),
        ]

    @cached_property
    def _free(self) -> dict[int, Codes]:
        """The answers that are left of every attribute with a choice, by position."""
        attributes = enumerate(self.tables.schema.attributes)
        left = {place: allowed_codes(self.path, attribute) for place, attribute in attributes if place != self._target}
        return {place: codes for place, codes in left.items() if len(codes) > 1}

    @cached_property
    def _free_places(self) -> NDArray[np.int64]:
        return np.array(list(self._free), dtype=np.int64)

    @property
    def _shape(self) -> tuple[int, int]:
        return self.tables.widest, self._n_classes

    def _by_answer(self, values: Array, which: Sequence[int]) -> Array:
        """For every free attribute the sums ``[answer, class]`` of one of several rows of values."""
        tables, chosen = self.tables, np.array(which, dtype=np.int64)
        return kernels.all_answer_sums(
            self.cells, tables.codes, self._target, values, self._free_places, chosen, self._shape
        )

    def by_answer(self) -> list[tuple[Attribute, Array, Codes]]:
        attributes = self.tables.schema.attributes
        sums = self._by_answer(self.tables.estimates[None], [0] * len(self._free))
        return [
            (attributes[place], table[: attributes[place].size], codes)
            for (place, codes), table in zip(self._free.items(), sums, strict=True)
        ]

    def disguise_variances(self, attribute: Attribute, branches: Sequence[Codes]) -> DisguiseVariances:
        tables = self.tables
        if tables.is_clear:
            return DisguiseVariances(np.zeros((len(branches), self._n_classes)), np.zeros(len(branches)))
        single = all(len(codes) == 1 for codes in branches) or is_clear(tables.part(attribute.name))
        if single and self._sums_hold(self._touched(attribute.name, self.target)):
            classes, totals = (found[attribute.name] for found in self._excesses)
            if len(branches) == attribute.size:  # every answer has its branch
                return DisguiseVariances(classes, totals)
            return DisguiseVariances(_by_branch(classes, branches), _by_branch(totals, branches))
        asked = [[self.target], []]
        found = [tables.conditioned.tables(narrowed(self.path, attribute, codes), asked) for codes in branches]
        return DisguiseVariances(
            np.stack([by_class.respondents_variance for by_class, _ in found]),
            np.stack([whole.respondents_variance for _, whole in found]),
        )

    @cached_property
    def _excesses(self) -> tuple[dict[str, Array], dict[str, Array]]:
        """Variances of the disguise for every free attribute: ``[answer, class]``, and ``[answer]`` of all classes.

        Mean squares and shares are summed over the same cells in the same order, so that clear data give exact zeros.
        """
        rows, attributes = self.tables.n_reports, self.tables.schema.attributes
        shares = self._by_answer(self.tables.squares.estimates[None], [0] * len(self._free))
        classes = np.maximum(self._squares([self.target]) - shares, 0) / rows
        totals = np.maximum((self._squares([]) - shares).sum(axis=2), 0) / rows
        free = [attributes[place] for place in self._free]
        return (
            {attribute.name: table[: attribute.size] for attribute, table in zip(free, classes, strict=True)},
            {attribute.name: table[: attribute.size] for attribute, table in zip(free, totals, strict=True)},
        )

    def _squares(self, more: Sequence[str]) -> Array:
        tables = self.tables
        with_more = self._touched(*more)
        touched = [with_more.union((tables.groups[place],)) for place in self._free]
        different = tuple(dict.fromkeys(touched))
        return self._by_answer(tables.stacked(different), [different.index(groups) for groups in touched])

    def within(self, attribute: Attribute, codes: Codes) -> Self:
        path = narrowed(self.path, attribute, codes)
        place = self.tables.places[attribute.name]
        cells = kernels.chosen_cells(self.cells, self.tables.codes, place, path[attribute.name])
        return type(self)(self.tables, self.target, path, cells)


def _by_branch(by_answer: Array, branches: Sequence[Codes]) -> Array:
    """Sums over the answers of each branch: each has one, or nothing is disguised."""
    return np.stack([by_answer[list(codes)].sum(axis=0) for codes in branches])
