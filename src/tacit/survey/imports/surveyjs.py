"""SurveyJS: a JSON document with pages of elements, as the SurveyJS Creator saves it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tacit.errors import InvalidInput
from tacit.survey.imports.draft import LONGEST_SCALE, Draft, Texts, as_day, check_size
from tacit.survey.imports.expressions import as_number

Element = Mapping[str, Any]

WAYS = {
    "html": "texts between questions are not shown. Put it into the introduction, a page's title or a question's help.",
    "image": "pictures are not shown.",
    "expression": "nothing is calculated on the way. Calculate it from the estimates.",
    "file": "files are not sent.",
    "signaturepad": "a signature says who answered.",
    "ranking": "rankings are not asked. Ask for the first choice, with kind: choice.",
    "paneldynamic": "repeated questions are asked once at most. Ask about the number, and about one of them.",
    "matrixdynamic": "repeated questions are asked once at most. Ask about the number, and about one of them.",
    "matrixdropdown": "its cells are questions of several kinds. Write each as a question, or alike scales with kind: grid.",
}
# Kinds of typed answers that are not carried over.
TYPED_WAYS = {
    **dict.fromkeys(("email", "tel", "url", "password"), "it says who answered. Invite people with codes instead."),
    **dict.fromkeys(
        ("time", "month", "week"), "ask for it in ranges, with kind: date, or kind: number for hours and years."
    ),
    "color": "colours are not asked. Offer some with kind: choice.",
}
# Properties of an element that change what is asked, and what becomes of them.
NOT_CARRIED = {
    "validators": "answers come from a list, so they need no validation.",
    "defaultValue": "an answer that stands there already would be sent unread.",
    "defaultValueExpression": "an answer that stands there already would be sent unread.",
    "choicesByUrl": "the answers are loaded from elsewhere. List them.",
    "choicesFromQuestion": "the answers come from another question. List them.",
    "choicesVisibleIf": "all answers are offered. Write two questions where the lists differ.",
    "enableIf": "it is asked of everybody. Write a condition with: when.",
    "requiredIf": "every question can be declined, or is asked of all.",
    "correctAnswer": "nothing is marked right or wrong.",
    "setValueExpression": "nothing is set on the way.",
    "resetValueIf": "nothing is set on the way.",
    "minValueExpression": "answers come from a list, so they need no bounds. Choose the ranges.",
    "maxValueExpression": "answers come from a list, so they need no bounds. Choose the ranges.",
    "rowsVisibleIf": "all rows are asked of everybody. Write conditions with: when.",
    "columnsVisibleIf": "all answers are offered. Write two questions where the lists differ.",
    "cells": "each row has the answers of the columns. Write the row as a question of its own where they differ.",
    "readOnly": "it can be answered. Take it out if it only shows something.",
    "valueName": "every question has its own answer.",
    "maxSelectedChoices": "any number can be chosen.",
    "minSelectedChoices": "any number can be chosen.",
    "hasSelectAll": "options are chosen one by one.",
    "showSelectAllItem": "options are chosen one by one.",
    "hasOther": "open text identifies people. Add an answer 'other' to the list.",
    "showOtherItem": "open text identifies people. Add an answer 'other' to the list.",
    "hasComment": "open text identifies people.",
    "showCommentArea": "open text identifies people.",
}
OF_THE_WHOLE = {
    "triggers": "nothing is set on the way.",
    "completedHtmlOnCondition": "the page says the same to everybody. Who is not meant is told so with: screen_out.",
    "calculatedValues": "nothing is calculated on the way.",
    "completedHtml": "the page says itself what was sent.",
    "navigateToUrl": "respondents stay on the page.",
    "cookieName": "repeated answers are kept out by codes: access: codes.",
    "timeLimit": "there is no time limit.",
    "maxTimeToFinish": "there is no time limit.",
}


# A form of 100,000 answers in three languages has about 20 MB; JSON takes some ten times its bytes in memory.
MOST_BYTES = 25_000_000


def read(path: Path) -> Draft:
    check_size(path, path.stat().st_size, MOST_BYTES)
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except (UnicodeDecodeError, json.JSONDecodeError) as problem:
        raise InvalidInput(f"{path.name!r} is not JSON: {problem}") from None
    except RecursionError:
        raise InvalidInput(f"{path.name!r} is nested too deeply to be a SurveyJS document.") from None
    pages = document.get("pages") if isinstance(document, dict) else None
    if pages is None and isinstance(document, dict) and ("elements" in document or "questions" in document):
        pages = [document]
    if not isinstance(pages, list):
        raise InvalidInput(f"{path.name!r} has neither 'pages' nor 'elements', so it is no SurveyJS document.")
    return _Carrier(document, path.stem).carried(pages)


def _languages(part: Any) -> set[str]:
    """The languages in which texts are given, anywhere: mappings that hold a "default"."""
    if isinstance(part, list):
        return set().union(*map(_languages, part)) if part else set()
    if not isinstance(part, dict):
        return set()
    languages = {key for key in part if key != "default"} if isinstance(part.get("default"), str) else set()
    return languages.union(*map(_languages, part.values())) if part else languages


@dataclass
class _Carrier:
    document: Mapping[str, Any]
    stem: str
    draft: Draft = field(init=False)

    def __post_init__(self) -> None:
        default = str(self.document.get("locale") or "en")
        self.draft = Draft(self.stem, (default, *sorted(_languages(self.document) - {default})))

    def carried(self, pages: Sequence[Element]) -> Draft:
        self.draft.title = self._texts(self.document.get("title")) or {self.draft.languages[0]: self.stem}
        self.draft.introduction = self._texts(self.document.get("description"))
        for page in self._parts(pages, "page"):
            self.draft.page(self._texts(page.get("title")) or None)
            if "random" in (page.get("questionsOrder"), page.get("questionOrder"), self.document.get("questionsOrder")):
                self.draft.pages[-1]["shuffle"] = True
            condition = self._shown_if(page, "page", ("", ""))
            self._elements(page.get("elements") or page.get("questions") or [], *condition)
        for key, way in OF_THE_WHOLE.items():
            if self.document.get(key):
                self.draft.leave_out(key, way)
        return self.draft

    def _parts(self, given: Any, element_type: str) -> list[Element]:
        """The parts of a list that can be read; what is no mapping is named."""
        listed = given if isinstance(given, list) else [given]
        for element in listed:
            if not isinstance(element, dict):
                self.draft.leave_out(
                    f"the {element_type} {element!r}", "it is no mapping with a type and a name. Write it anew."
                )
        return [element for element in listed if isinstance(element, dict)]

    def _shown_if(self, part: Element, element_type: str, outer: tuple[str, str]) -> tuple[str, str]:
        """The conditions of a page or panel and of all around it: those that its questions get, and those that are left out."""
        said = str(part.get("visibleIf") or "")
        if not said:
            return outer
        is_carried = self.draft.when(said) is not None
        if not is_carried:
            way = "its questions are asked of everybody. Write the condition with each of them."
            self.draft.leave_out(f"the condition of the {element_type} {part.get('name', '')!r} ({said})", way)
        carried, left = outer
        both = " and ".join(filter(None, (carried if is_carried else left, f"({said})")))
        return (both, left) if is_carried else (carried, both)

    def _elements(self, elements: Sequence[Element], carried: str, left: str) -> None:
        """Carry the elements of a page or a panel, which is shown if both conditions hold."""
        for element in self._parts(elements, "element"):
            if element.get("type") == "panel":
                self._elements(element.get("elements") or [], *self._shown_if(element, "panel", (carried, left)))
            else:
                self._question(element, carried, left)

    def _question(self, element: Element, carried: str, left: str) -> None:
        name = str(element.get("name") or "question")
        if element.get("visible") is False:
            self.draft.leave_out(f"{element.get('type')} {name!r}", "it is never shown.")
            return
        for question in self._ask_element(name, element, left):
            if question is None:
                continue
            described = self._texts(element.get("description"))
            if described:
                question["help"] = self.draft.text(described)
            self.draft.condition(name, question, carried, str(element.get("visibleIf") or ""), left=left)
        for key, way in NOT_CARRIED.items():
            if element.get(key):
                self.draft.leave_out(f"{key} of {name!r}", way)

    def _ask_element(self, name: str, element: Element, only_if: str) -> list[dict[str, Any] | None]:
        element_type, text = str(element.get("type")), self._texts(element.get("title")) or self._plain(name)
        if element_type in ("radiogroup", "dropdown", "buttongroup", "imagepicker"):
            if element_type == "imagepicker" and element.get("multiSelect"):
                return [self.draft.several(name, text, self._answers(element.get("choices")))]
            return [self._choice(name, text, element)]
        if element_type == "slider":
            return [self.draft.number(name, text, as_number(element.get("min", 0)), as_number(element.get("max", 100)))]
        if element_type == "boolean":
            return [self._boolean(name, text, element)]
        if element_type in ("checkbox", "tagbox"):
            return [self._several(name, text, element)]
        if element_type == "rating":
            return [self._rating(name, text, element)]
        if element_type == "matrix":
            return self._matrix(name, text, element)
        if element_type in ("text", "comment"):
            return [self._ask_typed(name, text, element, only_if)]
        if element_type == "multipletext":
            return [
                self._ask_typed(f"{name}_{item.get('name')}", self._beside(text, self._ask_titles(item)), item, only_if)
                for item in self._parts(element.get("items") or [], "item")
            ]
        way = WAYS.get(element_type, f"questions of type {element_type!r} are not asked. Write it anew.")
        inner = _mappings(element.get("templateElements")) + _mappings(element.get("columns"))
        held = f" It holds {', '.join(repr(str(item.get('name'))) for item in inner)}." if inner else ""
        self.draft.leave_out(f"{element_type} {name!r}", way + held)
        return [None]

    def _several(self, name: str, text: Texts, element: Element) -> dict[str, Any] | None:
        options = self._list_choices(name, element)
        if options and (element.get("showNoneItem") or element.get("hasNone")):
            self.draft.leave_out(f"the answer 'none' of {name!r}", "choosing nothing says so.")
        return self._shuffle_choices(self.draft.several(name, text, options), element)

    def _boolean(self, name: str, text: Texts, element: Element) -> dict[str, Any] | None:
        """Yes or no, unless its two sides are called or named otherwise."""
        sides = [
            (
                element.get(f"value{side}", side == "True"),
                self._texts(element.get(f"label{side}")) or self._plain(plain),
            )
            for side, plain in (("True", "Yes"), ("False", "No"))
        ]
        if [value for value, _ in sides] == [True, False] and [label for _, label in sides] == [
            self._plain("Yes"),
            self._plain("No"),
        ]:
            self.draft.answers[name] = {"true": "yes", "false": "no"}
            return self.draft.add(name, "yes-no", text)
        return self.draft.choice(name, text, [(_plain_spelling(value), label) for value, label in sides])

    def _list_choices(self, name: str, element: Element) -> list[tuple[str, Texts]]:
        """The answers of a list, with conditions of single ones named."""
        given = element.get("choices")
        choices: list[Any] = given if isinstance(given, list) else []
        for choice in choices:
            if isinstance(choice, dict) and (choice.get("visibleIf") or choice.get("enableIf")):
                self.draft.leave_out(
                    f"the condition of the answer {choice.get('value')!r} of {name!r}",
                    "all answers are offered to everybody.",
                )
        return self._answers(choices)

    def _shuffle_choices(self, question: dict[str, Any] | None, element: Element) -> dict[str, Any] | None:
        return self.draft.shuffle(question) if element.get("choicesOrder") == "random" else question

    def _ask_typed(self, name: str, text: Texts, element: Element, only_if: str) -> dict[str, Any] | None:
        """A number or a day, cut into ranges, or an open text."""
        typed, low, high = str(element.get("inputType") or "text"), element.get("min"), element.get("max")
        if typed in ("number", "range"):
            return self.draft.number(name, text, as_number(low), as_number(high))
        if typed in ("date", "datetime", "datetime-local"):
            if typed != "date":
                self.draft.leave_out(f"the time of day of {name!r}", "only the day is asked.")
            return self.draft.day(name, text, as_day(low), as_day(high))
        if typed in TYPED_WAYS:
            self.draft.leave_out(f"{typed} {name!r}", TYPED_WAYS[typed])
            return None
        longest = as_number(element.get("maxLength"))
        is_required = bool(element.get("isRequired"))
        return self.draft.open_text(
            name,
            text,
            longest=int(longest) if longest and longest >= 1 else None,
            is_required=is_required,
            only_if=only_if,
        )

    def _beside(self, text: Texts, part: Texts) -> Texts:
        return {tag: f"{text.get(tag, '')}: {label}" for tag, label in part.items()}

    def _ask_titles(self, element: Element) -> Texts:
        return self._texts(element.get("title")) or self._plain(str(element.get("name")))

    def _choice(self, name: str, text: Texts, element: Element) -> dict[str, Any] | None:
        """One of the listed answers, or of the numbers that a list is made of."""
        low, high = as_number(element.get("choicesMin", 0)), as_number(element.get("choicesMax"))
        answers = self._list_choices(name, element)
        if not answers and low is not None and high is not None and low < high:
            if high - low > LONGEST_SCALE or element.get("choicesStep", 1) != 1:
                return self.draft.number(name, text, low, high)
            answers = [(str(number), self._plain(str(number))) for number in range(int(low), int(high) + 1)]
        if element.get("showNoneItem") or element.get("hasNone"):
            answers.append(("none", self._texts(element.get("noneText")) or self._plain("None")))
        if element.get("showDontKnowItem"):
            answers.append(("dontknow", self._texts(element.get("dontKnowText")) or self._plain("Don't know")))
        if element.get("showRefuseItem"):
            way = (
                "'prefer not to say' is offered with every sensitive question, and may be left out with optional: true."
            )
            self.draft.leave_out(f"the refusal of {name!r}", way)
        return self._shuffle_choices(self.draft.choice(name, text, answers), element)

    def _rating(self, name: str, text: Texts, element: Element) -> dict[str, Any] | None:
        if element.get("rateValues"):
            return self.draft.choice(name, text, self._answers(element["rateValues"]))
        low, count = as_number(element.get("rateMin", 1)), as_number(element.get("rateCount", 5))
        high = as_number(element.get("rateMax", None if low is None or count is None else low + count - 1))
        is_whole = low is not None and high is not None and low == int(low) and high == int(high)
        if (
            low is None
            or high is None
            or not is_whole
            or not 1 <= high - low <= LONGEST_SCALE
            or element.get("rateStep", 1) != 1
        ):
            return self.draft.number(name, text, low, high)
        meanings: dict[str, Any] = {}
        for ours, theirs in (("low", "minRateDescription"), ("high", "maxRateDescription")):
            meaning = self._texts(element.get(theirs))
            if meaning:
                meanings[ours] = self.draft.text(meaning)
        return self.draft.scale(name, text, int(low), int(high), **meanings)

    def _matrix(self, name: str, text: Texts, element: Element) -> list[dict[str, Any] | None]:
        """One question for each row."""
        columns = self._answers(element.get("columns"))
        rows = self._list_choices(name, {"choices": element.get("rows")})
        if not rows:
            self.draft.leave_out(f"matrix {name!r}", "it has no rows. Write its questions anew.")
        return [self.draft.choice(f"{name}_{row}", self._beside(text, labels), columns) for row, labels in rows]

    def _answers(self, choices: Any) -> list[tuple[str, Texts]]:
        answers = []
        for choice in choices or []:
            if isinstance(choice, str) and "|" in choice:  # the short form of a value with its text
                short, _, text = choice.partition("|")
                answers.append((short.strip(), self._plain(text.strip())))
                continue
            value = choice.get("value") if isinstance(choice, dict) else choice
            texts = self._texts(choice.get("text")) if isinstance(choice, dict) else {}
            spelled = _plain_spelling(value)
            answers.append((spelled, texts or self._plain(spelled)))
        return answers

    def _plain(self, text: str) -> Texts:
        return dict.fromkeys(self.draft.languages, text)

    def _texts(self, given: Any) -> Texts:
        if isinstance(given, str):
            return self._plain(given)
        if not isinstance(given, dict):
            return {}
        first = self.draft.languages[0]
        return {
            **({first: str(given["default"])} if "default" in given else {}),
            **{tag: str(text) for tag, text in given.items() if tag != "default"},
        }


def _mappings(given: Any) -> list[Element]:
    return [item for item in given if isinstance(item, dict)] if isinstance(given, list) else []


def _plain_spelling(value: Any) -> str:
    """A value as conditions spell it: true, 2, or the text itself."""
    return value if isinstance(value, str) else json.dumps(value)
