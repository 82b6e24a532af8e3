"""The assertions themselves: they pass what is right, and notice what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from tests.statistics import assert_drawn_from, assert_share, assert_standard_scores, power_against


def test_an_exact_fit_passes() -> None:
    assert_drawn_from([5000, 3000, 2000], [0.5, 0.3, 0.2])


def test_an_error_of_one_point_is_noticed_with_the_stated_power() -> None:
    actual, declared, draws = np.array([0.51, 0.49]), np.array([0.5, 0.5]), 200_000
    assert power_against(actual, declared, draws) > 0.9999
    caught = 0
    for seed in range(200):
        counts = np.random.default_rng(seed).multinomial(draws, actual)
        try:
            assert_drawn_from(counts, declared)
        except AssertionError:
            caught += 1
    assert caught == 200


def test_the_computed_power_is_the_share_of_errors_noticed() -> None:
    actual, declared, draws = np.array([0.504, 0.496]), np.array([0.5, 0.5]), 200_000
    caught = 0
    for seed in range(400):
        try:
            assert_drawn_from(np.random.default_rng(seed).multinomial(draws, actual), declared)
        except AssertionError:
            caught += 1
    assert_share(caught, 400, power_against(actual, declared, draws))


def test_an_impossible_outcome_is_noticed() -> None:
    with pytest.raises(AssertionError, match="impossible"):
        assert_drawn_from([9999, 1], [1.0, 0.0])


def test_rare_cells_are_pooled() -> None:
    assert_drawn_from([90_000, 9_990, 3, 7], [0.9, 0.0999, 0.00005, 0.00005])


def test_a_wrong_pool_of_rare_cells_is_noticed() -> None:
    with pytest.raises(AssertionError, match="p-value"):
        assert_drawn_from([88_000, 12_000 - 600, 300, 300], [0.9, 0.099, 0.0005, 0.0005])


@pytest.mark.parametrize("probabilities", [[0.5, 0.5], [0.001, 0.999]])
def test_too_few_draws_are_refused(probabilities: list[float]) -> None:
    with pytest.raises(AssertionError, match="too few draws"):
        assert_drawn_from([3, 3], probabilities)


def test_a_wrong_share_is_noticed() -> None:
    assert_share(9500, 10_000, 0.95)
    with pytest.raises(AssertionError, match="p-value"):
        assert_share(9350, 10_000, 0.95)


@pytest.mark.parametrize(("shift", "scale"), [(0.2, 1.0), (0.0, 1.15), (0.0, 0.85)])
def test_scores_off_by_a_fifth_or_spread_by_a_seventh_are_noticed(shift: float, scale: float) -> None:
    scores = np.random.default_rng(7).normal(size=2000)
    assert_standard_scores(scores)
    with pytest.raises(AssertionError, match="p-value"):
        assert_standard_scores(shift + scale * scores)
