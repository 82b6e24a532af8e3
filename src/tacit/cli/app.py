"""All commands by name, with the lines of ``tacit --help``; none of them is imported before it is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tacit import __version__
from tacit.cli.commands import PLAIN, CommandGroup, Imported

# What ``tacit --help`` prints, and where each command is: ``module:function`` in this package. Groups list theirs.
COMMANDS: dict[str, tuple[str, str | dict[str, str]]] = {
    "demo": ("Run the whole story on bundled census data and write one self-contained page.", "demo:demo"),
    "design": (
        "Choose how to disguise.",
        {
            "advise": "design_advise:advise",
            "front": "design_front:front",
            "open": "design_open:open_question",
            "scheme": "design_scheme:design_scheme",
        },
    ),
    "measure": (
        "Say what a scheme protects, what that means for one person, and the errors to expect.",
        "measure:measure",
    ),
    "plan": (
        "Say how many respondents a margin of error or a test takes, next to what direct questioning would need.",
        "plan:plan",
    ),
    "devices": (
        "List the devices for asking sensitive questions; with NAME, show the steps, the formula and the privacy of one device.",
        "devices:devices",
    ),
    "disguise": (
        "Disguise every record of a file, a part at a time; the report file appears when all records are written.",
        "disguise:disguise",
    ),
    "estimate": (
        "Estimate a table of the true answers, with standard errors and intervals, from reports of one or several schemes.",
        "estimate:estimate",
    ),
    "prevalence": (
        "Estimate the share of people with a trait that was asked with a device; only the named columns of the file are read.",
        "prevalence:prevalence",
    ),
    "simulate": (
        "Draw studies from a design and report the bias, coverage and power of their estimates.",
        "simulate:simulate",
    ),
    "correlations": (
        "Correlate variables that were asked with devices, disguised under a scheme, or not disguised at all.",
        "correlations:correlations",
    ),
    "regress": ("Regress an outcome on covariates where some of them were disguised.", "regress:regress"),
    "tally": (
        "Count reports once and keep the counts: every command that takes reports takes the tally.",
        "tally:tally",
    ),
    "mine": (
        "Learn trees, classifiers and rules from reports.",
        {
            "tree": "mine:tree",
            "bayes": "mine:bayes",
            "best": "mine_best:best",
            "rules": "mine_rules:rules",
            "heavy": "mine_heavy:heavy",
        },
    ),
    "publish": (
        "Publish a table k-anonymously: the release, its measures, and the front of alternatives.",
        "publish:publish",
    ),
    "synthesize": (
        "Write synthetic rows under differential privacy, drawn from tables that are counted with noise.",
        "synthesize:synthesize",
    ),
    "roles": ("Propose a role and a type for every column, with the reason for each.", "roles:roles"),
    "check": (
        "Measure how well the rows of any table hide among each other: k, l, t, beta, class sizes, risks, special uniques.",
        "check:check",
    ),
    "survey": (
        "Electronic surveys: answers are disguised on the respondent's own device, and no server ever receives a true one.",
        "survey:app",
    ),
    "reproduce": (
        "Run a published study again, and show its published numbers and sentences beside Tacit's.",
        "reproduce:reproduce",
    ),
}


class _Root(CommandGroup):
    """All commands, explained without importing them."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = Imported(
            {name: place if isinstance(place, str) else (line, place) for name, (line, place) in COMMANDS.items()}
        )

    def command_lines(self) -> list[tuple[str, str]]:
        return [(name, line) for name, (line, _) in COMMANDS.items()]


app = typer.Typer(
    name="tacit",
    cls=_Root,
    help="Learn what a crowd knows without any of its members telling.",
    epilog="Repeated options may stand in a file tacit.toml, a table for each command; --settings may follow a command too.",
    no_args_is_help=True,
    **(PLAIN | {"add_completion": True}),
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
    settings: Annotated[
        Path | None,
        typer.Option(
            help="Settings file instead of tacit.toml; may also set formula, seed, force, store, host and proxy."
        ),
    ] = None,  # taken off the line before, by `read_settings`
) -> None:
    pass
