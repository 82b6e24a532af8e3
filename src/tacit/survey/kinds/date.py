"""A day, of which only the range that it falls into is an answer."""

from __future__ import annotations

import itertools
from datetime import timedelta

from tacit.survey.kinds.number import Number
from tacit.survey.question_kinds import Answers, in_every_language, read_day
from tacit.survey.questionnaire_file import QuestionnaireReader
from tacit.survey.yaml_lines import Located


class Day(Number):
    """A range of days."""

    is_typed = True

    def read_answers(self, entry: Located, reader: QuestionnaireReader) -> Answers:
        return _date_ranges(entry, reader.languages)


KIND = Day()


def _date_ranges(entry: Located, languages: tuple[str, ...]) -> Answers:
    days = [read_day(item, "An edge") for item in entry.items("ranges")]
    if not days or any(a >= b for a, b in itertools.pairwise(days)):
        entry.refuse(
            "ranges must be a list of ascending days, such as [1990-01-01, 2000-01-01]: where the next range begins."
        )
    last = [(day - timedelta(days=1)).isoformat() for day in days]
    inner = [
        (f"{a} to {b}", f"{a} – {b}") for a, b in zip((day.isoformat() for day in days[:-1]), last[1:], strict=True)
    ]
    pairs = [(f"before {days[0]}", f"< {days[0]}"), *inner, (f"{days[-1]} or later", f"≥ {days[-1]}")]
    return Answers(in_every_language(pairs, languages), ordered=True, edges=tuple(day.isoformat() for day in days))
