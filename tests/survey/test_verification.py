"""What no page takes on trust, provoked one by one: the page and `tacit survey verify` refuse the same for the same reason."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from tacit import channels
from tacit.channel.document import document_hash
from tacit.randomness import ONE
from tacit.survey.block_figures import AskedBlock
from tacit.survey.definition import Definition
from tacit.survey.verification import WHOLE_CAP, Examination, _cap_objections, examine
from tests.survey.page import node
from tests.survey.questionnaires import RICH, SMALL

Document = dict[str, Any]


def changed(change: Callable[[Document], None], text: str = SMALL) -> Document:
    """A definition with right hashes that its owner altered after the checks of `survey open`."""
    document = json.loads(json.dumps(Definition.from_yaml(text).document))
    del document["label"]  # it would be refused as no longer true; a definition need not state one
    change(document)
    document["scheme"]["hash"] = document_hash(document["scheme"])
    document["hash"] = document_hash(document)
    return dict(document)


def question(document: Document, name: str) -> Document:
    return next(one for page in document["pages"] for one in page["questions"] if one["name"] == name)


def program(document: Document, attribute: str, made: Any) -> None:
    names = [group["attributes"] for group in document["scheme"]["groups"]]
    document["programs"][0][names.index([attribute])] = made


def warner(share: float) -> Document:
    return {"toss": round(share * ONE), "heads": {"same": 1}, "tails": {"even": "other"}}


# The attacks that the first version's page let through, each with a right hash: "70%" on the label and the truth sent.


def copy_in_the_clear(document: Document) -> None:
    """One question mapped to a disguised and to a public attribute."""
    question(document, "smokes")["attributes"].append({"attribute": "smoking", "option": None})
    document["scheme"]["attributes"].append({"name": "smoking", "answers": ["no", "yes"]})


def copies(document: Document) -> None:
    """One question mapped to 31 disguised attributes, whose average tells it."""
    group, own = document["scheme"]["groups"][0], document["programs"][0][0]
    for number in range(30):
        name = f"smokes{number}"
        question(document, "smokes")["attributes"].append({"attribute": name, "option": None})
        document["scheme"]["attributes"].append({"name": name, "answers": ["no", "yes"]})
        document["scheme"]["groups"].append({**group, "attributes": [name]})
        document["programs"][0].append(own)


def in_no_group(document: Document) -> None:
    """A question marked sensitive that no group disguises."""
    del document["scheme"]["groups"][0]
    del document["programs"][0][0]


def flattering_prior(document: Document) -> None:
    """A prior under which a channel of amplification 10,009,576 makes nobody surer than 95%."""
    document["scheme"]["prior"] = {"drinks": [0.5, 0.499999, 0.000001]}
    hidden = 429  # of 2**32, under the two answers that are nearly everybody's
    own = hidden * 10_009_576
    rest = [(ONE - hidden) // 2, ONE - hidden - (ONE - hidden) // 2]
    column = [(ONE - own) // 2, ONE - own - (ONE - own) // 2]
    program(document, "drinks", {"weigh": [[*rest, hidden], [*rest[::-1], hidden], [*column, own]], "into": [3]})
    channel = {"kind": "matrix", "matrix": (_transposed([[*rest, hidden], [*rest[::-1], hidden], [*column, own]]))}
    document["scheme"]["groups"][1]["channel"] = channel


def _transposed(columns: list[list[int]]) -> list[list[float]]:
    return [[column[row] / ONE for column in columns] for row in range(3)]


ATTACKS = {
    "attribute": [copy_in_the_clear, copies],
    "mode": [in_no_group],
    "amplified": [flattering_prior],
}


def swap(document: Document) -> None:
    question(document, "drinks")["answers"].reverse()


def forget_arabic(document: Document) -> None:
    del question(document, "region")["answers"][1]["text"]["ar"]


def same_arabic(document: Document) -> None:
    for answer in question(document, "region")["answers"]:
        answer["text"]["ar"] = "شمال"


def ask_again(document: Document) -> None:
    question(document, "drinks")["text"] = {"en": "Do you SMOKE ?"}


def tell(document: Document) -> None:
    late = {**question(document, "age"), "name": "late", "text": {"en": "How late?"}}
    late |= {
        "when": [{"question": "smokes", "answers": ["yes"]}],
        "attributes": [{"attribute": "late", "option": None}],
    }
    document["pages"][0]["questions"].append(late)
    ages = document["scheme"]["attributes"][0]["answers"]
    document["scheme"]["attributes"].append({"name": "late", "answers": [*ages, "not asked"]})


def ask_of_the_future(document: Document) -> None:
    question(document, "smokes")["when"] = [{"question": "drinks", "answers": ["yes"]}]
    document["scheme"]["attributes"][1]["answers"].append("not asked")
    program(document, "smokes", {"toss": ONE // 2, "heads": {"same": 1}, "tails": {"even": "any"}})


def call_public(document: Document) -> None:
    question(document, "smokes")["mode"] = "public"


def hide_the_public(document: Document) -> None:
    question(document, "age")["mode"] = "self"


def decline_a_device(document: Document) -> None:
    question(document, "drinks")["mode"] = "self"


def invent_a_mode(document: Document) -> None:
    question(document, "age")["mode"] = "secret"


def drop_programs(document: Document) -> None:
    del document["programs"]


def read_elsewhere(document: Document) -> None:
    program(document, "smokes", {"each": [[[1], {"same": 1}]]})


def pretend_to_ask(document: Document) -> None:
    tails = {"weigh": [ONE // 2, ONE // 2], "into": [2], "asked": 1}
    program(document, "smokes", {"toss": ONE // 3, "heads": {"same": 1}, "tails": tails})


def rule_out(document: Document) -> None:
    half = ONE // 2
    program(document, "drinks", {"weigh": [[half, half, 0], [half, 0, half], [0, half, half]], "into": [3]})


def many(document: Document, count: int = 34) -> None:
    for number in range(count):
        for attribute in document["scheme"]["attributes"][1:2]:
            name = f"q{number}"
            asked = {**question(document, "smokes"), "name": name, "text": {"en": f"Number {number}?"}}
            document["pages"][0]["questions"].append({**asked, "attributes": [{"attribute": name, "option": None}]})
            document["scheme"]["attributes"].append({**attribute, "name": name})
            document["scheme"]["groups"].append({**document["scheme"]["groups"][0], "attributes": [name]})
            document["programs"][0].append(document["programs"][0][0])


REFUSALS: list[tuple[Callable[[Document], None], str, str]] = [
    *((attack, reason, SMALL) for reason, attacks in ATTACKS.items() for attack in attacks),
    (swap, "answers_differ", SMALL),
    (forget_arabic, "languages", RICH),
    (same_arabic, "languages", RICH),
    (ask_again, "twice", SMALL),
    (tell, "telling", SMALL),
    (ask_of_the_future, "routing", SMALL),
    (call_public, "mode", SMALL),
    (hide_the_public, "mode", SMALL),
    (invent_a_mode, "mode", SMALL),
    (decline_a_device, "mode", SMALL),
    (drop_programs, "program", SMALL),
    (read_elsewhere, "program", SMALL),
    (pretend_to_ask, "program", SMALL),
    (rule_out, "unbounded", SMALL),
    (many, "exceeds", SMALL),
    (
        lambda document: document.update(label={"answers": {"smokes": 0.7, "drinks": 0.54}, "gamma": 5.4}),
        "label",
        SMALL,
    ),
    # The bit of a second round sent as it is tells an answer to whoever chose the classifier.
    (lambda document: document.update(second_program={"same": 1}), "unbounded", RICH),
    (lambda document: document.pop("second_program"), "program", RICH),
    (lambda document: program(document, "smokes", warner(0.96)), "unprotected", SMALL),
    (lambda document: program(document, "smokes", warner(0.03)), "unprotected", SMALL),
    (lambda document: program(document, "smokes", {"same": 1}), "unbounded", SMALL),
    (lambda document: document["scheme"].update(prior={"smokes": [0.9, 0.1]}), "unprotected", SMALL),
]


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    return [changed(change, text) for change, _, text in REFUSALS]


@pytest.fixture(scope="module")
def on_the_page(documents: list[Document]) -> list[Any]:
    return list(node("examine", "page_checks.mjs", documents=documents))


@pytest.mark.parametrize(
    "index", range(len(REFUSALS)), ids=lambda index: f"{REFUSALS[index][1]}-{REFUSALS[index][0].__name__}"
)
def test_the_page_and_python_refuse_for_the_same_reason(
    index: int, documents: list[Document], on_the_page: list[Any]
) -> None:
    objections = examine(documents[index]).objections
    assert REFUSALS[index][1] in {one.reason for one in objections}
    assert {one.reason for one in objections} == {reason for reason, _ in on_the_page[index]["reasons"]}
    assert all(len(one.message) > 20 for one in objections)


def same_figures(examination: Examination, page: dict[str, Any]) -> None:
    for blocks, shown in zip(examination.deals, page["deals"], strict=True):
        assert [list(block.names) for block in blocks] == [one["names"] for one in shown]
        for block, one in zip(blocks, shown, strict=True):
            assert (math.inf if one["gamma"] is None else one["gamma"]) == pytest.approx(block.gamma, rel=1e-9)
            assert one["worst"] == pytest.approx(dict(block.worst), rel=1e-9)


def test_honest_definitions_are_accepted_with_the_same_figures() -> None:
    documents = [Definition.from_yaml(text).document for text in (SMALL, RICH)]
    for document, page in zip(documents, node("examine", "page_checks.mjs", documents=documents), strict=True):
        examination = examine(document)
        assert examination.objections == ()
        assert page["reasons"] == []
        same_figures(examination, page)


def split_block(document: dict[str, Any]) -> dict[str, Any]:
    """The definition with a filter and its follow-up disguised one by one, as the first version did."""
    scheme = document["scheme"]
    index = next(place for place, group in enumerate(scheme["groups"]) if group["attributes"] == ["works", "hours"])
    channel = {"kind": "gamma-diagonal", "gamma": 4}
    apart = [{"attributes": [name], "channel": channel} for name in ("works", "hours")]
    programs = [channels.gamma_diagonal(4).build((size,)).program() for size in (2, 5)]
    (listed,) = document["programs"]
    groups = [*scheme["groups"][:index], *apart, *scheme["groups"][index + 1 :]]
    return {
        **document,
        "scheme": {**scheme, "groups": groups},
        "programs": [[*listed[:index], *programs, *listed[index + 1 :]]],
    }


def test_a_filter_and_its_follow_up_are_judged_together() -> None:
    document = Definition.from_yaml(RICH).document
    (blocks,) = examine(document).deals
    (together,) = [block for block in blocks if "works" in block.names]
    assert together.names == ("works", "hours")
    assert together.gamma <= 4
    assert together.worst["works"] <= 0.8 + 1e-9
    (blocks,) = examine(split_block(document)).deals
    (apart,) = [block for block in blocks if "works" in block.names]
    # Each alone allows 4; "not asked" tells the filter again.
    assert apart.gamma == pytest.approx(16, rel=1e-6)
    assert apart.worst["works"] == pytest.approx(16 / 17, rel=1e-6)


def test_a_stated_prior_never_loosens_a_cap(documents: list[Document]) -> None:
    index = next(index for index, (change, _, _) in enumerate(REFUSALS) if change is flattering_prior)
    examination = examine(documents[index])
    (block,) = [block for block in examination.deals[0] if block.names == ("drinks",)]
    assert block.gamma == pytest.approx(10_009_576, rel=1e-6)


def test_a_refusal_for_all_answers_together_counts_the_second_round_in() -> None:
    (objection,) = _cap_objections({}, Examination((), (), second=2 * WHOLE_CAP))
    assert objection.reason == "exceeds"
    assert "2,000,000,000,000 times; at most 1,000,000,000,000" in objection.message


CODES = """
name: codes
title: Codes
introduction: Codes of people.
contact: office@example.org
pages:
- title: Codes
  questions:
  - {name: member, kind: choice, text: Are you a member?, sensitive: false, answers: ["no", "yes"]}
  - {name: code, kind: choice, text: Which code?, sensitive: true, prefer_not_to_say: false, WHEN answers: ANSWERS}
groups:
- {questions: [code], channel: {kind: local-hashing, gamma: 8}, prior: PRIOR}
"""


@pytest.mark.parametrize("when", ["", 'when: {member: "yes"},'])
def test_a_stated_prior_counts_whether_or_not_public_answers_decide_who_is_asked(when: str) -> None:
    """Reports of a hash are too many to list, so the label is a bound: of 70% an amplification of 8 makes 94.9%."""
    answers, prior = [f"c{number}" for number in range(40)], [0.7, *[0.3 / 39] * 39, *([0.0] if when else [])]
    text = CODES.replace("WHEN", when).replace("ANSWERS", str(answers)).replace("PRIOR", str(prior))
    document = Definition.from_yaml(text).document
    assert document["label"]["answers"]["code"] == pytest.approx(0.7 * 8 / (0.7 * 8 + 0.3), rel=1e-6)
    (page,) = node("examine", "page_checks.mjs", documents=[document])
    assert page["reasons"] == []  # among them would be that the stated label is not what the programs do


def skewed_prior(document: Document) -> None:
    document["scheme"]["prior"] = {"drinks": [0.9, 0.05, 0.05]}


def test_bounds_of_a_block_that_is_not_written_out_know_the_stated_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    def drinks() -> AskedBlock:
        (block,) = [one for one in examine(changed(skewed_prior)).deals[0] if one.names == ("drinks",)]
        return block

    written = drinks()
    monkeypatch.setattr("tacit.survey.block_figures.WRITTEN", 0)
    assert 0.9 < written.worst["drinks"] <= drinks().worst["drinks"] + 1e-9 < 1
