"""The exact table: a chance for every whole record, where these are few enough to write out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.codes import Array, Codes, joint_codes, split_codes
from tacit.joint.ascent import ARRIVED, MOST_STEPS, Climb, climb
from tacit.joint.evidence import WholeReports
from tacit.joint.laws import MOST_CHANCES

# Whole records that are written out.
MOST_RECORDS = 1 << 16
# Combinations of the groups' distinct reports that are written out while fitting.
MOST_COMBINATIONS = 1 << 21
# Numbers held while the posterior of every record is written out for some reports.
POSTERIOR_NUMBERS = 1 << 22


@dataclass(frozen=True, eq=False)
class ExactTable:
    """``probabilities[record]``, records in mixed radix of the attributes' `shape`."""

    probabilities: Array
    shape: tuple[int, ...]

    name = "exact table"

    @property
    def n_parameters(self) -> int:
        return len(self.probabilities) - 1

    @property
    def arrays(self) -> tuple[Array, ...]:
        return (self.probabilities,)

    def with_arrays(self, arrays: Sequence[Array]) -> ExactTable:
        return ExactTable(arrays[0], self.shape)

    def describe(self) -> str:
        return f"the exact table of {len(self.probabilities):,} records"

    def log_chance(self, record: Sequence[Codes]) -> Array:
        """Logarithm of the chance of each whole record."""
        return np.log(np.maximum(self.probabilities[joint_codes(record, self.shape)], 1e-300))

    def marginal(self, attributes: Sequence[int]) -> Array:
        """The joint distribution of some attributes, one axis each."""
        others = tuple(j for j in range(len(self.shape)) if j not in attributes)
        remaining = [j for j in range(len(self.shape)) if j in attributes]
        margin = self.probabilities.reshape(self.shape).sum(axis=others)
        return margin.transpose([remaining.index(j) for j in attributes])

    def draw(self, people: int, rng: np.random.Generator) -> list[Codes]:
        """Whole records drawn at random, column by column."""
        codes = rng.choice(len(self.probabilities), size=people, p=self.probabilities / self.probabilities.sum())
        return [column.astype(np.int64) for column in split_codes(codes.astype(np.int64), self.shape)]

    def report_logs(self, reports: WholeReports) -> Array:
        """Log-likelihood of each report."""
        with np.errstate(divide="ignore"):
            if Tabled.is_possible(reports, self.shape):
                return np.log(Tabled(reports, self.shape).report_chances(self.probabilities))
            return np.concatenate([np.log(together.sum(axis=1)) for together in self._together(reports)])

    def answers(self, reports: WholeReports) -> list[Array]:
        """Posterior of each answer of every attribute, ``(rows, answers)``."""
        made: list[list[Array]] = [[] for _ in self.shape]
        for together in self._together(reports):
            table = together.reshape(len(together), *self.shape)
            whole = np.maximum(together.sum(axis=1, keepdims=True), 1e-300)
            for j in range(len(self.shape)):
                others = tuple(axis + 1 for axis in range(len(self.shape)) if axis != j)
                made[j].append(table.sum(axis=others) / whole)
        return [np.concatenate(parts) for parts in made]

    def candidates(self, reports: WholeReports) -> Iterator[list[Codes]]:
        """The likeliest whole record for each report."""
        best = np.concatenate([together.argmax(axis=1) for together in self._together(reports)]).astype(np.int64)
        yield [column.astype(np.int64) for column in split_codes(best, self.shape)]

    def _together(self, reports: WholeReports) -> Iterator[Array]:
        """The chance of each report together with every whole record, some reports at a time."""
        step = max(1, POSTERIOR_NUMBERS // len(self.probabilities))
        laws = [(group.attributes, group.law.written_out(), group.kinds) for group in reports.groups]
        for start in range(0, max(reports.n_rows, 1), step):
            rows = slice(start, min(start + step, reports.n_rows))
            together = np.repeat(self.probabilities[None, :], rows.stop - rows.start, axis=0)
            shaped = together.reshape(-1, *self.shape)
            for attributes, matrix, kinds in laws:
                shaped *= _place_axes(matrix[kinds[rows]], attributes, self.shape)
            yield together


def _place_axes(matrix: Array, attributes: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """A group's chances with one axis for every attribute of the table, those of others of length one."""
    table = matrix.reshape(-1, *(shape[j] for j in attributes))
    order = np.argsort(attributes)
    table = table.transpose(0, *(int(axis) + 1 for axis in order))
    return table.reshape(len(matrix), *(size if j in attributes else 1 for j, size in enumerate(shape)))


class Tabled:
    """Reports as the exact table meets them: one axis for the distinct reports of each group."""

    def __init__(self, reports: WholeReports, shape: tuple[int, ...]) -> None:
        self.part, self.shape = reports, shape
        self._order = [j for group in reports.groups for j in group.attributes]
        self._others = [j for j in range(len(shape)) if j not in self._order]
        self._sizes = [math.prod(shape[j] for j in group.attributes) for group in reports.groups]
        self._reports = [group.law.n_reports for group in reports.groups]

    @cached_property
    def _cells(self) -> NDArray[np.int64]:
        """Which combination of the groups' distinct reports each row is."""
        return joint_codes([group.kinds for group in self.part.groups], tuple(self._reports))

    @staticmethod
    def is_possible(reports: WholeReports, shape: tuple[int, ...]) -> bool:
        """Whether every combination of the groups' distinct reports, and every group's law, can be written out."""
        if not reports.groups or math.prod(float(size) for size in shape) > MOST_RECORDS:
            return False
        combinations = math.prod(float(group.law.n_reports) for group in reports.groups)
        return combinations <= MOST_COMBINATIONS and all(
            group.law.n_reports * math.prod(group.law.shape) <= MOST_CHANCES for group in reports.groups
        )

    def report_chances(self, truth: Array) -> Array:
        """The chance of each row's report."""
        table = truth.reshape(self.shape).transpose(*self._order, *self._others)
        here = table.reshape(*self._sizes, -1).sum(axis=-1)
        for group in self.part.groups:
            # Each law takes the first axis and puts its reports last: after all of them the axes are in order again.
            flat = here.reshape(here.shape[0], -1)
            here = np.moveaxis(group.law.report_chances(flat).reshape(-1, *here.shape[1:]), 0, -1)
        return here.reshape(-1)[self._cells]

    def spread(self, weights: Array) -> Array:
        """Weights of rows as weights of whole records."""
        summed: Array = np.bincount(self._cells, weights=weights, minlength=math.prod(self._reports)).astype(np.float64)
        here = summed.reshape(self._reports)
        for group in self.part.groups:
            flat = here.reshape(here.shape[0], -1)
            here = np.moveaxis(group.law.spread(flat).reshape(-1, *here.shape[1:]), 0, -1)
        attributes = here.reshape([self.shape[j] for j in self._order] + [1] * len(self._others))
        return np.broadcast_to(attributes.transpose(np.argsort([*self._order, *self._others])), self.shape).reshape(-1)


def table_step(model: ExactTable, tables: Sequence[Tabled], prior: Array) -> tuple[ExactTable, float]:
    """One step of EM, and the objective a person at the table it started from; `prior` people are added to each record."""
    gain = np.zeros_like(model.probabilities)
    height = float(prior @ np.log(np.maximum(model.probabilities, 1e-300)))
    everybody = 0.0
    for table in tables:
        counts = table.part.counts
        expected = np.maximum(table.report_chances(model.probabilities), 1e-300)
        height += float(np.dot(counts, np.log(expected)))
        gain += table.spread(counts / expected)
        everybody += table.part.people
    people = model.probabilities * gain + prior
    return ExactTable(people / people.sum(), model.shape), height / everybody


def fit_table(
    start: ExactTable,
    parts: Sequence[WholeReports],
    prior: Array,
    *,
    arrived: float = ARRIVED,
    most_steps: int = MOST_STEPS,
) -> Climb[ExactTable]:
    """The likeliest table; its likelihood has no other summit, so the start decides only how soon it is reached."""
    tables = [Tabled(reports, start.shape) for reports in parts]
    return climb(start, lambda model: table_step(model, tables, prior), arrived=arrived, most_steps=most_steps)
