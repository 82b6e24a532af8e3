"""Reports of a survey as something to count: in memory while they are few, in the database itself beyond."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.survey.exports import reports_of
from tacit.survey.store.sqlite import SqliteDatabase
from tacit.survey.store.surveys import Store, StoredSurvey

if TYPE_CHECKING:
    from tacit.count.sources import ReportSource

# Up to here reading all reports takes less time than asking a database several questions about them.
READ_UP_TO = 100_000


def countable(store: Store, survey: StoredSurvey, n_reports: int, *, read_up_to: int = READ_UP_TO) -> ReportSource:
    """What estimators and miners take. Sets lie in a database as text, so their surveys are always read."""
    has_sets = any(column.members for column in survey.wire.columns)
    if n_reports <= read_up_to or has_sets:
        return reports_of(store, survey)
    from tacit.count.connections import opened
    from tacit.count.stored import StoredReports

    return StoredReports(opened(_address(store, survey)), survey.definition.scheme)


def _address(store: Store, survey: StoredSurvey) -> str:
    """The table of the reports, as the counting engine names it."""
    url = store.database.url
    if isinstance(store.database, SqliteDatabase):
        url = f"sqlite:///{url}"
    return f"{url}{'&' if '?' in url else '?'}table={survey.table('reports')}"
