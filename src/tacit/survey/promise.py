"""What a questionnaire promises its respondents, in numbers and in words, before it is opened."""

from __future__ import annotations

import math
from typing import Any

from tacit.survey.definition import Definition, worst_answer_posterior


def promise(definition: Definition) -> tuple[dict[str, Any], list[str]]:
    """The groups with their channels and what they protect, as a document and as lines to read."""
    groups = []
    lines = [f"{definition.title()} (wave {definition.wave}), fingerprint {definition.fingerprint}"]
    total = 1.0
    for group in definition.scheme.groups:
        sure = worst_answer_posterior(group, _prior(definition, group.names))
        gamma = group.channel.amplification
        total *= gamma
        document = group.to_document()
        groups.append({**document, "worst_posterior": sure, "gamma": gamma if math.isfinite(gamma) else None})
        kind = document["channel"]["kind"]
        lines.append(f"  {', '.join(group.names)}: {kind}; a report makes its best guesser at most {sure:.0%} sure")
    public = definition.scheme.public_names
    if public:
        lines.append(f"  not disguised: {', '.join(public)}")
    warnings = _warnings(total)
    described = {
        "name": definition.name,
        "wave": definition.wave,
        "fingerprint": definition.fingerprint,
        "groups": groups,
        "public": list(public),
        "gamma": total if math.isfinite(total) else None,
        "warnings": warnings,
    }
    return described, [*lines, *warnings]


def _prior(definition: Definition, names: tuple[str, ...]) -> list[float] | None:
    stated = definition.scheme.prior or {}
    prior = stated.get("+".join(names))
    return list(prior) if prior is not None else None


def _warnings(total: float) -> list[str]:
    if math.isinf(total):
        return ["Some answers are ruled out by what is sent (no finite amplification); the page says so."]
    if total > 1000:
        return [
            f"All answers of one person together: the odds of a guess can change up to {total:,.0f} times. Each question is "
            "protected as said; someone who knows how answers hang together learns more from many of them."
        ]
    return []
