"""``tacit measure``: what a scheme protects and what it costs, in numbers and in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.names import listed_names
from tacit.cli.output import JsonFlag, print_json, print_table, print_text, progress
from tacit.cli.private_prior import read_scheme_with_prior
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.attacks import AttackResult
    from tacit.channel.scheme import Scheme
    from tacit.count.sources import ReportSource
    from tacit.dataset import Dataset
    from tacit.measures.group import GroupMeasures
    from tacit.measures.scheme import SchemeMeasures

DataOption = typer.Option(help="File of true answers (CSV, Parquet) that gives the prior.")
PriorOption = typer.Option(help="Prior shares: 0.2,0.8 for a single group, else name=0.2,0.8; repeatable.")

# More groups or pairs than this are left to --json.
SHOWN_GROUPS = 4
SHOWN_PAIRS = 5
SHOWN_ANSWERS = 20
PSE_CAVEAT = "PSE is an average"  # of interest only where PSE is shown


def measure(
    scheme: Annotated[Path, typer.Argument(help="Scheme document (JSON) or a survey's questionnaire (YAML).")],
    data: Annotated[Path | None, DataOption] = None,
    prior: Annotated[list[str] | None, PriorOption] = None,
    respondents: Annotated[
        int | None, typer.Option(help="Number of people for whom errors are predicted; 1,000 if not said.")
    ] = None,
    attack: Annotated[
        bool,
        typer.Option(
            "--attack", help="Guess the true answers from whole reports, and show how often the guesses are right."
        ),
    ] = False,
    reports: Annotated[
        str | None,
        typer.Option(
            help="With --attack: report file, folder or tally; if not said, --data is disguised and attacked."
        ),
    ] = None,
    known: Annotated[
        str, typer.Option(help="With --attack and --data: attributes that the guesser already knows, such as a,b.")
    ] = "",
    seed: Annotated[int | None, typer.Option(help="Seed that makes the disguise of --data repeatable.")] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show all published privacy measures, in numbers and words.")
    ] = False,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Say what a scheme protects, what that means for one person, and the errors to expect."""
    from tacit.channel.scheme import Scheme
    from tacit.measures.scheme import measure as measure_scheme

    if not attack and (reports is not None or known):
        raise InvalidInput("--reports and --known belong to the attack: add --attack.")
    plan, (series, lines) = read_scheme_or_survey(scheme)
    assumed = prior_from(plan, data, prior or [])
    measures = measure_scheme(plan, assumed, respondents)
    attacked = None
    if attack:
        # The scheme that the reports name has no prior from data.
        disguising = plan if reports is None or is_questionnaire(scheme) else Scheme.read(scheme)
        attacked = attack_from(disguising, reports, assumed if data is not None else None, listed_names(known), seed)
    if json:
        document = {**measures.to_document(), **series}
        print_json(document if attacked is None else {**document, "attack": attacked.to_document()})
        return
    show_measures(measures, verbose=verbose)
    if lines:
        print_text("\n".join(lines))
    if attacked is not None:
        show_attack(attacked)


def is_questionnaire(path: Path) -> bool:
    return path.suffix.lower() in (".yaml", ".yml")


def read_scheme_or_survey(path: Path, margin: float | None = None) -> tuple[Scheme, tuple[dict[str, Any], list[str]]]:
    """The scheme of a document or of a questionnaire, and what the waves tell together that a questionnaire declares."""
    if not is_questionnaire(path):
        return read_scheme_with_prior(path), ({}, [])
    from tacit.cli.survey.store import read_definition
    from tacit.survey.promise import series_figures

    definition = read_definition(path)
    return definition.scheme, series_figures(definition, definition.margin if margin is None else margin)


def survey_needs(path: Path, margin: float) -> tuple[list[dict[str, Any]], list[str]]:
    """What each question of a questionnaire takes, and what would make the dearest cheaper."""
    from tacit.cli.survey.store import read_definition
    from tacit.survey.needs import need_lines, question_needs

    needs = question_needs(read_definition(path), margin)
    return needs, list(need_lines(needs))


def prior_from(scheme: Scheme, data: Path | None, prior: Sequence[str]) -> Any:
    """The prior that the options state: counted in a file of truths, or written out."""
    if data is not None and prior:
        raise InvalidInput("The prior comes from --data or from --prior, not from both.")
    if data is not None:
        from tacit.cli.truths import complete_truths

        return complete_truths(data, scheme.schema)
    if not prior:
        return None
    named = [share.rpartition("=") for share in prior]
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


def show_measures(measures: SchemeMeasures, *, verbose: bool = False) -> None:
    """Print measures for people: the figure that matters, a line for each answer, caveats; all figures if `verbose`."""
    print_text(f"Amplification {number(measures.gamma)}, epsilon {number(measures.epsilon)}.")
    print_text(f"{measures.meaning}\n")
    _show_answers(measures)
    if verbose:
        _show_groups(measures)
        _show_pairs(measures)
    show_caveats([warning for warning in measures.warnings if verbose or not warning.startswith(PSE_CAVEAT)])
    if not verbose:
        print_text(
            "(--verbose adds the published measures of each group and the errors of pairs, in numbers and words.)"
        )


def show_caveats(warnings: Sequence[str]) -> None:
    for warning in warnings:
        print_text(f"! {warning}")


def _show_answers(measures: SchemeMeasures) -> None:
    """What the whole report tells of each answer and what it costs; the most exposed ones where there are many."""
    errors = {error.attributes[0]: error for error in measures.errors if len(error.attributes) == 1}
    by_name = {answer.attribute: answer for answer in measures.answers}
    exposed = sorted(by_name, key=lambda name: -(by_name[name].worst_posterior or 0))[:SHOWN_ANSWERS]
    rows = []
    for name in [*(name for name in by_name if name in exposed), *(name for name in errors if name not in by_name)]:
        answer, error = by_name.get(name), errors.get(name)
        figures = (answer.gamma, answer.worst_posterior, answer.map_privacy) if answer else (None, None, None)
        gamma, sure, wrong = number(figures[0]), percent(figures[1]), percent(figures[2])
        costs = (number(error.worst), number(error.worst_direct)) if error else ("-", "-")
        rows.append((name, gamma if answer else "public", sure, wrong, *costs))
    title = f"What the whole report tells, and errors at {measures.respondents:,} respondents (prior: {measures.prior})"
    columns = ("answer", "gamma", "surest guess", "wrong guesses", "error", "asked directly")
    print_table(title, columns, rows)
    if len(exposed) < len(by_name):
        print_text(f"  (the {len(exposed)} most exposed of {len(by_name)} answers; --json has all)\n")


def _show_groups(measures: SchemeMeasures) -> None:
    if not measures.groups:
        return
    columns = ("group", "channel", "gamma", "MAP", "blind", "worst", "PSE", "condition")
    rows = []
    for group in measures.groups:
        where = f"{group.questionnaire}: " if group.questionnaire else ""
        figures = (group.map_privacy, group.blind_privacy, group.worst_posterior, group.pse, group.condition)
        rows.append((where + ", ".join(group.attributes), group.kind, number(group.gamma), *map(number, figures)))
    print_table("The published measures of each group, by itself", columns, rows)
    _show_meanings(measures.groups)


def _show_meanings(groups: Sequence[GroupMeasures]) -> None:
    """The sentences of every group, or of the one that reveals most where there are many."""
    from tacit.measures.meaning import group_meanings

    explained = groups if len(groups) <= SHOWN_GROUPS else [max(groups, key=lambda group: group.gamma)]
    for group in explained:
        print_text(", ".join(group.attributes))
        for name, sentence in group_meanings(group).items():
            print_text(f"  {name}: {sentence}")
    if len(explained) < len(groups):
        print_text(f"  (the group that reveals most; --json has the sentences of all {len(groups)})")
    print_text("")


def _show_pairs(measures: SchemeMeasures) -> None:
    pairs = [error for error in measures.errors if len(error.attributes) == 2]
    if not pairs:
        return
    pairs.sort(key=lambda error: -(error.worst or 0))
    rows = [
        (" x ".join(error.attributes), number(error.worst), number(error.worst_direct)) for error in pairs[:SHOWN_PAIRS]
    ]
    title = f"Standard error of two answers together, at {measures.respondents:,} respondents"
    print_table(title, ("attributes", "disguised", "asked directly"), rows)
    if len(pairs) > SHOWN_PAIRS:
        print_text(f"  (and {len(pairs) - SHOWN_PAIRS} more pairs of attributes; --json lists them)\n")


def percent(share: float | None) -> str:
    """A share in percent, rounded so that what is not certain never reads as certain; a dash where it is not known."""
    if share is None:
        return "-"
    return f"{min(share, 0.999) if share < 1 else 1:.1%}"


def number(value: float | None) -> str:
    """A figure to three digits; a dash where it is not known."""
    return "-" if value is None else f"{value:.3g}"


def attack_from(
    scheme: Scheme, reports: str | None, truth: Dataset | None, known: list[str], seed: int | None
) -> AttackResult:
    """Attack a file of reports, or the file of truths disguised anew; where there are truths, right guesses are counted."""
    from tacit.attacks import attack

    disguised, clear = _reports(scheme, reports, truth, seed)
    with progress("Attacking", total=1.0) as bar:
        done = 0.0

        def tell(share: float) -> None:
            nonlocal done
            bar.advance(share - done)
            done = share

        return attack(disguised, truth=clear, known=known, on_share=tell)


def _reports(scheme: Scheme, reports: str | None, truth: Dataset | None, seed: int | None) -> tuple[ReportSource, Any]:
    from tacit.disguising import disguise

    if reports is not None:
        return _open_together(reports, scheme), truth
    if truth is None:
        raise InvalidInput(
            "What should be attacked? Give --reports (a report file) or --data (truths, disguised anew)."
        )
    # Whom a questionnaire was dealt to is not kept, so right guesses can then only be estimated.
    return disguise(truth, scheme, seed=seed), None if scheme.is_dealt else truth


def _open_together(place: str, scheme: Scheme) -> ReportSource:
    """The reports of a place as one: files row after row, so that truths can be laid beside them, tallies added."""
    from tacit.cli.reading import open_reports
    from tacit.count.tally import Tally
    from tacit.reports import Reports

    parts = list(open_reports(place, scheme))
    if len(parts) == 1:
        return parts[0]
    return Reports.read(place, scheme) if all(isinstance(source, Reports) for source in parts) else Tally.of(parts)


def show_attack(attacked: AttackResult) -> None:
    """Print an attack for people."""
    rows = [(what, *(f"{share:.1%}" for share in shares)) for what, *shares in attacked.rows()]
    whom = f", knowing {', '.join(attacked.known)}" if attacked.known else ""
    columns = ("expected", "without") if attacked.counted is None else ("expected", "counted", "without")
    title = f"What the best guesser we know gets right from {attacked.n_reports:,} reports{whom}"
    print_table(title, ("guessed", *columns), rows)
    low, high = attacked.stability.records
    print_text(f"Guessed with {attacked.model}; as likely models expect {low:.1%} to {high:.1%} of the whole records.")
    for warning in attacked.warnings:
        print_text(f"! {warning}")
