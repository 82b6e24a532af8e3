"""Reports turned back into truths, with weights of either sign whose mean undoes the disguise.

For a function f of the truth, the mean over reports of ``sum of weight * f(turned back)`` is the mean of f over the
truths, whatever f is. A flip is undone by two terms, the record and its opposite; a mixture by two, the record and a
draw from the alternative. Any other channel is undone by one draw from the column of its inverse, in proportion to the
size of the entries and with their sign.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.kinds.bits import OneHotLaw
from tacit.channel.kinds.flip import FlipChannel
from tacit.channel.kinds.mixture import MarginalMixture, MixtureChannel
from tacit.channel.protocol import Array, split_codes
from tacit.estimation.parts import Part

Columns = Mapping[str, NDArray[Any]]
# Products of terms are written out up to this many, and drawn beyond.
MOST_PATTERNS = 64
# Weights over rows and joint answers that are held at once.
HELD = 1 << 22


@dataclass(frozen=True, eq=False)
class Term:
    """One way to turn reports back: the truths, and the weight of each row."""

    weights: Array
    truths: dict[str, NDArray[Any]]


def turned_back(parts: Sequence[Part], reports: Columns, rng: np.random.Generator) -> Iterator[Term]:
    """Whole records with weights that undo the disguise of all groups; one or several for each report."""
    choices = [_terms(part, reports, rng) for part in parts]
    if math.prod(len(terms) for terms in choices) > MOST_PATTERNS:
        choices = [[_drawn(terms, rng)] for terms in choices]
    for pattern in itertools.product(*choices):
        weights = math.prod((term.weights for term in pattern), start=np.ones(1))
        yield Term(weights, {name: column for term in pattern for name, column in term.truths.items()})


def _terms(part: Part, reports: Columns, rng: np.random.Generator) -> list[Term]:
    rows = len(reports[part.columns[0]])
    channel = part.channel
    if isinstance(channel, FlipChannel):
        same = {name: reports[name] for name in part.attributes}
        as_it_is, opposite = channel.marginal([0]).solve(np.array([1.0, 0.0]))
        reversed_ = {name: 1 - column for name, column in same.items()}
        return [Term(np.full(rows, as_it_is), same), Term(np.full(rows, opposite), reversed_)]
    if isinstance(channel, MixtureChannel | MarginalMixture):
        return _mixture_terms(part, channel, reports, rng)
    if isinstance(channel, OneHotLaw):
        return [_signed_bits(part, channel, reports, rng)]
    return [_signed_answers(part, reports, rng)]


def _mixture_terms(
    part: Part, channel: MixtureChannel | MarginalMixture, reports: Columns, rng: np.random.Generator
) -> list[Term]:
    rows = len(reports[part.columns[0]])
    same = {name: reports[name] for name in part.attributes}
    if not channel.is_invertible():
        channel.marginal([0]).solve(np.zeros(channel.shape[0]))  # refuses with the channel's own reason
    if channel.keep == 1:
        return [Term(np.ones(rows), same)]
    drawn = dict(zip(part.attributes, _personal(channel, rows, rng), strict=True))
    told, otherwise = 1 / channel.keep, (channel.keep - 1) / channel.keep
    return [Term(np.full(rows, told), same), Term(np.full(rows, otherwise), drawn)]


def _personal(channel: MixtureChannel | MarginalMixture, rows: int, rng: np.random.Generator) -> list[NDArray[Any]]:
    """Draws from the alternative of a mixture, for the attributes it covers."""
    whole, axes = (channel.whole, channel.axes) if isinstance(channel, MarginalMixture) else (channel, None)
    kept = range(len(whole.shape)) if axes is None else axes
    if whole.personal is None:
        return [rng.integers(whole.shape[axis], size=rows) for axis in kept]
    chances = [weights / weights.sum() for weights in whole.personal]
    if len(chances) == len(whole.shape):
        return [rng.choice(whole.shape[axis], size=rows, p=chances[axis]) for axis in kept]
    joint = split_codes(rng.choice(whole.size, size=rows, p=chances[0].reshape(-1)), whole.shape)
    return [joint[axis] for axis in kept]


def _drawn(terms: Sequence[Term], rng: np.random.Generator) -> Term:
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


def _signed_bits(part: Part, law: OneHotLaw, reports: Columns, rng: np.random.Generator) -> Term:
    """One answer per attribute; the factors of the bits multiply, and one constant undoes the whole group."""
    (_, first), *_ = law.conjunction([np.ones(size, dtype=np.bool_) for size in law.shape])  # refuses what says nothing
    weights = np.full(len(reports[part.columns[0]]), float(first[0]))
    truths = {}
    for name, column in zip(part.attributes, part.columns, strict=True):
        chosen, signed = _signed_choice(reports[column] - law.background, rng)
        truths[name] = chosen
        weights = weights * signed
    return Term(weights, truths)


def _signed_answers(part: Part, reports: Columns, rng: np.random.Generator) -> Term:
    """A joint answer of the whole group, from its column of the inverse; then the attributes that are asked for."""
    size = math.prod(part.channel.shape)
    inverse = part.channel.solve_adjoint(np.eye(size).reshape(*part.channel.shape, size), part.guess).reshape(-1, size)
    columns = [reports[name] for name in part.columns]
    step = max(1, HELD // size)
    chosen, signed = [], []
    for start in range(0, len(columns[0]), step):
        some = [column[start : start + step] for column in columns]
        drawn, weights = _signed_choice(_inverse_rows(inverse, some, part), rng)
        chosen.append(drawn)
        signed.append(weights)
    joint = split_codes(np.concatenate(chosen), part.channel.shape)
    truths = {name: joint[part.covered.index(name)] for name in part.attributes}
    return Term(np.concatenate(signed), truths)


def _inverse_rows(inverse: Array, columns: Sequence[NDArray[Any]], part: Part) -> Array:
    """For each report the weights of all joint answers."""
    if columns[0].ndim == 2:  # a set: the sum over its members, and the last slot, which every report has
        return inverse[columns[0]].sum(axis=1) + inverse[-1]
    shape = part.channel.tally_shape
    return inverse[np.ravel_multi_index([column.astype(np.int64) for column in columns], shape)]
