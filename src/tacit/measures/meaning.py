"""What each figure means for one person, in plain words that are exactly true, and the figures as JSON.

JSON has no infinity: what is infinite or unknown is None there, and a sentence in `warnings` says why.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from tacit.measures.cost import ExpectedError
from tacit.measures.group import RARE_SHARE, GroupMeasures

# What would be printed as 100%.
CERTAIN = 0.9995


def amplification_meaning(gamma: float, posterior: float, seen: str = "your report") -> str:
    """`posterior` is the bound for a property that `RARE_SHARE` of all people have, `seen` what is looked at."""
    if math.isinf(gamma):
        return f"There is no bound: {seen} may prove that some answers are not yours."
    return (
        f"Whoever sees {seen} can raise their odds on anything about you at most {gamma:.4g} times, whatever they knew "
        f"before: of something {RARE_SHARE:.0%} of people have, they can become {posterior:.0%} sure, no more."
    )


def condition_meaning(condition: float) -> str:
    if math.isinf(condition):
        return "Different truths give the same reports, so not everything can be estimated."
    return f"A relative error in the shares of the reports can grow up to {condition:.3g} times in the estimates."


def _worst_meaning(worst: float, yours: str) -> str:
    if worst > CERTAIN:
        return f"Some report leaves such a guesser no doubt about {yours}."
    return f"No report makes such a guesser more than {worst:.1%} sure of {yours}."


def group_meanings(group: GroupMeasures) -> dict[str, str]:
    """The sentence of every figure that is known, under the figure's name."""
    yours = "your answer" if len(group.attributes) == 1 else "your answers together"
    seen = f"your report on {', '.join(group.attributes)}"
    meanings = {"gamma": amplification_meaning(group.gamma, group.posterior_bound(RARE_SHARE), seen)}
    if group.map_privacy is not None:
        without = "" if group.blind_privacy is None else f" (without any report: {group.blind_privacy:.1%})"
        meanings["map_privacy"] = (
            f"The best guesser, who knows how the answers are distributed, gets {yours} wrong {group.map_privacy:.1%} of "
            f"the time{without}."
        )
    if group.worst_posterior is not None:
        meanings["worst_posterior"] = _worst_meaning(group.worst_posterior, yours)
    if group.pse is not None:
        meanings["pse"] = (
            f"A guess drawn from what the report suggests is wrong {group.pse:.1%} of the time on the question that is "
            "worst off."
        )
    if group.condition is not None:
        meanings["condition"] = condition_meaning(group.condition)
    return meanings


def finite(value: float | None) -> float | None:
    return None if value is None or math.isinf(value) else value


def group_document(group: GroupMeasures) -> dict[str, Any]:
    document: dict[str, Any] = {
        "attributes": list(group.attributes),
        "kind": group.kind,
        "gamma": finite(group.gamma),
        "epsilon": finite(group.epsilon),
        "map_privacy": group.map_privacy,
        "blind_privacy": group.blind_privacy,
        "worst_posterior": group.worst_posterior,
        "pse": group.pse,
        "condition": finite(group.condition),
        "entries": [asdict(entry) for entry in group.entries],
        "meaning": group_meanings(group),
    }
    if group.questionnaire:
        document["questionnaire"] = group.questionnaire
    if group.coin_guessed is not None:
        document["coin_guessed"] = group.coin_guessed
    if group.determinable is not None:
        document["determinable"] = {name: finite(value) for name, value in asdict(group.determinable).items()}
    return document


def error_document(error: ExpectedError) -> dict[str, Any]:
    document: dict[str, Any] = {
        "attributes": list(error.attributes),
        "standard_error": error.worst,
        "direct": error.worst_direct,
    }
    if len(error.attributes) == 1 and error.standard_errors is not None:
        document["standard_errors"] = error.standard_errors.tolist()
    return document
