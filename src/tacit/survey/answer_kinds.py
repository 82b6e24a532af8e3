"""The answers of each kind of question, as a questionnaire writes them: names and texts, and where ranges begin."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from tacit.survey.answer_lists import check_count, is_file, read_file
from tacit.survey.questionnaire import NO_ANSWER, NOT_ASKED, PREFER_NOT_TO_SAY, Texts
from tacit.survey.yaml_lines import Located

NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
# What each kind needs beside its text.
OWN_KEY = {
    "choice": "answers", "scale": "scale", "number": "ranges", "date": "ranges", "several": "options",
}  # fmt: skip
Named = tuple[tuple[str, Texts], ...]


@dataclass(frozen=True)
class Answers:
    """Names and texts of a question's own answers; `edges` are where its ranges begin, if it has ranges."""

    named: Named
    ordered: bool = False
    edges: tuple[float | str, ...] = ()


def read_answers(
    kind: str, item: Located, fields: dict[str, Located], languages: tuple[str, ...], folder: Path | None = None
) -> Answers:
    """The answers of a question of this kind; files of answers are looked for in `folder`."""
    if kind == "text":
        return Answers(())
    if kind == "yes-no":
        return Answers((("no", {}), ("yes", {})))
    if OWN_KEY[kind] not in fields:
        item.refuse(f"a question of kind {kind!r} needs the key {OWN_KEY[kind]!r}.")
    entry = fields[OWN_KEY[kind]]
    if kind == "scale":
        return Answers(_scale(entry, languages), ordered=True)
    if kind == "number":
        return _number_ranges(entry, languages)
    if kind == "date":
        return _date_ranges(entry, languages)
    is_option = kind == "several"
    if is_file(entry) and not is_option:
        answers = _checked_names(read_file(entry, folder, languages), is_option=False)
    else:
        answers = named_texts(entry, languages, is_option=is_option)
    check_count(entry, len(answers))
    if len(answers) < 2 and kind == "choice":
        entry.refuse("a choice needs at least two answers.")
    if not answers:
        entry.refuse("a question of kind 'several' needs at least one option.")
    return Answers(answers)


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
    return _checked_names(pairs, is_option=is_option)


def _checked_names(pairs: list[tuple[str, Located, Texts]], *, is_option: bool) -> Named:
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


def _scale(entry: Located, languages: tuple[str, ...]) -> Named:
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


def _number_ranges(entry: Located, languages: tuple[str, ...]) -> Answers:
    edges = tuple(item.number("An edge") for item in entry.items("ranges"))
    if not edges or any(a >= b for a, b in itertools.pairwise(edges)):
        entry.refuse("ranges must be a list of ascending numbers: where one range ends and the next begins.")
    inner = [_between(a, b) for a, b in itertools.pairwise(edges)]
    pairs = [(f"below {edges[0]:g}", f"< {edges[0]:g}"), *inner, (f"{edges[-1]:g} or more", f"≥ {edges[-1]:g}")]
    return Answers(_in_every(pairs, languages), ordered=True, edges=edges)


def _in_every(pairs: list[tuple[str, str]], languages: tuple[str, ...]) -> Named:
    return tuple((name, dict.fromkeys(languages, text)) for name, text in pairs)


def _between(low: float, high: float) -> tuple[str, str]:
    """Name and language-free text of a range that holds `low` and not `high`."""
    if low == int(low) and high == int(high):
        last = int(high) - 1
        return (f"{low:g}", f"{low:g}") if last == low else (f"{low:g} to {last}", f"{low:g}–{last}")
    return f"{low:g} to below {high:g}", f"{low:g} – < {high:g}"


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
    return Answers(_in_every(pairs, languages), ordered=True, edges=tuple(day.isoformat() for day in days))


def read_day(entry: Located, what: str) -> date:
    try:
        return entry.value if isinstance(entry.value, date) else date.fromisoformat(entry.text(what))
    except ValueError:
        entry.refuse(f"{what} must be a day such as 2030-12-31, not {entry.plain()!r}.")
