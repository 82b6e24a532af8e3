"""``tacit check``: what any table reveals about the people in it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.names import listed_names
from tacit.cli.output import JsonFlag, print_json, print_table


def check(
    table: Annotated[str, typer.Argument(metavar="FILE", help="CSV or Parquet file, or address of a database table.")],
    attributes: Annotated[str, typer.Option(help="What somebody may know of a person, by commas.")],
    sensitive: Annotated[str | None, typer.Option(help="Sensitive attributes, by commas.")] = None,
    schema: Annotated[Path | None, typer.Option(help="Document that says which answers are ordered, for t.")] = None,
    person: Annotated[str | None, typer.Option(help="Column that says whose row it is: classes count persons.")] = None,
    threshold: Annotated[int, typer.Option(help="Classes below this size put their rows at risk.")] = 5,
    people: Annotated[int | None, typer.Option(help="Number of people the rows were drawn from.")] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Measure how well the rows of any table hide among each other: k, l, t, class sizes, rows at risk."""
    from tacit.channel.scheme import Scheme
    from tacit.count.connections import shown
    from tacit.publish import check_release

    known = None if schema is None else Scheme.read(schema).schema
    found = check_release(
        table,
        listed_names(attributes),
        listed_names(sensitive),
        schema=known,
        person=person,
        threshold=threshold,
        people=people,
    )
    if json:
        print_json(found.to_document())
        return
    sizes = found.to_document()["class_sizes"]
    rows: list[tuple[str, object]] = [
        ("k", found.k),
        ("rows", f"{found.rows:,}"),
        ("classes", f"{len(found.class_sizes):,}"),
        ("class sizes: least, median, greatest", f"{sizes['least']}, {sizes['median']}, {sizes['greatest']}"),
        (f"rows in classes below {threshold}", f"{found.rows_at_risk:,}"),
        ("rows that are unique", f"{found.unique_rows:,}"),
        ("highest risk of re-identification", f"{found.highest_risk:.2%}"),
        ("mean risk", f"{found.mean_risk:.2%}"),
    ]
    if found.risk.uniques is not None:
        estimated = f"{found.risk.uniques.zayatz:,.0f} (Zayatz), {found.risk.uniques.pitman:,.0f} (Pitman)"
        rows.append(("unique in the population, estimated", estimated))
    for part in found.sensitive:
        rows.append(
            (f"{part.attribute}: l, l by entropy, t", f"{part.distinct}, {part.entropy:.2f}, {part.closeness:.3f}")
        )
    print_table(f"{shown(table)}: {', '.join(found.attributes)}", ("measure", "value"), rows)
