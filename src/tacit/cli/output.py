"""What commands print: tables for people, JSON for programs, messages on standard error."""

from __future__ import annotations

import json
import math
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TextIO

import typer

MOST_ROWS_LAID_OUT = 1000

JsonFlag = typer.Option("--json", help="Print a machine-readable answer on standard output.")


def fail(message: str) -> NoReturn:
    """One clear message and exit code 2; under --json also an object that holds it, on standard output."""
    sys.stderr.write(f"Error: {message}\n")
    if "--json" in sys.argv[1:]:
        print_json({"error": message})
    sys.exit(2)


def note(message: str) -> None:
    """A line for people that is not part of the answer."""
    sys.stderr.write(f"{message}\n")


def show_warnings() -> None:
    """Warnings as sentences, each once, without the file and line of the code that raised them."""
    said: set[str] = set()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if str(message) not in said:
            note(f"Warning: {message}")
        said.add(str(message))

    warnings.showwarning = show


def print_json(document: Mapping[str, Any]) -> None:
    """A JSON object on standard output; what is infinite or undefined is null, and `warnings` says so."""
    text = json.dumps(finite(document), ensure_ascii=False, indent=1, allow_nan=False)
    sys.stdout.write(text + "\n")


def finite(value: Any) -> Any:
    """`value` with everything that JSON cannot hold as null."""
    if isinstance(value, Mapping):
        return {str(key): finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [finite(entry) for entry in value]
    if hasattr(value, "tolist"):
        return finite(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


NAME_WIDTH = 26
NARROWEST = 12  # column of text, where numbers need the space


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table on standard output; numbers are aligned to the right and always whole, at worst in a list."""
    if len(rows) > MOST_ROWS_LAID_OUT:
        _print_plainly(title, columns, rows)
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    console = Console()
    numeric = [all(_is_number(row[position]) for row in rows) for position in range(len(columns))]
    heads = [max(map(len, name.split()), default=0) for name in columns]  # the head's longest word stays whole
    longest = [max([head, *(len(str(row[at])) for row in rows)]) for at, head in enumerate(heads)]
    # No number is ever cut or folded. What names a row stays whole too, so that it can be copied, unless it is long.
    least = [
        longest[at]
        if is_number or (at == 0 and longest[at] <= NAME_WIDTH)
        else min(longest[at], max(heads[at], NARROWEST))
        for at, is_number in enumerate(numeric)
    ]
    if rows and sum(least) + 3 * len(columns) + 1 > console.width:
        _print_list(title, columns, rows)
        return
    table = Table(title=title, box=SIMPLE_HEAD, title_justify="left", title_style="bold")
    for at, name in enumerate(columns):
        is_whole = least[at] == longest[at]
        table.add_column(
            name,
            justify="right" if numeric[at] and rows else "left",
            overflow="fold",
            no_wrap=is_whole and " " not in name,
            min_width=least[at],
        )
    for row in rows:
        table.add_row(*(str(entry) for entry in row))
    console.print(table)


def _print_list(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table whose numbers are too wide for the screen, as a list: every row, then each of its cells on a line."""
    width = max(map(len, columns[1:]), default=0)
    lines = [title]
    for first, *others in rows:
        lines.append(f"{columns[0]} {first}" if str(columns[0]) else str(first))
        lines += [f"  {name:{width}}  {entry}" for name, entry in zip(columns[1:], others, strict=True)]
    sys.stdout.write("\n".join(lines) + "\n")


def _print_plainly(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table of very many rows, each on a line of its own, as wide as it is: laying it out would take minutes."""
    texts = [[*map(str, columns)], *([str(entry) for entry in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    lines = ("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in texts)
    sys.stdout.write("\n".join([title, *lines]) + "\n")


def _is_number(value: object) -> bool:
    text = str(value).strip().rstrip("%").lstrip("±")
    try:
        float(text.replace(",", ""))
    except ValueError:
        return text in ("", "-", "inf")
    return True


def number_row(labels: Iterable[str], key: str, cell: dict[str, Any], places: int) -> tuple[str, ...]:
    """A row of a table: labels, then a number with its error and the ends of its interval."""
    from tacit.display import fixed_decimals, rounded_error

    value, low, high = (fixed_decimals(cell[name], places) for name in (key, "low", "high"))
    return (*labels, value, rounded_error(cell["standard_error"], places), low, high)


def print_text(text: str) -> None:
    sys.stdout.write(text + "\n")


SILENT_SECONDS = 2.0


class Progress:
    """How far the work is; silent until two seconds have passed.

    A terminal shows a bar. Elsewhere, as in a log, a line says what takes so long, and one more the first detail of it.
    """

    def __init__(self, description: str, total: float | None, hint: str = "") -> None:
        self._description, self._detail, self._hint, self.total = description, "", hint, total
        self._bar: Any = None
        self._done = 0.0
        self._log: list[str] = []  # what a log was told
        # By the clock and not by the work: what takes longest, such as compiling, comes before the first step is done.
        self._lock, self._closed = threading.Lock(), False
        self._timer = threading.Timer(SILENT_SECONDS, self._show)
        self._timer.daemon = True
        self._timer.start()

    @property
    def _doing(self) -> str:
        return f"{self._description}: {self._detail}" if self._detail else self._description

    def advance(self, amount: float = 1) -> None:
        self._done += amount
        self._update()

    def say(self, description: str) -> None:
        """What is being done now."""
        self._description, self._detail = description, ""
        self._update()

    def add(self, detail: str) -> None:
        """What is being done within that; nothing more to say where it is empty."""
        self._detail = detail
        self._update()
        with self._lock:
            self._log_detail()

    def _log_detail(self) -> None:
        if len(self._log) == 1 and self._detail:
            self._log.append(self._detail)
            note(f"{self._doing} ...")

    def _update(self) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, description=self._doing, total=self.total)

    def _show(self) -> None:
        with self._lock:
            if self._closed:
                return
            if not sys.stderr.isatty():
                self._log = [self._description]
                note(f"{self._description}{self._hint} ...")
                self._log_detail()
                return
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as RichProgress

            text, left = TextColumn("{task.description}"), TimeRemainingColumn()
            bar = RichProgress(text, BarColumn(), left, console=Console(stderr=True), transient=True)
            self._task = bar.add_task(self._doing, completed=int(self._done), total=self.total)
            bar.start()
            self._bar = bar
            self._update()

    def close(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._bar is not None:
                self._bar.stop()


@contextmanager
def progress(description: str, total: float | None = None, hint: str = "") -> Iterator[Progress]:
    """Progress on standard error for work that runs longer than two seconds; a log also gets the `hint` how to shorten it."""
    bar = Progress(description, total, hint)
    try:
        yield bar
    finally:
        bar.close()


@contextmanager
def compiling_told(bar: Progress) -> Iterator[None]:
    """Let the progress say what is being compiled, where something is used for the first time."""
    from numba.core import event as numba_event

    event: Any = numba_event  # untyped

    class Compiling(event.Listener):  # type: ignore[misc]
        def on_start(self, happening: Any) -> None:
            name = happening.data["dispatcher"].py_func.__name__.strip("_").replace("_", " ")
            bar.add(f"compiling {name} (the first time only)")

        def on_end(self, happening: Any) -> None:
            bar.add("")

    listener = Compiling()
    event.register("numba:compile", listener)
    try:
        yield
    finally:
        event.unregister("numba:compile", listener)
