"""Whatever a user holds says briefly what it is, and shows itself as text, HTML, a picture and a data frame."""

from __future__ import annotations

import re
from typing import Any

import pytest

import tacit
from tacit import Attribute, Reports, Scheme, channels
from tacit.display import Shown, decimals, fixed_decimals, rounded_error, with_error
from tests.estimation.simulation import SCHEMES, simulated

SCHEME = SCHEMES["gamma"]
REPORTS = simulated(SCHEME, 200, 1)
MANY = Scheme.of([Attribute("x", tuple(f"a{code}" for code in range(100)))], [(["x"], channels.gamma_diagonal(9))])

SHOWN: dict[str, Any] = {
    "table": lambda: tacit.estimate(REPORTS, ["smokes", "age"]),
    "share": lambda: tacit.estimate(REPORTS, {"smokes": "yes"}),
    "given": lambda: tacit.estimate(REPORTS, ["smokes", "age"]).given("age"),
    "compared": lambda: tacit.estimate(REPORTS, ["smokes", "age"]).compare("age"),
    "reports": lambda: REPORTS,
    "reports of sets": lambda: simulated(SCHEMES["subset"], 50, 1),
    "reports of bits": lambda: simulated(SCHEMES["mask"], 50, 1),
    "dealt reports": lambda: simulated(SCHEMES["dealt"], 50, 1),
    "scheme": lambda: SCHEME,
    "dealt scheme": lambda: SCHEMES["dealt"],
    "public scheme": lambda: SCHEMES["public"],
    "plan": lambda: tacit.plan(SCHEME, 0.05),
    "measures": lambda: tacit.measure(SCHEME),
    "design": lambda: tacit.design_scheme(SCHEME.schema, gamma=19),
}


@pytest.mark.parametrize("name", list(SHOWN))
def test_everything_shows_itself(name: str) -> None:
    shown: Shown = SHOWN[name]()
    assert repr(shown).startswith(f"<{type(shown).__name__}: ")
    assert len(repr(shown)) < 250
    assert shown.summary().startswith(shown.headline())
    assert shown._repr_html_().startswith("<table>")
    assert shown.to_pandas().shape == shown.to_polars().shape
    axes = shown.plot()
    assert axes._repr_png_().startswith(b"\x89PNG")
    assert len(axes.get_yticks()) == min(len([row for row in shown.shown_rows() if row[shown.plotted] is not None]), 40)


def test_long_tables_are_cut_and_say_so() -> None:
    reports = Reports.from_arrow({"x": ["a3"] * 10}, MANY)
    assert reports.summary().endswith("(40 more rows)")
    assert "<p>(40 more rows)</p>" in reports._repr_html_()
    assert reports.shown_rows()[3] == {"column": "x", "answer": "a3", "reported": 1.0}
    assert sum(row["reported"] for row in reports.shown_rows()) == 1


def test_what_reports_show_of_sets_is_counted_per_member() -> None:
    rows = [row for row in simulated(SCHEMES["subset"], 50, 1).shown_rows() if row["column"] == "smokes+age"]
    assert sum(row["reported"] for row in rows) == pytest.approx(2)  # sets of two


def test_a_picture_may_be_drawn_into_another() -> None:
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert tacit.plan(SCHEME, 0.05).plot(ax) is ax


TABLE = {"age": [30, 30, 41, 42] * 5, "sex": ["m", "f"] * 10, "ill": ["flu", "none"] * 10}
MINED = tacit.FrequentItemsets(min_support=0.01, certainty=0).fit(REPORTS).itemsets_
CLASSIFIER = tacit.NaiveBayesClassifier("smokes").fit(REPORTS)

TOLD: dict[str, Any] = SHOWN | {
    "release": lambda: tacit.anonymize(TABLE, 2, ["age", "sex"]),
    "check": lambda: tacit.check_release(TABLE, ["age", "sex"], ["ill"], every=1, people=400),
    "front": lambda: tacit.exact_front([0.2, 0.3, 0.5], 1000, points=3),
    "point": lambda: tacit.choose_point(tacit.exact_front([0.2, 0.3, 0.5], 1000, points=3), privacy=0.2),
    "itemsets": lambda: MINED,
    "rules": lambda: tacit.association_rules(MINED, min_threshold=0.1),
    "accuracy": lambda: tacit.disguised_accuracy(CLASSIFIER, simulated(SCHEME, 200, 2)),
    "cross-validation": lambda: tacit.cross_validate(tacit.NaiveBayesClassifier("smokes"), REPORTS),
    "joint": lambda: tacit.fit_joint(REPORTS),
    "attack": lambda: tacit.attack(REPORTS),
    "prevalence": lambda: tacit.prevalence({"x": ["yes", "no"] * 20}, "x", "warner", {"p": 0.8}),
    "correlations": lambda: tacit.correlations(REPORTS, ["smokes", "age"]),
    "regression": lambda: tacit.regress(REPORTS, "smokes ~ age"),
    "classifier": lambda: CLASSIFIER,
    "miner": lambda: tacit.FrequentItemsets(min_support=0.2).fit(REPORTS),
    "schema": lambda: SCHEME.schema,
    "schema of many answers": lambda: MANY.schema,
}
# One line each: what a notebook shows of them is their text.
NAMED: dict[str, Any] = {
    "tally": lambda: tacit.Tally.of(REPORTS),
    "dataset": tacit.load_votes,
    "open question": lambda: tacit.OpenQuestion(gamma=19),
}


@pytest.mark.parametrize("name", [*TOLD, *NAMED])
def test_whatever_is_printed_can_be_read(name: str) -> None:
    result = (TOLD | NAMED)[name]()
    text = str(result)
    assert len(text.splitlines()) <= 65
    assert len(repr(result)) < 500
    assert "\n" not in repr(result)
    for told in (text, repr(result)):
        assert "array(" not in told
        assert " at 0x" not in told
        assert not re.search(r"[A-Z]\w+\([a-z_]+=.*[A-Z]\w+\([a-z_]+=", told)  # one dataclass within another
    if name in TOLD:
        assert result._repr_html_()


def test_a_release_and_its_check_say_what_the_commands_say() -> None:
    release = TOLD["release"]()
    assert str(release) == release.describe()
    assert repr(release).startswith("<Release: 20 of 20 rows published in ")
    assert "everyone hides among at least" in release._repr_html_()
    checked = TOLD["check"]()
    assert str(checked).startswith("k = 5 by age, sex\nmeasure ")
    assert all(name in str(checked) and value in str(checked) for name, value in checked.measures())


def test_text_in_html_is_escaped() -> None:
    checked = tacit.check_release({"<b>": ["1", "1"]}, ["<b>"])
    assert "by &lt;b&gt;" in checked._repr_html_()
    assert "<b>" not in checked._repr_html_()


def test_very_many_lines_are_cut_and_counted() -> None:
    names = [f"q{number}" for number in range(70)]
    schema = tacit.Schema([Attribute(name, ("no", "yes")) for name in names])
    assert str(schema).startswith("70 attributes\n")
    assert str(schema).endswith("\n(10 more rows)")
    rules = tacit.association_rules(
        tacit.FrequentItemsets(min_support=1e-9, certainty=0).fit(simulated(SCHEME, 400, 3)).itemsets_,
        min_threshold=0.01,
    )
    assert len(rules) > 60
    assert f"\n({len(rules) - 60:,} more rows)\n" in str(rules)


@pytest.mark.parametrize(
    ("errors", "places"),
    [([0.0373], 3), ([0.134, 0.2], 2), ([0.0072, 0.0054], 4), ([3e-9, 0.05], 4), ([None, 0.0], 4), ([7.0], 2)],
)
def test_digits_follow_the_errors(errors: list[float | None], places: int) -> None:
    assert decimals(errors) == places


def test_beside_an_error_no_digit_is_shown_that_it_drowns() -> None:
    few = simulated(SCHEME, 60, 1)
    told = tacit.estimate(few, ["smokes"])
    least = min(cell["standard_error"] for cell in told.cells())
    assert least > 0.01
    for text in (told.summary(), str(told), told._repr_html_()):
        assert re.search(r"\d\.\d{2,3}\b", text)
        assert not re.search(r"\d\.\d{4}", text)
    assert len(str(told.to_arrow().column("probability")[0].as_py())) > 8  # programs get all digits


def test_no_error_reads_as_zero_and_no_zero_has_a_sign() -> None:
    assert rounded_error(0.0004, 2) == "0.0004"
    assert rounded_error(0.04, 2) == "0.04"
    assert rounded_error(3e-9, 2) == "3.0e-09"
    assert fixed_decimals(-0.0001, 3) == "0.000"
    assert with_error(0.84064, 0.0373) == "0.841 ± 0.037"


@pytest.mark.parametrize("draw", ["tree", "front"])
def test_pictures_show_themselves_in_notebooks(draw: str) -> None:
    if draw == "tree":
        picture = tacit.TreeClassifier("smokes").fit(REPORTS).plot()
    else:
        picture = tacit.optimal_front([0.5, 0.3, 0.2], records=1000, delta=0.8, method="warner").plot()
    assert picture._repr_png_().startswith(b"\x89PNG")
