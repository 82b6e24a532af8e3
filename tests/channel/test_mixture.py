from __future__ import annotations

import importlib
import math
import re
from fractions import Fraction
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tacit import channels
from tacit.channel.kinds import _mixture_kernels as compiled
from tacit.channel.kinds.mixture import MixtureChannel
from tacit.randomness import ONE, SeededRandomness, coins, uniform_below
from tests.channel.playback import Playback
from tests.statistics import assert_drawn_from

mixture = importlib.import_module("tacit.channel.kinds.mixture")  # a function of the same name hides it in its package
both_paths = pytest.mark.parametrize("draw", [mixture.mixture_codes, compiled.mixture_codes], ids=["numpy", "compiled"])


def edge_words(coin: int, choices: int) -> list[int]:
    """The words on both sides of the coin, of every stretch, and of the left-over words."""
    width = (ONE - coin) // (2 * choices) * 2
    edges = [
        0,
        coin,
        *(coin + stretch * width for stretch in range(min(choices, 300) + 1)),
        coin + choices * width,
        ONE,
    ]
    return sorted({word for edge in edges for word in (edge - 1, edge, edge + 1) if 0 <= word < ONE})


def expected_report(word: int, truth: int, coin: int, choices: int, others: bool) -> int | None:
    """The report by the definition; None where the alternative must be drawn again."""
    if word < coin:
        return truth
    width = (ONE - coin) // (2 * choices) * 2
    value = (word - coin) // width if width else choices
    if value >= choices:
        return None
    return value + 1 if others and value >= truth else value


@both_paths
@pytest.mark.parametrize("others", [False, True], ids=["any", "others"])
@pytest.mark.parametrize("coin", [0, 1, 12345, ONE // 3, ONE - ONE // 7, ONE - 5, ONE - 1])
@pytest.mark.parametrize("choices", [1, 2, 3, 7, 10, 255])
def test_reports_change_exactly_at_the_edges(draw, others: bool, coin: int, choices: int) -> None:
    """A report is a step function of the word, so the words beside the steps show all of it."""
    words = edge_words(coin, choices)
    size = choices + 1 if others else choices
    for truth in {0, size // 2, size - 1}:
        truths = np.full(len(words), truth, dtype=np.uint16)
        out = np.empty_like(truths)
        again = draw(truths, np.array(words, dtype=np.uint32), coin, choices, others, out)
        expected = [expected_report(word, truth, coin, choices, others) for word in words]
        assert again.tolist() == [row for row, report in enumerate(expected) if report is None]
        for report, seen in zip(expected, out.tolist(), strict=True):
            assert report is None or report == seen


@settings(max_examples=200)
@given(st.integers(0, ONE), st.integers(1, 70_000), st.booleans(), st.integers(0, 2**32))
def test_compiled_and_plain_paths_give_the_same_reports(coin: int, choices: int, others: bool, seed: int) -> None:
    generator = np.random.default_rng(seed)
    words = np.concatenate(
        [generator.integers(0, ONE, 500, dtype=np.uint32), np.array(edge_words(coin, choices), dtype=np.uint32)]
    )
    truth = generator.integers(0, choices + others, len(words)).astype(np.uint32)
    plain, fast = np.empty_like(truth), np.empty_like(truth)
    again = mixture.mixture_codes(truth, words, coin, choices, others, plain)
    assert np.array_equal(again, compiled.mixture_codes(truth, words, coin, choices, others, fast))
    settled = np.setdiff1d(np.arange(len(words)), again)
    assert np.array_equal(plain[settled], fast[settled])


@given(st.integers(1, 1 << 31), st.integers(0, (1 << 31) - 1))
def test_a_multiplication_divides_exactly(divisor: int, number: int) -> None:
    factor, shift = compiled.quotient_factor(divisor)
    assert factor < ONE
    for near in (number, number // divisor * divisor, max(number // divisor * divisor - 1, 0)):
        assert near * factor >> shift == near // divisor


def has_avx2() -> bool:
    try:
        return " avx2 " in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


@pytest.mark.skipif(not has_avx2(), reason="needs an x86 processor with AVX2, on Linux")
def test_the_kernel_compiles_to_vector_instructions() -> None:
    kernel = numba.njit(compiled.draw_reports.py_func)
    truth, words = np.zeros(8, np.uint8), np.zeros(8, np.uint32)
    kernel(truth, words, np.uint32(1), np.uint32(1), np.uint64(1), np.uint32(0), np.empty_like(truth))
    (assembly,) = kernel.inspect_asm().values()
    assert re.search(r"vpmuludq.*%[yz]mm", assembly)


@pytest.mark.parametrize("kind", ["warner", "uniform-perturbation"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.int64])
def test_whole_samples_are_the_same_on_both_paths(kind: str, dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    channel = channels.Recipe(kind, {"p" if kind == "warner" else "q": 0.3}).build((10,))
    truth = (np.arange(200_000) % 10).astype(dtype)
    (plain,) = channel.sample([truth], SeededRandomness(8))
    monkeypatch.setattr(mixture, "COMPILED_ROWS", 1)
    (fast,) = channel.sample([truth], SeededRandomness(8))
    assert np.array_equal(plain, fast)
    assert fast.dtype == dtype


@pytest.mark.parametrize("rows", [0, 1], ids=["plain", "compiled"])
def test_left_over_words_are_drawn_again(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mixture, "COMPILED_ROWS", 10 - 9 * rows)
    channel = channels.uniform_perturbation(0.0).build((3,))  # 2**32 = 3 * width + 4: the last four words are left over
    (reports,) = channel.sample([np.array([0, 0, 0], dtype=np.uint8)], Playback([ONE - 1, 0, ONE - 5, 3 << 30]))
    assert reports.tolist() == [2, 0, 2]
    others = channels.warner(0.0).build((4,))
    (reports,) = others.sample([np.array([2, 2], dtype=np.uint8)], Playback([ONE - 1, 0, 3 << 30]))
    assert reports.tolist() == [3, 0]


@both_paths
def test_a_lie_rarer_than_there_are_choices_is_still_uniform(draw, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five words lie in 2**32, ten answers to lie with: the word alone cannot choose."""
    coin = ONE - 5
    channel = MixtureChannel("warner", {}, (11,), coin, others=True)
    monkeypatch.setattr(mixture, "mixture_codes", draw)

    class Lies:
        """Every first word a lie, then seeded words."""

        is_simulation = True

        def __init__(self) -> None:
            self._seeded, self._first = SeededRandomness(3), True

        def words(self, count: int) -> np.ndarray:
            if self._first:
                self._first = False
                return (coin + np.arange(count) % 5).astype(np.uint32)
            return self._seeded.words(count)

    (reports,) = channel.sample([np.full(60_000, 4, dtype=np.uint8)], Lies())
    law = np.full(11, 0.1)
    law[4] = 0
    assert_drawn_from(np.bincount(reports, minlength=11), law)


@given(st.floats(1, 1e9) | st.floats(1, 3), st.integers(2, 10_000))
def test_a_demanded_gamma_is_never_exceeded(gamma: float, size: int) -> None:
    channel = channels.gamma_diagonal(gamma).build((size,))
    diagonal = Fraction(channel.coin, ONE) + Fraction(ONE - channel.coin, ONE * size)
    other = Fraction(ONE - channel.coin, ONE * size)
    assert diagonal / other <= Fraction(gamma)
    assert channel.amplification <= gamma
    # And it is used up: one step of 2**-32 more would exceed it.
    coin = channel.coin + 1
    assert coin == ONE or 1 + Fraction(coin * size, ONE - coin) > Fraction(gamma)


@given(st.integers(1, ONE - 1), st.integers(2, 10_000))
def test_a_gamma_just_below_a_step_is_not_rounded_up_to_it(coin: int, size: int) -> None:
    """Where a quotient of floats would round to the step itself."""
    gamma = math.nextafter(float(1 + Fraction(coin * size, ONE - coin)), 0)
    assume(1 <= Fraction(gamma) < 1 + Fraction(coin * size, ONE - coin))
    assert channels.gamma_diagonal(gamma).build((size,)).coin < coin


@given(st.integers(2, 60), st.integers(0, 256))
def test_chances_are_integers_over_two_to_the_32(size: int, eighths: int) -> None:
    channel = channels.warner(eighths / 256).build((size,))
    matrix = channel.matrix
    assert (np.diagonal(matrix) == eighths / 256).all()
    assert matrix.min() >= 0


def test_the_three_names_of_one_matrix() -> None:
    """OptRR's theorem 2: Warner, uniform perturbation and gamma-diagonal are one family."""
    n, gamma = 10, 7.0
    x = 1 / (gamma + n - 1)
    diagonal = channels.gamma_diagonal(gamma).build((n,)).matrix
    np.testing.assert_allclose(channels.warner(gamma * x).build((n,)).matrix, diagonal, atol=1e-9)
    np.testing.assert_allclose(channels.uniform_perturbation((gamma - 1) * x).build((n,)).matrix, diagonal, atol=1e-9)


def test_the_condition_number_of_gamma_diagonal_is_known() -> None:
    n, gamma = 12, 19
    channel = channels.gamma_diagonal(gamma).build((n,))
    assert np.linalg.cond(channel.matrix) == pytest.approx((gamma + n - 1) / (gamma - 1), rel=1e-6)
    assert 1 / channel.keep == pytest.approx((gamma + n - 1) / (gamma - 1), rel=1e-6)


@given(st.floats(0, 1), st.integers(2, 40))
def test_amplification_of_warner_is_the_larger_ratio(p: float, size: int) -> None:
    channel = channels.warner(p).build((size,))
    chance = Fraction(channel.coin, ONE)
    assume(0 < chance < 1)
    odds = chance * (size - 1) / (1 - chance)
    assert channel.amplification == float(max(odds, 1 / odds))


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_a_certain_warner_reveals_without_bound(p: float) -> None:
    assert channels.warner(p).build((7,)).amplification == math.inf


def test_a_huge_joint_domain_is_never_written_out() -> None:
    shape = (8,) * 20
    channel = channels.gamma_diagonal(19).build(shape)
    assert channel.amplification <= 19
    pair = channel.marginal([3, 7])
    truth = np.full((8, 8), 1 / 64)
    np.testing.assert_allclose(pair.apply(truth), truth)
    truths = [np.zeros(1000, dtype=np.uint8) for _ in shape]
    assert len(channel.sample(truths, SeededRandomness(1))) == 20
    personal = channels.mixture(0.5, [[0.5, 0.25, 0.25]] * 30).build((3,) * 30)
    assert personal.amplification == 1 + 4.0**30
    assert personal.marginal([0, 29]).amplification == 17


def test_a_mixture_costs_one_coin_and_one_draw_per_attribute() -> None:
    """The words are used in the stated order, so that simulations can be repeated."""
    channel = channels.uniform_perturbation(0.5).build((4, 3))
    truths = [np.array([0, 1, 2, 3], dtype=np.uint8), np.array([2, 1, 0, 2], dtype=np.uint8)]
    reports = channel.sample(truths, SeededRandomness(5))
    source = SeededRandomness(5)
    kept = coins(source, ONE // 2, 4)
    drawn = [uniform_below(source, size, 4) for size in (4, 3)]
    for truth, noise, report in zip(truths, drawn, reports, strict=True):
        assert np.array_equal(report, np.where(kept, truth, noise))


def test_the_personal_distribution_of_a_marginal_can_be_read_again() -> None:
    whole = channels.mixture(0.5, list(np.arange(1, 13) / 78)).build((2, 3, 2))
    marginal = whole.marginal([0, 1])
    again = channels.Recipe(marginal.kind, marginal.parameters).build(marginal.shape)
    np.testing.assert_allclose(again.matrix, marginal.matrix, atol=1e-9)
