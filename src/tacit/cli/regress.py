"""``tacit regress``: regression with disguised outcomes and covariates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tacit.cli.output import JsonFlag, note, print_json, print_table
from tacit.cli.sampling import UNSAID, SampleOptions
from tacit.cli.studies import AS_IT_IS, UNWRITTEN, PaperOptions, ReadingOptions
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.regression import Regression

Family = Literal["logit", "probit", "multinomial", "ordered", "linear", "poisson"]
Errors = Literal["observed", "opg", "robust"]


def regress(
    file: Annotated[str, typer.Argument(help="File with the reports and covariates, or a tally.")],
    formula: Annotated[
        str, typer.Option(help="Outcome and covariates: 'copied ~ age + log(income)'; names with dots in backticks.")
    ],
    device: Annotated[
        list[str] | None, typer.Option(help="Device of a variable: 'copied: crosswise p=1/4'; repeatable.")
    ] = None,
    parameters: Annotated[
        str | None, typer.Option(help="Chances of the outcome's device, if --device is only a device's name.")
    ] = None,
    scheme: Annotated[
        Path | None, typer.Option(help="Scheme of the reports; columns that it does not name are taken as undisguised.")
    ] = None,
    family: Annotated[
        Family | None,
        typer.Option(help="Regression model; chosen by the outcome if not said: logit, multinomial or linear."),
    ] = None,
    sample: Annotated[
        str | None, typer.Option(help="Column that says which sample of a two-sample device a row is in.")
    ] = None,
    yes: Annotated[str | None, typer.Option(help="Value that means yes, if it is not 1, yes or true.")] = None,
    control: Annotated[
        str | None,
        typer.Option(
            help="Control item and its known prevalence, 'column=0': estimates the share of inattentive people."
        ),
    ] = None,
    reading: ReadingOptions = AS_IT_IS,
    sampling: SampleOptions = UNSAID,
    errors: Annotated[
        Errors | None,
        typer.Option(help="Standard errors from the observed information, the scores (opg), or both (robust)."),
    ] = None,
    level: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95,
    plot: Annotated[
        Path | None, typer.Option(help="File for a picture of the predictions along the first covariate.")
    ] = None,
    paper: PaperOptions = UNWRITTEN,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Regress an outcome on covariates where some of them were disguised."""
    import tacit
    from tacit.channel.scheme import Scheme
    from tacit.report.page import write_picture

    paper.check(plot)
    result = tacit.regress(
        file, formula, devices=_devices(formula, device or [], parameters),
        scheme=None if scheme is None else Scheme.read(scheme), family=family, sample=sample, yes=yes, errors=errors,
        level=level, control=control, **reading.keywords(), **sampling.keywords(file),
    )  # fmt: skip
    if plot is not None:
        covariate = next((term for term in result.terms if term != "Intercept"), None)
        write_picture(result.draw(covariate), plot)
    if paper.write(result):
        return
    if json:
        print_json(result.to_document())
        return
    _show(result)


def _show(result: Regression) -> None:
    for reading in result.readings:
        note(f"{reading}.")
    if result.n_missing:
        note(f"{result.n_missing:,} rows lack a value and are left out.")
    title = (
        f"{result.formula} ({result.family}, by {result.method}): {result.n_reports:,} reports, log-likelihood "
        f"{result.log_likelihood:.4f}; errors: {result.errors}; tests: {result.tests}"
    )
    columns = ("term", "estimate", "standard error", "z", "p", f"{result.level:.0%} from", "to")
    print_table(title, columns, result.text_rows())
    for warning in result.warnings:
        note(f"Warning: {warning}")


def _devices(formula: str, devices: list[str], parameters: str | None) -> list[str] | None:
    """What each variable was asked with; a device that names no variable is that of the outcome."""
    if parameters is None:
        return devices or None
    if len(devices) != 1 or ":" in devices[0]:
        raise InvalidInput(
            "--parameters are the chances of one device: --device crosswise --parameters p=1/4. For several variables: "
            "--device 'copied: crosswise p=1/4', once for each."
        )
    return [f"{formula.partition('~')[0].strip().strip('`')}: {devices[0]} {parameters}"]
