"""What every channel samples is what it declares: exactly, by following every draw, and statistically.

Then the faults that samplers are known to have, each shown to be caught.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit import channels
from tacit.channel.base import Channel, Codes
from tacit.channel.kinds.flip import FlipChannel
from tacit.channel.kinds.mask import MaskChannel
from tacit.channel.kinds.matrix import MatrixChannel
from tacit.channel.kinds.mixture import MixtureChannel
from tacit.channel.kinds.subset import SubsetChannel
from tacit.channel.one_hot import one_hot
from tacit.randomness import ONE, Randomness, SeededRandomness
from tests.channel.playback import assert_samples_exactly
from tests.conformance import dense
from tests.conformance.channels import NAMED, with_marginals
from tests.statistics import FEWEST_EXPECTED, assert_drawn_from, power_against

DRAWS = 40_000
SEED = 1965
EVERY = with_marginals(NAMED)

# The highest bits of a word that decide anything: all chances here are multiples of 2**-bits.
EXACT: dict[str, tuple[Channel, int]] = {
    "warner": (channels.warner(0.25).build((4,)), 8),
    "warner of two attributes": (channels.warner(0.25).build((2, 2)), 8),
    "warner never true": (channels.warner(0.0).build((5,)), 8),
    "warner always true": (channels.warner(1.0).build((5,)), 8),
    "uniform perturbation": (channels.uniform_perturbation(3 / 8).build((4,)), 8),
    "uniform perturbation with three answers": (channels.uniform_perturbation(1 / 4).build((3,)), 8),
    "uniform perturbation of two attributes": (channels.uniform_perturbation(5 / 8).build((2, 3)), 8),
    "gamma-diagonal": (channels.gamma_diagonal(5).build((4,)), 8),
    "unrelated question": (channels.mixture(7 / 16, [1 / 8, 0, 5 / 8, 1 / 4]).build((4,)), 4),
    "unrelated questions per attribute": (
        channels.mixture(3 / 4, [[1 / 4, 3 / 4], [1 / 2, 1 / 8, 3 / 8]]).build((2, 3)),
        3,
    ),
    "unrelated joint question": (channels.mixture(1 / 8, [1 / 8, 3 / 8, 1 / 4, 1 / 4]).build((2, 2)), 3),
    "flip": (channels.flip(201 / 256).build((2,)), 8),
    "flip of three attributes": (channels.flip(77 / 256).build((2, 2, 2)), 8),
    "matrix": (channels.matrix([[0.5, 0, 19 / 256], [0.375, 1, 0.5], [0.125, 0, 109 / 256]]).build((3,)), 8),
    "matrix with more reports": (channels.matrix([[0.5, 0.25], [0.25, 0.25], [0.25, 0.5]], list("abc")).build((2,)), 8),
    "mask": (channels.mask(3 / 4).build((3,)), 2),
    "mask of two attributes": (channels.mask(1 / 4).build((2, 2)), 2),
    "cut-and-paste": (channels.cut_and_paste(1, 1 / 4).build((3,)), 2),
    "cut-and-paste of two attributes": (channels.cut_and_paste(1, 1 / 4).build((2, 2)), 2),
    "cut-and-paste of three attributes, two seen": (
        channels.cut_and_paste(2, 1 / 2).build((2, 2, 2)).marginal([0, 2]),
        1,
    ),
    "cut-and-paste beyond the record": (channels.cut_and_paste(4, 1 / 2).build((2, 2)), 1),
    "randomized gamma-diagonal without spread": (channels.randomized_gamma_diagonal(3, 0).build((6,)), 3),
    "subset of one": (channels.subset(1, 3).build((4,)), 3),
    "subset of two": (channels.subset(2, 4.5).build((5,)), 2),
    "subset of three of six": (channels.subset(3, 7).build((2, 3)), 3),
    "subset of all but one": (channels.subset(3, 5).build((4,)), 4),
}


@pytest.mark.parametrize(("channel", "bits"), EXACT.values(), ids=EXACT)
def test_every_draw_followed_gives_the_declared_law(channel: Channel, bits: int) -> None:
    assert_samples_exactly(channel, bits)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("channel", "bits"),
    [
        (channels.uniform_perturbation(5 / 8).build((2, 2)), 3),
        (channels.cut_and_paste(1, 1 / 4).build((2, 2)), 2),
        (channels.cut_and_paste(3, 1 / 2).build((2, 2)), 2),
        (channels.randomized_gamma_diagonal(4, 0).build((5,)), 3),
        (channels.subset(1, 4).build((5,)), 2),
    ],
    ids=lambda value: getattr(value, "kind", None),
)
def test_the_law_is_exact_from_words_alone(channel: Channel, bits: int) -> None:
    """Where every uniform draw is among a power of two, nothing but words needs to be followed."""
    assert_samples_exactly(channel, bits, ideal_uniform=False)


def assert_samples_its_law(channel: Channel, draws: int = DRAWS, seed: int = SEED) -> None:
    """For every truth, many reports against the declared column."""
    matrix = channel.matrix
    # A law of hundreds of reports needs so many draws that its likelier ones can be told from the rest.
    draws = max(draws, int(1.1 * FEWEST_EXPECTED / matrix.max()))
    for position, truth in enumerate(np.ndindex(*channel.shape)):
        truths = [np.full(draws, code, dtype=np.uint8) for code in truth]
        reports = channel.sample(truths, SeededRandomness(np.random.SeedSequence([seed, position])))
        assert_drawn_from(dense.report_counts(channel, reports), matrix[:, position])


@pytest.mark.parametrize("channel", EVERY.values(), ids=EVERY)
def test_reports_of_every_truth_follow_its_column(channel: Channel) -> None:
    assert_samples_its_law(channel)


@pytest.mark.slow
@pytest.mark.parametrize("channel", NAMED.values(), ids=NAMED)
def test_many_more_reports_follow_their_column(channel: Channel) -> None:
    assert_samples_its_law(channel, draws=500_000)


def test_reports_keep_the_order_of_their_records() -> None:
    truths = np.tile(np.arange(4, dtype=np.uint8), 20_000)
    for kind in ("warner", "matrix"):
        channel = (
            channels.warner(0.9).build((4,)) if kind == "warner" else channels.matrix(np.eye(4) * 0.6 + 0.1).build((4,))
        )
        (reports,) = channel.sample([truths], SeededRandomness(4))
        for truth in range(4):
            assert_drawn_from(np.bincount(reports[truth::4], minlength=4), channel.matrix[:, truth])


def test_the_statistical_check_notices_an_error_of_two_points() -> None:
    declared, actual = channels.flip(0.60).build((2,)), channels.flip(0.62).build((2,))
    assert power_against(actual.matrix[:, 0], declared.matrix[:, 0], DRAWS) > 0.999
    with pytest.raises(AssertionError, match="p-value"):
        assert_samples_its_law(_Pretender(declared, actual))


@dataclass(frozen=True, eq=False)
class _Pretender:
    """Declares the law of one channel and samples another."""

    declared: Channel
    actual: Channel

    def __getattr__(self, name: str) -> object:
        return getattr(self.declared, name)

    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        return self.actual.sample(truths, randomness)


class _ThresholdOffByOne(FlipChannel):
    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        flipped = randomness.words(len(truths[0])).astype(np.int64) > self.coin  # should be >=
        return tuple(truth ^ flipped.astype(truth.dtype) for truth in truths)


class _StretchOffByOne(MixtureChannel):
    """Alternatives 1 .. n-1 instead of 0 .. n-1."""

    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        words = randomness.words(len(truths[0])).astype(np.int64)
        value = 1 + (words - self.coin) // ((ONE - self.coin) // (self.size - 1))
        return (np.where(words < self.coin, truths[0], np.minimum(value, self.size - 1)).astype(np.uint8),)


class _LastBitAsItIs(MaskChannel):
    def sample(self, truths: Sequence[Codes], randomness: Randomness) -> tuple[Codes, ...]:
        columns = super().sample(truths, randomness)
        columns[-1][:, -1] = one_hot(truths[-1], self.shape[-1])[:, -1]
        return columns


class _TruthFirst(SubsetChannel):
    def _sample_rows(self, truth: NDArray[np.int64], randomness: Randomness) -> NDArray[np.int64]:
        sets = super()._sample_rows(truth, randomness)
        return np.take_along_axis(sets, np.argsort(sets != truth[:, None], axis=1, kind="stable"), axis=1)


def _swapped_matrix() -> _Pretender:
    # Rows sum to one as well, so nothing but the sampled law betrays the swap.
    skewed = np.array([[0.5, 0.375, 0.125], [0.125, 0.5, 0.375], [0.375, 0.125, 0.5]])
    return _Pretender(MatrixChannel.from_chances((3,), skewed), MatrixChannel.from_chances((3,), skewed.T))


FAULTS: dict[str, tuple[Channel, int]] = {
    "a stretch off by one": (_StretchOffByOne("uniform-perturbation", {"q": 0.25}, (4,), ONE // 4), 8),
    "the last bit not randomized": (_LastBitAsItIs((2, 2), 0.75), 2),
    "the truth always first": (_TruthFirst((5,), 2, 4.5), 2),
    "rows and columns swapped": (_swapped_matrix(), 3),
}


@pytest.mark.parametrize(("faulty", "bits"), FAULTS.values(), ids=FAULTS)
def test_known_faults_are_caught_by_enumeration(faulty: Channel, bits: int) -> None:
    with pytest.raises(AssertionError, match="truth"):
        assert_samples_exactly(faulty, bits)


@pytest.mark.parametrize(("faulty", "bits"), FAULTS.values(), ids=FAULTS)
def test_known_faults_are_caught_statistically(faulty: Channel, bits: int) -> None:
    with pytest.raises(AssertionError, match=r"p-value|does not list"):
        assert_samples_its_law(faulty)


def test_a_threshold_off_by_one_word_is_caught_where_statistics_cannot() -> None:
    faulty = _ThresholdOffByOne((2,), 0.75)
    assert_samples_its_law(faulty)  # one word in 2**32: no number of draws shows it
    with pytest.raises(AssertionError, match="drawn with chance"):
        assert_samples_exactly(faulty, 8)


def test_the_fair_twins_of_the_faults_pass() -> None:
    assert_samples_exactly(MaskChannel((2, 2), 0.75), 2)
    assert_samples_exactly(SubsetChannel((5,), 2, 4.5), 2)
    assert_samples_exactly(_swapped_matrix().declared, 3)


@pytest.mark.parametrize("channel", NAMED.values(), ids=NAMED)
def test_no_records_give_no_reports(channel: Channel) -> None:
    columns = channel.sample([np.empty(0, dtype=np.uint8) for _ in channel.shape], SeededRandomness(0))
    assert [len(column) for column in columns] == [0] * len(channel.tally_shape)


def test_catalogue_spans_all_truths() -> None:
    assert sum(math.prod(channel.shape) for channel in EVERY.values()) > 150
