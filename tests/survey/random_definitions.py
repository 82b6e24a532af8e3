"""Random definitions as anybody could write them by hand: dealt, rewired, honest and forged.

They never passed `survey open`. Versions share programs and lay them on other attributes, in other orders; a forged one is
altered afterwards and states the label of what it was.
"""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Callable, Sequence
from typing import Any

from tacit.channel.document import document_hash
from tacit.randomness import ONE
from tacit.survey.verification import examine

Document = dict[str, Any]
LANGUAGES = ("en", "de", "ar")
MOST_RECORDS = 40  # of one group: its law is written out in both languages


def random_definition(rng: random.Random) -> Document:
    """A definition that its author means well with: its label follows from its programs, where there is one."""
    languages = rng.sample(LANGUAGES, rng.choice([1, 1, 2, 3]))
    questions: list[Document] = []
    for number in range(rng.choice([2, 3, 4])):
        questions.append(_question(rng, number, questions, languages))
    answers = {name: listed for question in questions for name, listed in _attributes(question)}
    document: Document = {
        "languages": languages,
        **{name: dict.fromkeys(languages, name) for name in ("title", "introduction", "contact")},
        "allow_unbounded": rng.random() < 0.3,
        "second_round": False,
        "pages": [{"title": None, "questions": questions}],
        "scheme": {"attributes": [{"name": name, "answers": listed} for name, listed in answers.items()]},
    }
    versions = _versions(rng, questions, answers)
    hidden = [name for group in versions[0][0] for name in group["attributes"]]
    if len(versions) == 1 and not any("deals" in question for question in questions):
        document["scheme"]["groups"] = versions[0][0]
    else:
        first = rng.choice([0.5, 1e-9]) if len(versions) > 1 else 1.0
        shares = [first, *[(1 - first) / max(1, len(versions) - 1)] * (len(versions) - 1)]
        document["scheme"]["questionnaires"] = [
            {"name": f"v{number}", "probability": share, "groups": groups}
            for number, (share, (groups, _)) in enumerate(zip(shares, versions, strict=True))
        ]
    document["programs"] = [programs for _, programs in versions]
    if rng.random() < 0.2 and hidden:
        weights = [rng.randint(1, 9) for _ in answers[hidden[0]]]
        document["scheme"]["prior"] = {hidden[0]: [weight / sum(weights) for weight in weights]}
    if rng.random() < 0.3:
        waves = rng.choice([1, 2, 3])
        document |= {"wave": rng.randint(1, waves), "waves": waves, "series": "0" * 64}
        document |= rng.choice([{}, {}, {"series_gamma": 40}, {"series_gamma": 3.5, "panel": True}])
    examination = examine(document)
    if examination.deals:
        document["label"] = examination.label
    return document


def _question(rng: random.Random, number: int, earlier: Sequence[Document], languages: Sequence[str]) -> Document:
    kind = rng.choice(["yes-no", "yes-no", "choice", "several"])
    name, mode = f"q{number}", "public" if number and rng.random() < 0.2 else "disguised"
    three = rng.choice([["no", "yes", "both"], ["no", "yes", "no\nyes"]])
    listed = {"yes-no": ["no", "yes"], "choice": three[: rng.choice([2, 3])], "several": ["x", "y"]}
    options = listed["several"] if kind == "several" else [None]
    when: list[Document] = []
    if earlier and rng.random() < 0.3:
        before = rng.choice(earlier)
        option = rng.choice(before["attributes"])["option"]
        wanted = [rng.choice(["no", "yes", *["not asked"] * bool(before["when"] or "deals" in before)])]
        when = [{"question": before["name"], "answers": wanted, "option": option}]
        if option is None:
            del when[0]["option"]
    return {
        "name": name,
        "kind": kind,
        "text": {language: f"Number {number} ({language})?" for language in languages},
        "help": None,
        "answers": [{"name": one, "text": dict.fromkeys(languages, one)} for one in listed[kind]],
        "sensitive": mode == "disguised",
        "mode": mode,
        "declines": rng.random() < 0.15,
        "optional": rng.random() < 0.1,
        "when": when,
        "harmless": None,
        "attributes": [{"attribute": name if one is None else f"{name}_{one}", "option": one} for one in options],
        **({"deals": [rng.choice(["v0", "v1"])]} if mode == "public" and rng.random() < 0.4 else {}),
    }


def _attributes(question: Document) -> list[tuple[str, list[str]]]:
    special = ["prefer not to say"] * question["declines"] + ["no answer"] * question["optional"]
    special += ["not asked"] * bool(question["when"] or "deals" in question)
    own = ["no", "yes"] if question["kind"] == "several" else [one["name"] for one in question["answers"]]
    return [(part["attribute"], [*own, *special]) for part in question["attributes"]]


def _versions(
    rng: random.Random, questions: Sequence[Document], answers: dict[str, list[str]]
) -> list[tuple[list[Document], list[Any]]]:
    """Groups with their programs for each version; a shape of group keeps its program, whatever stands on its axes."""
    by_shape: dict[tuple[int, ...], Any] = {}
    versions: list[tuple[list[Document], list[Any]]] = []
    for _ in range(rng.choice([1, 2, 2, 3])):
        if versions and rng.random() < 0.6:
            versions.append(_rewired(rng, *rng.choice(versions), answers))
            continue
        disguised = [one for one in questions if one["mode"] == "disguised"]
        if len(disguised) > 1 and rng.random() < 0.3:
            disguised.remove(rng.choice(disguised))
        left = [part["attribute"] for question in disguised for part in question["attributes"]]
        rng.shuffle(left)
        groups: list[Document] = []
        programs: list[Any] = []
        while left:
            members = left[: rng.choice([1, 2, 2])]
            if math.prod(len(answers[name]) for name in members) > MOST_RECORDS:
                members = members[:1]
            left = left[len(members) :]
            groups.append({"attributes": members, "channel": {"kind": "any"}})
            shape = tuple(len(answers[name]) for name in members)
            if rng.random() < 0.1:
                records = [list(record) for record in itertools.product(*(answers[name] for name in members))]
                rng.shuffle(records)
                groups[-1]["records"] = [[None if one == "not asked" else one for one in record] for record in records]
                shape = (len(records),)
            if shape not in by_shape or rng.random() < 0.1:
                by_shape[shape] = _program(rng, shape)
            programs.append(by_shape[shape])
        versions.append((groups, programs))
    return versions


def _rewired(
    rng: random.Random, groups: list[Document], programs: list[Any], answers: dict[str, list[str]]
) -> tuple[list[Document], list[Any]]:
    """The same programs in the same order, with attributes of equal answers exchanged between their axes."""
    names = [name for group in groups for name in group["attributes"]]
    new = dict(zip(names, names, strict=True))
    for listed in dict.fromkeys(tuple(answers[name]) for name in names):
        alike = [name for name in names if tuple(answers[name]) == listed]
        new |= dict(zip(alike, rng.sample(alike, len(alike)), strict=True))
    return [{**group, "attributes": [new[name] for name in group["attributes"]]} for group in groups], programs


def _program(rng: random.Random, shape: tuple[int, ...]) -> Any:
    size = math.prod(shape)
    drawn = rng.random()
    if drawn < 0.4:
        spread = rng.choice([1, 3, 8])  # the largest ratio of two weights, before they are rounded
        return {"weigh": [_weights(rng, size, spread) for _ in range(size)], "into": list(shape)}
    if drawn < 0.5:  # telling: one pair of answers is sent as it is
        own = rng.randrange(size)
        return {"weigh": [[0, ONE] if truth == own else [ONE, 0] for truth in range(size)], "into": [2]}
    if drawn < 0.7 and len(shape) > 1:
        return {"each": [[[axis], _toss(rng)] for axis in rng.sample(range(len(shape)), len(shape))]}
    return _toss(rng)


def _toss(rng: random.Random) -> Any:
    return {"toss": round(rng.choice([0.1, 0.3, 0.6]) * ONE), "heads": {"same": 1}, "tails": {"even": "any"}}


def _weights(rng: random.Random, size: int, spread: int) -> list[int]:
    drawn = [rng.randint(1, spread) for _ in range(size)]
    weights = [number * ONE // sum(drawn) for number in drawn]
    weights[0] += ONE - sum(weights)
    return weights


# What somebody alters who wants another report sent than the one that is promised.


def _lists_of_groups(document: Document) -> list[list[Document]]:
    scheme = document["scheme"]
    return [one["groups"] for one in scheme["questionnaires"]] if "questionnaires" in scheme else [scheme["groups"]]


def rewire(rng: random.Random, document: Document) -> None:
    """Exchange two attributes of one version."""
    groups = rng.choice(_lists_of_groups(document))
    places = [(group, axis) for group in groups for axis in range(len(group["attributes"]))]
    (one, axis), (other, place) = rng.choice(places), rng.choice(places)
    names = one["attributes"][axis], other["attributes"][place]
    other["attributes"][place], one["attributes"][axis] = names


def exchange_programs(rng: random.Random, document: Document) -> None:
    programs = rng.choice(document["programs"])
    one, other = rng.randrange(len(programs)), rng.randrange(len(programs))
    programs[one], programs[other] = programs[other], programs[one]


def swap_versions(rng: random.Random, document: Document) -> None:
    """Programs of one version under the groups of another."""
    rng.shuffle(document["programs"])


def reverse_answers(rng: random.Random, document: Document) -> None:
    rng.choice(rng.choice(document["pages"])["questions"])["answers"].reverse()


def rename(rng: random.Random, document: Document) -> None:
    """Another name for a question, in all its places: taken, forbidden, or merely another."""
    new = rng.choice(["q1", "constructor", "__proto__", "Q", "other"])
    text = json.dumps(document).replace('"q0"', json.dumps(new))
    document.clear()
    document.update(json.loads(text))


def ask_in_the_clear(rng: random.Random, document: Document) -> None:
    groups, programs = rng.choice(list(zip(_lists_of_groups(document), document["programs"], strict=True)))
    place = rng.randrange(len(groups))
    del groups[place], programs[place]


def drop_a_language(rng: random.Random, document: Document) -> None:
    question = rng.choice(document["pages"][0]["questions"])
    question["text"].pop(rng.choice(list(question["text"])))


def flatter(rng: random.Random, document: Document) -> None:
    label = document.get("label") or {"answers": {}, "gamma": 1.0}
    for name in label["answers"]:
        label["answers"][name] *= 0.9


def add_waves(rng: random.Random, document: Document) -> None:
    """More waves than were counted, or what does not fit together."""
    document |= rng.choice(
        [{"waves": 6, "wave": 2}, {"wave": 9}, {"waves": 2.5}, {"panel": 1}, {"series_gamma": 0.5}, {"waves": True}]
    )


FORGERIES: tuple[Callable[[random.Random, Document], None], ...] = (
    rewire,
    rewire,
    exchange_programs,
    swap_versions,
    reverse_answers,
    rename,
    ask_in_the_clear,
    drop_a_language,
    flatter,
    add_waves,
)


def forged_definition(rng: random.Random) -> Document:
    """A definition that was altered; some still state the old label, some none."""
    document: Document = json.loads(json.dumps(random_definition(rng)))  # nothing shared between its places
    rng.choice(FORGERIES)(rng, document)
    if rng.random() < 0.5:
        document.pop("label", None)
    document["hash"] = document_hash(document)
    return document
