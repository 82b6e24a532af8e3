"""An order for answers that have none, computed from the data: answers that occur with the same others are neighbours.

Generalizing merges neighbours only, so the order of nominal answers decides what may be published together.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput
from tacit.publish.release_input import ReleaseInput
from tacit.schema import Schema


def ordered_by_data(source: ReleaseInput) -> ReleaseInput:
    """The table with unordered answers in their order along the first axis of correspondence analysis."""
    if len(source.schema) < 2:
        raise InvalidInput("An order is computed from the other attributes, and there are none. Give it in the schema.")
    orders = {
        attribute.name: _first_axis_order(_together(source, attribute.name))
        for attribute in source.schema
        if not attribute.ordered and attribute.size > 2
    }
    attributes = tuple(
        dataclasses.replace(a, answers=tuple(a.answers[code] for code in orders[a.name]), ordered=True)
        if a.name in orders
        else a
        for a in source.schema
    )
    return source.in_order(Schema(attributes))


def _together(source: ReleaseInput, name: str) -> NDArray[np.float64]:
    """How often each answer of an attribute occurs with each answer of the others."""
    pairs = [(name, other.name) for other in source.schema if other.name != name]
    return np.concatenate(source.tallies(pairs), axis=1).astype(np.float64)


def _first_axis_order(together: NDArray[np.float64]) -> NDArray[np.intp]:
    rows, columns = together.sum(axis=1, keepdims=True), together.sum(axis=0, keepdims=True)
    expected = rows * columns / together.sum()
    spread = np.sqrt(np.where(expected > 0, expected, 1))
    axis = np.linalg.svd((together - expected) / spread, full_matrices=False)[0][:, 0]
    # Answers nobody gave go last. The sign of an axis is arbitrary: the most frequent answer is put in the first half.
    place = np.where(rows[:, 0] > 0, axis / np.sqrt(np.maximum(rows[:, 0], 1)), np.inf)
    order = np.argsort(place, kind="stable")
    return order if np.argmax(rows) in order[: (len(order) + 1) // 2] else order[::-1]
