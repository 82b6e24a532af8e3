"""What a kind of question is, and the kinds by name.

A kind is a file of `tacit.survey.kinds`, a script of `static/kinds` and its name in `KINDS`. Nobody else tests of which kind a
question is: how it is reported stands in its attributes, and for the rest its kind is asked.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import TYPE_CHECKING, Any

from tacit.channel.routing import NOT_ASKED
from tacit.survey.yaml_lines import Located

if TYPE_CHECKING:
    from tacit.survey.questionnaire import Question
    from tacit.survey.questionnaire_file import QuestionnaireReader

KINDS = ("yes-no", "choice", "scale", "number", "date", "several", "text", "grid")
PREFER_NOT_TO_SAY = "prefer not to say"
NO_ANSWER = "no answer"
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
Texts = dict[str, str]
Named = tuple[tuple[str, Texts], ...]


@dataclass(frozen=True)
class Answers:
    """Names and texts of a question's own answers; `edges` are where its ranges begin, if it has ranges."""

    named: Named
    ordered: bool = False
    edges: tuple[float | str, ...] = ()


class QuestionKind:
    """A question that is answered by one of its answers. A kind overrides what is otherwise with it."""

    own_key: str | None = None  # of a questionnaire's question: where its answers stand
    other_keys: tuple[str, ...] = ()  # further keys that only this kind has
    has_answers = True  # to choose from, or to be sorted into
    has_one_answer = True
    offers_not_to_say = True  # where the question is sensitive and nothing is said about it

    def read_questions(
        self, reader: QuestionnaireReader, item: Located, fields: dict[str, Located], name: str
    ) -> list[Question]:
        """What one entry of a questionnaire asks; `name` is the kind's."""
        return [reader.add(reader.question(item, fields, name), fields["name"])]

    def read_answers(self, entry: Located, reader: QuestionnaireReader) -> Answers:
        """The answers as the questionnaire lists them under `own_key`; without such a key `entry` is the whole question."""
        raise NotImplementedError

    def details(self, fields: dict[str, Located], answers: Answers) -> dict[str, Any]:
        """What a definition says of this kind of question only, under its names there."""
        return {}

    def check(self, question: Question, fields: dict[str, Located]) -> None:
        """Refuse what does not go with this kind."""

    def attributes(self, question: Question, special: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Names and answers of the attributes that such a question is reported as."""
        return ((question.name, (*(name for name, _ in question.answers), *special)),)


def file_name(kind: str) -> str:
    """What the module and the script of a kind are called."""
    return kind.replace("-", "_")


@cache
def kind_of(name: str) -> QuestionKind:
    """What is known of a kind of question."""
    kind: QuestionKind = importlib.import_module(f"tacit.survey.kinds.{file_name(name)}").KIND
    return kind


def key_owners() -> dict[str, list[str]]:
    """The keys of a question that only some kinds have, each with these kinds."""
    owners: dict[str, list[str]] = {}
    for name in KINDS:
        kind = kind_of(name)
        for key in (*([kind.own_key] if kind.own_key else []), *kind.other_keys):
            owners.setdefault(key, []).append(name)
    return owners


def read_texts(entry: Located, what: str, languages: tuple[str, ...]) -> Texts:
    """A text for each language; a plain text stands for the only one."""
    if not isinstance(entry.value, dict):
        if len(languages) > 1:
            entry.refuse(f"{what} needs a text for each language: {', '.join(languages)}.")
        return {languages[0]: entry.text(what)}
    given = entry.entries()
    for language, text in given.items():
        if language not in languages:
            text.refuse(f"{what} has a text in {language!r}, but languages lists {', '.join(languages)}.")
    missing = [language for language in languages if language not in given]
    if missing:
        entry.refuse(f"{what} has no text in {missing[0]!r}. Add it, or take the language out of languages.")
    return {language: given[language].text(what) for language in languages}


# Names of answers are what reports and exports hold; a sign before a digit is a number.
# Numbers and ranges such as -5 or "-5 to 0" are no formulas; -2+cmd|... is one. The wide forms are East Asian.
FORMULA = re.compile(r"\s*([=@＝＠\t\r]|[+\-＋－](?!\d[^=+*/^&|!(]*$))")


def named_texts(entry: Located, languages: tuple[str, ...], *, is_option: bool) -> Named:
    """Answers as a list of names, or as a mapping from names to texts."""
    if isinstance(entry.value, dict):
        pairs = [(name, text, read_texts(text, "An answer", languages)) for name, text in entry.entries().items()]
    else:
        named = [(item.text("An answer"), item) for item in entry.items("The answers")]
        if len(languages) > 1:
            entry.refuse("answers need texts in every language: write a mapping from each name to its texts.")
        pairs = [(name, item, {languages[0]: name}) for name, item in named]
    return check_names(pairs, is_option=is_option)


def check_names(pairs: list[tuple[str, Located, Texts]], *, is_option: bool) -> Named:
    times = Counter(name for name, _, _ in pairs)
    for name, place, _ in pairs:
        if times[name] > 1:
            place.refuse(f"the answer {name!r} stands here twice. Name each answer once.")
        if name in (PREFER_NOT_TO_SAY, NO_ANSWER, NOT_ASKED):
            place.refuse(f"the answer {name!r} is added by the page itself; see prefer_not_to_say, optional, when.")
        if FORMULA.match(name):
            place.refuse(
                f"the answer {name!r} begins as a formula does, which a spreadsheet that opens the reports would run. Give it a "
                "name, and this as its text behind it."
            )
        if is_option and not NAME.fullmatch(name):
            place.refuse(f"the option {name!r} needs a short name of a-z, 0-9 and _; give its text behind it.")
    return tuple((name, texts) for name, _, texts in pairs)


def in_every_language(pairs: list[tuple[str, str]], languages: tuple[str, ...]) -> Named:
    return tuple((name, dict.fromkeys(languages, text)) for name, text in pairs)


def read_day(entry: Located, what: str) -> date:
    try:
        return entry.value if isinstance(entry.value, date) else date.fromisoformat(entry.text(what))
    except ValueError:
        entry.refuse(f"{what} must be a day such as 2030-12-31, not {entry.plain()!r}.")
