"""Any number of options; each is reported as a no or yes of its own."""

from __future__ import annotations

from tacit.survey.answer_lists import check_count
from tacit.survey.question_kinds import Answers, QuestionKind, named_texts
from tacit.survey.questionnaire import Question
from tacit.survey.questionnaire_file import QuestionnaireReader
from tacit.survey.yaml_lines import Located


class Several(QuestionKind):
    """Any number of options."""

    own_key = "options"
    has_one_answer = False
    offers_not_to_say = False  # each option has a no already

    def read_answers(self, entry: Located, reader: QuestionnaireReader) -> Answers:
        options = named_texts(entry, reader.languages, is_option=True)
        check_count(entry, len(options))
        if not options:
            entry.refuse("a question of kind 'several' needs at least one option.")
        return Answers(options)

    def attributes(self, question: Question, special: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return tuple((f"{question.name}_{option}", ("no", "yes", *special)) for option, _ in question.answers)


KIND = Several()
