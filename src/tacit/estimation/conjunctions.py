"""Shares of people to whom a combination of answers applies, of any length and without a table."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.channel.codes import outer
from tacit.count.protocol import Product, Source
from tacit.errors import InvalidInput, NotEstimable
from tacit.estimation.contributions import checked_covariance, nonempty_sources, with_guess
from tacit.estimation.group_parts import Part, parts_for
from tacit.estimation.intervals import ShareLaw, combined_law, law_of_error
from tacit.estimation.mean import Mean, Wanted, is_pooled
from tacit.estimation.pooling import MOST_POOLED, never_together
from tacit.estimation.result import Sampling, ShareEstimate, checked_pooling
from tacit.estimation.sampled_sources import is_weighted, table_mean
from tacit.estimation.uncertainty import Expected, Moments, PartSquares, hinges_on_public, possible_square, share_law
from tacit.schema import Schema

# The answers each attribute of a conjunction may have: one, or one of several.
Condition = Mapping[str, str | Sequence[str]]
# For each attribute of a condition, which of its answers meet it.
Masks = Mapping[str, NDArray[np.bool_]]

# Errors are taken at shares no nearer to the edge than this, as tables' are (`simplex.floor_shares`).
LEAST_SHARE = 0.0005
# Cells of a table that is estimated for the sake of one of them.
TABLE_CELLS = 1 << 10


def condition_masks(schema: Schema, condition: Condition) -> Masks:
    """For each attribute of a condition, which of its answers meet it."""
    if not condition:
        raise InvalidInput("A condition needs at least one attribute with its answers.")
    masks = {}
    if not isinstance(condition, Mapping):
        raise InvalidInput(f"A combination of answers is written like {{'smokes': 'yes'}}, not {condition!r}.")
    for name, answers in condition.items():
        attribute = schema[name]
        mask = np.zeros(attribute.size, dtype=np.bool_)
        for answer in (answers,) if isinstance(answers, str) or not isinstance(answers, Iterable) else answers:
            mask[attribute.encode(answer)] = True
        if not mask.any():
            raise InvalidInput(f"The condition allows no answer of {name!r}. Name at least one, or leave it out.")
        masks[name] = mask
    return masks


def weights_for(parts: Sequence[Part], masks: Masks) -> Product:
    """One weight table per report column (or group of them) whose product has the condition's share as its mean."""
    product = []
    for group in parts:
        events = [masks[name] for name in group.attributes]
        if group.guess is not None:  # of all unbiased weights those that tables are estimated with
            product.append(
                (group.columns, group.estimator.solve_adjoint(outer(events).astype(np.float64), group.guess))
            )
            continue
        for positions, table in group.estimator.conjunction(events):
            product.append((tuple(group.columns[position] for position in positions), table))
    return product


def shares(
    sources: Sequence[Source], schema: Schema, conditions: Sequence[Condition], sampling: Sampling = "population"
) -> list[ShareEstimate]:
    """The share of people who meet each condition.

    One cell of a small table is that of the table, so that it is the same number wherever it is asked for. All others are
    summed in one pass over each source that tells of everything in them, and their errors are counted in it.
    """
    masks = [condition_masks(schema, condition) for condition in conditions]
    tables = _Tables(nonempty_sources(sources), schema, sampling)
    in_tables = [tables.share(condition, mask) for condition, mask in zip(conditions, masks, strict=True)]
    others = [i for i, share in enumerate(in_tables) if share is None]
    summed = iter(_shares_of_sums(sources, [conditions[i] for i in others], [masks[i] for i in others], sampling))
    return [next(summed) if share is None else share for share in in_tables]


@dataclass(frozen=True, eq=False)
class _Tables:
    """Shares that are single cells of small tables; each table is estimated once."""

    sources: Sequence[Source]
    schema: Schema
    sampling: Sampling
    made: dict[frozenset[str], tuple[Mean, ShareLaw, Array]] = field(default_factory=dict)

    def share(self, condition: Condition, masks: Masks) -> ShareEstimate | None:
        """The share; None where it is no single cell, or its table is too large to be written out."""
        names = [name for name in self.schema.names if name in masks]
        is_cell = all(mask.sum() == 1 for mask in masks.values())
        # Sums over reports do not know weights, so several answers are cells of a weighted table too.
        if not self._is_small(names) or not (is_cell or is_weighted(self.sources)):
            return None
        mean, law, variances = self._table(names)
        if is_cell:
            cell = tuple(int(masks[name].argmax()) for name in names)
            p, variance, cell_law = mean.probabilities[cell], np.array(variances[cell]), law.of_cell(cell)
        else:
            wanted = Wanted(tuple(names), outer([masks[name] for name in names]).astype(np.float64).reshape(1, -1))
            p, variance = mean.numbers(wanted)[0], mean.numbers_covariance(wanted)[0, 0]
            cell_law = law_of_error(p, variance, mean.n_reports)
        return ShareEstimate(
            _where(condition), float(p), math.sqrt(variance), mean.n_reports, self.sampling,
            lambda level: mean.ends(cell_law, np.array(p), variance, level), mean.rule,
        )  # fmt: skip

    def _is_small(self, names: Sequence[str]) -> bool:
        return len(names) <= MOST_POOLED and math.prod(self.schema.shape(names)) <= TABLE_CELLS

    def _table(self, names: Sequence[str]) -> tuple[Mean, ShareLaw, Array]:
        key = frozenset(names)
        if key not in self.made:
            asking = [source for source in self.sources if set(source.questionnaire.attributes) & key]
            if is_pooled(asking, names):
                checked_pooling(self.sampling)
            mean = table_mean(asking, names, self.schema.shape(names))
            self.made[key] = mean, mean.law(self.sampling), mean.variances(self.sampling)
        return self.made[key]


def _shares_of_sums(
    sources: Sequence[Source], conditions: Sequence[Condition], masks: Sequence[Masks], sampling: Sampling
) -> list[ShareEstimate]:
    """Shares as sums over reports of products of weights."""
    made: list[list[_Share]] = [[] for _ in conditions]
    asked = nonempty_sources(sources) if conditions else []
    for source in asked:
        questions = {
            i: _Question(tuple(parts), mask) for i, mask in enumerate(masks) if (parts := _telling(source, mask))
        }
        public = {i: question.public_parts for i, question in questions.items() if question.hinges_on_public}
        wanted = [weights_for(question.parts, question.masks) for question in questions.values()]
        wanted += [weights_for(parts, masks[i]) for i, parts in public.items()]
        totals, rows = source.engine.totals(wanted), source.engine.n_rows
        seen = dict(zip(public, totals.sums[len(questions) :], strict=True))
        for (i, question), total, squares in zip(questions.items(), totals.sums, totals.squares, strict=False):
            made[i].append(_Share(question, float(total), float(squares), rows, float(seen.get(i, rows)) / rows))
    for mask, of_it in zip(masks, made, strict=True):
        if not of_it:
            _refuse(asked, mask)
    return [_combine_shares(condition, of_it, sampling) for condition, of_it in zip(conditions, made, strict=True)]


def _telling(source: Source, masks: Masks) -> list[Part]:
    """The groups a condition touches; none where the source does not ask for all of it, or asks in vain."""
    if not set(masks) <= set(source.questionnaire.attributes):
        return []
    parts = parts_for(source.questionnaire, list(masks))
    if not all(group.estimator.is_invertible() for group in parts):
        return []
    return [with_guess(source, group) for group in parts]


def _refuse(sources: Sequence[Source], masks: Masks) -> None:
    for source in sources:
        if set(masks) <= set(source.questionnaire.attributes):  # asked in vain: the channel says why
            weights_for(parts_for(source.questionnaire, list(masks)), masks)
    raise NotEstimable(never_together(list(masks)))


@dataclass(frozen=True, eq=False)
class _Question:
    """A condition that one source is asked for, by the groups that tell of it."""

    parts: tuple[Part, ...]
    masks: Masks

    @cached_property
    def squares(self) -> list[PartSquares]:
        return [_squares(group, [self.masks[name] for name in group.attributes]) for group in self.parts]

    @property
    def public_parts(self) -> list[Part]:
        return [group for group in self.parts if group.channel.is_clear]

    @property
    def hinges_on_public(self) -> bool:
        """Whether errors depend on how many give its public answers: one more sum over the reports."""
        return bool(self.public_parts) and hinges_on_public(self.squares)


@dataclass(frozen=True, eq=False)
class _Share:
    """One source's estimate of a share: the total of its reports' contributions, and of their squares."""

    question: _Question
    total: float
    squares: float
    rows: int
    public: float  # the share of all who give the public answers of the condition; 1 where it does not matter

    @property
    def mean(self) -> float:
        return self.total / self.rows

    def law(self, *, respondents: bool) -> ShareLaw:
        """How its variance depends on the share."""
        mean, square = np.array(self.mean), np.array(self.squares / self.rows)
        near = Expected(mean, square, np.array(self.public))
        return share_law(self.question.squares, mean, square, self.rows, near, respondents=respondents)

    def variance(self, p: float, sampling: Sampling) -> float:
        """Near a share p."""
        square = possible_square(self.question.squares, np.array(p), np.array(self.squares / self.rows))
        return float(Moments(p, square, self.rows).variance(sampling))

    @property
    def information(self) -> float:
        """Reports over the summed square of one report's contributions to all cells, for a uniform truth."""
        square = 1.0
        for group in self.question.parts:
            uniform = np.full(group.channel.shape, 1 / math.prod(group.channel.shape))
            square *= float(group.estimator.solve_squares(group.channel.apply(uniform)).sum())
        return self.rows / square


def _squares(group: Part, masks: Sequence[NDArray[np.bool_]]) -> PartSquares:
    """Mean square of a group's contribution to a condition."""
    meeting = outer(masks)
    axes = [group.covered.index(name) for name in group.attributes]
    shape = [size if axis in axes else 1 for axis, size in enumerate(group.channel.shape)]
    inside = np.broadcast_to(meeting.reshape(shape) > 0, group.channel.shape)
    if group.shows_one:
        given = group.channel.adjoint(group.estimator.solve_adjoint(meeting) ** 2)
        possible = group.channel.adjoint(np.ones(group.channel.tally_shape)) > 0  # not what routing rules out
        met, missed = given[inside & possible], given[~inside & possible]
    else:
        # The channels of sets and bits treat all answers to a question alike: even ones stand for any that miss as much.
        truths = [truth / truth.sum() for truth in _missing_some(masks, shape, group.channel.shape) if truth.any()]
        met, *others = (np.array(_mean_square(group, meeting, group.channel.apply(truth))) for truth in truths)
        missed = np.array(others)
    missed = missed if missed.size else met
    return PartSquares(np.array(met.mean()), np.array(missed.min()), np.array(missed.max()), group.channel.is_clear)


def _missing_some(masks: Sequence[NDArray[np.bool_]], shape: Sequence[int], whole: tuple[int, ...]) -> Iterator[Array]:
    """Truths that meet the condition, then those that miss it in each set of its attributes."""
    for missing in itertools.product((False, True), repeat=len(masks)):
        truth = outer([mask != missed for mask, missed in zip(masks, missing, strict=True)])
        yield np.broadcast_to(truth.reshape(shape), whole)


def _mean_square(group: Part, meeting: Array, tally: Array) -> float:
    """Mean square of one report's contribution to a sum of cells."""
    cells = np.flatnonzero(meeting)
    if len(cells) == 1:
        return float(group.estimator.solve_squares(tally).reshape(-1)[cells[0]])
    checked_covariance(meeting.size)
    return float(group.estimator.solve_pairs(tally)[np.ix_(cells, cells)].sum())


def _where(condition: Condition) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(
        (name, tuple(answers) if isinstance(answers, Iterable) and not isinstance(answers, str) else (answers,))
        for name, answers in condition.items()
    )


def _combine_shares(condition: Condition, shares: Sequence[_Share], sampling: Sampling) -> ShareEstimate:
    """The mean of independent estimates of one share, weighed by their information."""
    weights = np.ones(1)
    if len(shares) > 1:
        checked_pooling(sampling)
        weights = np.array([share.information for share in shares])
        weights /= weights.sum()
    mean = float(sum(weight * share.mean for weight, share in zip(weights, shares, strict=True)))
    near = min(max(mean, LEAST_SHARE), 1 - LEAST_SHARE)
    laws = [share.law(respondents=sampling == "respondents") for share in shares]
    law = laws[0] if len(laws) == 1 else combined_law(laws, weights)
    rows = sum(share.rows for share in shares)
    variance = sum(weight**2 * share.variance(near, sampling) for weight, share in zip(weights, shares, strict=True))
    ends = partial(law.interval, np.array(mean))
    return ShareEstimate(_where(condition), mean, math.sqrt(variance), rows, sampling, ends)
