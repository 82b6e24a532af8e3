"""``tacit plan``: how many respondents a margin of error takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli.measure import DataOption, PriorOption, prior_from, show_caveats
from tacit.cli.output import JsonFlag, print_json, print_table, print_text

if TYPE_CHECKING:
    from tacit.design.plan import Plan


def plan(
    scheme: Annotated[Path, typer.Argument(help="Scheme document (JSON).")],
    margin: Annotated[float, typer.Option(help="Wanted margin of error of every share, such as 0.03.")],
    data: Annotated[Path | None, DataOption] = None,
    prior: Annotated[list[str] | None, PriorOption] = None,
    level: Annotated[float, typer.Option(help="Confidence level of the margin.")] = 0.95,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Say how many respondents a margin of error takes, next to what direct questioning would need."""
    from tacit.channel.scheme import Scheme
    from tacit.design.plan import plan as plan_survey

    known = Scheme.read(scheme)
    needed = plan_survey(known, margin, prior_from(known, data, prior or []), level)
    if json:
        print_json(needed.to_document())
    else:
        _show(needed)


def _show(needed: Plan) -> None:
    print_text(
        f"{needed.respondents:,} respondents give every share a margin of error of {needed.margin:g} at "
        f"{needed.level:.0%} confidence (prior: {needed.prior}); asked directly, {needed.direct_questioning:,} would do.\n"
    )
    rows = [
        (name, f"{respondents:,}", f"{needed.per_attribute_direct[name]:,}")
        for name, respondents in needed.per_attribute.items()
    ]
    print_table("Respondents needed", ("attribute", "disguised", "asked directly"), rows)
    show_caveats(needed.warnings)
