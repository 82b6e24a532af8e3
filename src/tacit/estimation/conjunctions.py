"""Shares of people to whom a combination of answers applies, of any length and without a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.channel.codes import outer
from tacit.count.protocol import Product, Source
from tacit.errors import InvalidInput, NotEstimable
from tacit.estimation.group_parts import Part, parts_for
from tacit.estimation.intervals import ShareLaw, combined_law
from tacit.estimation.inversion import checked_covariance, filled
from tacit.estimation.pooling import never_together
from tacit.estimation.result import Sampling, ShareEstimate, checked_pooling
from tacit.schema import Schema

# The answers each attribute of a conjunction may have: one, or one of several.
Condition = Mapping[str, str | Sequence[str]]
# For each attribute of a condition, which of its answers meet it.
Masks = Mapping[str, NDArray[np.bool_]]

# Errors are taken at shares no nearer to the edge than this, as tables' are (`simplex.floored`).
LEAST_SHARE = 0.0005


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
        for answer in (answers,) if isinstance(answers, str) else answers:
            mask[attribute.encode(answer)] = True
        if not mask.any():
            raise InvalidInput(f"The condition allows no answer of {name!r}. Name at least one, or leave it out.")
        masks[name] = mask
    return masks


def weights_for(parts: Sequence[Part], masks: Masks) -> Product:
    """One weight table per report column (or group of them) whose product has the condition's share as its mean."""
    product = []
    for part in parts:
        for positions, table in part.estimator.conjunction([masks[name] for name in part.attributes]):
            product.append((tuple(part.columns[position] for position in positions), table))
    return product


def shares(
    sources: Sequence[Source], schema: Schema, conditions: Sequence[Condition], sampling: Sampling = "population"
) -> list[ShareEstimate]:
    """The share of people who meet each condition: all in one pass over each source that tells of everything in it."""
    masks = [condition_masks(schema, condition) for condition in conditions]
    made: list[list[_Share]] = [[] for _ in conditions]
    asked = filled(sources)
    for source in asked:
        telling = {index: parts for index, mask in enumerate(masks) if (parts := _telling_parts(source, mask))}
        totals = source.engine.totals([weights_for(parts, masks[index]) for index, parts in telling.items()])
        for (index, parts), total, squares in zip(telling.items(), totals.sums, totals.squares, strict=True):
            rows = source.engine.n_rows
            made[index].append(_Share(tuple(parts), masks[index], float(total), float(squares), rows))
    for mask, of_it in zip(masks, made, strict=True):
        if not of_it:
            _refuse(asked, mask)
    return [_combined(condition, of_it, sampling) for condition, of_it in zip(conditions, made, strict=True)]


def _telling_parts(source: Source, masks: Masks) -> list[Part]:
    """The groups a condition touches; none where the source does not ask for all of it, or asks in vain."""
    if not set(masks) <= set(source.questionnaire.attributes):
        return []
    parts = parts_for(source.questionnaire, list(masks))
    return parts if all(part.estimator.is_invertible() for part in parts) else []


def _refuse(sources: Sequence[Source], masks: Masks) -> None:
    for source in sources:
        if set(masks) <= set(source.questionnaire.attributes):  # asked in vain: the channel says why
            weights_for(parts_for(source.questionnaire, list(masks)), masks)
    raise NotEstimable(never_together(list(masks)))


@dataclass(frozen=True, eq=False)
class _Share:
    """One source's estimate of a share: the total of its reports' contributions, and of their squares."""

    parts: tuple[Part, ...]
    masks: Masks
    total: float
    squares: float
    rows: int

    @property
    def mean(self) -> float:
        return self.total / self.rows

    def law(self, p: float, *, respondents: bool) -> ShareLaw:
        """How its variance depends on the share, near p.

        The mean square of those who do not meet the condition depends on which part of it they miss. It is taken from
        the reports, within what the channels allow: few reports, or reports that are all alike, do not make it vanish.
        """
        each = [_squares(part, [self.masks[name] for name in part.attributes]) for part in self.parts]
        inside = math.prod(squares.inside for squares in each)
        least = _missed([(squares.inside, squares.least) for squares in each], min)
        most = _missed([(squares.inside, squares.most) for squares in each], max)
        counted = (self.squares / self.rows - p * inside) / (1 - p)
        outside = min(max(counted, least), most)
        return ShareLaw.of(np.array(inside), np.array(outside), self.rows, respondents=respondents)

    @property
    def information(self) -> float:
        """Reports over the summed square of one report's contributions to all cells, for a uniform truth."""
        square = 1.0
        for part in self.parts:
            uniform = np.full(part.channel.shape, 1 / math.prod(part.channel.shape))
            square *= float(part.estimator.solve_squares(part.channel.apply(uniform)).sum())
        return self.rows / square


def _missed(each: Sequence[tuple[float, float]], best: Callable[[Iterable[float]], float]) -> float:
    """The least or most of all products of one number a group, met or missed, in which some group misses."""
    met_all, missed_some = 1.0, None
    for met, missed in each:
        products = [met_all * missed] + ([] if missed_some is None else [missed_some * met, missed_some * missed])
        met_all, missed_some = met_all * met, best(products)
    assert missed_some is not None
    return missed_some


@dataclass(frozen=True)
class _Squares:
    """Mean square of a group's contribution to a condition: of those who meet it, and the range of those who do not."""

    inside: float
    least: float
    most: float


def _squares(part: Part, masks: Sequence[NDArray[np.bool_]]) -> _Squares:
    meeting = outer(masks)
    axes = [part.covered.index(name) for name in part.attributes]
    shape = [size if axis in axes else 1 for axis, size in enumerate(part.channel.shape)]
    inside = np.broadcast_to(meeting.reshape(shape) > 0, part.channel.shape)
    if part.shows_one:
        given = part.channel.adjoint(part.estimator.solve_adjoint(meeting) ** 2)
        others = given[~inside] if not inside.all() else given
        return _Squares(float(given[inside].mean()), float(others.min()), float(others.max()))
    # Where reports show sets, the channels treat all answers alike: even ones stand for any.
    truths = [truth / truth.sum() for truth in (1.0 * inside, 1.0 * ~inside) if truth.any()]
    squares = [_mean_square(part, meeting, part.channel.apply(truth)) for truth in truths]
    return _Squares(squares[0], squares[-1], squares[-1])


def _mean_square(part: Part, meeting: Array, tally: Array) -> float:
    """Of one report's contribution to a sum of cells."""
    cells = np.flatnonzero(meeting)
    if len(cells) == 1:
        return float(part.estimator.solve_squares(tally).reshape(-1)[cells[0]])
    checked_covariance(meeting.size)
    return float(part.estimator.solve_pairs(tally)[np.ix_(cells, cells)].sum())


def _combined(condition: Condition, shares: Sequence[_Share], sampling: Sampling) -> ShareEstimate:
    """The mean of independent estimates of one share, weighed by their information."""
    weights = np.ones(1)
    if len(shares) > 1:
        checked_pooling(sampling)
        weights = np.array([share.information for share in shares])
        weights /= weights.sum()
    where = tuple((name, (a,) if isinstance(a, str) else tuple(a)) for name, a in condition.items())
    mean = float(sum(weight * share.mean for weight, share in zip(weights, shares, strict=True)))
    near = min(max(mean, LEAST_SHARE), 1 - LEAST_SHARE)
    laws = [share.law(near, respondents=sampling == "respondents") for share in shares]
    law = laws[0] if len(laws) == 1 else combined_law(laws, weights)
    rows = sum(share.rows for share in shares)
    return ShareEstimate(where, mean, math.sqrt(float(law.variance(np.array(near)))), rows, sampling, law)
