"""A scale of whole numbers, its ends or each of its steps in words."""

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
    keys = ("from", "to", "low", "high", "labels")
    fields = entry.mapping("A scale", dict.fromkeys(keys, False))
    if "labels" in fields:
        return _labelled_steps(entry, fields, languages)
    for key in ("from", "to"):
        if key not in fields:
            entry.refuse(
                f"A scale needs the key {key!r}, or labels: [never, rarely, often], a word for each of its steps."
            )
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


def _labelled_steps(entry: Located, fields: dict[str, Located], languages: tuple[str, ...]) -> Named:
    labels = [read_texts(label, "A label", languages) for label in fields["labels"].items("labels")]
    first = fields["from"].number("from") if "from" in fields else 1
    if not 2 <= len(labels) <= 21 or first != int(first) or fields.keys() & {"low", "high"}:
        entry.refuse("labels name each step of a scale, from 2 to 21 of them, and go without low and high.")
    if "to" in fields and fields["to"].number("to") != first + len(labels) - 1:
        entry.refuse(
            f"a scale from {first:g} with {len(labels)} labels ends at {first + len(labels) - 1:g}. Leave `to` out."
        )
    numbers = [str(int(first) + step) for step in range(len(labels))]
    return tuple(
        (number, _scale_texts(number, texts, languages)) for number, texts in zip(numbers, labels, strict=True)
    )


def _scale_texts(number: str, meaning: Texts, languages: tuple[str, ...]) -> Texts:
    return {lang: f"{number} ({meaning[lang]})" if lang in meaning else number for lang in languages}
