"""Questions that routing connects: disguised together, promised from the whole report."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

from tacit import Scheme, channels, measure
from tacit.channel.scheme import Group
from tacit.errors import InvalidInput
from tacit.measures.amplification import amplification_together
from tacit.randomness import SeededRandomness
from tacit.survey.dashboard import results_document
from tacit.survey.definition import Definition, surest
from tacit.survey.promise import check_whole, promise
from tacit.survey.proposal import LEVELS
from tacit.survey.store.submissions import Submission, store_batch, token_hash
from tacit.survey.store.surveys import Store, StoredSurvey
from tests.survey.page import node
from tests.survey.questionnaires import RICH

HEAD = """\
name: routed
title: Routed
introduction: I
contact: research@example.org
privacy: strong
pages:
  - questions:
"""


def written(*questions: dict[str, object], head: str = HEAD) -> str:
    fields = {"kind": "yes-no", "sensitive": True, "prefer_not_to_say": False}
    texts = [{"text": f"About {one['name']}?", **fields, **one} for one in questions]
    return head + "".join(f"      - {json.dumps(one)}\n" for one in texts)


FILTER = {"name": "filter"}
AFTER = {"when": {"filter": "yes"}}
FIVE = written(FILTER, *({"name": f"f{n}", **AFTER} for n in range(5)))
AGE = {"name": "age", "kind": "number", "ranges": [30], "sensitive": False}


def only_group(text: str) -> Group:
    (group,) = Definition.from_yaml(text).scheme.groups
    return group


def enumerated_gamma(group: Group) -> float:
    return float((group.law.max(axis=1) / group.law.min(axis=1)).max())


@pytest.mark.parametrize(
    ("questions", "reason"),
    [
        ([FILTER, {"name": "s", "mode": "self", **AFTER}], "what the respondent's own device shows is sent as it is"),
        ([FILTER, {"name": "s", "mode": "self", "optional": True}], "without prefer_not_to_say, optional or unrelated"),
        ([{"name": "filter", "mode": "self"}, {"name": "s", **AFTER}], "only the disguised answer is known"),
    ],
)
def test_what_goes_with_no_device_of_ones_own_is_refused(questions: list[dict[str, object]], reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        Definition.from_yaml(written(*questions))


def test_a_filter_with_five_follow_ups_keeps_what_its_word_promises() -> None:
    """The attack: disguised one by one, label and truth part (70% and 99.4%); together they agree."""
    definition = Definition.from_yaml(FIVE)
    group = only_group(FIVE)
    names = group.names
    joint = group.legal.table(group.legal.even())
    one_by_one = Scheme.of(group.attributes, [([name], channels.gamma_diagonal(LEVELS["strong"])) for name in names])
    before = measure(one_by_one, {"+".join(names): joint.reshape(-1)})
    assert before.answers[0].worst_posterior == pytest.approx(0.994, abs=5e-4)
    assert enumerated_gamma(group) <= LEVELS["strong"]
    seen = group.law * group.legal.even()
    posterior = seen / seen.sum(axis=1, keepdims=True)
    yes = posterior @ (group.legal.codes[:, 0] == 1)
    surest = max(yes.max(), 1 - yes.min())
    assert surest <= 0.7 + 1e-9
    document, lines = promise(definition)
    assert document["answers"][0]["worst_posterior"] == pytest.approx(surest, abs=1e-12)
    assert document["gamma"] <= LEVELS["strong"]
    assert any("at most 70% sure" in line for line in lines)


BLOCKS = {
    "one follow-up": (written(FILTER, {"name": "f", **AFTER}), 3),
    "declines": (written({**FILTER, "prefer_not_to_say": True}, {"name": "f", **AFTER, "prefer_not_to_say": True}), 5),
    "nested": (written(FILTER, {"name": "b", **AFTER}, {"name": "c", "when": {"b": "yes"}}), 4),
    "two filters": (written(FILTER, {"name": "b"}, {"name": "c", "when": {"filter": "yes", "b": "yes"}}), 5),
    "several": (written(FILTER, {"name": "s", "kind": "several", "options": ["x", "y"], **AFTER}), 5),
    "several declined": (
        written({"name": "s", "kind": "several", "options": ["x", "y"], "prefer_not_to_say": True}), 5,
    ),
    "optional": (written(FILTER, {"name": "f", "optional": True, **AFTER}), 4),
    "after declining": (
        written({**FILTER, "prefer_not_to_say": True}, {"name": "why", "when": {"filter": "prefer not to say"}}), 4,
    ),
    "public too": (written(AGE, FILTER, {"name": "f", "when": {"filter": "yes", "age": "below 30"}}), 4),
    "a choice": (written(FILTER, {"name": "c", "kind": "choice", "answers": ["a", "b", "c"], **AFTER}), 4),
}  # fmt: skip


@pytest.mark.parametrize("case", BLOCKS)
def test_a_block_has_one_law_on_its_legal_records_within_its_word(case: str) -> None:
    text, records = BLOCKS[case]
    definition = Definition.from_yaml(text)
    group = only_group(text)
    assert group.records is not None
    assert len(group.records) == records
    assert enumerated_gamma(group) <= LEVELS["strong"]
    assert definition.whole.gamma <= LEVELS["strong"]
    for answer in definition.whole.answers():
        assert answer.gamma <= LEVELS["strong"]
        # Of two answers that were equally likely no report makes one likelier than the word says.
        assert answer.even.worst_posterior <= 0.7 + 1e-9


def test_whatever_is_answered_is_a_legal_record() -> None:
    group = only_group(BLOCKS["two filters"][0])
    legal = {tuple(one) for one in group.legal.answers}
    for first, second, third in itertools.product(("no", "yes"), repeat=3):
        asked = first == "yes" and second == "yes"
        assert (first, second, third if asked else "not asked") in legal


def test_what_nothing_connects_stays_apart() -> None:
    text = written(
        AGE, FILTER, {"name": "x", "when": {"age": "below 30"}}, {"name": "s", "kind": "several", "options": ["x", "y"]}
    )
    groups = Definition.from_yaml(text).scheme.groups
    assert [group.names for group in groups] == [("filter",), ("x",), ("s_x",), ("s_y",)]
    assert all(group.records is None for group in groups)


def test_a_written_group_may_hold_a_whole_block() -> None:
    text = FIVE + "groups:\n  - {questions: [f4, f3, f2, f1, f0, filter], channel: {kind: gamma-diagonal, gamma: 9}}\n"
    group = only_group(text)
    assert group.names[0] == "filter"  # in the order of asking: the even prior goes along it
    assert len(group.legal) == 33
    assert group.channel.amplification == pytest.approx(9, rel=1e-6)


UNRELATED = {"unrelated": {"keep": 0.6, "distribution": [0.4, 0.3, 0.3]}}
MANY = [{"name": f"f{n}", "kind": "choice", "answers": list("abcde"), **AFTER} for n in range(6)]
REFUSALS = {
    "line 15: the group splits filter, f0, f1, f2, f3, f4, which routing connects": FIVE
    + "groups:\n  - {questions: [filter, f0], channel: {kind: warner, p: 0.7}}\n",
    "'f' has an unrelated question, but routing connects it with filter": written(
        FILTER, {"name": "f", **AFTER, **UNRELATED}
    ),
    "legal records together, more than a page can explain": written(FILTER, *MANY),
    "the directly asked question 'd' depends on the answer to 'filter'": written(
        FILTER, {"name": "d", "mode": "direct", **AFTER}
    ),
    "The mode 'secret' does not exist": written(FILTER, {"name": "d", "mode": "secret"}),
    "mode: public does not go with sensitive: true": written(FILTER, {"name": "d", "mode": "public"}),
    "the group holds 'd', which is asked directly": written(FILTER, {"name": "d", "mode": "direct"})
    + "groups:\n  - {questions: [d], channel: {kind: warner, p: 0.7}}\n",
    "has an amplification of 24; the page refuses more than 19": written(
        {"name": "q", "kind": "choice", "answers": list("abcdefghij")}
    )
    + "groups:\n  - {questions: [q], channel: {kind: gamma-diagonal, gamma: 24}}\n",
    "together lists sets of at least two different": FIVE + "together: [[f0]]\n",
    "The question 'age' does not exist": written(AGE, FILTER) + "together: [[age, filter]]\n",
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSALS)
def test_what_cannot_be_kept_is_refused_at_its_line(message: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        Definition.from_yaml(REFUSALS[message], "survey.yaml")
    assert message in str(refusal.value)
    assert "line " in str(refusal.value)


def test_a_question_carries_its_mode_and_a_direct_one_is_not_disguised() -> None:
    definition = Definition.from_yaml(
        written(FILTER, {"name": "d", "mode": "direct"}, {"name": "s", "mode": "self"}, AGE | {"mode": "public"})
    )
    assert [question["mode"] for question in definition.questions] == ["disguised", "direct", "self", "public"]
    assert definition.scheme.public_names == ("d", "age")


def test_an_optional_question_disguises_that_it_was_not_answered() -> None:
    definition = Definition.from_yaml(written({"name": "q", "optional": True}))
    (group,) = definition.scheme.groups
    assert group.attributes[0].answers == ("no", "yes", "no answer")
    assert definition.questions[0]["optional"] is True


def test_what_is_wanted_together_can_be_estimated_together() -> None:
    apart, together = only_group(FIVE), only_group(FIVE + "together: [[f0, f1]]\n")
    assert not apart.channel.margin([1, 2]).is_invertible()
    assert together.channel.margin([1, 2]).is_invertible()
    assert not together.channel.margin([1, 3]).is_invertible()


def test_opening_says_what_routing_costs_and_what_is_lost() -> None:
    _, lines = promise(Definition.from_yaml(FIVE))
    said = "\n".join(lines)
    assert "on their 33 legal records" in said
    assert "about 5.6 times the respondents" in said
    assert "cannot be estimated together: f0 with f1, f2, f3, f4" in said


def test_a_whole_questionnaire_beyond_the_cap_is_refused_with_the_way_out() -> None:
    many = Definition.from_yaml(written(*({"name": f"q{n}"} for n in range(33))))
    assert many.whole.gamma == pytest.approx((7 / 3) ** 33, rel=1e-5)
    with pytest.raises(InvalidInput, match="Deal each respondent a part instead: 32 of these questions keep within it"):
        check_whole(many)
    few = Definition.from_yaml(written(*({"name": f"q{n}"} for n in range(17))))
    check_whole(few)
    document, _ = promise(few)
    assert document["gamma"] == pytest.approx((7 / 3) ** 17, rel=1e-5)
    assert "before anybody consents" in document["warnings"][0]


def test_opening_counts_the_bit_of_a_second_round_as_the_page_does() -> None:
    names = [{"name": f"q{n}"} for n in range(32)]
    once = Definition.from_yaml(written(*names))
    check_whole(once)
    assert "second_round" not in promise(once)[0]
    twice = Definition({**once.document, "second_round": True, "second_program": once.document["programs"][0][0]})
    with pytest.raises(InvalidInput, match=r"amplification of 1\.39e\+12"):
        check_whole(twice)
    document, lines = promise(twice)
    assert document["second_round"]["gamma"] == pytest.approx((7 / 3) ** 33, rel=1e-5)
    assert document["second_round"]["worst_posterior"] == pytest.approx(49 / 58, rel=1e-5)  # of .7, told again by 7/3
    said = "one bit more of a second round: amplification 1.391e+12, and its best guesser at most 84% sure"
    assert any(said in line for line in lines)


def reported(survey: StoredSurvey, n: int) -> list[tuple[str, ...]]:
    (group,) = survey.definition.scheme.groups
    records = np.random.default_rng(5).choice(len(group.legal), n, p=group.legal.even())
    (shown,) = group.channel.sample(list(group.legal.codes[records].T), SeededRandomness(6))
    (column,) = group.report_attributes
    rows = [(column.answers[code],) for code in shown]
    assert survey.wire.decode(survey.wire.encode(rows[0])) == rows[0]
    return rows


def test_a_routed_survey_is_stored_estimated_and_checked(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    survey = store.add(Definition.from_yaml(FIVE), FIVE)
    rows = reported(survey, 4000)
    store_batch(
        store.database, [Submission(survey, "reports", token_hash(survey, str(n)), row) for n, row in enumerate(rows)]
    )
    document = results_document(store, survey, by="filter")
    tables = {table["attribute"]: {cell["answer"]: cell for cell in table["cells"]} for table in document["questions"]}
    for name, answer, share in (("filter", "yes", 0.5), ("f3", "yes", 0.25), ("f3", "not asked", 0.5)):
        cell = tables[name][answer]
        assert abs(cell["probability"] - share) < 5 * cell["standard_error"]
        assert cell["influence_of_fakes"] > 0
    assert tables["f3"]["yes"]["standard_error"] == pytest.approx(2.96 / math.sqrt(4000), rel=0.05)
    assert document["fit"][0]["p_value"] > 1e-6
    store.close()


def test_many_public_filters_are_judged_without_writing_out_every_public_situation() -> None:
    """Twenty filters have a million situations; each decides about one question, so the amplifications multiply."""
    filters = ({"name": f"p{n}", "sensitive": False} for n in range(20))
    text = written(*filters, *({"name": f"q{n}", "when": {f"p{n}": "yes"}} for n in range(20)))
    definition = Definition.from_yaml(text)
    (page,) = node("examine", script="page_checks.mjs", documents=[definition.document])
    assert definition.whole.gamma == pytest.approx(definition.whole.answers()[0].gamma ** 20, rel=1e-9)
    assert page["gamma"] == pytest.approx(definition.whole.gamma, rel=1e-9)
    assert page["reasons"] == []


def random_parts(rng: np.random.Generator, names: int, parts: int) -> list[list[tuple[dict[str, str], float]]]:
    made = []
    for _ in range(parts):
        own = rng.choice(names, rng.integers(0, 4), replace=False)
        situations = itertools.product("ab", repeat=len(own))
        made.append([({f"p{n}": a for n, a in zip(own, s, strict=True)}, float(1 + rng.random())) for s in situations])
    return made


@pytest.mark.slow
def test_the_page_and_python_find_the_worst_public_situation_for_all_parts_together() -> None:
    """Random parts against every situation written out; beyond the limit both state the same bound."""
    rng = np.random.default_rng(16)
    small = [random_parts(rng, 5, 6) for _ in range(20)]
    wide = [
        [[({"p": str(a), f"p{n}": str(b)}, 1.0 + (a + b + n) % 7) for a in range(2) for b in range(9)] for n in order]
        for order in ([*range(7), *range(7)], [*range(2), *range(2)])
    ]
    shown = node("together", script="page_checks.mjs", cases=[*small, *wide])
    for parts, page in zip([*small, *wide], shown, strict=True):
        assert amplification_together(parts) == pytest.approx(page, rel=1e-12)
    for parts, page in zip([*small, wide[1]], [*shown[:20], shown[21]], strict=True):
        assert page == pytest.approx(largest_product(parts), rel=1e-12)
    multiplied = math.prod(max(gamma for _, gamma in part) for part in wide[0])
    assert shown[20] <= multiplied


def largest_product(parts: list[list[tuple[dict[str, str], float]]]) -> float:
    """By writing out every combination of the parts' situations that agree."""
    largest = 0.0
    for chosen in itertools.product(*parts):
        known: dict[str, str] = {}
        if all(known.setdefault(name, answer) == answer for one, _ in chosen for name, answer in one.items()):
            largest = max(largest, math.prod(gamma for _, gamma in chosen))
    return largest


def test_the_page_finds_the_same_figures_in_the_programs() -> None:
    definitions = [Definition.from_yaml(text) for text in (*(text for text, _ in BLOCKS.values()), FIVE, RICH)]
    examined = node("examine", script="page_checks.mjs", documents=[one.document for one in definitions])
    for definition, page in zip(definitions, examined, strict=True):
        assert page["reasons"] == []
        (blocks,) = page["deals"]
        shown = {name: sure for block in blocks for name, sure in block["worst"].items()}
        told = {answer.attribute: surest(answer) for answer in definition.whole.answers()}
        assert shown == pytest.approx(told, abs=1e-9)
        assert page["gamma"] == pytest.approx(definition.whole.gamma, rel=1e-9)
