"""Shares of people to whom a combination of answers applies, of any length and without a table (FORMULAS 1.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tacit.count.protocol import Product, Source
from tacit.errors import InvalidInput, NotEstimable
from tacit.estimate.inversion import checked_rows
from tacit.estimate.parts import Part, apply, parts_for
from tacit.estimate.result import Sampling, ShareEstimate
from tacit.schema import Schema

# The answers each attribute of a conjunction may have: one, or one of several.
Condition = Mapping[str, str | Sequence[str]]


def condition_masks(schema: Schema, condition: Condition) -> dict[str, NDArray[np.bool_]]:
    """For each attribute of a condition, which of its answers meet it."""
    if not condition:
        raise InvalidInput("A condition needs at least one attribute with its answers.")
    masks = {}
    for name, answers in condition.items():
        attribute = schema[name]
        mask = np.zeros(attribute.size, dtype=np.bool_)
        for answer in (answers,) if isinstance(answers, str) else answers:
            mask[attribute.encode(answer)] = True
        masks[name] = mask
    return masks


def weights_for(parts: Sequence[Part], masks: Mapping[str, NDArray[np.bool_]]) -> Product:
    """One weight table per report column (or group of them) whose product has the condition's share as its mean."""
    product = []
    for part in parts:
        for positions, table in part.estimator.conjunction([masks[name] for name in part.attributes]):
            product.append((tuple(part.columns[position] for position in positions), table))
    return product


def shares(
    sources: Sequence[Source], schema: Schema, conditions: Sequence[Condition], sampling: Sampling = "population"
) -> list[ShareEstimate]:
    """The share of people who meet each condition: all conditions in one pass over each source."""
    masks = [condition_masks(schema, condition) for condition in conditions]
    results = [_Combined() for _ in conditions]
    for source in sources:
        checked_rows(source)
        mine = [index for index, mask in enumerate(masks) if set(mask) <= set(source.questionnaire.attributes)]
        parts = {index: parts_for(source.questionnaire, list(masks[index])) for index in mine}
        totals = source.engine.totals([weights_for(parts[index], masks[index]) for index in mine])
        for index, total, squares in zip(mine, totals.sums, totals.squares, strict=True):
            weight = source.engine.n_rows / _spread(parts[index])
            results[index].add(weight, total, squares, source.engine.n_rows, sampling)
    return [result.share(condition, sampling) for result, condition in zip(results, conditions, strict=True)]


def _spread(parts: Sequence[Part]) -> float:
    """Mean square of one report's contributions to all cells, under a uniform truth: what a source is weighed by."""
    square = 1.0
    for part in parts:
        uniform = np.full(part.channel.shape, 1 / math.prod(part.channel.shape))
        tally = apply([part], uniform)
        square *= float(part.estimator.solve_squares(tally).sum())
    return square


class _Combined:
    """The weighted mean of independent estimates of one share."""

    def __init__(self) -> None:
        self.weight, self.total, self.variance, self.rows = 0.0, 0.0, 0.0, 0

    def add(self, weight: float, total: float, squares: float, rows: int, sampling: Sampling) -> None:
        mean = total / rows
        if sampling == "respondents":
            variance = max(squares / rows - mean, 0.0) / rows
        else:
            variance = max(squares / rows - mean**2, 0.0) / max(rows - 1, 1)
        self.weight += weight
        self.total += weight * mean
        self.variance += weight**2 * variance
        self.rows += rows

    def share(self, condition: Condition, sampling: Sampling) -> ShareEstimate:
        if not self.weight:
            raise NotEstimable(
                f"{', '.join(map(repr, condition))} are never asked together, so their joint share cannot be estimated."
            )
        where = tuple((name, (a,) if isinstance(a, str) else tuple(a)) for name, a in condition.items())
        return ShareEstimate(
            where, self.total / self.weight, math.sqrt(self.variance) / self.weight, self.rows, sampling
        )
