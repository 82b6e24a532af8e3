"""The leak hunter: random questionnaires, everybody who could answer them, every draw of the real page.

All that is sent and all that the device keeps is compared with what the label states: how sure the least lucky report
makes someone of an answer, and the amplification of all answers together. The law comes from running the page's code,
the comparison is made here, from the definition of the figures.
"""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.errors import InvalidInput
from tacit.survey.definition import Definition
from tacit.survey.definition import surest as surest_of
from tacit.survey.verification import examine
from tests.survey.page import HERE, required
from tests.survey.random_questionnaires import NOT_ASKED, Person, everybody, questionnaire

WANTED = 4000 if os.environ.get("TACIT_SOAK") == "1" else 500
SEED = 1965
MOST_PEOPLE = 40
# Questionnaires that node enumerates in one go: however many there are, none of its runs is long.
AT_ONCE = 250
EQUAL = 1e-9

Document = Mapping[str, Any]
Array = NDArray[np.float64]


def enumerated(cases: Sequence[tuple[Document, list[Person]]], leak: str = "") -> list[dict[str, Any]]:
    """What the page makes of each definition, and the law of what each person's device sends and keeps."""
    documents = [{"definition": one, "people": [person.to_document() for person in people]} for one, people in cases]
    done = subprocess.run(
        [required("node", "node is not installed"), "--no-warnings", str(HERE / "page_leaks.mjs")],
        input=json.dumps({"cases": documents, "leak": leak}),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return list(json.loads(done.stdout))


def accepted_questionnaires() -> list[tuple[Document, list[Person]]]:
    rng = random.Random(SEED)
    found: list[tuple[Document, list[Person]]] = []
    while len(found) < WANTED:
        try:
            document = Definition.from_yaml(questionnaire(rng)).document
        except InvalidInput:
            continue
        people = everybody(document)
        if len(people) <= MOST_PEOPLE:
            found.append((document, people))
    return found


def what_is_sent_and_kept_has_exactly_the_law_that_the_label_states(
    accepted: list[tuple[Document, list[Person]]], told: list[dict[str, Any]]
) -> None:
    compared = 0
    for (document, people), page in zip(accepted, told, strict=True):
        assert "objections" not in page, f"the page refuses what was opened: {page} {json.dumps(document)}"
        if "laws" in page:
            problem = difference(document, people, page)
            assert not problem, f"{problem}\n{json.dumps(document)}"
            compared += 1
    assert compared >= 0.9 * len(accepted)


def difference(document: Document, people: list[Person], page: Mapping[str, Any]) -> str:
    """How the enumerated law differs from what the label states; empty where it does not."""
    truths, law = merged(people, page["laws"])
    hidden = [name for group in document["scheme"]["groups"] for name in group["attributes"]]
    names = [one["name"] for one in document["scheme"]["attributes"] if one["name"] in hidden]
    public = [one["name"] for one in document["scheme"]["attributes"] if one["name"] not in hidden]
    gamma, worst = 1.0, dict.fromkeys(names, 0.0)
    situations: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, truth in enumerate(truths):
        situations[tuple(truth[name] for name in public)].append(index)
    for members in situations.values():
        here, chances = [truths[index] for index in members], law[:, members]
        chances = chances[chances.any(axis=1)]
        low, high = chances.min(axis=1), chances.max(axis=1)
        gamma = max(gamma, math.inf if (low == 0).any() else float((high / low).max()))
        for prior in priors(document, here, names):
            for name, sure in surest(here, chances * prior, names).items():
                worst[name] = max(worst[name], sure)
    stated = math.inf if page["gamma"] is None else page["gamma"]
    if not (gamma == stated or math.isclose(gamma, stated, rel_tol=EQUAL)):
        return f"all answers together: {gamma} is enumerated, {stated} stated"
    wrong = [name for name in names if abs(worst[name] - page["worst"][name]) > EQUAL]
    return "; ".join(f"{name}: {worst[name]} is enumerated, {page['worst'][name]} stated" for name in wrong)


def merged(people: list[Person], laws: list[dict[str, float]]) -> tuple[list[dict[str, str]], Array]:
    """The law of each true record, over the harmless answers that somebody with it could give."""
    sent = {text: row for row, text in enumerate(dict.fromkeys(text for law in laws for text in law))}
    records: dict[str, int] = {}
    columns: list[Array] = []
    truths: list[dict[str, str]] = []
    for person, law in zip(people, laws, strict=True):
        key = json.dumps(person.truth)
        if key not in records:
            records[key] = len(columns)
            columns.append(np.zeros(len(sent)))
            truths.append(person.truth)
        for text, chance in law.items():
            columns[records[key]][sent[text]] += person.weight * chance
    return truths, np.stack(columns, axis=1)


def priors(document: Document, truths: list[dict[str, str]], names: list[str]) -> list[Array]:
    """Even, answer by answer; and as stated, for the groups that state one."""
    weights = np.ones(len(truths))
    prefixes = [""] * len(truths)
    for name in names:
        after = [f"{prefix}\n{truth[name]}" for prefix, truth in zip(prefixes, truths, strict=True)]
        follow: dict[str, set[str]] = defaultdict(set)
        for prefix, one in zip(prefixes, after, strict=True):
            follow[prefix].add(one)
        weights /= [len(follow[prefix]) for prefix in prefixes]
        prefixes = after
    stated = document["scheme"].get("prior") or {}
    if not stated:
        return [weights]
    answers = {one["name"]: one["answers"] for one in document["scheme"]["attributes"]}
    changed = weights.copy()
    for key, table in stated.items():
        own = key.split("+")
        shape = [len(answers[name]) for name in own]
        for index, truth in enumerate(truths):
            place = np.ravel_multi_index([answers[name].index(truth[name]) for name in own], shape)
            changed[index] *= table[place] * math.prod(shape)
    return [weights, changed]


def surest(truths: list[dict[str, str]], joint: Array, names: list[str]) -> dict[str, float]:
    joint = joint[joint.sum(axis=1) > 0]
    shares = joint / joint.sum(axis=1, keepdims=True)
    worst = {}
    for name in names:
        answers = {truth[name] for truth in truths} - {NOT_ASKED}
        own = [shares[:, [truth[name] == answer for truth in truths]].sum(axis=1).max() for answer in answers]
        worst[name] = float(max(own, default=0.0))
    return worst


def what_open_prints_is_what_the_page_says(
    accepted: list[tuple[Document, list[Person]]], told: list[dict[str, Any]]
) -> None:
    for (document, _), page in list(zip(accepted, told, strict=True))[:150]:
        whole = Definition(dict(document)).whole
        stated = {answer.attribute: surest_of(answer) for answer in whole.answers()}
        if "worst" in page:
            assert stated == pytest.approx(page["worst"], abs=EQUAL), json.dumps(document)
            assert whole.gamma == pytest.approx(math.inf if page["gamma"] is None else page["gamma"], rel=EQUAL)


def the_chances_of_everything_sent_sum_to_one(told: list[dict[str, Any]]) -> None:
    for page in told:
        for law in page.get("laws", []):
            assert sum(law.values()) == pytest.approx(1, abs=1e-9)


def every_kind_of_question_and_of_protection_was_met(accepted: list[tuple[Document, list[Person]]]) -> None:
    questions = [one for document, _ in accepted for page in document["pages"] for one in page["questions"]]
    kinds = {group["channel"]["kind"] for document, _ in accepted for group in document["scheme"]["groups"]}
    assert {one["kind"] for one in questions} == {"yes-no", "choice", "scale", "several"}
    assert {one["mode"] for one in questions} == {"disguised", "public", "self", "direct"}
    assert any(one["declines"] for one in questions)
    assert any(one["optional"] for one in questions)
    assert any("records" in group for document, _ in accepted for group in document["scheme"]["groups"])
    assert any(one["when"] for one in questions)
    assert any("any" in one["when"][0] for one in questions if one["when"])
    assert any(condition.get("option") for one in questions for condition in one["when"])
    assert any(len(one["when"]) > 1 for one in questions)
    assert any(one["harmless"] for one in questions)
    assert any(not one["sensitive"] for one in questions)
    assert any(document["scheme"].get("prior") for document, _ in accepted)
    assert any(document["allow_unbounded"] for document, _ in accepted)
    assert len(kinds) >= 10


def a_leak_of_one_answer_in_the_length_is_noticed(accepted: list[tuple[Document, list[Person]]]) -> None:
    lengths = ({len(json.dumps(person.answers)) for person in people} for _, people in accepted)
    some = [case for case, seen in zip(accepted, lengths, strict=True) if len(seen) > 1][:20]
    found = enumerated(some, leak="length")
    noticed = [difference(*case, page) for case, page in zip(some, found, strict=True) if "laws" in page]
    assert sum(map(bool, noticed)) >= 0.8 * len(noticed)


def a_wrong_label_is_noticed(accepted: list[tuple[Document, list[Person]]], told: list[dict[str, Any]]) -> None:
    (document, people), page = next((case, page) for case, page in zip(accepted, told, strict=True) if "laws" in page)
    name = next(iter(page["worst"]))
    wrong = {**page, "worst": {**page["worst"], name: page["worst"][name] - 1e-6}}
    assert difference(document, people, wrong)


def branching(*questions: dict[str, Any]) -> Definition:
    """A questionnaire whose disguised questions have amplifications of their own, so that no two products are alike."""
    filled = [{"kind": "yes-no", "text": f"{one['name']}?", "prefer_not_to_say": False, **one} for one in questions]
    hidden = [one["name"] for one in filled if one["sensitive"] and one.get("mode") != "direct"]
    gammas = (3, 2.5, 4.5, 2)
    document = {
        "name": "branches",
        "title": "Branches",
        "introduction": "Anything.",
        "contact": "research@example.org",
        "pages": [{"questions": filled}],
        "groups": [
            {"questions": [name], "channel": {"kind": "gamma-diagonal", "gamma": gamma}}
            for name, gamma in zip(hidden, gammas, strict=False)
        ],
    }
    return Definition.from_yaml(json.dumps(document))


PUBLIC, HIDDEN, ABC = {"sensitive": False}, {"sensitive": True}, {"kind": "choice", "answers": ["a", "b", "c"]}
BRANCHES = {
    "a direct question leads to one of two": (
        {"name": "q0", **HIDDEN, **ABC, "mode": "direct"},
        {"name": "q1", **HIDDEN, "when": {"q0": "a"}},
        {"name": "q2", **HIDDEN, "when": {"q0": "b"}},
    ),
    "public questions lead to public ones": (
        {"name": "p0", **PUBLIC},
        {"name": "p1", **PUBLIC, "when": {"p0": "yes"}},
        {"name": "q2", **HIDDEN, "when": {"p1": "yes"}},
        {"name": "q3", **HIDDEN, "when": [{"p0": "no"}, {"p1": "no"}]},
    ),
    "two of three can meet, and one is for everybody": (
        {"name": "p0", **PUBLIC, **ABC},
        {"name": "p1", **PUBLIC},
        {"name": "q2", **HIDDEN, "when": {"p0": "a", "p1": "yes"}},
        {"name": "q3", **HIDDEN, "when": {"p0": ["a", "b"]}},
        {"name": "q4", **HIDDEN, "when": {"p1": "no"}},
        {"name": "q5", **HIDDEN},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", BRANCHES)
def test_worst_cases_of_public_branches_that_exclude_each_other_do_not_multiply(case: str) -> None:
    definition = branching(*BRANCHES[case])
    document = definition.document
    people = everybody(document)
    (page,) = enumerated([(document, people)])
    assert not difference(document, people, page)
    examined = examine(document)
    assert examined.gamma == pytest.approx(page["gamma"], rel=EQUAL)
    assert definition.whole.gamma == pytest.approx(page["gamma"], rel=EQUAL)
    multiplied = math.prod(block.gamma for block in examined.deals[0])
    assert page["gamma"] < 0.9 * multiplied


@pytest.mark.slow
@pytest.mark.soak
def test_random_questionnaires_keep_their_promises_and_a_leak_or_a_wrong_label_would_be_noticed() -> None:
    """One test for all: making and enumerating the questionnaires takes far longer than looking at them."""
    accepted = accepted_questionnaires()
    every_kind_of_question_and_of_protection_was_met(accepted)
    told = [page for at in range(0, len(accepted), AT_ONCE) for page in enumerated(accepted[at : at + AT_ONCE])]
    the_chances_of_everything_sent_sum_to_one(told)
    what_is_sent_and_kept_has_exactly_the_law_that_the_label_states(accepted, told)
    what_open_prints_is_what_the_page_says(accepted, told)
    a_leak_of_one_answer_in_the_length_is_noticed(accepted)
    a_wrong_label_is_noticed(accepted, told)
