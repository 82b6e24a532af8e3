"""How many respondents each question takes, what other channels would take, and what would make the dearest cheaper."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tacit.design.question import (
    Purpose,
    QuestionChoices,
    choose_channel,
    mean_variance,
    needed_respondents,
    share_variance,
    usual_purpose,
)
from tacit.survey.proposal import LEVELS
from tacit.survey.question_kinds import NO_ANSWER, PREFER_NOT_TO_SAY

if TYPE_CHECKING:
    from tacit.channel.base import Channel
    from tacit.channel.scheme import Group
    from tacit.survey.definition import Definition

DEAREST = 3
NEARLY = 1e-5  # what rounding to whole chances takes of an amplification


def question_needs(definition: Definition, margin: float) -> list[dict[str, Any]]:
    """One entry for each question that is disguised alone: channel, purpose, respondents, alternatives, levers."""
    entries = [
        _need(group, margin)
        for group in definition.groups
        if group.records is None and len(group.names) == 1 and 1 < group.channel.amplification < math.inf
    ]
    dearest = sorted(entries, key=lambda entry: -entry["respondents"])[:DEAREST]
    for entry in entries:
        entry["levers"] = list(_levers(entry, margin)) if entry in dearest else []
    return entries


def _need(group: Group, margin: float) -> dict[str, Any]:
    (attribute,), channel = group.attributes, group.channel
    numbers = _numbers(attribute.answers) if attribute.ordered else None
    gamma = _demanded(channel)
    purpose, choices = _purpose(group, numbers, gamma)
    name, is_own = choices.chosen.name, _is_same(choices.chosen.channel, channel)
    if is_own:
        shares, mean = choices.chosen.shares, choices.chosen.mean
    else:
        name, shares = channel.kind, share_variance(channel)
        mean = math.inf if numbers is None else mean_variance(channel, numbers)
    own = {"shares": shares, "mean": mean, "both": max(shares, mean)}[purpose]
    others = choices.choices[1:] if is_own else choices.choices
    return {
        "name": attribute.name,
        "answers": attribute.size,
        "channel": name,
        "purpose": purpose,
        "respondents": needed_respondents(own, margin),
        "respondents_shares": needed_respondents(shares, margin),
        "respondents_mean": needed_respondents(mean, margin),
        "alternatives": [
            {
                "channel": other.name,
                "respondents": other.need(purpose, margin),
                "respondents_shares": other.need("shares", margin),
                "respondents_mean": other.need("mean", margin),
            }
            for other in others
            if other.need(purpose, margin) is not None
        ],
        "declined": sum(answer in (PREFER_NOT_TO_SAY, NO_ANSWER) for answer in attribute.answers),
        "gamma": gamma,
    }


def _demanded(channel: Channel) -> float:
    """The amplification that a channel was asked for: as its parameters say, or the privacy word that it nearly reaches."""
    reached = channel.amplification
    words = [level for level in LEVELS.values() if level * (1 - NEARLY) <= reached <= level]
    return float(channel.parameters.get("gamma", words[0] if words else reached))


def _purpose(group: Group, numbers: list[float] | None, gamma: float) -> tuple[Purpose, QuestionChoices]:
    """What a channel was chosen for: the purpose that chooses it, else what is usual for such answers."""
    size = group.channel.size
    usual = usual_purpose(size, has_numbers=numbers is not None)
    asked: tuple[Purpose, ...] = (usual, "shares", "mean", "both") if numbers is not None else ("shares",)
    for purpose in asked:
        choices = choose_channel(size, gamma, purpose, numbers)
        if _is_same(choices.chosen.channel, group.channel):
            return purpose, choices
    return "shares", choose_channel(size, gamma, "shares", numbers)


def _is_same(one: Channel, other: Channel) -> bool:
    """Whether two channels send the same: their programs are equal whole numbers, however their parameters are written."""
    return one.kind == other.kind and one.program() == other.program()


def _levers(entry: dict[str, Any], margin: float) -> Iterator[dict[str, Any]]:
    """What would make a question cheaper, with the respondents it then takes."""
    cheaper = [other for other in entry["alternatives"] if other["respondents"] < 0.95 * entry["respondents"]]
    if cheaper and entry["purpose"] != "both":
        yield {"change": f"disguised by {cheaper[0]['channel']}", "respondents": cheaper[0]["respondents"]}
    if entry["purpose"] != "shares":
        return
    size, gamma = entry["answers"], entry["gamma"]
    if entry["declined"] and size - entry["declined"] >= 2:
        without = choose_channel(size - entry["declined"], gamma).chosen.need("shares", margin)
        yield {"change": "prefer_not_to_say: false", "respondents": without}
    if size > 3:
        fewer = choose_channel(math.ceil(size / 2), gamma).chosen.need("shares", margin)
        yield {"change": f"offering {math.ceil(size / 2)} answers", "respondents": fewer}
    weaker = [(level, word) for word, level in LEVELS.items() if level > gamma * (1 + 1e-9)]
    if weaker:
        level, word = min(weaker)
        yield {"change": f"privacy: {word}", "respondents": choose_channel(size, level).chosen.need("shares", margin)}


def _numbers(answers: tuple[str, ...]) -> list[float] | None:
    try:
        return [float(answer) for answer in answers]
    except ValueError:
        return None


def need_lines(needs: list[dict[str, Any]]) -> Iterator[str]:
    """For people: what each question takes and what others would; the levers of the dearest."""
    for entry in needs:
        others = [f"{other['channel']} would take {_people(entry, other)}" for other in entry["alternatives"][:2]]
        text = f"    {entry['name']}: {entry['answers']:,} answers, {entry['channel']}, {_people(entry, entry)} respondents"
        yield "; ".join([text, *others])
        if entry["purpose"] == "mean" and entry["respondents_shares"] is not None:
            yield f"      shares of its single answers would take {entry['respondents_shares']:,}"
        for lever in entry["levers"]:
            if lever["respondents"] < entry["respondents"]:
                yield f"      {lever['change']}: {lever['respondents']:,}"


def _people(entry: dict[str, Any], way: dict[str, Any]) -> str:
    """How many respondents a way takes for what the question is asked for."""
    if entry["purpose"] == "both":
        return f"{way['respondents_shares']:,} (shares) and {way['respondents_mean']:,} (mean)"
    return f"{way['respondents']:,}" + (" (mean)" if entry["purpose"] == "mean" else "")
