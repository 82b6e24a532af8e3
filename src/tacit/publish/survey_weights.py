"""Survey weights of a table that is published: how many people of the population its rows stand for.

They are read beside the table, not as one of its attributes: they have as many values as there are rows, and are not published.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from tacit.count.database_schema import complete_rows
from tacit.dataset import Dataset
from tacit.errors import InvalidInput, TacitError
from tacit.publish.counted_rows import COUNT, WEIGHT, counted_batches, counted_stored
from tacit.publish.database_input import DatabaseInput
from tacit.publish.opening import OpenedFile
from tacit.publish.population import answer_codes
from tacit.publish.recoding import Recoding
from tacit.publish.release_input import CodedInput, ReleaseInput
from tacit.publish.risk import KnownClasses
from tacit.schema import Attribute
from tacit.table import Table, as_arrow
from tacit.table.columns import missing_values

if TYPE_CHECKING:
    import pyarrow as pa

Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """Rows alike (of one person, where persons are counted), how many they are, and the sum of their weights."""

    codes: Codes  # [entry, quasi-identifier]
    counts: Codes
    sums: NDArray[np.float64]
    person: Codes | None  # None where rows are persons

    def people_in_classes(self, recoding: Recoding, members: Sequence[int]) -> KnownClasses:
        """The people whom each published class stands for, as these quasi-identifiers show the classes."""
        classes = recoding.class_numbers(members)[recoding.combinations.places(list(self.codes.T))]
        published = classes >= 0
        persons = None if self.person is None else self.person[published]
        return KnownClasses.by_weights(self.sums[published], classes[published], self.counts[published], persons)


@dataclass(frozen=True)
class WeightColumn:
    """Where the weights are: the table as it was handed in, and what it was read as."""

    data: Any
    name: str
    source: ReleaseInput
    drop_missing: bool  # whether rows with missing values are not published

    def rows(self, attributes: Sequence[Attribute], person: str | None) -> WeightedRows:
        """The weights of every combination of the quasi-identifiers."""
        names = [attribute.name for attribute in attributes]
        counted = self._counted_weights([*names, *([] if person is None else [person])])
        readings = self.source.readings if isinstance(self.source, CodedInput) else {}
        columns = [answer_codes(counted.column(own.name), own, readings.get(own.name)) for own in attributes]
        codes = np.stack(columns, axis=1)
        if (codes < 0).any():
            raise TacitError(
                f"The table with the weights {self.name!r} holds answers that it did not hold when it was counted. Publish it "
                "while nobody writes to it."
            )
        return WeightedRows(
            codes,
            counted.column(COUNT).to_numpy().astype(np.int64),
            counted.column(WEIGHT).to_numpy(),
            None if person is None else _numbered_rows(counted.column(person)),
        )

    def _counted_weights(self, names: Sequence[str]) -> pa.Table:
        if not isinstance(self.source, DatabaseInput):
            return counted_batches(self._batches(), names, self.name)
        table = self.source.table
        if self.drop_missing:
            table = complete_rows(table, self.source.schema.names)
        return counted_stored(table, names, self.name)

    def _batches(self) -> Iterator[pa.Table]:
        if isinstance(self.data, Dataset | Table):
            raise InvalidInput(
                f"A Dataset holds answers, not the numbers of the survey weights {self.name!r}. Give its file or data frame."
            )
        batches = self.data.batches(None) if isinstance(self.data, OpenedFile) else iter([as_arrow(self.data)])
        for batch in batches:
            yield self._complete(batch) if self.drop_missing else batch

    def _complete(self, batch: pa.Table) -> pa.Table:
        """The rows of a batch that are published: none with a missing value in a column that is read."""
        absent = np.logical_or.reduce([missing_values(batch.column(name)) for name in self.source.schema.names])
        return batch.filter(~absent)


def _numbered_rows(column: pa.ChunkedArray) -> Codes:

    values = pc.dictionary_encode(column, null_encoding="encode").combine_chunks()
    return np.asarray(values.indices.to_numpy(), np.int64)
