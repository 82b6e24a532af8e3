"""From whatever a user hands in to tables that can be counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

from tacit.count.added import added
from tacit.count.memory import MemoryEngine
from tacit.count.protocol import Source
from tacit.errors import InvalidInput
from tacit.reports import Reports
from tacit.schema import Attribute, Schema


@runtime_checkable
class Stored(Protocol):
    """Reports that live outside memory and know how to be counted."""

    def sources(self) -> tuple[Source, ...]: ...


ReportSource = Reports | Stored


def sources(reports: ReportSource | Sequence[ReportSource]) -> tuple[Source, ...]:
    """The tables to count: one per questionnaire of each scheme.

    Several sets of reports under one scheme are parts of one table: they are added, not pooled like different surveys.
    """
    if isinstance(reports, Reports):
        prior = reports.scheme.prior
        return tuple(Source(questionnaire, MemoryEngine(part), prior) for questionnaire, part in reports)
    if isinstance(reports, Stored):
        return reports.sources()
    if isinstance(reports, Sequence) and not isinstance(reports, str):
        by_scheme: dict[object, list[tuple[Source, ...]]] = {}
        for part in reports:
            scheme = getattr(part, "scheme", None)
            by_scheme.setdefault(id(part) if scheme is None else scheme.hash, []).append(sources(part))
        return tuple(source for parts in by_scheme.values() for source in _added(parts))
    raise InvalidInput(
        f"Expected reports, not {type(reports).__name__}. Truths are disguised first: tacit.disguise(data, scheme). A frame of "
        "reports is read by tacit.Reports.from_arrow(frame, scheme), undisguised data by tacit.Reports.from_truth(data)."
    )


def _added(parts: Sequence[tuple[Source, ...]]) -> Iterator[Source]:
    """One source for each questionnaire, from the sources of all parts of a table."""
    for same in zip(*parts, strict=True):
        yield replace(same[0], engine=added([source.engine for source in same]))


def true_schema(origins: Sequence[Source]) -> Schema:
    """The attributes that the sources ask for, which must agree on their answers."""
    attributes: dict[str, Attribute] = {}
    for source in origins:
        asked = [a for group in source.questionnaire.groups for a in group.attributes] + list(
            source.questionnaire.public
        )
        for attribute in asked:
            known = attributes.setdefault(attribute.name, attribute)
            if known.answers != attribute.answers:
                raise InvalidInput(
                    f"The tables list the answers of {attribute.name!r} differently, so they cannot be pooled: "
                    f"{', '.join(known.answers)} and {', '.join(attribute.answers)}. Disguise both with the same answers "
                    "in the same order, or estimate from one."
                )
    return Schema(tuple(attributes.values()))
