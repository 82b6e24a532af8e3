"""A number, of which only the range that it falls into is an answer: chosen from a list, or typed."""

from __future__ import annotations

import itertools
from typing import Any

from tacit.survey.question_kinds import Answers, QuestionKind, in_every_language
from tacit.survey.questionnaire_file import QuestionnaireReader, read_flag
from tacit.survey.yaml_lines import Located


class Number(QuestionKind):
    """A range of numbers."""

    own_key = "ranges"
    other_keys = ("typed",)
    is_typed = False  # unless the questionnaire says so

    def read_answers(self, entry: Located, reader: QuestionnaireReader) -> Answers:
        return _number_ranges(entry, reader.languages)

    def details(self, fields: dict[str, Located], answers: Answers) -> dict[str, Any]:
        return {"edges": list(answers.edges)} if read_flag(fields, "typed", default=self.is_typed) else {}


KIND = Number()


def _number_ranges(entry: Located, languages: tuple[str, ...]) -> Answers:
    edges = tuple(item.number("An edge") for item in entry.items("ranges"))
    if not edges or any(a >= b for a, b in itertools.pairwise(edges)):
        entry.refuse("ranges must be a list of ascending numbers: where one range ends and the next begins.")
    inner = [_between(a, b) for a, b in itertools.pairwise(edges)]
    pairs = [(f"below {edges[0]:g}", f"< {edges[0]:g}"), *inner, (f"{edges[-1]:g} or more", f"≥ {edges[-1]:g}")]
    return Answers(in_every_language(pairs, languages), ordered=True, edges=edges)


def _between(low: float, high: float) -> tuple[str, str]:
    """Name and language-free text of a range that holds `low` and not `high`."""
    if low == int(low) and high == int(high):
        last = int(high) - 1
        return (f"{low:g}", f"{low:g}") if last == low else (f"{low:g} to {last}", f"{low:g}–{last}")
    return f"{low:g} to below {high:g}", f"{low:g} – < {high:g}"
