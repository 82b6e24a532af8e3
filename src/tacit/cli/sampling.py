"""Complex samples from the arguments of a command: columns of weights, strata and clusters beside the reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from tacit.errors import InvalidInput

if TYPE_CHECKING:
    import pyarrow as pa

    from tacit.channel.scheme import Scheme
    from tacit.count.sources import ReportSource
    from tacit.count.weighted import SampleColumns
    from tacit.estimation.complex_samples import SampleDesign

Lonely = Literal["refuse", "centre"]

WeightsOption = typer.Option(help="Column of sampling weights.")
StrataOption = typer.Option(help="Column of strata.")
ClustersOption = typer.Option(help="Column of clusters, nested in the strata.")
SampledOption = typer.Option(help="Sampled share of a finite population: a number, or a column.")
LonelyOption = typer.Option(help="A stratum with one cluster: refuse it, or centre it at the mean of all.")
DropOthersOption = typer.Option("--drop-others", help="Leave out columns that neither the scheme nor an option names.")


def number_or_column(text: str | None) -> float | str | None:
    """``.06`` and ``710/10777`` are numbers, everything else is the name of a column."""
    if text is None:
        return None
    from tacit.channel.device_parameters import exact_chance

    try:
        return float(exact_chance("--sampled", text))
    except InvalidInput:
        if text.replace(".", "", 1).replace("-", "", 1).isdigit():
            raise
        return text


def sampled_reports(
    places: Sequence[str], schemes: Sequence[Path], columns: SampleColumns, *, lonely: Lonely, drop_others: bool
) -> tuple[ReportSource, SampleDesign | SampleColumns | None]:
    """One set of reports with the sample it comes from: in memory where it is few, in the database where it is many."""
    from tacit.cli.reading import read_reports, read_schemes

    if len(places) != 1:
        raise InvalidInput("--weights, --strata, --clusters, --sampled and --drop-others take one file of reports.")
    place = places[0]
    if not _is_small_file(place):
        (stored,) = read_reports(places, schemes)
        return stored, columns if columns.named or columns.sampled is not None else None
    (plan,) = read_schemes(schemes, 1)
    return _in_memory(Path(place), plan, columns, lonely, drop_others=drop_others)


def _is_small_file(place: str) -> bool:
    from tacit.cli.reading import IN_MEMORY_CELLS
    from tacit.count.tally import is_tally
    from tacit.table.files import is_many, n_cells

    if "://" in place or place.startswith("spark:") or is_many(place):
        return False
    if is_tally(place):
        raise InvalidInput("A tally has no columns of weights, strata or clusters left. Give the reports themselves.")
    return not Path(place).is_file() or n_cells(Path(place)) <= IN_MEMORY_CELLS


def _in_memory(
    file: Path, plan: Scheme | None, columns: SampleColumns, lonely: Lonely, *, drop_others: bool
) -> tuple[ReportSource, SampleDesign | None]:
    from tacit.reports import Reports, carried_scheme, checked_scheme_note, report_columns
    from tacit.table.files import read_table

    scheme = carried_scheme(file) if plan is None else plan
    simulation = checked_scheme_note(file, scheme)
    table = read_table(file)
    design = design_of(table, columns, lonely)
    wanted = report_columns(scheme)
    others = [name for name in table.column_names if name not in wanted and (drop_others or name in columns.named)]
    return Reports.from_arrow(table.drop_columns(others), scheme, is_simulation=simulation), design


def design_of(table: pa.Table, columns: SampleColumns, lonely: Lonely) -> SampleDesign | None:
    """The design that the named columns of a table describe."""
    from tacit.estimation.complex_samples import SampleDesign
    from tacit.estimation.device_reports import column, numbers

    if not columns.named and columns.sampled is None:
        return None
    share = columns.sampled
    return SampleDesign.of(
        table.num_rows,
        weights=None if columns.weights is None else numbers(table, columns.weights),
        strata=None if columns.strata is None else column(table, columns.strata),
        clusters=None if columns.clusters is None else column(table, columns.clusters),
        sampled=numbers(table, share) if isinstance(share, str) else share,
        lonely=lonely,
    )
