"""Tables of two quasi-identifiers, as the rows hold them and as a reader of the release would make them.

The reader spreads each label evenly over the answers it stands for. A label is one run of answers or a few, so its even spread is
known by where it steps up and down. Steps of classes are added up in a small table of differences, and its running sums
are the spread table: neither the number of labels nor that of combinations decides the memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.publish.combinations import sums_by_code
from tacit.publish.recoding import Recoding

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = NDArray[np.float64]
LABELS_AT_ONCE = 1 << 13
ROWS_AT_ONCE = 1 << 20


class PairTables:
    """The tables of two attributes of one recoding, in rows, made when they are asked for."""

    def __init__(self, recoding: Recoding) -> None:
        self.sizes = recoding.tally.sizes.tolist()
        self._codes, self._counts = recoding.combinations.codes, recoding.counts
        self._labels, rows = recoding.by_class
        self._rows = rows.astype(np.float64)
        self.total, self.released = int(recoding.counts.sum()), int(rows.sum())
        self._steps = [_steps(members) for members in recoding.members]

    @property
    def attributes(self) -> range:
        return range(len(self.sizes))

    def truth(self, a: int, b: int) -> Floats:
        """The rows with each pair of answers; with ``a == b``, with each answer of one attribute."""
        if a == b:
            return sums_by_code(self._codes[:, a], self._counts, self.sizes[a]).astype(np.float64)[:, None]
        rows = np.zeros(self.sizes[a] * self.sizes[b])
        for start in range(0, len(self._codes), ROWS_AT_ONCE):
            chunk = slice(start, start + ROWS_AT_ONCE)
            cells = self._codes[chunk, a].astype(np.int64) * self.sizes[b] + self._codes[chunk, b]
            rows += np.bincount(cells, self._counts[chunk], len(rows))
        return rows.reshape(self.sizes[a], self.sizes[b])

    def spread(self, a: int, b: int) -> Floats:
        """The same as read off the release, of the released rows."""
        from scipy.sparse import diags_array

        rows = diags_array(self._rows)
        left = self._steps[a][self._labels[:, a]]
        if a == b:
            return np.cumsum((rows @ left).sum(axis=0))[:-1, None]
        right = self._steps[b][self._labels[:, b]]
        steps = (left.T @ (rows @ right)).toarray()
        return np.cumsum(np.cumsum(steps, axis=0), axis=1)[:-1, :-1]


def _steps(members: NDArray[np.bool_]) -> csr_array[Any]:
    """Of every label: where its even spread over its answers steps up, and where down again; [label, answer and the end]."""
    from scipy.sparse import csr_array, vstack

    parts = []
    for start in range(0, len(members), LABELS_AT_ONCE):
        chunk = members[start : start + LABELS_AT_ONCE]
        steps = np.diff(chunk.astype(np.int8), axis=1, prepend=0, append=0)
        label, place = np.nonzero(steps)
        height = steps[label, place] / chunk.sum(axis=1)[label]
        parts.append(csr_array((height, (label, place)), shape=steps.shape))
    return csr_array(vstack(parts))


def label_places(members: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Mean and variance of the places of the answers that each label stands for."""
    places = np.arange(members.shape[1], dtype=np.float64)
    powers = np.stack([np.ones_like(places), places, places**2], axis=1)
    sums = [
        members[start : start + LABELS_AT_ONCE].astype(np.float64) @ powers
        for start in range(0, len(members), LABELS_AT_ONCE)
    ]
    number, first, second = np.concatenate(sums).T
    return first / number, second / number - (first / number) ** 2
