"""Shares of people to whom a combination of answers applies, of any length and without a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.count.protocol import Product, Source
from tacit.errors import InvalidInput, NotEstimable
from tacit.estimation.inversion import filled
from tacit.estimation.parts import Part, parts_for
from tacit.estimation.pooling import never_together
from tacit.estimation.result import Sampling, ShareEstimate, checked_pooling
from tacit.schema import Schema

# The answers each attribute of a conjunction may have: one, or one of several.
Condition = Mapping[str, str | Sequence[str]]
# For each attribute of a condition, which of its answers meet it.
Masks = Mapping[str, NDArray[np.bool_]]


def condition_masks(schema: Schema, condition: Condition) -> Masks:
    """For each attribute of a condition, which of its answers meet it."""
    if not condition:
        raise InvalidInput("A condition needs at least one attribute with its answers.")
    masks = {}
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
    found: list[list[_Share]] = [[] for _ in conditions]
    asked = filled(sources)
    for source in asked:
        telling = {index: parts for index, mask in enumerate(masks) if (parts := _telling_parts(source, mask))}
        totals = source.engine.totals([weights_for(parts, masks[index]) for index, parts in telling.items()])
        for (index, parts), total, squares in zip(telling.items(), totals.sums, totals.squares, strict=True):
            found[index].append(_Share(tuple(parts), float(total), float(squares), source.engine.n_rows))
    for mask, of_it in zip(masks, found, strict=True):
        if not of_it:
            _refuse(asked, mask)
    return [_combined(condition, of_it, sampling) for condition, of_it in zip(conditions, found, strict=True)]


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
    total: float
    squares: float
    rows: int

    @property
    def mean(self) -> float:
        return self.total / self.rows

    def variance(self, sampling: Sampling) -> float:
        if sampling == "respondents":
            return max(self.squares / self.rows - self.mean, 0.0) / self.rows
        return max(self.squares / self.rows - self.mean**2, 0.0) / max(self.rows - 1, 1)

    @property
    def information(self) -> float:
        """Reports over the summed square of one report's contributions to all cells, for a uniform truth."""
        square = 1.0
        for part in self.parts:
            uniform = np.full(part.channel.shape, 1 / math.prod(part.channel.shape))
            square *= float(part.estimator.solve_squares(part.channel.apply(uniform)).sum())
        return self.rows / square


def _combined(condition: Condition, found: Sequence[_Share], sampling: Sampling) -> ShareEstimate:
    """The mean of independent estimates of one share, weighed by their information."""
    weights = np.ones(1)
    if len(found) > 1:
        checked_pooling(sampling)
        weights = np.array([share.information for share in found])
        weights /= weights.sum()
    where = tuple((name, (a,) if isinstance(a, str) else tuple(a)) for name, a in condition.items())
    return ShareEstimate(
        where,
        float(sum(weight * share.mean for weight, share in zip(weights, found, strict=True))),
        math.sqrt(sum(weight**2 * share.variance(sampling) for weight, share in zip(weights, found, strict=True))),
        sum(share.rows for share in found),
        sampling,
    )
