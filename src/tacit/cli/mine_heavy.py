"""``tacit mine heavy``: the frequent answers of an open question, from one disguised report a person."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.output import JsonFlag, note, print_json, print_table, print_text
from tacit.mine.open_question_files import read_open_reports, read_question


def heavy(
    reports: Annotated[list[str], typer.Argument(metavar="REPORTS...", help="Report files, folders or patterns.")],
    scheme: Annotated[
        Path | None, typer.Option(help="Document of the open question; not needed if the report files contain it.")
    ] = None,
    certainty: Annotated[
        float, typer.Option(help="Confidence needed to keep a beginning of answers, over all that are tested.")
    ] = 0.95,
    top: Annotated[int, typer.Option(min=1, help="Largest number of rows to print; --json gives all.")] = 20,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Find the answers to an open question that stand out, with their shares and how sure each is."""
    question, table = read_open_reports(reports, None if scheme is None else read_question(scheme))
    hitters = question.find(table, certainty=certainty)
    least = question.least_share(max(table.num_rows, 1), certainty)
    if json:
        print_json(
            {
                "n_reports": table.num_rows,
                "attribute": question.attribute,
                "gamma": question.gamma,
                "certainty": certainty,
                "least_share": least,
                "answers": [asdict(hitter) for hitter in hitters],
            }
        )
        return
    rows = [
        (h.answer, f"{h.share:.4f}", f"{h.low:.4f} to {h.high:.4f}", f"{h.standard_error:.4f}", f"{h.certainty:.6f}")
        for h in hitters[:top]
    ]
    if rows:
        title = f"{question.attribute}: {table.num_rows:,} reports; answers that stand out"
        print_table(title, ("answer", "share", "95% interval", "standard error", "certainty"), rows)
    else:
        print_text(f"No answer to {question.attribute!r} stands out among {table.num_rows:,} reports.")
    if len(hitters) > top:
        note(f"{len(hitters) - top:,} more with --top or --json.")
    print_text(f"With so many reports an answer stands out, as often as not, from a share of {least:.2%} on.")
