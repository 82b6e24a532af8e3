"""Reports from the arguments of a command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.channel.scheme import Scheme
    from tacit.count.sources import ReportSource
    from tacit.reports import Reports

# Below this, reading a file whole is quicker than starting a database engine.
IN_MEMORY_BYTES = 64 << 20


def read_reports(places: Sequence[str], schemes: Sequence[Path]) -> list[ReportSource]:
    """One set of reports per place, each with its scheme (or all with one)."""
    plans = read_schemes(schemes, len(places))
    return [open_reports(place, plan) for place, plan in zip(places, plans, strict=True)]


def read_schemes(paths: Sequence[Path], wanted: int) -> list[Scheme]:
    from tacit.channel.scheme import Scheme

    if len(paths) not in (1, wanted):
        raise InvalidInput(
            f"There are {wanted} report files and {len(paths)} schemes. Give one scheme for all, or one for each, "
            "in the same order."
        )
    plans = [Scheme.read(path) for path in paths]
    return plans if len(plans) == wanted else plans * wanted


def open_reports(place: str, plan: Scheme) -> ReportSource:
    """Reports in memory where they are few, in the database engine where they are many."""
    from tacit.reports import Reports

    if "://" not in place and not place.startswith("spark:"):
        path = Path(place)
        if not path.is_file() or path.stat().st_size <= IN_MEMORY_BYTES:
            return Reports.read(path, plan)
    from tacit.count.stored import StoredReports

    return StoredReports.open(place, plan)


def joined_reports(places: Sequence[str], schemes: Sequence[Path], key: str) -> Reports:
    """Two report files about the same people, joined on a column that identifies them."""
    from tacit.reports import Reports, joined
    from tacit.table import read_table

    if len(places) != 2 or len(schemes) != 2:
        raise InvalidInput("--join needs two report files and a scheme for each.")
    parts, keys = [], []
    for place, plan in zip(places, read_schemes(schemes, 2), strict=True):
        table = read_table(place)
        if key not in table.column_names:
            raise InvalidInput(f"{place!r} has no column {key!r} to join on.")
        keys.append(table.column(key).to_pylist())
        parts.append(Reports.from_arrow(table.drop_columns([key]), plan))
    return joined(parts[0], parts[1], keys[0], keys[1])
