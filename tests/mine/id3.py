"""ID3 on clear rows, written down plainly: what every tree must agree with where nothing is disguised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log2

import numpy as np

from tacit.table import Table


@dataclass(frozen=True)
class PlainNode:
    label: int
    size: Fraction
    attribute: str | None
    branches: tuple[tuple[int, PlainNode], ...]


def entropy(classes: np.ndarray) -> float:
    counts = np.bincount(classes)
    return -sum(count / len(classes) * log2(count / len(classes)) for count in counts if count)


def id3(
    table: Table, target: str, free: Sequence[str] | None = None, everybody: int | None = None, label: int = 0
) -> PlainNode:
    """Splits as long as anything is gained; an empty branch keeps the label of its parent."""
    everybody = table.n_rows if everybody is None else everybody
    free = [name for name in table.schema.names if name != target] if free is None else free
    classes = table[target]
    size = Fraction(table.n_rows, everybody)
    if not len(classes):
        return PlainNode(label, size, None, ())
    label = int(np.argmax(np.bincount(classes)))
    gains = {name: round(gain(table, name, target), 11) for name in free}
    best = max(gains, key=lambda name: gains[name], default=None)
    if best is None or gains[best] <= 0:
        return PlainNode(label, size, None, ())
    rest = [name for name in free if name != best]
    branches = tuple(
        (code, id3(table.rows(table[best] == code), target, rest, everybody, label))
        for code in range(table.schema[best].size)
    )
    return PlainNode(label, size, best, branches)


def gain(table: Table, name: str, target: str) -> float:
    within = 0.0
    for code in range(table.schema[name].size):
        classes = table[target][table[name] == code]
        if len(classes):
            within += len(classes) / table.n_rows * entropy(classes)
    return entropy(table[target]) - within
