from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import InvalidInput
from tacit.randomness import (
    ONE,
    SeededRandomness,
    SystemRandomness,
    coins,
    randomness_from,
    scaled_words,
    uniform_below,
)
from tests.channel.playback import Playback
from tests.statistics import assert_drawn_from, assert_share


@pytest.mark.parametrize("source", [SystemRandomness(), SeededRandomness(1)], ids=["system", "seeded"])
class TestWords:
    def test_bytes_are_uniform(self, source) -> None:
        words = source.words(1 << 20)
        for position in range(4):
            octets = words.view(np.uint8)[position::4]
            assert_drawn_from(np.bincount(octets, minlength=256), np.full(256, 1 / 256))

    def test_neighbouring_words_are_independent(self, source) -> None:
        high = source.words(1 << 20) >> 28
        pairs = high[0::2] * 16 + high[1::2]
        assert_drawn_from(np.bincount(pairs, minlength=256), np.full(256, 1 / 256))

    @pytest.mark.parametrize("count", [0, 1, 5, 65_536, 65_537, 200_001])
    def test_as_many_words_as_asked_for(self, source, count: int) -> None:
        words = source.words(count)
        assert words.shape == (count,)
        assert words.dtype == np.uint32

    def test_the_end_of_a_long_draw_is_filled(self, source) -> None:
        # A forgotten tail would be zeros (or what the memory held before).
        words = source.words(3 * 65_536 + 7)
        assert len(np.unique(words[-70_000:])) > 69_900
        assert len(np.unique(words[-7:])) == 7


def test_bytes_that_are_not_uniform_are_noticed() -> None:
    octets = np.random.default_rng(3).integers(0, 256, size=1 << 20)
    octets[: 1 << 10] = 0  # one in a thousand
    with pytest.raises(AssertionError, match="p-value"):
        assert_drawn_from(np.bincount(octets, minlength=256), np.full(256, 1 / 256))


def test_two_instances_of_system_randomness_differ() -> None:
    assert (SystemRandomness().words(64) != SystemRandomness().words(64)).any()


def test_the_stream_of_one_instance_does_not_repeat() -> None:
    source = SystemRandomness()
    assert (source.words(64) != source.words(64)).any()


def test_chunks_concatenate_to_the_keystream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.urandom", lambda size: bytes(range(size)))
    whole = SystemRandomness().words(200_000)
    again = SystemRandomness()
    parts = [again.words(count) for count in (1, 3, 65_536, 65_535, 68_925)]
    assert np.array_equal(np.concatenate(parts), whole)


def test_a_seed_gives_the_same_words_again() -> None:
    assert np.array_equal(SeededRandomness(5).words(100), SeededRandomness(5).words(100))
    assert (SeededRandomness(5).words(100) != SeededRandomness(6).words(100)).any()


def test_only_a_seed_makes_a_simulation() -> None:
    assert randomness_from(3).is_simulation
    assert not randomness_from(None).is_simulation


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(InvalidInput, match="from 0 up, not -1"):
        SeededRandomness(-1)


@pytest.mark.parametrize("bound", range(1, 257))
def test_scaled_words_are_exactly_uniform(bound: int) -> None:
    """Exhaustively, for a generator of eight bits: every number below the bound has equally many accepted words."""
    values, accepted = scaled_words(np.arange(256, dtype=np.uint32), bound, bits=8)
    counts = np.bincount(values[accepted], minlength=bound)
    assert counts.tolist() == [256 // bound] * bound


@pytest.mark.parametrize("bound", [1, 2, 3, 10, 1 << 16, (1 << 31) + 1, ONE - 1, ONE])
def test_the_edges_of_a_full_word_are_scaled_exactly(bound: int) -> None:
    values, accepted = scaled_words(np.array([0, ONE - 1], dtype=np.uint32), bound)
    assert values.tolist() == [0, bound - 1]
    assert accepted[0] == (ONE % bound == 0)


def test_rejected_words_are_drawn_again() -> None:
    # 2**32 is 1 modulo 3, so the word 0 is the one to be rejected.
    values = uniform_below(Playback([0, 1, ONE - 1, 0, 1 << 31]), 3, 3)
    assert values.tolist() == [1, 0, 2]


@given(st.integers(1, ONE), st.integers(0, 50), st.integers(0, 2**32))
def test_uniform_numbers_stay_below_their_bound(bound: int, count: int, seed: int) -> None:
    values = uniform_below(SeededRandomness(seed), bound, count)
    assert values.shape == (count,)
    assert ((values >= 0) & (values < bound)).all()


@pytest.mark.parametrize("bound", [2, 7, 10, 100])
def test_uniform_numbers_fit_the_uniform_law(bound: int) -> None:
    counts = np.bincount(uniform_below(SeededRandomness(bound), bound, 500_000), minlength=bound)
    assert_drawn_from(counts, np.full(bound, 1 / bound))


def test_taking_the_remainder_instead_would_be_noticed() -> None:
    octets = np.arange(256, dtype=np.uint32) % 10
    assert np.bincount(octets).tolist() != [25] * 10


@pytest.mark.parametrize("bound", [0, -1, ONE + 1])
def test_an_impossible_bound_is_refused(bound: int) -> None:
    with pytest.raises(InvalidInput, match=f"not {bound}"):
        uniform_below(SeededRandomness(0), bound, 1)


@pytest.mark.parametrize("numerator", [0, 1, 12345, 1 << 31, ONE - 1, ONE])
def test_coins_turn_exactly_at_their_numerator(numerator: int) -> None:
    edges = [word for word in (0, numerator - 1, numerator, ONE - 1) if 0 <= word < ONE]
    assert coins(Playback(edges), numerator, len(edges)).tolist() == [word < numerator for word in edges]


def test_coins_show_true_as_often_as_declared() -> None:
    assert_share(int(coins(SeededRandomness(2), 3 << 30, 400_000).sum()), 400_000, 0.75)


def test_a_seed_gives_other_words_than_numpys_generator_with_the_same_seed() -> None:
    ours = SeededRandomness(1).words(1000)
    theirs = np.random.default_rng(1).integers(0, ONE, size=1000, dtype=np.uint32)
    assert not (ours == theirs).any()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_fork_does_not_draw_its_parents_words_again() -> None:
    # One coin for two people: their reports would differ only where their answers do.
    script = """
import os
from tacit.randomness import SystemRandomness
randomness = SystemRandomness()
randomness.words(5)
reader, writer = os.pipe()
if not os.fork():
    os.write(writer, randomness.words(8).tobytes())
    os._exit(0)
os.wait()
print(os.read(reader, 32) == randomness.words(8).tobytes())
"""
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout == "False\n"
