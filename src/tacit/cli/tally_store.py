"""``tacit tally --watch STORE``: the reports of a survey, counted whenever some have come.

The store keeps no order of its reports and forgets withdrawn ones, so it is counted as a whole. With days a tally of what each
day brought is kept beside the total: a window is a sum of days.
"""

from __future__ import annotations

import datetime
import operator
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path

from tacit.cli.output import note
from tacit.cli.survey.store import opened_store, record
from tacit.cli.tally_watch import alone, looks, read_tally
from tacit.count.sources import ReportSource
from tacit.count.tally import Tally
from tacit.errors import InvalidInput
from tacit.survey.counting import countable
from tacit.survey.store.database import StoreUnavailable
from tacit.survey.store.surveys import Store, StoredSurvey

SHARE_OF_TIME = 0.1  # counting a large store takes at most so much of a watch's time


def is_store(place: str) -> bool:
    """Whether a place to watch is the store of surveys and not a folder."""
    return place.startswith(("postgresql://", "postgres://")) or Path(place).is_file()


@dataclass
class StoreWatch:
    """A survey in its store, and the files that keep its counts."""

    place: str
    survey: str | None
    out: Path
    days: Path | None
    counted: Callable[[ReportSource], Tally]
    today: Callable[[], datetime.date] = lambda: datetime.datetime.now(datetime.UTC).date()
    _seen: Hashable = None  # the store's mark when it was counted last
    _rest_until: float = 0.0
    _is_away: bool = False

    def run(self, *, once: bool) -> Tally:
        """Count the reports that are there, and again whenever some have come, until it is stopped; `once`, one time."""
        if self.days is not None:
            self.days.mkdir(parents=True, exist_ok=True)
        with alone(self.out, self.days), opened_store(self.place) as store:
            survey = self._chosen_survey(store)
            record(store, "tally", survey.definition.name)
            looks(partial(self._look, store, survey), once=once)
        total = read_tally(self.out)
        if total is None:
            raise InvalidInput(f"Nothing was counted of {self.place!r} before the watch was stopped.")
        return total

    def _look(self, store: Store, survey: StoredSurvey, *, once: bool) -> None:
        try:
            mark = store.change_mark(survey)
            if once or (mark != self._seen and time.monotonic() >= self._rest_until):
                began = time.monotonic()
                self._count(store, survey)
                self._seen, spent = mark, time.monotonic() - began
                self._rest_until = time.monotonic() + spent * (1 / SHARE_OF_TIME - 1)
            self._is_away = False
        except StoreUnavailable as problem:  # a database that is started anew comes back
            if once or self._seen is None:
                raise
            if not self._is_away:
                note(f"{problem} The watch goes on when it is back.")
            self._is_away = True

    def _chosen_survey(self, store: Store) -> StoredSurvey:
        if self.survey is not None:
            return store.named(self.survey)
        surveys = store.surveys()
        if len(surveys) != 1:
            names = ", ".join(sorted({survey.definition.name for survey in surveys})) or "none"
            raise InvalidInput(f"Which survey of {self.place!r}? Name it with --survey; there are: {names}.")
        return surveys[0]

    def _count(self, store: Store, survey: StoredSurvey) -> None:
        total = self.counted(countable(store, survey, store.counts(survey).reports))
        before = read_tally(self.out)
        if before is not None and (before.scheme.hash, before.held) != (total.scheme.hash, total.held):
            raise InvalidInput(
                f"{str(self.out)!r} holds {before!r}, which is not what is asked for now. Ask for the same survey and --order, "
                "--tables or --whole, or give another name with --out."
            )
        if self.days is not None:
            self._write_day(total, self.days)
        total.write(self.out)
        note(f"{survey.definition.name}: {total.n_reports:,} reports.")

    def _write_day(self, total: Tally, days: Path) -> None:
        """What came today is all that is there less what earlier days brought."""
        today = f"{self.today().isoformat()}.parquet"
        earlier = [Tally.read(file) for file in sorted(days.glob("*.parquet")) if file.name < today]
        try:
            day_tally = reduce(operator.sub, earlier, total)
        except InvalidInput:
            raise InvalidInput(
                f"A report that an earlier day in {str(days)!r} counts was withdrawn, so the days no longer add up to the "
                "store. Begin days anew in another folder."
            ) from None
        day_tally.write(days / today)
