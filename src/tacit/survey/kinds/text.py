"""What people write in words of their own: nothing can disguise it, so it is sent in the clear and kept apart from reports."""

from __future__ import annotations

from typing import Any

from tacit.survey.question_kinds import Answers, QuestionKind
from tacit.survey.questionnaire import LONGEST_TEXT, LONGEST_TEXTS, Question
from tacit.survey.questionnaire_file import QuestionnaireReader
from tacit.survey.yaml_lines import Located


class OpenText(QuestionKind):
    """A text of the respondent's own."""

    other_keys = ("longest",)
    has_answers = has_one_answer = False
    offers_not_to_say = False

    def read_answers(self, entry: Located, reader: QuestionnaireReader) -> Answers:
        return Answers(())

    def details(self, fields: dict[str, Located], answers: Answers) -> dict[str, Any]:
        if "longest" not in fields:
            return {"longest": LONGEST_TEXT}
        longest = fields["longest"].number("longest")
        if longest != int(longest) or not 1 <= longest <= LONGEST_TEXTS:
            fields["longest"].refuse(
                f"longest must be a whole number of characters up to {LONGEST_TEXTS:,}, not {longest!r}."
            )
        return {"longest": int(longest)}

    def check(self, question: Question, fields: dict[str, Located]) -> None:
        if question.mode != "public":
            fields["mode" if "mode" in fields else "sensitive"].refuse(
                f"the open text {question.name!r} is called sensitive, but nothing can disguise what people write, and it "
                "identifies them. Mark it with sensitive: false, or offer answers to choose from (kind: choice)."
            )
        if question.may_decline:
            fields["prefer_not_to_say"].refuse("an open text can be left empty: write optional: true.")

    def attributes(self, question: Question, special: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return ()


KIND = OpenText()
