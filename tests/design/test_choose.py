"""Points picked from a front, its document, and its measures under other priors."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from tacit.design import choose_point, exact_front, named_prior, optimal_front, read_front, recipe_of, robustness
from tacit.design.choose import margin_of_error
from tacit.design.front import front_from_document, report_labels, undominated_points
from tacit.errors import InvalidInput, UnknownName

PRIOR = [0.5, 0.3, 0.2]


@pytest.fixture(scope="module")
def front():
    return exact_front(PRIOR, 1000, delta=0.8, points=8, answers=["no", "yes", "maybe"])


def test_a_privacy_gets_the_least_error_that_has_it(front) -> None:
    point = choose_point(front, privacy=0.33)
    assert point.privacy >= 0.33
    assert point.mse == min(each.mse for each in front.points if each.privacy >= 0.33)


def test_an_error_gets_the_most_privacy_that_it_allows(front) -> None:
    limit = front.points[4].mse * 1.0001
    assert choose_point(front, mse=limit) is front.points[4]


def test_a_margin_with_respondents_gets_the_most_privacy_that_keeps_it(front) -> None:
    margin = margin_of_error(front.points[3], front, 2000) * 1.0001
    assert choose_point(front, respondents=2000, margin=margin) is front.points[3]


def test_the_margin_is_that_of_the_worst_answer() -> None:
    truth = exact_front(PRIOR, 100, privacy=0.0).points[0]  # no disguise: the binomial margin
    found = margin_of_error(truth, exact_front(PRIOR, 100, privacy=0.0), 100)
    assert found == pytest.approx(1.959964 * math.sqrt(0.25 / 100), rel=1e-5)


@pytest.mark.parametrize(
    ("demand", "message"),
    [
        ({}, "by one demand"),
        ({"privacy": 0.3, "mse": 1.0}, "by one demand"),
        ({"privacy": 0.9}, "the highest is"),
        ({"mse": 1e-12}, "the least is"),
        ({"respondents": 100}, "needs both"),
        ({"respondents": 10, "margin": 1e-6}, "Ask more people"),
    ],
)
def test_demands_that_cannot_be_met_are_refused(front, demand: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        choose_point(front, **demand)


def test_a_front_survives_its_document(front, tmp_path: Path) -> None:
    document = json.loads(json.dumps(front.to_document(), allow_nan=False))
    assert list(document)[:5] == ["method", "prior", "records", "delta", "seconds"]
    assert document["points"][3]["gamma"] is None
    assert any("infinite" in warning for warning in document["warnings"])
    again = front_from_document(document)
    assert again.to_document() == front.to_document()
    path = tmp_path / "front.json"
    path.write_text(json.dumps({"methods": [document, {**document, "method": "warner"}]}))
    assert read_front(path).method == "exact"
    assert read_front(path, "warner").method == "warner"
    with pytest.raises(UnknownName, match="optrr"):
        read_front(path, "optrr")


@pytest.mark.parametrize(("text", "message"), [("{", "is not JSON"), ("{}", "not a front"), ("[1]", "not a front")])
def test_a_file_that_is_no_front_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "front.json"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=message):
        read_front(path)
    with pytest.raises(InvalidInput, match="There is no file"):
        read_front(tmp_path / "none.json")


def test_robustness_shows_that_delta_holds_for_the_design_prior_only() -> None:
    prior = named_prior("normal")
    front = exact_front(prior, 1000, delta=0.6, privacy=0.6)
    rows = robustness(front, front.points[0]).rows
    assert rows[0].worst_posterior <= 0.6 + 1e-9
    assert rows[-1].worst_posterior > 0.8
    assert "if the truth is" in str(robustness(front, front.points[0]))


def test_robustness_of_amplification_stays_within_its_bound() -> None:
    front = exact_front(PRIOR, 1000, gamma=3.0)
    for row in robustness(front, front.points[0]).rows[:-1]:
        assert row.worst_posterior <= 3 * 0.5 / (3 * 0.5 + 0.5) + 1e-9


def test_undominated_keeps_the_lower_left_edge() -> None:
    privacy = np.array([0.1, 0.2, 0.3, 0.2, 0.3])
    mse = np.array([1.0, 3.0, 2.0, 1.5, 2.0])
    assert undominated_points(privacy, mse).tolist() == [0, 3, 2]


def test_labels_say_what_a_report_says() -> None:
    prior = np.array([0.25, 0.25, 0.5])
    matrix = np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.5], [0.0, 0.0, 0.5]])
    labels = report_labels(matrix, prior, ["a", "b", "c"])
    assert labels == ("a, or else b", "b", "c (1)", "c (2)")
    assert report_labels(np.full((1, 3), 1.0), prior, ["a", "b", "c"]) == ("any answer",)
    even = np.array([[0.4, 0.4, 0.2], [0.6, 0.6, 0.8]])  # equally likely afterwards, whatever was likelier before
    assert report_labels(even, prior, ["a", "b", "c"])[0] == "one of a, b, c"
    leaning = np.array([[0.6, 0.6, 0.2], [0.4, 0.4, 0.8]])
    assert report_labels(leaning, prior, ["a", "b", "c"]) == ("rather one of a, b", "rather c")


@pytest.mark.slow
def test_the_table_and_the_plot_show_every_method(front) -> None:
    from tacit.report.plots import draw_fronts

    warner = optimal_front(PRIOR, records=1000, delta=0.8, method="warner")
    assert "infinite" in str(front)
    assert "warner: " in str(warner)
    axes = draw_fronts([front, warner], "both").axes[0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["exact", "warner"]
    assert axes.get_yscale() == "log"


def test_named_priors() -> None:
    assert named_prior("normal")[4] == pytest.approx(0.2264, abs=1e-4)
    gamma = named_prior("gamma")
    assert gamma[1] / gamma[0] == pytest.approx(math.exp(-0.25))
    np.testing.assert_allclose(named_prior("uniform", 4), 0.25)
    with pytest.raises(UnknownName, match="Did you mean 'gamma'"):
        named_prior("gama")
    with pytest.raises(InvalidInput, match="at least 2"):
        named_prior("normal", 1)


@pytest.mark.parametrize("method", ["exact", "warner"])
def test_a_chosen_channel_is_disguised_with_and_estimated_from(method: str) -> None:
    import tacit

    answers = ["no", "yes", "maybe"]
    design = optimal_front(PRIOR, records=20_000, delta=0.8, method=method, answers=answers)
    point = choose_point(design, privacy=0.35)
    truth = tacit.Dataset.from_arrow({"answer": np.repeat(answers, [10_000, 6000, 4000]).tolist()},
                                     tacit.Schema((tacit.Attribute("answer", tuple(answers)),)))  # fmt: skip
    scheme = tacit.Scheme.of(truth.schema, [(["answer"], recipe_of(point, design, truth.schema["answer"]))])
    reports = tacit.disguise(truth, scheme, seed=1965)
    estimate = tacit.estimate(reports, ["answer"], sampling="respondents")
    # False alarm below 1e-6 for each of three shares at five standard errors.
    for cell, share in zip(estimate.cells(0.95), PRIOR, strict=True):
        assert abs(cell["probability"] - share) <= 5 * cell["standard_error"]
        assert cell["standard_error"] <= 5 * math.sqrt(point.mse)
