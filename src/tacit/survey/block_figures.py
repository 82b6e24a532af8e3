"""What the reports of a definition tell: groups that must be judged together, and how sure the worst report makes anyone.

Everything is worked out from the programs that the definition carries, as static/whole.js does on the page.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.channel.extremes import among_first, amplification, is_listed, worst_answers
from tacit.channel.program import ProgramNode, compile_program, joint
from tacit.channel.routing import NOT_ASKED, Asked, Records, Routing
from tacit.errors import InvalidInput
from tacit.measures.amplification import Situation
from tacit.schema import Attribute
from tacit.survey.answer_lists import IN_DEFINITION
from tacit.survey.definition_questions import (
    Document,
    attribute_names,
    dealt_in,
    is_hidden,
    questions_of,
    special_answers,
    versions_of,
)
from tacit.survey.routes import asked_of, attributes_of, conditions_of

Array = NDArray[np.float64]

# Beyond so many chances a block is judged by the product of its groups, which is never less than the truth.
WRITTEN = 1 << 18
TINY = float(np.finfo(np.float64).tiny)


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
        return compile_program(self.program, self.radices)

    def digits(self, truth: Mapping[str, str]) -> tuple[int, ...]:
        given = tuple(truth[name] for name in self.names)
        if self.records is not None:
            if given not in self.records:
                raise InvalidInput(
                    f"The answers {given} to {', '.join(self.names)} are not among the combinations that the definition "
                    "allows. Correct the list of records in the definition."
                )
            return (self.records.index(given),)
        return tuple(answers.index(answer) for answers, answer in zip(self.answers, given, strict=True))


@dataclass(frozen=True, eq=False)
class AskedBlock:
    """Groups that must be judged together, with the questions they report and what they tell of each answer."""

    groups: tuple[GroupProgram, ...]
    questions: tuple[Document, ...]
    situations: tuple[Situation, ...]  # its amplification after the public answers that decide what it asks
    worst: Mapping[str, float]

    @cached_property
    def gamma(self) -> float:
        return max(gamma for _, gamma in self.situations)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for group in self.groups for name in group.names)


def asked_blocks(document: Document, deal: int) -> Iterator[AskedBlock]:
    groups = group_programs(document, deal)
    homes = {name: index for index, group in enumerate(groups) for name in group.names}
    block = list(range(len(groups)))

    def unite(one: int, other: int) -> None:
        old, new = block[one], block[other]
        block[:] = [new if value == old else value for value in block]

    by_name = {question["name"]: question for question in questions_of(document)}
    reported = attributes_of(by_name.values())
    for question in by_name.values():
        own_homes = [homes[name] for name in attribute_names(question) if name in homes]
        if own_homes and (special_answers(question) or question["when"]):
            for one in own_homes:
                unite(one, own_homes[0])
        for condition in conditions_of(question) if own_homes else []:
            before = reported[condition["question"], condition.get("option")]
            if before in homes:
                unite(own_homes[0], homes[before])
    for head in dict.fromkeys(block):
        members = tuple(group for index, group in enumerate(groups) if block[index] == head)
        names = {name for group in members for name in group.names}
        questions = tuple(question for question in by_name.values() if names & set(attribute_names(question)))
        situations, worst = _figures(document, deal, members, questions)
        yield AskedBlock(members, questions, tuple(situations), worst)


def group_programs(document: Document, deal: int) -> list[GroupProgram]:
    answers = {attribute["name"]: tuple(attribute["answers"]) for attribute in document["scheme"]["attributes"]}
    groups = []
    for group, program in zip(versions_of(document)[deal]["groups"], document["programs"][deal], strict=True):
        records = group.get("records")
        listed = (
            [tuple(NOT_ASKED if answer is None else answer for answer in record) for record in records]
            if records
            else None
        )
        names = tuple(group["attributes"])
        made = GroupProgram(names, tuple(answers[name] for name in names), tuple(listed) if listed else None, program)
        assert made.node.report_radices  # read now, so that a bad program is refused before anything else is computed
        groups.append(made)
    return groups


def _figures(
    document: Document, deal: int, groups: Sequence[GroupProgram], questions: Sequence[Document]
) -> tuple[list[Situation], dict[str, float]]:
    """A block's amplifications, and how sure its least lucky report makes someone of each attribute's answer."""
    is_free = all(
        not question["when"] and not (special_answers(question) and len(question["attributes"]) > 1)
        for question in questions
    )
    if len(groups) == 1 and groups[0].records is None and is_free and not is_listed(groups[0].node):
        gamma, worst = _large(document, groups[0])
        return [({}, gamma)], worst
    routed = _routed_by_public(document, deal, groups, questions)
    if routed is not None:
        return routed
    _check_few(questions)
    names = {name for group in groups for name in group.names}
    records, known, masks = _situations(document, deal, questions, names)
    situations = {mask.tobytes(): mask for mask in masks}
    n_reports = math.prod(group.node.report_count for group in groups)
    is_written = n_reports * max(int(mask.sum()) for mask in situations.values()) <= WRITTEN
    gammas, worst = {}, dict.fromkeys((attribute.name for attribute in records.attributes), 0.0)
    figures = _written_figures if is_written else _bounds
    for key, mask in situations.items():
        gammas[key], sures = figures(document, groups, records, mask)
        worst = {name: max(worst[name], sures[name]) for name in worst}
    return [(situation, gammas[mask.tobytes()]) for situation, mask in zip(known, masks, strict=True)], worst


def _large(document: Document, group: GroupProgram) -> tuple[float, dict[str, float]]:
    """The figures of a group whose law is not written out; under a stated prior a bound from the amplification."""
    gamma = float(amplification(group.program, group.radices))
    worst = dict(zip(group.names, worst_answers(group.program, group.radices), strict=True))
    stated = _stated_prior(document, group)
    if stated is not None:
        table = stated.reshape(group.radices)
        for axis, name in enumerate(group.names):
            share = float(table.sum(axis=tuple(other for other in range(table.ndim) if other != axis)).max())
            worst[name] = max(worst[name], made_sure(share, gamma))
    return gamma, worst


def _routed_by_public(
    document: Document, deal: int, groups: Sequence[GroupProgram], questions: Sequence[Document]
) -> tuple[list[Situation], dict[str, float]] | None:
    """The figures of one large question that public answers decide about; None where its records must be written out.

    Whoever is asked has one of all answers but the last, which is not to be asked; whoever is not has no other. Under a
    stated prior a bound from the amplification.
    """
    group, question = groups[0], questions[0]
    if len(groups) > 1 or len(group.names) > 1 or group.records is not None or is_listed(group.node):
        return None
    asked = len(question["answers"]) + len(special_answers(question))
    figures = among_first(group.program, group.radices, asked) if question["when"] else None
    if figures is None:
        return None
    gamma, sure = float(figures[0]), float(figures[1])
    stated = _stated_prior(document, group)
    if stated is not None and stated[:asked].any():
        sure = max(sure, made_sure(float(stated[:asked].max() / stated[:asked].sum()), gamma))
    routing, (own,) = _routing(document, deal, questions, set(group.names))
    situations: list[Situation] = [
        (situations, gamma if own.is_asked(situations) else 1.0) for situations in routing.public_situations([own])
    ]
    return situations, {group.names[0]: sure}


def _check_few(questions: Sequence[Document]) -> None:
    """What is written out record by record must not have thousands of answers (static/whole.js)."""
    for question in questions:
        if len(question["answers"]) > IN_DEFINITION:
            raise InvalidInput(
                f"{question['name']!r} has {len(question['answers']):,} answers: it must be disguised alone, by Hadamard "
                "response or local hashing, and depend on public answers only."
            )


def made_sure(share: float, gamma: float) -> float:
    """How sure an amplification can make someone of what had this share before."""
    return 1.0 if math.isinf(gamma) else share * gamma / (share * gamma + 1 - share)


def _situations(
    document: Document, deal: int, questions: Sequence[Document], names: set[str]
) -> tuple[Records, list[dict[str, str]], list[NDArray[np.bool_]]]:
    """The records that a block can have, the public situations it depends on, and which records are possible in each."""
    sizes = {
        attribute["name"]: Attribute(attribute["name"], tuple(attribute["answers"]))
        for attribute in document["scheme"]["attributes"]
    }
    routing, block = _routing(document, deal, questions, names)
    attributes = [sizes[name] for question in block for name in question.attributes]
    records = routing.records(block, attributes)
    situations = routing.public_situations(block)
    return records, situations, [routing.possible(block, one, records) for one in situations]


def _routing(
    document: Document, deal: int, questions: Sequence[Document], names: set[str]
) -> tuple[Routing, list[Asked]]:
    """The routing of a version as far as a block of these attributes is concerned, and the block's own questions in it."""
    version = versions_of(document)[deal]["name"]
    hidden = {
        name for question in questions_of(document) if is_hidden(question) for name in attribute_names(question)
    } - names
    asked = [question for question in questions_of(document) if question["attributes"]]
    reported = attributes_of(asked)
    absent = [
        question
        for question in asked
        if not is_hidden(question) and version not in dealt_in(question, versions_of(document))
    ]
    routing = Routing(tuple(asked_of(question, reported, hidden, is_absent=question in absent) for question in asked))
    return routing, [one for one in routing.questions if one.name in {question["name"] for question in questions}]


def _possible_answers(records: Records, mask: NDArray[np.bool_]) -> list[dict[str, str]]:
    names = [attribute.name for attribute in records.attributes]
    return [
        dict(zip(names, record, strict=True))
        for record, is_possible in zip(records.answers, mask, strict=True)
        if is_possible
    ]


def _written_figures(
    document: Document, groups: Sequence[GroupProgram], records: Records, mask: NDArray[np.bool_]
) -> tuple[float, dict[str, float]]:
    answers = _possible_answers(records, mask)
    law = np.ones((1, len(answers)))
    for group in groups:
        rows = _group_law(json.dumps(group.program), group.radices, tuple(group.digits(record) for record in answers))
        law = (law[:, None, :] * rows[None, :, :]).reshape(-1, len(answers))
    law = law[law.any(axis=1)]
    names = [attribute.name for attribute in records.attributes]
    worst = dict.fromkeys(names, 0.0)
    for prior in _priors(document, groups, answers, records.even(mask)[mask]):
        joint_chances = law * prior
        joint_chances = joint_chances[joint_chances.sum(axis=1) > 0]
        shares = joint_chances / joint_chances.sum(axis=1, keepdims=True)
        for name in names:
            for answer in {record[name] for record in answers} - {NOT_ASKED}:
                sums = shares[:, [record[name] == answer for record in answers]].sum(axis=1)
                worst[name] = max(worst[name], float(sums.max(initial=0.0)))
    return _ratio(law), worst


def _ratio(law: Array) -> float:
    low, high = law.min(axis=1), law.max(axis=1)
    with np.errstate(divide="ignore"):
        return float(np.where(high > low, high / low, 1.0).max(initial=1.0))


@lru_cache(maxsize=256)
def _group_law(program: str, radices: tuple[int, ...], truths: tuple[tuple[int, ...], ...]) -> Array:
    """The chance of every report under each of these truths."""
    node = compile_program(json.loads(program), radices)
    chances = {
        truth: np.array([float(node.chance(truth, report)) for report in node.reports()]) for truth in set(truths)
    }
    return np.stack([chances[truth] for truth in truths], axis=1)


def _priors(
    document: Document, groups: Sequence[GroupProgram], answers: Sequence[Mapping[str, str]], even: Array
) -> Iterator[Array]:
    """The even prior, and the one that the scheme states for some groups while the rest stays even."""
    yield even
    stated = None
    for group in groups:
        prior = _stated_prior(document, group)
        if prior is not None:
            numbers = np.array([joint(group.digits(record), group.radices) for record in answers])
            share = np.bincount(numbers, even, minlength=len(prior))
            stated = (even if stated is None else stated) * prior[numbers] / share[numbers]
    if stated is not None:
        yield stated


def _stated_prior(document: Document, group: GroupProgram) -> Array | None:
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
    document: Document, groups: Sequence[GroupProgram], records: Records, mask: NDArray[np.bool_]
) -> tuple[float, dict[str, float]]:
    """Figures that the truth cannot exceed: the product of the groups' amplifications, applied to the priors."""
    several = mask.sum() > 1  # where the public answers leave one record, nothing is left to tell
    gamma = math.prod(float(amplification(group.program, group.radices)) for group in groups) if several else 1.0
    worst = dict.fromkeys((attribute.name for attribute in records.attributes), 0.0)
    for prior in _priors(document, groups, _possible_answers(records, mask), records.even(mask)[mask]):
        for axis, attribute in enumerate(records.attributes):
            shares = np.bincount(records.codes[mask, axis], prior, len(attribute.answers)) / max(
                float(prior.sum()), TINY
            )
            for answer, share in zip(attribute.answers, shares, strict=True):
                if answer != NOT_ASKED and share > 0:
                    worst[attribute.name] = max(worst[attribute.name], made_sure(float(share), gamma))
    return gamma, worst
