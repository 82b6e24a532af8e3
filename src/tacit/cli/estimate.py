"""``tacit estimate``: what the crowd's true answers are, from disguised reports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tacit.cli.names import listed_names
from tacit.cli.output import JsonFlag, note, print_json, print_table
from tacit.cli.sampling import (
    ClustersOption,
    DropOthersOption,
    Lonely,
    LonelyOption,
    SampledOption,
    StrataOption,
    WeightsOption,
    number_or_column,
    sampled_reports,
)
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.count.sources import ReportSource
    from tacit.estimation.result import TableEstimate

Method = Literal["inversion", "likelihood"]
Sampling = Literal["population", "respondents"]


def estimate(
    reports: Annotated[list[str], typer.Argument(help="Report files, or database tables.")],
    attributes: Annotated[str, typer.Option(help="Attributes of the wanted table, separated by commas.")],
    scheme: Annotated[
        list[Path] | None, typer.Option(help="Scheme of the reports; one for all, one each, none where carried.")
    ] = None,
    method: Annotated[Method, typer.Option(help="How to estimate.")] = "inversion",
    sampling: Annotated[Sampling, typer.Option(help="Whom the errors speak of.")] = "population",
    level: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95,
    join: Annotated[str | None, typer.Option(help="Column that identifies people, to join two report files.")] = None,
    weights: Annotated[str | None, WeightsOption] = None,
    strata: Annotated[str | None, StrataOption] = None,
    clusters: Annotated[str | None, ClustersOption] = None,
    sampled: Annotated[str | None, SampledOption] = None,
    lonely: Annotated[Lonely, LonelyOption] = "refuse",
    drop_others: Annotated[bool, DropOthersOption] = False,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Estimate a table of the truth, with standard errors and intervals; several report files are pooled."""
    import tacit
    from tacit.count.weighted import SampleColumns
    from tacit.estimation.intervals import checked_level

    checked_level(level)
    columns = SampleColumns(weights, strata, clusters, number_or_column(sampled))
    found: list[ReportSource]
    sample = None
    if drop_others or columns.named or sampled is not None:
        if join is not None:
            raise InvalidInput("--join matches two files of reports; weights, strata and clusters belong to one.")
        one, sample = sampled_reports(reports, scheme or [], columns, lonely=lonely, drop_others=drop_others)
        found = [one]
    else:
        found = _read(reports, scheme or [], join)
    result = tacit.estimate(found, listed_names(attributes), method=method, sampling=sampling, sample=sample)
    if not result.converged:
        note("Warning: the likelihood was still rising when the iteration was stopped; treat it as approximate.")
    if json:
        print_json(result.to_document(level))
    else:
        _print(result, level)


def _read(reports: list[str], schemes: list[Path], join: str | None) -> list[ReportSource]:
    from tacit.cli.reading import joined_reports, read_reports

    return [joined_reports(reports, schemes, join)] if join is not None else read_reports(reports, schemes)


def _print(result: TableEstimate, level: float) -> None:
    rows = [
        (*cell["answers"].values(), f"{cell['probability']:.4f}", f"{cell['standard_error']:.4f}",
         f"{cell['low']:.4f}", f"{cell['high']:.4f}")
        for cell in result.cells(level)
    ]  # fmt: skip
    columns = (*result.names, "share", "standard error", f"{level:.0%} from", "to")
    whom = "a population sampled at random" if result.sampling == "population" else "just the people who answered"
    print_table(f"{result.n_reports:,} reports, by {result.method}; errors for {whom}", columns, rows)
