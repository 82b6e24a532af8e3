"""All commands, registered. Command modules import what they need when they run, so that help stays quick."""

from __future__ import annotations

from typing import Annotated

import typer

from tacit import __version__
from tacit.cli import (
    check,
    demo,
    design_front,
    design_scheme,
    devices,
    disguise,
    estimate,
    measure,
    mine,
    mine_rules,
    plan,
    prevalence,
    publish,
    regress,
    reproduce,
    roles,
    survey,
    tally,
)

app = typer.Typer(
    name="tacit",
    help="Learn what a crowd knows without any of its members telling.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tacit {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


design = typer.Typer(help="Choose how to disguise.", no_args_is_help=True, rich_markup_mode=None)

app.command("demo")(demo.demo)
app.add_typer(design, name="design")
design.command("front")(design_front.front)
design.command("scheme")(design_scheme.design_scheme)
app.command("measure")(measure.measure)
app.command("plan")(plan.plan)
app.command("devices")(devices.devices)
app.command("disguise")(disguise.disguise)
app.command("estimate")(estimate.estimate)
app.command("prevalence")(prevalence.prevalence)
app.command("regress")(regress.regress)
app.command("tally")(tally.tally)
app.add_typer(mine.app, name="mine")
mine.app.command("rules")(mine_rules.rules)
app.command("publish")(publish.publish)
app.command("roles")(roles.roles)
app.command("check")(check.check)
app.add_typer(survey.app, name="survey")
app.command("reproduce")(reproduce.reproduce)
