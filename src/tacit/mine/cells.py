"""The people of a node as cells of one joint estimate: what they number is a sum over cells, and so is its error."""

from __future__ import annotations

import math
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
from tacit.estimate.parts import Part, parts_for
from tacit.estimate.squares import CellSquares, has_disjoint_cells, is_clear, shows_truths
from tacit.mine import _tree_kernels as kernels
from tacit.mine.people import Codes, DisguiseVariances, NodeShares, Path, allowed_codes, independent_variances, narrowed
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
    _stacks: dict[tuple[tuple[frozenset[int], frozenset[int]], ...], Array] = field(default_factory=dict, repr=False)
    _ways_back: dict[tuple[str, str, frozenset[int]], Array | None] = field(default_factory=dict, repr=False)

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

    def stacked(self, wanted: tuple[tuple[frozenset[int], frozenset[int]], ...]) -> Array:
        """Mean squares for several choices of groups, one row each; a tree asks for the same again and again."""
        if wanted not in self._stacks:
            if len(self._stacks) >= KEPT_STACKS:
                self._stacks.pop(next(iter(self._stacks)))
            self._stacks[wanted] = np.stack([self.squares.squares(*groups) for groups in wanted])
        return self._stacks[wanted]

    def way_back(self, name: str, target: str, groups: frozenset[int]) -> Array | None:
        """The matrix from weights of truths to weights of reports, over the pairs of an answer and a class.

        Only in some groups; the others keep truths. None where the reports of such a group do not look like truths.
        """
        if (name, target, groups) not in self._ways_back:
            self._ways_back[name, target, groups] = self._way_back(name, target, groups)
        return self._ways_back[name, target, groups]

    def _way_back(self, name: str, target: str, groups: frozenset[int]) -> Array | None:
        guesses = {part.covered: part.guess for part in self.squares.joint.parts}
        shape = (self.schema[name].size, self.schema[target].size)
        weights = np.eye(math.prod(shape)).reshape(*shape, -1)
        for part in parts_for(self.source.questionnaire, [name, target]):
            if self.parts[part.attributes[0]] not in groups:
                continue
            if not shows_truths(part):
                return None
            axes = [0 if attribute == name else 1 for attribute in part.attributes]
            front = np.moveaxis(weights, axes, range(len(axes)))
            solved = part.estimator.solve_adjoint(front, guesses.get(part.covered))
            weights = np.moveaxis(solved, range(len(axes)), axes)
        return weights.reshape(math.prod(shape), -1)

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
        nothing: frozenset[int] = frozenset()
        wanted = ((nothing, nothing), (touched, nothing), (self._groups, nothing))
        shares, of_classes, of_path = self._by_class(tables.stacked(wanted))
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

    def contrast_variances(self, attribute: Attribute, branches: Sequence[Codes], contrasts: Array) -> Array:
        tables = self.tables
        if tables.is_clear:
            return np.zeros(len(contrasts))
        back = tables.way_back(attribute.name, self.target, self._raw(attribute.name))
        if back is None or not self._sums_hold(self._groups):
            return self._independent_variances(attribute, branches, contrasts)
        weights = np.zeros((attribute.size, self._n_classes, len(contrasts)))
        for position, codes in enumerate(branches):
            weights[list(codes)] = contrasts[:, position].T
        shown, shares = (found[attribute.name].reshape(-1) for found in self._reported)
        of_truths = weights.reshape(len(shares), -1)
        # What a report adds to the contrast, squared, less what the truth does.
        squares = shown @ (back @ of_truths) ** 2 - shares @ of_truths**2
        return np.maximum(squares, 0) / tables.n_reports

    def _independent_variances(self, attribute: Attribute, branches: Sequence[Codes], contrasts: Array) -> Array:
        asked, tables = [[self.target], []], self.tables.conditioned
        found = [tables.tables(narrowed(self.path, attribute, codes), asked) for codes in branches]
        classes, totals = (np.stack([each.respondents_variance for each in kind]) for kind in zip(*found, strict=True))
        return independent_variances(DisguiseVariances(classes, totals), contrasts)

    def _raw(self, attribute: str) -> frozenset[int]:
        """The groups of an attribute and of the class that the path has no condition on: there reports are looked at."""
        return self._touched(attribute, self.target) - self._groups

    @cached_property
    def _reported(self) -> tuple[dict[str, Array], dict[str, Array]]:
        """For every free attribute how often it is shown with each class, and the estimated shares, ``[answer, class]``.

        Both are summed over the same cells in the same order, so that clear data give exact zeros.
        """
        tables, attributes = self.tables, self.tables.schema.attributes
        free = [attributes[place] for place in self._free]
        raw = [self._raw(attribute.name) for attribute in free]
        different = tuple(dict.fromkeys(raw))
        stacked = tables.stacked(tuple((self._groups, groups) for groups in different))
        shown = self._by_answer(stacked, [different.index(groups) for groups in raw])
        shares = self._by_answer(tables.squares.estimates[None], [0] * len(free))
        return (
            {attribute.name: table[: attribute.size] for attribute, table in zip(free, shown, strict=True)},
            {attribute.name: table[: attribute.size] for attribute, table in zip(free, shares, strict=True)},
        )

    def within(self, attribute: Attribute, codes: Codes) -> Self:
        path = narrowed(self.path, attribute, codes)
        place = self.tables.places[attribute.name]
        cells = kernels.chosen_cells(self.cells, self.tables.codes, place, path[attribute.name])
        return type(self)(self.tables, self.target, path, cells)
