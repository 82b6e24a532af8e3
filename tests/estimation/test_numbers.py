"""Means and quantiles of ordered answers: exact where reports are clear, covering where they are disguised."""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy import stats

import tacit
from tacit import Attribute, Dataset, Reports, Scheme, channels
from tacit.channel import Recipe
from tacit.errors import InvalidInput
from tests.cli import run
from tests.statistics import FALSE_ALARM

SOAK = os.environ.get("TACIT_SOAK") == "1"
SEX = Attribute("sex", ("f", "m"))


def scale(answers: int) -> Attribute:
    return Attribute("stress", tuple(map(str, range(answers))), ordered=True)


def drawn(scheme: Scheme, shares: np.ndarray, n: int, rng: np.random.Generator) -> Reports:
    stress = rng.choice(len(shares), n, p=shares).astype(str)
    data = {"stress": stress, "sex": np.where(rng.random(n) < 0.3, "f", "m")}
    return tacit.disguise(Dataset.from_arrow(data, schema=scheme.schema), scheme, seed=int(rng.integers(1 << 40)))


def test_a_mean_is_asked_for_by_name() -> None:
    data = {"stress": ["0", "1", "1", "4", "2", "3"], "sex": ["f", "f", "f", "m", "m", "m"]}
    reports = Reports.from_arrow(data, Scheme.of([scale(5), SEX]))
    asked = tacit.estimate(reports, mean="stress", by="sex", sampling="respondents")
    table = tacit.estimate(reports, ["sex", "stress"], sampling="respondents").mean("stress")
    assert list(asked.rows()) == list(table.rows())
    doubled = {str(number): 2.0 * number for number in range(5)}
    assert tacit.estimate(reports, mean="stress", values=doubled).means.item() == pytest.approx(22 / 6)
    for wrong, message in (
        ({"mean": "stress", "attributes": "sex"}, "one of the two"),
        ({}, "one of the two"),
        ({"attributes": "sex", "by": "stress"}, "belong to a mean"),
    ):
        with pytest.raises(InvalidInput, match=message):
            tacit.estimate(reports, **wrong)


def skewed(answers: int) -> np.ndarray:
    return 0.5 ** np.arange(answers) / (0.5 ** np.arange(answers)).sum()


def test_clear_reports_have_the_means_and_quantiles_of_their_numbers() -> None:
    data = {"stress": ["0", "1", "1", "4", "2", "3"], "sex": ["f", "f", "f", "m", "m", "m"]}
    table = tacit.estimate(Reports.from_arrow(data, Scheme.of([scale(5), SEX])), ["stress", "sex"])
    rows = list(table.mean("stress").rows())
    assert [row["mean"] for row in rows] == pytest.approx([2 / 3, 3])
    assert [row["given"] for row in rows] == [{"sex": "f"}, {"sex": "m"}]
    assert [row["value"] for row in table.quantile("stress", [0.5]).rows()] == [1, 3]
    (difference,) = table.mean("stress").differences()
    assert difference["difference"] == pytest.approx(-7 / 3)
    variances = [2 / 9 / 3, 2 / 3 / 3]  # of the two means; the floor under every share adds a little
    assert [row["standard_error"] ** 2 for row in rows] == pytest.approx(variances, rel=0.02)


def test_clear_reports_have_the_shares_above_limits_and_the_spread_of_their_numbers() -> None:
    data = {"stress": ["0", "1", "1", "4", "2", "3"], "sex": ["f", "f", "f", "m", "m", "m"]}
    table = tacit.estimate(Reports.from_arrow(data, Scheme.of([scale(5), SEX])), ["stress", "sex"])
    rows = list(table.above("stress", [0, 2.5, 4, -1]).rows())
    assert [row["share"] for row in rows] == pytest.approx([2 / 3, 0, 0, 1, 1, 2 / 3, 0, 1], abs=1e-12)
    assert all(row["low"] <= row["share"] <= row["high"] for row in rows)
    spreads = [row["standard_deviation"] for row in table.mean("stress").rows()]
    assert spreads == pytest.approx([np.std([0, 1, 1]), np.std([4, 2, 3])])


@pytest.mark.parametrize("recipe", [channels.threshold(4), channels.subset(3, 4)])
def test_shares_above_a_limit_and_spreads_have_the_stated_errors(recipe: Recipe) -> None:
    scheme, shares, studies = Scheme.of([scale(7), SEX], [(["stress"], recipe)], public=["sex"]), skewed(7)[::-1], 300
    rng = np.random.default_rng(20261118)
    above, spreads, covered = [], [], 0
    for _ in range(studies):
        table = tacit.estimate(drawn(scheme, shares, 4000, rng), "stress")
        (row,), (mean,) = table.above("stress", 4).rows(), table.mean("stress").rows()
        above.append((row["share"], row["standard_error"]))
        spreads.append((mean["standard_deviation"], mean["standard_deviation_error"]))
        covered += row["low"] <= shares[5:].sum() <= row["high"]
    truth = float(np.sqrt(shares @ np.arange(7) ** 2 - (shares @ np.arange(7)) ** 2))
    room = stats.norm.isf(FALSE_ALARM / 2) / np.sqrt(2 * studies)
    for measured, expected in ((np.array(above), shares[5:].sum()), (np.array(spreads), truth)):
        assert abs(measured[:, 0].mean() - expected) <= 6 * measured[:, 0].std() / np.sqrt(studies) + 0.02 * expected
        assert abs(measured[:, 0].std(ddof=1) / measured[:, 1].mean() - 1) <= room + 0.05
    assert stats.binom.cdf(covered, studies, 0.93) >= FALSE_ALARM


def test_for_the_respondents_a_clear_mean_has_no_error() -> None:
    reports = Reports.from_arrow({"stress": ["0", "1", "1", "4"]}, Scheme.of([scale(5)]))
    (row,) = tacit.estimate(reports, "stress", sampling="respondents").mean("stress").rows()
    assert row["standard_error"] == pytest.approx(0, abs=1e-9)


CASES = {
    "thresholds, even, few": (11, 200, channels.threshold(7 / 3), False),
    "thresholds, skewed": (11, 1000, channels.threshold(9), True),
    "gamma-diagonal, skewed, few": (5, 200, channels.gamma_diagonal(9), True),
    "gamma-diagonal, even": (5, 1000, channels.gamma_diagonal(7 / 3), False),
    "subsets, skewed": (11, 1000, channels.subset(3, 7 / 3), True),
}


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_intervals_of_means_their_differences_and_medians_cover(case: str) -> None:
    answers, n, recipe, is_skewed = CASES[case]
    scheme = Scheme.of([scale(answers), SEX], [(["stress"], recipe)])
    shares = skewed(answers) if is_skewed else np.full(answers, 1 / answers)
    values = np.arange(answers)
    truth, median = float(values @ shares), float(np.argmax(np.cumsum(shares) >= 0.5 - 1e-12))
    rng = np.random.default_rng(20261118)
    studies = 1000 if SOAK else 100
    hits = np.zeros(3, dtype=int)
    for _ in range(studies):
        reports = drawn(scheme, shares, n, rng)
        alone, joint = tacit.estimate(reports, "stress"), tacit.estimate(reports, ["stress", "sex"])
        rows = [next(alone.mean("stress").rows()), next(joint.mean("stress").differences())]
        rows.append(next(alone.quantile("stress").rows()))
        hits += [row["low"] <= true <= row["high"] for row, true in zip(rows, (truth, 0.0, median), strict=True)]
    assert (stats.binom.cdf(hits, studies, 0.93) >= FALSE_ALARM).all(), hits / studies
    assert (stats.binom.sf(hits[:2] - 1, studies, 0.97) >= FALSE_ALARM).all(), hits / studies


def test_the_error_of_a_mean_from_thresholds_is_what_the_formulas_state() -> None:
    rng = np.random.default_rng(4)
    scheme = Scheme.of([scale(11), SEX], [(["stress"], channels.threshold(7 / 3))])
    (row,) = tacit.estimate(drawn(scheme, np.full(11, 1 / 11), 20_000, rng), "stress").mean("stress").rows()
    assert row["standard_error"] * np.sqrt(20_000) / 10 == pytest.approx(1.2224, rel=0.01)


def test_a_small_public_group_keeps_its_own_error() -> None:
    """Projecting all groups at once took people from a noisy group: its stated error was more than twice the true one."""
    rng = np.random.default_rng(8)
    scheme = Scheme.of([scale(11), SEX], [(["stress"], channels.threshold(7 / 3))])
    errors = []
    for _ in range(30):
        table = tacit.estimate(drawn(scheme, np.full(11, 1 / 11), 200, rng), ["stress", "sex"])
        errors.append(next(table.mean("stress").rows())["standard_error"])
    assert np.mean(errors) == pytest.approx(12.224 / np.sqrt(60), rel=0.15)


def test_answers_may_be_given_numbers() -> None:
    pain = Attribute("pain", ("none", "some", "much"), ordered=True, values=(0, 1, 10))
    reports = Reports.from_arrow({"pain": ["none", "some", "much", "much"]}, Scheme.of([pain]))
    table = tacit.estimate(reports, "pain")
    assert next(table.mean("pain").rows())["mean"] == pytest.approx(21 / 4)
    assert next(table.mean("pain", {"none": 1, "some": 2, "much": 3}).rows())["mean"] == pytest.approx(9 / 4)
    assert Attribute.from_document(pain.to_document()) == pain


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (None, "are no numbers .* Give each a number: --values 'pain: none=0"),
        ({"none": 0, "some": 1}, "'much' has none"),
        ({"none": 0, "some": 1, "much": 2, "more": 3}, "'more' is no answer"),
    ],
)
def test_a_mean_of_answers_without_numbers_is_refused(values, message: str) -> None:
    pain = Attribute("pain", ("none", "some", "much"))
    table = tacit.estimate(Reports.from_arrow({"pain": ["none", "some"]}, Scheme.of([pain])), "pain")
    with pytest.raises(InvalidInput, match=message):
        table.mean("pain", values)


def test_values_of_an_attribute_are_one_number_for_each_answer() -> None:
    with pytest.raises(InvalidInput, match="must be 2 numbers, one for each of its answers"):
        Attribute("pain", ("none", "some"), values=(1,))


@pytest.mark.parametrize("level", [0, 1, -0.5, "half"])
def test_the_level_of_a_quantile_lies_between_0_and_1(level) -> None:
    table = tacit.estimate(Reports.from_arrow({"stress": ["0", "1"]}, Scheme.of([scale(3)])), "stress")
    with pytest.raises(InvalidInput, match="lies between 0 and 1"):
        table.quantile("stress", [level])


@pytest.fixture
def files(tmp_path, monkeypatch):
    scheme = Scheme.of([scale(11), SEX], [(["stress"], channels.threshold(7 / 3))])
    drawn(scheme, np.full(11, 1 / 11), 500, np.random.default_rng(1)).write(tmp_path / "reports.parquet")
    monkeypatch.chdir(tmp_path)


def test_the_command_answers_means_quantiles_and_differences(files) -> None:
    options = ("--mean", "stress", "--by", "sex", "--quantiles", ".25,.5", "--above", "3,7")
    document = run.tacit("estimate", "reports.parquet", *options, "--json").json
    assert {"attribute", "given", "mean", "standard_error", "low", "high"} <= set(document["means"][0])
    assert set(document["above"][0]) == {"attribute", "given", "above", "share", "standard_error", "low", "high"}
    assert set(document["quantiles"][0]) == {"attribute", "given", "level", "value", "low", "high"}
    names = {"attribute", "of", "against", "difference", "standard_error", "low", "high", "p"}
    assert set(document["mean_differences"][0]) == names
    assert [len(document[key]) for key in ("means", "quantiles", "mean_differences", "above")] == [2, 4, 1, 4]
    text = run.tacit("estimate", "reports.parquet", *options).out
    assert "Quantiles" in text
    assert "stress > 7" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--by", "sex"], "name its attribute with --mean"),
        (["--mean", "stress", "--attributes", "stress"], "--attributes is for a table of shares"),
        (["--mean", "stress", "--quantiles", "half"], "takes levels between 0 and 1"),
        (["--mean", "stress", "--values", "stress"], "takes an attribute and its answers' numbers"),
        (["--mean", "sex"], "are no numbers"),
        ([], "Say what to estimate"),
    ],
)
def test_what_is_no_mean_is_refused(files, options, message: str) -> None:
    assert message in run.refused("estimate", "reports.parquet", *options)
