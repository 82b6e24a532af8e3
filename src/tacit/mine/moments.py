"""First and second moments, over reports, of what each says about the cells of a confusion matrix."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.channel.codes import grid, shown_slots
from tacit.count.abilities import held_rows
from tacit.count.protocol import Source
from tacit.errors import InvalidInput
from tacit.estimation.group_parts import Part, attributes_of, columns_of, parts_for
from tacit.estimation.inversion import with_guess
from tacit.mine.predictions import Predictor
from tacit.mine.reversal import HELD, turned_back
from tacit.table import Table

# Entries of the table of weights over all possible reports; beyond, reports are turned back one by one.
DOMAIN_ENTRIES = 1 << 22
# Rows whose reports are turned back at once.
BATCH = 1 << 16


@dataclass(frozen=True, eq=False)
class ConfusionSums:
    """Sums over reports of their weights for each cell ``[true class, predicted class]``, raveled, and of products."""

    sums: Array
    products: Array
    rows: int
    method: str


def moments(source: Source, predictor: Predictor, *, draws: int, seed: int) -> ConfusionSums:
    """What the reports of one source say; exact over the joint domain where it is small, else report by report."""
    names = [*predictor.inputs.names, predictor.target.name]
    parts = [with_guess(source, part) for part in parts_for(source.questionnaire, names)]
    cells = math.prod(math.prod(part.estimator.tally_shape) for part in parts)
    truths = math.prod(predictor.inputs.shape()) * predictor.target.size
    if max(cells, truths) * predictor.target.size**2 <= DOMAIN_ENTRIES:
        return _over_domain(source, predictor, parts)
    return _report_by_report(source, predictor, parts, draws, np.random.default_rng(seed))


def _over_domain(source: Source, predictor: Predictor, parts: Sequence[Part]) -> ConfusionSums:
    """The confusion indicators of every possible truth, mapped back by each group's inverse to weights of reports."""
    weights = _indicators(predictor, attributes_of(parts))
    for part in parts:
        mapped = part.estimator.solve_adjoint(weights, part.guess)
        weights = np.moveaxis(mapped, range(part.tally_ndim), range(-part.tally_ndim, 0))
    columns = columns_of(parts)
    if all(source.engine.schema[name].shows == "one" for name in columns):
        tally = source.engine.tally(columns).reshape(-1)
        seen = np.flatnonzero(tally)
        return _summed([(weights.reshape(len(weights), -1)[:, seen], tally[seen])], source.engine.n_rows, "exact")
    return _summed(set_weights(source, columns, weights), source.engine.n_rows, "exact")


def _indicators(predictor: Predictor, order: Sequence[str]) -> Array:
    """``[... truths ..., cell of the confusion matrix]``, the truths' axes in the given order."""
    inputs, n_classes = predictor.inputs, predictor.target.size
    every = dict(zip(inputs.names, grid(inputs.shape()), strict=True)) if len(inputs) else {}
    told = np.eye(n_classes)[predictor.predicted(every, math.prod(inputs.shape()))]  # [inputs, predicted]
    joint = np.einsum("up,ct->uctp", told, np.eye(n_classes)).reshape(*inputs.shape(), n_classes, n_classes**2)
    places = [*inputs.names, predictor.target.name]
    return joint.transpose(*(places.index(name) for name in order), joint.ndim - 1)


def set_weights(source: Source, columns: Sequence[str], weights: Array) -> Iterator[tuple[Array, NDArray[np.int64]]]:
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
        part = table.rows(slice(start, start + step))
        index: Any = (slice(None), *(part[name] for name in single))
        shape = (len(weights), part.n_rows, *arranged.shape[1 + len(single) :])
        of_rows: Array = arranged[index] if single else np.broadcast_to(arranged[:, None], shape)
        for name in several:
            of_rows = np.einsum("krs...,rs->kr...", of_rows, shown_slots(part[name], schema[name]))
        yield of_rows, np.ones(part.n_rows, dtype=np.int64)


def _rows_in_memory(source: Source) -> Table:
    rows = held_rows(source.engine)
    if rows is not None:
        return rows
    raise InvalidInput(
        "These reports show sets and are stored outside memory, where the error of an accuracy cannot be counted. Read "
        "them with Reports.read, or test on a part of them."
    )


def _report_by_report(
    source: Source, predictor: Predictor, parts: Sequence[Part], draws: int, rng: np.random.Generator
) -> ConfusionSums:
    columns = columns_of(parts)
    table = held_rows(source.engine)
    if table is not None:
        held = {name: table[name] for name in columns}
        counts = np.ones(table.n_rows, dtype=np.int64)
    else:
        tally = source.engine.sparse_tally(columns)
        held = {name: tally.codes[:, place] for place, name in enumerate(columns)}
        counts = tally.counts
    turned = _turned_weights(predictor, parts, held, counts, draws, rng)
    return _summed(turned, source.engine.n_rows, "report by report")


def _turned_weights(
    predictor: Predictor,
    parts: Sequence[Part],
    held: dict[str, NDArray[Any]],
    counts: NDArray[np.int64],
    draws: int,
    rng: np.random.Generator,
) -> Iterator[tuple[Array, NDArray[np.int64]]]:
    n_classes = predictor.target.size
    for start in range(0, len(counts), BATCH):
        # Equal reports are turned back by draws of their own, else their errors would not be independent.
        times = counts[start : start + BATCH]
        batch = {name: np.repeat(column[start : start + BATCH], times, axis=0) for name, column in held.items()}
        rows = int(times.sum())
        weights = np.zeros((n_classes**2, rows))
        for _ in range(draws):
            for term in turned_back(parts, batch, rng):
                predicted = predictor.predicted(term.truths, rows)
                cell = term.truths[predictor.target.name].astype(np.int64) * n_classes + predicted
                weights[cell, np.arange(rows)] += term.weights / draws
        yield weights, np.ones(rows, dtype=np.int64)


def _summed(batches: Any, rows: int, method: str) -> ConfusionSums:
    sums: Any = 0.0
    products: Any = 0.0
    for weights, counts in batches:
        sums = sums + weights @ counts
        products = products + (weights * counts) @ weights.T
    return ConfusionSums(sums, products, rows, method)
