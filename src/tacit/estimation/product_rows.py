"""Rows that are short sums of products over the attributes: what a report says of the truth, or a class of a model.

What a report contributes to an estimate is, for each group, a short sum of products of one factor per attribute
(`Channel.inverse_terms`). A true record is one product, and so is a latent class. Tables within any conditions, and the
spread of what single rows contribute to them, are sums over such rows whatever these stand for.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array, Channel, Codes, ProductTerm
from tacit.count.abilities import distinct_rows
from tacit.count.protocol import Source
from tacit.count.remembered import remember_tallies
from tacit.errors import NotEstimable
from tacit.estimation.contributions import nonempty_sources, with_guess
from tacit.estimation.group_parts import Part, columns_of, parts_for
from tacit.schema import Schema

# A tally up to this size is counted in full, and its cells that are not empty are the rows.
TALLIED_CELLS = 1 << 20
# Different whole reports that are held; of more, tables are estimated one by one.
MOST_ROWS = 1 << 22
# Products a report of one group may be a sum of.
MOST_TERMS = 16
# Patterns of one attribute, which are numbered in 16 bits.
MOST_PATTERNS = 1 << 16
# Numbers held while the tables of one subgroup are summed.
MOST_SUMS = 1 << 23
# Numbers of the inverse of a group whose reports are no short sums of products.
MOST_CONTRIBUTIONS = 1 << 22


@dataclass(frozen=True, eq=False)
class Factors:
    """One attribute's factors: the pattern of each kind, ``table[pattern, term, answer]``, and what stands for "any answer"."""

    patterns: NDArray[np.intp]
    table: Array
    open: Array  # [pattern, term]


class Kinds(NamedTuple):
    """The different things that rows say of each group: of group g those from first[g] to first[g + 1], the last nothing.

    Rows name their kinds, so what depends on one group only is worked out once for a kind, not once for a row.
    ``cells[kind, attribute of the group]`` numbers the pattern that the kind has of an attribute among the patterns of all
    attributes; beyond a group's attributes it is one that changes no product.
    """

    cells: NDArray[np.int64]
    first: NDArray[np.int64]


class Rows(NamedTuple):
    """The rows that still say something: which of each group's kinds, ``codes[group, row]``, and for how many people."""

    codes: NDArray[np.int32]
    counts: Array


@dataclass(frozen=True, eq=False)
class ProductRows:
    """Distinct rows with the number of people each stands for, and the factors of every attribute, group by group.

    A row names one of a group's kinds, and a kind has a pattern of each attribute. The last pattern of an attribute says
    nothing: only its constant terms are there. Behind all attributes stands one that changes no product.
    """

    schema: Schema  # the attributes in the order of the arrays
    starts: NDArray[np.int64]  # of the groups
    rows: Rows
    kinds: Kinds
    factors: Array  # [attribute, pattern, term, answer]
    open: Array  # [attribute, pattern, term]: what stands for "any answer"
    nothing: NDArray[np.int64]  # the last pattern of each attribute
    is_constant: NDArray[np.bool_]  # [group, term]
    people: float

    @cached_property
    def group_of(self) -> list[int]:
        """The group of each attribute."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts)).tolist()

    @cached_property
    def places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.schema.names)}

    @cached_property
    def flat_factors(self) -> Array:
        """The factors of all patterns, ``[cell, term, answer]``."""
        return self.factors.reshape(-1, *self.factors.shape[2:])

    @cached_property
    def is_small(self) -> bool:
        """Whether the sums of a subgroup fit memory, whatever the target."""
        patterns, terms, kinds = int(self.nothing.max()) + 1, self.factors.shape[2], np.diff(self.kinds.first)
        outside = int(kinds.sum() - kinds.min())  # of the target's group
        return max(len(self.schema) * patterns * terms**2, outside) * patterns * terms**2 <= MOST_SUMS


def report_rows(source: Source) -> ProductRows | None:
    """The reports of a source as product rows; None where their groups are no short sums, or there are too many."""
    nonempty_sources([source])
    questionnaire = source.questionnaire
    asked = parts_for(questionnaire, questionnaire.attributes)
    source = remember_tallies(source, [question.columns for question in asked if question.channel.has_choice])
    parts = [with_guess(source, question) for question in asked]
    if any(len(question.attributes) > 1 and not question.channel.sums_to_one for question in parts):
        return None
    listed = _distinct_reports(source, parts)
    if listed is None:
        return None
    codes, kinds, counts = listed
    groups = [_group_factors(question, reports) for question, reports in zip(parts, kinds, strict=True)]
    factors = [group for group in groups if group is not None]
    if len(factors) < len(groups) or max(len(each.table) for group in factors for each in group) >= MOST_PATTERNS:
        return None
    names = [name for question in parts for name in question.attributes]
    true = {attribute.name: attribute for group in questionnaire.groups for attribute in group.attributes}
    true |= {attribute.name: attribute for attribute in questionnaire.public}
    rows = product_rows(Schema(tuple(true[name] for name in names)), factors, codes, counts.astype(np.float64))
    return rows if rows.is_small else None


# Of each group the kind of every row, and the columns of its kinds; then how many people sent each row.
Listed = tuple[list[NDArray[np.intp]], list[list[Codes]], NDArray[np.int64]]


def _distinct_reports(source: Source, parts: Sequence[Part]) -> Listed | None:
    """The different whole reports."""
    names = columns_of(parts)
    columns = [source.engine.schema[name] for name in names]
    shape = tuple(column.tally_size for column in columns)
    if all(column.shows == "one" for column in columns) and math.prod(shape) <= TALLIED_CELLS:
        return _reports_of_tally(source.engine.tally(names), [len(group.columns) for group in parts])
    if min(source.engine.n_rows, math.prod(shape)) > MOST_ROWS:
        return None
    try:
        table, counts = distinct_rows(source.engine, names)
    except NotEstimable:
        return None
    codes, kinds = [], []
    for group in parts:
        group_columns = [table[name] for name in group.columns]
        first, numbers = _distinct(group_columns)
        codes.append(numbers)
        kinds.append([column[first] for column in group_columns])
    return codes, kinds, counts


def _reports_of_tally(tally: NDArray[np.int64], widths: Sequence[int]) -> Listed:
    """The cells that are not empty; `widths` are how many axes each group has."""
    ends = np.cumsum([0, *widths])
    shapes = [tally.shape[start:end] for start, end in itertools.pairwise(ends)]
    cells = np.flatnonzero(tally)
    codes, kinds = [], []
    for group_cells, shape in zip(np.unravel_index(cells, [math.prod(shape) for shape in shapes]), shapes, strict=True):
        occurs = np.zeros(math.prod(shape), dtype=np.bool_)
        occurs[group_cells] = True
        codes.append((np.cumsum(occurs) - 1)[group_cells])
        kinds.append([column.astype(np.int64) for column in np.unravel_index(np.flatnonzero(occurs), shape)])
    return codes, kinds, tally.reshape(-1)[cells]


def product_rows(
    schema: Schema, groups: Sequence[Sequence[Factors]], codes: Sequence[NDArray[np.intp]], counts: Array
) -> ProductRows:
    """Rows from the factors of every attribute, listed group by group, and the kinds of each group that rows are of."""
    factors = [each for group in groups for each in group]
    n_terms = max(each.table.shape[1] for each in factors)
    n_patterns = max(len(each.table) for each in factors) + 1
    table = np.zeros((len(factors) + 1, n_patterns, n_terms, max(schema.shape())))
    left_open = np.zeros(table.shape[:3])
    table[-1], left_open[-1] = 1.0, 1.0
    constant = np.zeros((len(groups), n_terms), dtype=np.bool_)
    starts = np.cumsum([0, *(len(group) for group in groups)])
    for number, group in enumerate(groups):
        terms = group[0].table.shape[1]
        stays = [all(_is_same(each.table[:, term]) for each in group) for term in range(terms)]
        # With nothing that varies, or nothing that stays, no row is ever told to say nothing.
        constant[number, :terms] = stays if 0 < sum(stays) < terms else False
        for place, each in enumerate(group, start=int(starts[number])):
            size = len(each.table)
            table[place, :size, :terms, : each.table.shape[2]] = each.table
            left_open[place, :size, :terms] = each.open
            is_left = constant[number, :terms]
            table[place, size, :terms, : each.table.shape[2]] = each.table[0] * is_left[:, None]
            left_open[place, size, :terms] = each.open[0] * is_left
    return ProductRows(
        schema, starts, Rows(np.stack(codes).astype(np.int32), counts), _kinds(groups, starts, n_patterns), table,
        left_open, np.array([len(each.table) for each in factors]), constant, float(counts.sum()),
    )  # fmt: skip


def _kinds(groups: Sequence[Sequence[Factors]], starts: NDArray[np.int64], n_patterns: int) -> Kinds:
    first = np.cumsum([0, *(len(group[0].patterns) + 1 for group in groups)])
    cells = np.full((int(first[-1]), max(len(group) for group in groups)), int(starts[-1]) * n_patterns)
    for low, end, start, group in zip(first, first[1:], starts, groups, strict=False):
        for slot, each in enumerate(group):
            cells[low:end, slot] = (start + slot) * n_patterns + np.append(each.patterns, len(each.table))
    return Kinds(cells, first)


def record_rows(schema: Schema, codes: Sequence[Codes], weights: Array) -> ProductRows:
    """Whole records as they are, with weights: an estimated or modelled distribution that is written out."""
    group = [_clear_factors(column, attribute.size) for column, attribute in zip(codes, schema, strict=True)]
    return product_rows(schema, [group], [np.arange(len(weights))], weights)


def class_rows(schema: Schema, weights: Array, factors: Sequence[Array]) -> ProductRows:
    """Latent classes: one row each, whose factors are the shares of answers within it."""
    patterns = np.arange(len(weights))
    group = [Factors(patterns, table[:, None, :], np.ones((len(weights), 1))) for table in factors]
    return product_rows(schema, [group], [patterns], weights)


def _clear_factors(codes: Codes, size: int) -> Factors:
    return Factors(codes.astype(np.intp), np.eye(size)[:, None, :], np.ones((size, 1)))


def _is_same(table: Array) -> bool:
    return bool((table == table[:1]).all())


def _group_factors(group: Part, columns: Sequence[Codes]) -> list[Factors] | None:
    """The factors of a group's attributes for every kind; None where its reports are no short sums of products."""
    channel = group.channel
    if channel.is_clear and group.shows_one:
        return [_clear_factors(column, size) for column, size in zip(columns, channel.shape, strict=True)]
    if len(channel.shape) == 1:
        first, kinds = _distinct(columns)
        table = channel.inverse([column[first] for column in columns], group.guess)
        whole = table.sum(axis=1) if channel.sums_to_one else np.ones(len(table))
        return [Factors(kinds, table[:, None, :], whole[:, None])]
    terms = None if channel.has_choice else channel.inverse_terms(columns)
    if terms is not None:
        return _by_terms(terms, channel.shape)
    return _written_out(channel, group.guess, columns)


def _distinct(columns: Sequence[Codes]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """One row of each kind, and the kind of every row."""
    wide = [column if column.ndim == 2 else column[:, None] for column in columns]
    flat = np.concatenate([column.astype(np.int64) for column in wide], axis=1)
    _, first, kinds = np.unique(flat, axis=0, return_index=True, return_inverse=True)
    return first, kinds.reshape(-1)


def _by_terms(terms: Sequence[ProductTerm], shape: tuple[int, ...]) -> list[Factors] | None:
    """Factors of terms that are given as products; the scale of a term goes with its first attribute."""
    made = []
    for place, size in enumerate(shape):
        keys = list(_keys(terms, place))
        first, patterns = (
            _distinct(keys) if keys else (np.zeros(1, dtype=np.intp), np.zeros(len(terms[0].scale), np.intp))
        )
        table = np.ones((len(first), len(terms), size))
        for number, term in enumerate(terms):
            factor = term.factors[place]
            if factor is not None:
                table[:, number] = factor[first] if factor.ndim == 2 else np.eye(size)[factor[first]]
            if place == 0:
                table[:, number] *= term.scale[first][:, None]
        made.append(Factors(patterns, table, table.sum(axis=2)))
    return made if len(terms) <= MOST_TERMS else None


def _keys(terms: Sequence[ProductTerm], place: int) -> Iterator[Codes]:
    """What tells the rows' factors of one attribute apart, as columns of whole numbers."""
    for term in terms:
        factor = term.factors[place]
        if factor is not None and factor.ndim == 1:
            yield factor
        elif factor is not None and factor.strides[0] != 0:  # not the same numbers for every row
            yield np.ascontiguousarray(factor).view(np.int64)
        if place == 0 and (term.scale != term.scale[0]).any():
            yield np.ascontiguousarray(term.scale).view(np.int64)


def _written_out(channel: Channel, guess: Array | None, columns: Sequence[Codes]) -> list[Factors] | None:
    """One term for every joint answer of all attributes but the largest, on which the numbers are."""
    largest = int(np.argmax(channel.shape))
    others = [place for place in range(len(channel.shape)) if place != largest]
    shape = tuple(channel.shape[place] for place in others)
    terms = math.prod(shape)
    first, kinds = _distinct(columns)
    if terms > MOST_TERMS or len(first) * channel.size > MOST_CONTRIBUTIONS:
        return None
    inverse = channel.inverse([column[first] for column in columns], guess).reshape(-1, *channel.shape)
    numbers = np.moveaxis(inverse, [place + 1 for place in others], range(1, 1 + len(others)))
    made = []
    codes = np.unravel_index(np.arange(terms), shape)
    for place, size in enumerate(channel.shape):
        if place == largest:
            table = numbers.reshape(len(first), terms, size)
            made.append(Factors(kinds, table, table.sum(axis=2)))
        else:
            of_term = np.eye(size)[codes[others.index(place)]][None]
            made.append(Factors(np.zeros(len(kinds), dtype=np.intp), of_term, of_term.sum(axis=2)))
    return made
