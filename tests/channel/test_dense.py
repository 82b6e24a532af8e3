"""What dense matrices say of errors and of what cannot be told apart, on matrices small enough to enumerate."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.channel.dense import best_inverse, expected_mse, singular_extremes


def random_matrix(reports: int, truths: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(reports), size=truths).T


@pytest.mark.parametrize("reports", [3, 5])
def test_the_expected_error_is_that_of_the_best_estimator_over_all_reports(reports: int) -> None:
    matrix, prior = random_matrix(reports, 3, 4), np.array([0.2, 0.5, 0.3])
    left = best_inverse(matrix, prior)
    chances = matrix @ prior
    variances = (left**2) @ chances - (left @ chances) ** 2
    assert expected_mse(matrix, prior, 50) == pytest.approx(variances.sum() / 3 / 50)


@pytest.mark.parametrize("seed", range(8))
def test_answers_that_are_told_alike_have_no_estimate(seed: int) -> None:
    matrix = random_matrix(9, 8, seed)
    matrix[:, 7] = matrix[:, :7] @ np.full(7, 1 / 7)  # nobody can tell the last from a mixture of the others
    largest, smallest = singular_extremes(matrix)
    assert smallest == 0.0
    assert largest == pytest.approx(np.linalg.norm(matrix, 2))
    assert expected_mse(matrix, np.full(8, 1 / 8), 100) == float("inf")


def test_what_can_hardly_be_told_apart_still_can() -> None:
    matrix = np.array([[0.5 + 1e-12, 0.5], [0.5 - 1e-12, 0.5]])
    assert singular_extremes(matrix)[1] > 0
    assert singular_extremes(np.array([[0.5, 0.5]])) == (pytest.approx(0.5**0.5), 0.0)  # fewer reports than truths
