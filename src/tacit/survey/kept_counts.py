"""What was read of a survey's reports, kept in memory until they change: a second look need not read a million again.

Few reports are read afresh whenever one has come. Many are shown as they were last read, with the time of that, and read again
meanwhile. Nothing of it is written anywhere.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from weakref import WeakKeyDictionary

from tacit.count.sources import ReportSource
from tacit.survey.alarms import Copies, copies
from tacit.survey.counting import countable
from tacit.survey.definition import Definition
from tacit.survey.store.surveys import Counts, Store, StoredSurvey

# From here on the last reading is shown while the next is made.
FRESH_UP_TO = 100_000
# Surveys whose reports are held at the same time: a million of forty questions take about 40 MB.
MOST_KEPT = 4


@dataclass(frozen=True, eq=False)
class Kept:
    """The reports of a survey as they were at one moment."""

    counts: Counts
    reports: ReportSource
    definition: Definition
    state: str
    mark: Hashable
    at: datetime
    _counted: dict[tuple[tuple[str, ...], ...], ReportSource] = field(default_factory=dict)

    def counted(self, tables: Sequence[Sequence[str]]) -> ReportSource:
        """The reports with what these tables need counted; whatever was asked for before is known."""
        wanted = tuple(tuple(names) for names in tables)
        if wanted not in self._counted:
            from tacit.estimation import counted_once

            self._counted[wanted] = counted_once(self.reports, [list(names) for names in wanted])
        return self._counted[wanted]

    @cached_property
    def copies(self) -> Copies | None:
        """Copies among the reports, looked for once."""
        return copies(self.reports, lambda version: typed_by_hand(self.definition, version))


def typed_by_hand(definition: Definition, version: str) -> frozenset[str]:
    """The attributes that the respondents of a version disguise themselves."""
    arms = [
        question
        for question in definition.questions
        if question["mode"] == "self" or version in question.get("arms", {})
    ]
    return frozenset(attribute["attribute"] for question in arms for attribute in question["attributes"])


class KeptCounts:
    """The newest readings of the surveys of each store."""

    def __init__(self, fresh_up_to: int = FRESH_UP_TO, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._fresh_up_to = fresh_up_to
        self._now = now
        self._lock = threading.Lock()
        self._kept: WeakKeyDictionary[Store, dict[str, Kept]] = WeakKeyDictionary()
        self._reading: set[tuple[Store, str]] = set()

    def of(self, store: Store, survey: StoredSurvey) -> Kept:
        """The reports of a survey, from the last reading where nothing has changed or where there are very many."""
        with self._lock:
            earlier = self._kept.get(store, {}).get(survey.fingerprint)
        if earlier is None or earlier.state != survey.state or not store.has_reports(survey):
            return self._read(store, survey)
        if store.change_mark(survey) == earlier.mark:
            return earlier
        if earlier.counts.reports <= self._fresh_up_to:
            return self._read(store, survey)
        self._read_meanwhile(store, survey)
        return earlier

    def _read(self, store: Store, survey: StoredSurvey) -> Kept:
        mark = store.change_mark(survey)  # before the reading: what comes in between is read again next time
        counts = store.counts(survey)
        kept_counts = Kept(
            counts, countable(store, survey, counts.reports), survey.definition, survey.state, mark, self._now()
        )
        with self._lock:
            of_store = self._kept.setdefault(store, {})
            of_store.pop(survey.fingerprint, None)
            of_store[survey.fingerprint] = kept_counts
            while len(of_store) > MOST_KEPT:
                del of_store[next(iter(of_store))]
        return kept_counts

    def _read_meanwhile(self, store: Store, survey: StoredSurvey) -> None:
        key = store, survey.fingerprint
        with self._lock:
            if key in self._reading:
                return
            self._reading.add(key)

        def read() -> None:
            try:
                _ = self._read(store, survey).copies
            finally:
                with self._lock:
                    self._reading.discard(key)

        threading.Thread(target=read, name="survey-counting", daemon=True).start()


KEPT = KeptCounts()
