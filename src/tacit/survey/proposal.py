"""Groups and channels: as the questionnaire writes them, else proposed from a privacy level in words."""

from __future__ import annotations

import difflib
from typing import Any

from tacit.channel import KINDS
from tacit.errors import suggestion
from tacit.survey.questionnaire import Question, Questionnaire, WrittenGroup

# How many times likelier than before a report may make any answer (gamma). In plain words, for a yes/no question about
# which nothing was known: how sure its best guesser becomes of a respondent's answer.
LEVELS = {
    "light": 9.0,  # 9 out of 10
    "moderate": 4.0,  # 8 out of 10
    "strong": 7 / 3,  # 7 out of 10
    "very strong": 1.5,  # 6 out of 10
}

GroupDocument = dict[str, Any]


def groups_of(questionnaire: Questionnaire) -> list[GroupDocument]:
    """Every sensitive attribute in exactly one group: written, unrelated, or one of its own at the wanted level."""
    questions = {question.name: question for question in questionnaire.questions}
    placed: dict[str, WrittenGroup | Question] = {}
    groups: list[GroupDocument] = []
    for written in questionnaire.groups:
        groups.extend(_written(written, questions, placed))
    for question in questionnaire.questions:
        if question.is_sensitive and question.name not in placed:
            groups.extend(_proposed(question, questionnaire))
    return groups


def _written(
    written: WrittenGroup, questions: dict[str, Question], placed: dict[str, WrittenGroup | Question]
) -> list[GroupDocument]:
    members = [_member(written, name, questions, placed) for name in written.questions]
    if not members:
        written.place.refuse("a group needs at least one sensitive question.")
    channel = written.channel.plain()
    if not isinstance(channel, dict) or "kind" not in channel:
        written.channel.refuse(f"a channel must be a mapping with a kind, one of {', '.join(KINDS)}.")
    if channel["kind"] not in KINDS:
        written.channel.refuse(
            f"the channel kind {channel['kind']!r} does not exist. {suggestion(str(channel['kind']), KINDS)}"
        )
    attributes = [name for question in members for name, _ in question.attributes]
    group: GroupDocument = {"attributes": attributes, "channel": channel, "place": written.place}
    return [group | ({"prior": list(written.prior)} if written.prior else {})]


def _member(
    written: WrittenGroup, name: str, questions: dict[str, Question], placed: dict[str, WrittenGroup | Question]
) -> Question:
    if name not in questions:
        written.place.refuse(f"the group names a question {name!r} that does not exist. {suggestion(name, questions)}")
    question = questions[name]
    if not question.is_sensitive:
        written.place.refuse(
            f"the group holds {name!r}, which is public. Mark it with sensitive: true, or take it out of the group."
        )
    if name in placed:
        written.place.refuse(f"{name!r} is in two groups; each question is disguised once. Take it out of one.")
    if question.unrelated is not None:
        written.place.refuse(f"{name!r} has an unrelated question, which is its channel. Take it out of the group.")
    placed[name] = written
    return question


def _proposed(question: Question, questionnaire: Questionnaire) -> list[GroupDocument]:
    if question.unrelated is not None:
        channel = {
            "kind": "mixture",
            "keep": question.unrelated.keep,
            "personal": list(question.unrelated.distribution),
        }
        return [{"attributes": [question.name], "channel": channel, "place": question.place}]
    level = questionnaire.privacy
    if level is None:
        question.place.refuse(
            f"the sensitive question {question.name!r} is in no group. Put it in one, or state a level for all that are "
            f"in none, such as privacy: strong ({', '.join(LEVELS)})."
        )
    if level not in LEVELS:
        close = difflib.get_close_matches(level, LEVELS, n=1) or list(LEVELS)
        questionnaire.place.refuse(
            f"the privacy level {level!r} does not exist; did you mean {close[0]!r}? Levels: {', '.join(LEVELS)}."
        )
    return [
        {"attributes": [name], "channel": {"kind": "gamma-diagonal", "gamma": LEVELS[level]}, "place": question.place}
        for name, _ in question.attributes
    ]
