from __future__ import annotations

import math
from functools import reduce

import numpy as np
import pytest

from tacit import channels
from tacit.errors import InvalidInput
from tacit.randomness import SeededRandomness


def test_one_attribute_has_the_odds_of_the_coin() -> None:
    assert channels.flip(0.8).build((2,)).amplification == pytest.approx(4, rel=1e-8)
    assert channels.flip(0.2).build((2,)).amplification == pytest.approx(4, rel=1e-8)


@pytest.mark.parametrize("theta", [0.6, 0.5, 1.0, 0.0])
def test_a_group_leaves_only_two_records_possible(theta: float) -> None:
    assert channels.flip(theta).build((2, 2)).amplification == math.inf


def test_the_whole_record_is_reversed_together() -> None:
    truths = [np.array([0, 1] * 500, dtype=np.uint8), np.array([1, 1] * 500, dtype=np.uint8)]
    first, second = channels.flip(0.5).build((2, 2)).sample(truths, SeededRandomness(1))
    assert np.array_equal(first != truths[0], second != truths[1])
    assert 300 < (first != truths[0]).sum() < 700


def test_the_published_coefficients_of_two_groups() -> None:
    """MRR's coefficient matrix is the Kronecker product of one two-by-two matrix per group."""
    theta = 0.7
    single = channels.flip(theta).build((2,)).matrix
    np.testing.assert_allclose(single, [[theta, 1 - theta], [1 - theta, theta]], atol=1e-9)
    for groups in (1, 2, 3):
        product = reduce(np.kron, [single] * groups)
        assert np.linalg.cond(product) == pytest.approx(abs(2 * theta - 1) ** -groups, rel=1e-6)


@pytest.mark.parametrize("shape", [(3,), (2, 3)])
def test_more_than_two_answers_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput, match=r"needs two answers, not \(.*3.*\)\. Use a gamma-diagonal"):
        channels.flip(0.7).build(shape)


def test_a_group_of_many_attributes_has_no_dense_matrix() -> None:
    with pytest.raises(InvalidInput, match=r"10\*\*9 reports by 10\*\*9 truths is too large"):
        _ = channels.flip(0.7).build((2,) * 30).matrix
