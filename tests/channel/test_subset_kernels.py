"""The compiled sampler of subset selection has the declared law, whatever the words are cut into."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from tacit import channels
from tacit.channel.kinds import _subset_kernels as kernels
from tacit.channel.kinds.subset import SubsetChannel
from tacit.randomness import ONE, SeededRandomness, scaled_words
from tests.statistics import assert_drawn_from, power_against

subset = importlib.import_module("tacit.channel.kinds.subset")
DRAWS = 360_000


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(subset, "COMPILED_MEMBERS", 0)
    return monkeypatch


def sampled(channel: SubsetChannel, truth: int, draws: int = DRAWS) -> np.ndarray:
    (sets,) = channel.sample([np.full(draws, truth, dtype=np.uint16)], SeededRandomness(1965))
    return sets


@pytest.mark.parametrize(("size", "members", "gamma"), [(4, 1, 3.0), (5, 2, 4.5), (6, 3, 7.0), (7, 3, 19.0)])
@pytest.mark.usefixtures("compiled")
def test_every_set_is_drawn_as_often_as_declared(size: int, members: int, gamma: float) -> None:
    channel = channels.subset(members, gamma).build((size,))
    (reports,) = channel.reports()
    digits = size ** np.arange(members)[::-1]  # in the order of the reports, so that their numbers ascend
    for truth in range(size):
        drawn = np.searchsorted(reports @ digits, sampled(channel, truth) @ digits)
        assert_drawn_from(np.bincount(drawn, minlength=len(reports)), channel.matrix[:, truth])


def test_the_check_notices_a_truth_that_is_held_six_in_a_hundred_times_too_often() -> None:
    channel = channels.subset(3, 7).build((6,))
    declared = channel.matrix[:, 0]
    wrong = declared * np.where((channel.reports()[0] == 0).any(axis=1), 1.06, 1.0)
    assert power_against(wrong / wrong.sum(), declared, DRAWS) > 0.9999


def test_reports_do_not_depend_on_how_the_words_are_cut(compiled: pytest.MonkeyPatch) -> None:
    """A row that runs out of words goes on with the next ones; begun anew, it would hold the truth too often."""
    channel = channels.subset(5, 19).build((100,))
    whole = sampled(channel, 42, 2000)
    compiled.setattr(subset, "WORDS_AT_ONCE", 7)
    np.testing.assert_array_equal(sampled(channel, 42, 2000), whole)


@pytest.mark.parametrize("size", [64, 130])
@pytest.mark.usefixtures("compiled")
def test_sets_beyond_one_word_are_those_that_the_words_name(size: int) -> None:
    """The draws by hand: a word holds the truth or not, each further one is scaled to the others."""
    channel = channels.subset(3, 19).build((size,))
    truth = np.array([0, size - 1, 63, 5] * 10)
    with np.errstate(over="ignore"):  # words overflow on purpose, and say so where they are not compiled
        (sets,) = channel.sample([truth], SeededRandomness(7))
    words = iter(SeededRandomness(7).words(len(truth) * 4).tolist())
    for true, drawn in zip(truth.tolist(), sets.tolist(), strict=True):
        members = {true} if next(words) < channel.coin else set()
        while len(members) < 3:
            product = next(words) * (size - 1)
            if product % ONE >= ONE % (size - 1):
                answer = product // ONE
                members.add(answer + (answer >= true))
        assert drawn == sorted(members)


@pytest.mark.usefixtures("compiled")
def test_large_domains_keep_their_members_ascending_and_alike() -> None:
    channel = channels.subset(100, 19).build((2000,))
    sets = sampled(channel, 1234, 20_000)
    assert (np.diff(sets.astype(int), axis=1) > 0).all()
    assert sets.max() < 2000
    held = int((sets == 1234).any(axis=1).sum())
    assert_drawn_from([held, 20_000 - held], [channel.holds, 1 - channel.holds])
    others = np.bincount(sets[sets != 1234] * 20 // 2000, minlength=20)
    share = np.full(20, 100.0)
    share[12] -= 1
    assert_drawn_from(others, share / share.sum())


def test_words_that_would_favour_an_answer_are_refused() -> None:
    """With the words at both ends of every answer's stretch: just those that `scaled_words` accepts mark a member."""
    others = 6
    edges = [answer * ONE // others + step for answer in range(others + 1) for step in (-1, 0, 1)]
    words = np.array([word for word in edges if 0 <= word < ONE], dtype=np.uint32)
    for word, answer, accepted in zip(words, *scaled_words(words, others), strict=True):
        state, marked = np.array([0, 1]), np.zeros(1, dtype=np.uint64)
        out = np.zeros((1, 1), dtype=np.uint8)
        kernels.draw_sets(np.array([3]), np.array([word]), np.uint64(0), np.uint64(others + 1), state, marked, out)
        assert state[kernels.ROW] == accepted
        if accepted:
            assert out[0, 0] == answer + (answer >= 3)


def test_more_than_half_of_the_answers_are_drawn_the_other_way(compiled: pytest.MonkeyPatch) -> None:
    compiled.setattr(kernels, "draw_sets", None)
    assert sampled(channels.subset(3, 5).build((4,)), 1, 10).shape == (10, 3)
