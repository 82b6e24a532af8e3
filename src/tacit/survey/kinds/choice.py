"""One of several answers, which may stand in a file of thousands."""

from __future__ import annotations

from tacit.survey.answer_lists import check_count, is_file, read_file
from tacit.survey.question_kinds import Answers, QuestionKind, check_names, named_texts
from tacit.survey.questionnaire_file import QuestionnaireReader
from tacit.survey.yaml_lines import Located


class Choice(QuestionKind):
    """One of several answers."""

    own_key = "answers"

    def read_answers(self, entry: Located, reader: QuestionnaireReader) -> Answers:
        if is_file(entry):
            answers = check_names(read_file(entry, reader.folder, reader.languages), is_option=False)
        else:
            answers = named_texts(entry, reader.languages, is_option=False)
        check_count(entry, len(answers))
        if len(answers) < 2:
            entry.refuse("a choice needs at least two answers.")
        return Answers(answers)


KIND = Choice()
