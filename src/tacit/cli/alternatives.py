"""What ``tacit design scheme`` offers instead of whole-group flips, tried on the data where there are some."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.cli.output import print_table, print_text, progress

if TYPE_CHECKING:
    from tacit.channel.scheme import Scheme
    from tacit.dataset import Dataset
    from tacit.design.scheme import SchemeDesign

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
            rows.append((what, *_guessed(scheme, truths)))
            bar.advance()
    columns = ("scheme", "whole records", "single answers", "answers without reports")
    print_table("What the best guesser gets right from reports of these data", columns, rows)


def _guessed(scheme: Scheme, truths: Dataset) -> tuple[str, str, str]:
    from tacit.attacks import attack
    from tacit.dataset import Dataset
    from tacit.disguising import disguise

    tried = Dataset(truths.table.rows(slice(0, TRIED_ROWS)))
    found = attack(disguise(tried, scheme, seed=0), truth=tried)
    shares = (found.records.with_reports, found.answers.with_reports, found.answers.without_reports)
    first, second, third = (f"{share:.1%}" for share in shares)
    return first, second, third
