"""Reports turned back into truths, with weights of either sign whose mean undoes the disguise.

For a function f of the truth, the mean over reports of ``sum of weight * f(turned back)`` is the mean of f over the
truths, whatever f is. Where a channel's inverse is a short sum of products over the attributes, such as the record and its
opposite under a flip, each product is one way to turn a report back; an answer that a product does not name is drawn, in
proportion to the size of its weights and with their sign. Any other channel is undone by one draw from the whole inverse.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array, Codes, ProductTerm
from tacit.channel.codes import split_codes
from tacit.estimation.group_parts import Part

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
    columns = [reports[name] for name in part.columns]
    nothing = [column[:0] for column in columns]
    as_products = not part.channel.has_choice and part.channel.inverse_terms(nothing) is not None
    step = max(1, HELD // (max if as_products else math.prod)(part.channel.shape))
    turn = _products if as_products else _whole
    chunks = []
    for start in range(0, len(columns[0]), step):
        chunks.append(turn(part, [column[start : start + step] for column in columns], rng))
    return [_joined(terms) for terms in zip(*chunks, strict=True)] if chunks else turn(part, nothing, rng)


def _joined(terms: Sequence[Term]) -> Term:
    """One term of all rows, from that term of several chunks of them."""
    if len(terms) == 1:
        return terms[0]
    truths = {name: np.concatenate([term.truths[name] for term in terms]) for name in terms[0].truths}
    return Term(np.concatenate([term.weights for term in terms]), truths)


def _products(part: Part, columns: Sequence[Codes], rng: np.random.Generator) -> list[Term]:
    terms = part.channel.inverse_terms(columns)
    assert terms is not None, "the caller has asked"
    return [_product(part, term, rng) for term in terms]


def _product(part: Part, term: ProductTerm, rng: np.random.Generator) -> Term:
    weights, truths = term.scale, {}
    for name, factor, size in zip(part.covered, term.factors, part.channel.shape, strict=True):
        if factor is not None and factor.ndim == 1:
            truths[name] = factor
            continue
        shares = np.ones((len(weights), size)) if factor is None else factor
        truths[name], signed = _signed_choice(shares, rng)
        weights = weights * signed
    return Term(weights, {name: truths[name] for name in part.attributes})


def _whole(part: Part, columns: Sequence[Codes], rng: np.random.Generator) -> list[Term]:
    """A joint answer of the whole group, from its row of the inverse; then the attributes that are asked for."""
    chosen, signed = _signed_choice(part.channel.inverse(columns, part.guess), rng)
    joint = split_codes(chosen, part.channel.shape)
    return [Term(signed, {name: joint[part.covered.index(name)] for name in part.attributes})]


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
