"""The rows of a release as texts, sorted so that nothing but the rows themselves decides their order.

Rows are sorted by the UTF-8 bytes of their texts, columns from left to right, empty texts last. Where a row stood in the
input then cannot be told from the release.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Codes = Mapping[str, NDArray[Any]]  # of each column: the position of every row's text in a list of texts
SLICE_ROWS = 1 << 20
LARGEST_WORD = 2**63


class ReleasedColumns:
    """The texts that each released column may show, and their places in the order of a release."""

    def __init__(self, texts: Mapping[str, Sequence[str]]) -> None:
        self._texts = texts
        self.names = tuple(texts)

    @cached_property
    def _sorted_texts(self) -> dict[str, list[str]]:
        # Python compares texts by code points, which is the order of their UTF-8 bytes.
        return {name: sorted(set(texts), key=lambda text: (text == "", text)) for name, texts in self._texts.items()}

    @cached_property
    def ranks(self) -> dict[str, NDArray[np.int64]]:
        """Of each column: the place of every text among its sorted texts."""
        ranks = {}
        for name, texts in self._texts.items():
            place = {text: rank for rank, text in enumerate(self._sorted_texts[name])}
            ranks[name] = np.array([place[text] for text in texts], np.int64)
        return ranks

    def as_they_come(self, batches: Iterable[Codes]) -> Iterator[pa.Table]:
        """The rows of each batch in their given order."""
        for codes in batches:
            yield self._table({name: self.ranks[name][codes[name]] for name in self.names})

    def in_order(self, batches: Iterable[Codes]) -> Iterator[pa.Table]:
        """All rows, sorted, in parts that fit memory."""
        words = [self._packed_words(codes) for codes in batches]
        packed = [np.concatenate(pieces) for pieces in zip(*words, strict=True)]
        if len(packed) == 1:
            packed[0].sort()
        else:
            order = np.lexsort(packed[::-1])
            packed = [word[order] for word in packed]
        starts = _starts_of_runs(packed)
        yield from self._repeated_rows([word[starts] for word in packed], np.diff(starts, append=len(packed[0])))

    def in_order_of_counts(self, codes: Codes, counts: NDArray[np.int64]) -> Iterator[pa.Table]:
        """All rows, sorted, in parts that fit memory; each of the given ones stands for as many as are counted."""
        packed = self._packed_words(codes)
        order = np.lexsort(packed[::-1])
        order = order[counts[order] > 0]  # a text that no row shows must not reach a dictionary
        yield from self._repeated_rows([word[order] for word in packed], counts[order])

    def _repeated_rows(self, words: Sequence[NDArray[np.int64]], counts: NDArray[np.int64]) -> Iterator[pa.Table]:
        """The rows that stand as often as they are counted, in the given order, whose texts are looked up once for all."""
        ends = np.cumsum(counts)
        for start in range(0, int(counts.sum()), SLICE_ROWS):
            stop = min(start + SLICE_ROWS, int(ends[-1]))
            first, last = np.searchsorted(ends, [start, stop - 1], side="right").tolist()
            times = np.diff(np.minimum(ends[first : last + 1], stop), prepend=start)
            yield self._table(self._unpacked_codes([word[first : last + 1] for word in words]), times)

    @cached_property
    def _groups(self) -> list[list[str]]:
        """Columns whose ranks fit one 64-bit number together, from left to right."""
        groups: list[list[str]] = [[]]
        possible = 1
        for name in self.names:
            size = max(1, len(self._sorted_texts[name]))
            if possible * size >= LARGEST_WORD:
                groups.append([])
                possible = 1
            groups[-1].append(name)
            possible *= size
        return groups

    def _packed_words(self, codes: Codes) -> list[NDArray[np.int64]]:
        """Every row as one number per group of columns; they compare as the rows do."""
        words = []
        for group in self._groups:
            word = np.zeros(len(codes[group[0]]), np.int64)
            for name in group:
                word = word * len(self._sorted_texts[name]) + self.ranks[name][codes[name]]
            words.append(word)
        return words

    def _unpacked_codes(self, words: Sequence[NDArray[np.int64]]) -> dict[str, NDArray[np.int64]]:
        ranks = {}
        for group, word in zip(self._groups, words, strict=True):
            for name in reversed(group):
                word, ranks[name] = np.divmod(word, len(self._sorted_texts[name]))
        return ranks

    def _table(self, ranks: Mapping[str, NDArray[np.int64]], times: NDArray[np.int64] | None = None) -> pa.Table:

        columns = [_dictionary(ranks[name], self._sorted_texts[name], times) for name in self.names]
        # Every row shows a text. A file that says so needs no list of who shows none.
        fields = [pa.field(name, column.type, nullable=False) for name, column in zip(self.names, columns, strict=True)]
        return pa.table(columns, schema=pa.schema(fields))


def _starts_of_runs(words: Sequence[NDArray[np.int64]]) -> NDArray[np.intp]:
    """The places where a row differs from the one before it."""
    differs = np.ones(len(words[0]), np.bool_)
    differs[1:] = np.logical_or.reduce([word[1:] != word[:-1] for word in words])
    return np.flatnonzero(differs)


def _dictionary(ranks: NDArray[np.int64], texts: Sequence[str], times: NDArray[np.int64] | None) -> Any:
    """A column as a dictionary of the texts that its rows show, and of no others: files keep whole dictionaries.

    Every rank stands for as many rows as `times` says; for one where it is None.
    """
    used = np.flatnonzero(np.bincount(ranks, minlength=len(texts)))
    place = np.zeros(len(texts), np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    labels = pa.array([texts[rank] for rank in used.tolist()], pa.string())
    places = place[ranks] if times is None else np.repeat(place[ranks], times)
    return pa.DictionaryArray.from_arrays(pa.array(places), labels)
