"""A scale of whole numbers, its ends in words."""

from __future__ import annotations

from tacit.survey.question_kinds import Answers, Named, QuestionKind, Texts, read_texts
from tacit.survey.questionnaire_file import QuestionnaireReader
from tacit.survey.yaml_lines import Located


class Scale(QuestionKind):
    """A step of a scale."""

    own_key = "scale"

    def read_answers(self, entry: Located, reader: QuestionnaireReader) -> Answers:
        return Answers(_steps(entry, reader.languages), ordered=True)


KIND = Scale()


def _steps(entry: Located, languages: tuple[str, ...]) -> Named:
    fields = entry.mapping("A scale", {"from": True, "to": True, "low": False, "high": False})
    low, high = fields["from"].number("from"), fields["to"].number("to")
    if low != int(low) or high != int(high) or not 1 <= high - low <= 20:
        entry.refuse(f"a scale goes up in whole steps from a number to one at most 20 above, not {low:g} to {high:g}.")
    numbers = [str(number) for number in range(int(low), int(high) + 1)]
    ends = {
        number: read_texts(fields[end], "The end of a scale", languages)
        for number, end in ((numbers[0], "low"), (numbers[-1], "high"))
        if end in fields
    }
    return tuple((number, _scale_texts(number, ends.get(number, {}), languages)) for number in numbers)


def _scale_texts(number: str, meaning: Texts, languages: tuple[str, ...]) -> Texts:
    return {lang: f"{number} ({meaning[lang]})" if lang in meaning else number for lang in languages}
