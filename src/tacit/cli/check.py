"""``tacit check``: what any table reveals about the people in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.names import listed_names
from tacit.cli.output import JsonFlag, print_json, print_table

if TYPE_CHECKING:
    from tacit.publish import ReleaseCheck


def check(
    table: Annotated[str, typer.Argument(metavar="FILE", help="CSV or Parquet file, or address of a database table.")],
    attributes: Annotated[str, typer.Option(help="What somebody may know of a person, by commas.")],
    sensitive: Annotated[str | None, typer.Option(help="Sensitive attributes, by commas.")] = None,
    schema: Annotated[Path | None, typer.Option(help="Document that says which answers are ordered, for t.")] = None,
    person: Annotated[str | None, typer.Option(help="Column that says whose row it is: classes count persons.")] = None,
    threshold: Annotated[int, typer.Option(help="Classes below this size put their rows at risk.")] = 5,
    people: Annotated[
        str | None,
        typer.Option(metavar="F|N", help="The people the rows come from: a table of them, or their number."),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(help="Column of survey weights: how many people a row stands for.")
    ] = None,
    every: Annotated[
        int | None, typer.Option(metavar="M", help="Also count k in every M of the attributes, for who knows no more.")
    ] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Measure how well the rows of any table hide among each other: k, l, t, beta, class sizes, risks, special uniques."""
    from tacit.channel.scheme import Scheme
    from tacit.count.connections import shown
    from tacit.publish import check_release

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
    if json:
        print_json(checked.to_document())
        return
    title = f"{shown(table)}: {', '.join(checked.attributes)}"
    print_table(
        title, ("measure", "value"), [*_class_lines(checked), *checked.risk.measures(), *_sensitive_lines(checked)]
    )


def _class_lines(checked: ReleaseCheck) -> Iterator[tuple[str, object]]:
    sizes = _size_words(checked.class_sizes)
    yield "k", checked.k
    if checked.every is not None:
        worst = ", ".join(checked.every.worst)
        yield f"k in every {checked.every.m} attributes, and where it is least", f"{checked.every.k}, {worst}"
    yield "rows", f"{checked.rows:,}"
    yield "classes", f"{len(checked.class_sizes):,}"
    yield "class sizes: least, median, greatest", sizes
    yield f"rows in classes below {checked.threshold}", f"{checked.rows_at_risk:,}"
    yield "rows that are unique", f"{checked.unique_rows:,}"
    if checked.special is not None:
        largest = checked.special.largest_set
        yield f"rows that up to {largest} attributes tell apart (SUDA)", f"{checked.special.rows:,}"


def _sensitive_lines(checked: ReleaseCheck) -> Iterator[tuple[str, object]]:
    for part in checked.sensitive:
        yield (
            f"{part.attribute}: l, l by entropy, t, beta",
            f"{part.distinct}, {part.entropy:.2f}, {part.closeness:.3f}, {part.beta:.3f}",
        )
        yield f"{part.attribute}: recursive (c, {part.tail}) for every c above", f"{part.recursive:.3g}"


def _size_words(sizes: Any) -> str:
    from tacit.publish.check import size_spread

    spread = size_spread(sizes)
    return f"{spread['least']}, {spread['median']}, {spread['greatest']}"
