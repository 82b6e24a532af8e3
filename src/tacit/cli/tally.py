"""``tacit tally``: counts of reports, saved under their scheme, added and subtracted."""

from __future__ import annotations

import operator
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli.names import listed_groups
from tacit.cli.output import JsonFlag, note, print_json, print_text
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.count.sources import ReportSource
    from tacit.count.tally import Tally

SECONDS_BETWEEN_LOOKS = 1.0


def tally(
    reports: Annotated[list[str] | None, typer.Argument(help="Report files, folders, tables or tallies.")] = None,
    scheme: Annotated[list[Path] | None, typer.Option(help="Scheme document; left out where reports carry it.")] = None,
    order: Annotated[int | None, typer.Option(help="Hold every table of so many attributes.")] = None,
    tables: Annotated[str | None, typer.Option(help="Hold these tables only: 'a,b;c'.")] = None,
    whole: Annotated[bool, typer.Option("--whole", help="Hold whole reports (if nothing else is said).")] = False,
    minus: Annotated[list[Path] | None, typer.Option(help="Tally to take away; repeatable.")] = None,
    watch: Annotated[Path | None, typer.Option(help="Folder whose new report files are added as they come.")] = None,
    once: Annotated[bool, typer.Option("--once", help="With --watch: add what is there now and stop.")] = False,
    out: Annotated[Path | None, typer.Option(help="Parquet file to write.")] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Count reports once and keep the counts: every command that takes reports takes the tally."""
    target = _checked(out, order, tables, whole=whole)
    shape = _Shape(order, None if tables is None else listed_groups(tables))
    if watch is not None:
        _watch(watch, target, scheme or [], shape, once=once, json=json)
        return
    from tacit.count.tally import Tally

    if not reports:
        raise InvalidInput("Which reports? Name files, folders, tables or tallies, or a folder with --watch.")
    counted = shape.counted(reports, scheme or [])
    for path in minus or []:
        counted = counted - Tally.read(path)
    counted.write(target)
    _tell(counted, target, json=json)


@dataclass(frozen=True)
class _Shape:
    """What a tally is to hold: all tables of an order, some tables, or (neither) whole reports."""

    order: int | None
    tables: list[list[str]] | None

    def counted(self, places: Sequence[str], schemes: Sequence[Path]) -> Tally:
        """All reports of these places, added part by part, so that only one part is held at a time."""
        from tacit.cli.reading import open_reports, read_schemes

        plans = read_schemes(schemes, len(places))
        parts = (part for place, plan in zip(places, plans, strict=True) for part in open_reports(place, plan))
        return reduce(operator.add, map(self._tallied, parts))

    def _tallied(self, part: ReportSource) -> Tally:
        from tacit.count.tally import Tally

        if isinstance(part, Tally) and self.order is None and self.tables is None:
            return part
        return Tally.of(part, order=self.order, tables=self.tables)


def _checked(out: Path | None, order: int | None, tables: str | None, *, whole: bool) -> Path:
    from tacit.cli.writing import check_writable
    from tacit.table.files import is_parquet

    if sum((order is not None, tables is not None, whole)) > 1:
        raise InvalidInput("Say one of --order, --tables and --whole: a tally holds one of these.")
    if out is None or not is_parquet(out):
        raise InvalidInput("A tally is a Parquet file: give its name with --out tally.parquet.")
    check_writable(out)
    return out


def _tell(counted: Tally, out: Path, *, json: bool) -> None:
    if json:
        print_json(
            {"out": str(out), "n_reports": counted.n_reports, "holds": counted.holds, "scheme": counted.scheme.hash}
        )
    else:
        print_text(f"{out}: {counted.n_reports:,} reports counted ({counted!r}).")


def _watch(folder: Path, out: Path, schemes: list[Path], shape: _Shape, *, once: bool, json: bool) -> None:
    """Add each new file of a folder to the tally; what was counted in stands in the tally itself."""
    from tacit.count.tally import Tally

    if not folder.is_dir():
        raise InvalidInput(f"There is no folder {str(folder)!r} to watch. Make it first.")
    total = Tally.read(out) if out.exists() else None
    while True:
        new = _new_files(folder, {} if total is None else total.files)
        for file in new:
            day = shape.counted([str(file)], schemes)
            day = replace(day, files={str(file.relative_to(folder)): file.stat().st_size})
            total = day if total is None else total + day
            total.write(out)
            note(f"{file.name}: {day.n_reports:,} reports, {total.n_reports:,} in all.")
        if once:
            break
        time.sleep(SECONDS_BETWEEN_LOOKS)
    if total is None:
        raise InvalidInput(f"The folder {str(folder)!r} holds no report file yet, so there is nothing to tally.")
    _tell(total, out, json=json)


def _new_files(folder: Path, counted: Mapping[str, int]) -> list[Path]:
    """The files that are not counted in yet; one that has grown since it was counted is refused."""
    files = []
    for file in sorted(folder.rglob("*")):
        if file.suffix.lower() not in (".parquet", ".pq", ".csv") or file.name.startswith((".", "_")):
            continue
        size = counted.get(str(file.relative_to(folder)))
        if size is None:
            files.append(file)
        elif size != file.stat().st_size:
            raise InvalidInput(
                f"{file.name!r} was changed after it was counted in. A stream must write a file once, under its final name; "
                "to start anew, remove the tally."
            )
    return files
