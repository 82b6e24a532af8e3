"""An order for answers that have none, computed from the data: answers that occur with the same others are neighbours.

Generalizing merges neighbours only, so the order of nominal answers decides what may be published together.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from tacit.errors import InvalidInput
from tacit.schema import Schema
from tacit.table import Table


def ordered_by_data(table: Table) -> Table:
    """The table with the answers of unordered attributes in their order along the first axis of correspondence analysis."""
    if len(table.schema) < 2:
        raise InvalidInput("An order is computed from the other attributes, and there are none. Give it in the schema.")
    indicators = {name: np.eye(table.schema[name].size)[table[name]] for name in table.schema.names}
    attributes, columns = [], {}
    for attribute in table.schema:
        codes = table[attribute.name]
        if not attribute.ordered and attribute.size > 2:
            order = _first_axis_order(indicators, attribute.name)
            codes = np.argsort(order)[codes]
            answers = tuple(attribute.answers[code] for code in order)
            attributes.append(dataclasses.replace(attribute, answers=answers, ordered=True))
        else:
            attributes.append(attribute)
        columns[attribute.name] = codes
    return Table.from_codes(Schema(tuple(attributes)), columns)


def _first_axis_order(indicators: dict[str, NDArray[np.float64]], name: str) -> NDArray[np.intp]:
    others = np.concatenate([block for other, block in indicators.items() if other != name], axis=1)
    together = indicators[name].T @ others
    rows, columns = together.sum(axis=1, keepdims=True), together.sum(axis=0, keepdims=True)
    expected = rows * columns / together.sum()
    spread = np.sqrt(np.where(expected > 0, expected, 1))
    axis = np.linalg.svd((together - expected) / spread, full_matrices=False)[0][:, 0]
    # Answers nobody gave go last; the sign of an axis is arbitrary, so the most frequent answer is put in the first half.
    place = np.where(rows[:, 0] > 0, axis / np.sqrt(np.maximum(rows[:, 0], 1)), np.inf)
    order = np.argsort(place, kind="stable")
    return order if np.argmax(rows) in order[: (len(order) + 1) // 2] else order[::-1]
