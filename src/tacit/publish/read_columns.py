"""What was read of each column, and what that alone costs: dates as years, codes by their first digits, numbers in steps.

The loss (NWP) is defined on the answers that a column was read as. On the file's own values a label merges more: all values that
are read as one of its answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.publish.column_readings import CodeReading, FrequentReading, Reading
from tacit.publish.combinations import sums_by_code
from tacit.publish.dates import DateReading
from tacit.publish.release_input import CodedInput

if TYPE_CHECKING:
    from tacit.publish.publication import Publication
    from tacit.publish.recoding import Recoding
    from tacit.schema import Attribute

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ReadColumn:
    """How a quasi-identifier was read, and the share of its detail that is lost by that and in the release."""

    name: str
    read_as: str
    values: int  # different ones in the file
    answers: int  # that they were read as
    lost_by_reading: float
    lost_in_release: float  # of the file's own values, reading included
    keep_more: str | None  # the option that would read it finer

    def to_document(self) -> dict[str, Any]:
        return asdict(self)


def read_columns(publication: Publication, recoding: Recoding) -> list[ReadColumn]:
    """The quasi-identifiers of a file or a data frame without a schema; none where answers were given."""
    source = publication.input
    if not isinstance(source, CodedInput) or not source.values_behind:
        return []
    return [
        _read_column(recoding, j, source.values_behind.get(attribute.name), source.readings.get(attribute.name))
        for j, attribute in enumerate(recoding.tally.attributes)
    ]


def loss_of_file(columns: list[ReadColumn], weights: Mapping[str, float]) -> float | None:
    """The loss on the file's own values; None where it is not known."""
    return sum(weights[column.name] * column.lost_in_release for column in columns) if columns else None


def _read_column(recoding: Recoding, j: int, behind: NDArray[np.int64] | None, reading: Reading | None) -> ReadColumn:
    attribute, (labels, rows) = recoding.tally.attributes[j], recoding.by_class
    behind = np.ones(attribute.size, np.int64) if behind is None else behind
    total, further = int(recoding.counts.sum()), max(1, int(behind.sum()) - 1)
    answers = sums_by_code(recoding.combinations.codes[:, j], recoding.counts, attribute.size)
    by_reading = float(answers @ np.maximum(0, behind - 1)) / further / total
    merged: Floats = np.maximum(0.0, recoding.members[j] @ behind - 1.0)
    in_release = (float(merged[labels[:, j]] @ rows) / further + recoding.suppressed) / total
    read_as, keep_more = _in_words(attribute, reading)
    return ReadColumn(
        attribute.name, read_as, int(behind.sum()), int((behind > 0).sum()), by_reading, in_release,
        keep_more if by_reading > 0 else None,
    )  # fmt: skip


def _in_words(attribute: Attribute, reading: Reading | None) -> tuple[str, str | None]:
    """How a column was read, and the option that reads it finer."""
    name = attribute.name
    if isinstance(reading, DateReading):
        finer = {"decade": "year", "year": "month", "quarter": "month", "month": "week", "week": "day"}.get(
            reading.step
        )
        return f"{reading.step}s", None if finer is None else f"--granularity {name}={finer}"
    if isinstance(reading, CodeReading):
        return f"the first {reading.kept} of {reading.length} characters", f"types: {name} nominal, or a hierarchy"
    if isinstance(reading, FrequentReading):
        return f"the {len(reading.names)} most frequent names, all others together", "a hierarchy of its names"
    if attribute.cut is not None:
        edges = attribute.cut.edges
        step = f"{edges[1] - edges[0]:g}" if len(edges) > 1 else "one cut"
        return f"steps of {step}", f"--granularity {name}=STEP with a smaller step"
    return "as it is", None
