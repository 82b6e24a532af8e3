"""The suite every channel passes: one law, whether it is written out, applied, inverted or summed to a marginal.

That the same law is *sampled* is shown in tests/channel/test_sampling.py.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.channel import KINDS, Recipe
from tacit.channel.base import Channel
from tacit.errors import InvalidInput, NotEstimable
from tacit.schema import Attribute
from tests.conformance import dense
from tests.conformance.channels import (
    NAMED,
    UNINFORMATIVE,
    axes_of_marginals,
    invertible_channels,
    summed_channels,
    with_marginals,
)

EVERY = with_marginals(NAMED)
every_channel = pytest.mark.parametrize("channel", EVERY.values(), ids=EVERY)
every_whole = pytest.mark.parametrize("channel", NAMED.values(), ids=NAMED)
found_by_hypothesis = settings(max_examples=60)


def random_truth(channel: Channel, *behind: int) -> np.ndarray:
    cells = np.random.default_rng(11).dirichlet(np.ones(math.prod(channel.shape)), size=math.prod(behind))
    return cells.T.reshape(*channel.shape, *behind)


def random_weights(shape: tuple[int, ...], *behind: int) -> np.ndarray:
    return np.random.default_rng(12).normal(size=(*shape, *behind))


def assert_close(left: np.ndarray, right: np.ndarray, scale: float = 1.0) -> None:
    np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-11 * max(scale, 1.0))


def assert_is_one_law(channel: Channel) -> None:
    """Everything a channel says of itself agrees with its dense law."""
    assert_columns_are_distributions(channel)
    assert_applies_its_law(channel)
    assert_adjoints(channel)
    assert_solves(channel)
    assert_second_moments(channel)
    assert channel.amplification == pytest.approx(dense.amplification(channel.matrix), rel=1e-7)


def assert_columns_are_distributions(channel: Channel) -> None:
    matrix = channel.matrix
    assert matrix.shape == (len(channel.reports()[0]), math.prod(channel.shape))
    assert (matrix >= 0).all()
    assert_close(matrix.sum(axis=0), np.ones(matrix.shape[1]))


def assert_applies_its_law(channel: Channel) -> None:
    truth = random_truth(channel, 3)
    chances = channel.matrix @ truth.reshape(-1, 3)
    expected = np.tensordot(dense.report_tallies(channel), chances, axes=(0, 0))
    assert_close(channel.apply(truth), expected)


def assert_adjoints(channel: Channel) -> None:
    truth, weights = random_truth(channel), random_weights(channel.tally_shape)
    assert_close((weights * channel.apply(truth)).sum(), (channel.adjoint(weights) * truth).sum())
    tally, wanted = channel.apply(truth), random_weights(channel.shape)
    estimate = channel.solve(tally)
    on_reports = channel.solve_adjoint(wanted)
    assert on_reports.shape == channel.tally_shape
    assert_close((wanted * estimate).sum(), (on_reports * tally).sum(), float(np.abs(on_reports).max()))
    # A tally that no truth has: the two must still agree.
    odd = random_weights(channel.tally_shape)
    assert_close((wanted * channel.solve(odd)).sum(), (on_reports * odd).sum(), float(np.abs(on_reports).max()))


def assert_solves(channel: Channel) -> None:
    assert channel.is_invertible()
    truth = random_truth(channel, 2)
    assert_close(channel.solve(channel.apply(truth)), truth, float(np.abs(dense.contributions(channel)).max()))


def assert_second_moments(channel: Channel) -> None:
    truth, size = random_truth(channel), math.prod(channel.shape)
    parts = dense.contributions(channel)
    pairs = (parts * (channel.matrix @ truth.reshape(-1))) @ parts.T
    tally, scale = channel.apply(truth), float((parts**2).max())
    assert_close(channel.solve_pairs(tally), pairs, scale)
    assert_close(channel.solve_squares(tally), np.diagonal(pairs).reshape(channel.shape), scale)
    assert channel.solve_pairs(tally).shape == (size, size)


@every_channel
def test_columns_are_distributions(channel: Channel) -> None:
    assert_columns_are_distributions(channel)


@every_channel
def test_apply_is_the_tally_of_the_dense_law(channel: Channel) -> None:
    assert_applies_its_law(channel)


@every_channel
def test_adjoints_are_adjoint(channel: Channel) -> None:
    assert_adjoints(channel)


@every_channel
def test_solve_undoes_apply(channel: Channel) -> None:
    assert_solves(channel)


@every_channel
def test_squares_and_pairs_are_those_of_the_dense_law(channel: Channel) -> None:
    assert_second_moments(channel)


@every_channel
def test_amplification_is_that_of_the_dense_law(channel: Channel) -> None:
    assert channel.amplification == pytest.approx(dense.amplification(channel.matrix), rel=1e-7)


@found_by_hypothesis
@given(invertible_channels())
def test_any_channel_is_one_law(channel: Channel) -> None:
    assert_is_one_law(channel)


@every_channel
def test_arrays_may_carry_further_axes(channel: Channel) -> None:
    truth, weights = random_truth(channel, 2, 3), random_weights(channel.tally_shape, 2, 3)
    tally, wanted = channel.apply(truth), random_weights(channel.shape, 2, 3)
    for behind in np.ndindex(2, 3):
        at = (..., *behind)
        assert_close(tally[at], channel.apply(truth[at]))
        assert_close(channel.adjoint(weights)[at], channel.adjoint(weights[at]))
        assert_close(channel.solve(tally)[at], channel.solve(tally[at]))
        assert_close(channel.solve_adjoint(wanted)[at], channel.solve_adjoint(wanted[at]))
        assert_close(channel.solve_squares(tally)[at], channel.solve_squares(tally[at]))
        assert_close(channel.solve_pairs(tally)[at], channel.solve_pairs(tally[at]))


@every_channel
def test_a_conjunction_has_the_mean_of_its_event(channel: Channel) -> None:
    generator, tallies = np.random.default_rng(13), dense.column_tallies(channel)
    for _ in range(5):
        masks = [generator.random(size) < 0.6 for size in channel.shape]
        product = np.ones(len(tallies[0]))
        columns_used: list[int] = []
        for columns, table in channel.conjunction(masks):
            seen = dense.outer_rows([tallies[column] for column in columns])
            assert table.shape == seen.shape[1:]
            product *= (seen * table).reshape(len(product), -1).sum(axis=1)
            columns_used += columns
        assert columns_used == sorted(set(columns_used))
        inside = np.ones(())
        for mask in masks:
            inside = np.multiply.outer(inside, mask)
        scale = float(np.abs(product).max())
        assert_close(product @ channel.matrix, inside.reshape(-1).astype(float), scale)


@every_whole
def test_marginals_are_sums_of_the_dense_law_or_refused(channel: Channel) -> None:
    for axes in axes_of_marginals(channel):
        if not channel.has_marginals:
            with pytest.raises(InvalidInput, match=r"part of a group cannot be estimated by itself"):
                channel.marginal(axes)
            continue
        marginal = channel.marginal(axes)
        assert marginal.shape == tuple(channel.shape[axis] for axis in axes)
        law = dense.summed_law(channel, axes, marginal)
        codes = np.unravel_index(np.arange(math.prod(channel.shape)), channel.shape)
        truths = np.ravel_multi_index([codes[axis] for axis in axes], marginal.shape)
        assert_close(law, marginal.matrix[:, truths])


def test_a_marginal_of_a_marginal_is_the_marginal() -> None:
    for channel in NAMED.values():
        if channel.has_marginals and len(channel.shape) == 3:
            twice, once = channel.marginal([0, 2]).marginal([1]), channel.marginal([2])
            assert_close(twice.matrix, once.matrix)


@every_whole
def test_all_attributes_are_a_marginal_of_every_channel(channel: Channel) -> None:
    assert_close(channel.marginal(range(len(channel.shape))).matrix, channel.matrix)


@every_channel
def test_impossible_marginals_are_refused(channel: Channel) -> None:
    for axes in ([], [1, 0], [0, 0], [9], [-1]):
        with pytest.raises(InvalidInput, match="ascending positions"):
            channel.marginal(axes)
        with pytest.raises(InvalidInput, match="ascending positions"):
            channel.margin(axes)


@every_whole
def test_margins_are_marginal_channels_or_sums_of_the_whole_estimate(channel: Channel) -> None:
    for axes in axes_of_marginals(channel):
        margin = channel.margin(axes)
        assert margin.shape == tuple(channel.shape[axis] for axis in axes)
        if channel.has_marginals:
            assert_close(margin.matrix, channel.marginal(axes).matrix)
        else:
            assert_sums_the_estimate(channel, axes)


def assert_sums_the_estimate(channel: Channel, axes: tuple[int, ...]) -> None:
    """Unbiased, with the moments of what each report contributes to the sum."""
    margin = channel.margin(axes)
    others = tuple(axis for axis in range(len(channel.shape)) if axis not in axes)
    truth, wanted = random_truth(channel), random_weights(margin.shape)
    parts = dense.contributions(channel).reshape(*channel.shape, -1).sum(axis=others)
    parts = parts.reshape(math.prod(margin.shape), -1)
    pairs = (parts * (channel.matrix @ truth.reshape(-1))) @ parts.T
    tally, scale = channel.apply(truth), float((parts**2).max())
    assert margin.is_invertible()
    assert margin.tally_shape == channel.tally_shape
    assert_close(margin.solve(tally), truth.sum(axis=others), scale)
    assert_close(margin.solve_pairs(tally), pairs, scale)
    assert_close(margin.solve_squares(tally), np.diagonal(pairs).reshape(margin.shape), scale)
    assert_close((margin.solve_adjoint(wanted) * tally).sum(), (wanted * margin.solve(tally)).sum(), scale)
    masks = [np.arange(size) % 2 == 0 for size in margin.shape]
    ((columns, table),) = margin.conjunction(masks)
    assert columns == tuple(range(len(channel.tally_shape)))
    assert_close((table * tally).sum(), truth.sum(axis=others)[np.ix_(*masks)].sum(), scale)


@settings(max_examples=30)
@given(summed_channels())
def test_any_sum_is_that_of_the_whole_estimate(channel: Channel) -> None:
    for axes in axes_of_marginals(channel):
        assert_sums_the_estimate(channel, axes)


@every_whole
def test_a_choice_of_estimators_is_where_there_are_more_reports_than_slots(channel: Channel) -> None:
    shows_one = channel.kind in ("matrix", "threshold")
    assert channel.has_choice == (shows_one and len(channel.matrix) > math.prod(channel.shape))


@every_whole
def test_report_attributes_describe_the_tally(channel: Channel) -> None:
    attributes = [Attribute(f"q{i}", tuple(f"a{j}" for j in range(size))) for i, size in enumerate(channel.shape)]
    columns = channel.report_attributes(attributes)
    assert tuple(column.tally_size for column in columns) == channel.tally_shape
    kinds = {1: "one", 2: "set"}
    for column, codes in zip(columns, channel.reports(), strict=True):
        is_hashed = channel.kind == "local-hashing"
        assert column.shows == ("bits" if codes.dtype == np.bool_ else "hashed" if is_hashed else kinds[codes.ndim])


@every_whole
def test_kind_and_parameters_make_the_same_channel_again(channel: Channel) -> None:
    again = Recipe(channel.kind, channel.parameters).build(channel.shape)
    assert np.array_equal(again.matrix, channel.matrix)
    assert again.parameters == channel.parameters


def test_every_kind_is_in_the_suite() -> None:
    assert {channel.kind for channel in NAMED.values()} == set(KINDS)


@pytest.mark.parametrize(("channel", "reason"), UNINFORMATIVE.values(), ids=UNINFORMATIVE)
def test_what_cannot_be_estimated_is_refused_with_the_reason(channel: Channel, reason: str) -> None:
    assert not channel.is_invertible()
    tally = channel.apply(random_truth(channel))
    weights = random_weights(channel.shape)
    masks = [np.ones(size, dtype=np.bool_) for size in channel.shape]
    for ask in (channel.solve, channel.solve_squares, channel.solve_pairs):
        with pytest.raises(NotEstimable, match=reason):
            ask(tally)
    with pytest.raises(NotEstimable, match=reason):
        channel.solve_adjoint(weights)
    with pytest.raises(NotEstimable, match=reason):
        channel.conjunction(masks)
    # The forward direction needs no inverse.
    assert_columns_are_distributions(channel)
    assert_applies_its_law(channel)
    assert channel.amplification == pytest.approx(dense.amplification(channel.matrix), rel=1e-7)


@found_by_hypothesis
@given(invertible_channels(), st.integers(0, 2**32))
def test_any_channel_samples_reports_that_it_lists(channel: Channel, seed: int) -> None:
    from tacit.randomness import SeededRandomness

    generator = np.random.default_rng(seed)
    truths = [generator.integers(0, size, 50).astype(np.uint8) for size in channel.shape]
    columns = channel.sample(truths, SeededRandomness(seed))
    assert dense.report_counts(channel, columns).sum() == 50


def test_the_suite_notices_a_law_that_is_inverted_with_another_chance() -> None:
    class Sloppy(type(NAMED["flip"])):
        def _inverse(self) -> tuple[float, float]:
            same, opposite = super()._inverse()
            return same * (1 + 1e-6), opposite

    with pytest.raises(AssertionError):
        assert_solves(Sloppy((2,), 0.75))


def test_the_suite_notices_second_moments_that_forget_the_cross_terms() -> None:
    class Uncorrelated(type(NAMED["warner"])):
        def solve_pairs(self, tally: np.ndarray, guess: np.ndarray | None = None) -> np.ndarray:
            return np.diag(self.solve_squares(tally).reshape(-1))

    with pytest.raises(AssertionError):
        assert_second_moments(Uncorrelated("warner", {"p": 0.5}, (4,), 1 << 31, others=True))
