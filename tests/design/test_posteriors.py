"""The vertices an optimal channel is made of."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from tacit.design.posteriors import bounded_staircase, staircase, uniform_and_capped
from tacit.design.priors import named_prior
from tacit.errors import InvalidInput

PRIOR = np.array([0.35, 0.3, 0.2, 0.15])


@pytest.mark.parametrize(("delta", "count"), [(0.75, 1103), (0.5, 1013), (1.0, 1023), (0.3, 1688)])
def test_ten_answers_have_the_known_number_of_vertices(delta: float, count: int) -> None:
    vertices = uniform_and_capped(10, delta)
    assert len(vertices) == count
    np.testing.assert_allclose(vertices.sum(axis=1), 1)
    assert vertices.max() <= delta + 1e-12


def largest_over_pieces(objective: np.ndarray, prior: np.ndarray, delta: float, gamma: float) -> float:
    """The largest value of a linear function on any piece with a fixed best guess, by linear programming."""
    n = len(prior)
    best = -np.inf
    for guess in range(n):
        rows = []
        for u in range(n):
            for other in range(n):
                row = np.zeros(n)
                row[u] += 1 / prior[u]
                row[other] -= gamma / prior[other]
                rows.append(row)
            row = np.zeros(n)
            row[u] += 1
            row[guess] -= 1
            rows.append(row)
        bounds = [(0, delta)] * n
        solution = linprog(-objective, A_ub=rows, b_ub=np.zeros(len(rows)), A_eq=[np.ones(n)], b_eq=[1], bounds=bounds)
        if solution.status == 0:
            best = max(best, -solution.fun)
    return best


@pytest.mark.parametrize(("delta", "gamma"), [(0.5, 4.0), (0.6, 10.0), (0.4, 2.0), (1.0, 3.0)])
def test_both_bounds_together_miss_no_vertex(delta: float, gamma: float) -> None:
    vertices = bounded_staircase(PRIOR, delta, gamma)
    likelihoods = vertices / PRIOR
    assert (likelihoods.max(axis=1) / likelihoods.min(axis=1)).max() <= gamma * (1 + 1e-9)
    assert vertices.max() <= delta + 1e-9
    rng = np.random.default_rng(4)
    for _ in range(25):
        objective = rng.normal(size=4)
        expected = largest_over_pieces(objective, PRIOR, delta, gamma)
        assert (vertices @ objective).max() == pytest.approx(expected, abs=1e-8)


def test_amplification_alone_gives_two_likelihoods() -> None:
    vertices = staircase(PRIOR, 5.0)
    assert len(vertices) == 2**4 - 1
    likelihoods = vertices / PRIOR
    ratio = likelihoods / likelihoods.min(axis=1, keepdims=True)
    assert set(np.round(np.unique(ratio), 9)) == {1.0, 5.0}


@pytest.mark.parametrize(
    "make", [lambda: uniform_and_capped(1000, 0.5), lambda: staircase(named_prior("normal", 30), 2.0)]
)
def test_more_vertices_than_can_be_read_are_refused(make: object) -> None:
    with pytest.raises(InvalidInput, match="no certified bound"):
        make()
