"""Errors and intervals of every kind of regression are true, over simulated studies of 1,000 people."""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy.stats import binom

from tests.regression.regression_simulation import CASES, Scores, simulated
from tests.statistics import FALSE_ALARM, assert_standard_scores

SOAK = bool(os.environ.get("TACIT_SOAK"))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_scores_are_standard_and_intervals_cover(name: str) -> None:
    """2,000 studies under TACIT_SOAK, held to the targets; else a few, held to the same law by computed p-values."""
    found = simulated(name, range(2000 if SOAK else 8))
    if SOAK:
        check_targets(name, found)
        return
    assert found.refused + found.at_edge <= 2
    for scores in found.z.T:
        assert_standard_scores(scores)
    assert (binom.cdf(found.covered.sum(axis=0), len(found.z), 0.95) > FALSE_ALARM).all()


def check_targets(name: str, found: Scores) -> None:
    case = CASES[name]
    loose = case.kind != "likelihood" or bool(case.opens)
    most, deviation = 0.2 if loose else 0.1, 1.12 if case.clustered else 1.07
    for scores, covered in zip(found.z.T, found.covered.T, strict=True):
        assert abs(scores.mean()) < most
        assert 0.93 < scores.std() < deviation
        assert 0.93 < covered.mean() < 0.97
    if len(found.opens):
        assert abs(found.opens.mean()) < 0.2
        assert 0.93 < found.opens.std() < deviation


def test_an_error_a_fifth_too_small_and_a_shift_would_be_noticed() -> None:
    random = np.random.default_rng(1965)
    scores = random.normal(size=(2000, 2))
    for wrong in (scores * 1.25, scores + 0.3):
        with pytest.raises(AssertionError):
            check_targets("logit, warner", Scores(wrong, np.abs(wrong) < 1.96, np.array([]), 0, 0))
    with pytest.raises(AssertionError):
        assert_standard_scores(np.random.default_rng(1).normal(size=8) * 4)
