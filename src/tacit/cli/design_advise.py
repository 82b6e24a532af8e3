"""``tacit design advise``: ways to disguise one question side by side, at one demand."""

from __future__ import annotations

import math
from typing import Annotated

from tacit.cli import design_options as given
from tacit.cli.output import JsonFlag, note, print_json, print_text
from tacit.errors import InvalidInput


def advise(
    distribution: given.Distribution = None,
    categories: given.Categories = 10,
    prior: given.Prior = None,
    answers: given.Answers = None,
    data: given.Data = None,
    attribute: given.AttributeName = None,
    schema: given.SchemaFile = None,
    records: given.Records = None,
    gamma: given.Gamma = None,
    epsilon: given.Epsilon = None,
    delta: given.Delta = None,
    privacy: given.Privacy = None,
    generations: given.Generations = 2000,
    polish: given.ShortPolish = False,
    seed: given.Seed = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Compare the ways to disguise one question: error, privacy measures, possible reports, and whether a prior is needed."""
    from tacit.design import advise as compare

    if gamma is not None and epsilon is not None:
        raise InvalidInput("Give --gamma or --epsilon, not both: gamma is e to the epsilon.")
    expected = given.ExpectedFrom(
        distribution=distribution, categories=categories, prior=prior, answers=answers, data=data, attribute=attribute,
        schema=schema, records=records,
    ).read()  # fmt: skip
    advice = compare(
        expected.shares,
        expected.records,
        gamma=math.exp(epsilon) if epsilon is not None else gamma,
        delta=delta,
        privacy=privacy,
        answers=expected.answers,
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
