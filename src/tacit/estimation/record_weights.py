"""What every report says of whole records that are sorted into cells: by class and prediction, or right and wrong.

The share of people in a cell is estimated like any other: the cell's indicator is mapped back through each group's inverse
to weights of reports, whose mean is the share. Over a small joint domain that is exact; over a large one each report is
turned back into records by chance, with weights of either sign.

For a function f of the truth, the mean over reports of ``sum of weight * f(turned back)`` is the mean of f over the
truths, whatever f is. Where a channel's inverse is a short sum of products over the attributes, such as the record and its
opposite under a flip, each product is one way to turn a report back; an answer that a product does not name is drawn, in
proportion to the size of its weights and with their sign. Any other channel is undone by one draw from the whole inverse.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array, Codes, ProductTerm
from tacit.channel.codes import shown_slots, split_codes
from tacit.count.abilities import held_rows
from tacit.count.protocol import Source
from tacit.errors import InvalidInput
from tacit.estimation.contributions import with_guess
from tacit.estimation.group_parts import Part, attributes_of, columns_of, parts_for
from tacit.estimation.result import Sampling
from tacit.estimation.uncertainty import counted_covariance
from tacit.table import Table

# Entries of the table of weights over all possible reports; beyond, reports are turned back one by one.
DOMAIN_ENTRIES = 1 << 22
# Rows whose reports are turned back at once.
BATCH = 1 << 16

Columns = Mapping[str, NDArray[Any]]
# Products of terms are written out up to this many, and drawn beyond.
MOST_PATTERNS = 64
# Weights over rows and joint answers that are held at once.
HELD = 1 << 22

Weighted = tuple[Array, NDArray[np.int64]]  # weights ``[cell, row]``, and how many reports each row stands for


class RecordCells(Protocol):
    """Whole records of some attributes, each put in a cell or in none."""

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes."""

    @property
    def n_cells(self) -> int: ...

    @property
    def n_records(self) -> int:
        """How many different records there are."""

    def table(self) -> Array:
        """Indicators ``[... answers of each attribute ..., cell]``."""

    def cells(self, records: Mapping[str, NDArray[Any]], rows: int) -> NDArray[np.int64]:
        """The cell of each record, -1 for none."""


@dataclass(frozen=True, eq=False)
class RowContributions:
    """The rows form of contributions: mean and mean products of what each report adds to some numbers, row by row.

    Its errors follow the rule "counted": a sum over rows knows no distribution at which a law could be taken.
    """

    mean: Array
    products: Array
    n_reports: int
    method: str  # "exact" where all possible reports were gone through, else "report by report"

    @classmethod
    def of(cls, weighted: Iterable[Weighted], n_reports: int, method: str) -> RowContributions:
        """Sums of the weights of all rows, which come in blocks."""
        sums: Any = 0.0
        products: Any = 0.0
        for weights, counts in weighted:
            sums = sums + weights @ counts
            products = products + (weights * counts) @ weights.T
        return cls(sums / n_reports, products / n_reports, n_reports, method)

    def covariance(self, sampling: Sampling) -> Array:
        """Covariance of the means, as counted."""
        return counted_covariance(self.products, self.mean, self.n_reports, sampling)


def row_contributions(source: Source, asked: RecordCells, *, draws: int, seed: int) -> RowContributions:
    """What the reports of one source say; exact over the joint domain where it is small, else report by report."""
    parts = _asked_parts(source, asked)
    if _is_small(asked, parts):
        return RowContributions.of(_over_domain(source, asked, parts), source.engine.n_rows, "exact")
    weighted = _report_by_report(source, asked, parts, draws, np.random.default_rng(seed))
    return RowContributions.of(weighted, source.engine.n_rows, "report by report")


def row_weights(source: Source, asked: RecordCells, *, draws: int, seed: int) -> Array:
    """Weights ``[cell, report]`` of every report of a source whose rows lie in memory."""
    rows = _rows_in_memory(source)
    parts = _asked_parts(source, asked)
    columns = columns_of(parts)
    if not _is_small(asked, parts):
        held = {name: rows[name] for name in columns}
        return _turned_weights(asked, parts, held, rows.n_rows, draws, np.random.default_rng(seed))
    weights = _report_table(asked, parts)
    if all(rows.schema[name].shows == "one" for name in columns):
        looked_up: Any = (slice(None), *(rows[name] for name in columns))
        return np.asarray(weights[looked_up], dtype=np.float64)
    return np.concatenate([each for each, _ in _set_weights(source, columns, weights)], axis=1)


def _asked_parts(source: Source, asked: RecordCells) -> list[Part]:
    return [with_guess(source, group) for group in parts_for(source.questionnaire, asked.names)]


def _is_small(asked: RecordCells, parts: Sequence[Part]) -> bool:
    reports = math.prod(math.prod(group.estimator.tally_shape) for group in parts)
    return max(reports, asked.n_records) * asked.n_cells <= DOMAIN_ENTRIES


def _report_table(asked: RecordCells, parts: Sequence[Part]) -> Array:
    """The indicators of every possible record, mapped back by each group's inverse: ``[cell, ... slots of reports ...]``."""
    table = asked.table()
    order = [asked.names.index(name) for name in attributes_of(parts)]
    weights = table.transpose(*order, table.ndim - 1)
    for group in parts:
        mapped = group.estimator.solve_adjoint(weights, group.guess)
        weights = np.moveaxis(mapped, range(group.tally_ndim), range(-group.tally_ndim, 0))
    return weights


def _over_domain(source: Source, asked: RecordCells, parts: Sequence[Part]) -> Iterator[Weighted]:
    weights, columns = _report_table(asked, parts), columns_of(parts)
    if any(source.engine.schema[name].shows != "one" for name in columns):
        yield from _set_weights(source, columns, weights)
        return
    tally = source.engine.tally(columns).reshape(-1)
    seen = np.flatnonzero(tally)
    yield weights.reshape(len(weights), -1)[:, seen], tally[seen]


def _set_weights(source: Source, columns: Sequence[str], weights: Array) -> Iterator[tuple[Array, NDArray[np.int64]]]:
    """Weights of each report where columns show sets: the slots of its members are summed, column by column."""
    schema = source.engine.schema
    table = _rows_in_memory(source)
    single = [name for name in columns if schema[name].shows == "one"]
    several = [name for name in columns if schema[name].shows != "one"]
    order = [0, *(1 + columns.index(name) for name in (*single, *several))]
    arranged = weights.transpose(order)
    held = math.prod(arranged.shape[1 + len(single) :]) * len(weights)
    step = max(1, HELD // held)
    for start in range(0, table.n_rows, step):
        group = table.rows(slice(start, start + step))
        index: Any = (slice(None), *(group[name] for name in single))
        shape = (len(weights), group.n_rows, *arranged.shape[1 + len(single) :])
        of_rows: Array = arranged[index] if single else np.broadcast_to(arranged[:, None], shape)
        for name in several:
            of_rows = np.einsum("krs...,rs->kr...", of_rows, shown_slots(group[name], schema[name]))
        yield of_rows, np.ones(group.n_rows, dtype=np.int64)


def _rows_in_memory(source: Source) -> Table:
    rows = held_rows(source.engine)
    if rows is not None:
        return rows
    raise InvalidInput(
        "These reports show sets and are stored outside memory, where the error of an accuracy cannot be counted. Read "
        "them with Reports.read, or test on a part of them."
    )


def _report_by_report(
    source: Source, asked: RecordCells, parts: Sequence[Part], draws: int, rng: np.random.Generator
) -> Iterator[Weighted]:
    columns = columns_of(parts)
    table = held_rows(source.engine)
    if table is not None:
        held = {name: table[name] for name in columns}
        counts = np.ones(table.n_rows, dtype=np.int64)
    else:
        tally = source.engine.sparse_tally(columns)
        held = {name: tally.codes[:, place] for place, name in enumerate(columns)}
        counts = tally.counts
    for start in range(0, len(counts), BATCH):
        # Equal reports are turned back by draws of their own, else their errors would not be independent.
        times = counts[start : start + BATCH]
        batch = {name: np.repeat(column[start : start + BATCH], times, axis=0) for name, column in held.items()}
        rows = int(times.sum())
        yield _turned_weights(asked, parts, batch, rows, draws, rng), np.ones(rows, dtype=np.int64)


def _turned_weights(
    asked: RecordCells,
    parts: Sequence[Part],
    held: Mapping[str, NDArray[Any]],
    rows: int,
    draws: int,
    rng: np.random.Generator,
) -> Array:
    """Weights ``[cell, row]`` of reports that are turned back, each so many times."""
    weights = np.zeros((asked.n_cells, rows))
    for _ in range(draws):
        for term in turned_back(parts, held, rng):
            cells = asked.cells(term.truths, rows)
            inside = np.flatnonzero(cells >= 0)
            weights[cells[inside], inside] += np.broadcast_to(term.weights, rows)[inside] / draws
    return weights


@dataclass(frozen=True, eq=False)
class Term:
    """One way to turn reports back: the truths, and the weight of each row."""

    weights: Array
    truths: dict[str, NDArray[Any]]


def turned_back(parts: Sequence[Part], reports: Columns, rng: np.random.Generator) -> Iterator[Term]:
    """Whole records with weights that undo the disguise of all groups; one or several for each report."""
    choices = [_terms(group, reports, rng) for group in parts]
    if math.prod(len(terms) for terms in choices) > MOST_PATTERNS:
        choices = [[_draw_term(terms, rng)] for terms in choices]
    for pattern in itertools.product(*choices):
        weights = math.prod((term.weights for term in pattern), start=np.ones(1))
        yield Term(weights, {name: column for term in pattern for name, column in term.truths.items()})


def _terms(group: Part, reports: Columns, rng: np.random.Generator) -> list[Term]:
    columns = [reports[name] for name in group.columns]
    nothing = [column[:0] for column in columns]
    as_products = not group.channel.has_choice and group.channel.inverse_terms(nothing) is not None
    step = max(1, HELD // (max if as_products else math.prod)(group.channel.shape))
    turn = _products if as_products else _whole
    chunks = []
    for start in range(0, len(columns[0]), step):
        chunks.append(turn(group, [column[start : start + step] for column in columns], rng))
    return [_join_terms(terms) for terms in zip(*chunks, strict=True)] if chunks else turn(group, nothing, rng)


def _join_terms(terms: Sequence[Term]) -> Term:
    """One term of all rows, from that term of several chunks of them."""
    if len(terms) == 1:
        return terms[0]
    truths = {name: np.concatenate([term.truths[name] for term in terms]) for name in terms[0].truths}
    return Term(np.concatenate([term.weights for term in terms]), truths)


def _products(group: Part, columns: Sequence[Codes], rng: np.random.Generator) -> list[Term]:
    terms = group.channel.inverse_terms(columns)
    assert terms is not None, "the caller has asked"
    return [_product(group, term, rng) for term in terms]


def _product(group: Part, term: ProductTerm, rng: np.random.Generator) -> Term:
    weights, truths = term.scale, {}
    for name, factor, size in zip(group.covered, term.factors, group.channel.shape, strict=True):
        if factor is not None and factor.ndim == 1:
            truths[name] = factor
            continue
        shares = np.ones((len(weights), size)) if factor is None else factor
        truths[name], signed = _signed_choice(shares, rng)
        weights = weights * signed
    return Term(weights, {name: truths[name] for name in group.attributes})


def _whole(group: Part, columns: Sequence[Codes], rng: np.random.Generator) -> list[Term]:
    """A joint answer of the whole group, from its row of the inverse; then the attributes that are asked for."""
    chosen, signed = _signed_choice(group.channel.inverse(columns, group.guess), rng)
    joint = split_codes(chosen, group.channel.shape)
    return [Term(signed, {name: joint[group.covered.index(name)] for name in group.attributes})]


def _draw_term(terms: Sequence[Term], rng: np.random.Generator) -> Term:
    """One of the terms for each row, in proportion to the size of its weight."""
    if len(terms) == 1:
        return terms[0]
    weights = np.stack([term.weights for term in terms], axis=1)
    chosen, signed = _signed_choice(weights, rng)
    every = np.arange(len(chosen))
    truths = {name: np.stack([term.truths[name] for term in terms], axis=1)[every, chosen] for name in terms[0].truths}
    return Term(signed, truths)


def _signed_choice(weights: Array, rng: np.random.Generator) -> tuple[NDArray[np.int64], Array]:
    """For each row one column, drawn in proportion to the size of its weight, and the row's total with the sign."""
    sizes = np.cumsum(np.abs(weights), axis=1)
    chosen = (sizes < rng.random(len(weights))[:, None] * sizes[:, -1:]).sum(axis=1)
    signs = np.sign(weights[np.arange(len(weights)), chosen])
    return chosen, signs * sizes[:, -1]
