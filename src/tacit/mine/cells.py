"""The people of a node as cells of one joint estimate: what they number is a sum over cells, and so is its error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.count.protocol import Source
from tacit.estimation.cell_errors import CellSquares, has_disjoint_cells, shows_truths
from tacit.estimation.conditional_tables import ConditionedTable, ConditionedTables
from tacit.estimation.group_parts import Part, parts_for
from tacit.estimation.inversion import inverted
from tacit.estimation.likelihood import has_orbits, most_likely
from tacit.mine import _tree_kernels as kernels
from tacit.mine.people import Codes, DisguiseVariances, NodeShares, Path, allowed_codes, independent_variances, narrowed
from tacit.schema import Attribute, Schema
from tacit.table.coded import code_type

KEPT_STACKS = 16

Method = Literal["auto", "inversion", "likelihood"]
METHODS = ("auto", "inversion", "likelihood")
# Where inversion takes away more than this share of all people, in cells of which it finds fewer than none, the likelihood
# estimate makes the better trees (chosen by experiment: docs/notes/tree-guards.md).
MOST_NEGATIVE = 0.5
LIKELIHOOD_TOLERANCE = 1e-6  # of the log-likelihood per report; no split hangs on less

# For each wanted row of mean squares the groups with a condition, and those whose reports are looked at.
Wanted = tuple[tuple[frozenset[int], frozenset[int]], ...]


@dataclass(frozen=True, eq=False)
class Looks:
    """Which groups' reports are looked at for each attribute together with the class: those without a condition."""

    raw: list[frozenset[int]]  # by position of the attribute
    wanted: Wanted  # the different ones of them
    rows: NDArray[np.int64]  # and where among those each attribute finds its own


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
    _stacks: dict[Wanted, Array] = field(default_factory=dict, repr=False)
    _ways_back: dict[tuple[str, str, frozenset[int]], Array | None] = field(default_factory=dict, repr=False)
    _looks: dict[tuple[str, frozenset[int]], Looks] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, source: Source, schema: Schema, method: Method) -> JointTables:
        squares = CellSquares(inverted(source, schema.names))
        if method == "inversion" or (method == "auto" and not _likelihood_pays(squares)):
            return cls(source, schema, squares, squares.cells, squares.estimates)
        fit = most_likely([source], schema.names, lambda name: schema[name].size, tolerance=LIKELIHOOD_TOLERANCE)
        return cls(source, schema, squares, squares.cells, fit.distribution.reshape(-1)[squares.cells])

    @cached_property
    def n_reports(self) -> int:
        return self.source.engine.n_rows

    def stacked(self, wanted: Wanted) -> Array:
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

    def looks(self, target: str, conditioned: frozenset[int]) -> Looks:
        """What is looked at in place of truths, of each attribute and a class, below a path with some conditions."""
        if (target, conditioned) not in self._looks:
            of_class = self.parts[target]
            raw = [frozenset((part, of_class)) - conditioned for part in self.groups]
            different = tuple(dict.fromkeys(raw))
            rows = np.array([different.index(groups) for groups in raw], dtype=np.int64)
            self._looks[target, conditioned] = Looks(raw, tuple((conditioned, groups) for groups in different), rows)
        return self._looks[target, conditioned]

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
        return all(part.channel.is_clear for part in self.squares.joint.parts)

    @cached_property
    def is_inverted(self) -> bool:
        """Whether the estimates are those of inversion, to which the errors belong."""
        return self.estimates is self.squares.estimates

    def people(self, target: str) -> CellPeople:
        others = enumerate(self.schema.attributes)
        free = {place: tuple(range(each.size)) for place, each in others if each.name != target}
        return CellPeople(self, target, {}, np.arange(len(self.cells)), free)


@dataclass(frozen=True, eq=False)
class CellPeople:
    """People within a path: the positions of their cells among those of the joint estimate.

    `free` holds the answers that are left of every attribute with a choice, by position.
    """

    tables: JointTables
    target: str
    path: Path
    cells: NDArray[np.int64]
    free: Mapping[int, Codes]

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

    @cached_property
    def _names_single_answers(self) -> bool:
        tables = self.tables
        return all(tables.places[name] not in self.free or tables.part(name).channel.is_clear for name in self.path)

    def _sums_hold(self, touched: frozenset[int]) -> bool:
        """Whether mean squares are sums over cells: no disguised group has a condition on several answers at once."""
        return touched <= self.tables.disjoint and self._names_single_answers

    def shares(self) -> NodeShares:
        by_class, whole = self._counted()
        classes = by_class.probabilities
        if not self.tables.is_inverted:
            (classes,) = self._by_class(self.tables.estimates[None])
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
        touched = self._groups | {tables.parts[self.target]}
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
    def _free_places(self) -> NDArray[np.int64]:
        return np.array(list(self.free), dtype=np.int64)

    def _by_answer(self, values: Array, which: NDArray[np.int64]) -> Array:
        """For every free attribute the sums ``[answer, class]`` of one of several rows of values."""
        shape = self.tables.widest, self._n_classes
        return kernels.all_answer_sums(
            self.cells, self.tables.codes, self._target, values, self._free_places, which, shape
        )

    def _estimated(self, values: Array) -> Array:
        return self._by_answer(values[None], np.zeros(len(self.free), dtype=np.int64))

    @cached_property
    def _shares_by_answer(self) -> Array:
        return self._estimated(self.tables.estimates)

    def by_answer(self) -> list[tuple[Attribute, Array, Codes]]:
        attributes = self.tables.schema.attributes
        return [
            (attributes[place], table[: attributes[place].size], codes)
            for (place, codes), table in zip(self.free.items(), self._shares_by_answer, strict=True)
        ]

    def contrast_variances(self, attribute: Attribute, branches: Sequence[Codes], contrasts: Array) -> Array:
        tables, place = self.tables, self.tables.places[attribute.name]
        if tables.is_clear:
            return np.zeros(len(contrasts))
        back = tables.way_back(attribute.name, self.target, self._looks.raw[place])
        if back is None or not self._sums_hold(self._groups):
            return self._independent_variances(attribute, branches, contrasts)
        row, size = self._rows[place], attribute.size
        shown, shares = (table[row, :size].reshape(-1) for table in self._reported)
        by_truth = _spread(contrasts, branches, size).reshape(len(contrasts), -1)
        return kernels.contrast_squares(by_truth, back, shown, shares) / tables.n_reports

    def _independent_variances(self, attribute: Attribute, branches: Sequence[Codes], contrasts: Array) -> Array:
        asked, tables = [[self.target], []], self.tables.conditioned
        found = [tables.tables(narrowed(self.path, attribute, codes), asked) for codes in branches]
        classes, totals = (np.stack([each.respondents_variance for each in kind]) for kind in zip(*found, strict=True))
        return independent_variances(DisguiseVariances(classes, totals), contrasts)

    @cached_property
    def _looks(self) -> Looks:
        return self.tables.looks(self.target, self._groups)

    @cached_property
    def _rows(self) -> dict[int, int]:
        """Where each free attribute stands among them."""
        return {place: row for row, place in enumerate(self.free)}

    @cached_property
    def _reported(self) -> tuple[Array, Array]:
        """For every free attribute how often it is shown with each class, and the estimated shares, ``[answer, class]``.

        Both are summed over the same cells in the same order, so that clear data give exact zeros.
        """
        tables, looks = self.tables, self._looks
        shown = self._by_answer(tables.stacked(looks.wanted), looks.rows[self._free_places])
        shares = self._shares_by_answer if tables.is_inverted else self._estimated(tables.squares.estimates)
        return shown, shares

    def within(self, attribute: Attribute, codes: Codes) -> Self:
        path = narrowed(self.path, attribute, codes)
        place = self.tables.places[attribute.name]
        cells = kernels.chosen_cells(self.cells, self.tables.codes, place, path[attribute.name])
        left = {**self.free, place: allowed_codes(path, attribute)}
        free = {each: answers for each, answers in left.items() if len(answers) > 1}
        return type(self)(self.tables, self.target, path, cells, free)


def _likelihood_pays(squares: CellSquares) -> bool:
    """Whether the noise of inversion is great, and the likelihood is quickly found."""
    negative = -float(np.minimum(squares.estimates, 0).sum())
    return negative > MOST_NEGATIVE and has_orbits(squares.joint.parts)


def _spread(contrasts: Array, branches: Sequence[Codes], size: int) -> Array:
    """Weights ``[which, answer, class]`` of branches as those of their answers."""
    if len(branches) == size:
        return contrasts
    weights = np.zeros((len(contrasts), size, contrasts.shape[2]))
    for position, codes in enumerate(branches):
        weights[:, list(codes)] = contrasts[:, position, None]
    return weights
