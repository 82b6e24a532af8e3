"""How well itemsets are found: the error measures of FRAPP, by length and over all lengths together."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.channel.base import Array
from tacit.dataset import Dataset
from tacit.estimation.supports import Names, Supports
from tacit.mine.itemset_result import Itemsets

Tables = Mapping[Names, Array]


@dataclass(frozen=True, eq=False)
class Truth:
    """The true support of every itemset, as one table for each set of attributes."""

    supports: Tables
    min_support: float

    @classmethod
    def of(cls, data: Dataset, min_support: float) -> Truth:
        names, shape = data.schema.names, data.schema.shape()
        cells = np.ravel_multi_index([data.table[name].astype(np.int64) for name in names], shape)
        joint = np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape) / data.n_rows
        tables = {}
        for length in range(1, len(names) + 1):
            for subset in itertools.combinations(range(len(names)), length):
                others = tuple(axis for axis in range(len(names)) if axis not in subset)
                tables[tuple(names[axis] for axis in subset)] = joint.sum(axis=others)
        return cls(tables, min_support)

    @property
    def lengths(self) -> range:
        return range(1, max(map(len, self.supports)) + 1)

    def counts(self) -> list[int]:
        """Frequent itemsets of each length."""
        return [
            sum(
                int((table >= self.min_support).sum()) for names, table in self.supports.items() if len(names) == length
            )
            for length in self.lengths
        ]


@dataclass(frozen=True, eq=False)
class Accuracy:
    """Sums by length, from which every measure follows; `summed_errors` is over the frequent itemsets that were found."""

    frequent: NDArray[np.int64]
    found: NDArray[np.int64]  # frequent and found
    added: NDArray[np.int64]  # found, but not frequent
    summed_errors: Array  # of |estimate - truth| / truth

    def support_error(self, length: int | None = None) -> float:
        """Mean relative error in percent of the frequent itemsets that were found; not a number where none was."""
        return 100 * _share(self._of(self.summed_errors, length), self._of(self.found, length))

    def published_support_error(self, length: int | None = None) -> float:
        """The error by the publication's formula: divided by all frequent itemsets, found or not."""
        return 100 * _share(self._of(self.summed_errors, length), self._of(self.frequent, length))

    def missed_percent(self, length: int | None = None) -> float:
        """False negatives in percent of the frequent itemsets."""
        frequent = self._of(self.frequent, length)
        return 100 * _share(frequent - self._of(self.found, length), frequent)

    def false(self, length: int | None = None) -> float:
        """False positives in percent of the frequent itemsets."""
        return 100 * _share(self._of(self.added, length), self._of(self.frequent, length))

    @staticmethod
    def _of(values: NDArray[np.int64] | Array, length: int | None) -> float:
        return float(values.sum() if length is None else values[length - 1])


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


def accuracy_of_all(truth: Truth, supports: Supports) -> Accuracy:
    """Every itemset judged by its own estimate, without pruning."""
    estimates = {}
    for length in truth.lengths:
        tables = {names: table for names, table in truth.supports.items() if len(names) == length}
        level = {_in_schema_order(supports, names): np.argwhere(np.ones(_shape(supports, names))) for names in tables}
        estimable, _ = supports.estimable_itemsets(level)
        supports.prepare(estimable)
        for names in tables:
            ordered = _in_schema_order(supports, names)
            if ordered in estimable:
                table = supports.estimates(ordered, estimable[ordered])[0].reshape(_shape(supports, names))
                estimates[names] = table.transpose([ordered.index(name) for name in names])
    return _compare_tables(truth, estimates)


def accuracy_of_found(truth: Truth, itemsets: Itemsets) -> Accuracy:
    """The itemsets that a search found."""
    estimates = {names: np.full(table.shape, -np.inf) for names, table in truth.supports.items()}
    for itemset in itemsets.found:
        names = next(names for names in estimates if set(names) == set(itemset.names))
        codes = itemset.codes[:, [itemset.names.index(name) for name in names]]
        estimates[names][tuple(codes.T)] = itemset.supports
    return _compare_tables(truth, estimates)


def _in_schema_order(supports: Supports, names: Names) -> Names:
    return tuple(name for name in supports.schema.names if name in names)


def _shape(supports: Supports, names: Names) -> tuple[int, ...]:
    return supports.schema.shape(_in_schema_order(supports, names))


def _compare_tables(truth: Truth, estimates: Tables) -> Accuracy:
    longest = max(truth.lengths)
    frequent, hits, added = (np.zeros(longest, dtype=np.int64) for _ in range(3))
    errors = np.zeros(longest)
    for names, table in truth.supports.items():
        at = len(names) - 1
        is_frequent = table >= truth.min_support
        frequent[at] += is_frequent.sum()
        if names in estimates:
            is_found = estimates[names] >= truth.min_support
            both = is_frequent & is_found
            hits[at] += both.sum()
            added[at] += (is_found & ~is_frequent).sum()
            errors[at] += (np.abs(estimates[names][both] - table[both]) / table[both]).sum()
    return Accuracy(frequent, hits, added, errors)
