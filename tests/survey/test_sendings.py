"""What devices send when they are asked again, and what they count of it: the page's own code under node."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from scipy.stats import binomtest

from tacit.estimation import estimate
from tacit.reports import Reports
from tacit.survey.definition import Definition
from tests.survey.page import node
from tests.survey.questionnaires import SMALL
from tests.survey.series import wave_of_series
from tests.survey.test_verification import changed, rule_out

FALSE_ALARM = 1e-6
STUDIES, PEOPLE = 1000, 40


def run(task: str, **given: Any) -> Any:
    return node(task, script="page_sendings.mjs", **given)


def documents(*texts: str) -> list[dict[str, Any]]:
    return [Definition.from_yaml(text).document for text in texts]


@pytest.mark.slow
def test_forty_devices_that_change_from_yes_to_no_are_estimated_at_no() -> None:
    waves = [Definition.from_yaml(SMALL.replace("name: health", f"name: health{number}")) for number in (1, 2)]
    answers = [{"age": "below 30", "smokes": smokes, "drinks": "no"} for smokes in ("yes", "no")]
    given = [{"definition": one.document, "answers": own} for one, own in zip(waves, answers, strict=True)]
    sent = run("reports", waves=given, devices=STUDIES * PEOPLE, seed=1965)
    shown = [int(second[:2], 36) for _, second in sent]
    channel = waves[1].scheme.groups[0].channel
    assert waves[1].scheme.groups[0].names == ("smokes",)
    assert binomtest(sum(shown), len(shown), float(channel.matrix[1, 0])).pvalue >= FALSE_ALARM
    # What the first wave sent says nothing about the second: of those who showed yes and no then, equally many show yes now.
    for first in (0, 1):
        after = [int(two[:2], 36) for one, two in sent if int(one[:2], 36) == first]
        assert binomtest(sum(after), len(after), float(channel.matrix[1, 0])).pvalue >= FALSE_ALARM
    studies = Counter(sum(shown[at : at + PEOPLE]) for at in range(0, len(shown), PEOPLE))
    covered = sum(many for yes, many in studies.items() if interval_of_yes(waves[1], yes)[0] <= 0)
    assert covered >= 0.93 * STUDIES


def interval_of_yes(definition: Definition, shown_yes: int) -> tuple[float, float]:
    """The interval of the share of yes when so many of the forty reports show it."""
    answers = definition.scheme.schema["smokes"].answers
    smokes = [answers[int(place < shown_yes)] for place in range(PEOPLE)]
    table = {"age": ["below 30"] * PEOPLE, "smokes": smokes, "drinks": ["no"] * PEOPLE}
    interval = estimate(Reports.from_arrow(table, definition.scheme), ["smokes"]).interval()
    return float(interval.low[1]), float(interval.high[1])


TWO = """\
name: two
title: {en: Two, de: Zwei}
introduction: {en: x, de: y}
contact: {en: x, de: y}
languages: [en, de]
pages:
  - questions:
      - {name: a, kind: yes-no, text: {en: Do you smoke?, de: Rauchen Sie?}, sensitive: true, prefer_not_to_say: false}
      - {name: b, kind: yes-no, text: {en: Do you drink?, de: Trinken Sie?}, sensitive: true, prefer_not_to_say: false}
groups:
  - questions: [a, b]
    channel: {kind: gamma-diagonal, gamma: 3}
"""


def test_a_question_is_the_same_in_another_order_language_wiring_disguise_and_name() -> None:
    german = TWO.replace("languages: [en, de]", "languages: [de]")
    for english in ("en: Two, ", "en: x, ", "en: Do you smoke?, ", "en: Do you drink?, "):
        german = german.replace(english, "")
    others = [
        TWO.replace("questions: [a, b]", "questions: [b, a]"),  # the axes exchanged
        TWO.replace("gamma: 3", "gamma: 2.9999"),
        TWO.replace("name: a,", "name: c,").replace("[a, b]", "[c, b]"),
        TWO.replace("Do you smoke?", '"do you SMOKE"'),
        german,
        TWO.replace("languages: [en, de]", "languages: [de, en]"),
    ]
    made = documents(TWO, *others)
    ((first,), *rest) = run("keys", definitions=made)
    assert len(first) == 4  # two questions in two languages
    for (other,) in rest:
        assert set(other) & set(first)
    for document in made[1:]:
        _, again = run("standings", definitions=[made[0], document])
        assert len(again["repeated"]) == 2
        assert again["gamma"] == pytest.approx(9, rel=1e-3)


def test_sendings_multiply_and_above_the_cap_are_refused() -> None:
    (small,) = documents(SMALL)
    standings = run("standings", definitions=[small] * 4)
    assert [one["gamma"] for one in standings] == pytest.approx([1, (7 / 3) ** 2, (7 / 3) ** 3, (7 / 3) ** 4], rel=1e-6)
    assert [one["all"] for one in standings] == pytest.approx([(7 / 3) ** (2 * n) for n in (1, 2, 3, 4)], rel=1e-6)
    assert [one["n"] for one in standings] == [0, 2, 4, 6]
    assert [one["isRefused"] for one in standings] == [False, False, False, True]
    assert standings[3]["beyond"] == ["smokes", "drinks"]
    # Strangers who share an entry have each sent once.
    assert not run("standings", definitions=[small] * 4, join="max")[3]["isRefused"]


def test_a_question_counts_alone_and_in_a_block_but_no_block_counts_twice() -> None:
    alone = TWO.replace("questions: [a, b]", "questions: [a]").replace("pages:", "privacy: strong\npages:")
    document, single = documents(TWO, alone)
    again = run("standings", definitions=[single, document, document])
    # The first asked `a` (gamma 3) and `b` apart; the block of both meets both of them.
    first = run("standings", definitions=[single])[0]
    assert again[1]["gamma"] == pytest.approx(3 * first["all"], rel=1e-6)
    assert again[2]["gamma"] == pytest.approx(9 * first["all"], rel=1e-6)


SEVERAL = SMALL.replace(
    "      - {name: drinks, kind: yes-no, text: Do you drink?, sensitive: true}",
    "      - {name: drinks, kind: several, text: What do you drink?, options: [beer, wine, tea, milk], sensitive: true,"
    " prefer_not_to_say: false}",
)


def test_options_that_are_disguised_one_by_one_are_counted_one_by_one() -> None:
    (several,) = documents(SEVERAL)
    first, again = run("standings", definitions=[several] * 2)
    assert first["all"] == pytest.approx((7 / 3) ** 5, rel=1e-6)
    assert again["gamma"] == pytest.approx((7 / 3) ** 2, rel=1e-6)
    # Strangers who share an entry: the options of one report add up, two reports do not.
    assert run("standings", definitions=[several] * 3, join="max")[2]["all"] == pytest.approx((7 / 3) ** 10, rel=1e-6)
    # Asked as a question with one answer, it is every option once more.
    (choice,) = documents(SEVERAL.replace("kind: several", "kind: choice").replace("options:", "answers:"))
    _, other = run("standings", definitions=[several, choice])
    assert "drinks" in other["repeated"]
    assert other["isRefused"]
    assert other["gamma"] == pytest.approx(first["all"], rel=1e-6)


def test_an_answer_that_is_ruled_out_is_not_asked_for_again() -> None:

    def unbound(document: dict[str, Any]) -> None:
        document["allow_unbounded"] = True
        rule_out(document)

    document = changed(unbound)
    first, again = run("standings", definitions=[document] * 2)
    assert (first["isRefused"], again["isRefused"], again["beyond"], again["gamma"]) == (False, True, ["drinks"], None)


def test_everything_sent_to_one_site_is_refused_above_the_cap_of_a_whole_questionnaire() -> None:
    many = [
        SMALL.replace("Do you smoke?", f"Did you do {number}?").replace("Do you drink?", f"Have you seen {number}?")
        for number in range(17)
    ]
    standings = run("standings", definitions=documents(*many))
    assert all(one["repeated"] == [] for one in standings)
    assert [one["isRefused"] for one in standings] == [one["all"] > 1e12 for one in standings]
    assert standings[-1]["isRefused"]
    assert not standings[-2]["isRefused"]


def test_a_series_is_counted_whole_before_its_first_wave_and_later_waves_add_nothing() -> None:
    waves = [wave_of_series(number, 2) for number in (1, 2)]
    (small,) = documents(SMALL)
    first, second, other = run("standings", definitions=[*waves, small])
    assert first["gamma"] == 1  # nothing was answered before
    assert (first["all"], first["isRefused"]) == (pytest.approx((7 / 3) ** 4, rel=1e-6), False)
    assert (second["gamma"], second["all"]) == (pytest.approx((7 / 3) ** 2, rel=1e-6), pytest.approx(first["all"]))
    # Another survey with the same questions is counted with the whole series.
    assert (other["gamma"], other["isRefused"]) == (pytest.approx((7 / 3) ** 3, rel=1e-6), False)
    before, refused = run("standings", definitions=[small, wave_of_series(1, 3)])
    assert not before["isRefused"]
    assert (refused["gamma"], refused["isRefused"]) == (pytest.approx((7 / 3) ** 4, rel=1e-6), True)


@pytest.mark.parametrize(
    ("document", "reasons"),
    [
        (wave_of_series(1, 3), []),
        (wave_of_series(3, 3, panel=True), []),
        (wave_of_series(1, 4), ["amplified", "amplified"]),  # 29.6 in four waves at 7/3: more than 19
        (wave_of_series(4, 4, series_gamma=30), []),
        (wave_of_series(5, 4, series_gamma=30), ["series"]),
        (wave_of_series(0, 4, series_gamma=30), ["series"]),
        (wave_of_series(1, 4, series_gamma=29), ["amplified", "amplified"]),
        (wave_of_series(1, 17, series_gamma=2e6), ["exceeds"]),  # two answers, 17 times: 3.2e12
        (wave_of_series(1, 4, series_gamma="much"), ["series"]),
        (wave_of_series(1, 4, series_gamma=30, panel=1), ["series"]),
        ({**Definition.from_yaml(SMALL).document, "panel": True}, ["series"]),
        ({**Definition.from_yaml(SMALL).document, "series_gamma": 1000}, ["series"]),
    ],
)
def test_the_page_judges_the_whole_series(document: dict[str, Any], reasons: list[str]) -> None:
    (page,) = node("examine", script="page_checks.mjs", documents=[document])
    assert [reason for reason, _ in page["reasons"]] == reasons
