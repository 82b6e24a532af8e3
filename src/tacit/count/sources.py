"""From whatever a user hands in to tables that can be counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from tacit.count.memory import MemoryEngine
from tacit.count.protocol import Source
from tacit.errors import InvalidInput
from tacit.reports import Reports


@runtime_checkable
class Stored(Protocol):
    """Reports that live outside memory and know how to be counted."""

    def sources(self) -> tuple[Source, ...]: ...


ReportSource = Reports | Stored


def sources(reports: ReportSource | Sequence[ReportSource]) -> tuple[Source, ...]:
    """The tables to count: one per questionnaire of each set of reports."""
    if isinstance(reports, Reports):
        prior = reports.scheme.prior
        return tuple(Source(questionnaire, MemoryEngine(part), prior) for questionnaire, part in reports)
    if isinstance(reports, Stored):
        return reports.sources()
    if isinstance(reports, Sequence) and not isinstance(reports, str):
        return tuple(source for part in reports for source in sources(part))
    raise InvalidInput(
        f"Expected reports, not {type(reports).__name__}. Disguise a Dataset first; for undisguised data say so with "
        "Reports.from_truth(dataset)."
    )
