"""``tacit correlations``: how disguised and clear variables go together, with tests and intervals that agree."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.names import listed_names
from tacit.cli.output import JsonFlag, note, print_json, print_table
from tacit.cli.sampling import Clusters, Strata, Weights
from tacit.cli.studies import AS_IT_IS, UNWRITTEN, PaperOptions, ReadingOptions, draw_result
from tacit.errors import InvalidInput


def correlations(
    file: Annotated[str, typer.Argument(help="File with the reports, a tally, or a table of a database.")],
    attributes: Annotated[str, typer.Option(help="Variables to correlate, separated by commas.")],
    device: Annotated[
        list[str] | None, typer.Option(help="Device of a variable: 'copied: crosswise p=1/4'; repeatable.")
    ] = None,
    scheme: Annotated[Path | None, typer.Option(help="Scheme of the reports, if the file does not contain it.")] = None,
    sample: Annotated[
        str | None, typer.Option(help="Column that says which sample of a two-sample device a row is in.")
    ] = None,
    weights: Weights = None,
    strata: Strata = None,
    clusters: Clusters = None,
    reading: ReadingOptions = AS_IT_IS,
    level: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95,
    plot: Annotated[Path | None, typer.Option(help="File for a picture of the estimates with their intervals.")] = None,
    paper: PaperOptions = UNWRITTEN,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Correlate variables that were asked with devices, disguised under a scheme, or not disguised at all."""
    import tacit
    from tacit.cli.reading import read_reports
    from tacit.regression.data import given_devices

    paper.check(plot)
    names = listed_names(attributes)
    if device:
        if scheme is not None:
            raise InvalidInput("A variable is asked with a --device or disguised under a --scheme. Give one of them.")
        result = tacit.correlations(
            file, names, devices=dict(given_devices(device)), sample=sample, weights=weights, strata=strata,
            clusters=clusters, level=level, **reading.keywords(),
        )  # fmt: skip
    else:
        reports = read_reports([file], [] if scheme is None else [scheme])
        result = tacit.correlations(
            reports, names, sample=sample, weights=weights, strata=strata, clusters=clusters, level=level
        )
    draw_result(result, plot)
    if paper.write(result):
        return
    if json:
        print_json(result.to_document())
        return
    for reading_note in result.readings:
        note(f"{reading_note}.")
    rows = [
        (
            f"{pair.first}, {pair.second}",
            "-" if pair.estimate is None else f"{min(max(pair.estimate, -1.0), 1.0):.3f}",
            f"{pair.low:.3f}",
            f"{pair.high:.3f}",
            f"{pair.p:.3g}",
        )
        for pair in result.pairs
    ]
    title = f"Correlations from {result.n_reports:,} reports"
    print_table(title, ("variables", "r", f"{result.level:.0%} from", "to", "p"), rows)
    for pair in result.pairs:
        if pair.reason:
            note(f"{pair.first}, {pair.second}: no correlation, as {pair.reason}.")
