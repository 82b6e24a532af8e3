"""Change over the declared waves of a survey: how far each question's shares moved from wave to wave."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tacit.errors import InvalidInput, NotEstimable
from tacit.schema import PANEL
from tacit.survey.answer_tables import AnswerTables, EstimateTable
from tacit.survey.kept_counts import KEPT

if TYPE_CHECKING:
    from tacit.count.sources import ReportSource
    from tacit.estimation.change import Change
    from tacit.survey.store.surveys import Store, StoredSurvey

# Above so many reports of a wave a panel's people are not put together: their reports would all be read at once.
MOST_LINKED = 50_000


@dataclass(frozen=True)
class Wave:
    """The reports of one wave, and of a panel whose they are."""

    survey: StoredSurvey
    n_reports: int
    reports: ReportSource
    people: Sequence[str] | None

    @classmethod
    def of(cls, store: Store, survey: StoredSurvey) -> Wave:
        counts_kept = KEPT.of(store, survey)
        if not survey.definition.is_panel or not 0 < counts_kept.counts.reports <= MOST_LINKED:
            return cls(survey, counts_kept.counts.reports, counts_kept.reports, None)
        reports, people = _reports_of_people(store, survey)
        return cls(survey, len(people), reports, people)

    @property
    def number(self) -> int:
        return int(self.survey.definition.wave)

    @property
    def tables(self) -> AnswerTables:
        return AnswerTables(self.survey.definition, self.reports, 0)

    def shows_few(self, names: Sequence[str]) -> bool:
        """Whether the table of the public ones among these questions has cells of too few people."""
        public = [name for name in names if self.tables.is_public(name)]
        return bool(public) and self.tables.shows_few(*public)


def _reports_of_people(store: Store, survey: StoredSurvey) -> tuple[ReportSource, list[str]]:

    from tacit.reports import Reports
    from tacit.survey.exports import arrow_batches

    table = pa.concat_tables(list(arrow_batches(store, survey)))
    reports = Reports.from_arrow(table.select(list(survey.wire.names)), survey.definition.scheme)
    return reports, table.column(PANEL).to_pylist()


def waves_with_reports(store: Store, survey: StoredSurvey) -> list[Wave]:
    """The waves of the survey's series that have reports, in order; none of a survey that is asked once."""
    series = survey.definition.series
    if series is None:
        return []
    stored = [wave for wave in store.surveys() if wave.definition.series == series]
    waves = (Wave.of(store, wave) for wave in sorted(stored, key=lambda one: int(one.definition.wave)))
    return [wave for wave in waves if wave.n_reports > 0]


def series_changes(store: Store, survey: StoredSurvey, by: str | None = None) -> dict[str, Any]:
    """The waves that have reports, and the change of every question between each two of them in turn, as plain data.

    Public questions of which a wave shows answers of very few people are left out, as everywhere.
    """
    definition = survey.definition
    if definition.waves is None:
        raise InvalidInput(
            f"The survey {definition.name!r} was asked once, so there is no change to estimate. Waves are declared before "
            "the first one: waves: 4 in the questionnaire."
        )
    waves = waves_with_reports(store, survey)
    if len(waves) < 2:
        raise InvalidInput(
            f"Change needs the reports of two waves of {definition.name!r}; there are reports of {len(waves)}. Open the next one "
            f"with: tacit survey wave {definition.name}"
        )
    changes = [row for first, second in itertools.pairwise(waves) for row in _pair_changes(first, second, by)]
    listed = [{"wave": wave.number, "n_reports": wave.n_reports} for wave in waves]
    return {"survey": definition.name, "series": definition.series, "waves": listed, "changes": changes}


def _pair_changes(first: Wave, second: Wave, by: str | None) -> Iterator[dict[str, Any]]:
    definition = first.survey.definition
    for name in definition.scheme.schema.names:
        groups = [by] if by is not None and by != name else []
        if definition.is_long(name) or any(wave.shows_few([name, *groups]) for wave in (first, second)):
            continue
        try:
            moved = _change(first, second, name, groups)
        except NotEstimable:  # nobody was asked both
            continue
        for row in moved.rows():
            yield {
                "attribute": name,
                "label": definition.label(name),
                "answer_label": definition.answer_text(name, row["answers"][name]),
                "group_label": definition.answer_text(groups[0], row["answers"][groups[0]]) if groups else "",
                "from_wave": first.number,
                "to_wave": second.number,
                **row,
            }


def _change(first: Wave, second: Wave, name: str, groups: list[str]) -> Change:
    from tacit.estimation.change import change

    people = None
    if first.people is not None and second.people is not None and set(first.people) & set(second.people):
        people = (first.people, second.people)
    return change(first.reports, second.reports, name, given=groups, people=people)


@dataclass(frozen=True)
class Course:
    """One question over the waves: its shares in each wave, answer by answer, and how far each moved."""

    table: EstimateTable
    changes: list[dict[str, Any]]


def courses(store: Store, survey: StoredSurvey) -> list[Course]:
    """Every question's course over the waves of a series, for the dashboard; none before the second wave has reports."""
    waves = waves_with_reports(store, survey)
    if len(waves) < 2:
        return []
    document = series_changes(store, survey)
    names = dict.fromkeys(row["attribute"] for row in document["changes"])
    return [
        Course(_over_waves(waves, name), [row for row in document["changes"] if row["attribute"] == name])
        for name in names
    ]


def _over_waves(waves: Sequence[Wave], name: str) -> EstimateTable:
    """The question's table of every wave in one, the waves of one answer beside one another."""
    tables = [(wave.number, wave.tables.question(name)) for wave in waves]
    rows = [
        replace(row, label=f"{row.label}, wave {number}")
        for answer in (row.answer for row in tables[0][1].rows)
        for number, table in tables
        for row in table.rows
        if row.answer == answer
    ]
    return replace(tables[0][1], rows=rows)
