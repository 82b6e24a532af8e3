"""Groups and channels: as the questionnaire writes them, else proposed from a privacy level in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.channel import KINDS
from tacit.channel.routing import Asked, Routing
from tacit.design.question import QuestionChoices, choose_channel, usual_purpose
from tacit.errors import InvalidInput, suggestion
from tacit.schema import Attribute
from tacit.survey.answer_lists import IN_DEFINITION
from tacit.survey.blocks import is_block, legal_records, planned_channel
from tacit.survey.questionnaire import NOT_ASKED, Question, SurveyQuestionnaire, WrittenGroup
from tacit.survey.routes import routing_of
from tacit.survey.series import split_gamma
from tacit.survey.yaml_lines import Located

# How many times likelier than before a report may make any answer (gamma). In plain words, for a yes/no question about
# which nothing was known: how sure its best guesser becomes of a respondent's answer.
LEVELS = {
    "light": 9.0,  # 9 out of 10
    "moderate": 4.0,  # 8 out of 10
    "strong": 7 / 3,  # 7 out of 10
    "very strong": 1.5,  # 6 out of 10
}
# Words for levels that are not theirs, by what they mean: alike spellings would lead from "high" to "light".
OTHER_LEVELS = {
    **dict.fromkeys(("very high", "highest", "maximum", "max", "very good", "strongest"), "very strong"),
    **dict.fromkeys(("high", "good", "strict", "hard", "large"), "strong"),
    **dict.fromkeys(("medium", "middle", "normal", "average", "standard", "default"), "moderate"),
    **dict.fromkeys(("low", "weak", "little", "small", "minimum", "min", "none", "off"), "light"),
}

GroupDocument = dict[str, Any]


def groups_of(questionnaire: SurveyQuestionnaire) -> list[GroupDocument]:
    """Every sensitive attribute in exactly one group: written, unrelated, or at the wanted level.

    Questions that routing connects share a group on their legal records; all others have one of their own.
    """
    return _Proposal(questionnaire).groups()


def attribute_of(question: Question, name: str, answers: tuple[str, ...]) -> Attribute:
    """The attribute of a question; an empty cell of a truth file is read as not asked where that can be."""
    missing = NOT_ASKED if question.when or question.deals else None
    return Attribute(name, answers, ordered=question.ordered, missing=missing)


class _Proposal:
    """The groups of one questionnaire, with its routing at hand."""

    def __init__(self, questionnaire: SurveyQuestionnaire) -> None:
        self.questionnaire = questionnaire
        self.questions = {question.name: question for question in questionnaire.questions}
        self.routing: Routing = routing_of(questionnaire.questions)
        self.placed: set[str] = set()

    def groups(self) -> list[GroupDocument]:
        groups = [self.written(group) for group in self.questionnaire.groups]
        for block in self.routing.blocks():
            if not any(question.name in self.placed for question in block):
                groups.extend(self.proposed(block))
        return groups

    def attributes(self, block: Sequence[Asked]) -> list[Attribute]:
        return [
            attribute_of(self.questions[question.name], name, answers)
            for question in block
            for name, answers in self.questions[question.name].attributes
        ]

    def records(self, block: Sequence[Asked], place: Located) -> dict[str, Any]:
        """The legal records of a block, for its group's document; nothing where its attributes are free."""
        attributes = self.attributes(block)
        try:
            return {"records": legal_records(self.routing, block, attributes).to_document()}
        except InvalidInput as error:
            place.refuse(str(error))

    def written(self, written: WrittenGroup) -> GroupDocument:
        for name in written.questions:
            self.check_member(written, name)
            if written.prior and len(self.questions[name].answers) > IN_DEFINITION:
                written.place.refuse(
                    f"a prior can be stated for at most {IN_DEFINITION} answers, and {name!r} has "
                    f"{len(self.questions[name].answers):,}. Leave the prior out: every answer then counts as equally likely."
                )
        if not written.questions:
            written.place.refuse("a group needs at least one sensitive question.")
        channel = written_channel(written.channel)
        # In the order in which they are asked, filters first: the even prior goes along the routing.
        members = [question for question in self.routing.questions if question.name in written.questions]
        blocks = [
            block
            for block in self.routing.blocks()
            if is_block(block) and {question.name for question in block} & set(written.questions)
        ]
        for block in blocks:
            self.check_whole(written, block)
        names = [member.name for member in members] if blocks else list(written.questions)
        group: GroupDocument = {
            "attributes": [name for one in names for name, _ in self.questions[one].attributes],
            "channel": channel,
            "place": written.place,
        }
        group |= self.records(members, written.place) if blocks else {}
        return group | ({"prior": list(written.prior)} if written.prior else {})

    def check_member(self, written: WrittenGroup, name: str) -> None:
        if name not in self.questions:
            written.place.refuse(
                f"the group names a question {name!r} that does not exist. {suggestion(name, self.questions)}"
            )
        question = self.questions[name]
        if not question.is_hidden:
            how = "public" if question.mode == "public" else "asked directly"
            written.place.refuse(
                f"the group holds {name!r}, which is {how}. Mark it with sensitive: true, or take it out of the group."
            )
        if name in self.placed:
            written.place.refuse(f"{name!r} is in two groups; each question is disguised once. Take it out of one.")
        if question.unrelated is not None:
            written.place.refuse(f"{name!r} has an unrelated question, which is its channel. Take it out of the group.")
        self.placed.add(name)

    def check_whole(self, written: WrittenGroup, block: Sequence[Asked]) -> None:
        missing = [question.name for question in block if question.name not in written.questions]
        if missing:
            names = ", ".join(question.name for question in block)
            written.place.refuse(
                f"the group splits {names}, which routing connects: a follow-up tells its filter again. Put "
                f"{', '.join(missing)} into the group as well, or leave them all to the privacy level."
            )

    def proposed(self, block: Sequence[Asked]) -> list[GroupDocument]:
        first = self.questions[block[0].name]
        if is_block(block):
            return [self.proposed_block(block)]
        if first.unrelated is not None:
            channel = {
                "kind": "mixture",
                "keep": first.unrelated.keep,
                "personal": list(first.unrelated.distribution),
            }
            return [{"attributes": [first.name], "channel": channel, "place": first.place}]
        return [
            {"attributes": [name], "channel": self.chosen_channel(first, answers), "place": first.place}
            for name, answers in first.attributes
        ]

    def chosen_channel(self, question: Question, answers: Sequence[str]) -> dict[str, Any]:
        """The channel with the fewest respondents for what the question is asked for."""
        try:
            recipe = question_choices(question, answers, self.gamma(question)).chosen.recipe
        except InvalidInput as error:
            question.place.refuse(str(error))
        return {"kind": recipe.kind, **recipe.parameters}

    def proposed_block(self, block: Sequence[Asked]) -> GroupDocument:
        for question in block:
            if self.questions[question.name].unrelated is not None:
                self.questions[question.name].place.refuse(
                    f"{question.name!r} has an unrelated question, but routing connects it with "
                    f"{', '.join(other.name for other in block if other is not question)}: together they would tell more than "
                    "its channel allows. Take the unrelated question out, or ask without conditions."
                )
        last = self.questions[block[-1].name]
        gamma = self.gamma(self.questions[block[0].name])
        attributes = self.attributes(block)
        try:
            records = legal_records(self.routing, block, attributes)
            channel = planned_channel(block, records, gamma, self.questionnaire.together)
        except InvalidInput as error:
            last.place.refuse(str(error))
        names = [attribute.name for attribute in attributes]
        return {"attributes": names, "records": records.to_document(), "channel": channel, "place": last.place}

    def gamma(self, question: Question) -> float:
        level, cap, waves = self.questionnaire.privacy, self.questionnaire.series_gamma, self.questionnaire.waves
        if level is None and cap is not None and waves is not None:
            return split_gamma(cap, waves)
        if level is None:
            question.place.refuse(
                f"the sensitive question {question.name!r} is in no group. Put it in one, or state a level for all that are "
                f"in none, such as privacy: strong ({', '.join(LEVELS)})."
            )
        return LEVELS[level]


def question_choices(question: Question, answers: Sequence[str], gamma: float) -> QuestionChoices:
    """The channels for one attribute of a question, the best for its purpose first."""
    purpose = question.estimate or usual_purpose(len(answers), has_numbers=question.numbers is not None)
    return choose_channel(len(answers), gamma, purpose, question.numbers)


def written_channel(entry: Located) -> dict[str, Any]:
    """A channel as the questionnaire writes it."""
    channel = entry.plain()
    if not isinstance(channel, dict) or "kind" not in channel:
        entry.refuse(f"a channel must be a mapping with a kind, one of {', '.join(KINDS)}.")
    if channel["kind"] not in KINDS:
        entry.refuse(f"the channel kind {channel['kind']!r} does not exist. {suggestion(str(channel['kind']), KINDS)}")
    return channel
