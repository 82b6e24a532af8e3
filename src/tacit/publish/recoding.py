"""What a release does to every combination of quasi-identifiers: its class, its labels, or that it is left out."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tacit.publish._demand_kernels import strengths
from tacit.publish._space_kernels import decode
from tacit.publish.cells import HiddenCells, can_hide_cells, hide_cells
from tacit.publish.combinations import Combinations, sums_by_code
from tacit.publish.hierarchies import Hierarchy
from tacit.publish.labels import ANY, block_label, label
from tacit.publish.local import tight_boxes
from tacit.publish.problem import Bits, Problem
from tacit.publish.released_rows import ReleasedColumns
from tacit.publish.tally import QuasiTally

if TYPE_CHECKING:
    from tacit.schema import Attribute, Schema
    from tacit.table import Table

Codes = NDArray[np.int64]
Numbers = NDArray[np.int32]  # there is one for every combination, so they are small
SMALL_TABLE = 1 << 16  # cells
# [attribute][fineness][block]: names given by hierarchies
BlockNames = Sequence[Sequence[Sequence[str]] | None]


@dataclass(frozen=True, eq=False)
class Recoding:
    """Class of every distinct combination, -1 where its rows are suppressed, and the labels of every class."""

    tally: QuasiTally
    combinations: Combinations
    classes: Numbers  # [combination]
    shown: Numbers  # [class, attribute]: position in `names`
    names: tuple[tuple[str, ...], ...]
    members: tuple[NDArray[np.bool_], ...]  # of each attribute: [label, answer], whether it stands for the answer
    counts: Codes  # [combination]
    by_answer: tuple[Numbers, ...] | None  # label of every answer, where it is always the same
    hidden_cells: int = 0  # of rare rows that could stay because single cells of theirs are hidden

    @property
    def labels(self) -> Numbers:
        """[combination, attribute]: position in `names`; of suppressed ones they mean nothing."""
        return self.shown[self.classes]

    @property
    def class_sizes(self) -> Codes:
        """Rows in each published class, as its labels show it; of several sets of quasi-identifiers, all classes."""
        return np.concatenate(self.sizes_by_set())

    def sizes_by_set(self) -> list[Codes]:
        """Rows in each published class, apart for every set of quasi-identifiers."""
        return self._sizes_by_set

    @cached_property
    def by_class(self) -> tuple[NDArray[np.int32], Codes]:
        """The labels of every published class of `classes`, and its rows."""
        rows, occurs = (
            sums_by_code(self.classes + np.int32(1), self.counts, len(self.shown) + 1)[1:],
            np.zeros(len(self.shown) + 1, np.bool_),
        )
        occurs[self.classes] = True  # those of nobody stand last
        return self.shown[occurs[:-1]], rows[occurs[:-1]]

    @cached_property
    def _sizes_by_set(self) -> list[Codes]:
        (labels, rows), widths = self.by_class, [len(texts) for texts in self.names]
        sizes = []
        for members in self.tally.sets:
            possible = [widths[j] for j in members]
            if math.prod(possible) <= SMALL_TABLE:  # in the same order as numbered, and much faster for many small sets
                table = np.bincount(
                    np.ravel_multi_index(tuple(labels[:, j] for j in members), possible), rows, math.prod(possible)
                )
                sizes.append(table[table > 0].astype(np.int64))
            else:
                sizes.append(np.bincount(self._class_of_labels(labels, members), rows).astype(np.int64))
        return sizes

    def class_labels(self, members: Sequence[int]) -> NDArray[np.int32]:
        """The labels of each published class, in the order of `sizes_by_set`."""
        labels, _ = self.by_class
        return labels[np.unique(self._class_of_labels(labels, members), return_index=True)[1]]

    def _class_of_labels(self, labels: Numbers, members: Sequence[int]) -> Numbers:
        """The class that each row of labels shows to somebody who knows these attributes."""
        return Combinations([labels[:, j] for j in members], [len(self.names[j]) for j in members]).number

    def class_numbers(self, members: Sequence[int] | None = None) -> Codes:
        """The class that every combination shows, from 0; -1 where it is suppressed."""
        chosen = list(range(self.shown.shape[1]) if members is None else members)
        occurs = np.zeros(len(self.shown) + 1, np.bool_)
        occurs[self.classes] = True
        numbers = np.full(len(self.shown) + 1, -1, np.int64)
        numbers[:-1][occurs[:-1]] = self._class_of_labels(self.shown[occurs[:-1]], chosen)
        return numbers[self.classes]

    def with_counts_of(self, tally: QuasiTally) -> Recoding:
        """The same labels with the counts of another tally of the same combinations."""
        if tally is self.tally:
            return self
        own = tally.combinations
        place = self.combinations.places(list(own.codes.T))  # without those that only people of the population show
        counts = np.bincount(own.number, tally.counts, len(own)).astype(np.int64)
        return dataclasses.replace(
            self,
            tally=tally,
            combinations=own,
            classes=self.classes[place],
            counts=counts,
        )

    @property
    def suppressed(self) -> int:
        return int(self.counts[self.classes < 0].sum())

    def losses(self) -> NDArray[np.float64]:
        """Mean unweighted penalty of each attribute; suppressed rows lose everything."""
        labels, rows = self.by_class
        lost = [(labels_of.sum(axis=1) - 1)[labels[:, j]] @ rows for j, labels_of in enumerate(self.members)]
        return (np.array(lost) / np.maximum(1, self.tally.sizes - 1) + self.suppressed) / self.counts.sum()

    def partitions(self) -> dict[str, list[list[str]]]:
        """The answers behind every label; in local recoding labels of different classes may overlap."""
        return {
            attribute.name: [
                [attribute.answers[code] for code in np.flatnonzero(answers)] for answers in self.members[j]
            ]
            for j, attribute in enumerate(self.tally.attributes)
        }

    def columns(self, schema: Schema, others: Sequence[str]) -> ReleasedColumns:
        """The texts of the released columns: labels of the quasi-identifiers, and the answers of `others`."""
        labels = dict(zip(self.tally.names, self.names, strict=True))
        return ReleasedColumns(labels | {name: schema[name].answers for name in others})

    def apply(self, batch: Table, others: Sequence[str]) -> dict[str, NDArray[Any]]:
        """The published rows of a batch as positions in the texts of `columns`."""
        labels, published = self._labels_of(batch)
        codes = dict(zip(self.tally.names, labels, strict=True))
        return codes | {name: batch[name] if published is None else batch[name][published] for name in others}

    def published_labels(self, ranks: Mapping[str, NDArray[np.int64]]) -> pa.Table:
        """Every published combination: its number, its texts ``l0, l1, ...`` and their places in the order ``r0, r1, ...``."""
        published = self.classes >= 0
        columns = {"combination": pa.array(self.combinations.radix_keys()[published])}
        for j, (name, texts) in enumerate(zip(self.tally.names, self.names, strict=True)):
            labels = self.shown[self.classes[published], j]
            columns |= {f"l{j}": pa.array(np.array(texts)[labels], pa.string()), f"r{j}": pa.array(ranks[name][labels])}
        return pa.table(columns)

    def released_labels(self) -> dict[str, dict[str, list[str]]]:
        """What every label that some published row shows stands for."""
        labels_of_classes, _ = self.by_class
        return {
            attribute.name: {
                self.names[j][label]: [attribute.answers[code] for code in np.flatnonzero(self.members[j][label])]
                for label in np.unique(labels_of_classes[:, j]).tolist()
            }
            for j, attribute in enumerate(self.tally.attributes)
        }

    def _labels_of(self, batch: Table) -> tuple[list[NDArray[np.int32]], NDArray[np.bool_] | None]:
        """Labels of the published rows, attribute by attribute, and which rows these are; None for all."""
        if self.by_answer is not None and not self.suppressed:
            return [column[batch[name]] for column, name in zip(self.by_answer, self.tally.names, strict=True)], None
        place = self.combinations.places([batch[name] for name in self.tally.names])
        classes = self.classes[place]
        published = classes >= 0
        return [np.ascontiguousarray(column)[classes[published]] for column in self.shown.T], published


def recode_globally(problem: Problem, bits: Bits, names: BlockNames, *, cells: bool = False) -> Recoding:
    """The recoding of one chromosome: every answer always becomes the same block.

    With `cells`, rows of classes that are too small lose single cells where that is enough, and are left out otherwise.
    """
    tally = problem.tally
    block = np.empty(int(problem.space.first_value[-1]), np.int64)
    decode(bits, problem.space, block)
    starts = problem.space.first_value
    blocks = [block[starts[j] : starts[j + 1]] for j in range(len(tally.attributes))]
    by_answer = tuple(codes.astype(np.int32) for codes in blocks)
    members = tuple(codes == np.arange(codes.max() + 1)[:, None] for codes in blocks)
    numbered = Combinations(
        [labels_of_rows[tally.codes[:, j]] for j, labels_of_rows in enumerate(by_answer)],
        [len(codes) for codes in members],
    )
    publishable = _publishable(problem, numbered.number, len(numbered))
    finenesses = [
        int(bits[a:b].sum()) for a, b in zip(problem.space.first_bit, problem.space.first_bit[1:], strict=False)
    ]
    texts = tuple(
        tuple(given[fineness])
        if given is not None
        else tuple(block_label(attribute, np.flatnonzero(block).tolist()) for block in codes)
        for attribute, codes, given, fineness in zip(tally.attributes, members, names, finenesses, strict=True)
    )
    classes, shown = _renumbered_classes(numbered.number, publishable), numbered.codes[publishable]
    if cells and can_hide_cells(problem.demand) and not publishable.all():
        hiding = hide_cells(problem, numbered, classes)
        if len(hiding.rows):
            labels_of_rows = numbered.codes[numbered.number[hiding.rows]]
            return _with_hidden_cells(_recoding(tally, hiding.classes, shown, texts, members), hiding, labels_of_rows)
    return _recoding(tally, classes, shown, texts, members, by_answer)


def _with_hidden_cells(recoding: Recoding, hiding: HiddenCells, labels: Numbers) -> Recoding:
    """The recoding with a label for hidden cells: it stands for every answer that some released row gave, and for no other.

    `labels` are those of the rows that have a class because cells of theirs are hidden.
    """
    tally, published = recoding.tally, hiding.classes >= 0
    names, members = list(recoding.names), list(recoding.members)
    for j, hidden in enumerate(hiding.hidden.T):
        if hidden.any():
            anything = sums_by_code(tally.codes[published, j], tally.counts[published], members[j].shape[1]) > 0
            labels[hidden, j] = len(members[j])
            names[j] = (*names[j], ANY)
            members[j] = np.concatenate([members[j], anything[None]])
    labels_of_classes = np.zeros((int(hiding.classes.max()) + 1, labels.shape[1]), np.int32)
    labels_of_classes[: len(recoding.shown)] = recoding.shown
    labels_of_classes[hiding.classes[hiding.rows]] = labels
    cells = int(tally.counts[hiding.rows] @ hiding.hidden.sum(axis=1))
    return dataclasses.replace(
        recoding, shown=labels_of_classes, names=tuple(names), members=tuple(members), hidden_cells=cells
    )


def recode_by_classes(
    tally: QuasiTally, classes: NDArray[Any], hierarchies: Mapping[str, Hierarchy] | None = None
) -> Recoding:
    """The recoding of given classes of combinations: each is labelled by its tight box, or by the finest group that holds it."""
    classes = classes.astype(np.int32, copy=False)
    low, high = tight_boxes(tally.codes, classes)
    labels_of_classes = np.empty(low.shape, np.int32)
    texts: list[tuple[str, ...]] = []
    members: list[NDArray[np.bool_]] = []
    for j, attribute in enumerate(tally.attributes):
        if hierarchies and attribute.name in hierarchies:
            labels_of_classes[:, j], names, groups = _group_labels(
                tally.codes[:, j], classes, hierarchies[attribute.name]
            )
            texts.append(names)
            members.append(groups)
            continue
        ends, place = np.unique(low[:, j].astype(np.int64) * attribute.size + high[:, j], return_inverse=True)
        spans = np.stack(np.divmod(ends, attribute.size), axis=1)
        labels_of_classes[:, j] = place.ravel()
        texts.append(tuple(label(attribute, a, b) for a, b in spans.tolist()))
        answers = np.arange(attribute.size)
        members.append((spans[:, :1] <= answers) & (answers <= spans[:, 1:]))
    return _recoding(tally, classes, labels_of_classes, tuple(texts), tuple(members))


def _group_labels(
    codes: NDArray[Any], classes: Numbers, hierarchy: Hierarchy
) -> tuple[Codes, tuple[str, ...], NDArray[np.bool_]]:
    """The label of every class, the texts and the members, where a class shows the finest group that holds it."""
    group = np.zeros((classes.max() + 1, 2), np.int64)  # fineness and block of every class
    for fineness, blocks in enumerate(hierarchy.blocks):
        low, high = tight_boxes(blocks[codes, None], classes)
        fits = (low == high).ravel()
        group[fits] = np.stack([np.full(fits.sum(), fineness), low.ravel()[fits]], axis=1)
    distinct, place = np.unique(group, axis=0, return_inverse=True)
    members = np.stack([hierarchy.blocks[fineness] == block for fineness, block in distinct])
    texts = tuple(hierarchy.names[fineness][block] for fineness, block in distinct)
    return place.ravel(), texts, members


def recode_by_means(
    tally: QuasiTally, classes: NDArray[Any], hierarchies: Mapping[str, Hierarchy] | None = None
) -> Recoding:
    """As by classes, with numbers published as the mean of their class (microaggregation).

    Where two classes have the same mean it stands for the answers of both.
    """
    boxes = recode_by_classes(tally, classes, hierarchies)
    labels_of_classes, names, members = boxes.shown.copy(), list(boxes.names), list(boxes.members)
    for j, attribute in enumerate(tally.attributes):
        values = numbers_of(attribute)
        if values is None or (hierarchies and attribute.name in hierarchies):
            continue
        published = classes >= 0
        sums = np.bincount(classes[published], (tally.counts * values[tally.codes[:, j]])[published])
        means = [
            _rounded_text(mean) for mean in (sums / np.bincount(classes[published], tally.counts[published])).tolist()
        ]
        names[j] = tuple(dict.fromkeys(means))
        place = {text: position for position, text in enumerate(names[j])}
        of_class = np.array([place[text] for text in means], np.int64)
        spans = members[j][boxes.shown[:, j]]  # of every class
        labels_of_classes[:, j] = of_class
        members[j] = np.zeros((len(names[j]), attribute.size), np.bool_)
        np.logical_or.at(members[j], labels_of_classes[:, j], spans)
    return dataclasses.replace(boxes, shown=labels_of_classes, names=tuple(names), members=tuple(members))


def _rounded_text(number: float) -> str:
    """A number to four digits, written out: 27830, not 2.783e+04."""
    return np.format_float_positional(float(f"{number:.4g}"), trim="-")


def numbers_of(attribute: Attribute) -> NDArray[np.float64] | None:
    """The number that each answer stands for: itself, or the middle of its interval; None where answers are no numbers."""
    if attribute.cut is not None:
        edges = np.array(attribute.cut.edges)
        ends = [edges[0] - (edges[1] - edges[0] if len(edges) > 1 else 0), *edges]
        ends.append(edges[-1] + (edges[-1] - edges[-2] if len(edges) > 1 else 0))
        return (np.array(ends[:-1]) + np.array(ends[1:])) / 2
    try:
        return np.array([float(answer) for answer in attribute.answers])
    except ValueError:
        return None


def _publishable(problem: Problem, classes: Numbers, number: int) -> NDArray[np.bool_]:
    """Which classes show what is asked of them; with several sets of attributes all do."""
    tally, demand = problem.tally, problem.demand
    if len(tally.sets) > 1:
        return np.ones(number, np.bool_)
    sizes = sums_by_code(classes, tally.counts, number)
    if not demand.first_sensitive[-1]:
        return sizes >= demand.k
    answers = np.zeros((number, int(demand.first_sensitive[-1])), np.uint32)
    for column in tally.sensitive_codes.T:
        np.add.at(answers, (classes, column), tally.counts.astype(np.uint32))
    if tally.people is not None and demand.people >= 0:
        answers[:, demand.people] = np.bincount(classes, tally.people, number)
    return strengths(sizes.astype(np.uint32), answers, demand) >= demand.k


def _renumbered_classes(classes: Numbers, publishable: NDArray[np.bool_]) -> Numbers:
    """Classes numbered anew, those that may not be published as -1."""
    if publishable.all():
        return classes
    numbers = np.cumsum(publishable, dtype=np.int32) - np.int32(1)
    return np.where(publishable, numbers, np.int32(-1))[classes]


def _recoding(
    tally: QuasiTally,
    classes: Numbers,
    shown: Numbers,
    names: tuple[tuple[str, ...], ...],
    members: tuple[NDArray[np.bool_], ...],
    by_answer: tuple[Numbers, ...] | None = None,
) -> Recoding:
    """One entry per combination of quasi-identifiers; in the tally sensitive answers may tell several apart."""
    combinations = tally.combinations
    if combinations.are_the_rows:
        return Recoding(tally, combinations, classes, shown, names, members, tally.counts, by_answer)
    counts = np.bincount(combinations.number, tally.counts).astype(np.int64)
    return Recoding(tally, combinations, classes[combinations.first], shown, names, members, counts, by_answer)
