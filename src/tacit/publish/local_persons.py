"""Local recoding where persons have several rows: boxes are cut while both sides hold k different persons.

A person is below a cut if the least of the person's codes in the box is, and above it if the greatest is: so the persons on both
sides of all cuts of an attribute are counted from two sorted lists. Where rows may be suppressed, edges of boxes go in the same
way; whoever loses a row there counts as one person against the limit, once.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.publish.class_measures import SensitiveAnswers, class_of_persons, shares_of_persons
from tacit.publish.local import CuttingOrder, LocalClasses
from tacit.publish.persons import PersonRows
from tacit.publish.population import Population
from tacit.publish.settings import Protection
from tacit.publish.tally import QuasiTally
from tacit.publish.watch import Progress

Codes = NDArray[np.int64]
MOST_TRIED = 20  # cuts of a box, cheapest first, that are tried for l and t


@dataclass(frozen=True)
class _Cut:
    price: float  # penalty that both sides have left
    attribute: int
    code: int  # of the lowest answer above


@dataclass(frozen=True)
class _Trim:
    """An edge of a box that may be suppressed."""

    gain: float  # penalty that is saved, a suppressed row costing 1
    persons: int  # who lose a row
    attribute: int
    code: int  # of the lowest answer above
    above: bool  # whether what lies above it goes

    @property
    def worth(self) -> float:
        return self.gain / self.persons


@dataclass(frozen=True, eq=False)
class Box:
    """Entries of persons that are published under one label, and the people of the population whom it could be."""

    entries: Codes
    people: Codes  # places of combinations that people show; none where nothing is asked of them


@dataclass(frozen=True, eq=False)
class _Edges:
    """All cuts of a box along one attribute."""

    values: Codes  # the lowest answer above each
    below: Codes  # persons with a row below, and above
    above: Codes
    rows_below: Codes = field(default_factory=lambda: np.empty(0, np.int64))
    rows_above: Codes = field(default_factory=lambda: np.empty(0, np.int64))
    left_below: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))  # penalty
    left_above: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))


class _Boxes:
    """The entries of all persons, and what it takes to cut them."""

    def __init__(
        self,
        persons: PersonRows,
        scale: NDArray[np.float64],
        protection: Protection,
        population: Population | None,
        orders: Sequence[CuttingOrder],
    ) -> None:
        self._persons, self._scale, self._protection = persons, scale, protection
        self._spans = [(j, order.spans) for j, order in enumerate(orders) if order.spans is not None]
        self._population = None if protection.people_demand is None else population
        self._k = int(protection.k)
        self._sensitive = [
            SensitiveAnswers(
                attribute.name, np.unique(column, return_inverse=True)[1].ravel().astype(np.int64), attribute.ordered
            )
            for column, attribute in zip(persons.sensitive.T, persons.attributes, strict=True)
            if protection.asks_diversity
        ]
        self._wholes = [shares_of_persons(answers.codes, persons.counts, persons.person) for answers in self._sensitive]

    def whole(self) -> Box:
        """Everybody in one box."""
        people = None if self._population is None else self._population.codes
        return Box(np.arange(len(self._persons.counts)), np.arange(0 if people is None else len(people)))

    def cut(self, box: Box) -> tuple[Box, Box] | None:
        """The two sides of the best cut; None where a side would be too weak."""
        cuts = sorted(self._cuts(box.entries), key=lambda cut: (cut.price, cut.attribute, cut.code))
        for best in cuts[:MOST_TRIED]:
            below = self._persons.codes[box.entries, best.attribute] < best.code
            sides = self._side(box, below), self._side(box, ~below)
            if all(self._is_diverse(side.entries) and self._has_people(side) for side in sides):
                return sides
        return None

    def _side(self, box: Box, chosen: NDArray[np.bool_]) -> Box:
        """A part of a box, with the people of the population whom its label could be."""
        entries = box.entries[chosen]
        if self._population is None or self._population.codes is None:
            return Box(entries, box.people)
        codes, answers = self._persons.codes[entries], self._population.codes[box.people]
        inside = ((answers >= codes.min(axis=0)) & (answers <= codes.max(axis=0))).all(axis=1)
        return Box(entries, box.people[inside])

    def _has_people(self, side: Box) -> bool:
        demand, population = self._protection.people_demand, self._population
        if demand is None or population is None or population.counts is None:
            return True
        people = int(population.counts[side.people].sum())
        return demand.allows(people, len(np.unique(self._persons.person[side.entries])) / max(1, people))

    def _cuts(self, box: Codes) -> Iterator[_Cut]:
        for j, edge in self._edges(box):
            possible = (edge.below >= self._k) & (edge.above >= self._k)
            if possible.any():
                prices = np.where(possible, edge.left_below + edge.left_above, np.inf)
                best = int(prices.argmin())
                yield _Cut(float(prices[best]), j, int(edge.values[best]))

    def _edges(self, box: Codes) -> Iterator[tuple[int, _Edges]]:
        """Every attribute with all its cuts of a box; none where the box holds too few persons to be cut."""
        codes, counts = self._persons.codes[box], self._persons.counts[box]
        distinct, person = np.unique(self._persons.person[box], return_inverse=True)
        if len(distinct) < self._k:
            return
        for j, column in enumerate(codes.T):
            order = np.argsort(column, kind="stable")
            steps = np.flatnonzero(np.diff(column[order])) + 1  # where the next answer begins
            if not len(steps):
                continue
            values = column[order][steps]
            low, high = np.full(len(distinct), np.iinfo(np.int64).max), np.full(len(distinct), -1)
            np.minimum.at(low, person.ravel(), column)
            np.maximum.at(high, person.ravel(), column)
            below = np.searchsorted(np.sort(low), values)
            above = len(distinct) - np.searchsorted(np.sort(high), values)
            yield j, self._priced_edges(codes[order], counts[order], steps, _Edges(values, below, above))

    def _priced_edges(self, codes: Codes, counts: Codes, steps: Codes, edges: _Edges) -> _Edges:
        """The cuts with the rows and the penalty on both sides; entries are sorted by the attribute that is cut."""
        first, last = np.minimum.accumulate(codes), np.maximum.accumulate(codes)
        back_first = np.minimum.accumulate(codes[::-1])[::-1]
        back_last = np.maximum.accumulate(codes[::-1])[::-1]
        rows = np.cumsum(counts)
        rows_below, rows_above = rows[steps - 1], rows[-1] - rows[steps - 1]
        return replace(
            edges,
            rows_below=rows_below,
            rows_above=rows_above,
            left_below=rows_below * self._penalty(first[steps - 1], last[steps - 1]),
            left_above=rows_above * self._penalty(back_first[steps], back_last[steps]),
        )

    def _penalty(self, low: NDArray[Any], high: NDArray[Any]) -> NDArray[np.float64]:
        """Of a row in each box; along a hierarchy, that of the finest group which holds both ends."""
        merged = (high - low).astype(np.float64)
        for j, spans in self._spans:
            merged[..., j] = spans[low[..., j], high[..., j]]
        return np.asarray(merged @ self._scale)

    def trim(self, box: Box, most: int) -> tuple[_Trim, Box, Box] | None:
        """The edge whose suppression gains most per person, what is left of the box, and the edge; None where none gains."""
        trims = sorted(self._trims(box.entries, most), key=lambda trim: (-trim.worth, trim.attribute, trim.code))
        for best in trims[:MOST_TRIED]:
            goes = (self._persons.codes[box.entries, best.attribute] >= best.code) == best.above
            rest = self._side(box, ~goes)
            if self._is_diverse(rest.entries) and self._has_people(rest):
                return best, rest, Box(box.entries[goes], box.people[:0])
        return None

    def _trims(self, box: Codes, most: int) -> Iterator[_Trim]:
        codes, rows = self._persons.codes[box], int(self._persons.counts[box].sum())
        whole = rows * float(self._penalty(codes.min(axis=0), codes.max(axis=0)))
        for j, edge in self._edges(box):
            for above in (True, False):
                stay, go = (edge.below, edge.above) if above else (edge.above, edge.below)
                left, gone = (edge.left_below, edge.rows_above) if above else (edge.left_above, edge.rows_below)
                gains = np.where((stay >= self._k) & (go <= most), whole - left - gone, 0.0)
                best = int((gains / go).argmax())
                if gains[best] > 0:
                    yield _Trim(float(gains[best]), int(go[best]), j, int(edge.values[best]), above)

    def _is_diverse(self, side: Codes) -> bool:
        """Whether the persons of a side show the wanted l, t and beta."""
        diversity, persons = self._protection.diversity, self._persons
        counts, ids = persons.counts[side], persons.person[side]
        return all(
            class_of_persons(
                SensitiveAnswers(answers.name, answers.codes[side], answers.ordered),
                counts,
                ids,
                whole,
                self._protection.tail or 1,
            ).keeps(diversity)
            for answers, whole in zip(self._sensitive, self._wholes, strict=True)
        )


def recode_persons_locally(
    persons: PersonRows,
    rows: QuasiTally,
    weights: NDArray[np.float64],
    protection: Protection,
    population: Population | None = None,
    progress: Progress | None = None,
    orders: Sequence[CuttingOrder] = (),
) -> LocalClasses:
    """Boxes cut until no cut leaves k persons on both sides; an interruption (Ctrl-C) leaves the boxes as they are.

    `orders` says how the answers of each attribute stand, where one has a hierarchy.
    """
    ordered = replace(persons, codes=_codes_in_order(persons.codes, orders)) if orders else persons
    if orders and population is not None and population.codes is not None:
        population = replace(population, codes=_codes_in_order(population.codes, orders))
    boxes = _Boxes(ordered, weights / np.maximum(1, rows.sizes - 1), protection, population, orders)
    open_boxes, finished = [boxes.whole()], []
    settled, complete = 0, True
    try:
        while open_boxes:
            sides = boxes.cut(open_boxes[-1])  # taken off only with its successors at hand
            if sides is not None:
                open_boxes[-1:] = sides
                continue
            settled += len(open_boxes[-1].entries)
            finished.append(open_boxes.pop())
            if progress:
                progress(settled / len(persons.counts), "recoding")
    except KeyboardInterrupt:
        complete = False
    cut = [*finished, *open_boxes]
    return LocalClasses(
        _classes(persons, rows, _trimmed_boxes(boxes, cut, persons, protection) if complete else cut), complete
    )


def _trimmed_boxes(boxes: _Boxes, cut: list[Box], persons: PersonRows, protection: Protection) -> list[Box]:
    """The boxes without the edges whose suppression gains most per person, while persons may lose rows.

    t and beta compare with the rows that stay, so with them nothing is left out.
    """
    allowed = math.floor(protection.suppress * persons.n_persons + 1e-9)
    if allowed == 0 or protection.t is not None or protection.beta is not None:
        return cut
    cut, losers = list(cut), np.zeros(persons.n_persons, np.bool_)
    waiting: list[tuple[float, int]] = []
    trims: dict[int, tuple[_Trim, Box, Box]] = {}

    def judge(number: int) -> None:
        best = boxes.trim(cut[number], allowed - int(losers.sum()))
        if best is not None:
            trims[number] = best
            heapq.heappush(waiting, (-best[0].worth, number))

    for number in range(len(cut)):
        judge(number)
    while waiting and losers.sum() < allowed:
        _, number = heapq.heappop(waiting)
        _, rest, gone = trims.pop(number)
        touched = losers.copy()
        touched[persons.person[gone.entries]] = True
        if touched.sum() <= allowed:
            losers, cut[number] = touched, rest
        judge(number)  # what is left of it, or what fewer persons still allow
    return cut


def _codes_in_order(codes: NDArray[Any], orders: Sequence[CuttingOrder]) -> NDArray[Any]:
    return np.stack([order.places[column] for order, column in zip(orders, codes.T, strict=True)], axis=1)


def _classes(persons: PersonRows, rows: QuasiTally, boxes: list[Box]) -> NDArray[np.int32]:
    """The box of every combination of the tally; -1 where it is suppressed."""
    entries = np.full(len(persons.counts), -1, np.int64)
    for number, box in enumerate(boxes):
        entries[box.entries] = number
    combinations = rows.combinations
    by_combination = np.empty(len(combinations), np.int64)
    by_combination[combinations.places(list(persons.codes.T))] = entries
    numbers, place = np.unique(by_combination[combinations.number], return_inverse=True)
    return (place.ravel() - int(numbers[0] < 0)).astype(np.int32)
