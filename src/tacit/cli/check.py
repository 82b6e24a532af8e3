"""``tacit check``: what any table reveals about the people in it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.names import listed_names
from tacit.cli.output import JsonFlag, print_json, print_table, print_text


def check(
    table: Annotated[str, typer.Argument(metavar="FILE", help="CSV or Parquet file, or address of a database table.")],
    attributes: Annotated[
        str, typer.Option(help="Attributes that somebody may know of a person, separated by commas.")
    ],
    sensitive: Annotated[
        str | None, typer.Option(help="Sensitive attributes, separated by commas: gives l, t and beta.")
    ] = None,
    schema: Annotated[
        Path | None, typer.Option(help="Scheme document that says which answers are ordered; t needs their order.")
    ] = None,
    person: Annotated[
        str | None,
        typer.Option(help="Column that identifies the person of each row: classes then count people, not rows."),
    ] = None,
    threshold: Annotated[int, typer.Option(help="Count rows of classes smaller than this as at risk.")] = 5,
    people: Annotated[
        str | None,
        typer.Option(metavar="F|N", help="Population that the rows come from: a table of people, or their number."),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(help="Column of survey weights: the number of people that each row stands for.")
    ] = None,
    every: Annotated[
        int | None,
        typer.Option(metavar="M", help="Also find k for every M of the attributes (attacker knows at most M)."),
    ] = None,
    require: Annotated[
        str | None,
        typer.Option(
            help="Exit with 1 unless the table meets these demands: k=5,l=2,t=.3,prosecutor=.2,uniques=0, ..."
        ),
    ] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Measure how well the rows of any table hide among each other: k, l, t, beta, class sizes, risks, special uniques."""
    from tacit.channel.scheme import Scheme
    from tacit.count.connections import safe_address
    from tacit.publish import check_release
    from tacit.publish.demands import hold, read_demands

    demands = {} if require is None else read_demands(require)
    known = None if schema is None else Scheme.read(schema).schema
    checked = check_release(
        table,
        listed_names(attributes),
        listed_names(sensitive),
        schema=known,
        person=person,
        threshold=threshold,
        people=people,
        weights=weights,
        every=every,
    )
    held = hold(checked, demands)
    failed = [entry for entry in held if not entry.is_met]
    if json:
        gate = {"failed": [entry.demand for entry in failed], "demands": [entry.to_document() for entry in held]}
        print_json(checked.to_document() | (gate if require is not None else {}))
    else:
        title = f"{safe_address(table)}: {', '.join(checked.attributes)}"
        print_table(title, ("measure", "value"), list(checked.measures()))
        for warning in checked.warnings:
            print_text(f"Note: {warning}")
        if require is not None:
            words = "; ".join(entry.words for entry in failed)
            print_text(f"Not met: {words}." if failed else f"All demands hold: {', '.join(e.demand for e in held)}.")
    if failed:
        raise typer.Exit(1)
