"""Conditions of other tools mean the same after they were carried over."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tacit.survey.definition import Definition
from tacit.survey.imports import carried_over, questionnaire_text
from tacit.survey.imports.draft import Draft
from tacit.survey.imports.expressions import alternatives
from tests.survey.imports.test_carried_over import form, questions, surveyjs, workbook

TEXT = {"en": "?"}


def draft() -> Draft:
    made = Draft("d")
    made.choice("x", TEXT, [(value, TEXT) for value in "123"])
    made.choice("y", TEXT, [("yes", TEXT), ("no", TEXT)])
    made.scale("z", TEXT, 1, 4)
    made.several("w", TEXT, [("at home", TEXT), ("at work", TEXT)])
    return made


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("{x} = '1'", {"x": "1"}),
        ("${x} = '1' or ${x} = '2'", {"x": ["1", "2"]}),
        # and goes before or: the second alternative does not depend on x.
        ("{x} = '1' and {y} = 'no' or {z} = 3", [{"x": "1", "y": "no"}, {"z": "3"}]),
        ("{z} = 3 or {x} = '1' && {y} = yes", [{"z": "3"}, {"x": "1", "y": "yes"}]),
        ("({x} = '1' or {x} = '2') and {y} = 'no'", {"x": ["1", "2"], "y": "no"}),
        ("not(${x} = '1')", {"x": ["2", "3"]}),
        ("!({x} == 1 || {y} <> 'yes')", {"x": ["2", "3"], "y": "yes"}),
        ("{z} >= 3", {"z": ["3", "4"]}),
        ("${z} > 1 and ${z} < 4", {"z": ["2", "3"]}),
        ("{x} anyof ['1', \"3\"]", {"x": ["1", "3"]}),
        ("{w} contains 'at home'", {"w": "at_home"}),
        ("selected(${w}, 'at work') or selected(${w}, 'at home')", {"w": ["at_work", "at_home"]}),
        ("selected(${x}, '2')", {"x": "2"}),
    ],
)
def test_a_condition_is_carried_over(text: str, when: Any) -> None:
    assert draft().when(text) == when


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "",
        "{x}",
        "{x} = {y}",
        "{x} = '1' and",
        "({x} = '1'",
        "{x} = '1') or ({y} = 'no'",
        "{x} = '4'",  # no answer of it
        "{x} contains '1'",  # part of a text, elsewhere
        "{w} = 'at home'",  # just this and nothing else, elsewhere
        "not(selected(${w}, 'at home'))",
        "{w} allof ['at home', 'at work']",
        "{x} notempty",
        "count-selected(${w}) > 1",
        "{unknown} = '1'",
        "{y} > 3",
        "{x} > 5",  # never
        "{x} = '1' @ 2",
        " or ".join(f"({' or '.join(['{x} = 1'] * 9)})" for _ in range(9)),  # nobody's condition
    ],
)
def test_what_cannot_be_carried_over_is_not(text: str) -> None:
    assert draft().when(text) is None


def random_expression(rng: random.Random, depth: int) -> tuple[str, str]:
    """A condition, and the same in Python over a mapping `r`."""
    if depth == 0 or rng.random() < 0.3:
        name = rng.choice("xyz")
        value = rng.choice({"x": "123", "y": ["yes", "no"], "z": "1234"}[name])
        if name == "z":
            sign = rng.choice(["=", "!=", "<", "<=", ">", ">="])
            return f"{{z}} {sign} {value}", f"int(r['z']) {'==' if sign == '=' else sign} {value}"
        sign = rng.choice(["=", "!="])
        return f"{{{name}}} {sign} '{value}'", f"r['{name}'] {'==' if sign == '=' else sign} '{value}'"
    shape = rng.choice(["and", "or", "not", "()"])
    one, other = (random_expression(rng, depth - 1) for _ in range(2))
    if shape in ("and", "or"):
        return f"{one[0]} {shape} {other[0]}", f"{one[1]} {shape} {other[1]}"
    opening = "not (" if shape == "not" else "("
    return f"{opening}{one[0]})", f"{opening}{one[1]})"


def holds(when: Any, record: Mapping[str, str]) -> bool:
    ways = when if isinstance(when, list) else [when]
    return any(
        all(record[name] in (own if isinstance(own, list) else [own]) for name, own in way.items()) for way in ways
    )


def test_random_conditions_hold_for_the_same_people_as_before() -> None:
    rng = random.Random(16)
    people = [dict(zip("xyz", answers, strict=True)) for answers in itertools.product("123", ["yes", "no"], "1234")]
    carried = 0
    for _ in range(400):
        text, meant = random_expression(rng, 3)
        when = draft().when(text)
        expected = [bool(eval(meant, {"int": int}, {"r": person})) for person in people]
        if when is None:
            assert not any(expected) or len(alternatives(text) or []) == 0, text
            continue
        carried += 1
        assert [holds(when, person) for person in people] == expected, text
    assert carried > 300


def opened(path: Path, sensitive: str) -> tuple[dict[str, Any], str, list[str]]:
    """A file with one sensitive question: what is disguised together takes seconds to design."""
    document, left_out = carried_over(path, sensitive=[sensitive])
    return document, path.name, left_out


def test_conditions_of_groups_panels_and_pages_are_those_of_their_questions(tmp_path: Path) -> None:
    rows = form(
        ["select_one yes_no", "smokes", "Do you smoke?"],
        ["begin group", "smokers", "Smokers", "${smokes} = 'yes'"],
        ["select_one brand", "brand", "Which brand?"],
        ["select_one yes_no", "often", "Often?", "${brand} = 'a' or ${brand} = 'b'"],
        ["end group", ""],
        ["begin group", "lost", "Lost", "once(${smokes}) = 'yes'"],
        ["select_one brand", "other", "And before?"],
        ["end group", ""],
        ["select_one yes_no", "not_now", "Not now?", "${smokes} != 'yes'"],
    )
    path = workbook(tmp_path / "form.xlsx", rows)
    document, left_out = carried_over(path)
    asked = questions(document)
    assert asked["brand"]["when"] == {"smokes": "yes"}
    assert asked["often"]["when"] == {"smokes": "yes", "brand": ["a", "b"]}
    assert "when" not in asked["other"]
    assert asked["not_now"]["when"] == {"smokes": "no"}
    said = "\n".join(left_out)
    assert "the condition of the group 'lost' (once(${smokes}) = 'yes'): its questions are asked of everybody" in said
    assert "the condition of the group 'smokers'" not in said
    assert "the condition of 'not_now' (${smokes} != 'yes'): who gave no answer there is not asked here" in said
    Definition.from_yaml(questionnaire_text(*opened(path, "other")))
    inner = {"type": "boolean", "name": "b", "visibleIf": "{r} >= 4"}
    pages = [
        {"elements": [{"type": "boolean", "name": "a"}, {"type": "rating", "name": "r", "rateMax": 5}]},
        {
            "visibleIf": "{a} = true",
            "elements": [{"type": "panel", "elements": [inner]}, {"type": "boolean", "name": "c"}],
        },
    ]
    path = surveyjs(tmp_path / "s.json", {"pages": pages})
    document, left_out = carried_over(path)
    asked = questions(document)
    assert asked["b"]["when"] == {"a": "yes", "r": ["4", "5"]}
    assert asked["c"]["when"] == {"a": "yes"}
    assert not any("condition" in line for line in left_out)
    Definition.from_yaml(questionnaire_text(*opened(path, "c")))
