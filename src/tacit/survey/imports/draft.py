"""A questionnaire that another tool's file becomes: what is carried over, and a list of what is not.

Everything that cannot be carried over is named with what to do instead; nothing is dropped without a word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from tacit.errors import InvalidInput
from tacit.schema import RESERVED
from tacit.survey.imports.expressions import answers_after, asks_for_other_answers
from tacit.survey.objections import OWN_TO_OBJECTS
from tacit.survey.question_kinds import FORMULA, kind_of
from tacit.survey.questionnaire import LONGEST_TEXT, LONGEST_TEXTS, NO_ANSWER, NOT_ASKED, PREFER_NOT_TO_SAY
from tacit.survey.words import RELEASED, released_words

Texts = dict[str, str]

INTRODUCTION = "Say here why you ask, and what becomes of the answers."
CONTACT = "Say here who asks, and how to reach them."
LONGEST_SCALE = 20
# Where ranges of days begin when a file says nothing about them: most days that are asked for lie within a life.
DAYS = (date(1960, 1, 1), date(1980, 1, 1), date(2000, 1, 1))
_REPEATED = re.compile(r"\$?\{([^{}]+)\}")


@dataclass
class Draft:
    """A questionnaire being carried over from another tool."""

    name: str
    languages: tuple[str, ...] = ("en",)
    title: Texts = field(default_factory=dict)
    introduction: Texts = field(default_factory=dict)
    pages: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    carried: dict[str, str] = field(default_factory=dict)  # the other tool's names of questions, and ours
    taken: set[str] = field(
        default_factory=lambda: {RESERVED, *OWN_TO_OBJECTS}
    )  # names that no further question can have
    answers: dict[str, dict[str, str]] = field(default_factory=dict)  # of a question: their values, and ours
    options: dict[str, dict[str, str]] = field(default_factory=dict)  # the same of those with several answers
    conditions: dict[str, str] = field(
        default_factory=dict
    )  # of our questions, as they were written, carried over or not

    def leave_out(self, what: str, way: str) -> None:
        self.left_out.append(f"{what}: {way}")

    def own_name(self, given: str) -> str:
        """A question's name as questionnaires here want it, given to no other question."""
        base = re.sub(r"[^a-z0-9]+", "_", given.lower()).strip("_")[:36] or "question"
        base = base if base[0].isalpha() else f"q_{base}"
        name, number = base, 2
        while name in self.taken:
            name, number = f"{base}_{number}", number + 1
        self.taken.add(name)
        self.carried[given] = name
        if name != given:
            self.leave_out(
                f"the name {given!r}", f"names are short words of a-z, 0-9 and _; it is called {name!r} here."
            )
        return name

    def page(self, title: Texts | None) -> None:
        """Start a page; one that stays empty is not written."""
        self.pages.append({**({"title": self.text(title)} if title else {}), "questions": []})

    def add(self, given: str, kind: str, text: Texts, **own: Any) -> dict[str, Any]:
        """A question of the newest page."""
        if not self.pages:
            self.page(None)
        question = {"name": self.own_name(given), "kind": kind, "text": self.text(text or {}), "sensitive": True, **own}
        self.pages[-1]["questions"].append(question)
        return question

    def text(self, texts: Texts) -> Any:
        """A text in every language of the questionnaire; where one is missing, that of the first stands in."""
        first = next((texts[language] for language in self.languages if texts.get(language)), "?")
        whole = {language: texts.get(language) or first for language in self.languages}
        return whole[self.languages[0]] if len(self.languages) == 1 else whole

    def choice(self, given: str, text: Texts, answers: Sequence[tuple[str, Texts]]) -> dict[str, Any] | None:
        """One of several answers; no and yes alone are a question of their own kind."""
        answers = self._once(given, answers)
        if len(answers) < 2:
            self.leave_out(f"the question {given!r}", "it has fewer than two answers. Write it anew, or leave it out.")
            return None
        names = self._harmless(given, [value for value, _ in answers])
        if {name.lower() for name in names} == {"yes", "no"} and self._are_the_pages_words(answers):
            self.answers[given] = {value: value.lower() for value in names}
            return self.add(given, "yes-no", text)
        self.answers[given] = names
        return self.add(given, "choice", text, answers={names[value]: self.text(label) for value, label in answers})

    def _harmless(self, given: str, values: Sequence[str]) -> dict[str, str]:
        """The names of answers here: their values, unless a spreadsheet would run them or the page means something by them."""
        names = {}
        for number, value in enumerate(values, 1):
            is_taken = value in (PREFER_NOT_TO_SAY, NO_ANSWER, NOT_ASKED)
            names[value] = f"answer {number}" if is_taken or FORMULA.match(value) else value
            if names[value] != value:
                why = "the page itself gives it a meaning" if is_taken else "a spreadsheet would run it"
                self.leave_out(f"the value {value!r} of {given!r}", f"{why}; it is called {names[value]!r} here.")
        return names

    def _are_the_pages_words(self, answers: Sequence[tuple[str, Texts]]) -> bool:
        """Whether yes and no read as the page's own: other texts are other answers."""
        for language in self.languages:
            page_answers = json.loads(released_words(language))["answers"] if language in RELEASED else {}
            for value, label in answers:
                if label.get(language, value).casefold() not in (
                    value.casefold(),
                    page_answers.get(value.lower(), "").casefold(),
                ):
                    return False
        return True

    def shuffle(self, question: dict[str, Any] | None) -> dict[str, Any] | None:
        """Draw the order of a question's answers on the device, unless it is no or yes."""
        if question is not None and question.keys() & {"answers", "options"}:
            question["shuffle"] = True
        return question

    def several(self, given: str, text: Texts, options: Sequence[tuple[str, Texts]]) -> dict[str, Any] | None:
        """Any of several options, each under a short name of its own."""
        if not options:
            self.leave_out(
                f"the question {given!r}", "it has no answers. Write it anew with its options, or leave it out."
            )
            return None
        short: dict[str, str] = {}
        for value, _ in (options := self._once(given, options)):
            base = re.sub(r"[^a-z0-9]+", "_", value.lower()).strip("_") or "option"
            base = base if base[0].isalpha() else f"o_{base}"
            name, number = base, 2
            while name in short.values():
                name, number = f"{base}_{number}", number + 1
            short[value] = name
        self.options[given] = short
        return self.add(given, "several", text, options={short[value]: self.text(label) for value, label in options})

    def _once(self, given: str, answers: Sequence[tuple[str, Texts]]) -> list[tuple[str, Texts]]:
        """Each value with its first text; one that is listed again could not be told from it."""
        first: dict[str, Texts] = {}
        for value, label in answers:
            if value in first:
                self.leave_out(
                    f"the answer {value!r} of {given!r}",
                    "it is listed twice; the first one stays. Give the other its own value.",
                )
            first.setdefault(value, label)
        return list(first.items())

    def scale(self, given: str, text: Texts, first: int, last: int, **meanings: Any) -> dict[str, Any]:
        """A step on a scale of whole numbers."""
        self.answers[given] = {str(step): str(step) for step in range(first, last + 1)}
        return self.add(given, "scale", text, scale={"from": first, "to": last, **meanings})

    def number(self, given: str, text: Texts, low: float | None, high: float | None) -> dict[str, Any] | None:
        """A number, cut into ranges: reports hold answers from a list, so a range has to be chosen before."""
        if low is None or high is None or high <= low:
            self.leave_out(
                f"the number {given!r}",
                "numbers are asked in ranges, and the file gives no least and greatest value. Add it with kind: number and "
                "ranges: [...], where one range ends and the next begins.",
            )
            return None
        edges = sorted({_round(low + (high - low) * quarter / 4) for quarter in (1, 2, 3)})
        self.leave_out(
            f"the exact number of {given!r}", f"it is asked in ranges: {edges}. Change them where others say more."
        )
        return self.add(given, "number", text, ranges=edges)

    def day(self, given: str, text: Texts, low: date | None, high: date | None) -> dict[str, Any] | None:
        """A day, of which the range it lies in is the answer."""
        if low is not None and high is not None and low < high:
            edges = _days_between(low, high)
        else:
            edges = [day for day in DAYS if (low is None or low < day) and (high is None or day < high)]
        if not edges:
            self.leave_out(
                f"the day {given!r}",
                f"days are asked in ranges, and none is clear between {low or 'any day'} and {high or 'any day'}. Add it with "
                "kind: date and ranges: [...], where one range ends and the next begins.",
            )
            return None
        said = ", ".join(map(str, edges))
        self.leave_out(
            f"the exact day of {given!r}",
            f"it is asked in ranges that begin {said}. Change them where others say more.",
        )
        return self.add(given, "date", text, ranges=edges)

    def open_text(
        self, given: str, text: Texts, *, longest: int | None = None, is_required: bool = False, only_if: str = ""
    ) -> dict[str, Any] | None:
        """What people write. Nothing can disguise it, so it is public, or not asked where others' answers decide about it."""
        if only_if:
            self._leave_out_text(given, f"it is asked only if {only_if}, and writing something would tell that")
            return None
        self.leave_out(
            _undisguised_text(given),
            "nothing can disguise what people write, and it identifies them, so it is public and the page warns of it. Take "
            "it out if anything sensitive could be written there.",
        )
        keys = {"longest": min(longest or LONGEST_TEXT, LONGEST_TEXT)} | ({} if is_required else {"optional": True})
        return self.add(given, "text", text, **keys)

    def _leave_out_text(self, given: str, why: str) -> None:
        self.left_out = [line for line in self.left_out if not line.startswith(_undisguised_text(given))]
        self.leave_out(
            f"the open text {given!r}",
            f"{why}; nothing can disguise it. Offer answers to choose from (kind: choice).",
        )

    def condition(self, given: str, question: dict[str, Any] | None, *texts: str, left: str = "") -> None:
        """Ask `question` only where all of these conditions hold; those that cannot be carried over are named.

        `left` are the conditions of what it stands in that were not carried over.
        """
        texts = tuple(filter(None, texts))
        if question is not None:
            self.conditions[question["name"]] = " ".join((*texts, left))
        if question is None or not texts:
            return
        said = " and ".join(f"({text})" for text in texts) if len(texts) > 1 else texts[0]
        when = self.when(said, given)
        if when is None and not _has_answers(question):
            self._leave_out_text(given, f"it is asked only if {said}, and writing something would tell that")
            self._remove(question)
        elif when is None:
            self.leave_out(
                f"the condition of {given!r} ({said})",
                "it is asked of everybody. Conditions that can be carried over compare questions with answers from a list, "
                "joined by and, or and not.",
            )
        else:
            question["when"] = when
            self._name_unanswered(given, said)

    def _name_unanswered(self, given: str, said: str) -> None:
        """Other tools ask after "not this answer" also where there was no answer at all."""
        if asks_for_other_answers(said):
            self.leave_out(
                f"the condition of {given!r} ({said})",
                "who gave no answer there is not asked here. Name 'prefer not to say' under when too, if they should be.",
            )

    def when(self, text: str, of: str | None = None) -> Any:
        """A condition as questionnaires here write it: a mapping, or a list of which one must hold; None if it cannot be.

        A question cannot depend on its own answer.
        """
        ways = answers_after(text, self.answers, self.options) or []
        if any(of in way for way in ways):
            return None
        written = [
            {self.carried[name]: answers[0] if len(answers) == 1 else answers for name, answers in way.items()}
            for way in ways
        ]
        return None if not written else written[0] if len(written) == 1 else written

    def _remove(self, question: dict[str, Any]) -> None:
        for page in self.pages:
            page["questions"] = [one for one in page["questions"] if one is not question]

    def document(self, public: Sequence[str], sensitive: Sequence[str] | None) -> dict[str, Any]:
        """The questionnaire as it is written to YAML. Every question is sensitive unless it is said to be public."""
        questions = self._questions()
        if not questions:
            why = ": " + " ".join(self.left_out) if self.left_out else ", because it holds none."
            raise InvalidInput("No question of the file can be carried over" + why)
        for name in (*public, *(sensitive or ())):
            if name not in questions:
                raise InvalidInput(f"There is no question {name!r}. There are {', '.join(map(repr, questions))}.")
            if not _has_answers(questions[name]) and name not in public:
                raise InvalidInput(
                    f"{name!r} is an open text: nothing can disguise what people write. Leave it out of the sensitive ones."
                )
        for name, question in questions.items():
            is_sensitive = name not in public if sensitive is None else name in sensitive
            question["sensitive"] = is_sensitive and _has_answers(question)
        self._inherit_sensitivity(questions, public)
        if not any(_has_answers(question) for question in questions.values()):
            raise InvalidInput("Nothing in the file can be disguised: " + " ".join(self.left_out))
        self._shorten_texts()
        self._repeat_answers()
        for language in self.languages:
            if language not in RELEASED:
                self.leave_out(
                    f"the page's own words in {language!r}",
                    f"they are not known here. Write them with: tacit survey words {language}.yaml, translate, and add at the "
                    f"top: words: {{{language}: {language}.yaml}}; or take the language out.",
                )
        return {
            "name": re.sub(r"[^a-z0-9]+", "_", self.name.lower()).strip("_")[:40] or "survey",
            "title": self.text(self.title or {self.languages[0]: self.name}),
            "introduction": self.text(self.introduction or {self.languages[0]: INTRODUCTION}),
            "contact": self.text({self.languages[0]: CONTACT}),
            "languages": list(self.languages),
            "privacy": "strong",
            "pages": [page for page in self.pages if page["questions"]],
        }

    def _questions(self) -> dict[str, dict[str, Any]]:
        return {question["name"]: question for page in self.pages for question in page["questions"]}

    def _inherit_sensitivity(self, questions: Mapping[str, dict[str, Any]], public: Sequence[str]) -> None:
        """A follow-up of a sensitive question would tell its answer in the clear: it is sensitive too, or a text left out."""
        for name, question in questions.items():
            when = question.get("when", [])
            routed = dict.fromkeys(name for way in (when if isinstance(when, list) else [when]) for name in way)
            # A condition that was not carried over says whom the question is about; who is named public is asked in the clear.
            about = [] if name in public else self._named_in(self.conditions.get(name, ""))
            earlier = [name for name in (*routed, *about) if name in questions and questions[name]["sensitive"]]
            if not earlier or question["sensitive"]:
                continue
            if _has_answers(question):
                question["sensitive"] = True
                self.leave_out(
                    f"the openness of {name!r}",
                    f"it follows the sensitive question {earlier[0]!r}, whose answer it would tell, so it is disguised too.",
                )
            elif routed:
                self._remove(question)
                given = next(theirs for theirs, ours in self.carried.items() if ours == name)
                self._leave_out_text(given, f"it would tell the sensitive answer to {earlier[0]!r}")

    def _named_in(self, condition: str) -> list[str]:
        """Our names of the questions that another tool's condition speaks of, as ``{panel.name}`` or ``${name}``."""
        words = (word for place in _REPEATED.findall(condition) for word in re.split(r"[.\[\]:]", place))
        return [self.carried[word.strip()] for word in words if word.strip() in self.carried]

    def _shorten_texts(self) -> None:
        """Open texts have a length together; many of them are shorter each."""
        texts = [question for question in self._questions().values() if not _has_answers(question)]
        for question in texts:
            question["longest"] = min(question["longest"], LONGEST_TEXTS // len(texts))

    def _repeat_answers(self) -> None:
        """Texts that repeat an earlier answer go on doing so where it is public, and say nothing where it is not."""
        seen: dict[str, dict[str, Any]] = {}
        for page in self.pages:
            if "title" in page:
                page["title"] = self._repeating(page["title"], "a page", seen)
            for question in page["questions"]:
                for key in {"text", "help"} & question.keys():
                    question[key] = self._repeating(question[key], question["name"], seen)
                seen[question["name"]] = question

    def _repeating(self, text: Any, where: str, seen: Mapping[str, dict[str, Any]]) -> Any:
        if isinstance(text, dict):
            return {language: self._repeating(translation, where, seen) for language, translation in text.items()}

        def put(place: re.Match[str]) -> str:
            name = self.carried.get(place[1].strip(), "")
            earlier = seen.get(name)
            if earlier and not earlier["sensitive"] and kind_of(earlier["kind"]).has_one_answer:
                return f"{{{name}}}"
            line = f"the repeated answer {place[0]} in the text of {where!r}"
            if not any(one.startswith(line) for one in self.left_out):
                self.leave_out(line, "only earlier public answers are repeated; it says … there. Write the text anew.")
            return "…"

        return _REPEATED.sub(put, str(text))


def _has_answers(question: Mapping[str, Any]) -> bool:
    return kind_of(question["kind"]).has_answers


def _undisguised_text(given: str) -> str:
    return f"the disguise of the open text {given!r}"


def _round(edge: float) -> float | int:
    whole = round(edge)
    return whole if abs(edge) >= 4 else round(edge, 2) if edge != whole else whole


def _days_between(low: date, high: date) -> list[date]:
    """Where the second, third and fourth quarter of the time begin, at the turn of a year or month where it is long."""
    days = [low + (high - low) * quarter / 4 for quarter in (1, 2, 3)]
    if (high - low).days > 8 * 365:
        days = [date(day.year + (day.month > 6), 1, 1) for day in days]
    elif (high - low).days > 365:
        days = [day.replace(day=1) for day in days]
    return sorted(set(days) - {low})


def check_size(path: Path, size: int, most: int, how: str = "") -> None:
    """Refuse a file that is larger than any form before it is read into memory."""
    if size > most:
        raise InvalidInput(
            f"{path.name!r} has {size:,} bytes{how}; a form has at most {most:,}. Take out what the form does not need, and put "
            "long lists of answers into a CSV file (answers: {file: ...})."
        )


def as_day(given: Any) -> date | None:
    """A day as other tools write it, with or without a time; None for anything else."""
    try:
        return date.fromisoformat(str(given)[:10])
    except ValueError:
        return None
