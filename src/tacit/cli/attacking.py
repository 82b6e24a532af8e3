"""The part of ``tacit measure`` that attacks: whose reports, what is known, and how the answer is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.cli.output import print_table, print_text, progress
from tacit.errors import InvalidInput

if TYPE_CHECKING:
    from tacit.attacks import AttackResult
    from tacit.channel.scheme import Scheme
    from tacit.count.sources import ReportSource
    from tacit.dataset import Dataset


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
