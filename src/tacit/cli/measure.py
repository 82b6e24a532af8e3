"""``tacit measure``: what a scheme protects and what it costs, in numbers and in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.attacking import attack_from, show_attack
from tacit.cli.names import listed_names
from tacit.cli.output import JsonFlag, print_json, print_table, print_text
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.channel.scheme import Scheme
    from tacit.measures.group import GroupMeasures
    from tacit.measures.scheme import SchemeMeasures

DataOption = typer.Option(help="A file of truths (CSV, Parquet) that gives the prior.")
PriorOption = typer.Option(help="Prior shares: 0.2,0.8 for a single group, else name=0.2,0.8; may be repeated.")

# More groups or pairs than this are left to --json.
SHOWN_GROUPS = 4
SHOWN_PAIRS = 5
SHOWN_ANSWERS = 20


def measure(
    scheme: Annotated[Path, typer.Argument(help="Scheme document (JSON).")],
    data: Annotated[Path | None, DataOption] = None,
    prior: Annotated[list[str] | None, PriorOption] = None,
    respondents: Annotated[int | None, typer.Option(help="People the errors are for (1,000 if not said).")] = None,
    attack: Annotated[
        bool, typer.Option("--attack", help="Try what the best guesser gets from whole reports.")
    ] = False,
    reports: Annotated[Path | None, typer.Option(help="Reports to attack; else --data, disguised anew.")] = None,
    known: Annotated[str, typer.Option(help="Attributes the guesser knows already: a,b (needs --data).")] = "",
    seed: Annotated[int | None, typer.Option(help="Makes the disguise of --data repeatable.")] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Say what a scheme protects in every measure, what that means for one person, and the errors to expect."""
    from tacit.channel.scheme import Scheme
    from tacit.measures.scheme import measure as measure_scheme

    if not attack and (reports is not None or known):
        raise InvalidInput("--reports and --known belong to the attack: add --attack.")
    plan = Scheme.read(scheme)
    assumed = prior_from(plan, data, prior or [])
    measures = measure_scheme(plan, assumed, respondents)
    found = None
    if attack:
        found = attack_from(plan, reports, assumed if data is not None else None, listed_names(known), seed)
    if json:
        document = measures.to_document()
        print_json(document if found is None else {**document, "attack": found.to_document()})
        return
    show_measures(measures)
    if found is not None:
        show_attack(found)


def prior_from(scheme: Scheme, data: Path | None, prior: Sequence[str]) -> Any:
    """The prior that the options state: counted in a file of truths, or written out."""
    if data is not None and prior:
        raise InvalidInput("The prior comes from --data or from --prior, not from both.")
    if data is not None:
        from tacit.dataset import Dataset

        return Dataset.read(data, scheme.schema, drop_others=True)
    if not prior:
        return None
    named = [part.rpartition("=") for part in prior]
    if len(named) == 1 and not named[0][1]:
        return _shares(named[0][2])
    if not all(equals for _, equals, _ in named):
        raise InvalidInput("Several priors need names: --prior smokes=0.8,0.2 --prior drinks=0.5,0.5.")
    return {name: _shares(text) for name, _, text in named}


def _shares(text: str) -> list[float]:
    try:
        return [float(share) for share in text.split(",")]
    except ValueError:
        raise InvalidInput(f"A prior is a list of numbers such as 0.2,0.8, not {text!r}.") from None


def show_measures(measures: SchemeMeasures) -> None:
    """Print measures for people."""
    print_text(f"Amplification {number(measures.gamma)}, epsilon {number(measures.epsilon)}.")
    print_text(f"{measures.meaning}\n")
    if measures.groups:
        _show_groups(measures)
        _show_answers(measures)
    _show_errors(measures)
    show_caveats(measures.warnings)


def show_caveats(warnings: Sequence[str]) -> None:
    for warning in warnings:
        print_text(f"! {warning}")


def _show_groups(measures: SchemeMeasures) -> None:
    columns = ("group", "channel", "gamma", "MAP", "blind", "worst", "PSE", "condition")
    rows = []
    for group in measures.groups:
        where = f"{group.questionnaire}: " if group.questionnaire else ""
        known = (group.map_privacy, group.blind_privacy, group.worst_posterior, group.pse, group.condition)
        rows.append((where + ", ".join(group.attributes), group.kind, number(group.gamma), *map(number, known)))
    print_table(f"What a report reveals (prior: {measures.prior})", columns, rows)
    _show_meanings(measures.groups)


def _show_meanings(groups: Sequence[GroupMeasures]) -> None:
    """The sentences of every group, or of the one that reveals most where there are many."""
    from tacit.measures.meaning import group_meanings

    shown = groups if len(groups) <= SHOWN_GROUPS else [max(groups, key=lambda group: group.gamma)]
    for group in shown:
        print_text(", ".join(group.attributes))
        for name, sentence in group_meanings(group).items():
            print_text(f"  {name}: {sentence}")
    if len(shown) < len(groups):
        print_text(f"  (the group that reveals most; --json has the sentences of all {len(groups)})")
    print_text("")


def _show_answers(measures: SchemeMeasures) -> None:
    """What the whole report tells of each answer; the most exposed ones where there are many."""
    exposed = sorted(measures.answers, key=lambda answer: -(answer.worst_posterior or 0))
    shown = measures.answers if len(exposed) <= SHOWN_ANSWERS else exposed[:SHOWN_ANSWERS]
    rows = [
        (answer.attribute, *map(number, (answer.gamma, answer.map_privacy, answer.worst_posterior, answer.pse)))
        for answer in shown
    ]
    print_table("What the whole report tells of each answer", ("answer", "gamma", "MAP", "worst", "PSE"), rows)
    if len(shown) < len(exposed):
        print_text(f"  (the {len(shown)} most exposed of {len(exposed)} answers; --json has all)\n")


def _show_errors(measures: SchemeMeasures) -> None:
    singles = [error for error in measures.errors if len(error.attributes) == 1]
    pairs = [error for error in measures.errors if len(error.attributes) == 2]
    pairs.sort(key=lambda error: -(error.worst or 0))
    rows = [
        (" x ".join(error.attributes), number(error.worst), number(error.worst_direct))
        for error in [*singles, *pairs[:SHOWN_PAIRS]]
    ]
    title = f"Standard error at {measures.respondents:,} respondents"
    print_table(title, ("attributes", "disguised", "asked directly"), rows)
    if len(pairs) > SHOWN_PAIRS:
        print_text(f"  (and {len(pairs) - SHOWN_PAIRS} more pairs of attributes; --json lists them)\n")


def number(value: float | None) -> str:
    """A figure to three digits; a dash where it is not known."""
    return "-" if value is None else f"{value:.3g}"
