"""What ``tacit design scheme`` offers instead: of whole-group flips, and of disguising what others know anyway."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from tacit.cli.output import note, print_table, print_text, progress
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.channel.scheme import Scheme
    from tacit.dataset import Dataset
    from tacit.design.scheme import SchemeDesign
    from tacit.schema import Attribute, Schema

# As many true records as show what a guesser gets, within seconds.
TRIED_ROWS = 5000


def show_alternatives(made: SchemeDesign, truths: Dataset | None) -> None:
    """Say what does better at the same usefulness; with data, what a guesser gets from each."""
    from tacit.design.alternatives import offer

    if not made.alternatives:
        return
    for sentence in offer(made.alternatives, made.measures):
        print_text(f"! {sentence}")
    if truths is None:
        print_text("  (tacit measure --attack shows what a guesser gets from the reports)")
        return
    named = [("as designed", made.scheme), *((other.what, other.scheme) for other in made.alternatives)]
    with progress("Attacking", total=len(named)) as bar:
        rows = []
        for what, scheme in named:
            rows.append((what, *_guessed_shares(scheme, truths)))
            bar.advance()
    columns = ("scheme", "whole records", "single answers", "answers without reports")
    print_table("What the best guesser gets right from reports of these data", columns, rows)


def _guessed_shares(scheme: Scheme, truths: Dataset) -> tuple[str, str, str]:
    from tacit.attacks import attack
    from tacit.dataset import Dataset
    from tacit.disguising import disguise

    tried = Dataset(truths.table.rows(slice(0, TRIED_ROWS)))
    attacked = attack(disguise(tried, scheme, seed=0), truth=tried)
    shares = (attacked.records.with_reports, attacked.answers.with_reports, attacked.answers.without_reports)
    first, second, third = (f"{share:.1%}" for share in shares)
    return first, second, third


def public_proposal(made: SchemeDesign, redesigned: Callable[[list[str]], SchemeDesign]) -> dict[str, Any] | None:
    """Which attributes others may know of a person anyway, and what disguising them costs the others; None where none is.

    Every attribute that is disguised takes a part of the demanded amplification, so the others have larger errors.
    """
    from tacit.attacks.caveats import EASILY_KNOWN

    private = [name for group in made.scheme.groups for name in group.names]
    easily_learnt = [name for name in private if name.lower() in EASILY_KNOWN]
    if not easily_learnt or len(easily_learnt) == len(private):
        return None
    errors = [
        {error.attributes[0]: error.worst for error in design.measures.errors if len(error.attributes) == 1}
        for design in (made, redesigned(easily_learnt))
    ]
    others = [name for name in private if name not in easily_learnt]
    costs = {name: {"disguised": errors[0].get(name), "public": errors[1].get(name)} for name in others}
    return {"attributes": easily_learnt, "errors": costs}


def without_identifiers(truths: Dataset, named: Iterable[str]) -> Dataset:
    """The truths without columns that are different for nearly everyone, such as an id, unless the user `named` them."""
    from tacit.table.coded import tells_rows_apart

    apart = [name for name in truths.schema.names if name not in named and tells_rows_apart(truths.table, name)]
    if not apart:
        return truths
    remaining = [name for name in truths.schema.names if name not in apart]
    if not remaining:
        raise InvalidInput(
            f"In {_in_words(apart)} nearly every row has a value of its own: there is no share to estimate. Give a column whose "
            "answers many rows share; cut numbers into ranges first."
        )
    note(
        f"Left out: {_in_words(apart)}. Nearly every row has a value of its own, so there is no share to estimate. (Numbers: "
        "cut them into ranges first. To disguise it all the same, name it in --groups. `tacit disguise` takes the rest of this "
        "file with --drop-others.)"
    )
    return truths.select(remaining)


def note_look_alikes(schema: Schema) -> None:
    """Say which answers differ in nothing but capitals and spaces: mostly one answer, typed in several ways."""
    alike = [f"{attribute.name} has {'; '.join(ways)}" for attribute in schema if (ways := _ways(attribute))]
    if alike:
        note(
            f"Answers that differ only in capitals or spaces count as different: {'. '.join(alike)}. If they mean the same, "
            "write them alike in the file and design again."
        )


def _ways(attribute: Attribute) -> list[str]:
    """The answers that are written in several ways: 'Yes' and 'yes'."""
    ways = defaultdict(list)
    for answer in attribute.answers:
        ways[" ".join(answer.casefold().split())].append(repr(answer))
    return [_in_words(alike) for alike in ways.values() if len(alike) > 1]


def show_proposal(proposal: dict[str, Any] | None) -> None:
    if proposal is None:
        return
    from tacit.cli.measure import number

    names = proposal["attributes"]
    print_text(
        f"! Others may know {_in_words(names)} of a person anyway. Disguising what is known hides nothing and makes every "
        f"other error larger. With --public {','.join(names)} the standard errors would be:"
    )
    rows = [(name, number(cost["disguised"]), number(cost["public"])) for name, cost in proposal["errors"].items()]
    print_table("", ("answer", "as designed", "with these public"), rows)


def _in_words(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
