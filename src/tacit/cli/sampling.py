"""Complex samples from the arguments of a command: columns of weights, strata and clusters beside the reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pyarrow as pa
import typer

from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.channel.scheme import Scheme
    from tacit.count.sources import ReportSource
    from tacit.count.weighted import SampleColumns
    from tacit.estimation.complex_samples import SampleDesign
    from tacit.reports import Reports

Lonely = Literal["refuse", "centre"]

Weights = Annotated[str | None, typer.Option(help="Column of sampling weights.")]
Strata = Annotated[str | None, typer.Option(help="Column of strata.")]
Clusters = Annotated[str | None, typer.Option(help="Column of clusters, nested in the strata.")]


@dataclass(frozen=True, kw_only=True)
class SampleOptions:
    """How the people were sampled, as the options of `estimate`, `prevalence` and `regress` say it."""

    weights: Weights = None
    strata: Strata = None
    clusters: Clusters = None
    sampled: Annotated[
        str | None, typer.Option(help="Sampled share of a finite population: a number, or a column.")
    ] = None
    lonely: Annotated[
        Lonely, typer.Option(help="Strata with one cluster: refuse them, or centre them at the mean of all clusters.")
    ] = "refuse"
    bootstrap: Annotated[
        int | None, typer.Option(help="Compute errors from this many bootstrap repeats of clusters.")
    ] = None
    replicates: Annotated[
        str, typer.Option(help="Columns of replicate weights, separated by commas; rw* means all that begin with rw.")
    ] = ""
    replicate_scale: Annotated[
        float | None, typer.Option(help="Scale of replicate weights: 1/R if not said, (R-1)/R for a jackknife.")
    ] = None
    seed: Annotated[int | None, typer.Option(help="Seed that makes the bootstrap repeatable.")] = None

    def sample(self, file: str) -> Drawn:
        """The sample; replicate weights may be named by a pattern of the file's columns."""
        from tacit.count.weighted import SampleColumns

        again = replicate_names(self.replicates, file)
        share = number_or_column(self.sampled)
        columns = SampleColumns(self.weights, self.strata, self.clusters, share, again, self.replicate_scale)
        return Drawn(columns, self.lonely, self.bootstrap, self.seed)

    def keywords(self, file: str) -> dict[str, Any]:
        """The sample as keywords of `tacit.prevalence` and `tacit.regress`."""
        options = {field.name: getattr(self, field.name) for field in fields(self)}
        return options | {
            "sampled": number_or_column(self.sampled),
            "replicates": replicate_names(self.replicates, file),
        }


UNSAID = SampleOptions()


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


@dataclass(frozen=True)
class Drawn:
    """What the options of a command say of the sample."""

    columns: SampleColumns
    lonely: Lonely = "refuse"
    bootstrap: int | None = None
    seed: int | None = None

    @property
    def is_named(self) -> bool:
        return bool(self.columns.column_names) or self.columns.sampled is not None or self.bootstrap is not None


def replicate_names(text: str, file: str) -> tuple[str, ...]:
    """The columns of replicate weights; a name that ends with ``*`` stands for all columns that begin so, in their order."""
    from tacit.cli.names import listed_names
    from tacit.table.files import column_names

    names: list[str] = []
    for name in listed_names(text):
        if not name.endswith("*"):
            names.append(name)
            continue
        there = [column for column in column_names(Path(file)) if column.startswith(name[:-1])]
        if not there:
            raise InvalidInput(f"No column of {file!r} begins with {name[:-1]!r}.")
        names += there
    return tuple(names)


def sampled_reports(
    places: Sequence[str], schemes: Sequence[Path], sample: Drawn, *, drop_others: bool
) -> tuple[list[ReportSource], list[SampleDesign | SampleColumns] | None]:
    """Reports with the samples they come from: in memory where they are few, in the database where they are many."""
    from tacit.cli.reading import read_reports, read_schemes
    from tacit.table.object_stores import is_object, local_copy

    places = [str(local_copy(place)) if is_object(place) else place for place in places]
    if len(places) == 1 and not _is_small_file(places[0]):
        if sample.bootstrap is not None:
            raise InvalidInput(
                "A bootstrap redraws people in memory. Name columns of replicate weights for a large table."
            )
        return list(read_reports(places, schemes)), [sample.columns] if sample.is_named else None
    if not all(map(_is_small_file, places)):
        raise InvalidInput(
            "--weights, --strata, --clusters, --sampled and --drop-others take one large table, or several small files."
        )
    made = _in_memory(places, read_schemes(schemes, len(places)), sample, drop_others=drop_others)
    designs: list[SampleDesign | SampleColumns] = [design for _, design in made if design is not None]
    return [reports for reports, _ in made], designs or None


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
    places: Sequence[str], plans: Sequence[Scheme | None], sample: Drawn, *, drop_others: bool
) -> list[tuple[Reports, SampleDesign | None]]:
    """The reports of each scheme with their design; files under one scheme are one sample."""
    from tacit.estimation.sample_columns import design_of
    from tacit.reports import Reports, carried_scheme, checked_scheme_note, report_columns
    from tacit.table.files import read_table

    by_scheme: dict[str, tuple[Scheme, list[pa.Table], list[bool]]] = {}
    for place, plan in zip(map(Path, places), plans, strict=True):
        scheme = carried_scheme(place) if plan is None else plan
        _, tables, simulated = by_scheme.setdefault(scheme.hash, (scheme, [], []))
        simulated.append(checked_scheme_note(place, scheme))
        tables.append(read_table(place))
    made = []
    for scheme, tables, simulated in by_scheme.values():
        table = tables[0] if len(tables) == 1 else pa.concat_tables(tables, promote_options="permissive")
        columns, wanted = sample.columns, report_columns(scheme)
        design = design_of(table, columns, sample.lonely, bootstrap=sample.bootstrap, seed=sample.seed)
        unwanted = [name for name in table.column_names if name not in wanted]
        others = [name for name in unwanted if drop_others or name in columns.column_names]
        reports = Reports.from_arrow(table.drop_columns(others), scheme, is_simulation=any(simulated))
        made.append((reports, design))
    return made
