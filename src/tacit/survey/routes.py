"""The routing of a questionnaire: which questions are asked only after which answers, and what that connects."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tacit.channel.routing import Asked, Routing
from tacit.survey.questionnaire import NO_ANSWER, PREFER_NOT_TO_SAY, Question


def routing_of(questions: Iterable[Question]) -> Routing:
    """The routing of a questionnaire as it is written."""
    listed = list(questions)
    first = {question.name: question.attributes[0][0] for question in listed}
    return Routing(
        tuple(
            Asked(
                question.name,
                tuple(name for name, _ in question.attributes),
                _ways(question.kind, [name for name, _ in question.answers], question.special),
                tuple((first[one.question], frozenset(one.answers)) for one in question.when),
                not question.is_hidden,
            )
            for question in listed
        )
    )


def routing_of_documents(questions: Iterable[Mapping[str, Any]]) -> Routing:
    """The same, from the questions of a frozen definition."""
    listed = list(questions)
    first = {question["name"]: question["attributes"][0]["attribute"] for question in listed}
    return Routing(
        tuple(
            Asked(
                question["name"],
                tuple(part["attribute"] for part in question["attributes"]),
                _ways(question["kind"], [one["name"] for one in question["answers"]], _special(question)),
                tuple((first[one["question"]], frozenset(one["answers"])) for one in question["when"]),
                mode_of(question) not in ("disguised", "self"),
            )
            for question in listed
        )
    )


def mode_of(question: Mapping[str, Any]) -> str:
    """How a question of a definition is answered; the first version knew only sensitive and public ones."""
    return str(question.get("mode") or ("disguised" if question["sensitive"] else "public"))


def _special(question: Mapping[str, Any]) -> tuple[str, ...]:
    return (PREFER_NOT_TO_SAY,) * bool(question["declines"]) + (NO_ANSWER,) * bool(question.get("optional"))


def _ways(kind: str, answers: Sequence[str], special: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Every way to answer a question: one answer for each of its attributes."""
    if kind != "several":
        return tuple((answer,) for answer in (*answers, *special))
    return (*itertools.product(("no", "yes"), repeat=len(answers)), *((one,) * len(answers) for one in special))
