"""An order for answers that have none, computed from the data: answers that occur with the same others are neighbours.

Generalizing merges neighbours only, so the order of nominal answers decides what may be published together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput
from tacit.publish.source import HeldTable
from tacit.schema import Schema
from tacit.table import Table


def ordered_by_data(held: HeldTable) -> HeldTable:
    """The table with unordered answers in their order along the first axis of correspondence analysis."""
    if len(held.schema) < 2:
        raise InvalidInput("An order is computed from the other attributes, and there are none. Give it in the schema.")
    orders = {
        attribute.name: _first_axis_order(_together(held, attribute.name))
        for attribute in held.schema
        if not attribute.ordered and attribute.size > 2
    }
    attributes = tuple(
        dataclasses.replace(a, answers=tuple(a.answers[code] for code in orders[a.name]), ordered=True)
        if a.name in orders
        else a
        for a in held.schema
    )
    schema = Schema(attributes)
    places = {name: np.argsort(order) for name, order in orders.items()}

    def batches() -> Iterator[Table]:
        for batch in held.batches():
            columns = {name: batch[name] for name in schema.names}
            recoded = {name: place[columns[name]].astype(columns[name].dtype) for name, place in places.items()}
            yield Table(schema, columns | recoded)

    return HeldTable(schema, batches, held.digest)


def _together(held: HeldTable, name: str) -> NDArray[np.float64]:
    """How often each answer of an attribute occurs with each answer of the others."""
    size = held.schema[name].size
    others = [attribute for attribute in held.schema if attribute.name != name]
    counts = [np.zeros((size, other.size)) for other in others]
    for batch in held.batches():
        for table, other in zip(counts, others, strict=True):
            cells = batch[name].astype(np.int64) * other.size + batch[other.name]
            table += np.bincount(cells, minlength=table.size).reshape(table.shape)
    return np.concatenate(counts, axis=1)


def _first_axis_order(together: NDArray[np.float64]) -> NDArray[np.intp]:
    rows, columns = together.sum(axis=1, keepdims=True), together.sum(axis=0, keepdims=True)
    expected = rows * columns / together.sum()
    spread = np.sqrt(np.where(expected > 0, expected, 1))
    axis = np.linalg.svd((together - expected) / spread, full_matrices=False)[0][:, 0]
    # Answers nobody gave go last. The sign of an axis is arbitrary: the most frequent answer is put in the first half.
    place = np.where(rows[:, 0] > 0, axis / np.sqrt(np.maximum(rows[:, 0], 1)), np.inf)
    order = np.argsort(place, kind="stable")
    return order if np.argmax(rows) in order[: (len(order) + 1) // 2] else order[::-1]
