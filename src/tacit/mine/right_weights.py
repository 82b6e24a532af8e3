"""What every single report adds to the accuracy of a classifier: weights whose mean is unbiased.

With the weights of several classifiers for the same reports, their differences have errors far below those of either.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.channel.base import Array
from tacit.channel.codes import grid
from tacit.count.abilities import held_rows
from tacit.count.protocol import Source
from tacit.errors import NotEstimable
from tacit.estimation.group_parts import Part, attributes_of, columns_of, parts_for
from tacit.estimation.inversion import with_guess
from tacit.mine.moments import DOMAIN_ENTRIES, set_weights
from tacit.mine.predictions import Predictor
from tacit.mine.reversal import turned_back
from tacit.table import Table

DRAWS = 4


def right_weights(source: Source, predictor: Predictor, seed: int = 0) -> Array:
    """One weight for each report of a source whose rows lie in memory."""
    names = [*predictor.inputs.names, predictor.target.name]
    if not set(names) <= set(source.questionnaire.attributes):
        raise NotEstimable(
            f"{', '.join(map(repr, names))} are never asked together, so whether a prediction is right cannot be estimated."
        )
    rows = held_rows(source.engine)
    assert rows is not None, "held reports have their rows in memory"
    parts = [with_guess(source, part) for part in parts_for(source.questionnaire, names)]
    cells = math.prod(math.prod(part.estimator.tally_shape) for part in parts)
    truths = math.prod(predictor.inputs.shape()) * predictor.target.size
    if max(cells, truths) <= DOMAIN_ENTRIES:
        return _over_domain(source, rows, predictor, parts)
    return _turned(rows, predictor, parts, np.random.default_rng(seed))


def _over_domain(source: Source, rows: Table, predictor: Predictor, parts: Sequence[Part]) -> Array:
    """The indicator of a right prediction for every possible truth, mapped back to weights of every possible report."""
    weights = _right(predictor, attributes_of(parts))[..., None]
    for part in parts:
        mapped = part.estimator.solve_adjoint(weights, part.guess)
        weights = np.moveaxis(mapped, range(part.tally_ndim), range(-part.tally_ndim, 0))
    columns = columns_of(parts)
    if all(rows.schema[name].shows == "one" for name in columns):
        looked_up: Any = tuple(rows[name] for name in columns)
        return np.asarray(weights[0][looked_up], dtype=np.float64)
    return np.concatenate([of_rows[0] for of_rows, _ in set_weights(source, columns, weights)])


def _right(predictor: Predictor, order: Sequence[str]) -> Array:
    """Whether the prediction is right, with one axis for each attribute in the given order."""
    inputs, size = predictor.inputs, predictor.target.size
    every = dict(zip(inputs.names, grid(inputs.shape()), strict=True)) if len(inputs) else {}
    told = predictor.predicted(every, math.prod(inputs.shape()))
    right = (told[:, None] == np.arange(size)).astype(np.float64).reshape(*inputs.shape(), size)
    places = [*inputs.names, predictor.target.name]
    return right.transpose(*(places.index(name) for name in order))


def _turned(rows: Table, predictor: Predictor, parts: Sequence[Part], rng: np.random.Generator) -> Array:
    columns = {name: rows[name] for name in columns_of(parts)}
    weights = np.zeros(rows.n_rows)
    for _ in range(DRAWS):
        for term in turned_back(parts, columns, rng):
            right = predictor.predicted(term.truths, rows.n_rows) == term.truths[predictor.target.name]
            weights += term.weights * right / DRAWS
    return weights
