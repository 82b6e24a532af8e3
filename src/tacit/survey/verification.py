"""What a respondent's page must not take on trust, checked from outside: shape, programs, modes, caps, texts.

The page makes the same checks before its first question (static/checks.js and static/whole.js); the tests hold the two
against each other. Everything is worked out from the programs that the definition carries, never from what it says of
them.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.extremes import amplification, is_listed, worst_answers
from tacit.channel.program import ProgramNode, compiled, joint
from tacit.channel.routing import NOT_ASKED, Asked, Records, Routing
from tacit.errors import InvalidInput
from tacit.schema import Attribute
from tacit.survey.conditions import PLACE
from tacit.survey.questionnaire import PREFER_NOT_TO_SAY, RESPONSIBLE
from tacit.survey.routes import attributes_of, conditions_of, conditions_on

NO_ANSWER = "no answer"

Array = NDArray[np.float64]
Document = Mapping[str, Any]

# The same caps are written in static/checks.js.
POSTERIOR_CAP = 0.95
GAMMA_CAP = 19.0
WHOLE_CAP = 1e12
WHOLE_NOTICE = 1e6
ROUNDING = 1e-9
# Beyond so many chances a block is judged by the product of its groups, which is never less than the truth.
WRITTEN = 1 << 18
MODES = ("disguised", "public", "self", "direct")


@dataclass(frozen=True)
class Objection:
    """One reason not to ask: what is wrong, where, and in one sentence."""

    reason: str
    names: tuple[str, ...]
    message: str


@dataclass(frozen=True, eq=False)
class GroupProgram:
    """A group of the scheme with the program that disguises it."""

    names: tuple[str, ...]
    answers: tuple[tuple[str, ...], ...]
    records: tuple[tuple[str, ...], ...] | None
    program: Any

    @property
    def radices(self) -> tuple[int, ...]:
        return (len(self.records),) if self.records else tuple(map(len, self.answers))

    @cached_property
    def node(self) -> ProgramNode:
        return compiled(self.program, self.radices)

    def digits(self, truth: Mapping[str, str]) -> tuple[int, ...]:
        given = tuple(truth[name] for name in self.names)
        if self.records is not None:
            if given not in self.records:
                raise InvalidInput(f"{', '.join(self.names)} can be answered {given}, which is none of its records.")
            return (self.records.index(given),)
        return tuple(answers.index(answer) for answers, answer in zip(self.answers, given, strict=True))


@dataclass(frozen=True, eq=False)
class AskedBlock:
    """Groups that must be judged together, with the questions they report and what they tell of each answer."""

    groups: tuple[GroupProgram, ...]
    questions: tuple[Document, ...]
    gamma: float
    worst: Mapping[str, float]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for group in self.groups for name in group.names)


@dataclass(frozen=True, eq=False)
class Examination:
    """Every objection to a definition, and what its reports tell: one list of blocks for each that may be dealt."""

    objections: tuple[Objection, ...]
    deals: tuple[tuple[AskedBlock, ...], ...]
    second: float = 1.0  # amplification of the one bit of a second round, where one is announced

    @property
    def gamma(self) -> float:
        """Amplification of all answers together."""
        return max((math.prod(block.gamma for block in blocks) for blocks in self.deals), default=1.0)

    @property
    def label(self) -> dict[str, Any]:
        """What a definition states of itself: how sure of each answer, and the amplification of all together."""
        sure: dict[str, float] = {}
        for block in (block for blocks in self.deals for block in blocks):
            for name, worst in block.worst.items():
                sure[name] = max(sure.get(name, 0.0), worst)
        return {"answers": sure, "gamma": self.gamma if math.isfinite(self.gamma) else None}

    @property
    def bounded_gamma(self) -> float:
        """The same without the blocks that have none; those are said by themselves."""
        finite = ([block.gamma for block in blocks if math.isfinite(block.gamma)] for blocks in self.deals)
        return max((math.prod(gammas) for gammas in finite), default=1.0)


def examine(document: Document) -> Examination:
    """Everything a page checks before it asks; a definition without objections is one that it would ask."""
    shape = list(_shape_objections(document))
    if shape:
        return Examination(tuple(shape), ())
    try:
        deals = tuple(tuple(_blocks(document, deal)) for deal in range(len(dealt(document))))
        second = float(amplification(document.get("second_program"), [2])) if document["second_round"] else 1.0
    except InvalidInput as error:
        return Examination((_objection("program", (), f"The instructions for the disguise do not hold: {error}"),), ())
    objections = [
        *_asked_objections(document),
        *_label_objections(document, Examination((), deals)),
        *_cap_objections(document, Examination((), deals, second)),
    ]
    return Examination(tuple(dict.fromkeys(objections)), deals, second)


def dealt(document: Document) -> list[Document]:
    """The questionnaires of which each respondent is dealt one; a scheme without a deal has one."""
    scheme = document["scheme"]
    return list(scheme.get("questionnaires") or [{"name": None, "probability": 1, "groups": scheme["groups"]}])


def questions_of(document: Document) -> list[Document]:
    return [question for page in document["pages"] for question in page["questions"]]


def mode_of(question: Document) -> str:
    return str(question.get("mode") or ("disguised" if question["sensitive"] else "public"))


def mode_in(question: Document, deal: Document) -> str:
    """How a question is answered in one of the versions that may be dealt."""
    return str((question.get("arms") or {}).get(deal["name"], {}).get("mode") or mode_of(question))


def _dealt_in(question: Document, deals: Sequence[Document]) -> set[Any]:
    """The versions that ask a question."""
    if not is_hidden(question):
        return set(question.get("deals") or [deal["name"] for deal in deals])
    own = set(_attribute_names(question))
    return {deal["name"] for deal in deals if any(own & set(group["attributes"]) for group in deal["groups"])}


def is_hidden(question: Document) -> bool:
    return mode_of(question) in ("disguised", "self")


def _special(question: Document) -> list[str]:
    """What can be said in place of an answer, of all options at once."""
    return [PREFER_NOT_TO_SAY] * bool(question["declines"]) + [NO_ANSWER] * bool(question.get("optional"))


def _objection(reason: str, names: Sequence[str], message: str) -> Objection:
    return Objection(reason, tuple(names), message)


def _count(number: float) -> str:
    return f"{number:.4g}" if number < 1000 else f"{number:,.0f}"


def _attribute_names(question: Document) -> list[str]:
    return [part["attribute"] for part in question["attributes"]]


# What must hold before any figure means something.


def _shape_objections(document: Document) -> Iterator[Objection]:
    programs, deals = document.get("programs"), dealt(document)
    matched = isinstance(programs, list) and [len(one) for one in programs] == [len(one["groups"]) for one in deals]
    if not matched:
        yield _objection("program", (), "The definition does not carry one program for each group.")
        return
    answers = {one["name"]: one["answers"] for one in document["scheme"]["attributes"]}
    if len(answers) < len(document["scheme"]["attributes"]):
        yield _objection("attribute", (), "Two attributes of the scheme have one name.")
    reported = [name for question in questions_of(document) for name in _attribute_names(question)]
    for name in dict.fromkeys([*reported, *answers]):
        if name not in answers or reported.count(name) != 1:
            yield _objection(
                "attribute", (name,), f"{name!r} must be reported by exactly one question, not {reported.count(name)}."
            )
    for deal in deals:
        grouped = [name for group in deal["groups"] for name in group["attributes"]]
        if len(set(grouped)) < len(grouped) or any(name not in answers for name in grouped):
            yield _objection(
                "attribute", grouped, f"The groups name an attribute twice or one that does not exist: {grouped}."
            )
    for question in questions_of(document):
        yield from _question_objections(question, answers, document)
    optional = [name for name in RESPONSIBLE if document.get(name)]
    for name in ("title", "introduction", "contact", *optional):
        if not _says(document.get(name), document["languages"]):
            yield _objection("languages", (name,), f"The {name} has no text in one of the languages.")


def _question_objections(question: Document, answers: Mapping[str, Any], document: Document) -> Iterator[Objection]:
    name, several = question["name"], question["kind"] == "several"
    own = [answer["name"] for answer in question["answers"]]
    if question["kind"] == "text" and mode_of(question) != "public":
        yield _objection(
            "open", (name,), f"The open text {name!r} is called {mode_of(question)}; nothing can disguise it."
        )
    if [part["option"] for part in question["attributes"]] != (
        own if several else [None] * (question["kind"] != "text")
    ):
        yield _objection("attribute", (name,), f"Each answer of {name!r} must be reported by exactly one attribute.")
    if "edges" in question and not _are_ranges(question["edges"], own):
        yield _objection("answers_differ", (name,), f"The ranges of {name!r} do not fit its {len(own)} answers.")
    special = _special(question) + [NOT_ASKED] * bool(question["when"] or question.get("deals"))
    wanted = [*(["no", "yes"] if several else own), *special]
    for attribute in _attribute_names(question):
        if list(answers.get(attribute, [])) != wanted:
            yield _objection(
                "answers_differ",
                (attribute,),
                f"{attribute!r} would report {answers.get(attribute)}, but {wanted} can be chosen.",
            )
    if _texts_differ(question, document["languages"]):
        yield _objection(
            "languages", (name,), f"A text of {name!r} is missing, or two are the same, in one of the languages."
        )
    names = [deal["name"] for deal in dealt(document)]
    if "deals" in question and (is_hidden(question) or not set(question["deals"]) <= set(names)):
        yield _objection(
            "mode", (name,), f"{name!r} is asked in some versions only, which must exist and send it in the clear."
        )
    if any(arm.get("mode") != "self" or deal not in names for deal, arm in (question.get("arms") or {}).items()):
        yield _objection("mode", (name,), f"{name!r} is asked in an arm that does not exist.")
    yield from _routing_objections(question, answers, questions_of(document))
    if mode_of(question) not in MODES:
        yield _objection(
            "mode", (name,), f"{name!r} has the mode {mode_of(question)!r}; allowed are {', '.join(MODES)}."
        )


def _are_ranges(edges: Sequence[Any], answers: Sequence[str]) -> bool:
    """Whether these are the places where all answers but the first begin."""
    kinds = {isinstance(edge, str) for edge in edges}
    return len(kinds) == 1 and len(edges) + 1 == len(answers) and all(a < b for a, b in itertools.pairwise(edges))


def whole_text(question: Document, language: str) -> str:
    """A question's text, behind what it has in common with the others of its grid."""
    grid = question.get("grid")
    return f"{grid['text'][language]} {question['text'][language]}" if grid else str(question["text"][language])


def _texts_differ(question: Document, languages: Sequence[str]) -> bool:
    if not _says(question["text"], languages) or (
        "grid" in question and not _says(question["grid"]["text"], languages)
    ):
        return True
    for language in languages:
        plain = question["kind"] == "yes-no"
        texts = [one["name"] if plain else (one.get("text") or {}).get(language) for one in question["answers"]]
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
            yield _objection(
                "routing",
                (question["name"],),
                f"{question['name']!r} depends on an answer that is not asked before it: {condition}.",
            )


def _is_known(condition: Document, questions: Sequence[Document], answers: Mapping[str, Any]) -> bool:
    """Whether a condition speaks of answers that one of these questions can have."""
    attribute = attributes_of(questions).get((condition["question"], condition.get("option")))
    known = answers.get(attribute, []) if attribute is not None else []
    return bool(condition["answers"]) and all(answer in known for answer in condition["answers"])


# What is asked, and how it is called.


def _asked_objections(document: Document) -> Iterator[Objection]:
    questions = questions_of(document)
    grouped = {name for deal in dealt(document) for group in deal["groups"] for name in group["attributes"]}
    by_name = {question["name"]: question for question in questions}
    for question in questions:
        name = question["name"]
        if any((one in grouped) != is_hidden(question) for one in _attribute_names(question)):
            yield _objection(
                "mode", (name,), f"{name!r} is called {mode_of(question)}, but its answers would be sent otherwise."
            )
        if not is_hidden(question) and any(is_hidden(by_name[one["question"]]) for one in conditions_of(question)):
            yield _objection(
                "telling", (name,), f"{name!r} is sent as it is and depends on a disguised answer: it would tell it."
            )
    yield from _own_device_objections(document)
    yield from _ending_objections(document, by_name)
    yield from _place_objections(document, by_name)
    yield from _repeated(document)
    yield from _harmless_objections(document)


def _ending_objections(document: Document, by_name: Mapping[str, Document]) -> Iterator[Objection]:
    """Who is asked no further is told by who sends nothing: it may depend on public answers only."""
    answers = {one["name"]: one["answers"] for one in document["scheme"]["attributes"]}
    for kind in ("screen_out", "quotas"):
        for condition in (one for ending in document.get(kind, []) for one in conditions_of(ending)):
            if not _is_known(condition, list(by_name.values()), answers):
                yield _objection("routing", (kind,), f"{kind} depends on an answer that is not asked: {condition}.")
            elif is_hidden(by_name[condition["question"]]):
                yield _objection(
                    "telling", (kind,), f"{kind} depends on a disguised answer and would tell it: {condition}."
                )


def _place_objections(document: Document, by_name: Mapping[str, Document]) -> Iterator[Objection]:
    """What a text repeats must have been asked before, once and in the clear."""
    before: set[str] = set()
    for question in by_name.values():
        for text in (question["text"], question["help"] or {}, (question.get("grid") or {}).get("text", {})):
            for name in (name for one in text.values() for name in PLACE.findall(one)):
                if name not in before or len(by_name[name]["attributes"]) != 1 or by_name[name]["kind"] == "several":
                    yield _objection(
                        "routing", (question["name"],), f"{question['name']!r} repeats {{{name}}}, which is not asked."
                    )
                elif is_hidden(by_name[name]):
                    yield _objection(
                        "telling", (question["name"],), f"{question['name']!r} repeats a disguised answer: {{{name}}}."
                    )
        before.add(question["name"])


def _own_device_objections(document: Document) -> Iterator[Objection]:
    """What a respondent's own device shows is sent as it is: its group is that question alone, and nothing depends on it."""
    groups = [_groups(document, deal) for deal in range(len(dealt(document)))]
    routed_on = {condition["question"] for one in questions_of(document) for condition in conditions_of(one)}
    for question, number in itertools.product(questions_of(document), range(len(groups))):
        if mode_in(question, dealt(document)[number]) != "self":
            continue
        name = _attribute_names(question)[0]
        alone = all(
            group.names == (name,) and group.records is None and group.node.report_radices == group.radices
            for group in groups[number]
            if name in group.names
        )
        bound = question["kind"] == "several" or question["when"] or _special(question) or question["name"] in routed_on
        if bound or not alone:
            yield _objection(
                "mode",
                (question["name"],),
                f"{question['name']!r} is disguised by the respondent's own device, so it must be asked alone, of everybody, and "
                "nothing may depend on it.",
            )


def _repeated(document: Document) -> Iterator[Objection]:
    for language in document["languages"]:
        texts: dict[str, Document] = {}
        for question in questions_of(document):
            folded = unicodedata.normalize("NFKC", whole_text(question, language)).lower()
            plain = " ".join(re.sub(r"[\W_]", lambda one: _kept(one[0]), folded).split())
            earlier = texts.get(plain)
            # Versions that ask one thing in two ways ask nobody twice.
            if earlier and _dealt_in(earlier, dealt(document)) & _dealt_in(question, dealt(document)):
                both = (earlier["name"], question["name"])
                yield _objection("twice", both, f"{both[0]!r} and {both[1]!r} ask the same in {language!r}.")
            texts[plain] = question


def _kept(character: str) -> str:
    """Punctuation and spaces do not make another question; every other sign does."""
    return " " if character.isspace() or unicodedata.category(character).startswith("P") else character


def _harmless_objections(document: Document) -> Iterator[Objection]:
    harmless = {name for one in questions_of(document) if one.get("harmless") for name in _attribute_names(one)}
    for deal, programs in zip(dealt(document), document["programs"], strict=True):
        for group, program in zip(deal["groups"], programs, strict=True):
            stands = '"asked":1' in json.dumps(program, separators=(",", ":"))
            if stands != bool(harmless & set(group["attributes"])) or (stands and len(group["attributes"]) > 1):
                yield _objection(
                    "program",
                    group["attributes"],
                    f"The harmless question of {group['attributes']} is not the program's.",
                )


# What everything that is sent tells.


def _label_objections(document: Document, examination: Examination) -> Iterator[Objection]:
    """A definition may state its label; it is then the one that follows from its programs."""
    stated, computed = document.get("label"), examination.label
    if stated is None:
        return
    names = list(computed["answers"])
    same = set(stated["answers"]) == set(names) and all(
        _is_same(stated["answers"][name], computed["answers"][name]) for name in names
    )
    if not (same and _is_same(stated["gamma"], computed["gamma"])):
        yield _objection("label", (), "The label that the definition states is not what its programs do.")


def _is_same(stated: float | None, computed: float | None) -> bool:
    if stated is None or computed is None:
        return stated is computed
    return math.isclose(stated, computed, rel_tol=ROUNDING)


def _cap_objections(document: Document, examination: Examination) -> Iterator[Objection]:
    second = examination.second
    for block in (block for blocks in examination.deals for block in blocks):
        names, gamma, sure = block.names, block.gamma * second, _told(max(block.worst.values()), second)
        listed = ", ".join(names)
        if sure > POSTERIOR_CAP + ROUNDING:
            yield _objection(
                "unprotected",
                names,
                f"Whoever sees a report could be {sure:.1%} sure of an answer of {listed}; at most {POSTERIOR_CAP:.0%} is "
                "allowed. Choose a channel that disguises more.",
            )
        if document.get("allow_unbounded"):
            continue
        if math.isinf(gamma):
            yield _objection(
                "unbounded",
                names,
                f"Reports of {listed} rule some answers out, and the definition does not say allow_unbounded.",
            )
        elif gamma > GAMMA_CAP * (1 + ROUNDING):
            yield _objection(
                "amplified",
                names,
                f"Reports of {listed} can change the odds of a guess {_count(gamma)} times; at most {GAMMA_CAP:g} is allowed. "
                "Choose a channel that disguises more, or deal fewer of these questions to each respondent.",
            )
    if examination.bounded_gamma * second > WHOLE_CAP * (1 + ROUNDING):
        yield _objection(
            "exceeds",
            (),
            f"All answers together can change the odds of a guess {_count(examination.bounded_gamma)} times; at most "
            f"{WHOLE_CAP:,.0f} is allowed. Ask fewer questions, or deal each respondent some of them.",
        )


def _blocks(document: Document, deal: int) -> Iterator[AskedBlock]:
    groups = _groups(document, deal)
    homes = {name: index for index, group in enumerate(groups) for name in group.names}
    block = list(range(len(groups)))

    def unite(one: int, other: int) -> None:
        old, new = block[one], block[other]
        block[:] = [new if value == old else value for value in block]

    by_name = {question["name"]: question for question in questions_of(document)}
    reported = attributes_of(by_name.values())
    for question in by_name.values():
        own = [homes[name] for name in _attribute_names(question) if name in homes]
        if own and (_special(question) or question["when"]):
            for one in own:
                unite(one, own[0])
        for condition in conditions_of(question) if own else []:
            before = reported[condition["question"], condition.get("option")]
            if before in homes:
                unite(own[0], homes[before])
    for head in dict.fromkeys(block):
        members = tuple(group for index, group in enumerate(groups) if block[index] == head)
        names = {name for group in members for name in group.names}
        questions = tuple(one for one in by_name.values() if names & set(_attribute_names(one)))
        yield AskedBlock(members, questions, *_figures(document, members, questions))


def _groups(document: Document, deal: int) -> list[GroupProgram]:
    answers = {one["name"]: tuple(one["answers"]) for one in document["scheme"]["attributes"]}
    groups = []
    for group, program in zip(dealt(document)[deal]["groups"], document["programs"][deal], strict=True):
        records = group.get("records")
        listed = [tuple(NOT_ASKED if one is None else one for one in record) for record in records] if records else None
        names = tuple(group["attributes"])
        made = GroupProgram(names, tuple(answers[name] for name in names), tuple(listed) if listed else None, program)
        assert made.node.report_radices  # read now, so that a bad program is refused before anything else is computed
        groups.append(made)
    return groups


def _figures(
    document: Document, groups: Sequence[GroupProgram], questions: Sequence[Document]
) -> tuple[float, dict[str, float]]:
    """Amplification of a block, and how sure its least lucky report makes someone of each attribute's answer."""
    is_free = all(not one["when"] and not (_special(one) and len(one["attributes"]) > 1) for one in questions)
    if len(groups) == 1 and groups[0].records is None and is_free and not is_listed(groups[0].node):
        return _large(document, groups[0])
    records, situations = _situations(document, questions, {name for group in groups for name in group.names})
    n_reports = math.prod(group.node.report_count for group in groups)
    if n_reports * max(int(mask.sum()) for mask in situations) > WRITTEN:
        return _bounds(groups, records, situations)
    gamma, worst = 1.0, dict.fromkeys((one.name for one in records.attributes), 0.0)
    for mask in situations:
        told, sures = _written(document, groups, records, mask)
        gamma = max(gamma, told)
        worst = {name: max(worst[name], sures[name]) for name in worst}
    return gamma, worst


def _large(document: Document, group: GroupProgram) -> tuple[float, dict[str, float]]:
    """The figures of a group whose law is not written out; under a stated prior a bound from the amplification."""
    gamma = float(amplification(group.program, group.radices))
    worst = dict(zip(group.names, worst_answers(group.program, group.radices), strict=True))
    stated = _stated(document, group)
    if stated is not None:
        table = stated.reshape(group.radices)
        for axis, name in enumerate(group.names):
            share = float(table.sum(axis=tuple(other for other in range(table.ndim) if other != axis)).max())
            worst[name] = max(worst[name], _told(share, gamma))
    return gamma, worst


def _told(share: float, gamma: float) -> float:
    """How sure an amplification can make someone of what had this share before."""
    return 1.0 if math.isinf(gamma) else share * gamma / (share * gamma + 1 - share)


def _situations(
    document: Document, questions: Sequence[Document], names: set[str]
) -> tuple[Records, list[NDArray[np.bool_]]]:
    """The records that a block can have, and which of them are possible in each public situation."""
    sizes = {one["name"]: Attribute(one["name"], tuple(one["answers"])) for one in document["scheme"]["attributes"]}
    hidden = {name for one in questions_of(document) if is_hidden(one) for name in _attribute_names(one)} - names
    asked = [one for one in questions_of(document) if one["attributes"]]
    reported = attributes_of(asked)
    routing = Routing(tuple(_asked(one, reported, hidden) for one in asked))
    block = [one for one in routing.questions if one.name in {question["name"] for question in questions}]
    attributes = [sizes[name] for one in block for name in one.attributes]
    records = routing.records(block, attributes)
    masks = [routing.possible(block, known, records) for known in routing.public_situations(block)]
    return records, list({mask.tobytes(): mask for mask in masks}.values())


def _asked(question: Document, reported: Mapping[tuple[str, str | None], str], elsewhere: set[str]) -> Asked:
    """A question as far as it is reported in this block: options that other blocks disguise are left out."""
    names = [name for name in _attribute_names(question) if name not in elsewhere]
    own = [answer["name"] for answer in question["answers"]]
    ways: list[tuple[str, ...]] = [(name,) for name in own]
    if question["kind"] == "several":
        ways = list(itertools.product(("no", "yes"), repeat=len(names)))
    ways += [(special,) * len(names) for special in _special(question)]
    return Asked(
        question["name"],
        tuple(names),
        tuple(ways),
        is_public=not is_hidden(question),
        alternatives=conditions_on(question, reported),
    )


def _written(
    document: Document, groups: Sequence[GroupProgram], records: Records, mask: NDArray[np.bool_]
) -> tuple[float, dict[str, float]]:
    names = [one.name for one in records.attributes]
    answers = [
        dict(zip(names, one, strict=True))
        for one, is_possible in zip(records.answers, mask, strict=True)
        if is_possible
    ]
    law = np.ones((1, len(answers)))
    for group in groups:
        rows = _group_law(json.dumps(group.program), group.radices, tuple(group.digits(record) for record in answers))
        law = (law[:, None, :] * rows[None, :, :]).reshape(-1, len(answers))
    law = law[law.any(axis=1)]
    worst = dict.fromkeys(names, 0.0)
    for prior in _priors(document, groups, answers, records.even(mask)[mask]):
        joint_chances = law * prior
        joint_chances = joint_chances[joint_chances.sum(axis=1) > 0]
        shares = joint_chances / joint_chances.sum(axis=1, keepdims=True)
        for name in names:
            for answer in {record[name] for record in answers} - {NOT_ASKED}:
                own = shares[:, [record[name] == answer for record in answers]].sum(axis=1)
                worst[name] = max(worst[name], float(own.max(initial=0.0)))
    return _ratio(law), worst


def _ratio(law: Array) -> float:
    low, high = law.min(axis=1), law.max(axis=1)
    with np.errstate(divide="ignore"):
        return float(np.where(high > low, high / low, 1.0).max(initial=1.0))


@lru_cache(maxsize=256)
def _group_law(program: str, radices: tuple[int, ...], truths: tuple[tuple[int, ...], ...]) -> Array:
    """The chance of every report under each of these truths."""
    node = compiled(json.loads(program), radices)
    known = {truth: np.array([float(node.chance(truth, report)) for report in node.reports()]) for truth in set(truths)}
    return np.stack([known[truth] for truth in truths], axis=1)


def _priors(
    document: Document, groups: Sequence[GroupProgram], answers: Sequence[Mapping[str, str]], even: Array
) -> Iterator[Array]:
    """The even prior, and the one that the scheme states for some groups while the rest stays even."""
    yield even
    stated = None
    for group in groups:
        prior = _stated(document, group)
        if prior is not None:
            numbers = np.array([joint(group.digits(record), group.radices) for record in answers])
            share = np.bincount(numbers, even, minlength=len(prior))
            stated = (even if stated is None else stated) * prior[numbers] / share[numbers]
    if stated is not None:
        yield stated


def _stated(document: Document, group: GroupProgram) -> Array | None:
    """The prior that the scheme states for a group's records; None where it states none."""
    stated = document["scheme"].get("prior") or {}
    if "+".join(group.names) in stated:
        return np.asarray(stated["+".join(group.names)], dtype=np.float64)
    if group.records is not None or not any(name in stated for name in group.names):
        return None
    weights: Array = np.ones(())
    for name, answers in zip(group.names, group.answers, strict=True):
        weights = np.multiply.outer(weights, np.asarray(stated.get(name, [1 / len(answers)] * len(answers))))
    return weights.ravel()


def _bounds(
    groups: Sequence[GroupProgram], records: Records, situations: Sequence[NDArray[np.bool_]]
) -> tuple[float, dict[str, float]]:
    """Figures that the truth cannot exceed: the product of the groups' amplifications, applied to the even prior."""
    gamma = math.prod(float(amplification(group.program, group.radices)) for group in groups)
    worst = dict.fromkeys((one.name for one in records.attributes), 0.0)
    for mask in situations:
        weights = records.even(mask)
        for axis, attribute in enumerate(records.attributes):
            for code, answer in enumerate(attribute.answers):
                share = float(weights[records.codes[:, axis] == code].sum())
                if answer != NOT_ASKED and share > 0:
                    worst[attribute.name] = max(worst[attribute.name], _told(share, gamma))
    return gamma, worst
