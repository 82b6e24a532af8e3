"""The projection onto the simplex is the nearest distribution, by its optimality conditions."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from tacit.estimation.simplex import floor_shares, project_on_simplex

TABLES = arrays(np.float64, array_shapes(max_dims=3, max_side=5), elements=st.floats(-3, 3))


@given(TABLES)
def test_projection_meets_the_conditions_of_the_nearest_distribution(table: np.ndarray) -> None:
    nearest = project_on_simplex(table)
    assert nearest.shape == table.shape
    assert nearest.min() >= 0
    assert np.isclose(nearest.sum(), 1)
    # One level is taken off every cell that stays positive, and no cell at zero lies above it.
    level = (table - nearest)[nearest > 0]
    assert np.allclose(level, level[0])
    assert (table[nearest == 0] <= level[0] + 1e-12).all()


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any))
def test_a_distribution_is_its_own_projection(counts: list[int]) -> None:
    distribution = np.array(counts) / sum(counts)
    assert np.allclose(project_on_simplex(distribution), distribution)


def test_a_floor_keeps_every_entry_positive() -> None:
    raised = floor_shares(np.array([1.0, 0.0, 0.0, 0.0]))
    assert np.isclose(raised.sum(), 1)
    assert np.allclose(raised[1:], 0.00025, rtol=1e-3)
