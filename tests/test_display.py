"""Whatever a user holds says briefly what it is, and shows itself as text, HTML, a picture and a data frame."""

from __future__ import annotations

from typing import Any

import pytest

import tacit
from tacit import Attribute, Reports, Scheme, channels
from tacit.display import Shown
from tests.estimation.simulation import SCHEMES, simulated

SCHEME = SCHEMES["gamma"]
REPORTS = simulated(SCHEME, 200, 1)
MANY = Scheme.of([Attribute("x", tuple(f"a{code}" for code in range(100)))], [(["x"], channels.gamma_diagonal(9))])

SHOWN: dict[str, Any] = {
    "table": lambda: tacit.estimate(REPORTS, ["smokes", "age"]),
    "share": lambda: tacit.estimate_share(REPORTS, {"smokes": "yes"}),
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
    assert len(axes.get_yticks()) == min(len([row for row in shown.shown_rows() if row[shown.plotted] is not None]), 40)


def test_long_tables_are_cut_and_say_so() -> None:
    reports = Reports.from_arrow({"x": ["a3"] * 10}, MANY)
    assert reports.summary().endswith("(40 more rows)")
    assert "<p>(40 more rows)</p>" in reports._repr_html_()
    assert reports.shown_rows()[3] == {"questionnaire": "", "column": "x", "answer": "a3", "reported": 1.0}
    assert sum(row["reported"] for row in reports.shown_rows()) == 1


def test_what_reports_show_of_sets_is_counted_per_member() -> None:
    rows = [row for row in simulated(SCHEMES["subset"], 50, 1).shown_rows() if row["column"] == "smokes+age"]
    assert sum(row["reported"] for row in rows) == pytest.approx(2)  # sets of two


def test_a_picture_may_be_drawn_into_another() -> None:
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    assert tacit.plan(SCHEME, 0.05).plot(ax) is ax
