"""``tacit prevalence``: how many carry a trait that was asked with a device of the literature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli.names import listed_names
from tacit.cli.output import JsonFlag, note, print_json, print_table, print_text
from tacit.cli.sampling import UNSAID, SampleOptions
from tacit.cli.studies import AS_IT_IS, UNWRITTEN, PaperOptions, ReadingOptions, draw_result
from tacit.display import decimals, fixed_decimals, rounded_error

if TYPE_CHECKING:
    from tacit.estimation.prevalence_result import AnswerShare, GroupPrevalence, OpenParameter, Prevalence


def prevalence(
    file: Annotated[str, typer.Argument(help="File with the reports (CSV, Parquet, SPSS, Stata, SAS, Excel).")],
    item: Annotated[str, typer.Option(help="Column with the reports.")],
    device: Annotated[str, typer.Option(help="Device the item was asked with (see tacit devices).")],
    parameters: Annotated[
        str, typer.Option(help="Chances of the device: 'p=2/3'; for two samples: 'p=1:2/12,2:10/12'.")
    ],
    yes: Annotated[
        str | None, typer.Option(help="Value of the item that means yes, if it is not 1, yes or true.")
    ] = None,
    sample: Annotated[
        str | None, typer.Option(help="Column that says which sample of a two-sample device a row is in.")
    ] = None,
    by: Annotated[str | None, typer.Option(help="Columns whose values make groups, separated by commas.")] = None,
    compare: Annotated[
        str | None,
        typer.Option(help="With --by: group that the others are compared with, or 'all' for every two groups."),
    ] = None,
    against: Annotated[float | None, typer.Option(help="Share to test the estimate against.")] = None,
    direct_item: Annotated[
        str | None, typer.Option(help="For a list experiment: column of a direct question that everybody was asked.")
    ] = None,
    reading: ReadingOptions = AS_IT_IS,
    sampling: SampleOptions = UNSAID,
    control: Annotated[
        str | None,
        typer.Option(
            help="Control item and its known prevalence, 'column=0': estimates the share of inattentive people."
        ),
    ] = None,
    answers: Annotated[str, typer.Option(help="Names of the answers.")] = "no,yes",
    level: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95,
    plot: Annotated[Path | None, typer.Option(help="File for a picture of the estimates with their intervals.")] = None,
    paper: PaperOptions = UNWRITTEN,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Estimate the share of people with a trait that was asked with a device; only the named columns of the file are read."""
    import tacit

    paper.check(plot)
    result = tacit.prevalence(
        file, item, device, parameters, yes=yes, sample=sample, by=listed_names(by), control=control,
        answers=listed_names(answers), level=level, compare=compare, against=against, direct_item=direct_item,
        **reading.keywords(), **sampling.keywords(file),
    )  # fmt: skip
    draw_result(result, plot)
    if paper.write(result):
        return
    if json:
        print_json(result.to_document())
        return
    _show(result)


def _show(result: Prevalence) -> None:
    for reading in result.readings:
        note(f"{reading}.")
    if result.n_missing:
        note(f"{result.n_missing:,} rows without an answer are left out.")
    title = f"{result.item}: {result.n_reports:,} reports by {result.device}; errors {result.errors}"
    _table(title, result.shares, result.parameters, result.level)
    for group in result.groups:
        _group(group, result.level)
    if result.direct is not None:
        _group(result.direct, result.level)
    for one in result.differences:
        names = [", ".join(f"{name} {value}" for name, value in side.items()) for side in (one.answers, one.against)]
        places = decimals([one.standard_error])
        error, low, high = (fixed_decimals(value, places) for value in (one.standard_error, one.low, one.high))
        print_text(
            f"{names[0]} against {names[1]}: {one.answer} {one.difference:+.{places}f} ± {error} "
            f"(one standard error; {low} to {high}), p = {'-' if one.p is None else f'{one.p:.3g}'}"
        )
    if result.overall is not None and result.overall.p is not None:
        print_text(
            f"All groups have one share: p = {result.overall.p:.3g} ({result.overall.degrees_of_freedom} degrees of freedom)"
        )
    if result.test is not None:
        print_text(f"Share of {result.test.against:g}: p = {result.test.p:.3g} ({result.test.method}, two-sided)")
    for warning in result.warnings:
        note(f"Warning: {warning}")


def _group(group: GroupPrevalence, level: float) -> None:
    name = ", ".join(f"{name} {value}" for name, value in group.answers.items())
    _table(f"{name}: {group.n_reports:,} reports", group.shares, group.parameters, level)


def _table(title: str, shares: Sequence[AnswerShare], parameters: Mapping[str, OpenParameter], level: float) -> None:
    numbers = [(one.answer, one.share, one.standard_error, one.low, one.high) for one in shares]
    opened = [(label, own.estimate, own.standard_error, own.low, own.high) for label, own in parameters.items()]
    places = decimals(error for _, _, error, *_ in (*numbers, *opened))
    rows = [
        (
            label,
            fixed_decimals(share, places),
            rounded_error(error, places),
            fixed_decimals(low, places),
            fixed_decimals(high, places),
        )
        for label, share, error, low, high in (*numbers, *opened)
    ]
    print_table(title, ("answer", "share", "standard error", f"{level:.0%} from", "to"), rows)
