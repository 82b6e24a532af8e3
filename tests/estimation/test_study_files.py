"""Files as people keep them: marks of missing answers, decimal commas, titles and sheets, empty groups, impossible reports."""

from __future__ import annotations

import numpy as np
import openpyxl
import pandas as pd
import pytest

import tacit
from tacit.errors import InvalidInput, NotEstimable, UnknownName
from tests.cli.run import refused
from tests.cli.run import tacit as run

WARNER = ("warner", "p=.8")


@pytest.fixture
def people() -> pd.DataFrame:
    g = np.random.default_rng(5)
    n = 900
    truth = g.random(n) < 0.3
    reports = np.where(g.random(n) < 0.8, truth, ~truth).astype(int).astype(str)
    town = g.choice(["a", "b", "c"], n)
    return pd.DataFrame({"x": reports, "edu": g.choice(["high", "low"], n), "age": g.integers(18, 80, n), "town": town})


@pytest.mark.parametrize("mark", ["NA", "N/A", ".", "-99", "NaN", "null"])
def test_marks_of_missing_answers_are_no_answers(people: pd.DataFrame, mark: str, tmp_path) -> None:
    """R writes NA: it became a level of a factor, and in the item a dead end."""
    gaps = people.astype(object)
    gaps.loc[::30, "x"] = mark
    gaps.loc[1::30, "age"] = mark
    gaps.to_csv(tmp_path / "p.csv", index=False)
    file = tmp_path / "p.csv"
    asked = tacit.prevalence(file, "x", *WARNER)
    assert (asked.n_reports, asked.n_missing) == (870, 30)
    assert f"{mark!r} (30) is read as missing" in asked.readings[0]
    fit = tacit.regress(file, "x ~ age", devices={"x": "warner p=.8"})
    assert fit.terms == ("Intercept", "age")
    assert fit.n_missing == 60
    printed = run("prevalence", file, "--item", "x", "--device", "warner", "--parameters", "p=.8")
    assert "is read as missing" in printed.err


def test_stated_marks_are_the_only_ones(people: pd.DataFrame, tmp_path) -> None:
    gaps = people.assign(edu=people.edu.mask(people.index % 10 == 0, "NA").mask(people.index % 10 == 1, "Refused"))
    gaps.to_csv(tmp_path / "p.csv", index=False)
    guessed = tacit.regress(tmp_path / "p.csv", "x ~ edu", devices={"x": "warner p=.8"})
    assert guessed.terms == ("Intercept", "edu[T.high]", "edu[T.low]")
    assert any("--missing-mark 'Refused'" in reading for reading in guessed.readings)
    stated = ("--missing-mark", "NA", "--missing-mark", "Refused")
    device = ("--device", "x: warner p=.8", "--formula", "x ~ edu")
    answer = run("regress", tmp_path / "p.csv", *device, *stated, "--json").json
    assert [c["term"] for c in answer["coefficients"]] == ["Intercept", "edu[T.low]"]
    assert answer["n_missing"] == 180
    # Namibia's code is an answer where another mark is stated.
    other = tacit.regress(tmp_path / "p.csv", "x ~ edu", devices={"x": "warner p=.8"}, missing_marks=["Refused"])
    assert "edu[T.high]" in other.terms
    assert "edu[T.low]" in other.terms


def test_negative_codes_count_where_other_numbers_are_negative(people: pd.DataFrame) -> None:
    people["change"] = np.random.default_rng(1).integers(-120, 120, len(people))
    people.loc[0, "change"] = -99
    assert tacit.regress(people, "x ~ change", devices={"x": "warner p=.8"}).n_missing == 0


def test_decimal_commas_are_numbers(people: pd.DataFrame, tmp_path) -> None:
    people["income"] = people.age / 4
    people.to_csv(tmp_path / "p.csv", sep=";", decimal=",", index=False)
    fit = tacit.regress(tmp_path / "p.csv", "x ~ income", devices={"x": "warner p=.8"})
    assert fit.terms == ("Intercept", "income")
    assert fit["income"].estimate == pytest.approx(
        tacit.regress(people, "x ~ income", devices={"x": "warner p=.8"})["income"].estimate
    )
    people["income"] = "1,250"
    with pytest.raises(InvalidInput, match=r"'1,250': its comma may mark decimals or thousands"):
        tacit.regress(people, "x ~ income", devices={"x": "warner p=.8"})


def test_sheets_and_title_rows(people: pd.DataFrame, tmp_path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["nothing here"])
    sheet = book.create_sheet("wave 2")
    for row in [["A study"], [], list(people), *people.to_numpy().tolist()]:
        sheet.append(row)
    book.save(tmp_path / "p.xlsx")
    there = tacit.prevalence(tmp_path / "p.xlsx", "x", *WARNER, sheet="wave 2", skip_rows=2)
    assert there["yes"].share == tacit.prevalence(people, "x", *WARNER)["yes"].share
    options = (
        "--item",
        "x",
        "--device",
        "warner",
        "--parameters",
        "p=.8",
        "--sheet",
        "2",
        "--skip-rows",
        "2",
        "--json",
    )
    assert run("prevalence", tmp_path / "p.xlsx", *options).json["n_reports"] == 900
    with pytest.raises(UnknownName, match="Sheet"):
        tacit.prevalence(tmp_path / "p.xlsx", "x", *WARNER, sheet="wave 3")
    (tmp_path / "p.csv").write_text("A study\n\n" + people.to_csv(index=False))
    assert tacit.prevalence(tmp_path / "p.csv", "x", *WARNER, skip_rows=2).n_reports == 900
    with pytest.raises(InvalidInput, match="has no sheets"):
        tacit.prevalence(tmp_path / "p.csv", "x", *WARNER, sheet="1")
    with pytest.raises(InvalidInput, match="are for files"):
        tacit.prevalence(people, "x", *WARNER, skip_rows=1)


def test_rows_are_numbered_as_in_the_file(people: pd.DataFrame) -> None:
    """Rows that lack a covariate are left out first; the row of a bad weight was counted without them."""
    people = people.astype({"age": object}).assign(w=1.0)
    people.loc[:9, "age"] = None
    people.loc[20, "w"] = 0.0
    with pytest.raises(InvalidInput, match="weight in row 21 is 0"):
        tacit.regress(people, "x ~ age", devices={"x": "warner p=.8"}, weights="w")
    people.loc[20, "w"] = np.nan
    with pytest.raises(InvalidInput, match="no value in row 21"):
        tacit.regress(people, "x ~ age", devices={"x": "warner p=.8"}, weights="w")


def test_dots_in_functions_are_explained(people: pd.DataFrame) -> None:
    with pytest.raises(InvalidInput, match=r"in backticks: `age\.y`"):
        tacit.regress(people.rename(columns={"age": "age.y"}), "x ~ log(age.y)", devices={"x": "warner p=.8"})


class TestGroups:
    def test_empty_cells_and_groups_without_reports_are_left_out(self, people: pd.DataFrame) -> None:
        """One empty cell in the column stopped everything."""
        people = people.astype(object)
        people.loc[3, "town"] = None
        people.loc[4, "town"] = "nowhere"
        people.loc[4, "x"] = None
        result = tacit.prevalence(people, "x", *WARNER, by="town")
        assert [group.answers["town"] for group in result.groups] == ["a", "b", "c"]
        assert any("left out: nowhere" in warning for warning in result.warnings)
        assert any("1 rows have no group" in warning for warning in result.warnings)

    def test_several_columns_and_comparisons(self, people: pd.DataFrame) -> None:
        result = tacit.prevalence(people, "x", *WARNER, by=["town", "edu"], compare="all")
        assert len(result.groups) == 6
        assert len(result.differences) == 15
        assert result.overall is not None
        assert result.overall.degrees_of_freedom == 5
        one = tacit.prevalence(people, "x", *WARNER, by="town", compare="c")
        assert [difference.against["town"] for difference in one.differences] == ["c", "c"]
        with pytest.raises(UnknownName, match="Group"):
            tacit.prevalence(people, "x", *WARNER, by="town", compare="d")
        with pytest.raises(InvalidInput, match="Name their columns"):
            tacit.prevalence(people, "x", *WARNER, compare="all")

    def test_the_overall_test_keeps_its_level(self) -> None:
        """160 studies under the null, three groups; with thirty clusters too."""
        plain, designed = [], []
        for seed in range(160):
            g = np.random.default_rng(seed)
            truth = g.random(600) < 0.3
            frame = {
                "x": np.where(g.random(600) < 0.8, truth, ~truth).astype(int),
                "town": g.choice(list("abc"), 600),
                "cluster": np.repeat(np.arange(30), 20),
            }
            plain.append(tacit.prevalence(frame, "x", *WARNER, by="town").overall.p)
            if seed < 80:
                designed.append(tacit.prevalence(frame, "x", *WARNER, by="town", clusters="cluster").overall.p)
        for ps in (plain, designed):
            error = np.sqrt(0.05 * 0.95 / len(ps))
            assert abs(np.mean(np.array(ps) < 0.05) - 0.05) < 5 * error


def test_a_share_is_tested_against_another() -> None:
    from scipy.stats import binomtest

    reports = {"x": [1] * 260 + [0] * 740}
    result = tacit.prevalence(reports, "x", *WARNER, against=0.03)
    chance = 0.8 * 0.03 + 0.2 * 0.97
    tails = [binomtest(260, 1000, chance, alternative=side).pvalue for side in ("less", "greater")]
    assert result.test.method == "exact binomial"
    assert result.test.p == pytest.approx(2 * min(tails))
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        tacit.prevalence(reports, "x", *WARNER, against=3)


class TestImpossibleReports:
    """Warner with p = .8 sends a yes from a fifth of people at least; 20 of 600 gave "-.278 ± .027, interval .000 to .007"."""

    frame = {"x": [1] * 20 + [0] * 580, "g": ["a", "b"] * 300}  # noqa: RUF012

    def test_they_are_named_with_their_distance(self) -> None:
        result = tacit.prevalence(self.frame, "x", *WARNER, by="g")
        distance = (0.2 - 20 / 600) / np.sqrt(0.2 * 0.8 / 600)
        assert f"by {distance:.1f} standard errors" in result.warnings[0]
        assert (result["yes"].low, result["yes"].high) == (0.0, 1.0)
        assert result.differences[0].p is None
        assert result.overall.p is None

    def test_no_number_of_respondents_is_named(self) -> None:
        with pytest.raises(
            NotEstimable, match=r"outside of what the device can send, by 10\.2 standard errors"
        ) as told:
            tacit.regress(self.frame, "x ~ g", devices={"x": "warner p=.8"})
        assert "respondents would carry it" not in str(told.value)

    def test_what_may_be_chance_is_not(self) -> None:
        result = tacit.prevalence({"x": [1] * 105 + [0] * 495}, "x", *WARNER)
        assert result["yes"].share < 0
        assert "lies outside [0, 1]" in result.warnings[0]
        assert result["yes"].high < 0.1


def test_dead_ends_have_a_way_out(people: pd.DataFrame, tmp_path) -> None:
    people.loc[0, "x"] = "perhaps"
    people.to_csv(tmp_path / "p.csv", index=False)
    options = ("prevalence", tmp_path / "p.csv", "--item", "x", "--device", "warner", "--parameters", "p=.8")
    assert "--missing-mark VALUE" in refused(*options)
    assert run(*options, "--missing-mark", "perhaps", "--json").json["n_missing"] == 1
