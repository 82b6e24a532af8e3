"""Random questionnaires, and everybody who could answer one, by their own reading of the definition."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tacit.channel.program import law
from tacit.randomness import ONE

DECLINED, NO_ANSWER, NOT_ASKED = "prefer not to say", "no answer", "not asked"


def questionnaire(rng: random.Random) -> str:
    """A questionnaire's file; many are refused, as they should be."""
    questions: list[dict[str, Any]] = []
    for number in range(rng.choice([1, 2, 2, 3, 3])):
        questions.append(_question(rng, number, questions))
    document: dict[str, Any] = {
        "name": "random",
        "title": "Random",
        "introduction": "Anything.",
        "contact": "research@example.org",
        "privacy": rng.choice(["light", "moderate", "strong", "very strong"]),
        "allow_unbounded": rng.random() < 0.3,
        "pages": [{"questions": questions}],
    }
    groups = _groups(rng, questions)
    if groups:
        document["groups"] = groups
    return json.dumps(document)


def _question(rng: random.Random, number: int, earlier: list[dict[str, Any]]) -> dict[str, Any]:
    kind = rng.choice(["yes-no", "yes-no", "choice", "scale", "several"])
    one: dict[str, Any] = {"name": f"q{number}", "kind": kind, "text": f"Number {number}?"}
    one["sensitive"] = rng.random() < 0.8 or number == 0
    one |= {
        "choice": {"answers": ["a", "b", "c"][: rng.choice([2, 3])]},
        "scale": {"scale": {"from": 1, "to": rng.choice([2, 3])}},
        "several": {"options": {"x": "X", "y": "Y"}},
    }.get(kind, {})
    one["prefer_not_to_say"] = rng.random() < 0.2
    if rng.random() < 0.1:
        one["optional"] = True
    if one["sensitive"] and rng.random() < 0.12:
        one["mode"] = rng.choice(["self", "direct"])
        if one["mode"] == "self" and rng.random() < 0.9:
            one["prefer_not_to_say"] = False
            one.pop("optional", None)
    plain = kind == "yes-no" and not {"optional", "mode"} & set(one) and not one["prefer_not_to_say"]
    if rng.random() < 0.1 and one["sensitive"] and plain:
        share = rng.choice([0.5, 0.7, 0.25])
        one["unrelated"] = {"keep": rng.choice([0.4, 0.6]), "distribution": [share, 1 - share]}
        if rng.random() < 0.5:
            one["unrelated"]["ask"] = f"Harmless {number}?"
    if earlier and "unrelated" not in one and rng.random() < 0.25 * number:
        one["when"] = _when(rng, earlier)
    return one


def _when(rng: random.Random, earlier: list[dict[str, Any]]) -> Any:
    """Conditions on one earlier question or two, together or as alternatives."""
    chosen = rng.sample(earlier, min(len(earlier), rng.choice([1, 2])))
    conditions = [{other["name"]: rng.sample(_names(other), 1)} for other in chosen]
    if rng.random() < 0.5:
        return conditions if len(conditions) > 1 else conditions[0]
    return {name: answers for condition in conditions for name, answers in condition.items()}


def _names(question: Mapping[str, Any]) -> list[str]:
    if question["kind"] == "yes-no":
        return ["no", "yes"]
    if question["kind"] == "choice":
        return list(question["answers"])
    if question["kind"] == "several":
        return list(question["options"])
    return [str(one) for one in range(1, question["scale"]["to"] + 1)]


def _size(question: Mapping[str, Any]) -> int:
    own = 4 if question["kind"] == "several" else len(_names(question))
    return own + bool(question["prefer_not_to_say"]) + ("optional" in question) + ("when" in question)


def _groups(rng: random.Random, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    left = [one for one in questions if one["sensitive"] and "unrelated" not in one and one.get("mode") != "direct"]
    groups = []
    while left and rng.random() < 0.6:
        members = rng.sample(left, rng.choice([1, 1, min(2, len(left))]))
        left = [one for one in left if one not in members]
        size = 1
        for one in members:
            size *= _size(one)
        group = {"questions": [one["name"] for one in members], "channel": _channel(rng, size)}
        routed = any("when" in one or one["kind"] == "several" for one in members)
        if rng.random() < 0.2 and not routed:
            weights = [rng.randint(1, 5) for _ in range(size)]
            group["prior"] = [weight / sum(weights) for weight in weights]
        groups.append(group)
    return groups


def _channel(rng: random.Random, size: int) -> dict[str, Any]:
    def weights(count: int) -> list[float]:
        drawn = [rng.randint(1, 6) for _ in range(count)]
        return [one / sum(drawn) for one in drawn]

    columns = [weights(size) for _ in range(size)]
    kinds: list[dict[str, Any]] = [
        {"kind": "warner", "p": rng.choice([0.1, 0.4, 0.6, 0.75])},
        {"kind": "uniform-perturbation", "q": rng.choice([0.2, 0.5])},
        {"kind": "gamma-diagonal", "gamma": rng.choice([1.5, 3.0, 12.0])},
        {"kind": "mixture", "keep": rng.choice([0.3, 0.5]), "personal": weights(size)},
        {"kind": "flip", "theta": rng.choice([0.3, 0.7])},
        {"kind": "matrix", "matrix": [[column[row] for column in columns] for row in range(size)]},
        {"kind": "mask", "p": rng.choice([0.55, 0.65])},
        {"kind": "cut-and-paste", "K": rng.choice([1, 3]), "rho": rng.choice([0.4, 0.5])},
        {"kind": "randomized-gamma-diagonal", "gamma": 3.0, "alpha": 0.05},
        {"kind": "subset", "size": rng.choice([1, 2]), "gamma": rng.choice([2.0, 5.0])},
        {"kind": "hadamard", "gamma": rng.choice([2.0, 4.0])},
        {"kind": "local-hashing", "gamma": 2.0},
    ]
    return rng.choice(kinds)


@dataclass(frozen=True)
class Person:
    """Answers as they are given on the page, and what is true of each attribute."""

    answers: dict[str, Any] = field(default_factory=dict)
    truth: dict[str, str] = field(default_factory=dict)
    harmless: dict[str, str] = field(default_factory=dict)
    weight: float = 1.0  # chance of the harmless answers, and of what the person's own device shows

    def to_document(self) -> dict[str, Any]:
        return {"answers": self.answers, "harmless": self.harmless}


def everybody(document: Mapping[str, Any]) -> list[Person]:
    """Every way to answer a questionnaire, the harmless questions included."""
    people = [Person()]
    for page in document["pages"]:
        for question in page["questions"]:
            people = [after for person in people for after in _answered(person, question)]
    for question, shares in _harmless(document):
        people = [
            Person(one.answers, one.truth, {**one.harmless, question: answer}, one.weight * share)
            for one in people
            for answer, share in shares
        ]
    for question, program, names in _own_devices(document):
        people = [after for person in people for after in _shown(person, question, program, names)]
    return people


def _shown(person: Person, question: str, program: Any, names: list[str]) -> Iterator[Person]:
    """A person with each answer that their own device can show; it is what they enter."""
    for (code,), chances in law(program, [len(names)]).items():
        chance = float(chances[names.index(person.truth[question])])
        if chance:
            entered = {**person.answers, question: names[code]}
            yield Person(entered, person.truth, person.harmless, person.weight * chance)


def _own_devices(document: Mapping[str, Any]) -> Iterator[tuple[str, Any, list[str]]]:
    groups = [group["attributes"] for group in document["scheme"]["groups"]]
    for page in document["pages"]:
        for question in page["questions"]:
            if question.get("mode") == "self":
                program = document["programs"][0][groups.index([question["name"]])]
                yield question["name"], program, [answer["name"] for answer in question["answers"]]


def _answered(person: Person, question: Mapping[str, Any]) -> Iterator[Person]:
    names = [part["attribute"] for part in question["attributes"]]
    if not _is_asked(question["when"], person.truth):
        yield Person(person.answers, {**person.truth, **dict.fromkeys(names, NOT_ASKED)})
        return
    for given, shown in _ways(question):
        truth = {**person.truth, **dict(zip(names, shown, strict=True))}
        answers = person.answers if given is None else {**person.answers, question["name"]: given}
        yield Person(answers, truth)


def _is_asked(when: list[dict[str, Any]], truth: Mapping[str, str]) -> bool:
    """Whether every condition holds, or all of one of the alternatives."""
    alternatives = when[0]["any"] if when and "any" in when[0] else [when]
    return any(
        all(truth["_".join(filter(None, (one["question"], one.get("option"))))] in one["answers"] for one in conditions)
        for conditions in alternatives
    )


def _ways(question: Mapping[str, Any]) -> Iterator[tuple[Any, tuple[str, ...]]]:
    own = [answer["name"] for answer in question["answers"]]
    if question["kind"] == "several":
        for bits in itertools.product((0, 1), repeat=len(own)):
            chosen = [name for name, bit in zip(own, bits, strict=True) if bit]
            yield chosen, tuple("yes" if bit else "no" for bit in bits)
    else:
        yield from ((name, (name,)) for name in own)
    count = len(question["attributes"])
    if question["declines"]:
        yield DECLINED, (DECLINED,) * count
    if question.get("optional"):
        yield (NO_ANSWER if question["kind"] == "several" else None), (NO_ANSWER,) * count


def _harmless(document: Mapping[str, Any]) -> Iterator[tuple[str, list[tuple[str, float]]]]:
    groups = [group["attributes"] for group in document["scheme"]["groups"]]
    for page in document["pages"]:
        for question in page["questions"]:
            if question["harmless"]:
                weights = document["programs"][0][groups.index([question["name"]])]["tails"]["weigh"]
                names = [answer["name"] for answer in question["answers"]]
                yield question["name"], [(name, weight / ONE) for name, weight in zip(names, weights, strict=True)]
