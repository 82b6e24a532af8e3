"""Whole reports as a model of whole records sees them: distinct ones, how often each was sent, and their laws."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.channel.codes import Array, Codes
from tacit.channel.scheme import Group, Questionnaire
from tacit.count.abilities import coded_parts, held_rows
from tacit.count.abilities import distinct_rows as listed_rows
from tacit.count.protocol import CountEngine, Source
from tacit.errors import InvalidInput
from tacit.joint.laws import DenseLaw, LawTerm, ReportLaw
from tacit.joint.numbering import distinct, numbered_cells
from tacit.joint.products import ProductLaw
from tacit.schema import Schema
from tacit.table import Table

# Cells of groups are crossed while their products stay this few: fewer lookups a report, in tables that stay in cache.
CROSSED_CELLS = 1 << 10
# Rows read from a store at a time are folded into distinct ones.
BATCH_ROWS = 1 << 18

Known = Mapping[int, Codes]  # position of an attribute in the schema -> true codes, one for each row


@dataclass(frozen=True, eq=False)
class GroupReports:
    """One group's part of some whole reports: which of its distinct reports each row shows, and their law."""

    attributes: tuple[int, ...]  # positions in the schema
    kinds: NDArray[np.intp]
    law: ReportLaw

    def by_row(self) -> ReportLaw:
        return self.law.rows(self.kinds)

    def restrict_answers(self, known: Known) -> GroupReports:
        """The group's reports of people some of whose true answers are known."""
        known_here = {position: known[j] for position, j in enumerate(self.attributes) if j in known}
        if not known_here:
            return self
        return GroupReports(self.attributes, np.arange(len(self.kinds)), self.by_row().restrict_answers(known_here))


@dataclass(frozen=True, eq=False)
class WholeReports:
    """Distinct whole reports of one questionnaire, each with the number of people who sent it."""

    questionnaire: Questionnaire
    table: Table
    counts: Array
    groups: tuple[GroupReports, ...]

    @property
    def n_rows(self) -> int:
        return len(self.counts)

    @property
    def people(self) -> float:
        return float(self.counts.sum())

    def with_counts(self, counts: Array) -> WholeReports:
        """The reports with other counts."""
        reweighed = replace(self, counts=counts)
        reweighed.__dict__.update({name: self.__dict__[name] for name in ("crossing",) if name in self.__dict__})
        return reweighed

    def with_known_answers(self, known: Known, shape: tuple[int, ...]) -> WholeReports:
        """The reports together with true answers that are known of the people who sent them."""
        asked = {j for group in self.groups for j in group.attributes}
        groups = [group.restrict_answers(known) for group in self.groups]
        for j, codes in known.items():
            if j not in asked:
                groups.append(GroupReports((j,), np.arange(self.n_rows), told_law(shape[j], codes)))
        return replace(self, groups=tuple(groups))

    @cached_property
    def crossing(self) -> Crossing:
        return cross_groups([group.kinds for group in self.groups], [group.law.n_reports for group in self.groups])


@dataclass(frozen=True, eq=False)
class Crossing:
    """Cells of several groups crossed, so that a row is a product of few lookups.

    ``rows[row, cross]`` numbers the crossed cells through all crosses, ``members[cell, position]`` the groups' cells of
    each crossed cell; the last of `unit` and on is a cell of chance one that fills up shorter crosses.
    """

    rows: NDArray[np.int32]
    members: NDArray[np.int32]
    n_cells: int


def cross_groups(kinds: Sequence[NDArray[np.intp]], sizes: Sequence[int]) -> Crossing:
    """Greedily cross groups, small ones first, while the crossed cells stay few."""
    n_rows = len(kinds[0])
    limit = max(CROSSED_CELLS, n_rows // 16)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    bins: list[list[int]] = []
    spans: list[int] = []
    for g in sorted(range(len(sizes)), key=lambda g: -sizes[g]):
        fitting = [b for b, span in enumerate(spans) if span * sizes[g] <= limit]
        if fitting:
            best = max(fitting, key=lambda b: spans[b])
            bins[best].append(g)
            spans[best] *= sizes[g]
        else:
            bins.append([g])
            spans.append(sizes[g])
    rows, members, offset = [], [], 0
    width = max(len(groups) for groups in bins)
    for groups in bins:
        first, kind = distinct([kinds[g] for g in groups])
        cells = numbered_cells([kinds[g][first] for g in groups], [sizes[g] for g in groups])
        unnumbered = cells - np.concatenate([[0], np.cumsum([sizes[g] for g in groups])[:-1]])
        wide = np.full((len(first), width), starts[-1], dtype=np.int32)
        wide[:, : len(groups)] = unnumbered + starts[groups]
        rows.append(kind + offset)
        members.append(wide)
        offset += len(first)
    return Crossing(
        np.ascontiguousarray(np.stack(rows, axis=1).astype(np.int32)), np.concatenate(members), int(starts[-1])
    )


def whole_reports(
    questionnaire: Questionnaire, schema: Schema, table: Table, counts: Array | None = None
) -> WholeReports:
    """Rows of reports, and what each group's part says; repeated rows are folded."""
    first, kind = distinct([table[name] for name in table.schema.names])
    folded = np.bincount(kind, weights=counts, minlength=len(first)).astype(np.float64)
    return laid_out(questionnaire, schema, table.rows(first), folded)


def laid_out(questionnaire: Questionnaire, schema: Schema, table: Table, counts: Array) -> WholeReports:
    """Rows of reports as they are, and what each group's part says; `counts` is how often each was sent."""
    groups = []
    for group in questionnaire.groups:
        columns = [table[column.name] for column in group.report_attributes]
        first, kinds = distinct(columns)
        law = group_law(group, [column[first] for column in columns])
        groups.append(GroupReports(tuple(schema.names.index(name) for name in group.names), kinds, law))
    for attribute in questionnaire.public:
        first, kinds = distinct([table[attribute.name]])
        law = told_law(attribute.size, table[attribute.name][first])
        groups.append(GroupReports((schema.names.index(attribute.name),), kinds, law))
    return WholeReports(questionnaire, table, counts, tuple(groups))


def unseen(questionnaire: Questionnaire, table: Table, counts: Array) -> WholeReports:
    """What is known of people whose reports were not looked at: nothing, until answers are made `known`."""
    return WholeReports(replace(questionnaire, groups=()), table, counts, ())


def distinct_rows(source: Source) -> tuple[Table, NDArray[np.int64]]:
    """The distinct whole reports of a source and how often each occurs, counted where they are stored if possible."""
    engine = source.engine
    schema = source.questionnaire.report_schema
    if held_rows(engine) is None and all(attribute.shows == "one" for attribute in schema):
        return listed_rows(engine, schema.names)
    held: Table | None = None
    counts = np.zeros(0, dtype=np.int64)
    for batch, times in batches(engine):
        table = batch.select(schema.names)
        held = table if held is None else Table.concatenate([held, table])
        counts = np.concatenate([counts, times])
        first, kind = distinct([held[name] for name in schema.names])
        counts = np.bincount(kind, weights=counts, minlength=len(first)).astype(np.int64)
        held = held.rows(first)
    if held is None:
        held = Table.from_codes(
            schema, {a.name: np.zeros((0, 1) if a.shows != "one" else 0, dtype=int) for a in schema}
        )
    return held, counts


def batches(engine: CountEngine) -> Iterator[tuple[Table, NDArray[np.int64]]]:
    """The rows of an engine, some at a time, and how many reports each stands for."""
    rows, names = held_rows(engine), engine.schema.names
    if rows is not None:
        tables = (rows.rows(slice(start, start + BATCH_ROWS)) for start in range(0, rows.n_rows, BATCH_ROWS))
    elif (stored := coded_parts(engine, names)) is not None:
        tables = (table for table in stored if table.n_rows)
    else:
        yield listed_rows(engine, names)
        return
    for table in tables:
        yield table, np.ones(table.n_rows, dtype=np.int64)


def thin_counts(counts: NDArray[np.int64], people: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """How often each distinct report is among `people` drawn from all of them without replacement."""
    if counts.sum() <= people:
        return counts
    if len(counts) < 1 << 20:
        return rng.multivariate_hypergeometric(counts, people, method="marginals")
    return rng.binomial(counts, people / counts.sum())


def log_chance_of(reports: WholeReports, record: Sequence[Codes]) -> Array:
    """Logarithm of the chance of each report, given one whole record for each."""
    logs = np.zeros(reports.n_rows)
    with np.errstate(divide="ignore"):
        for group in reports.groups:
            logs += np.log(group.by_row().chance([record[j] for j in group.attributes]))
    return logs


def n_cells(schema: Schema) -> float:
    return math.prod(float(size) for size in schema.shape())


# Joint answers of one group that are weighed one by one, where its law is not a sum of products.
MOST_TRUTHS = 1 << 13
# One attribute's distinct reports by its answers are written out up to this; products with it are fast.
SMALL_MATRIX = 1 << 18


def group_law(group: Group, columns: Sequence[Codes]) -> ReportLaw:
    """The law of these reports of a group; one attribute alone is always a small matrix."""
    shape = tuple(attribute.size for attribute in group.attributes)
    is_small = len(shape) == 1 and len(columns[0]) * shape[0] <= SMALL_MATRIX
    terms = None if is_small else group.channel.chance_terms(columns)
    if terms is not None:
        return ProductLaw(shape, [LawTerm(term.scale, term.factors) for term in terms])
    if len(shape) > 1 and math.prod(shape) > MOST_TRUTHS:
        raise InvalidInput(
            f"A model of whole records weighs every joint answer of {', '.join(group.names)}, disguised together; they have "
            f"{math.prod(shape):,} of them, more than {MOST_TRUTHS:,}. Leave some of them out, or use smaller groups."
        )
    return DenseLaw(shape, group.channel.chances(columns))


def told_law(size: int, codes: Codes) -> ReportLaw:
    """The law of answers that are reported as they are."""
    if len(codes) * size <= SMALL_MATRIX:
        return DenseLaw((size,), np.eye(size)[codes])
    return ProductLaw((size,), [LawTerm(np.ones(len(codes)), (codes.astype(np.int64),))])
