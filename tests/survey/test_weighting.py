"""Reports raked to known margins give the population's shares, with errors that hold."""

from __future__ import annotations

import math
import sys
from statistics import NormalDist

import numpy as np
import pytest

from tacit.dataset import Dataset
from tacit.disguising import disguise
from tacit.errors import InvalidInput
from tacit.estimation import estimate
from tacit.estimation.comparison import GroupDifference
from tacit.randomness import SeededRandomness
from tacit.reports import Reports
from tacit.survey.answer_tables import AnswerTables
from tacit.survey.definition import Definition
from tacit.survey.group_differences import group_tables
from tacit.survey.weighted_groups import weighted_table
from tacit.survey.weighting import Weighting, given_margins, rake_weights
from tacit.table import Table
from tests.statistics import assert_standard_scores

ASKED = """\
name: weighted
title: Weighted
introduction: We ask.
contact: research@example.org
privacy: strong
pages:
  - questions:
      - {name: age, kind: number, text: How old are you?, ranges: [30, 60], sensitive: false}
      - {name: town, kind: choice, text: Where do you live?, answers: [north, south], sensitive: false}
      - {name: mood, kind: choice, text: How are you?, answers: [good, bad], sensitive: false, optional: true}
      - {name: smokes, kind: yes-no, text: Do you smoke?, sensitive: true, prefer_not_to_say: false}
"""
AGES = np.array([0.2, 0.5, 0.3])
TOWNS = np.array([0.6, 0.4])
# Of the population; who answers is younger and from the north, and the young smoke.
SMOKES = np.array([[0.6, 0.5], [0.3, 0.2], [0.1, 0.05]])
ANSWERS = np.array([[0.35, 0.15], [0.2, 0.15], [0.1, 0.05]])
MARGINS = {
    "age": dict(zip(("below 30", "30 to 59", "60 or more"), AGES, strict=True)),
    "town": dict(zip(("north", "south"), TOWNS, strict=True)),
}
DEFINITION = Definition.from_yaml(ASKED)


def sampled(n: int, seed: int) -> Reports:
    """People who answer with these chances, their smoking disguised."""
    random = np.random.default_rng(seed)
    cells = random.choice(6, n, p=ANSWERS.reshape(-1))
    smokes = random.random(n) < SMOKES.reshape(-1)[cells]
    (group,) = DEFINITION.scheme.groups
    (shown,) = group.channel.sample([smokes.astype(np.uint8)], SeededRandomness(10_000 + seed))
    columns = {
        "smokes": shown, "age": (cells // 2).astype(np.uint8), "town": (cells % 2).astype(np.uint8),
        "mood": np.zeros(n, dtype=np.uint8),
    }  # fmt: skip
    return Reports(DEFINITION.scheme, (Table(DEFINITION.scheme.report_schema, columns),))


def raked_truth() -> float:
    """What weights that depend on the margins alone aim at."""
    weights = rake_weights(ANSWERS, [AGES, TOWNS])
    return float((ANSWERS * weights * SMOKES).sum())


@pytest.mark.slow
def test_weighted_shares_have_the_errors_that_are_stated() -> None:
    scores = []
    for seed in range(250):
        reports = sampled(2_000, seed)
        share = Weighting.of(reports, DEFINITION.scheme, MARGINS).estimate(reports, "smokes")[1]
        scores.append((share.probability - raked_truth()) / share.standard_error)
        assert 0 <= share.low < share.probability < share.high <= 1
    assert_standard_scores(scores)
    with pytest.raises(AssertionError, match="p-value"):  # half a standard error more or less is noticed
        assert_standard_scores(np.array(scores) + 0.5)


def test_raking_meets_every_margin() -> None:
    weights = rake_weights(ANSWERS, [AGES, TOWNS])
    assert (ANSWERS * weights).sum(axis=1) == pytest.approx(AGES, abs=1e-9)
    assert (ANSWERS * weights).sum(axis=0) == pytest.approx(TOWNS, abs=1e-9)


def test_one_margin_is_post_stratification_whose_error_is_known() -> None:
    """Undisguised, with one margin, the error is that of a stratified sample of these people."""
    n = 3_000
    reports = sampled(n, 1)
    share = Weighting.of(reports, DEFINITION.scheme, {"age": MARGINS["age"]}).estimate(reports, "town")[0]
    ages, towns = reports.table["age"], reports.table["town"]
    within = np.array([(towns[ages == age] == 0).mean() for age in range(3)])
    people = np.bincount(ages, minlength=3)
    assert share.probability == pytest.approx(float(AGES @ within), rel=1e-9)
    stratified = np.sqrt((AGES**2 * within * (1 - within) / people).sum())
    assert share.standard_error == pytest.approx(float(stratified), rel=1e-6)


def test_effective_numbers_and_large_weights_are_said() -> None:
    reports = sampled(2_000, 2)
    weighting = Weighting.of(reports, DEFINITION.scheme, MARGINS)
    shares = weighting.shares * weighting.weights
    assert weighting.effective == pytest.approx(2_000 / float((shares * weighting.weights).sum()))
    assert f"count as {weighting.effective:,.0f}" in weighting.notes[0]
    few = Weighting(("age",), np.array([0.999, 0.001]), np.array([0.5, 500.5]), 2_000)
    assert "stand for more than 10 each" in few.notes[1]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("{age: {below 30: 0.5, 30 to 59: 0.5}}", "It lacks 60 or more"),
        ("{age: {below 30: 0.5, 30 to 59: 0.5, 60 or more: 0.5}}", "sum to 1, not to 1.5"),
        ("{age: {young: 1}}", "'age' has no answer 'young'"),
        ("{smokes: {'no': 0.5, 'yes': 0.5}}", "'smokes' is sensitive"),
        ("{mood: {good: 0.5, bad: 0.5}}", "no public question 'mood' with one answer that everybody gives"),
        ("{height: {tall: 1}}", "no public question 'height'"),
        ("{}", "at least one public question"),
        ("[age]", "A mapping is wanted"),
    ],
)
def test_margins_that_are_none_are_refused_with_their_line(given: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said) as refusal:
        given_margins(DEFINITION, given)
    assert str(refusal.value).startswith("population, line 1: ")
    with pytest.raises(InvalidInput, match=said) as refusal:
        Definition.from_yaml(f"{ASKED}population: {given}\n")
    assert "line 12" in str(refusal.value)


def test_margins_of_the_questionnaire_are_kept_with_it() -> None:
    text = ASKED + "population: {age: {below 30: 0.2, 30 to 59: 0.5, 60 or more: 0.3}}\n"
    assert Definition.from_yaml(text).population == {"age": {"below 30": 0.2, "30 to 59": 0.5, "60 or more": 0.3}}
    assert DEFINITION.population is None
    assert given_margins(DEFINITION, "  ") is None


def test_people_whom_no_report_stands_for_are_named() -> None:
    reports = sampled(500, 3)
    nobody = {name: column.copy() for name, column in ((one, reports.table[one]) for one in reports.table.schema.names)}
    nobody["age"][nobody["age"] == 2] = 1
    young = Reports(DEFINITION.scheme, (Table(DEFINITION.scheme.report_schema, nobody),))
    with pytest.raises(InvalidInput, match=r"No report says age = '60 or more', which is 30\.0% of the population"):
        Weighting.of(young, DEFINITION.scheme, MARGINS)
    with pytest.raises(InvalidInput, match="cannot be weighted to these shares"):
        rake_weights(np.array([[0.5, 0.0], [0.0, 0.5]]), [np.array([0.5, 0.5]), np.array([0.9, 0.1])])


def compared(n: int, seed: int) -> list[GroupDifference]:
    """How many more of the north than of the south smoke: weighted, then among who answered."""
    reports = sampled(n, seed)
    weighting = Weighting.of(reports, DEFINITION.scheme, MARGINS)
    tables = (weighted_table(weighting, reports, "town", "smokes"), estimate(reports, ["town", "smokes"]))
    return [table.compare("town").differences[1] for table in tables]


def test_differences_between_groups_are_the_populations_with_the_errors_that_are_stated() -> None:
    weights = rake_weights(ANSWERS, [AGES, TOWNS])
    north, south = (ANSWERS * weights * SMOKES).sum(axis=0) / (ANSWERS * weights).sum(axis=0)
    scores: dict[str, list[float]] = {"weighted": [], "plain": []}
    for seed in range(60):
        for kind, one in zip(scores, compared(4_000, 1_000 + seed), strict=True):
            assert one.difference is not None
            scores[kind].append((one.difference - (north - south)) / one.standard_error)
    assert_standard_scores(scores["weighted"])
    with pytest.raises(AssertionError, match="p-value"):  # the north is younger among who answered, and the young smoke
        assert_standard_scores(scores["plain"])


def test_the_test_of_weighted_groups_holds_its_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "SMOKES", np.full((3, 2), 0.3))
    scores = []
    for seed in range(60):
        one, _ = compared(2_000, 5_000 + seed)
        assert one.difference is not None
        scores.append(math.copysign(NormalDist().inv_cdf(1 - one.p / 2), one.difference))
    assert_standard_scores(scores)


SPLIT = """\
      - {name: drinks, kind: yes-no, text: Do you drink?, sensitive: true, prefer_not_to_say: false}
split:
  - {name: one, questions: [smokes], share: 0.3}
  - {name: two, questions: [drinks], share: 0.7}
"""


def test_weighted_differences_of_a_question_that_few_are_dealt_have_their_errors() -> None:
    """Three in ten are asked, and all tell their age and town: errors are those of the three."""
    scheme = Definition.from_yaml(ASKED + SPLIT).scheme
    weights = rake_weights(ANSWERS, [AGES, TOWNS])
    north, south = (ANSWERS * weights * SMOKES).sum(axis=0) / (ANSWERS * weights).sum(axis=0)
    scores = []
    for seed in range(40):
        random = np.random.default_rng(9_000 + seed)
        cells = random.choice(6, 4_000, p=ANSWERS.reshape(-1))
        truth = {
            "age": np.array(scheme.schema["age"].answers)[cells // 2],
            "town": np.array(scheme.schema["town"].answers)[cells % 2],
            "mood": np.full(4_000, "good"),
            "smokes": np.where(random.random(4_000) < SMOKES.reshape(-1)[cells], "yes", "no"),
            "drinks": np.full(4_000, "no"),
        }
        reports = disguise(Dataset.from_arrow(truth, schema=scheme.schema), scheme, seed=seed)
        weighting = Weighting.of(reports, scheme, MARGINS)
        one = weighted_table(weighting, reports, "town", "smokes").compare("town").differences[1]
        assert one.difference is not None
        scores.append((one.difference - (north - south)) / one.standard_error)
    assert_standard_scores(scores)
    with pytest.raises(AssertionError, match="p-value"):  # errors as if all had been asked
        assert_standard_scores(np.array(scores) / math.sqrt(0.3))


@pytest.mark.parametrize("margins", [("age", "town"), ("age",), ("town",)])
@pytest.mark.parametrize("by", ["town", "age"])
def test_the_weighted_table_of_two_questions_adds_up_to_the_weighted_shares(by: str, margins: tuple[str, ...]) -> None:
    reports = sampled(2_000, 7)
    weighting = Weighting.of(reports, DEFINITION.scheme, {name: MARGINS[name] for name in margins})
    table = weighted_table(weighting, reports, by, "smokes")
    covariance = table.covariance.reshape(*table.probabilities.shape, *table.probabilities.shape)
    for name, axis in (("smokes", 0), (by, 1)):
        shares = table.probabilities.sum(axis=axis)
        errors = np.sqrt(np.maximum(covariance.sum(axis=(axis, axis + 2)).diagonal(), 0))
        if name in margins:
            assert shares == pytest.approx(list(MARGINS[name].values()), abs=1e-9)
            assert errors == pytest.approx(np.zeros(len(shares)), abs=1e-6)
        else:
            alone = weighting.estimate(reports, name)
            assert shares == pytest.approx([one.probability for one in alone], rel=1e-9)
            assert errors == pytest.approx([one.standard_error for one in alone], rel=1e-3)


def test_two_margins_are_compared_without_an_error_of_their_own_shares() -> None:
    reports = sampled(2_000, 8)
    weighting = Weighting.of(reports, DEFINITION.scheme, MARGINS)
    table = weighted_table(weighting, reports, "town", "age")
    assert table.probabilities == pytest.approx((weighting.shares * weighting.weights).T, rel=1e-9)
    assert (table.standard_errors > 0).all()


def test_the_dashboard_compares_weighted_groups() -> None:
    reports = sampled(2_000, 9)
    tables = AnswerTables(DEFINITION, reports, 10)
    weighting = Weighting.of(reports, DEFINITION.scheme, MARGINS)
    plain, weighted = (
        next(one for one in group_tables(tables, ["smokes"], "town", weights)) for weights in (None, weighting)
    )
    assert [plain.to_document()["weighted"], weighted.to_document()["weighted"]] == [False, True]
    joint = weighted_table(weighting, reports, "town", "smokes").probabilities
    shares = joint / joint.sum(axis=1, keepdims=True)
    assert [row.probability for row in weighted.rows] == pytest.approx(shares.reshape(-1), rel=1e-9)
    assert [row.probability for row in plain.rows] != pytest.approx(shares.reshape(-1), rel=1e-3)


def test_the_dashboard_shows_the_numbers_that_estimate_gives() -> None:
    """Of everybody, and within a public group: share, error and both ends."""
    reports = sampled(1_500, 7)
    tables = AnswerTables(DEFINITION, reports, 0)
    whole = estimate(reports, "smokes")
    for row, cell in zip(tables.question("smokes").rows, whole.cells(), strict=True):
        assert (row.probability, row.standard_error, row.low, row.high) == tuple(
            cell[key] for key in ("probability", "standard_error", "low", "high")
        )
    (grouped,) = group_tables(tables, ["smokes"], "town")
    for code, town in enumerate(("north", "south")):
        there = estimate(reports.rows(reports.table["town"] == code), "smokes")
        rows = [row for row in grouped.rows if row.group == town]
        for row, cell in zip(rows, there.cells(), strict=True):
            numbers = tuple(cell[key] for key in ("probability", "standard_error", "low", "high"))
            assert (row.probability, row.standard_error, row.low, row.high) == pytest.approx(numbers, abs=1e-12)
