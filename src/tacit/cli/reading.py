"""Reports from the arguments of a command: files, folders, patterns, tallies, tables of databases."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import warnings
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.channel.scheme import Scheme
    from tacit.count.sources import ReportSource
    from tacit.reports import Reports

# Up to here reading reports whole is quicker than starting a database engine, and they fit any machine.
IN_MEMORY_CELLS = 1 << 25


def read_reports(places: Sequence[str], schemes: Sequence[Path]) -> list[ReportSource]:
    """The reports in all places, each under its scheme, or all under one, or each under the one it carries."""
    plans = read_schemes(schemes, len(places))
    return [source for place, plan in zip(places, plans, strict=True) for source in open_reports(place, plan)]


def read_schemes(paths: Sequence[Path], wanted: int) -> list[Scheme | None]:
    from tacit.channel.scheme import Scheme

    if not paths:
        return [None] * wanted
    if len(paths) not in (1, wanted):
        raise InvalidInput(
            f"There are {wanted} report files and {len(paths)} schemes. Give one scheme for all, or one for each, "
            "in the same order."
        )
    plans: list[Scheme | None] = [Scheme.read(path) for path in paths]
    return plans if len(plans) == wanted else plans * wanted


def open_reports(place: str, plan: Scheme | None) -> Iterator[ReportSource]:
    """The reports of one place: in memory where they are few, in the database engine where they are many."""
    from tacit.count.tally import Tally, is_tally
    from tacit.table.files import data_files, is_many
    from tacit.table.object_stores import is_object, local_copy, objects

    if is_object(place):
        yield from _opened_files([local_copy(address) for address in objects(place)], plan, place)
    elif is_tally(place):
        yield Tally.read(place, plan)
    elif is_table_address(place):
        yield _open_stored(place, _require_scheme(plan, place))
    elif is_many(place):
        yield from _opened_files(data_files(place), plan, place)
    else:
        yield from _opened_files([Path(place)], plan, place)


def is_table_address(place: str) -> bool:
    """Whether a place is a table of a database and not a file."""
    from tacit.table.object_stores import is_object

    return ("://" in place or place.startswith("spark:")) and not is_object(place)


def carried_or_stated(plan: Scheme | None, place: str | Path) -> Scheme:
    """The scheme that was given; else the one that a file carries."""
    from tacit.reports import carried_scheme

    if plan is None and not is_table_address(str(place)):
        return carried_scheme(place)
    return _require_scheme(plan, str(place))


def _require_scheme(plan: Scheme | None, place: str) -> Scheme:
    if plan is None:
        raise InvalidInput(f"{place!r} does not carry its scheme. Give the document of the reports: --scheme S.")
    return plan


def _opened_files(files: Sequence[Path], plan: Scheme | None, place: str) -> Iterator[ReportSource]:
    from tacit.count.tally import Tally, is_tally
    from tacit.reports import MissingSchemeNote, Reports, carried_scheme
    from tacit.table.labelled import is_labelled

    in_memory = _fit_memory(files)
    if in_memory:
        _spare_pandas()
    silent: list[Path] = []
    for file in files:
        try:
            if is_tally(file):
                yield Tally.read(file, plan)
                continue
            scheme = carried_scheme(file) if plan is None else plan
            whole = in_memory or is_labelled(file)  # files with value labels are never read in parts
            with _noting_silent(file, silent, many=len(files) > 1):
                source: ReportSource = Reports.read(file, scheme) if whole else _open_stored(str(file), scheme)
            yield source
        except InvalidInput as problem:
            if len(files) == 1 or repr(str(file)) in str(problem):
                raise
            raise type(problem)(f"{str(file)!r} of {place!r}: {problem}") from None
    if silent:
        files_say = "1 file does not say" if len(silent) == 1 else f"{len(silent):,} files do not say"
        warnings.warn(
            f"{files_say} under which scheme the reports were disguised ({str(silent[0])!r} first); going on as if it were this "
            "one.",
            MissingSchemeNote,
            stacklevel=2,
        )


@contextlib.contextmanager
def _noting_silent(file: Path, silent: list[Path], *, many: bool) -> Iterator[None]:
    """Of many files those that say nothing of their scheme are noted, to be told of in one sentence; other warnings pass."""
    from tacit.reports import MissingSchemeNote

    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        yield
    for warning in notes:
        if many and issubclass(warning.category, MissingSchemeNote):
            silent.append(file)
        else:
            warnings.warn(warning.message, warning.category, stacklevel=4)


def _fit_memory(files: Sequence[Path]) -> bool:

    from tacit.table.files import n_cells

    if importlib.util.find_spec("ibis") is None:  # the base install reads everything into memory
        return True
    return sum(n_cells(file) for file in files if file.is_file()) <= IN_MEMORY_CELLS


def _spare_pandas() -> None:
    """Let Arrow make its first array without pandas.

    Where pandas is installed, Arrow imports it for its first array, to know a series when it meets one: half of all that an
    estimate from a small file would take. A command has no series. Arrow asks once; who imports pandas later still can.
    """
    refusing = _RefusePandas()
    sys.meta_path.insert(0, refusing)
    try:
        pa.scalar(0)
    finally:
        sys.meta_path.remove(refusing)


class _RefusePandas(MetaPathFinder):
    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is not needed here", name=fullname)


def _open_stored(place: str, scheme: Scheme) -> ReportSource:
    from tacit.count.stored import StoredReports

    return StoredReports.open(place, scheme)


def read_or_joined(places: Sequence[str], schemes: Sequence[Path], key: str | None) -> list[ReportSource]:
    """The reports in all places, or the one table that two files about the same people make."""
    return read_reports(places, schemes) if key is None else [joined_reports(places, schemes, key)]


def joined_reports(places: Sequence[str], schemes: Sequence[Path], key: str) -> Reports:
    """Two report files about the same people, joined on a column that identifies them.

    One of them may hold clear records: its scheme is then a document without groups.
    """
    from tacit.reports import joined

    if len(places) != 2 or len(schemes) not in (0, 2):
        raise InvalidInput(
            "--join needs two report files and a scheme for each, in the same order; clear records take a document without "
            "groups. Files that carry their scheme need none."
        )
    (left, left_keys), (right, right_keys) = keyed_reports(places, schemes, key)
    return joined(left, right, left_keys, right_keys)


def keyed_reports(places: Sequence[str], schemes: Sequence[Path], key: str) -> list[tuple[Reports, list[Any]]]:
    """The reports of each file, and its column `key`, which says whose they are."""
    from tacit.reports import Reports, carried_scheme, checked_scheme_note
    from tacit.table import read_table

    keyed = []
    for place, plan in zip(places, read_schemes(schemes, len(places)), strict=True):
        scheme = carried_scheme(place) if plan is None else plan
        table = read_table(place)
        if key not in table.column_names:
            raise InvalidInput(
                f"{place!r} has no column {key!r} to join on. It has {', '.join(table.column_names[:12])}. Write it "
                f"beside the reports when they are made: tacit disguise ... --key {key}."
            )
        simulation = checked_scheme_note(place, scheme)
        reports = Reports.from_arrow(table.drop_columns([key]), scheme, is_simulation=simulation)
        keyed.append((reports, table.column(key).to_pylist()))
    return keyed
