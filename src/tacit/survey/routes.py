"""The routing of a questionnaire: which questions are asked only after which answers, and what that connects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from tacit.channel.routing import NOT_ASKED, Asked, Condition, Routing, Ways
from tacit.survey.definition_questions import Document, attribute_names, has_one_answer, is_hidden, special_answers
from tacit.survey.questionnaire import Question


def routing_of(questions: Iterable[Question]) -> Routing:
    """The routing of a questionnaire as it is written."""
    return Routing(
        tuple(
            Asked(
                question.name,
                tuple(name for name, _ in question.attributes),
                ways_to_answer(
                    None if question.has_one_answer else len(question.attributes),
                    [name for name, _ in question.answers],
                    question.special,
                ),
                is_public=not question.is_hidden,
                alternatives=tuple(
                    tuple(
                        (_reported_as(condition.question, condition.option), frozenset(condition.answers))
                        for condition in alternative
                    )
                    for alternative in question.when
                ),
            )
            for question in questions
            if question.attributes
        )
    )


def _reported_as(question: str, option: str | None) -> str:
    """The attribute of a question, or of one of its options."""
    return question if option is None else f"{question}_{option}"


def routing_of_documents(questions: Iterable[Document]) -> Routing:
    """The routing of the questions of a frozen definition."""
    listed = [question for question in questions if question["attributes"]]
    reported = attributes_of(listed)
    return Routing(tuple(asked_of(question, reported) for question in listed))


def asked_of(
    question: Document,
    reported: Mapping[tuple[str, str | None], str],
    elsewhere: Set[str] = frozenset(),
    *,
    is_absent: bool = False,
) -> Asked:
    """A question of a definition as far as it is reported: attributes that are disguised `elsewhere` are left out.

    A public question that a version does not ask is absent: everybody's answer is that it was not asked.
    """
    names = [name for name in attribute_names(question) if name not in elsewhere]
    own_names = [answer["name"] for answer in question["answers"]]
    return Asked(
        question["name"],
        tuple(names),
        Ways(((NOT_ASKED,),) * len(names))
        if is_absent
        else ways_to_answer(None if has_one_answer(question) else len(names), own_names, special_answers(question)),
        is_public=not is_hidden(question),
        alternatives=conditions_on(question, reported),
    )


def attributes_of(questions: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str | None], str]:
    """The attribute of each question, and of each option of those that have several."""
    return {
        (question["name"], attribute["option"]): attribute["attribute"]
        for question in questions
        for attribute in question["attributes"]
    }


def alternatives_of(when: Sequence[Any]) -> list[list[Any]]:
    """The lists of conditions of which one must hold whole; none where something always holds."""
    if len(when) == 1 and "any" in when[0]:
        return [list(alternative) for alternative in when[0]["any"]]
    return [list(when)] if when else []


def conditions_of(question: Mapping[str, Any]) -> list[Any]:
    """Every condition that a question depends on, whatever the others say."""
    return [condition for alternative in alternatives_of(question["when"]) for condition in alternative]


def conditions_on(
    question: Mapping[str, Any], reported: Mapping[tuple[str, str | None], str]
) -> tuple[tuple[Condition, ...], ...]:
    """The alternatives of a question of a definition, on the attributes that report the earlier answers."""
    return tuple(
        tuple(
            (reported[condition["question"], condition.get("option")], frozenset(condition["answers"]))
            for condition in alternative
        )
        for alternative in alternatives_of(question["when"])
    )


def ways_to_answer(options: int | None, answers: Sequence[str], special: Sequence[str]) -> Ways:
    """Every way to answer a question of so many options, or with one of its answers."""
    if options is None:
        return Ways(((*answers, *special),))
    return Ways((("no", "yes"),) * options, tuple(special))
