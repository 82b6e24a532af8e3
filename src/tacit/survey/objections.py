"""Why a definition must not be asked, whatever its figures are: its shape, its modes, its texts.

The page refuses for the same reasons (static/checks.js).
"""

from __future__ import annotations

import itertools
import json
import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.channel.routing import NOT_ASKED
from tacit.survey.answer_lists import IN_DEFINITION
from tacit.survey.block_figures import group_programs
from tacit.survey.conditions import PLACE
from tacit.survey.definition_questions import (
    Document,
    attribute_names,
    dealt_in,
    has_one_answer,
    is_hidden,
    mode_in,
    mode_of,
    questions_of,
    special_answers,
    versions_of,
    whole_text,
)
from tacit.survey.question_kinds import KINDS
from tacit.survey.questionnaire import MODES, RESPONSIBLE
from tacit.survey.routes import attributes_of, conditions_of

_NAME = re.compile(r"[a-z][a-z0-9_]*")
# Names that every object of the page's language has already: a figure under one of them would be lost.
OWN_TO_OBJECTS = ("constructor",)


@dataclass(frozen=True)
class Objection:
    """One reason not to ask: what is wrong, where, and in one sentence."""

    reason: str
    names: tuple[str, ...]
    message: str


def objection(reason: str, names: Sequence[str], message: str) -> Objection:
    return Objection(reason, tuple(names), message)


# What must hold before any figure means something.


def shape_objections(document: Document) -> Iterator[Objection]:
    programs, deals = document.get("programs"), versions_of(document)
    matched = isinstance(programs, list) and [len(program) for program in programs] == [
        len(deal["groups"]) for deal in deals
    ]
    if not matched:
        yield objection("program", (), "The definition does not carry one program for each group.")
        return
    yield from _series_objections(document)
    answers = {attribute["name"]: attribute["answers"] for attribute in document["scheme"]["attributes"]}
    unnamed = list(_name_objections(document, answers))
    yield from unnamed
    if unnamed:  # whatever else is said of a name would be said of one of two
        return
    for deal in deals:
        grouped = [name for group in deal["groups"] for name in group["attributes"]]
        if len(set(grouped)) < len(grouped) or any(name not in answers for name in grouped):
            yield objection(
                "attribute", grouped, f"The groups name an attribute twice or one that does not exist: {grouped}."
            )
        for question in questions_of(document):
            own_names = set(attribute_names(question))
            if own_names & set(grouped) and not own_names <= set(grouped):
                yield objection(
                    "attribute",
                    grouped,
                    f"The groups disguise {question['name']!r} in part; all its options belong to them.",
                )
    for question in questions_of(document):
        yield from _question_objections(question, answers, document)
    optional = [name for name in RESPONSIBLE if document.get(name)]
    for name in ("title", "introduction", "contact", *optional):
        if not _says(document.get(name), document["languages"]):
            yield objection("languages", (name,), f"The {name} has no text in one of the languages.")


def _series_objections(document: Document) -> Iterator[Objection]:
    """Which wave of how many, and what the series states; that its hash fits is checked where the definition's is."""
    waves: Any = document.get("waves")
    wave: Any = document.get("wave")
    gamma: Any = document.get("series_gamma", 1)
    is_stated = _is_number(gamma) and gamma >= 1 and document.get("panel", True) is True
    if waves is None:
        fits = is_stated and not {"waves", "series", "series_gamma", "panel"} & document.keys()
    else:
        fits = is_stated and _is_whole(waves) and _is_whole(wave) and 1 <= wave <= waves
    if not fits:
        yield objection(
            "series",
            (),
            f"The definition declares wave {wave!r} of {waves!r}, series_gamma {document.get('series_gamma')!r} and panel "
            f"{document.get('panel')!r}, which do not fit together.",
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(value: Any) -> bool:
    return _is_number(value) and value == int(value)


def _name_objections(document: Document, answers: Mapping[str, Any]) -> Iterator[Objection]:
    if len(answers) < len(document["scheme"]["attributes"]):
        yield objection("attribute", (), "Two attributes of the scheme have one name.")
    reported = [name for question in questions_of(document) for name in attribute_names(question)]
    for name in dict.fromkeys([*reported, *answers]):
        if name not in answers or reported.count(name) != 1:
            yield objection(
                "attribute", (name,), f"{name!r} must be reported by exactly one question, not {reported.count(name)}."
            )
    names = [question["name"] for question in questions_of(document)]
    for name in dict.fromkeys([*names, *answers]):
        if not _NAME.fullmatch(name) or name in OWN_TO_OBJECTS or names.count(name) > 1:
            yield objection(
                "attribute",
                (name,),
                f"{name!r} must be the name of one question, in small letters, digits and underscores, and not "
                f"{', '.join(map(repr, OWN_TO_OBJECTS))}.",
            )


def _question_objections(question: Document, answers: Mapping[str, Any], document: Document) -> Iterator[Objection]:
    name = question["name"]
    own_names = [answer["name"] for answer in question["answers"]]
    if not question["attributes"] and mode_of(question) != "public":
        yield objection(
            "open", (name,), f"The open text {name!r} is called {mode_of(question)}; nothing can disguise it."
        )
    if question["kind"] not in KINDS or [attribute["option"] for attribute in question["attributes"]] not in (
        [None],
        own_names,
    ):
        yield objection(
            "attribute",
            (name,),
            f"Each answer of {name!r} must be reported by exactly one attribute. The kinds: {', '.join(KINDS)}.",
        )
    if "edges" in question and not _are_ranges(question["edges"], own_names):
        yield objection("answers_differ", (name,), f"The ranges of {name!r} do not fit its {len(own_names)} answers.")
    special = special_answers(question) + [NOT_ASKED] * bool(question["when"] or question.get("deals"))
    wanted = [*(own_names if has_one_answer(question) else ["no", "yes"]), *special]
    for attribute in attribute_names(question):
        if list(answers.get(attribute, [])) != wanted:
            yield objection(
                "answers_differ",
                (attribute,),
                f"{attribute!r} would report {answers.get(attribute)}, but {wanted} can be chosen.",
            )
    if _texts_differ(question, document["languages"]):
        yield objection(
            "languages", (name,), f"A text of {name!r} is missing, or two are the same, in one of the languages."
        )
    names = [deal["name"] for deal in versions_of(document)]
    if "deals" in question and (is_hidden(question) or not set(question["deals"]) <= set(names)):
        yield objection(
            "mode", (name,), f"{name!r} is asked in some versions only, which must exist and send it in the clear."
        )
    if any(arm.get("mode") != "self" or deal not in names for deal, arm in (question.get("arms") or {}).items()):
        yield objection("mode", (name,), f"{name!r} is asked in an arm that does not exist.")
    yield from _routing_objections(question, answers, questions_of(document))
    if mode_of(question) not in MODES:
        yield objection(
            "mode", (name,), f"{name!r} has the mode {mode_of(question)!r}; allowed are {', '.join(MODES)}."
        )


def _are_ranges(edges: Sequence[Any], answers: Sequence[str]) -> bool:
    """Whether these are the places where all answers but the first begin."""
    kinds = {isinstance(edge, str) for edge in edges}
    return len(kinds) == 1 and len(edges) + 1 == len(answers) and all(a < b for a, b in itertools.pairwise(edges))


def _texts_differ(question: Document, languages: Sequence[str]) -> bool:
    if not _says(question["text"], languages) or (
        "grid" in question and not _says(question["grid"]["text"], languages)
    ):
        return True
    for language in languages:
        # The page has words of its own for no and yes.
        texts = [
            answer["text"].get(language)
            if answer.get("text")
            else answer["name"]
            if answer["name"] in ("no", "yes")
            else None
            for answer in question["answers"]
        ]
        if not all(isinstance(text, str) and text.strip() for text in texts) or len(set(texts)) < len(texts):
            return True
    return False


def _says(text: Any, languages: Sequence[str]) -> bool:
    given = text if isinstance(text, dict) else {}
    return all(isinstance(given.get(language), str) and given[language].strip() for language in languages)


def _routing_objections(
    question: Document, answers: Mapping[str, Any], questions: Sequence[Document]
) -> Iterator[Objection]:
    before = questions[: list(questions).index(question)]
    for condition in conditions_of(question):
        if not _is_known(condition, before, answers):
            yield objection(
                "routing",
                (question["name"],),
                f"{question['name']!r} depends on an answer that is not asked before it: {condition}.",
            )


def _is_known(condition: Document, questions: Sequence[Document], answers: Mapping[str, Any]) -> bool:
    """Whether a condition speaks of answers that one of these questions can have."""
    attribute = attributes_of(questions).get((condition["question"], condition.get("option")))
    allowed = answers.get(attribute, []) if attribute is not None else []
    # Nothing may depend on which of thousands of answers was given: the page does not know them when it checks. Beside its
    # own answers a question has at most three: not to say, none, not asked.
    return (
        len(allowed) <= IN_DEFINITION + 3
        and bool(condition["answers"])
        and all(answer in allowed for answer in condition["answers"])
    )


# What is asked, and how it is called.


def asked_objections(document: Document) -> Iterator[Objection]:
    questions = questions_of(document)
    grouped = {name for deal in versions_of(document) for group in deal["groups"] for name in group["attributes"]}
    by_name = {question["name"]: question for question in questions}
    for question in questions:
        name = question["name"]
        if any((name in grouped) != is_hidden(question) for name in attribute_names(question)):
            yield objection(
                "mode", (name,), f"{name!r} is called {mode_of(question)}, but its answers would be sent otherwise."
            )
        if not is_hidden(question) and any(
            is_hidden(by_name[condition["question"]]) for condition in conditions_of(question)
        ):
            yield objection(
                "telling", (name,), f"{name!r} is sent as it is and depends on a disguised answer: it would tell it."
            )
    yield from _own_device_objections(document)
    yield from _ending_objections(document, by_name)
    yield from _place_objections(document, by_name)
    yield from _repeated_texts(document)
    yield from _harmless_objections(document)


def _ending_objections(document: Document, by_name: Mapping[str, Document]) -> Iterator[Objection]:
    """Who is asked no further is told by who sends nothing: it may depend on public answers only."""
    answers = {attribute["name"]: attribute["answers"] for attribute in document["scheme"]["attributes"]}
    for kind in ("screen_out", "quotas"):
        for condition in (condition for ending in document.get(kind, []) for condition in conditions_of(ending)):
            if not _is_known(condition, list(by_name.values()), answers):
                yield objection("routing", (kind,), f"{kind} depends on an answer that is not asked: {condition}.")
            elif is_hidden(by_name[condition["question"]]):
                yield objection(
                    "telling", (kind,), f"{kind} depends on a disguised answer and would tell it: {condition}."
                )


def _place_objections(document: Document, by_name: Mapping[str, Document]) -> Iterator[Objection]:
    """What a text repeats must have been asked before, once and in the clear."""
    before: set[str] = set()
    for question in by_name.values():
        for text in (question["text"], question["help"] or {}, (question.get("grid") or {}).get("text", {})):
            for name in (name for translation in text.values() for name in PLACE.findall(translation)):
                if name not in before or not has_one_answer(by_name[name]):
                    yield objection(
                        "routing", (question["name"],), f"{question['name']!r} repeats {{{name}}}, which is not asked."
                    )
                elif is_hidden(by_name[name]):
                    yield objection(
                        "telling", (question["name"],), f"{question['name']!r} repeats a disguised answer: {{{name}}}."
                    )
        before.add(question["name"])


def _own_device_objections(document: Document) -> Iterator[Objection]:
    """What a respondent's own device shows is sent as it is: its group is that question alone, and nothing depends on it."""
    groups = [group_programs(document, deal) for deal in range(len(versions_of(document)))]
    routed_on = {condition["question"] for question in questions_of(document) for condition in conditions_of(question)}
    for question, number in itertools.product(questions_of(document), range(len(groups))):
        if mode_in(question, versions_of(document)[number]) != "self":
            continue
        name = attribute_names(question)[0]
        alone = all(
            group.names == (name,) and group.records is None and group.node.report_radices == group.radices
            for group in groups[number]
            if name in group.names
        )
        bound = (
            not has_one_answer(question)
            or question["when"]
            or special_answers(question)
            or question["name"] in routed_on
        )
        if bound or not alone:
            yield objection(
                "mode",
                (question["name"],),
                f"{question['name']!r} is disguised by the respondent's own device, so it must be asked alone, of everybody, and "
                "nothing may depend on it.",
            )


def _repeated_texts(document: Document) -> Iterator[Objection]:
    for language in document["languages"]:
        by_text: dict[str, list[Document]] = defaultdict(list)
        for question in questions_of(document):
            folded = unicodedata.normalize("NFKC", whole_text(question, language)).lower()
            plain = " ".join(re.sub(r"[\W_]", lambda one: _space_for_punctuation(one[0]), folded).split())
            # Versions that ask one thing in two ways ask nobody twice.
            versions = dealt_in(question, versions_of(document))
            earlier = next(
                (question for question in by_text[plain] if dealt_in(question, versions_of(document)) & versions), None
            )
            if earlier:
                both = (earlier["name"], question["name"])
                yield objection("twice", both, f"{both[0]!r} and {both[1]!r} ask the same in {language!r}.")
            by_text[plain].append(question)


def _space_for_punctuation(character: str) -> str:
    """Punctuation and spaces do not make another question; every other sign does."""
    return " " if character.isspace() or unicodedata.category(character).startswith("P") else character


def _harmless_objections(document: Document) -> Iterator[Objection]:
    harmless = {
        name for question in questions_of(document) if question.get("harmless") for name in attribute_names(question)
    }
    for deal, programs in zip(versions_of(document), document["programs"], strict=True):
        for group, program in zip(deal["groups"], programs, strict=True):
            stands = '"asked":1' in json.dumps(program, separators=(",", ":"))
            if stands != bool(harmless & set(group["attributes"])) or (stands and len(group["attributes"]) > 1):
                yield objection(
                    "program",
                    group["attributes"],
                    f"The harmless question of {group['attributes']} is not the program's.",
                )
