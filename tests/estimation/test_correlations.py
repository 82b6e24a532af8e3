"""Correlations of disguised answers: unbiased enough, covering, and silent where the reports do not tell."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tacit
from tacit import Attribute, Dataset, Schema, Scheme, channels
from tacit.errors import InvalidInput
from tests.statistics import assert_share, assert_standard_scores

SCHEMA = Schema(
    (
        Attribute("cheated", ("no", "yes")),
        Attribute("grade", ("1", "2", "3"), ordered=True),
        Attribute("town", ("A", "B", "C")),
    )
)
SCHEME = Scheme.of(SCHEMA, [(["cheated"], channels.warner(0.8)), (["grade"], channels.gamma_diagonal(6))])
JOINT = np.array([[0.30, 0.25, 0.10], [0.05, 0.10, 0.20]])


def truth_of(n: int, seed: int) -> Dataset:
    rng = np.random.default_rng(seed)
    cells = rng.choice(JOINT.size, n, p=JOINT.reshape(-1))
    codes = np.unravel_index(cells, JOINT.shape)
    columns = {
        "cheated": np.array(SCHEMA["cheated"].answers)[codes[0]].tolist(),
        "grade": np.array(SCHEMA["grade"].answers)[codes[1]].tolist(),
        "town": np.array(["A", "B", "C"])[rng.integers(0, 3, n)].tolist(),
    }
    return Dataset.from_arrow(columns, SCHEMA)


def true_correlation() -> float:
    u, v = np.array([0.0, 1.0]), np.array([1.0, 2.0, 3.0])
    x, y = u - JOINT.sum(1) @ u, v - JOINT.sum(0) @ v
    return float(x @ JOINT @ y / math.sqrt((JOINT.sum(1) @ x**2) * (JOINT.sum(0) @ y**2)))


def test_undisguised_correlations_are_pearsons() -> None:
    truth = truth_of(500, seed=1)
    reports = tacit.Reports.from_truth(truth)
    pair = tacit.correlations(reports, ["cheated", "grade"]).pairs[0]
    codes = truth.table
    expected = np.corrcoef(codes["cheated"].astype(float), codes["grade"].astype(float))[0, 1]
    assert pair.estimate == pytest.approx(expected, abs=1e-12)
    assert pair.low < pair.estimate < pair.high


@pytest.mark.slow
def test_intervals_of_disguised_correlations_cover() -> None:
    expected, covered, scores = true_correlation(), 0, []
    for seed in range(200):
        reports = tacit.disguise(truth_of(1500, seed), SCHEME, seed=1000 + seed)
        pair = tacit.correlations(reports, ["cheated", "grade"]).pairs[0]
        covered += pair.low <= expected <= pair.high
        scores.append((pair.estimate - expected) / pair.standard_error)
    assert_share(covered, 200, 0.95)
    assert_standard_scores(scores)


def test_what_the_reports_do_not_tell_is_not_given() -> None:
    reports = tacit.disguise(truth_of(60, seed=3), Scheme.of(SCHEMA, [(["cheated"], channels.warner(0.52))]), seed=3)
    pair = tacit.correlations(reports, ["cheated", "grade"]).pairs[0]
    assert (pair.estimate, pair.low, pair.high) == (None, -1.0, 1.0)


def test_results_show_themselves() -> None:
    result = tacit.correlations(tacit.disguise(truth_of(2000, 5), SCHEME, seed=5), ["cheated", "grade"])
    assert result.matrix.shape == (2, 2)
    assert result.matrix[0, 1] == result.matrix[1, 0] == result.pairs[0].estimate
    assert "cheated" in result.summary()
    assert result.to_document()["correlations"][0]["first"] == "cheated"


def test_answers_without_an_order_need_values() -> None:
    reports = tacit.Reports.from_truth(truth_of(100, seed=1))
    with pytest.raises(InvalidInput, match="have no order"):
        tacit.correlations(reports, ["cheated", "town"])
    assert tacit.correlations(reports, ["cheated", "town"], values={"town": [0, 0, 1]}).pairs[0].estimate is not None
    with pytest.raises(InvalidInput, match="needs as many numbers"):
        tacit.correlations(reports, ["cheated", "town"], values={"town": [0, 1]})
    with pytest.raises(InvalidInput, match="two attributes"):
        tacit.correlations(reports, ["cheated"])
