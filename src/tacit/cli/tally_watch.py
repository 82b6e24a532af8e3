"""``tacit tally --watch``: a folder that report files keep coming into, counted file by file, each once.

What was counted in stands in the tallies themselves, so a watch that was stopped goes on where it ended. Beside the total a
tally of each day may be kept: a window is then a sum of days, without looking at any report again.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from tacit.cli.output import note
from tacit.count.tally import FileStamp, Tally
from tacit.errors import InvalidInput, SchemeMismatch
from tacit.table.object_stores import is_data_name

SECONDS_BETWEEN_LOOKS = 1.0
DATE = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass
class Watch:
    """A watched folder, and the files that keep its counts."""

    folder: Path
    out: Path
    days: Path | None
    counted: Callable[[str], Tally]  # the tally of one report file
    _last_look: dict[str, FileStamp] = field(default_factory=dict)
    _left: dict[str, FileStamp] = field(default_factory=dict)  # files that cannot be read until they change
    _renamed: set[str] = field(default_factory=set)

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
        with alone(self.out, self.days):
            looks(self._look, once=once)
        total = read_tally(self.out)
        if total is None:
            raise InvalidInput(
                f"The folder {str(self.folder)!r} holds no report file yet, so there is nothing to tally."
            )
        return total

    def _look(self, *, once: bool) -> None:
        for name, stamp in self._new_files(once=once).items():
            day = self._count_file(name, stamp, once=once)
            if day is not None:
                self._add(self.folder / name, day)

    def _count_file(self, name: str, stamp: FileStamp, *, once: bool) -> Tally | None:
        """The tally of a file; None where it is not complete yet and others go on."""
        file = self.folder / name
        try:
            counted = self.counted(str(file))
            if _stamp(file) != stamp:
                raise InvalidInput(f"{name!r} is still being written. Write files under another name, and rename them.")
        except SchemeMismatch:
            raise
        except InvalidInput as problem:
            if once:
                raise
            note(f"{problem} The file is left until it changes.")
            self._left[name] = stamp
            return None
        return replace(counted, files={name: stamp})

    def _add(self, file: Path, day: Tally) -> None:
        """Count a file into its day first and the total last: the total says that it is done."""
        targets = [self.out] if self.days is None else [self.days / f"{day_of(file, self.folder)}.parquet", self.out]
        for target in targets:
            before = read_tally(target)
            if before is not None and not before.files.keys().isdisjoint(day.files):
                continue  # a watch that was stopped between the two
            if before is not None and before.held != day.held:
                raise InvalidInput(
                    f"{str(target)!r} holds {before!r}, which is not what is asked for now. Ask for the same --order, --tables "
                    "or --whole, or give another name with --out."
                )
            total = day if before is None else before + day
            total.write(target)
        note(f"{file.name}: {day.n_reports:,} reports, {total.n_reports:,} in all.")

    def _new_files(self, *, once: bool) -> dict[str, FileStamp]:
        """The files that are not counted in; while watching, those that have not changed since the last look."""
        waiting = self._waiting_files()
        ready = {
            name: stamp
            for name, stamp in waiting.items()
            if once or (self._last_look.get(name) == stamp and self._left.get(name) != stamp)
        }
        self._last_look = waiting
        return ready

    def _waiting_files(self) -> dict[str, FileStamp]:
        total = read_tally(self.out)
        counted = {} if total is None else dict(total.files)
        present = self._present()
        for name in counted.keys() & present.keys():
            if _is_changed(counted[name], present[name]):
                raise InvalidInput(
                    f"{name!r} was changed after it was counted in. A stream must write a file once, under its final "
                    "name; to start anew, remove the tally."
                )
        gone = {stamp: name for name, stamp in counted.items() if name not in present}
        new = {name: stamp for name, stamp in present.items() if name not in counted}
        for name in [name for name, stamp in new.items() if stamp in gone]:
            self._tell_renamed(name, gone[new.pop(name)])
        return new

    def _tell_renamed(self, name: str, before: str) -> None:
        if name not in self._renamed:
            note(f"{name!r} is {before!r} under a new name, which is counted in already.")
            self._renamed.add(name)

    def _present(self) -> dict[str, FileStamp]:
        """The data files below the folder, by their names in it; not what is hidden or still being written elsewhere."""
        stamps = {}
        for file in sorted(self.folder.rglob("*")):
            below = file.relative_to(self.folder)
            if is_data_name(file.name) and not any(folder.startswith((".", "_")) for folder in below.parts):
                stamp = _stamp(file)
                if stamp is not None:
                    stamps[str(below)] = stamp
        return stamps


def looks(look: Callable[..., None], *, once: bool) -> None:
    """Look again and again until Ctrl-C; `once`, one time."""
    with contextlib.suppress(KeyboardInterrupt):
        look(once=once)
        while not once:
            time.sleep(SECONDS_BETWEEN_LOOKS)
            look(once=once)


@contextlib.contextmanager
def alone(out: Path, days: Path | None) -> Iterator[None]:
    """Only one watch keeps a tally and its days: two would each add to what the other has not written yet."""
    locks = [out.with_name(f".{out.name}.lock")]
    locks += [] if days is None else [days / ".days.lock"]
    with contextlib.ExitStack() as stack:
        for lock in locks:
            if not stack.enter_context(_hold_lock(lock)):
                raise InvalidInput(
                    f"Another watch keeps {str(out if lock == locks[0] else days)!r} now. Stop it first, or give other names "
                    "with --out and --days."
                )
        yield


@contextlib.contextmanager
def _hold_lock(lock: Path) -> Iterator[bool]:
    """Whether this process alone holds a lock; the system takes it from whoever ends, however that was."""
    try:
        import fcntl
    except ImportError:  # no such lock on this system
        yield True
        return
    with lock.open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_mine = lock.exists() and lock.stat().st_ino == os.fstat(held.fileno()).st_ino
        except BlockingIOError:
            is_mine = False
        try:
            yield is_mine
        finally:
            if is_mine:
                lock.unlink(missing_ok=True)


def _stamp(file: Path) -> FileStamp | None:
    """The size of a file and the time of its last change; None where it has gone."""
    try:
        about = file.stat()
    except FileNotFoundError:
        return None
    return about.st_size, about.st_mtime_ns


def _is_changed(counted: FileStamp, present: FileStamp) -> bool:
    return present[0] != counted[0] or counted[1] not in (None, present[1])


def read_tally(path: Path) -> Tally | None:
    """The tally that a file holds; None where there is no file yet."""
    return Tally.read(path) if path.exists() else None


def day_of(file: Path, folder: Path) -> str:
    """The day that a file's name or its folders state (2024-03-01); else the day it was written, in UTC."""
    for text in DATE.findall(str(file.relative_to(folder))):
        try:
            return datetime.date.fromisoformat(text).isoformat()
        except ValueError:
            continue
    return datetime.datetime.fromtimestamp(file.stat().st_mtime, datetime.UTC).date().isoformat()
