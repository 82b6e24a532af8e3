from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import channels
from tacit.errors import InvalidInput
from tacit.randomness import ONE
from tests.channel.playback import Playback

STEP = 2.0**-32


def test_the_diagonal_moves_with_the_draw_to_the_word() -> None:
    """With spread 1 the own coin is coin - 1, coin or coin + 1: together exactly the declared chance."""
    channel = channels.randomized_gamma_diagonal(3, STEP).build((3,))
    assert channel.spread == 1
    truth = [np.array([0], dtype=np.uint8)]
    thirds = [1, ONE // 3 + 1, 2 * (ONE // 3) + 2]  # words that the uniform draw below 3 takes as 0, 1 and 2
    kept = 0
    for shift, draw in zip((-1, 0, 1), thirds, strict=True):
        own = channel.coin + shift
        for word, stays in ((own - 1, True), (own, False)):
            (report,) = channel.sample(truth, Playback([draw, word, 0]))
            assert (report[0] == 0) == stays
        kept += own
    assert Fraction(kept, 3 * ONE) == Fraction(channel.coin, ONE)


@given(st.floats(1.001, 1e6), st.integers(2, 5000), st.floats(0, 1))
def test_a_demanded_gamma_is_never_exceeded_and_no_chance_is_negative(gamma: float, size: int, part: float) -> None:
    limit = min(gamma, size - 1) / (gamma + size - 1)
    channel = channels.randomized_gamma_diagonal(gamma, part * limit * (1 - 1e-12)).build((size,))
    diagonal = Fraction(channel.coin, ONE)
    assert diagonal * (size - 1) / (1 - diagonal) <= Fraction(gamma)
    assert channel.amplification <= gamma
    assert channel.coin - channel.spread >= 0
    assert channel.coin + channel.spread <= ONE


@given(st.integers(2, 500), st.data())
def test_a_gamma_just_below_a_step_is_not_rounded_up_to_it(size: int, data: st.DataObject) -> None:
    """Where a quotient of floats would round to the step itself."""
    coin = data.draw(st.integers(ONE // size + 1000, ONE - 1))
    step = Fraction(coin * (size - 1), ONE - coin)
    gamma = math.nextafter(float(step), 0)
    assert gamma < step
    assert channels.randomized_gamma_diagonal(gamma, 0).build((size,)).coin < coin


def test_the_channel_is_its_expectation() -> None:
    randomized = channels.randomized_gamma_diagonal(19, 0.003).build((2000,))
    plain = channels.gamma_diagonal(19).build((2000,))
    assert randomized.keep == pytest.approx(plain.keep, rel=1e-6)
    assert randomized.amplification == pytest.approx(plain.amplification, rel=1e-6)


@pytest.mark.parametrize("alpha", [-0.1, 0.9, float("nan"), "0.1", None])
def test_an_impossible_alpha_is_refused(alpha: object) -> None:
    with pytest.raises(InvalidInput, match=r"alpha must lie between 0 and min\(gamma, n - 1\) .* = 0\.375 here, not"):
        channels.Recipe("randomized-gamma-diagonal", {"gamma": 5, "alpha": alpha}).build((4,))


def test_a_gamma_that_the_steps_cannot_keep_is_refused() -> None:
    with pytest.raises(InvalidInput, match="too close to 1"):
        channels.randomized_gamma_diagonal(1, 0.1).build((3,))
