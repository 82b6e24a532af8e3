"""``tacit estimate``: what the crowd's true answers are, from disguised reports."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tacit.cli.names import listed_names
from tacit.cli.output import JsonFlag, note, print_json, print_table, print_text
from tacit.cli.sampling import UNSAID, SampleOptions, sampled_reports
from tacit.display import decimals, rounded, rounded_error
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.count.sources import ReportSource
    from tacit.estimation.comparison import Comparison
    from tacit.estimation.result import TableEstimate

Method = Literal["inversion", "likelihood"]
Sampling = Literal["population", "respondents"]


def estimate(
    reports: Annotated[list[str], typer.Argument(help="Report files, folders, tallies, or database tables.")],
    attributes: Annotated[str, typer.Option(help="Attributes of the wanted table, separated by commas.")],
    scheme: Annotated[
        list[Path] | None, typer.Option(help="Scheme of the reports; one for all, one each, none where carried.")
    ] = None,
    given: Annotated[
        str | None, typer.Option(help="Give the shares within each answer of these attributes, separated by commas.")
    ] = None,
    compare: Annotated[
        str | None, typer.Option(help="The same, with the differences between every two groups and their tests.")
    ] = None,
    simultaneous: Annotated[
        bool, typer.Option("--simultaneous", help="Make the intervals of the table hold all at once.")
    ] = False,
    method: Annotated[Method, typer.Option(help="How to estimate.")] = "inversion",
    sampling: Annotated[
        Sampling, typer.Option(help="Errors for a population that was sampled, or for the respondents only.")
    ] = "population",
    level: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95,
    join: Annotated[str | None, typer.Option(help="Column that identifies people, to join two report files.")] = None,
    design: SampleOptions = UNSAID,
    drop_others: Annotated[
        bool, typer.Option("--drop-others", help="Leave out columns that neither the scheme nor an option names.")
    ] = False,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Estimate a table of the truth, with standard errors and intervals; reports of one scheme are added, others pooled."""
    import tacit
    from tacit.cli.reading import read_or_joined
    from tacit.estimation.intervals import checked_level

    checked_level(level)
    groups = _groups(given, compare, simultaneous=simultaneous)
    drawn = design.drawn(reports[0])
    origins: list[ReportSource]
    sample = None
    if drop_others or drawn.is_named:
        if join is not None:
            raise InvalidInput("--join matches two files of reports; weights, strata and clusters belong to one.")
        origins, sample = sampled_reports(reports, scheme or [], drawn, drop_others=drop_others)
    else:
        origins = read_or_joined(reports, scheme or [], join)
    names = list(dict.fromkeys([*listed_names(attributes), *groups]))
    result = tacit.estimate(origins, names, method=method, sampling=sampling, sample=sample)
    if not result.converged:
        note("Warning: the likelihood was still rising when the iteration was stopped; treat it as approximate.")
    document = _document(result, groups, level, compared=compare is not None, simultaneous=simultaneous)
    if json:
        print_json(document)
    else:
        _print(result, document)


def _groups(given: str | None, compare: str | None, *, simultaneous: bool) -> list[str]:
    if given is not None and compare is not None:
        raise InvalidInput(
            "--compare gives the shares within each group too: use either --given or --compare, not both."
        )
    groups = given if given is not None else compare
    if groups is not None and simultaneous:
        raise InvalidInput("--simultaneous is for the intervals of the whole table: leave out --given and --compare.")
    return [] if groups is None else listed_names(groups)


def _document(
    result: TableEstimate, groups: list[str], level: float, *, compared: bool, simultaneous: bool
) -> dict[str, Any]:
    """What the command answers, for programs; the tables for people are made of it."""
    document = {**result.to_document(level, simultaneous=simultaneous), "simultaneous": simultaneous}
    if groups:
        document |= {"given": groups, "cells": list(result.given(groups).cells(level))}
    if compared:
        named: Comparison = result.compare(groups, level)
        document["differences"] = [difference.to_document() for difference in named.differences]
        document["independence"] = named.independence.to_document()
        document["warnings"] = list(named.independence.warnings)
    return document


def _print(result: TableEstimate, document: dict[str, Any]) -> None:
    level = f"{document['level']:.0%} from"
    cells = document["cells"]
    columns = (*cells[0]["answers"], "share", "standard error", level, "to")
    within = f" within each {' and '.join(document['given'])}" if "given" in document else ""
    together = ", all at once" if document["simultaneous"] else ""
    title = f"{result.n_reports:,} reports, by {result.method}{within}{together}; errors for {result.whom}"
    places = decimals(cell["standard_error"] for cell in cells)
    print_table(title, columns, [_row(cell["answers"].values(), "probability", cell, places) for cell in cells])
    if "differences" not in document:
        return
    rows = []
    places = decimals(one["standard_error"] for one in document["differences"])
    for one in document["differences"]:
        against = " and ".join(one["against"].values())
        rows.append((*_row((*one["answers"].values(), against), "difference", one, places), f"{one['p']:.3g}"))
    asked = document["differences"][0]["answers"]
    columns = (*asked, "against", "difference", "standard error", level, "to", "p")
    print_table("Differences between groups, each tested by itself", columns, rows)
    test = document["independence"]
    degrees = f"{test['degrees']} degree{'s' if test['degrees'] != 1 else ''} of freedom"
    print_text(f"No difference at all? chi-square {test['statistic']:.2f}, {degrees}, p = {test['p']:.3g}.")
    for warning in document["warnings"]:
        note(f"Warning: {warning}")


def _row(labels: Iterable[str], key: str, cell: dict[str, Any], places: int) -> tuple[str, ...]:
    value, low, high = (rounded(cell[name], places) for name in (key, "low", "high"))
    return (*labels, value, rounded_error(cell["standard_error"], places), low, high)
