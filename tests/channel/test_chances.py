from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.channel.chances import (
    checked_chance,
    checked_distribution,
    checked_gamma,
    integer_weights,
    numerator,
    numerator_below,
    ratio,
)
from tacit.errors import InvalidInput
from tacit.randomness import ONE

distributions = st.lists(st.floats(0, 1), min_size=1, max_size=50).filter(lambda parts: sum(parts) > 1e-3)


@given(distributions)
def test_weights_sum_to_one_exactly_and_stay_within_a_step(parts: list[float]) -> None:
    distribution = np.array(parts) / sum(parts)
    weights = integer_weights(distribution)
    assert int(weights.sum()) == ONE
    assert (weights[distribution == 0] == 0).all()
    assert (np.abs(weights - distribution * ONE) <= 1).all()


@given(st.lists(st.integers(0, 256), min_size=1, max_size=20).filter(any))
def test_dyadic_distributions_are_kept_as_they_are(parts: list[int]) -> None:
    parts = [*parts, -sum(parts) % 256] if sum(parts) % 256 else parts
    total = sum(parts)
    distribution = np.array(parts) / total
    if total & (total - 1) == 0:
        assert (integer_weights(distribution) == distribution * ONE).all()


def test_the_largest_remainder_is_served_first_and_ties_go_to_the_lowest_index() -> None:
    thirds = integer_weights(np.full(3, 1 / 3))
    assert (thirds - ONE // 3).tolist() == [1, 0, 0]


@given(st.floats(0, 1))
def test_a_chance_is_rounded_to_the_nearest_step(chance: float) -> None:
    assert abs(Fraction(numerator(chance), ONE) - Fraction(chance)) <= Fraction(1, 2 * ONE)


@given(st.fractions(0, 1))
def test_a_bounded_chance_is_rounded_down(chance: Fraction) -> None:
    below = numerator_below(chance)
    assert Fraction(below, ONE) <= chance < Fraction(below + 1, ONE)


@pytest.mark.parametrize(
    ("high", "low", "expected"),
    [(3, 2, 1.5), (1, 0, math.inf), (0, 0, 1.0), (10**400, 1, math.inf), (10**400, 10**400, 1.0)],
)
def test_ratios_of_chances(high: int, low: int, expected: float) -> None:
    assert ratio(Fraction(high), Fraction(low)) == expected


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, math.inf, 10**400, np.float64(2)])
def test_a_chance_outside_zero_to_one_is_refused(value: float) -> None:
    with pytest.raises(InvalidInput, match="theta must lie between 0 and 1, not"):
        checked_chance("theta", value)


@pytest.mark.parametrize("value", ["0.5", None, [0.5], 1j, True])
def test_a_chance_that_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="theta must be a number between 0 and 1, not"):
        checked_chance("theta", value)


@pytest.mark.parametrize("gamma", [0.99, 0, -1, math.nan, math.inf, "19", None, True, 10**400])
def test_an_impossible_gamma_is_refused(gamma: object) -> None:
    with pytest.raises(InvalidInput, match="finite number of at least 1, not"):
        checked_gamma(gamma)


def test_numbers_of_every_kind_are_taken() -> None:
    assert checked_chance("p", np.float32(0.5)) == 0.5
    assert checked_chance("p", 1) == 1.0
    assert checked_gamma(np.int64(19)) == 19.0


def test_a_distribution_with_rounded_digits_is_taken_and_sums_to_one() -> None:
    assert checked_distribution("x", [0.3333333, 0.3333333, 0.3333333]).sum() == pytest.approx(1, abs=1e-15)
    assert checked_distribution("x", [0.5, 0.5 + 9e-7]).sum() == pytest.approx(1, abs=1e-15)
    with pytest.raises(InvalidInput, match="must sum to 1"):
        checked_distribution("x", [0.5, 0.5 + 1.1e-6])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.5, 0.4], r"x sums to 0\.9; it must sum to 1\. Divide each entry by 0\.9\."),
        ([1.5, -0.5], r"x holds -0\.5; chances must be numbers of at least 0"),
        ([0.5, math.nan], "x holds nan"),
        ([0.5, math.inf], "x holds inf"),
        (["a", "b"], "x must be a list of numbers"),
        ([[0.5], [0.25, 0.25]], "x must be a list of numbers"),
        ([], "x sums to 0"),
    ],
)
def test_what_is_no_distribution_is_refused(values: list[object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        checked_distribution("x", values)
