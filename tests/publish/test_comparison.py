"""By default local recoding comes first, a search follows where it could win, and what is published is chosen for a reason."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tacit.publish import comparison
from tacit.publish.comparison import MethodComparison, left_out, side_by_side
from tacit.publish.usefulness import labels_overlap, largest_lost_group, linear_survival, query_error
from tests.publish.test_anonymization import QUICK, people
from tests.publish.wishes import anonymize


def evenly_filled(rows: int = 1_500) -> dict[str, list[str]]:
    """Dependent columns whose answers are all as frequent: global recoding answers queries of two well, and loses columns."""
    rng = np.random.default_rng(8)
    hidden = rng.normal(size=rows)
    columns = {}
    for name, size in (("age", 30), ("sex", 2), ("region", 20), ("edu", 9), ("income", 40)):
        ranks = (0.7 * hidden + rng.normal(size=rows)).argsort().argsort()
        columns[name] = [f"{rank * size // rows:02d}" for rank in ranks]
    return columns


def test_local_recoding_comes_first_and_a_search_that_cannot_win_is_left():
    release = anonymize(evenly_filled(), 5, method="compare", seed=1)
    assert release.methods[0].method == release.method == "local"
    (passed,) = [result for result in release.methods if result.method == "search"]
    assert passed.is_first_pass
    assert passed.effective_k >= 5
    assert release.answer.evaluations == 0  # nothing was searched
    assert release.nwp <= anonymize(evenly_filled(), 5, seed=1, evaluations=3_000).nwp / 2
    assert "The search was left after its first pass" in release.why
    assert f"the median error of random queries is {release.methods[0].query_error:.1%}" in release.why
    assert release.suppressed == 0  # what was not asked for is shown, not written
    assert {entry.method for entry in release.front} == {"search", "local"}


def test_a_search_within_reach_is_gone_on_with(monkeypatch):
    monkeypatch.setattr(comparison, "WITHIN_REACH", np.inf)
    release = anonymize(people(), 6, method="compare", **QUICK)
    (searched,) = [result for result in release.methods if result.method == "search"]
    assert not searched.is_first_pass
    monkeypatch.setattr(comparison, "WITHIN_REACH", 0.0)
    assert anonymize(people(), 1, method="compare", **QUICK).methods[0].nwp == 0  # nothing is lost: nothing is searched


@pytest.mark.parametrize("choose", ["queries", "tables", "models", "loss", "balanced"])
def test_the_choice_is_made_by_what_was_asked_for(choose, monkeypatch):
    monkeypatch.setattr(comparison, "WITHIN_REACH", np.inf)
    release = anonymize(evenly_filled(), 5, method="compare", choose=choose, seed=1, evaluations=2_000)
    allowed = [result for result in release.methods if not result.suppress]
    (written,) = [result for result in allowed if result.written]
    if choose == "balanced":
        kept = set.union(*(set(result.labels) - set(result.lost_columns) for result in allowed))
        assert not kept & set(written.lost_columns)
    else:
        figures = [result.figures(choose) for result in allowed]
        assert written.figures(choose) == min(figures)
    assert release.why.startswith(f"Written: {written.name}")


def test_a_column_that_another_method_keeps_is_not_lost():
    """By errors of queries alone, a release without a column may look best."""
    keeps, loses = (
        SimpleNamespace(
            result=SimpleNamespace(
                labels={"a": 3, "b": 2}, lost_columns=lost, nwp=0.1, figures=lambda choose, own=error: [own, 0.1, 0.1]
            )
        )
        for lost, error in (((), 0.2), (("b",), 0.05))
    )
    assert comparison.best_of([loses, keeps], "balanced") is keeps
    assert comparison.best_of([loses, keeps], "queries") is loses


def test_picking_from_the_shown_suppression_writes_it():
    far = {"age": [f"{i % 9:02d}" for i in range(180)] + ["98", "99"], "sex": ["f", "m"] * 91}
    release = anonymize(far, 6, method="compare", **QUICK)
    number = next(i for i, entry in enumerate(release.front) if entry.suppressed)
    picked = release.pick(number)
    assert picked.suppressed == release.front[number].suppressed > 0
    assert picked.nwp == pytest.approx(release.front[number].nwp)


def test_asked_suppression_is_given_to_both_methods(monkeypatch):
    monkeypatch.setattr(comparison, "WITHIN_REACH", np.inf)
    asked = anonymize(people(), 6, method="compare", suppress=0.05, **QUICK)
    assert [result.method for result in asked.methods] == ["local with 5% suppressed", "search with 5% suppressed"]
    sets = anonymize(people(), 6, [["age"], ["town", "sex"]], method="compare", **QUICK)
    assert [result.method for result in sets.methods] == ["local", "search"]


def test_what_a_method_leaves_out_is_in_its_name():
    release = anonymize(people(), 6, suppress=0.04, **QUICK)
    shown = release.methods[0]
    assert shown.name == "search, up to 4% of the cells hidden"
    assert shown.hidden_cells == shown.to_document()["hidden_cells"] > 0
    head, rows = side_by_side(release.methods)
    assert head[1] == f"{shown.name} (written)"
    assert {row[0]: row[1] for row in rows}["single cells hidden"] == f"{shown.hidden_cells:,}"
    assert {entry.way for entry in release.front} == {shown.name}
    picked = next(i for i, entry in enumerate(release.front) if entry.hidden_cells)
    assert release.pick(picked).recoding.hidden_cells == release.front[picked].hidden_cells
    whole = anonymize(people(), 6, suppress=0.04, cells=False, **QUICK).methods[0]
    assert (whole.name, whole.hidden_cells) == ("search, up to 4% of the rows suppressed", 0)
    persons = anonymize(
        people() | {"id": [str(i // 2) for i in range(len(people()["age"]))]},
        4,
        ["age", "town"],
        method="local",
        person="id",
        suppress=0.1,
        **QUICK,
    )
    assert persons.front[0].way == persons.methods[0].name == "local, up to 10% of the persons without some rows"


def test_the_reason_says_what_suppression_would_leave_out():
    release = anonymize(people(), 6, method="search", suppress=0.04, **QUICK)
    shown = MethodComparison.of_one(release.publication, release.answer).methods[0]
    assert f"{shown.suppressed:,} rows suppressed and {shown.hidden_cells:,} single cells hidden" == left_out(shown)


def slow_query_error(release, data, names, queries) -> float:
    """Queries answered row by row; each label spread evenly over its answers."""
    labels = release.recoding.released_labels()
    shown = release.to_arrow()
    errors = []
    for ranges in queries:
        truth = np.ones(len(data[names[0]]))
        estimate = np.ones(shown.num_rows)
        for name, wanted in ranges.items():
            truth *= [value in wanted for value in data[name]]
            parts = {text: np.mean([answer in wanted for answer in own]) for text, own in labels[name].items()}
            estimate *= [parts[text] for text in shown[name].to_pylist()]
        share = truth.mean()
        if share:
            errors.append(abs(estimate.mean() - share) / share)
    return float(np.median(errors))


@pytest.mark.parametrize("wishes", [{}, {"method": "local"}, {"suppress": 0.05}], ids=["search", "local", "suppressed"])
def test_the_query_error_is_that_of_queries_answered_row_by_row(wishes):
    data, names = people(), ["age", "town", "sex"]
    release = anonymize(data, 12, names, **(QUICK | wishes))
    rng = np.random.default_rng(5)
    queries = []
    for _ in range(300):
        chosen = rng.choice(3, 2, replace=False)
        ranges = {}
        for j in chosen:
            answers = release.input.schema[names[j]].answers
            while True:
                low, high = sorted(rng.integers(0, len(answers), 2))
                if (low, high) != (0, len(answers) - 1):
                    break
            ranges[names[j]] = set(answers[low : high + 1])
        queries.append(ranges)
    # Two samples of queries from nearly the same law: medians of some hundred errors agree roughly.
    assert query_error(release.recoding) == pytest.approx(slow_query_error(release, data, names, queries), abs=0.08)


def test_nothing_generalized_answers_every_query():
    release = anonymize(people(), 1, **QUICK)
    assert query_error(release.recoding) == 0
    assert not labels_overlap(release.recoding)
    assert labels_overlap(anonymize(people(), 6, method="local").recoding)


def test_the_largest_group_that_suppression_loses_is_named():
    towns = {"town": [town for town in "abcdefghij" for _ in range(2 if town == "e" else 30)], "x": ["0", "1"] * 136}
    lost = largest_lost_group(anonymize(towns, 10, ["town"], suppress=0.01, **QUICK).recoding)
    assert (lost.attribute, lost.answer, lost.rows) == ("town", "e", 2)
    assert largest_lost_group(anonymize(towns, 10, ["town"], **QUICK).recoding) is None


def test_correlations_and_coefficients_are_those_of_spread_labels():
    """A release that merges nothing keeps all; one that merges everything keeps nothing of what attributes share."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 6, 400)
    data = {"x": [str(v) for v in x], "y": [str(v) for v in np.clip(x + rng.integers(-1, 2, 400), 0, 5)]}
    same = linear_survival(anonymize(data, 1, method="local").recoding)
    assert same.correlation_error == pytest.approx(0, abs=1e-9)
    assert same.coefficient_error == pytest.approx(0, abs=1e-9)
    lost = linear_survival(anonymize(data, 300, method="local").recoding)
    true = np.corrcoef(x, np.array(data["y"], int))[0, 1]
    assert lost.correlation_error == pytest.approx(true)
    assert lost.coefficient_error == pytest.approx(true)


def test_several_classifiers_are_told_for_every_method():
    data = people()
    release = anonymize(data, 6, ["age", "town"], method="compare", keep=["sex"], **QUICK)
    told = release.compared.classifiers("sex")
    assert list(told) == [result.method for result in release.methods]
    for own in told.values():
        assert set(own.models) == {"naive Bayes", "decision tree", "logistic regression"}
        assert all(0 <= share <= 1 for pair in own.models.values() for share in pair)


def test_a_preference_for_little_bias_makes_local_classes_larger():
    data = people() | {"town": ["Ulm"] * 150 + people()["town"][150:]}
    plain = anonymize(data, 3, ["age", "town"], method="local")
    even = anonymize(data, 3, ["age", "town"], method="local", prefer_loss=0.9, prefer_bias=0.001)
    assert even.ach <= even.publication.preference.achievement(np.array([plain.nwp]), np.array([plain.necd]))[0]
    assert even.necd <= plain.necd


def test_a_first_pass_by_sizes_alone_is_compared_and_cannot_be_picked():
    """Where l is asked for, the pass does not look at it: it says that the search is behind, and is no release."""
    data = evenly_filled() | {"ill": [("no", "yes", "no")[i % 3] for i in range(1_500)]}
    release = anonymize(data, 5, method="compare", sensitive="ill", l=2, seed=1)
    (passed,) = [result for result in release.methods if result.is_first_pass]
    assert "The search was left after its first pass" in release.why
    assert not passed.written
    assert {entry.method for entry in release.front} == {"local"}
    assert set(release.compared.classifiers("ill")) >= {"local"}
