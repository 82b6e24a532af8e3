"""``tacit design open``: an open question, whose answers nobody lists beforehand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.output import JsonFlag, print_json, print_text
from tacit.errors import InvalidInput


def open_question(
    out: Annotated[Path, typer.Option(help="Document to write (JSON).")],
    attribute: Annotated[
        str, typer.Option(help="Name of the question, and of the column with its answers.")
    ] = "answer",
    gamma: Annotated[
        float | None, typer.Option(help="Largest likelihood ratio of a report between two answers (amplification).")
    ] = None,
    epsilon: Annotated[float | None, typer.Option(help="Epsilon = ln(gamma); give this or --gamma.")] = None,
    length: Annotated[int, typer.Option(help="Number of characters that are read of each answer.")] = 8,
    step: Annotated[
        int, typer.Option(help="Number of characters by which the search extends the beginnings of answers.")
    ] = 2,
    characters: Annotated[
        str | None, typer.Option(help="Characters that answers consist of; the letters a to z if not said.")
    ] = None,
    respondents: Annotated[
        int | None, typer.Option(help="Print the least share of an answer that stands out among this many people.")
    ] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Write an open question, whose answers (words, codes, addresses) are not listed; for `disguise` and `mine heavy`."""
    from tacit.mine.heavy_hitters import LETTERS, OpenQuestion
    from tacit.mine.open_question_files import question_document, write_question

    if (gamma is None) == (epsilon is None):
        raise InvalidInput("Give --gamma or --epsilon, one of both: gamma is e to the epsilon.")
    demanded = gamma if epsilon is None else math.exp(epsilon)
    question = OpenQuestion(demanded or 1.0, length, step, LETTERS if characters is None else characters, attribute)
    least = None if respondents is None else question.least_share(respondents)
    write_question(question, out)
    if json:
        print_json(question_document(question) | {"out": str(out), "levels": question.levels, "least_share": least})
        return
    levels = ", ".join(map(str, question.levels))
    print_text(
        f"{out}: each person reports the first {levels} characters, one of these dealt at random, through local hashing with "
        f"gamma {question.channel.amplification:.4g}. No other report is sent, so that is the gamma of the whole."
    )
    if least is not None:
        print_text(f"Among {respondents:,} an answer stands out, as often as not, from a share of {least:.2%} on.")
