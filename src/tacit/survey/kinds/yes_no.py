"""No or yes, in the words of the page."""

from __future__ import annotations

from tacit.survey.question_kinds import Answers, QuestionKind
from tacit.survey.questionnaire_file import QuestionnaireReader
from tacit.survey.yaml_lines import Located


class YesNo(QuestionKind):
    """No or yes."""

    def read_answers(self, entry: Located, reader: QuestionnaireReader) -> Answers:
        return Answers((("no", {}), ("yes", {})))


KIND = YesNo()
