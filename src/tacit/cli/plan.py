"""``tacit plan``: how many respondents a margin of error or a test takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.measure import (
    DataOption,
    PriorOption,
    is_questionnaire,
    prior_from,
    read_scheme_or_survey,
    show_caveats,
    survey_needs,
)
from tacit.cli.names import listed_names
from tacit.cli.output import JsonFlag, print_json, print_table, print_text
from tacit.cli.studies import OutOption, check_table, write_result
from tacit.cli.writing import check_picture
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.channel.devices import DeviceDesign
    from tacit.design.plan import Plan
    from tacit.design.power import DevicePlan


def _as_share(given: str | float) -> float:
    from tacit.channel.device_parameters import exact_number

    number = exact_number(given)
    if number is None:
        raise typer.BadParameter(f"{given!r} is no share: give a number such as .04, 4% or 1/25.")
    return float(number)


def plan(
    scheme: Annotated[
        Path | None, typer.Argument(help="Scheme document (JSON) or a survey's questionnaire (YAML); or give --device.")
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(parser=_as_share, metavar="<share>", help="Wanted margin of error of every share, such as 0.03."),
    ] = None,
    data: Annotated[Path | None, DataOption] = None,
    prior: Annotated[list[str] | None, PriorOption] = None,
    level: Annotated[
        float, typer.Option(parser=_as_share, metavar="<share>", help="Confidence level of the margin or of the test.")
    ] = 0.95,
    device: Annotated[
        str | None, typer.Option(help="Published device to plan for, instead of a scheme (see tacit devices).")
    ] = None,
    parameters: Annotated[str, typer.Option(help="With --device: chances of the device, such as 'p=2/3'.")] = "",
    answers: Annotated[str, typer.Option(help="With --device: the answers, such as no,yes.")] = "no,yes",
    share: Annotated[
        float | None,
        typer.Option(
            parser=_as_share,
            metavar="<share>",
            help="With --device: expected share of people with the trait (carriers).",
        ),
    ] = None,
    against: Annotated[
        float | None,
        typer.Option(parser=_as_share, metavar="<share>", help="Plan a test of the expected share against this share."),
    ] = None,
    difference: Annotated[
        float | None,
        typer.Option(
            parser=_as_share, metavar="<share>", help="Plan a test of this difference between two groups of equal size."
        ),
    ] = None,
    power: Annotated[
        float | None,
        typer.Option(
            parser=_as_share, metavar="<share>", help="Wanted power of the test: gives the number of respondents."
        ),
    ] = None,
    respondents: Annotated[
        int | None, typer.Option(help="Number of respondents: gives the margins of error, or the power of the test.")
    ] = None,
    one_sided: Annotated[bool, typer.Option("--one-sided", help="Plan a one-sided test.")] = False,
    purpose: Annotated[
        str, typer.Option("--for", help="What to estimate; shares if not said: 'mean:stress,both:hours'.")
    ] = "",
    plot: Annotated[
        Path | None, typer.Option(help="File for a picture of the power of the device and of direct questions.")
    ] = None,
    beside: Annotated[
        list[str] | None, typer.Option(help="Another device to compare, such as 'crosswise p=1/4'; repeatable.")
    ] = None,
    honesty: Annotated[
        float | None,
        typer.Option(
            parser=_as_share, metavar="<share>", help="Share of carriers who admit the trait when asked directly."
        ),
    ] = None,
    out: OutOption = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Say how many respondents a margin of error or a test takes, next to what direct questioning would need."""
    test = {"--against": against, "--difference": difference, "--power": power, "--respondents": respondents}
    asked = [name for name, value in test.items() if value is not None]
    if (scheme is None) == (device is None):
        raise InvalidInput("What is planned for? Give a scheme document, or --device NAME --parameters '...'.")
    if margin is None and not asked:
        raise InvalidInput("How sure should it be? Give --margin 0.03, or --power .8 with --share and --against.")
    if margin is not None and asked:
        raise InvalidInput(f"--margin plans an estimate and {asked[0]} a test. Give one of them.")
    if scheme is not None:
        if asked not in ([], ["--respondents"]) or share is not None or plot is not None or out is not None:
            raise InvalidInput(
                "Tests, shares, plots and tables are planned for a --device; a scheme takes --margin or --respondents, and "
                "--prior."
            )
        _plan_scheme(scheme, margin, respondents, data, prior or [], level, _purposes(purpose), json=json)
        return
    if purpose:
        raise InvalidInput("--for names attributes of a scheme; a --device has one item, whose share is planned.")
    if data is not None or prior:
        raise InvalidInput("--data and --prior belong to a scheme; for a --device give the expected --share.")
    check_picture(plot)
    check_table(out)
    from tacit.design.plan import plan as plan_survey

    needed = plan_survey(
        margin=margin,
        level=level,
        device=str(device),
        parameters=parameters,
        answers=listed_names(answers),
        share=share,
        against=against,
        difference=difference,
        power=power,
        respondents=respondents,
        one_sided=one_sided,
    )
    others = [_named_device(text) for text in beside or []]
    if plot is not None:
        _draw(plot, needed, others)
    compared = needed.compare(others) if others else []
    write_result(needed, out)
    _show_device(needed, compared, None if honesty is None else needed.with_dishonesty(honesty), json=json)


def _purposes(text: str) -> dict[str, str]:
    """What is wanted of each attribute that is named."""
    pairs = [part.partition(":") for part in listed_names(text)]
    for wanted, colon, name in pairs:
        if not colon or not name:
            raise InvalidInput(f"--for takes what is wanted and an attribute, such as mean:stress, not {wanted!r}.")
    return {name.strip(): wanted.strip() for wanted, _, name in pairs}


def _plan_scheme(
    scheme: Path,
    margin: float | None,
    respondents: int | None,
    data: Path | None,
    prior: list[str],
    level: float,
    purposes: dict[str, str],
    *,
    json: bool,
) -> None:
    from tacit.design.plan import plan as plan_survey

    known, (series, lines) = read_scheme_or_survey(scheme, margin)
    if is_questionnaire(scheme) and margin is not None:
        needs, more = survey_needs(scheme, margin)
        series, lines = {**series, "questions": needs}, [*lines, *more]
        purposes = {entry["name"]: entry["purpose"] for entry in needs if entry["purpose"] != "shares"} | purposes
    asked = prior_from(known, data, prior)
    needed = plan_survey(known, margin, asked, level, respondents=respondents, purposes=purposes)
    if json:
        print_json({**needed.to_document(), "power": None, **series})
    else:
        _show(needed)
        print_text("\n".join(lines))


def _named_device(text: str) -> DeviceDesign:
    from tacit.channel.devices import design

    name, _, parameters = text.strip().partition(" ")
    return design(name.rstrip(":"), parameters)


def _draw(plot: Path, needed: DevicePlan, beside: list[DeviceDesign]) -> None:
    from tacit.report.page import write_picture

    write_picture(needed.draw(beside), plot)


def _show_device(
    needed: DevicePlan, compared: list[dict[str, Any]], dishonest: dict[str, Any] | None, *, json: bool
) -> None:
    if json:
        print_json({**needed.to_document(), "beside": compared, "dishonesty": dishonest})
        return
    print_text(f"For {needed.wanted}:")
    reached = "" if needed.power is None else f" (power {needed.power:.4f})"
    print_text(
        f"{needed.respondents:,} respondents with the device{reached}; asked directly, {needed.direct_questioning:,}."
    )
    if needed.power_exact is not None:
        print_text(f"Counted over all outcomes the power is {needed.power_exact:.4f}.")
    if needed.power_direct is not None:
        print_text(
            f"As many respondents asked directly would have power {needed.power_direct:.4f}, if all were honest."
        )
    if dishonest is not None:
        wins = dishonest["device_wins_from"]
        print_text(
            f"If {dishonest['honesty']:g} of the carriers admit it when asked directly, direct answers are off by "
            f"{dishonest['bias']:+.4f} (root mean squared error {dishonest['error_direct']:.4f}, with the device "
            f"{dishonest['error_device']:.4f})" + (f"; the device wins from {wins:,} respondents on." if wins else ".")
        )
    if compared:
        rows = [
            (
                row["asked by"],
                f"{row['standard_error']:.4f}",
                "-" if row["power"] is None else f"{row['power']:.4f}",
                f"{row['gamma']:.3g}",
            )
            for row in compared
        ]
        title = f"{needed.respondents:,} respondents, asked in other ways"
        print_table(title, ("asked by", "standard error", "power", "gamma"), rows)
    show_caveats(needed.warnings)


def _show(needed: Plan) -> None:
    is_shares = all(purpose == "shares" for purpose in needed.purposes.values())
    what = "every share" if is_shares else "every share and mean that is wanted"
    print_text(
        f"{needed.respondents:,} respondents give {what} a margin of error of {needed.margin:.3g} at "
        f"{needed.level:.0%} confidence (prior: {needed.prior}); asked directly, {needed.direct_questioning:,} would do.\n"
    )
    rows = [
        (
            name,
            needed.purposes[name],
            f"{respondents:,}",
            f"{needed.per_attribute_direct[name]:,}",
            f"{needed.margins[name]:.3g}",
        )
        for name, respondents in needed.per_attribute.items()
    ]
    columns = ("attribute", "for", "disguised", "asked directly", f"margin at {needed.respondents:,}")
    print_table("Respondents needed", columns, rows)
    if not is_shares:
        print_text("The margin of a mean is a share of the range of its numbers.")
    show_caveats(needed.warnings)
