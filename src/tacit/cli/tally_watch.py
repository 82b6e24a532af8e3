"""``tacit tally --watch``: a folder that report files keep coming into, counted file by file, each once.

What was counted in stands in the tallies themselves, so a watch that was stopped goes on where it ended. Beside the total a
tally of each day may be kept: a window is then a sum of days, without looking at any report again.
"""

from __future__ import annotations

import datetime
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.cli.output import note
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.count.tally import Tally

SECONDS_BETWEEN_LOOKS = 1.0
DATE = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass
class Watch:
    """A watched folder, and the files that keep its counts."""

    folder: Path
    out: Path
    days: Path | None
    counted: Callable[[str], Tally]  # the tally of one report file
    _last_look: dict[Path, tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.folder.is_dir():
            raise InvalidInput(f"There is no folder {str(self.folder)!r} to watch. Make it first.")
        if self.days is not None:
            self.days.mkdir(parents=True, exist_ok=True)
        for place in (self.out, self.days):
            if place is not None and self.folder.resolve() in (place.resolve(), *place.resolve().parents):
                raise InvalidInput(
                    f"{str(place)!r} lies in the watched folder, so the tally would count itself. Give a place outside of "
                    f"{str(self.folder)!r}."
                )

    def run(self, *, once: bool) -> Tally:
        """Add what is there, and whatever comes, until it is stopped; `once`, only what is there."""
        while True:
            for file in self._new_files(once=once):
                self._add(file)
            if once:
                break
            time.sleep(SECONDS_BETWEEN_LOOKS)
        total = kept(self.out)
        if total is None:
            raise InvalidInput(
                f"The folder {str(self.folder)!r} holds no report file yet, so there is nothing to tally."
            )
        return total

    def _add(self, file: Path) -> None:
        """Count a file into its day first and the total last: the total says that it is done."""
        day = self.counted(str(file))
        day = replace(day, files={self._name(file): file.stat().st_size})
        targets = [self.out] if self.days is None else [self.days / f"{day_of(file, self.folder)}.parquet", self.out]
        for target in targets:
            before = kept(target)
            if before is not None and self._name(file) in before.files:
                continue  # a watch that was stopped between the two
            if before is not None and before.held != day.held:
                raise InvalidInput(
                    f"{str(target)!r} holds {before!r}, which is not what is asked for now. Ask for the same --order, --tables "
                    "or --whole, or give another name with --out."
                )
            total = day if before is None else before + day
            total.write(target)
        note(f"{file.name}: {day.n_reports:,} reports, {total.n_reports:,} in all.")

    def _name(self, file: Path) -> str:
        return str(file.relative_to(self.folder))

    def _new_files(self, *, once: bool) -> list[Path]:
        """The files that are not counted in; while watching, those that have not changed since the last look."""
        total = kept(self.out)
        waiting = {file: _stamp(file) for file in self._uncounted({} if total is None else total.files)}
        ready = [file for file, stamp in waiting.items() if once or self._last_look.get(file) == stamp]
        self._last_look = waiting
        return ready

    def _uncounted(self, counted: Mapping[str, int]) -> Iterator[Path]:
        for file in sorted(self.folder.rglob("*")):
            if file.suffix.lower() not in (".parquet", ".pq", ".csv") or file.name.startswith((".", "_")):
                continue
            size = counted.get(self._name(file))
            if size is None:
                yield file
            elif size != file.stat().st_size:
                raise InvalidInput(
                    f"{file.name!r} was changed after it was counted in. A stream must write a file once, under its final "
                    "name; to start anew, remove the tally."
                )


def _stamp(file: Path) -> tuple[int, int]:
    about = file.stat()
    return about.st_size, about.st_mtime_ns


def kept(path: Path) -> Tally | None:
    """The tally that a file holds; None where there is no file yet."""
    from tacit.count.tally import Tally

    return Tally.read(path) if path.exists() else None


def day_of(file: Path, folder: Path) -> str:
    """The day that a file's name or its folders state (2024-03-01); else the day it was written, in UTC."""
    for text in DATE.findall(str(file.relative_to(folder))):
        try:
            return datetime.date.fromisoformat(text).isoformat()
        except ValueError:
            continue
    return datetime.datetime.fromtimestamp(file.stat().st_mtime, datetime.UTC).date().isoformat()
