"""``tacit design advise``: ways to disguise one question side by side, at one demand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli.design_front import checked_answers
from tacit.cli.output import JsonFlag, note, print_json, print_text
from tacit.cli.shares import expected_shares
from tacit.errors import InvalidInput


def advise(
    distribution: Annotated[str | None, typer.Option(help="Expected distribution: normal, gamma or uniform.")] = None,
    categories: Annotated[int, typer.Option(help="Number of answers of the named distribution.")] = 10,
    prior: Annotated[str | None, typer.Option(help="Expected share of each answer, separated by commas.")] = None,
    answers: Annotated[str | None, typer.Option(help="Names of the answers, in the order of the prior.")] = None,
    data: Annotated[Path | None, typer.Option(help="File of truths to take the shares from.")] = None,
    attribute: Annotated[str | None, typer.Option(help="Attribute of the file.")] = None,
    schema: Annotated[Path | None, typer.Option(help="Scheme document that says how the file is read.")] = None,
    records: Annotated[int | None, typer.Option(help="Number of respondents; 10000, or the rows of the file.")] = None,
    gamma: Annotated[float | None, typer.Option(help="Largest amplification: a promise without a prior.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="The same as its logarithm.")] = None,
    delta: Annotated[float | None, typer.Option(help="How sure any report may make anyone of any answer.")] = None,
    privacy: Annotated[float | None, typer.Option(help="With delta: least chance of a wrong guess.")] = None,
    generations: Annotated[int, typer.Option(help="Generations of OptRR's search.")] = 2000,
    polish: Annotated[bool, typer.Option(help="Polish OptRR's set (a minute more).")] = False,
    seed: Annotated[int | None, typer.Option(help="Seed of the search.")] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Compare the ways to disguise one question: error, each privacy, reports, and whether the promise needs a prior."""
    from tacit.design import advise as compare

    if gamma is not None and epsilon is not None:
        raise InvalidInput("Give --gamma or --epsilon, not both: gamma is e to the epsilon.")
    shares, counted, n_rows = expected_shares(distribution, categories, prior, data, attribute, schema)
    advice = compare(
        shares,
        records if records is not None else n_rows or 10_000,
        gamma=math.exp(epsilon) if epsilon is not None else gamma,
        delta=delta,
        privacy=privacy,
        answers=checked_answers(answers, counted),
        generations=generations,
        polish=polish,
        seed=seed,
    )
    if json:
        print_json(advice.to_document())
        return
    print_text(f"{advice.summary()}\n")
    print_text(
        "A promise that needs no prior holds whatever the truth is. The others hold only where the expected shares are right: "
        "reports of some of them rule answers out."
    )
    for reason in advice.left_out:
        note(f"Left out: {reason}")
