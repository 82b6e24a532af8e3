"""``tacit survey verify``: what a page promises, checked from outside."""

from __future__ import annotations

from typing import Annotated

import typer

from tacit.cli.survey.store import JsonOption, show
from tacit.errors import InvalidInput


def verify(
    source: Annotated[
        str, typer.Argument(help="Address of a survey's page, a saved page, or a definition (definition.json).")
    ],
    as_json: JsonOption = False,
) -> None:
    """Check a survey's definition as its page does, and the page's bytes against this release; exit 2 if a check fails."""
    from tacit.extras import require

    require("survey")
    from tacit.survey.inspection import describe_inspection, inspect_page

    inspection = inspect_page(source)
    if inspection.problems:
        raise InvalidInput(" ".join(inspection.problems))
    document, lines = describe_inspection(inspection)
    show(document, lines, as_json=as_json)
