"""``tacit estimate``: what the crowd's true answers are, from disguised reports."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tacit.cli.names import listed_names, listed_numbers
from tacit.cli.output import JsonFlag, note, number_row, print_json, print_table, print_text
from tacit.cli.sampling import UNSAID, SampleOptions, sampled_reports
from tacit.cli.studies import OutOption, check_table, write_result
from tacit.display import decimals, fixed_decimals
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.count.sources import ReportSource
    from tacit.estimation.change import Change
    from tacit.estimation.comparison import Comparison
    from tacit.estimation.result import TableEstimate

Method = Literal["inversion", "likelihood"]
Sampling = Literal["population", "respondents"]


def estimate(
    reports: Annotated[
        list[str] | None, typer.Argument(help="Report files, folders, tallies, or database tables.")
    ] = None,
    attributes: Annotated[str | None, typer.Option(help="Attributes of the wanted table, separated by commas.")] = None,
    scheme: Annotated[
        list[Path] | None,
        typer.Option(help="One scheme for all reports, or one per file; not needed if the files contain it."),
    ] = None,
    given: Annotated[
        str | None, typer.Option(help="Give the shares within each answer of these attributes, separated by commas.")
    ] = None,
    compare: Annotated[
        str | None, typer.Option(help="Like --given, with the differences between every two groups and their tests.")
    ] = None,
    mean: Annotated[
        str | None,
        typer.Option(help="Give the mean of these attributes' numbers instead of a table, separated by commas."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(help="With --mean: means within each answer of these attributes, and their differences."),
    ] = None,
    quantiles: Annotated[
        str | None, typer.Option(help="With --mean: also give quantiles at these levels, such as .25,.5,.75.")
    ] = None,
    above: Annotated[
        str | None, typer.Option(help="With --mean: also give the shares of people above these numbers, such as 3,7.")
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option(help="Numbers for answers that are words: 'pain: none=0,some=1,much=2'; repeatable."),
    ] = None,
    simultaneous: Annotated[
        bool,
        typer.Option("--simultaneous", help="Widen the intervals so that all hold at once with the confidence level."),
    ] = False,
    method: Annotated[
        Method, typer.Option(help="Estimate by inverting the disguise, or by maximum likelihood.")
    ] = "inversion",
    sampling: Annotated[
        Sampling, typer.Option(help="Whom the errors are for: the sampled population, or the respondents only.")
    ] = "population",
    level: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95,
    change: Annotated[
        tuple[str, str] | None,
        typer.Option(
            help="Report files of two waves under one scheme: estimate the change of each share.", metavar="A B"
        ),
    ] = None,
    panel: Annotated[
        str | None, typer.Option(help="With --change: column of pseudonyms that link the two reports of a person.")
    ] = None,
    join: Annotated[str | None, typer.Option(help="Column that identifies people, to join two report files.")] = None,
    design: SampleOptions = UNSAID,
    drop_others: Annotated[
        bool, typer.Option("--drop-others", help="Leave out columns that neither the scheme nor an option names.")
    ] = False,
    out: OutOption = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Estimate a table of the true answers, with standard errors and intervals, from reports of one or several schemes."""
    import tacit
    from tacit.cli.reading import read_or_joined
    from tacit.estimation.intervals import checked_level

    checked_level(level)
    check_table(out)
    if out is not None and (change is not None or panel is not None or mean is not None or given or compare):
        raise InvalidInput(
            "--out writes the table of --attributes. Leave out --mean, --given, --compare, --change and --panel."
        )
    groups = _groups(given, compare, simultaneous=simultaneous)
    if change is not None or panel is not None:
        others = {"REPORTS": reports, "--compare": compare, "--simultaneous": simultaneous, "--join": join}
        waves = _two_waves(change, others | {"--drop-others": drop_others, "--method": method == "likelihood"}, design)
        asked, groups = _changed_names(attributes, groups, mean, by)
        moved = _change(waves, scheme or [], panel, asked, groups, sampling, mean=mean is not None)
        _print_change(moved, level, json=json)
        return
    if not reports:
        raise InvalidInput("Name the reports to estimate from: a file, a folder, a tally or a database table.")
    drawn = design.sample(reports[0])
    origins: list[ReportSource]
    sample = None
    if drop_others or drawn.is_named:
        if join is not None:
            raise InvalidInput("--join matches two files of reports; weights, strata and clusters belong to one.")
        origins, sample = sampled_reports(reports, scheme or [], drawn, drop_others=drop_others)
    else:
        origins = read_or_joined(reports, scheme or [], join)
    if any(option is not None for option in (mean, quantiles, by, above)):
        tables = {"--attributes": attributes, "--given": given, "--compare": compare}
        numbers = NumbersAsked.of(mean, by, quantiles, above, values or [], tables)
        print_numbers(numbers.answer(origins, level, method=method, sampling=sampling, sample=sample), json=json)
        return
    names = list(dict.fromkeys([*_wanted_names(attributes), *groups]))
    result = tacit.estimate(origins, names, method=method, sampling=sampling, sample=sample)
    if not result.converged:
        note("Warning: the likelihood was still rising when the iteration was stopped; treat it as approximate.")
    write_result(result, out)
    document = _document(result, groups, level, compared=compare is not None, simultaneous=simultaneous)
    if json:
        print_json(document)
    else:
        _print(result, document)


def _wanted_names(attributes: str | None) -> list[str]:
    if attributes is None:
        raise InvalidInput("Say what to estimate: --attributes a,b for a table of shares, or --mean a for a mean.")
    return listed_names(attributes)


def _two_waves(change: tuple[str, str] | None, others: dict[str, Any], design: SampleOptions) -> tuple[str, str]:
    if change is None:
        raise InvalidInput("--panel puts the reports of two waves together: name them with --change A B.")
    named = [option for option, value in others.items() if value]
    if named or design.sample(change[0]).is_named:
        option = named[0] if named else "A complex sample"
        raise InvalidInput(f"{option} does not go with --change, which takes two files of reports and nothing else.")
    return change


def _changed_names(
    attributes: str | None, groups: list[str], mean: str | None, by: str | None
) -> tuple[list[str], list[str]]:
    """What is compared between two waves, and within which groups: a table of shares, or the mean of one attribute."""
    if mean is None:
        return list(dict.fromkeys([*_wanted_names(attributes), *groups])), groups
    if attributes is not None or groups:
        raise InvalidInput("--attributes and --given are for shares; with --mean say only --by.")
    return listed_names(mean), listed_names(by)


def _change(
    waves: tuple[str, str],
    schemes: list[Path],
    panel: str | None,
    names: list[str],
    by: list[str],
    sampling: Sampling,
    *,
    mean: bool,
) -> Change:
    import tacit
    from tacit.cli.reading import keyed_reports, read_reports

    if panel is None:
        sources = read_reports(waves, schemes)
        if len(sources) != 2:
            raise InvalidInput("--change takes one file of reports for each of the two waves.")
        return tacit.change(sources[0], sources[1], names, given=by, mean=mean, sampling=sampling)
    (first, then), (second, now) = keyed_reports(waves, schemes, panel)
    return tacit.change(first, second, names, given=by, mean=mean, people=(then, now), sampling=sampling)


def _print_change(result: Change, level: float, *, json: bool) -> None:
    document = result.to_document(level)
    if json:
        print_json(document)
        return
    rows = document["changes"]
    places = decimals(row["standard_error"] for row in rows)
    labels = [row["answers"] if "answers" in row else {"mean of": row["attribute"], **row["given"]} for row in rows]
    columns = (*labels[0], "from", "to", "difference", "error", f"{level:.0%} from", "to", "p")
    print_table(
        result.headline(),
        columns,
        [
            (
                *label.values(),
                *(fixed_decimals(row[name], places) for name in ("from", "to")),
                *number_row((), "difference", row, places),
                f"{row['p']:.3g}",
            )
            for row, label in zip(rows, labels, strict=True)
        ],
    )
    if result.transitions is not None:
        cells = list(result.transitions.cells(level))
        places = decimals(cell["standard_error"] for cell in cells)
        title = "Answers of one person in the first wave (@1) and the second (@2)"
        columns = (*cells[0]["answers"], "share", "standard error", f"{level:.0%} from", "to")
        print_table(
            title, columns, [number_row(cell["answers"].values(), "probability", cell, places) for cell in cells]
        )
    if result.sampling == "population" and result.transitions is None:
        note(
            "The error holds for a population where one person's answers in the two waves are not negatively correlated; "
            "--sampling respondents is exact for the people who answered, --panel measures it."
        )


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
    print_table(title, columns, [number_row(cell["answers"].values(), "probability", cell, places) for cell in cells])
    if "differences" not in document:
        return
    rows = []
    places = decimals(difference["standard_error"] for difference in document["differences"])
    for difference in document["differences"]:
        against = " and ".join(difference["against"].values())
        rows.append(
            (
                *number_row((*difference["answers"].values(), against), "difference", difference, places),
                f"{difference['p']:.3g}",
            )
        )
    asked = document["differences"][0]["answers"]
    columns = (*asked, "against", "difference", "standard error", level, "to", "p")
    print_table("Differences between groups, each tested by itself", columns, rows)
    test = document["independence"]
    degrees = f"{test['degrees']} degree{'s' if test['degrees'] != 1 else ''} of freedom"
    print_text(f"No difference at all? chi-square {test['statistic']:.2f}, {degrees}, p = {test['p']:.3g}.")
    for warning in document["warnings"]:
        note(f"Warning: {warning}")


@dataclass(frozen=True)
class NumbersAsked:
    """Which means and quantiles are wanted, within which groups, and the numbers that were given to answers."""

    names: list[str]
    by: list[str]
    levels: list[float]
    limits: list[float]
    values: dict[str, dict[str, float]]

    @classmethod
    def of(
        cls,
        mean: str | None,
        by: str | None,
        quantiles: str | None,
        above: str | None,
        values: list[str],
        others: dict[str, str | None],
    ) -> NumbersAsked:
        if mean is None:
            raise InvalidInput("--by, --quantiles and --above belong to a mean: name its attribute with --mean.")
        for option in (name for name, value in others.items() if value is not None):
            raise InvalidInput(f"{option} is for a table of shares; means take --by for their groups.")
        between = "--quantiles takes levels between 0 and 1, such as .25,.5,.75"
        levels = [_number(text, between) for text in listed_names(quantiles or "")]
        limits = [_number(text, "--above takes numbers, such as 3,7") for text in listed_names(above or "")]
        groups = listed_names(by or "")
        return cls(listed_names(mean), groups, levels, limits, dict(map(_answer_values, values)))

    def answer(self, origins: list[ReportSource], level: float, **options: Any) -> dict[str, Any]:
        """What the command answers, for programs; the tables for people are made of it."""
        import tacit

        document: dict[str, Any] = {"level": level, "means": [], "quantiles": [], "mean_differences": [], "above": []}
        for name in self.names:
            table = tacit.estimate(origins, [name, *self.by], **options)
            document |= {
                "n_reports": table.n_reports,
                "method": table.method,
                "sampling": table.sampling,
                "whom": table.whom,
            }
            means = table.mean(name, self.values.get(name))
            document["means"] += means.rows(level)
            document["mean_differences"] += means.differences(level)
            if self.levels:
                document["quantiles"] += table.quantile(name, self.levels, self.values.get(name)).rows(level)
            if self.limits:
                document["above"] += table.above(name, self.limits, self.values.get(name)).rows(level)
        return document


def _answer_values(text: str) -> tuple[str, dict[str, float]]:
    name, colon, pairs = text.partition(":")
    if not colon:
        raise InvalidInput(
            f"--values takes an attribute and its answers' numbers, 'pain: none=0,some=1', not {text!r}."
        )
    return name.strip(), listed_numbers("--values", pairs) or {}


def _number(text: str, allowed: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidInput(f"{allowed}, not {text!r}.") from None


def print_numbers(document: dict[str, Any], *, json: bool) -> None:
    if json:
        print_json({key: value for key, value in document.items() if key != "whom"})
        return
    ends = (f"{document['level']:.0%} from", "to")
    title = f"{document['n_reports']:,} reports, by {document['method']}; errors for {document['whom']}"
    groups = list(document["means"][0]["given"])
    _print_number_rows(title, ("mean of", *groups), "mean", ends, document["means"], "given")
    if document["mean_differences"]:
        columns = ("mean of", *groups, "against")
        _print_number_rows(
            "Differences between groups", columns, "difference", ends, document["mean_differences"], "of"
        )
    if document["quantiles"]:
        rows = [
            (
                row["attribute"],
                *row["given"].values(),
                f"{row['level']:g}",
                *(f"{row[key]:g}" for key in ("value", "low", "high")),
            )
            for row in document["quantiles"]
        ]
        print_table("Quantiles", ("of", *groups, "level", "value", *ends), rows)
    if document["above"]:
        over = [{**row, "attribute": f"{row['attribute']} > {row['above']:g}"} for row in document["above"]]
        _print_number_rows("Shares of people above a number", ("of", *groups), "share", ends, over, "given")


def _print_number_rows(
    title: str, columns: tuple[str, ...], key: str, ends: tuple[str, ...], rows: list[dict[str, Any]], group: str
) -> None:
    """A table of means or of their differences, the latter with their tests."""
    places = decimals(row["standard_error"] for row in rows)
    texts = []
    for row in rows:
        against = (" and ".join(row["against"].values()),) if "against" in row else ()
        tested = (f"{row['p']:.3g}",) if "p" in row else ()
        texts.append((*number_row((row["attribute"], *row[group].values(), *against), key, row, places), *tested))
    tested_columns = ("p",) if "p" in rows[0] else ()
    print_table(title, (*columns, key, "error", *ends, *tested_columns), texts)
