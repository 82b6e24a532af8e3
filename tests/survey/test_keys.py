"""Whatever is kept under a key has everything in the key that it depends on: wiring, order, languages, versions.

A page that kept a block's figures under programs and answers alone showed the figures of a harmless wiring for a telling one.
"""

from __future__ import annotations

import copy
import itertools
import json
import os
import random
from collections import Counter
from typing import Any

import pytest

from tacit.errors import InvalidInput
from tacit.randomness import ONE
from tacit.survey.definition import Definition
from tacit.survey.verification import examine
from tests.survey.page import node
from tests.survey.random_definitions import forged_definition, random_definition
from tests.survey.test_verification import same_figures

WANTED = 2000 if os.environ.get("TACIT_SOAK") == "1" else 600
SEED = 2017
AT_ONCE = 500

Document = dict[str, Any]


def on_the_page(documents: list[Document]) -> list[Any]:
    starts = range(0, len(documents), AT_ONCE)
    return [
        page for at in starts for page in node("examine", "page_checks.mjs", documents=documents[at : at + AT_ONCE])
    ]


def assert_alike(document: Document, page: Any) -> bool:
    """Page and Python give the same figures for every attribute and refuse for the same reasons; whether they accept."""
    examination = examine(document)
    reasons = {one.reason for one in examination.objections}
    assert reasons == {reason for reason, _ in page["reasons"]}, json.dumps(document)
    if examination.deals or page["deals"]:
        same_figures(examination, page)
    return not reasons


@pytest.mark.soak
@pytest.mark.slow
def test_page_and_python_agree_on_random_dealt_and_rewired_definitions_honest_and_forged() -> None:
    rng = random.Random(SEED)
    documents = [(random_definition if number % 2 else forged_definition)(rng) for number in range(WANTED)]
    accepted = Counter(
        (number % 2, assert_alike(document, page))
        for number, (document, page) in enumerate(zip(documents, on_the_page(documents), strict=True))
    )
    # Honest and forged, accepted and refused: a comparison of refusals alone would compare no figure.
    assert min(accepted[key] for key in itertools.product((0, 1), (False, True))) >= WANTED / 20, accepted
    assert sum(shares_programs(document) for document in documents) >= WANTED / 10


def shares_programs(document: Document) -> bool:
    """Whether two versions have the same programs in the same order, and other attributes on them."""
    deals = document["scheme"].get("questionnaires", [])
    versions = zip(deals, document["programs"], strict=False)
    pairs = itertools.combinations([(one["groups"], json.dumps(programs)) for one, programs in versions], 2)
    return any(a[1] == b[1] and a[0] != b[0] for a, b in pairs)


# The same four questions on two groups, in every order: one version for each.

SKEWED = [[0.495, 0.055, 0.405, 0.045], [0.055, 0.495, 0.045, 0.405]]
SKEWED += [[*row[2:], *row[:2]] for row in SKEWED]
NAMES = ("a", "b", "c", "d")


def rewired(*groups: tuple[str, str]) -> str:
    """A questionnaire whose groups have one asymmetric matrix: of a pair the first answer is told less than the second."""
    question = {"kind": "yes-no", "sensitive": True, "prefer_not_to_say": False}
    document = {
        "name": "rewired",
        "title": "Rewired",
        "introduction": "Why we ask.",
        "contact": "research@example.org",
        "groups": [{"questions": pair, "channel": {"kind": "matrix", "matrix": SKEWED}} for pair in groups],
        "pages": [{"questions": [{**question, "name": name, "text": f"Do you {name * 2}?"} for name in NAMES]}],
    }
    return json.dumps(document)


def test_an_honest_questionnaire_with_one_matrix_on_pairs_in_either_order_is_accepted() -> None:
    """The page that shared figures between pairs of either order took the label for a wrong one and refused everybody."""
    document = Definition.from_yaml(rewired(("a", "b"), ("d", "c"))).document
    (page,) = on_the_page([document])
    assert assert_alike(document, page)
    sure = document["label"]["answers"]
    assert sure["a"] == sure["d"] < 0.6 < sure["b"] == sure["c"]


@pytest.mark.parametrize("languages", [("en", "de"), ("de", "en")], ids="-".join)
def test_every_wiring_order_and_version_has_its_own_figures(languages: tuple[str, ...]) -> None:
    document = json.loads(json.dumps(Definition.from_yaml(rewired(("a", "b"), ("c", "d"))).document))
    groups, programs = document["scheme"].pop("groups"), document["programs"][0]
    orders = list(itertools.permutations(NAMES))
    document["scheme"]["questionnaires"] = [
        {
            "name": "".join(order),
            "probability": 1 / len(orders),
            "groups": [{**groups[0], "attributes": order[:2]}, {**groups[1], "attributes": order[2:]}],
        }
        for order in orders
    ]
    document["programs"] = [programs] * len(orders)
    document["languages"] = list(languages)
    for text in (document[name] for name in ("title", "introduction", "contact")):
        text["de"] = "Deutsch"
    for question in document["pages"][0]["questions"]:
        question["text"]["de"] = f"{question['text']['en']} (de)"
    del document["label"], document["hash"]
    (page,) = on_the_page([document])
    assert assert_alike(document, page)
    for order, blocks in zip(orders, page["deals"], strict=True):
        sure = {name: worst for block in blocks for name, worst in block["worst"].items()}
        assert [sure[name] > 0.6 for name in order] == [False, True, False, True]


def test_keys_tell_apart_what_differs_in_any_part() -> None:
    """Wirings, orders, languages, versions, and lists that would be alike if they were written one after the other."""
    wirings = [
        [list(order[:split]), list(order[split:])] for order in itertools.permutations("abc") for split in (1, 2)
    ]
    programs = [{"toss": 1, "heads": {"same": 1}}, {"toss": 2, "heads": {"same": 1}}]
    texts = [{"en": "a", "de": "b"}, {"en": "b", "de": "a"}, {"en": "a"}]
    parts = [list(one) for one in itertools.product(wirings, programs, texts, [None, "v1", 1, "1"])]
    parts += [
        ["ab", "c"],
        ["a", "bc"],
        ["abc"],
        [["a"], "b"],
        ["a", ["b"]],
        ["a\nb"],
        ["a", "b"],
        [[]],
        [],
        [None],
        ["null"],
    ]
    keys = node("keys", "page_checks.mjs", parts=parts)
    assert len(set(keys)) == len(parts)
    one, same = node("keys", "page_checks.mjs", parts=[[{"a": 1, "b": 2}], [{"b": 2, "a": 1}]])
    assert one == same  # the order of an object's members is nobody's choice


# Definitions that a page took for harmless because a figure was kept under too little, or a question thought never asked.

TELLING = {"weigh": [[ONE, 0], [0, ONE], [ONE, 0]], "into": [2]}  # "no" and "not asked" alike, "yes" in the clear
TOSSED = {"toss": ONE // 3, "heads": {"same": 1}, "tails": {"even": "any"}}


def asked(name: str, *, when: Document | None = None, options: tuple[str, ...] = (), **more: Any) -> Document:
    parts = [(f"{name}_{one}", one) for one in options] or [(name, None)]
    return {
        "name": name,
        "kind": "several" if options else "yes-no",
        "text": {"en": f"{name}?"},
        "help": None,
        "answers": [{"name": one, "text": {"en": one}} for one in options or ("no", "yes")],
        "sensitive": more.get("mode") != "public",
        "mode": "disguised",
        "declines": False,
        "optional": False,
        "when": [when] if when else [],
        "harmless": None,
        "attributes": [{"attribute": attribute, "option": option} for attribute, option in parts],
        **more,
    }


def dealt_definition(questions: list[Document], versions: list[dict[tuple[str, ...], Any]]) -> Document:
    """A definition of these questions; each version has groups with their programs."""
    special = {one["name"]: ["prefer not to say"] * one["declines"] for one in questions}
    routed = {one["name"]: ["not asked"] * bool(one["when"] or one.get("deals")) for one in questions}
    attributes = [
        {"name": part["attribute"], "answers": ["no", "yes", *special[one["name"]], *routed[one["name"]]]}
        for one in questions
        for part in one["attributes"]
    ]
    return {
        "languages": ["en"],
        **{name: {"en": name} for name in ("title", "introduction", "contact")},
        "allow_unbounded": False,
        "second_round": False,
        "pages": [{"title": None, "questions": questions}],
        "scheme": {
            "attributes": attributes,
            "questionnaires": [
                {
                    "name": f"v{number}",
                    "probability": 1 / len(versions),
                    "groups": [{"attributes": list(names), "channel": {"kind": "any"}} for names in version],
                }
                for number, version in enumerate(versions)
            ],
        },
        "programs": [list(version.values()) for version in versions],
    }


def forged_wiring() -> Document:
    """Two versions with one program; wired as the second it sends an answer in the clear."""
    pairs = list(itertools.product(("no", "yes", "declined", "not asked"), repeat=2))
    told = {"weigh": [[0, ONE] if pair == ("no", "not asked") else [ONE, 0] for pair in pairs], "into": [2]}
    public = asked("p", mode="public")
    first = asked("s", options=("x", "y"), when={"question": "p", "answers": ["yes"]}, declines=True)
    then = asked("t", options=("x", "y"), when={"question": "s", "option": "x", "answers": ["yes"]}, declines=True)
    return dealt_definition(
        [public, first, then],
        [{("s_x", "s_y"): told, ("t_x", "t_y"): told}, {("s_x", "t_x"): told, ("s_y", "t_y"): told}],
    )


def after_an_absent_question() -> Document:
    """Asked of everybody whom the second version does not ask the filter: of everybody."""
    filtered = asked("s", when={"question": "p", "answers": ["yes"]})
    then = asked("t", when={"question": "s", "answers": ["not asked"]})
    return dealt_definition([asked("p", mode="public"), filtered, then], [{("s",): TOSSED}, {("t",): TELLING}])


def after_an_absent_public_question() -> Document:
    public = asked("p", mode="public", deals=["v0"])
    then = asked("t", when={"question": "p", "answers": ["not asked"]})
    return dealt_definition([public, asked("s"), then], [{("s",): TOSSED}, {("t",): TELLING}])


def after_an_absent_option() -> Document:
    several = asked("s", options=("x", "y"))
    then = asked("t", when={"question": "s", "option": "y", "answers": ["yes"]})
    return dealt_definition(
        [several, then], [{("s_x",): TOSSED, ("s_y",): TOSSED}, {("s_x",): TOSSED, ("t",): TELLING}]
    )


def third_time() -> Document:
    """Asked in the first version and again, the second time in between by a version of its own."""
    questions = [asked(name, text={"en": "Do you?"}) for name in ("a", "b", "c")]
    return dealt_definition(questions, [{("a",): TOSSED, ("c",): TOSSED}, {("b",): TOSSED}])


@pytest.mark.parametrize(
    ("forge", "reasons"),
    [
        (forged_wiring, {"unprotected", "unbounded"}),
        (after_an_absent_question, {"unprotected", "unbounded"}),
        (after_an_absent_public_question, {"unprotected", "unbounded"}),
        (after_an_absent_option, {"attribute"}),
        (third_time, {"twice"}),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_a_forged_definition_is_refused_by_page_and_python(forge: Any, reasons: set[str]) -> None:
    document = forge()
    (page,) = on_the_page([document])
    assert not assert_alike(document, page)
    assert {reason for reason, _ in page["reasons"]} == reasons


@pytest.mark.parametrize("name", ["constructor", "__proto__", "toString", "a"])
def test_a_question_under_a_name_that_objects_have_or_that_is_taken_is_refused(name: str) -> None:
    """A figure under such a name is lost, or is another's; with allow_unbounded the page sent the answer in the clear."""
    document = copy.deepcopy(dealt_definition([asked("a"), asked("b")], [{("a",): TOSSED, ("b",): {"same": 1}}]))
    document["allow_unbounded"] = True
    document = json.loads(json.dumps(document).replace('"b"', json.dumps(name)))
    (page,) = on_the_page([document])
    assert not assert_alike(document, page)
    assert {reason for reason, _ in page["reasons"]} == {"attribute"}


def test_a_questionnaire_must_not_call_a_question_constructor() -> None:
    text = rewired(("a", "b"), ("c", "d")).replace('"a"', '"constructor"')
    with pytest.raises(InvalidInput, match="'constructor' must be the name of one question"):
        Definition.from_yaml(text)
