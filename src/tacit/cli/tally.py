"""``tacit tally``: counts of reports, saved under their scheme, added and subtracted."""

from __future__ import annotations

import datetime
import operator
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import Annotated

import typer

from tacit.channel.scheme import Scheme
from tacit.cli.names import listed_groups
from tacit.cli.output import JsonFlag, note, print_json, print_text
from tacit.cli.reading import carried_or_stated, is_table_address, open_reports, read_schemes
from tacit.cli.sampling import Clusters, Strata, Weights
from tacit.cli.survey.store import opened_store, record
from tacit.cli.tally_watch import Watch, alone, looks, read_tally
from tacit.cli.writing import check_apart, check_writable
from tacit.count.sources import ReportSource
from tacit.count.stored import StoredReports
from tacit.count.tally import Tally, is_tally
from tacit.errors import InvalidInput
from tacit.reports import Reports, checked_scheme_note
from tacit.survey.counting import countable
from tacit.survey.store.database import StoreUnavailable
from tacit.survey.store.surveys import Store, StoredSurvey
from tacit.table.files import data_places, read_columns, read_table
from tacit.table.heads import is_parquet


def tally(
    reports: Annotated[list[str] | None, typer.Argument(help="Report files, folders, tables or tallies.")] = None,
    scheme: Annotated[
        list[Path] | None, typer.Option(help="Scheme of the reports; not needed if the files contain it.")
    ] = None,
    order: Annotated[int | None, typer.Option(help="Count every table of this many attributes.")] = None,
    tables: Annotated[str | None, typer.Option(help="Count these tables only: 'a,b;c'.")] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="Count whole reports (default without --order and --tables).")
    ] = False,
    weights: Weights = None,
    strata: Strata = None,
    clusters: Clusters = None,
    minus: Annotated[list[Path] | None, typer.Option(help="Tally whose counts are subtracted; repeatable.")] = None,
    watch: Annotated[
        str | None, typer.Option(help="Folder, or store of surveys, whose new reports are added as they arrive.")
    ] = None,
    survey: Annotated[str | None, typer.Option(help="With --watch STORE: name of the survey.")] = None,
    days: Annotated[
        Path | None, typer.Option(help="With --watch: folder for one tally per day, to analyse ranges of days.")
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="With --watch: add the reports that are there now, then stop.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Parquet file to write.")] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Count reports once and keep the counts: every command that takes reports takes the tally."""
    target = _checked_target(out, order, tables, whole=whole)
    sample = {"weights": weights, "strata": strata, "clusters": clusters}
    named = {what: column for what, column in sample.items() if column is not None}
    if named and (order is not None or tables is not None):
        raise InvalidInput("A weighted tally holds whole reports. Leave out --order and --tables.")
    shape = _Shape(order, None if tables is None else listed_groups(tables), named, whole)
    if watch is not None:
        if reports or minus:
            raise InvalidInput("--watch counts what comes into its folder. Leave out REPORTS and --minus.")
        _tell(_open_watch(watch, survey, target, days, shape, scheme or []).run(once=once), target, json=json)
        return
    if days is not None or once or survey is not None:
        raise InvalidInput("--days, --once and --survey go with --watch. Leave them out, or give it too.")
    if not reports:
        raise InvalidInput("Which reports? Name files, folders, tables or tallies, or a folder with --watch.")
    check_apart(target, _report_files(reports))
    counted = shape.count_places(reports, scheme or [])
    for path in minus or []:
        counted = counted - Tally.read(path)
    counted.write(target)
    _tell(counted, target, json=json)


def _report_files(places: Sequence[str]) -> Iterator[Path]:
    """The files of reports that are read; a tally may be written over, as when a day is added to a total."""
    for place in places:
        if not is_table_address(place):
            yield from (file for file in data_places(place) if not is_tally(file))


def _open_watch(
    place: str, survey: str | None, out: Path, days: Path | None, shape: _Shape, schemes: Sequence[Path]
) -> Watch | StoreWatch:
    """What is to be watched: a folder of report files, or a survey in its store."""
    if not is_store(place):
        if survey is not None:
            raise InvalidInput(f"--survey goes with the store of surveys, and {place!r} is none. Leave it out.")
        return Watch(Path(place), out, days, lambda file: shape.count_places([file], schemes))
    if shape.sample or schemes:
        raise InvalidInput(
            "A survey's store knows its schemes and no weights. Leave out --scheme, --weights and the like."
        )
    return StoreWatch(place, survey, out, days, shape.tally_source)


@dataclass(frozen=True)
class _Shape:
    """What a tally is to hold: all tables of an order, some tables, or (neither) whole reports."""

    order: int | None
    tables: list[list[str]] | None
    sample: Mapping[str, str]  # columns of weights, strata and clusters
    whole: bool = False  # asked for by name: then no tally of less is taken as it is

    def count_places(self, places: Sequence[str], schemes: Sequence[Path]) -> Tally:
        """All reports of these places, added part by part, so that only one part is held at a time."""
        plans = read_schemes(schemes, len(places))
        if self.sample:
            weighted = (
                source
                for place, plan in zip(places, plans, strict=True)
                for source in self._weighted_tallies(place, plan)
            )
            return reduce(operator.add, weighted)
        parts = (source for place, plan in zip(places, plans, strict=True) for source in open_reports(place, plan))
        return reduce(operator.add, map(self.tally_source, parts))

    def _weighted_tallies(self, place: str, plan: Scheme | None) -> Iterator[Tally]:
        """The weighted tallies of one place: from memory file by file, or added up by a database."""
        if is_table_address(place):
            yield Tally.weighted(StoredReports.open(place, carried_or_stated(plan, place)), **self.sample)
            return
        for file in data_places(place):
            if is_tally(file):
                yield Tally.read(file, plan)
                continue
            scheme = carried_or_stated(plan, file)
            columns = read_columns(file, list(self.sample.values()))
            rest = read_table(file).drop_columns(columns.column_names)
            reports = Reports.from_arrow(rest, scheme, is_simulation=checked_scheme_note(file, scheme))
            yield Tally.weighted(reports, **{what: columns.column(name) for what, name in self.sample.items()})

    def tally_source(self, part: ReportSource) -> Tally:
        """The tally of some reports."""
        if isinstance(part, Tally) and self.order is None and self.tables is None:
            if self.whole and part.holds == "tables":
                raise InvalidInput(
                    f"{part!r} holds tables, from which whole reports do not follow. Tally the reports themselves with --whole."
                )
            return part
        return Tally.of(part, order=self.order, tables=self.tables)


def _checked_target(out: Path | None, order: int | None, tables: str | None, *, whole: bool) -> Path:
    if sum((order is not None, tables is not None, whole)) > 1:
        raise InvalidInput("Say one of --order, --tables and --whole: a tally holds one of these.")
    if out is None or not is_parquet(out):
        raise InvalidInput("A tally is a Parquet file: give its name with --out tally.parquet.")
    check_writable(out)
    return out


def _tell(counted: Tally, out: Path, *, json: bool) -> None:
    if json:
        print_json(
            {
                "out": str(out),
                "n_reports": counted.n_reports,
                "holds": counted.holds,
                "scheme": counted.scheme.hash,
            }
        )
    else:
        print_text(f"{out}: {counted.n_reports:,} reports counted ({counted!r}).")


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
