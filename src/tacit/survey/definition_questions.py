"""What the document of a definition asks: its questions, the versions that may be dealt, and how each answer is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tacit.survey.questionnaire import NO_ANSWER, PREFER_NOT_TO_SAY

Document = Mapping[str, Any]


def versions_of(document: Document) -> list[Document]:
    """The questionnaires of which each respondent is dealt one; a scheme without a deal has one."""
    scheme = document["scheme"]
    return list(scheme.get("questionnaires") or [{"name": None, "probability": 1, "groups": scheme["groups"]}])


def questions_of(document: Document) -> list[Document]:
    return [question for page in document["pages"] for question in page["questions"]]


def mode_of(question: Document) -> str:
    return str(question.get("mode") or ("disguised" if question["sensitive"] else "public"))


def mode_in(question: Document, deal: Document) -> str:
    """How a question is answered in one of the versions that may be dealt."""
    return str((question.get("arms") or {}).get(deal["name"], {}).get("mode") or mode_of(question))


def dealt_in(question: Document, deals: Sequence[Document]) -> set[Any]:
    """The versions that ask a question."""
    if not is_hidden(question):
        return set(question.get("deals") or [deal["name"] for deal in deals])
    names = set(attribute_names(question))
    return {deal["name"] for deal in deals if any(names & set(group["attributes"]) for group in deal["groups"])}


def is_hidden(question: Document) -> bool:
    return mode_of(question) in ("disguised", "self")


def special_answers(question: Document) -> list[str]:
    """What can be said in place of an answer, of all options at once."""
    return [PREFER_NOT_TO_SAY] * bool(question["declines"]) + [NO_ANSWER] * bool(question.get("optional"))


def attribute_names(question: Document) -> list[str]:
    return [attribute["attribute"] for attribute in question["attributes"]]


def has_one_answer(question: Document) -> bool:
    """Whether one attribute reports it, instead of one for each of its options, or none."""
    return [attribute["option"] for attribute in question["attributes"]] == [None]


def whole_text(question: Document, language: str) -> str:
    """A question's text, behind what it has in common with the others of its grid."""
    grid = question.get("grid")
    return f"{grid['text'][language]} {question['text'][language]}" if grid else str(question["text"][language])
